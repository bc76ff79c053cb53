"""False claims, with the derivations that were made to get them accepted: kernel and verifier reject them all."""

from typing import Any

import pytest

from tests.derivation.both import by_kernel as accepted_by_kernel
from tests.rounds import descent as full
from tests.rounds import local_sgd, noisy, sgd
from theory import algorithm, claim
from theory.claim import Claim
from theory.derivation import NotProvedError, check
from theory.domain import Domain
from validate.certificate.derivation import derivation_certificate
from validate.verifier.derivation import verify_derivation
from validate.verifier.reading import FormatError, Uncheckable

REAL, FROM_0, COUNT_0 = Domain(), Domain(0, None), Domain(0, None, integer=True)


def accepted_by_verifier(c: Claim, lines: Any) -> bool:
    try:
        return verify_derivation(derivation_certificate(c, lines)).valid
    except (FormatError, Uncheckable):
        return False


def line(by: str, sentence: str | None = None, name: str = "last", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "by": by, **more}
    if sentence is not None:
        found["sentence"] = sentence
    return found


def combined(*parts: Any, to: str | None = None, name: str = "last", squares: Any = ()) -> dict[str, Any]:
    """A combination; a part is a line, or a line, a multiplier, what it is taken over."""
    read = [{"line": p} if isinstance(p, str) else dict(zip(("line", "times", "over"), p, strict=False)) for p in parts]
    own = [dict(zip(("of", "times", "over"), s, strict=False)) for s in squares]
    return line("combination", to, name, parts=read, squares=own)


def same(c: Claim, *lines: Any) -> tuple[Claim, list[Any]]:
    return c, list(lines)


def with_power(text: str, by: str = "1/a", **domains: Domain) -> tuple[Claim, list[Any]]:
    """a*c == 0 is divided by a, where the claim has a power of a that is worth 0 at a = 0; false at a = 0, c = 1."""
    c = claim("c", f"c <= 0*{text}", assuming=("a*c == 0",), parameters={"a": FROM_0, "c": FROM_0, **domains})
    return same(c, combined(("a*c == 0", by)))


@algorithm
def two_loops(w, x, *, H, M):
    y = x
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y + x
    z = x
    for _ in w.repeat(M):
        w.tap("z", z)
        z = z + x
    return x


@algorithm(x="x0", s="x0")
def coin(w, x, s, *, p):
    c = w.coin(p)
    return w.where(c, 0 * x, x), w.where(c, s, 0 * s)


@algorithm(x="each x0")
def coins(w, x, *, p):
    return w.where(w.coins(p), 0 * x, x)


Case = tuple[Claim, list[Any]]
# 0**e is worth something for every e >= 0, so that a power in the claim does not say that its base is not 0
POWERS: dict[str, Case] = {
    "a**(m - 2)": with_power("a**(m - 2)"),  # m = 3
    "a**(m - 1)": with_power("a**(m - 1)"),  # m = 1, 2, ...
    "a**(2 - m)": with_power("a**(2 - m)"),  # m = 1
    "a**(1 - k)": with_power("a**(1 - k)"),  # k = 0
    "a**(k - 1)": with_power("a**(k - 1)"),
    "a**(K - 1)": with_power("a**(K - 1)"),
    "a**(N - 2)": with_power("a**(N - 2)"),
    "a**(1/2)": with_power("a**(1/2)"),
    "a**(1/3)": with_power("a**(1/3)"),
    "a**(m/2)": with_power("a**(m/2)"),
    "a**t": with_power("a**t"),
    "a**(1/2), log": with_power("a**(1/2)", "a**(-1/2)*a**(-1/2)"),
    "a**(1/3), log": with_power("a**(1/3)", "a**(-1/2)*a**(-1/2)"),
    "a**(m/2), log": with_power("a**(m/2)", "a**(-1/2)*a**(-1/2)"),
    "a**t, log": with_power("a**t", "a**(-1/2)*a**(-1/2)"),
    "sum_k(a**(K - 1 - k))": with_power("sum_k(a**(K - 1 - k))"),
    # false at eta = 2, mu = 1/2, c = 1, K = 1
    "sum_k((1 - eta*mu)**(K - 1 - k))": same(
        claim(
            "c",
            "c <= 0*sum_k((1 - eta*mu)**(K - 1 - k))",
            assuming=("(1 - eta*mu)*c == 0",),
            parameters={"c": FROM_0},
        ),
        combined(("(1 - eta*mu)*c == 0", "1/(1 - eta*mu)")),
    ),
    "in a relation": same(
        claim(
            "c",
            "c <= 0",
            assuming=("a*c == 0", "0*a**(m - 2) <= 1"),
            parameters={"a": FROM_0, "c": FROM_0},
        ),
        combined(("a*c == 0", "1/a")),
    ),
}


