"""Gradients that are affine, samples that are drawn, clients that are chosen, and turns that are of the run."""

from typing import Any

import pytest

from tests.derivation.both import accepted as by_both
from tests.derivation.both import check
from theory import algorithm, claim
from theory.claim import Claim
from theory.derivation import assumed, axiom, combined, domain, drawn, induction, lines, step


def accepted(c: Claim, *written: Any) -> bool:
    return by_both(c, lines(c, written))


LINEAR = "norm2(grad(f_n, 2*u + v) - 2*grad(f_n, u) - grad(f_n, v) + 2*grad(f_n, u - u)) <= 0"


@pytest.mark.parametrize(
    ("statement", "assuming", "true"),
    [
        (LINEAR, "quadratic(f_n)", True),
        (LINEAR, "quadratic(f_ni)", True),
        (LINEAR, "quadratic(f)", False),
        (LINEAR, "smooth(f_n, L)", False),
        (LINEAR.replace("f_n", "f"), "quadratic(f_n)", True),
        (LINEAR.replace("+ 2*grad", "+ grad"), "quadratic(f_n)", False),
        (LINEAR.replace("f_n", "f_ni"), "quadratic(f_n)", False),
        (LINEAR.replace("u - u", "u"), "quadratic(f_n)", False),
        ("norm2(grad(f, u + v) - grad(f, u) - grad(f, v)) <= 0", "quadratic(f)", False),
        ("f(u + v) == f(u) + f(v) - f(u - u)", "quadratic(f)", False),
        ("norm2(grad(f_n, mean_n(a_n)) - mean_n(grad(f_n, a_n))) <= 0", "quadratic(f_n)", False),
        (
            "norm2(first_n(grad(f_n, u + v) - grad(f_n, v)) - grad(f_n, u) + grad(f_n, u - u)) <= 0",
            "quadratic(f_n)",
            False,
        ),
    ],
)
def test_gradients_of_quadratics_are_affine(statement: str, assuming: str, true: bool) -> None:
    vectors = tuple(name for name, text in (("u", "u"), ("v", "v"), ("a_n", "a_n")) if text in statement)
    vectors = tuple(name for name in vectors if name != "v" or "v)" in statement or "+ v" in statement)
    c = claim("quadratic", statement, vectors=vectors, assuming=(assuming,))
    assert accepted(c, combined("all")) is true
    if true:
        assert check(c, [combined("all")]).hypotheses == (assuming,)


@algorithm(x="x0", y="x0")
def beside(w: Any, x: Any, y: Any, *, eta: Any) -> Any:
    i = w.sample()
    return x - eta * w.mean(w.gradient(x, i)), y - eta * w.mean(w.gradient(y, i))


def test_draws_go_through_affine_maps() -> None:
    difference = "norm2(x[k+1] - y[k+1] - (x[k] - y[k]) + eta*(grad(f, x[k]) - grad(f, y[k]))) <= 0"
    c = claim("beside", difference, of=beside, assuming=("quadratic(f_ni)",))
    assert not accepted(c, step("all"))  # of its mean only
    averaged = "E(dot(grad(f, x[k+1]), x0)) == E(dot(grad(f, x[k] - eta*grad(f, x[k])), x0))"
    assert not accepted(claim("beside", averaged, of=beside, assuming=("smooth(f_ni, L)",)), step("all"))
    variance = "mean_n(mean_i(E(norm2(grad(f_ni, x[k]) - grad(f_n, x[k])))))"
    both = f"E(norm2(x[k+1])) == E(norm2(x[k] - eta*grad(f, x[k]))) + eta**2/N*{variance}"
    assert accepted(claim("beside", both, of=beside, assuming=("quadratic(f_ni)",)), step("all"))
    assert not accepted(claim("beside", both.replace("/N", ""), of=beside, assuming=("quadratic(f_ni)",)), step("all"))
    # a drawn vector inside of a gradient: not averaged here, and never wrongly
    squared = "E(norm2(grad(f, x[k+1]))) == E(norm2(grad(f, x[k] - eta*grad(f, x[k]))))"
    assert not accepted(claim("beside", squared, of=beside, assuming=("quadratic(f_ni)",)), step("all"))
    same = "norm2(x[k] - y[k]) <= 0"
    for assuming in ("quadratic(f_ni)", "smooth(f_ni, L)"):
        c = claim("beside", same, of=beside, assuming=(assuming,))
        assert accepted(c, induction("all", same, [combined("begin")], [step("go on", using=["IH"])]))


@algorithm
def tapped(w: Any, x: Any, *, eta: Any) -> Any:
    g = w.gradient(x, w.sample())
    w.tap("g", g)
    w.tap("u", w.gradient(x, w.sample(2)))
    return x - eta * w.mean(g)


