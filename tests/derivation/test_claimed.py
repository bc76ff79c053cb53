"""Another claim with a derivation of its own, used as a line: by kernel and verifier alike."""

from typing import Any

import pytest

from tests.derivation.both import check
from tests.rounds import sgd as stochastic
from theory import algorithm, claim
from theory.claim import Claim
from theory.derivation import NotProvedError, claimed, combined, domain, step
from theory.derivation import lines as lines_of
from theory.derivation.export import NotExportedError, rocq
from theory.derivation.writing import induction
from theory.domain import COUNT, NONNEGATIVE, REAL
from validate.certificate.derivation import derivation_certificate
from validate.verifier.derivation import verify_derivation


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))


@algorithm
def doubled(w, x, *, eta):
    return x - 2 * eta * w.mean(w.gradient(x))


YOUNG = claim(
    "young",
    "norm2(a + b) <= (1 + c)*norm2(a) + (1 + q)*norm2(b)",
    where={"q": "1/c"},
    vectors=("a", "b"),
    proof=(combined("all", squares={"c*a - b": "1/c"}),),
)
SMALLER = claim(
    "smaller", "2*c*t <= t", assuming=("c <= 1/2",), proof=(combined("all", parts={"c <= 1/2": "2*t"}),),
)  # fmt: skip
WHOLE = claim("whole", "1 <= S*S", proof=(domain("one", "1 <= S"), combined("all", parts={"one": "S + 1"})))
EXPECTED = claim(
    "expected", "E(norm2(a)) <= norm2(a)", vectors=("a",), proof=(combined("all"),),
)  # fmt: skip
SQUARED = claim(
    "squared", "E(norm2(a)) == norm2(a)", vectors=("a",), proof=(combined("all"),),
)  # fmt: skip
BOUNDED = claim(
    "bounded", "norm2(grad(f, v)) <= G**2", vectors=("v",), assuming=("lipschitz(f_n, G)",),
    proof=(combined("all", parts={"bounded f (v)": "1"}),),
)  # fmt: skip
MEAN = claim(
    "mean", "mean_n(p_n*norm2(b)) == mean_n(p_n)*norm2(b)", vectors=("b",), proof=(combined("all"),),
)  # fmt: skip
EACH = claim("each", "norm2(p_n*b) == p_n**2*norm2(b)", vectors=("b",), proof=(combined("all"),))
OF_EACH = claim("of each", "norm2(p_n*b_n) == p_n**2*norm2(b_n)", vectors=("b_n",), proof=(combined("all"),))
TWICE = claim("twice", "mean_n(2)*norm2(b) == 2*norm2(b)", vectors=("b",), proof=(combined("all"),))
AT_ROUND = claim("at round", "c <= c + c*k", proof=(domain("k", "0 <= k"), combined("all", parts={"k": "c"})))
OPEN = claim(
    "open", "0 <= 1 - eta_k*L", assuming=("eta_k*L <= 1",), proof=(combined("all", parts={"eta_k*L <= 1": "1"}),)
)
INSIDE = claim("inside", "k <= K", proof=(domain("all"),))
CURVED = claim(
    "curved",
    "f(b) <= f(a) + dot(grad(f, a), b - a) + L/2*norm2(b - a)",
    assuming=("smooth(f, L)",),
    vectors=("a", "b"),
    proof=(combined("all", parts={"above f (a, b)": "1"}),),
)
ONE = claim(
    "one",
    "f(x[k+1]) <= f(x[k]) - eta/2*norm2(grad(f, x[k]))",
    of=descent,
    assuming=("smooth(f, L)", "eta <= 1/L"),
    proof=(
        step("round", "f(x[k+1]) == f(x[k] - eta*grad(f, x[k]))"),
        combined(
            "all",
            parts={
                "above f (x[k], x[k] - eta*grad(f, x[k]))": "1",
                "round": "1",
                "eta <= 1/L": "L*eta/2*norm2(grad(f, x[k]))",
            },
        ),
    ),
)