def zero(of: str, sentence: str | None = None, name: str = "last") -> dict[str, Any]:
    return line("zero", sentence, name, line="norm2(a) <= 0", of=of, over=[], **{"with": "b"})


# an inner product with a vector that is 0 is 0, and neither more nor less
STRICT: dict[str, Case] = {
    "dot < 0": same(claim("c", "dot(a, b) < 0", vectors=("a", "b"), assuming=("norm2(a) <= 0",)), zero("a")),
    "dot > 0": same(claim("c", "dot(a, b) > 0", vectors=("a", "b"), assuming=("norm2(a) <= 0",)), zero("a")),
    "0 < 0": same(
        claim("c", "0 < 0*dot(a, b)", vectors=("a", "b")),
        combined(to="norm2(a - a) <= 0", name="none"),
        {**zero("a - a"), "line": "none"},
    ),
}


def first_K(statement: str, divisor: str = "K - 1", top: str = "1") -> Case:
    """By induction on K with a step that divides by what is 0 at the first K: false at K = 2 (3)."""
    step = [
        combined(("IH", f"1/({divisor})"), to="1 <= 0", name="absurd"),
        combined(("absurd", "K")),
    ]
    base = [combined(squares=[("1", f"{top} - 1")] if top != "1" else ())]
    return same(
        claim("c", statement), line("induction", f"K <= {top}", "all", on="K", base=base, step=step), combined("all")
    )


# where the claim divides by something with K in it, an induction on K meets other values of it than the claim's
LONGER: dict[str, Case] = {
    "K <= 1 + 0/(K - 1)": first_K("K <= 1 + 0/(K - 1)"),
    "K*(K - 1)/(K - 1) <= 1": first_K("K*(K - 1)/(K - 1) <= 1"),
    "K <= 2 + 0/(K - 2)": first_K("K <= 2 + 0/(K - 2)", "K - 2", "2"),
    # false at K = 2; a root with K in it is put to another K
    "K <= 1 + 0*sqrt(K - 2), put": same(
        claim("c", "K <= 1 + 0*sqrt(K - 2)"),
        combined(to="2 <= K", name="two", squares=[("sqrt(K - 2)", "1")]),
        line("at", "2 <= 1", "absurd", line="two", put={"K": "1"}),
        combined(("absurd", "K"), squares=[("1", "1")]),
    ),
    "K <= 1 + 0*sqrt(K - 2), induction": same(
        claim("c", "K <= 1 + 0*sqrt(K - 2)"),
        line(
            "induction",
            "K <= 1",
            "all",
            on="K",
            base=[combined()],
            step=[
                combined(to="2 <= K", name="two", squares=[("sqrt(K - 2)", "1")]),
                combined("two", "IH", to="1 <= 0", name="absurd"),
                combined(("absurd", "K")),
            ],
        ),
        combined("all"),
    ),
}


