"""Proofs of claims that say what they mean: what is proved, and above all what is not."""

import pytest

from tests.rounds import descent, sgd
from theory import algorithm, claim
from theory.derivation import combined
from theory.derivation import step as by_round
from theory.domain import OPEN_UNIT, REAL, Domain
from validate import proving

BOTH = ("smooth(f, L)", "convex(f)")
SAMPLES = ("smooth(f_ni, L)", "convex(f_ni)")


@algorithm
def twice(w, x, *, eta):
    """A mean of copies of a mean, which is that mean."""
    return x - eta * w.mean(w.each(w.mean(w.gradient(x, w.sample()))))


@algorithm
def apart(w, x, *, eta):
    """What a client draws beside the mean of what all draw."""
    g = w.gradient(x, w.sample())
    return x - eta * w.mean(g - w.mean(g) + g)


@algorithm
def batches(w, x, *, b):
    return x - w.mean(w.gradient(x, w.sample(b, replace=False)))


@algorithm
def chosen(w, x, *, S):
    return w.average(w.gradient(x), w.choose(S, replace=True))


WITHIN = {"sigma2": "mean_n(mean_i(norm2(grad(f_ni, x0) - grad(f_n, x0))))"}
SPREAD = {"spread": "mean_n(norm2(grad(f_n, x0) - grad(f, x0)))"}


def proved(statement: str, **rest: object) -> bool:
    """Whether a claim is proved, by its own derivation alone where it has one."""
    units = 0 if rest.get("proof") is not None else proving.UNITS
    return "proved" in {e.outcome for e in proving.evidence(claim("a", statement, **rest), units)}


@pytest.mark.parametrize(
    ("statement", "rest", "expected"),
    [
        ("norm2(sum_n(a_n)) <= N*sum_n(norm2(a_n))", {}, True),
        ("norm2(sum_n(a_n)) <= 3*sum_n(norm2(a_n))", {}, False),  # for N = 3 only
        ("norm2(sum_n(a_n)) <= (N - 1)*sum_n(norm2(a_n))", {}, False),
        ("norm2(mean_n(a_n)) <= mean_n(norm2(a_n))", {}, True),
        ("norm2(mean_n(a_n)) == mean_n(norm2(a_n))", {}, False),
        ("norm2(mean_n(a_n)) < mean_n(norm2(a_n))", {}, False),
        ("mean_n(norm2(a_n - mean_n(a_n))) == mean_n(norm2(a_n)) - norm2(mean_n(a_n))", {}, True),
        ("norm2(a_n) <= sum_n(norm2(a_n))", {}, True),
        ("max_n(norm2(a_n)) >= norm2(mean_n(a_n))", {}, True),
        ("mean_n(norm2(a_n)) <= N*norm2(mean_n(a_n))", {}, False),
        ("norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", {"assuming": ("sum_n(q_n) == 1",)}, True),
        ("norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", {"assuming": ("sum_n(q_n) <= 1",)}, False),
        ("norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", {}, False),
        (
            "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))",
            {"assuming": ("sum_n(q_n) == 1",), "parameters": {"q_n": REAL}},
            False,
        ),
        ("norm2(sum_n(q_n*a_n)) <= mean_n(norm2(a_n))", {"assuming": ("sum_n(q_n) == 1",)}, False),
        ("norm2(sum_n(p_n*a_n)) <= sum_n(p_n*norm2(a_n))", {"assuming": ("sum_n(q_n) == 1",)}, False),
    ],
)
def test_means_over_clients(statement: str, rest: dict[str, object], expected: bool) -> None:
    assert proved(statement, vectors=("a_n",), **rest) is expected


