"""What follows and what does not, one rule after the other: each put to the kernel and to the verifier."""

from typing import Any

import pytest

from tests.derivation.both import accepted
from tests.language.scaffold import scaffold
from tests.rounds import descent, sgd
from theory import algorithm, claim
from theory.derivation import (
    assumed,
    at,
    axiom,
    cases,
    combined,
    domain,
    induction,
    lines,
    mean,
    power,
    replaced,
    root,
    step,
)  # fmt: skip
from theory.domain import COUNT, NONNEGATIVE, REAL


@algorithm
def scaled(w: Any, x: Any, *, eta: Any) -> Any:
    w.tap("square", w.times(x, x))
    w.tap("root", w.sqrt(w.times(x, x)))
    return x - eta * w.times(w.ones(), x)


ALL = combined("all")
SQUARE = combined("all", None, (), {"v": "1"})
RUN: dict[str, Any] = {"of": descent}
DRAWN: dict[str, Any] = {"of": sgd}
V: dict[str, Any] = {"vectors": ("v",)}
FIRST = [combined("first")]
LARGEST = "max_k(norm(x[k]))"
NOT_K = combined("c", "c <= c + 1 - K", {"c*K <= c": "1"})
LIPSCHITZ = assumed("all", None, ["smooth(f_n, L_n)"], "lipschitz-gradient", on="f", x="x", y="y")
CITED = {"name": "one", "by": "citation", "source": "elsewhere"}
CUBE = power("all", "c <= 2", "3")
C = "coordinate({})".format
SUMMED = {"line": "one", "over": ["coordinates"], "times": C("x[k]")}
LOW = axiom("low", f"{C('x[k]')}**2 <= norm2(x[k])", "coordinate", "x[k]")
EVERY = combined("all", None, [{"line": "low", "over": ["coordinates"]}])
ROOT = step("same", "norm2(root[k]) == norm2(x[k])")


def signs(schema: str, of: tuple[str, ...] = (), **at_: str) -> dict[str, Any]:
    return assumed("all", None, of, schema, **at_)