# what is known at those clients only at which the claim is defined is put for all of them:
# false at N = 2, p = (1, 0), a = (0, 1) and n the first client
OPEN: dict[str, Case] = {
    "replaced under a mean": same(
        claim(
            "c",
            "norm2(mean_n(a_n)) <= 0/p_n",
            vectors=("a_n",),
            parameters={"p": FROM_0},
            assuming=("p_n*norm2(a_n) == 0",),
        ),
        combined(("p_n*norm2(a_n) == 0", "1/p_n"), to="norm2(a_n) <= 0", name="own"),
        line("replace", "norm2(mean_n(a_n)) == 0", "all", line="own"),
        combined("all"),
    ),
    "taken over a mean": same(
        claim(
            "c",
            "mean_n(c_n) <= 0/p_n",
            parameters={"p": FROM_0, "c": FROM_0},
            assuming=("p_n*c_n == 0",),
        ),
        combined(("p_n*c_n == 0", "1/p_n"), to="c_n <= 0", name="own"),
        line("mean", line="own", over=["mean_n"]),
    ),
    "by the sign of a mean": same(
        claim(
            "c",
            "mean_n(c_n) <= 0/p_n",
            parameters={"p": FROM_0, "c": REAL},
            assuming=("p_n*c_n <= 0",),
        ),
        combined(("p_n*c_n <= 0", "1/p_n"), to="c_n <= 0", name="own"),
        combined(squares=[("1", "mean_n(0 - c_n)")]),
    ),
}


# rho is an eigenvalue, and 0 where W averages at once: false at N = 2, W = ((1/2, 1/2), (1/2, 1/2)), c = 1
MIXED: dict[str, Case] = {
    "0 < rho": same(claim("c", "0 < rho", assuming=("connected(W)",)), line("domain")),
    "1/rho": same(
        claim("c", "c <= 0", assuming=("connected(W)", "rho*c == 0"), parameters={"c": FROM_0}),
        combined(("rho*c == 0", "1/rho")),
    ),
    "0 < W": same(claim("c", "0 < W", assuming=("connected(W)",)), line("domain")),
}


def short(statement: str, *lines: Any, **fields: Any) -> Case:
    return same(claim("c", statement, **fields), *(lines or (combined(),)))