@pytest.mark.parametrize(
    ("statement", "assuming", "expected"),
    [
        ("norm2(a + b) <= 2*norm2(a) + 2*norm2(b)", (), True),
        ("norm2(a + b) <= 2*norm2(a) + norm2(b)", (), False),
        ("norm2(a + b) >= -norm2(a - b)", (), True),
        ("norm2(a) - norm2(b) == dot(a - b, a + b)", (), True),
        ("norm2(a) <= 1", ("norm2(a) <= 1",), True),
        ("norm2(a) <= 1", ("norm2(a) <= 2",), False),
        ("norm2(a) <= 4", ("norm2(b) <= 1", "norm2(a) <= 4*norm2(b)"), True),
        ("norm2(a) <= 3", ("norm2(b) <= 1", "norm2(a) <= 4*norm2(b)"), False),
        ("norm2(a) <= -9", ("norm2(a) <= -8",), False),  # of nothing: the verdict calls it vacuous
        ("dot(a, b) == 0", ("dot(a, b) == 0",), True),
        ("t*norm2(a) >= 0", (), True),
        ("(t - 1)*norm2(a) >= 0", (), False),
        ("(t - 1)*norm2(a) >= 0", ("t >= 1",), True),
        ("norm2(a)/(t - 1) >= 0", ("t >= 1",), False),  # at t = 1 it says nothing
        ("norm2(a)/(t - t) >= 0", (), False),
        ("norm(a + b) <= norm(a) + norm(b)", (), True),
        ("norm(a + b) <= norm(a) + 9/10*norm(b)", (), False),
    ],
)
def test_vectors(statement: str, assuming: tuple[str, ...], expected: bool) -> None:
    assert proved(statement, vectors=("a", "b"), assuming=assuming) is expected


COCOERCIVE = "dot(grad(f, x) - grad(f, y), x - y) >= norm2(grad(f, x) - grad(f, y))/L"
PAIR = {"smooth convex f (x, y)": "1", "smooth convex f (y, x)": "1"}


@pytest.mark.parametrize(
    ("assuming", "multipliers", "expected"),
    [
        (BOTH, PAIR, True),
        (SAMPLES, PAIR, True),  # f is the mean of such functions
        (("smooth(f, L)",), PAIR, False),
        (("smooth(f, M)", "convex(f)"), PAIR, False),
        (("smooth(f, M)", "convex(f)", "M <= L"), PAIR, False),  # by M, which is another line
        (("smooth(f, M)", "convex(f)", "M >= L"), PAIR, False),
        (("smooth(f, L)", "strongly_convex(f, mu)"), PAIR, True),
        (BOTH, dict.fromkeys(PAIR, "-1"), False),
        (BOTH, dict.fromkeys(PAIR, "L"), False),
        (BOTH, {"smooth convex f (x, y)": "2"}, False),
        (BOTH, {**PAIR, "smooth convex f (x, x)": "1"}, True),
        (BOTH, {**PAIR, "strongly_convex f (x, y)": "0"}, False),  # not assumed
        (BOTH, None, True),  # it is looked for
    ],
)
def test_a_function_at_points(assuming: tuple[str, ...], multipliers: dict[str, str] | None, expected: bool) -> None:
    proof = None if multipliers is None else (combined("all", None, multipliers),)
    assert proved(COCOERCIVE, vectors=("x", "y"), assuming=assuming, proof=proof) is expected


def test_multipliers_are_looked_for_where_no_parameter_is_left() -> None:
    convex = ("smooth(f, 2)", "convex(f)")
    assert proved(COCOERCIVE.replace("/L", "/2"), vectors=("x", "y"), assuming=convex)
    assert not proved(COCOERCIVE.replace("/L", "/1.9"), vectors=("x", "y"), assuming=convex)
    assert not proved(COCOERCIVE.replace("/L", "/2"), vectors=("x", "y"), assuming=convex[:1])


def test_a_minimiser_is_there_where_the_claim_speaks_of_it() -> None:
    """exp has an infimum and no minimiser: what needs one is not proved of the infimum."""
    parts = {"smooth convex f (x, xstar)": "2*L", "zero (x - xstar)": "-2*L", "zero (grad(f, x))": "2"}
    given = {"vectors": ("x",), "assuming": BOTH}
    at_minimiser = {**parts, "zero (grad(f, xstar))": "-1"}
    assert proved("norm2(grad(f, x)) <= 2*L*(f(x) - f(xstar))", **given)
    proof = (combined("all", None, at_minimiser),)
    assert proved("norm2(grad(f, x)) <= 2*L*(f(x) - f(xstar))", proof=proof, **given)
    proof = (combined("all", None, {**at_minimiser, "minimiser": "2*L"}),)
    assert not proved("norm2(grad(f, x)) <= 2*L*(f(x) - fstar)", proof=proof, **given)