def line(other: Claim, sentence: str | None = None, **put: str) -> dict[str, Any]:
    return claimed("other", other, put, sentence)


def theorem(statement: str, *lines: Any, **more: Any) -> Claim:
    return claim("theorem", statement, proof=tuple(lines), **more)


FOLLOWS = combined("all", parts={"other": "1"})
"""The claim, where `other` says it."""
UNROLLED = induction(
    "all",
    "f(x[k]) <= f(x0)",
    [combined("zero", "f(x[0]) <= f(x0)")],
    [combined("next", parts={"IH": "1", "one": "1"}, squares={"grad(f, x[k])": "eta/2"})],
)
DESCENT: dict[str, Any] = {"of": descent, "assuming": ("smooth(f, L)", "eta <= 1/L")}

ACCEPTED = {
    "a lemma at other numbers": theorem(
        "norm2(u - v) <= 3*norm2(u) + 3/2*norm2(v)", line(YOUNG, a="u", b="-v", c="2"), FOLLOWS, vectors=("u", "v")
    ),
    "all names at once": theorem(
        "norm2(a + b) <= (1 + s)*norm2(b) + (1 + 1/s)*norm2(a)",
        line(YOUNG, a="b", b="a", c="s"), FOLLOWS, vectors=("a", "b"),
    ),
    "a hypothesis that is a line here": theorem(
        "s*t/2 <= t", combined("half", "s/4 <= 1/2", {"s <= 2": "1/4"}), line(SMALLER, c="s/4"), FOLLOWS,
        assuming=("s <= 2",),
    ),
    "a client's vector for a client's": theorem(
        "norm2(p_n*(a_n + x0)) == p_n**2*norm2(a_n + x0)",
        line(OF_EACH, "norm2(p_n*(a_n + x0)) == p_n**2*norm2(a_n + x0)", b_n="a_n + x0"), FOLLOWS, vectors=("a_n",)
    ),
    "for each client": theorem(
        "norm2(a_n + x0) <= 2*norm2(a_n) + 2*norm2(x0)", line(YOUNG, a="a_n", b="x0", c="1"), FOLLOWS, vectors=("a_n",)
    ),
    "an integer": theorem("1 <= (H + 2)**2", line(WHOLE, S="H + 2"), FOLLOWS),
    "without an E, of what is random": theorem(
        "norm2(x[k] + x0) <= 2*norm2(x[k]) + 2*norm2(x0)", line(YOUNG, a="x[k]", b="x0", c="1"), FOLLOWS, of=stochastic
    ),
    "about functions": theorem(
        "f(x[k+1]) <= f(x[k]) + dot(grad(f, x[k]), x[k+1] - x[k]) + M/2*norm2(x[k+1] - x[k])",
        line(CURVED, a="x[k]", b="x[k+1]", L="M"), FOLLOWS, of=descent, assuming=("smooth(f, M)",),
    ),
    "one step, unrolled": theorem("f(x[k]) <= f(x0)", claimed("one", ONE), UNROLLED, **DESCENT),
    "at another constant": theorem(
        "norm2(grad(f, x0)) <= M**2", line(BOUNDED, G="M", v="x0"), FOLLOWS, assuming=("lipschitz(f_n, M)",)
    ),
    "a lemma of a lemma": theorem(
        "norm2(3*u) <= 3*norm2(u) + 3/2*norm2(2*u)",
        line(
            theorem("norm2(a + b) <= 3*norm2(a) + 3/2*norm2(b)", line(YOUNG, c="2"), FOLLOWS, vectors=("a", "b")),
            a="u", b="2*u",
        ),
        FOLLOWS, vectors=("u",),
    ),
}  # fmt: skip
REFUSED = {
    "a hypothesis is missing": theorem("s*t/2 <= t", line(SMALLER, c="s/4"), FOLLOWS),
    "a hypothesis at other numbers": theorem("2*s*t <= t", line(SMALLER, c="s"), FOLLOWS, assuming=("t <= 1/2",)),
    "an assumption is missing": theorem(
        "f(x[k]) <= f(x0)", claimed("one", ONE), UNROLLED, of=descent, assuming=("eta <= 1/L",)
    ),
    "an assumption with another constant": theorem(
        "f(v) <= f(u) + dot(grad(f, u), v - u) + L/2*norm2(v - u)",
        line(CURVED, a="u", b="v"), FOLLOWS, vectors=("u", "v"), assuming=("smooth(f, M)",),
    ),
    "an assumption of another function": theorem(
        "f(v) <= f(u) + dot(grad(f, u), v - u) + L/2*norm2(v - u)",
        line(CURVED, a="u", b="v"), FOLLOWS, vectors=("u", "v"), assuming=("smooth(f_n, L)",),
    ),
    "a random vector under an E": theorem(
        "E(norm2(x[k])) == norm2(x[k])", line(SQUARED, a="x[k]"), FOLLOWS, of=stochastic
    ),
    "a random number": theorem(
        "norm2(u + v) <= (1 + 1 + norm2(x[k]))*norm2(u) + (1 + 1/(1 + norm2(x[k])))*norm2(v)",
        line(YOUNG, a="u", b="v", c="1 + norm2(x[k])"), FOLLOWS, of=stochastic, vectors=("u", "v"),
    ),
    "no integer": theorem("1 <= (s/2)**2", line(WHOLE, S="s/2"), FOLLOWS, parameters={"s": COUNT}),
    "an integer that may be 0": theorem("1 <= (H - 1)**2", line(WHOLE, S="H - 1"), FOLLOWS),
    "beyond the domain": theorem(
        "norm2(u + v) <= (1 + s)*norm2(u) + (1 + 1/s)*norm2(v)",
        line(YOUNG, a="u", b="v", c="s"), FOLLOWS, vectors=("u", "v"), parameters={"s": REAL},
    ),
    "a divisor that may be 0": theorem(
        "norm2(u + v) <= (2 + s)*norm2(u)/2 + 2*norm2(v) + norm2(u)",
        line(YOUNG, a="u", b="v", c="s"), FOLLOWS, vectors=("u", "v"), parameters={"s": NONNEGATIVE},
    ),
    "another algorithm": theorem("f(x[k]) <= f(x0)", claimed("one", ONE), UNROLLED, **{**DESCENT, "of": doubled}),
    "no algorithm": theorem("f(x0) <= f(x0) + eta", claimed("one", ONE), FOLLOWS, assuming=DESCENT["assuming"]),
    "a number of the algorithm": theorem(
        "f(x[k+1]) <= f(x[k]) - eta/4*norm2(grad(f, x[k]))", line(ONE, eta="eta/2"), FOLLOWS, **DESCENT
    ),
    "its sentence changed": theorem(
        "norm2(u + v) <= 2*norm2(u) + norm2(v)",
        line(YOUNG, "norm2(u + v) <= 2*norm2(u) + norm2(v)", a="u", b="v", c="1"), FOLLOWS, vectors=("u", "v"),
    ),
    "constants renamed twice": theorem(
        "norm2(2*v) <= 2*norm2(u) + 2*norm2(v)",
        line(YOUNG, "norm2(2*v) <= 2*norm2(u) + 2*norm2(v)", a="b", b="v", c="1"), FOLLOWS, vectors=("u", "v", "b"),
    ),
    "an index that it has, too": theorem(
        "0 <= 1 - eta_k*k", line(OPEN, L="k"), FOLLOWS, assuming=("eta_k*k <= 1",)
    ),
    "a hypothesis with free k": theorem(
        "0 <= 1 - eta_k*L", line(OPEN), FOLLOWS, assuming=("eta_k*L <= 1",)
    ),
    "the number of rounds put": theorem("k <= H", line(INSIDE, K="H"), FOLLOWS),
    "the derivation of another": theorem(
        "norm2(u + v) <= 2*norm2(u) + 2*norm2(v)",
        {**line(YOUNG, a="u", b="v", c="1"), "id": "unpublished/smaller"}, FOLLOWS, vectors=("u", "v"),
    ),
    "a derivation that is wrong": theorem(
        "s <= 1", line(claim("wrong", "s <= 1", proof=(combined("all"),))), FOLLOWS
    ),
    "what is known inside of the run only": theorem("0 <= K - k", line(INSIDE), FOLLOWS),
    "beyond the run": theorem(
        "1 <= 0", line(INSIDE), combined("all", parts=[{"line": "other", "put": {"k": "K + 1"}}])
    ),
    "an index of what all clients are assumed to have": theorem(
        "norm2(grad(f, v)) <= G_n**2", line(BOUNDED, G="G_n"), FOLLOWS,
        vectors=("v",), assuming=("lipschitz(f_n, G_n)",)
    ),
    "an index that is free there": theorem(
        "norm2(p_n*a_n) == p_n**2*norm2(a_n)",
        line(EACH, "norm2(p_n*a_n) == p_n**2*norm2(a_n)", b="a_n"), FOLLOWS, vectors=("a_n",)
    ),
    "an index of a sum of what has none": theorem(
        "mean_n(2)*norm2(a_n) == 2*norm2(a_n)",
        line(TWICE, "mean_n(2)*norm2(a_n) == 2*norm2(a_n)", b="a_n"), FOLLOWS, vectors=("a_n",)
    ),
    "a round that is named there": theorem("s*k <= s*k + s*k**2", line(AT_ROUND, c="s*k"), FOLLOWS),
    "an index that is bound there": theorem(
        "mean_n(p_n*norm2(a_n)) == mean_n(p_n)*norm2(a_n)", line(MEAN, b="a_n"), FOLLOWS, vectors=("a_n",)
    ),
}  # fmt: skip