AT_K = {"line": "norm2(x[k+1]) <= 1", "put": {"k": "K"}}
ELSEWHERE: dict[str, Case] = {
    # indices
    "an own index in a mean": short("mean_n(dot(a_n, mean_n(a_n))) == mean_n(norm2(a_n))", vectors=("a_n",)),
    "a definition with a free index": short("s <= mean_n(s)", vectors=("a_n",), where={"s": "norm2(a_n)"}),
    "a definition captured": short(
        "mean_n(s*norm2(a_n)) == s*mean_n(norm2(a_n))", vectors=("a_n",), where={"s": "norm2(a_n)"}
    ),
    "counts of samples": short("mean_n(sum_i(f_ni(a))) == sum_i(1)*f(a)", vectors=("a",)),
    "samples of another client": short("mean_n(mean_i(f_ni(a))) == mean_i(mean_n(f_ni(a)))", vectors=("a",)),
    "the largest is linear": short("max_n(r*p_n) == r*max_n(p_n)", parameters={"r": REAL}),
    # numbers
    "0**k": short("0**k == 0"),
    "a root's sign": short("sqrt(r**2) == r", parameters={"r": REAL}),
    "a root of anything": short("0 <= r", combined(squares=[("sqrt(r)", "1")]), parameters={"r": REAL}),
    "a root that is imaginary": short("0 <= -1", combined(squares=[("sqrt(-1)", "1")])),
    "1/(p - p)": short("p <= 0", combined(squares=[("1", "1/(p - p)")])),
    "a divisor that the claim has not": short(
        "c <= 0/(r + 1)", combined(("r*c == 0", "1/r")), assuming=("r*c == 0",), parameters={"r": REAL}
    ),
    "a root is no divisor": short(
        "c <= 0*sqrt(a)",
        combined(("a*c == 0", "1/sqrt(a)/sqrt(a)")),
        assuming=("a*c == 0",),
        parameters={"a": FROM_0, "c": FROM_0},
    ),
    "0**0 is not less": short("r**0 < 1", line("power", line="r < 1", exponent="0"), assuming=("r < 1",)),
    "the power of a negative": short(
        "r**2 <= 1", line("power", line="r <= 1", exponent="2"), assuming=("r <= 1",), parameters={"r": REAL}
    ),
    "strict from a root": short("r < s", line("root", line="r**2 <= s**2"), assuming=("r**2 <= s**2",)),
    "a root downwards": short(
        "r <= s", line("root", line="r**2 <= s**2"), assuming=("r**2 <= s**2",), parameters={"s": REAL}
    ),
    "bernoulli of a fraction": short("(1 + r)**t >= 1 + t*r", line("axiom", schema="bernoulli", of=["r", "t"])),
    "bernoulli below": short(
        "(1 + r)**m >= 1 + m*r", line("axiom", schema="bernoulli", of=["r", "m"]), parameters={"r": REAL}
    ),
    "a strict part times 0": short("q*p < q", combined(("p < 1", "q")), assuming=("p < 1",), parameters={"q": FROM_0}),
    # functions
    "smooth on the mean only": short(
        "norm2(grad(f_n, a) - grad(f_n, b)) <= L**2*norm2(a - b)",
        line("assumption", of=["smooth(f, L)"], schema="lipschitz-gradient", at={"x": "a", "y": "b"}, on="f_n"),
        vectors=("a", "b"),
        assuming=("smooth(f, L)",),
    ),
    "convex on the mean only": short(
        "f_n(a) >= f_n(b) + dot(grad(f_n, b), a - b) + norm2(grad(f_n, a) - grad(f_n, b))/(2*L)",
        line(
            "assumption", of=["smooth(f_n, L)", "convex(f)"], schema="smooth convex", at={"x": "a", "y": "b"}, on="f_n"
        ),
        vectors=("a", "b"),
        assuming=("smooth(f_n, L)", "convex(f)"),
    ),
    "a constant for each client": short(
        "norm2(grad(f, a) - grad(f, b)) <= L_n**2*norm2(a - b)",
        line("assumption", of=["smooth(f_n, L_n)"], schema="lipschitz-gradient", at={"x": "a", "y": "b"}, on="f"),
        vectors=("a", "b"),
        assuming=("smooth(f_n, L_n)",),
    ),
    "spread at points of clients": short(
        "mean_n(norm2(grad(f_n, a_n))) <= G**2 + B**2*norm2(grad(f, a_n))",
        line("assumption", of=["dissimilar(G, B)"], schema="dissimilar", at={"v": "a_n"}),
        vectors=("a_n",),
        assuming=("dissimilar(G, B)",),
    ),
    "its minimiser is not the clients'": short(
        "dot(grad(f_n, xstar), a) == 0", line("assumption", of=[], schema="zero", at={"v": "a"}), vectors=("a",)
    ),
    "no minimiser": short(
        "1 <= 0", line("assumption", of=[], schema="minimiser", name="there"), combined("there"), of=full
    ),
    # rounds
    "one round too far": short("norm2(x[K+1]) <= 1", line("at", **AT_K), of=full, assuming=("norm2(x[k+1]) <= 1",)),
    "the second round, if any": short(
        "norm2(x[2]) <= 1",
        line("at", line="norm2(x[k]) <= 1", put={"k": "2"}),
        of=full,
        assuming=("norm2(x[k]) <= 1",),
    ),
    "summed too far": short(
        "sum_k(norm2(x[k+2])) <= K",
        line("mean", line="norm2(x[k+2]) <= 1", over=["sum_k"]),
        of=full,
        assuming=("norm2(x[k+2]) <= 1",),
    ),
    "the largest of the rounds, at the end": short(
        "norm2(x[K]) <= max_k(norm2(x[k]))",
        line("axiom", "norm2(x[k]) <= max_k(norm2(x[k]))", "one", schema="extreme", of=["norm2(x[k])"], over="max_k"),
        line("at", line="one", put={"k": "K"}),
        of=full,
    ),
    "of a turn after the last": short(
        "norm2(x[k+1]) <= 1",
        line("at", "norm2(y[k,H]) <= 1", "end", line="norm2(y[k,h]) <= 1", put={"h": "H"}),
        line("step", "norm2(x[k+1]) == norm2(mean_n(y[k,H]))", "mean"),
        combined("mean", ("end", "1", ["mean_n"]), squares=[("y[k,H] - mean_n(y[k,H])", "1", ["mean_n"])]),
        of=local_sgd,
        assuming=("norm2(y[k,h]) <= 1",),
    ),
    # draws
    "a square and a mean": short("E(norm2(x[k])*norm2(x[k+1])) == E(norm2(x[k]))*E(norm2(x[k+1]))", of=sgd),
    "one coin in two states": short("E(dot(x[1], s[1])) == p*(1 - p)*norm2(x0)", line("step"), of=coin),
    "coins are not one": short("E(norm2(mean_n(x[k+1]))) == (1 - p)**2*E(norm2(mean_n(x[k])))", line("step"), of=coins),
    "a coin for every outcome": short("norm2(x[k+1]) == (1 - p)*norm2(x[k])", line("step"), of=coin),
    "noise squared twice": short(
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))**2) == eta**4*sigma2**2/N**2",
        line("step"),
        of=noisy,
        assuming=("smooth(f_n, L)",),
    ),
    # lists of lines
    "IH one further": short(
        "norm2(x[k]) <= 0",
        line("induction", on="k", base=[combined("norm2(x0) <= 0")], step=[line("at", line="IH", put={"k": "k+1"})]),
        of=full,
        assuming=("norm2(x0) <= 0",),
    ),
    "induction in induction": short(
        "k <= 0",
        line(
            "induction",
            on="k",
            base=[combined()],
            step=[line("induction", on="k", base=[combined()], step=[combined("IH")])],
        ),
    ),
    "IH of the other h": short(
        "k <= 0",
        line(
            "induction",
            on="k",
            base=[combined()],
            step=[
                line("induction", "k + 1 <= h", "h", on="h", base=[combined("IH")], step=[combined("IH")]),
                combined("h"),
            ],
        ),
    ),
    "a case of one client for all": short(
        "norm2(mean_n(a_n)) <= norm2(a_n)",
        line(
            "cases",
            on="norm2(a_n) <= 0",
            first=[
                line("replace", "norm2(mean_n(a_n)) == 0", "all", line="norm2(a_n) <= 0"),
                combined("all", squares=[("a_n", "1")]),
            ],
            second=[combined("0 <= norm2(a_n)")],
        ),
        vectors=("a_n",),
    ),
    "a case of one k for all": short(
        "k <= 3",
        line(
            "cases",
            on="k <= 3",
            first=[combined("k <= 3")],
            second=[line("at", "3 <= 0", "zero", line="3 <= k", put={"k": "0"}), combined(("zero", "k"))],
        ),
    ),
    "what a case knew": short(
        "p <= 1",
        line("cases", "p <= p", "both", on="p <= 1", first=[combined()], second=[combined()]),
        combined(squares=[("1", "1 - p")]),
    ),
    "a line by the name of a relation": short(
        "p <= 1", combined(to="0 <= 1", name="p <= 1", squares=[("1", "1")]), combined("p <= 1")
    ),
    "two clients are not one": short(
        "norm2(a_n) == mean_n(norm2(a_n))", line("single"), vectors=("a_n",), assuming=("N <= 2",)
    ),
    "means that are equal": short(
        "mean_n(dot(a_n, b_n)) == 0",
        line("zero", line="norm2(mean_n(a_n)) <= 0", of="a_n", over=["mean_n"], **{"with": "b_n"}),
        vectors=("a_n", "b_n"),
        assuming=("norm2(mean_n(a_n)) <= 0",),
    ),
    "turns of another loop": short(  # H = 1, M = 2, R = norm(x0)
        "norm(z[k, h]) <= R",
        line(
            "induction",
            "norm2(z[k, h] - y[k, h]) <= 0",
            "same",
            on="h",
            base=[line("step", name="base")],
            step=[
                line("step", "norm2(z[k, h+1] - z[k, h] - x[k]) <= 0", "one"),
                line("step", "norm2(y[k, h+1] - y[k, h] - x[k]) <= 0", "other"),
                line("replace", "norm2(z[k, h+1] - y[k, h+1]) == norm2(z[k, h] + x[k] - y[k, h+1])", "a", line="one"),
                line("replace", "norm2(z[k, h] + x[k] - y[k, h+1]) == norm2(z[k, h] - y[k, h])", "b", line="other"),
                combined("a", "b", "IH"),
            ],
        ),
        line("replace", "norm(z[k, h]) <= norm(y[k, h])", "moved", line="same"),
        combined("moved", "norm(y[k, h]) <= R"),
        of=two_loops,
        assuming=("norm(y[k, h]) <= R",),
    ),
    "twice as many rounds": short(
        "E(norm(x[k])) <= R",
        line("mean", line="norm(x[2*k]) <= R", over=["E"]),
        of=sgd,
        assuming=("norm(x[2*k]) <= R",),
    ),
    "equal on average": short(
        "norm2(x[k] - a) <= 0",
        line("replace", line="norm2(E(x[k]) - a) <= 0"),
        of=sgd,
        vectors=("a",),
        assuming=("norm2(E(x[k]) - a) <= 0",),
    ),
}