@pytest.mark.parametrize(
    ("kind", "condition", "expected"),
    [
        ("bounded_variance(s)", "mean_n: variance (x)", True),
        ("dissimilar(s)", "mean_n: variance (x)", False),
        ("bounded_variance(t)", "mean_n: variance (x)", False),
    ],
)
def test_the_variance_of_samples(kind: str, condition: str, expected: bool) -> None:
    statement = "mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_n, x)))) <= s"
    proof = (combined("all", None, {condition: "1"}),)
    assert proved(statement, vectors=("x",), assuming=(kind,), proof=proof) is expected


def test_dissimilar_clients() -> None:
    given = {"vectors": ("x",), "proof": (combined("all", None, {"dissimilar (x)": "1"}),)}
    assert proved(
        "mean_n(norm2(grad(f_n, x))) <= G**2 + B**2*norm2(grad(f, x))", assuming=("dissimilar(G, B)",), **given
    )
    assert proved("mean_n(norm2(grad(f_n, x) - grad(f, x))) <= z**2", assuming=("dissimilar(z)",), **given)
    assert not proved("mean_n(norm2(grad(f_n, x))) <= z**2", assuming=("dissimilar(z)",), **given)


@pytest.mark.parametrize(
    ("of", "statement", "expected"),
    [
        (sgd, "E(norm2(x[1] - E(x[1]))) == eta**2*sigma2/N", True),
        (sgd, "E(norm2(x[1] - E(x[1]))) == eta**2*sigma2/N**2", False),
        (sgd, "E(norm2(x[1] - E(x[1]))) == eta**2*sigma2", False),
        (sgd, "norm2(E(x[1]) - x0) == eta**2*norm2(grad(f, x0))", True),
        (sgd, "norm2(x[1] - x0) == eta**2*norm2(grad(f, x0))", False),  # for every outcome
        (sgd, "E(norm2(x[k+1] - E(x[k+1]))) == eta**2*sigma2/N", False),  # true of the first round only
        (sgd, "E(norm2(x[2] - E(x[2]))) == eta**2*sigma2/N", False),
        (twice, "E(norm2(x[1] - E(x[1]))) == eta**2*sigma2/N", True),
        (twice, "E(norm2(x[1] - E(x[1]))) == eta**2*sigma2/N**2", False),
        (apart, "E(norm2(x[1] - E(x[1]))) == eta**2*sigma2/N", True),
    ],
)
def test_one_round_and_what_it_draws(of: object, statement: str, expected: bool) -> None:
    assert proved(statement, of=of, where=WITHIN) is expected


def test_batches_without_replacement_depend_on_the_number_of_samples() -> None:
    assert not proved("E(norm2(x[1] - E(x[1]))) == sigma2/(N*b)", of=batches, where=WITHIN)


def test_clients_that_are_chosen_with_replacement() -> None:
    assert proved("E(norm2(x[1] - grad(f, x0))) == spread/S", of=chosen, where=SPREAD)
    assert not proved("E(norm2(x[1] - grad(f, x0))) == spread/N", of=chosen, where=SPREAD)


def test_a_round_without_draws() -> None:
    pair = {
        "round": "1",
        "smooth convex f (x[k], xstar)": "2*eta",
        "smooth convex f (xstar, x[k])": "2*eta",
        "zero (x[k] - xstar)": "-2*eta",
        "zero (grad(f, x[k]))": "4*eta/L",
        "zero (grad(f, xstar))": "-2*eta/L",
    }
    moved = "- 2*eta*dot(grad(f, x[k]), x[k] - xstar) + eta**2*norm2(grad(f, x[k]))"
    lines = (
        by_round("round", f"norm2(x[k+1] - xstar) == norm2(x[k] - xstar) {moved}"),
        combined("all", None, pair, {"grad(f, x[k])": "eta*(2/L - eta)"}),
    )
    step = {"of": descent, "assuming": (*BOTH, "eta <= 2/L"), "proof": lines}
    assert proved("norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)", **step)
    assert not proved("norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)/2", **step)
    assert not proved("norm2(x[k+1]) <= norm2(x[k])", **step)