def deeper(times: int) -> Claim:
    found = SMALLER
    for _ in range(times):
        found = theorem("2*c*t <= t", line(found), FOLLOWS, assuming=("c <= 1/2",))
    return found


@pytest.mark.parametrize("name", ACCEPTED)
def test_another_claim_is_used(name: str) -> None:
    one = ACCEPTED[name]
    check(one, lines_of(one, one.proof))


@pytest.mark.parametrize("name", REFUSED)
def test_another_claim_is_not_what_is_needed(name: str) -> None:
    one = REFUSED[name]
    with pytest.raises(NotProvedError):
        check(one, lines_of(one, one.proof))


def test_a_citation_of_another_claim_is_one_of_this() -> None:
    source = "Book, page 1"
    cited = claim("cited", "c <= 2*c**2", proof=({"name": "all", "by": "citation", "source": source},))
    assert check(theorem("s <= 2*s**2", line(cited, c="s"), FOLLOWS)).citations == (source,)


def test_what_it_rests_on_is_named() -> None:
    found = check(ACCEPTED["one step, unrolled"])
    assert found.hypotheses == ("smooth(f, L)", "eta <= 1/L")
    assert not found.unused


def test_how_deep_claims_are_nested() -> None:
    check(deeper(4))
    with pytest.raises(NotProvedError, match="deep"):
        check(deeper(5))


def test_it_is_not_exported() -> None:
    one = ACCEPTED["a lemma at other numbers"]
    with pytest.raises(NotExportedError, match="the rule claim"):
        rocq.theorem(one, lines_of(one, one.proof))


def test_what_another_claim_assumes_is_needed() -> None:
    put = claimed("all", BOUNDED, put={"v": "x[k]"})
    one = claim("one", "norm2(grad(f, x[k])) <= G**2", of=descent, assuming=("lipschitz(f_n, G)",), proof=(put,))
    report = verify_derivation(derivation_certificate(one, lines_of(one, one.proof)))
    assert report.valid, report.lines
    assert not any("not needed" in told for told in report.lines)