@algorithm(x="x0", past="J times 0")
def remembering(w, x, past, *, eta):
    return x - eta * w.full_gradient(x), w.shift(past, x)


def of_run(statement: str, known: str, of: Any = full, **put: str) -> Case:
    """By what is known of some rounds, turns or lags of the run only."""
    part = {"line": known, "put": put, "times": "1"}
    return short(statement, line("combination", name="last", parts=[part], squares=[]), of=of, assuming=(known,))


# what a hypothesis is known of is what it says, whatever cancels in it, or has another name
FURTHER: dict[str, Case] = {
    "times 0": of_run("norm2(x[k]) <= 1", "norm2(x[k]) <= 1 + 0*norm2(x[k+5])"),
    "times 0, at the end": of_run("norm2(x[K]) <= 1", "norm2(x[k]) <= 1 + 0*norm2(x[k+1])", k="K"),
    "what cancels": of_run("1 <= 0", "1 + norm2(x[k+5]) <= dot(x[k+5], x[k+5])"),
    "turns": of_run("norm2(y[k,h]) <= 1", "norm2(y[k,h]) <= 1 + 0*norm2(y[k,h+5])", of=local_sgd),
    "lags": of_run("norm2(past[k,j]) <= 1", "norm2(past[k+1,j+1]) <= 1", of=remembering),
    "lags at the end": of_run("norm2(past[K,j]) <= 1", "norm2(past[k+1,j+1]) <= 1", of=remembering, k="K"),
    "the second lag, if any": of_run(
        "norm2(past[k,0]) <= 0*norm2(x[k+1])", "norm2(past[k,j]) <= 1 - j", of=remembering, k="k+1", j="1"
    ),
    "no such lag": of_run("norm2(past[k,j]) <= 1", "norm2(past[k,j]) <= 1", of=remembering, j="m"),
}