BOUND = "norm2(grad(f_ni, x[k])) <= G**2"


@pytest.mark.parametrize(
    ("statement", "true"),
    [
        ("norm2(g[k]) <= G**2", True),
        ("norm2(g[k] - x[k]) <= G**2", False),
        ("norm2(u[k]) <= G**2", False),
        ("norm2(mean_n(g[k])) <= G**2", False),
        ("norm2(g[k] - grad(f_ni, x[k]) + grad(f_ni, x[k])) <= G**2", False),
        ("first_n(norm2(g[k])) <= G**2", False),
        ("E(norm2(g[k])) <= G**2", False),
        ("norm2(x[k+1] - x[k]) <= eta**2*G**2", False),
        ("norm2(g[k]) >= G**2", False),
        ("norm2(g[k+1]) <= G**2", False),
    ],
)
def test_what_holds_for_every_sample_holds_for_the_drawn_one(statement: str, true: bool) -> None:
    c = claim("tapped", statement, of=tapped, assuming=("bounded_gradients(f_ni, G)",))
    every = assumed("every", BOUND, ["bounded_gradients(f_ni, G)"], "bounded", v="x[k]")
    assert accepted(c, every, drawn("all", "every")) is true


def test_the_samples_are_all_of_them() -> None:
    c = claim("tapped", "norm2(g[k]) <= B", of=tapped, assuming=("mean_i(norm2(grad(f_ni, x[k]))) <= B",))
    assert not accepted(c, drawn("all", "mean_i(norm2(grad(f_ni, x[k]))) <= B"))


@algorithm
def some(w: Any, x: Any, *, S: Any) -> Any:
    return w.average(w.each(x) - w.gradient(x - x), w.choose(S))


@algorithm
def coins(w: Any, x: Any, *, p: Any) -> Any:
    s = w.coins(p)
    return w.mean(s * w.each(x))


def test_as_many_are_chosen_as_are() -> None:
    c = claim("some", "norm2(x[k+1] - x[k]) <= 0", of=some, assuming=("norm2(grad(f_n, x0 - x0)) <= 0",))
    assert accepted(c, step("all", using=["norm2(grad(f_n, x0 - x0)) <= 0"]))
    assert not accepted(claim("some", "norm2(x[k+1] - x[k]) <= 0", of=some), step("all"))
    c = claim("coins", "norm2(x[k+1] - p*x[k]) <= 0", of=coins)
    assert not accepted(c, step("all"))


@algorithm
def turns(w: Any, x: Any, *, eta: Any, H: Any) -> Any:
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y)
    return w.mean(y)


def test_turns_and_rounds_of_the_run() -> None:
    for statement, true in (
        ("h*norm2(y[k, h]) <= (H - 1)*norm2(y[k, h])", True),
        ("h*norm2(y[k, h]) <= H*norm2(y[k, h])", True),
        ("h*norm2(y[k, h]) <= (H - 2)*norm2(y[k, h])", False),
        ("h*norm2(y[k, h+1]) <= (H - 1)*norm2(y[k, h+1])", True),
        ("k*norm2(x[k]) <= K*norm2(x[k])", True),
        ("k*norm2(x[k]) <= (K - 1)*norm2(x[k])", False),
        ("k*norm2(x[k+1]) <= (K - 1)*norm2(x[k+1])", True),
        ("k*norm2(y[k, h]) <= (K - 1)*norm2(y[k, h])", True),
    ):
        vector = statement.partition("norm2(")[2].partition(")")[0]
        left, right = (part.partition("*norm2")[0].strip() for part in statement.split("<="))
        c = claim("turns", statement, of=turns)
        written = domain("in", f"{left} <= {right.strip('()')}"), combined("all", None, {"in": f"norm2({vector})"})
        assert accepted(c, *written) is true, statement


def test_a_sum_is_over_turns_of_the_run() -> None:
    c = claim("turns", "sum_h(h*norm2(y[k, h])) <= (H - 1)*sum_h(norm2(y[k, h]))", of=turns)
    part = [{"line": "in", "over": ["sum_h"], "times": "norm2(y[k, h])"}]
    assert accepted(c, domain("in", "h <= H - 1"), combined("all", None, part))
    c = claim("turns", "norm2(y[k, h]) == 0", of=turns)
    every = induction("in", "h <= H", [domain("begin", "0 <= H")], [combined("go on", None, {"in once": "1"})], on="h")
    assert not accepted(c, domain("in once", "h <= H - 1"), every, axiom("all", None, "square", "h"))