PAIRS: list[tuple[str, bool, str, dict[str, Any], tuple[Any, ...]]] = [
    ("a multiplier that is positive", True, "a*norm2(v) >= 0", V, (combined("all", None, (), {"v": "a"}),)),
    ("a multiplier that may be negative", False, "a*norm2(v) >= 0", {**V, "parameters": {"a": REAL}},
     (combined("all", None, (), {"v": "a"}),)),
    ("a square that is less than nothing", False, "norm2(v) <= 0", V, (combined("all", None, (), {"v": "-1"}),)),
    ("strict from what is not", False, "norm2(v) > 0", V, (SQUARE,)),
    ("an equation from squares", False, "norm2(v) == 0", V, (SQUARE,)),
    ("a division by what may be 0", False, "a == b", {},
     (combined("zero", "(a - b)/(a - b) == 1"), at("all", "zero"))),
    ("a root of what may be negative", False, "1 - c >= 0", {},
     (combined("square", "sqrt(1 - c)**2 >= 0", (), {"sqrt(1 - c)": "1"}), at("all", "square"))),
    ("a mean of what is not a client's", False, "norm2(v) <= c", {**V, "assuming": ("norm2(v) <= c",)},
     (combined("all", None, [{"line": "norm2(v) <= c", "over": ["mean_n"]}]),)),
    ("a minimiser that nobody speaks of", False, "norm2(grad(f, v)) >= 0", {**V, "assuming": ("smooth(f, L)",)},
     (assumed("zero", "norm2(grad(f, xstar)) == 0", [], "zero", v="grad(f, xstar)"),
      combined("all", None, {"zero": "1"}, {"grad(f, v)": "1", "grad(f, xstar)": "1"}))),
    ("an infimum that nobody speaks of", False, "norm2(v) >= 0", {**V, "assuming": ("smooth(f, L)",)},
     (assumed("low", "fstar <= f(v)", [], "infimum", v="v"), SQUARE)),
    ("a constant of every client for their mean", False,
     "norm2(grad(f, x) - grad(f, y)) <= L_n**2*norm2(x - y)",
     {"vectors": ("x", "y"), "assuming": ("smooth(f_n, L_n)",)}, (LIPSCHITZ,)),
    ("the mean's function from its clients'", True, "f(y) >= f(x) + dot(grad(f, x), y - x)",
     {"vectors": ("x", "y"), "assuming": ("convex(f_n)",)},
     (assumed("all", None, ["convex(f_n)"], "convex", on="f", x="x", y="y"),)),
    ("clients' functions from their mean", False, "f_n(y) >= f_n(x) + dot(grad(f_n, x), y - x)",
     {"vectors": ("x", "y"), "assuming": ("convex(f)",)},
     (assumed("all", None, ["convex(f)"], "convex", on="f_n", x="x", y="y"),)),
    ("one point for all clients", True, "mean_n(norm2(grad(f_n, v) - grad(f, v))) <= zeta**2",
     {**V, "assuming": ("dissimilar(zeta)",)}, (signs("dissimilar", ("dissimilar(zeta)",), v="v"),)),
    ("a client's point where all are meant", False, "mean_n(norm2(grad(f_n, a_n) - grad(f, a_n))) <= zeta**2",
     {"vectors": ("a_n",), "assuming": ("dissimilar(zeta)",)}, (signs("dissimilar", ("dissimilar(zeta)",), v="a_n"),)),
    ("an induction that moves its hypothesis", False, "k <= 0", {},
     (induction("all", None, FIRST, [at("next", "IH", k="k+1")]),)),
    ("an induction that begins later", False, "k >= 1", {},
     ({**induction("all", None, FIRST, [combined("next", None, {"IH": "1"}, {"1": "1"})]), "from": 1},)),
    ("an induction on K of what hangs on K", False, "K <= 1", {"assuming": ("K <= 1",)},
     (induction("all", None, FIRST, [NOT_K], on="K"),)),
    ("an induction on K from 0, where K is at least 1", False, "K <= 0", {},
     (domain("K", "K >= 1"),
      {**induction("all", None, FIRST, [combined("next", None, {"IH": "2", "K": "1"})], on="K"), "from": 0})),
    ("a mean over clients of what is so of one", False, "mean_n(p_n) <= q_n", {},
     (cases("all", None, "p_n <= q_n", [mean("one", "p_n <= q_n", "mean_n")],
            [combined("two", None, {"q_n <= p_n": "1"})]),)),
    ("a power", True, "c**3 <= 8", {"assuming": ("c <= 2",)}, (CUBE,)),
    ("a power of what may be negative", False, "(c - 2)**2 <= 1", {"assuming": ("c - 2 <= 1",)},
     (power("all", "c - 2 <= 1", "2"),)),
    ("a root", True, "c <= b", {"assuming": ("c**2 <= b**2",)}, (root("all", "c**2 <= b**2"),)),
    ("a root with a negative side", False, "c <= b - 5", {"assuming": ("c**2 <= (b - 5)**2",)},
     (root("all", "c**2 <= (b - 5)**2"),)),
    ("vectors that are equal", True, "norm2(u) == norm2(v)",
     {"vectors": ("u", "v"), "assuming": ("norm2(u - v) <= 0",)}, (replaced("all", "norm2(u - v) <= 0"),)),
    ("vectors that are only near", False, "norm2(u) == norm2(v)",
     {"vectors": ("u", "v"), "assuming": ("norm2(u - v) <= c",)}, (replaced("all", "norm2(u - v) <= c"),)),
    ("the largest of a run", True, f"mean_k(norm(x[k])) <= {LARGEST}", RUN,
     (axiom("each", f"norm(x[k]) <= {LARGEST}", "extreme", "norm(x[k])", over="max_k"), mean("all", "each", "mean_k"))),
    ("the largest of a run that is over", False, "k <= max_k(k)", {},
     (axiom("all", None, "extreme", "k", over="max_k"),)),
    ("a turn that is the last", False, "h + 1 <= H", {"of": scaffold}, (domain("all"),)),
    ("E of a product as a product", False,
     "E(norm2(x[k+1])*norm2(x[k])) == E(norm2(x[k+1]))*E(norm2(x[k]))", {**DRAWN, "assuming": ("smooth(f_ni, L)",)},
     (step("all"),)),
    ("E of a square as a square", False, "E(norm2(x[k+1] - x[k])) == eta**2*E(norm2(grad(f, x[k])))", DRAWN,
     (step("all"),)),
    ("one outcome as the mean", False, "dot(x[k+1] - x[k], x0) == -eta*dot(grad(f, x[k]), x0)", DRAWN, (step("all"),)),
    ("a round before the first", False, "norm2(x[k] - x[k-1]) == eta**2*norm2(grad(f, x[k-1]))", RUN, (step("all"),)),
    ("a hypothesis on the run beyond it", False, "0 <= 2 - k", {"assuming": ("0 <= 3 - k",)},
     (at("all", "0 <= 3 - k", k="k+1"),)),
    ("a start that is not zero", False, "norm2(x[0]) <= 0", RUN, (ALL,)),
    ("the least of two", True, "min(p, q) <= (p + q)/2", {},
     (axiom("one", "min(p, q) <= p", "min", "p", "q"), axiom("two", "min(p, q) <= q", "min", "p", "q"),
      combined("all", None, {"one": "1/2", "two": "1/2"}))),
    ("cases of numbers", True, "max(p, q)*1 <= p + q", {},
     (cases("all", None, "p <= q", [combined("less", "0 <= q - p", {"p <= q": "1"}), CITED],
            [{**CITED, "name": "two"}]),)),
    ("Bernoulli", True, "(1 + c)**k >= 1 + k*c", {}, (axiom("all", None, "bernoulli", "c", "k"),)),
    ("Cauchy", True, "dot(u, v) <= norm(u)*norm(v)", {"vectors": ("u", "v")},
     (axiom("all", None, "cauchy", "u", "v"),)),
    ("a schedule's hypothesis", True, "eta_k*L <= 2", {"assuming": ("eta_k <= 1/L",)},
     (combined("all", None, {"eta_k <= 1/L": "L"}, {"1": "1"}),)),
    *((f"exponents {text}", true, text, {"parameters": {"M": COUNT}}, (ALL,)) for text, true in (
        ("b**(H*(M + 1)) == b**(H*M)*b**H", True), ("(b**H)**M == b**(H*M)", True),
        ("(b**H)**M == (b**M)**H", True), ("(b**H)**M == b**(H + M)", False),
        ("b**(H*M) == b**H*b**M", False), ("b**(p*M) == (b**p)**M", False))),
    *((f"coordinates {text}", true, text, {"of": scaled}, (step("all"),)) for text, true in (
        ("dot(square[k], x[k]) == dot(x[k], square[k])", True), ("norm2(x[k+1]) == (1 - eta)**2*norm2(x[k])", True),
        ("norm2(root[k]) == norm2(x[k])", True), ("norm2(square[k]) == norm2(x[k])**2", False),
        ("norm2(x[k+1]) == (1 - eta)*norm2(x[k])", False))),
    ("a sum over coordinates", True, "dot(square[k], x[k]) == dot(x[k], square[k])", {"of": scaled},
     (step("one", f"{C('square[k]')} == {C('x[k]')}**2"),
      combined("all", None, [SUMMED, {**SUMMED, "times": f"-{C('x[k]')}"}]))),
    *((f"every coordinate {text}", true, text, {"of": scaled}, (LOW, EVERY)) for text, true in (
        ("norm2(x[k]) <= d*norm2(x[k])", True), ("d*norm2(x[k]) <= norm2(x[k])", False),
        ("norm2(x[k]) <= norm2(x[k])*2", False))),
    ("the last root is that of the last round", True, "norm2(root[k]) >= norm2(x[k])", {"of": scaled},
     (ROOT, combined("all", None, {"same": "-1"}))),
    ("and not after it", False, "norm2(x[k]) >= 0", {"of": scaled},
     (ROOT, combined("all", None, {"same": "-1"}, {"root[k]": "1"}))),
    ("where no root is needed", True, "norm2(x[k]) >= 0", {"of": scaled}, (combined("all", None, (), {"x[k]": "1"}),)),
    ("reals have no integers between", False, "p <= q", {"parameters": {"p": NONNEGATIVE, "q": NONNEGATIVE}},
     (cases("all", None, "p <= q", [combined("a", None, {"p <= q": "1"})],
            [combined("b", None, {"q + 1 <= p": "1"})]),)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "true", "statement", "said", "written"), PAIRS, ids=[row[0] for row in PAIRS])
def test_what_follows(name: str, true: bool, statement: str, said: dict[str, Any], written: tuple[Any, ...]) -> None:
    one = claim("one", statement, **said)
    assert accepted(one, lines(one, written)) is true