@algorithm(x="x0", past="J times 0")
def mixed(w, x, past, *, eta, alpha, S, M):
    s = w.each(x)
    for _ in w.repeat(S):
        y = s
        for _ in w.repeat(M):
            w.tap("y", y)
            y = y - eta * w.gradient(y)
        s = y
    new = w.mean(s) - w.combine(alpha, past)
    return new, w.shift(past, x - new)


@algorithm
def branching(w, x, *, eta, S, M, Q):
    s = w.each(x)
    for _ in w.repeat(S):
        y = s
        for _ in w.repeat(M):
            w.tap("y", y)
            y = y - eta * w.gradient(y)
        z = y
        for _ in w.repeat(Q):
            w.tap("z", z)
            z = z - eta * w.gradient(z)
        s = z
    return w.mean(s)


@algorithm(x="x0", past="J times 0")
def one_loop(w, x, past, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y)
    return w.mean(y), w.shift(past, x)


def elsewhere(of: Any, index: str, known: str, at: str, by: str) -> Case:
    """Turns of one loop, or lags, are no turns of another."""
    norm = f"norm2({at})"
    if by == "hypothesis":
        known = f"{index} <= 5 + 0*{known}"
        return short(f"({index} - 5)*{norm} <= 0", combined((known, norm)), of=of, assuming=(known,))
    if by == "sign":
        known = f"{index} <= 5 + 0*{known}"
        return short(f"({index} - 5)*{norm} <= 0", combined(squares=[(at, f"5 - {index}")]), of=of, assuming=(known,))
    top = f"max_{index}({index} + 0*{known})"
    of_all = line(
        "axiom", f"{index} <= {top}", "top", schema="extreme", of=[f"{index} + 0*{known}"], over=f"max_{index}"
    )
    return short(f"{index}*{norm} <= {top}*{norm}", of_all, combined(("top", norm)), of=of)