def test_schedules_and_parts_of_the_space_are_not_read() -> None:
    step = {"of": descent, "assuming": (*BOTH, "eta_k <= 2/L")}
    assert not proved("norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)", **step)
    given = {"vectors": ("x", "y"), "assuming": BOTH, "proof": (combined("all", None, PAIR),)}
    assert proved(COCOERCIVE, **given)
    assert not proved(COCOERCIVE, over="norm2(x) <= 1", **given)


UNIT = {"q": OPEN_UNIT}


@pytest.mark.parametrize(
    ("statement", "rest", "expected"),
    [
        ("sum_k(q**k) == (1 - q**K)/(1 - q)", {"parameters": UNIT}, True),
        ("sum_k(q**k) <= 1/(1 - q)", {"parameters": UNIT}, True),
        ("sum_k(q**k) == (1 - q**K)/(1 - q) + 1", {"parameters": UNIT}, False),
        ("sum_k(q**k) == (1 - q**(K + 1))/(1 - q)", {"parameters": UNIT}, False),
        ("sum_k(q**k) == (1 - q**K)/(1 - q)", {}, True),  # at q = 1 it says nothing
        ("sum_k(k) == K*(K - 1)/2", {}, True),
        ("sum_k(k) == K**2/2", {}, False),
        ("mean_k(k) == (K - 1)/2", {}, True),
        ("sum_k(s_k) <= K*c", {"assuming": ("s_k <= c",)}, True),
        ("sum_k(s_k) <= K*c", {}, False),
        ("sum_k(s_k)**2 >= 0", {}, False),  # not linear in the sum
        ("q*(1 - q) <= 1/4", {"parameters": UNIT}, True),
        ("q*(1 - q) <= q", {"parameters": UNIT}, True),
        ("1/q >= 1", {"parameters": UNIT}, True),
        ("1/q >= 1", {"parameters": {"q": Domain(0, 1)}}, False),  # at q = 0 it says nothing
        ("(1 - eta*mu)**2 <= 1 - eta*mu", {"assuming": ("eta <= 1/mu",)}, True),
        ("(1 - eta*mu)**2 < 1 - eta*mu", {"assuming": ("eta <= 1/mu",)}, False),
        ("(1 - eta*mu)**2 <= 1 - eta*mu", {}, False),
        ("exp(q) >= 1", {}, True),
        ("exp(q) >= 1 + q + q**2/2", {}, False),  # true, and beyond the method
    ],
)
def test_numbers(statement: str, rest: dict[str, object], expected: bool) -> None:
    assert proved(statement, **rest) is expected


def test_the_evidence_says_what_it_rests_on() -> None:
    (found,) = proving.evidence(
        claim(
            "a",
            COCOERCIVE,
            vectors=("x", "y"),
            assuming=(*BOTH, "L <= 7", "bounded_below(f)"),
            proof=(combined("all", None, PAIR),),
        )
    )
    assert found.data is not None
    assert found.data["sentence"]["hypotheses"] == ["smooth(f, L)", "convex(f)"]
    assert found.data["proof"]["unused"] == ["L <= 7", "bounded_below(f)"]
    assert (found.kind, found.origin) == ("algebra", "given")


def test_a_break_against_a_proof_is_a_contradiction(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from validate import examine

    wrong = claim("a", "norm2(a + b) <= norm2(a) + norm2(b)", vectors=("a", "b"))
    right = claim("a", "norm2(a + b) <= 2*norm2(a) + 2*norm2(b)", vectors=("a", "b"))
    evidence = proving.evidence(right)
    monkeypatch.setattr(proving, "evidence", lambda *_: evidence)
    found = examine.examine(wrong, quick=True, out=tmp_path)
    assert found.verdict == "undecided"
    assert found.broken


def test_a_proof_that_ends_with_an_error_ends_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from validate import examine

    def fails(*_: object, **__: object) -> list[object]:
        raise ZeroDivisionError("by 0")

    monkeypatch.setattr(proving, "searched", fails)
    found = examine.examine(claim("a", "norm2(a) >= 0", vectors=("a",)), quick=True, out=tmp_path)
    assert found.verdict == "supported"
    assert any("its proof ended with an error" in e.detail for e in found.evidence)