OTHER_TURNS: dict[str, Case] = {
    f"{by}: {known} at {at}": elsewhere(of, index, known, at, by)
    for by in ("hypothesis", "sign", "extreme")
    for of, index, known, at in (
        (mixed, "j", "alpha_j", "y[k,0,j]"),
        (mixed, "j", "norm2(past[k,j])", "y[k,0,j]"),
        (mixed, "j", "norm2(y[k,0,j])", "past[k,j]"),
        (mixed, "h", "norm2(y[k,h,0])", "past[k,h]"),
        (branching, "j", "norm2(y[k,0,j])", "z[k,0,j]"),
        (branching, "j", "norm2(y[k,h,j])", "z[k,h,j]"),
        (two_loops, "h", "norm2(y[k,h])", "z[k,h]"),
        (one_loop, "h", "norm2(y[k,h])", "past[k,h]"),
        (one_loop, "h", "norm2(past[k,h])", "y[k,h]"),
    )
} | {
    "domain": short(
        "h*norm2(past[k,h]) <= (H - 1)*norm2(past[k,h])",
        line("domain", "h <= H - 1", "turns"),
        combined(("turns", "norm2(past[k,h])")),
        of=one_loop,
    )
}
CASES = {
    f"{group}: {name}": case
    for group, cases in {
        "powers": POWERS,
        "strict": STRICT,
        "longer": LONGER,
        "open": OPEN,
        "mixed": MIXED,
        "of the run": FURTHER,
        "of other turns": OTHER_TURNS,
        "": ELSEWHERE,
    }.items()
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_rejects(name: str) -> None:
    assert not accepted_by_kernel(*CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_the_verifier_rejects(name: str) -> None:
    assert not accepted_by_verifier(*CASES[name])


def test_an_index_j_is_not_read_and_does_not_end_the_verifier() -> None:
    c = claim("c", "p_j == 0")
    assert not accepted_by_verifier(c, [combined()])


@algorithm
def largest(w, x, *, eta):
    """The largest gradient of a sample is spoken of where the sample's is drawn."""
    i = w.sample()
    w.tap("g", w.gradient(x, i))
    return x - eta * w.mean(w.gradient(x, i))


def test_what_is_drawn_where_a_largest_over_samples_stands_is_refused_in_words() -> None:
    most = "max_i(norm2(grad(f_ni, x[k])))"
    one = claim("one", f"norm2(g[k]) == {most}", of=largest)
    with pytest.raises(NotProvedError, match="does not say so of the sample"):
        check(one, [combined(to=f"{most} <= {most}", name="z"), line("drawn", line="z")])
