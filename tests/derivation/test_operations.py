"""The rule ``operation``: what is so of what a program makes by prox, top, sign and mix, and what is not."""

from dataclasses import replace

import pytest

from tests.derivation.both import accepted, check
from theory import algorithm
from theory.claim import Claim, claim
from theory.derivation import combined, operated
from theory.domain import REAL


@algorithm
def proximal(w, x, *, t):
    u = w.prox(x, t)
    w.tap("u", u)
    return w.mean(u)


@algorithm
def largest(w, x, *, m):
    p = w.top(w.full_gradient(x), m)
    w.tap("p", p)
    return x - p


@algorithm
def signs(w, x):
    s = w.sign(w.full_gradient(x))
    w.tap("s", s)
    return x - s


@algorithm(x="each x0", y="each x0")
def mixed(w, x, y, *, W, V):
    m = w.mix(x, W)
    w.tap("m", m)
    return m, w.mix(y, V)


@algorithm(x="each x0")
def mixed_twice(w, x, *, W):
    m = w.mix(x, W)
    w.tap("m", m)
    return w.mix(m, W)


@algorithm(x="each x0")
def noisy(w, x, *, W, eta):
    m = w.mix(x + w.noise(eta), W)
    w.tap("m", m)
    return m


AWAY = "mean_n(norm2({u} - mean_n({v}))) <= rho**{p}*mean_n(norm2({v} - mean_n({v})))"
NEAREST = "2*t*({F}({y}) - {F}({u})) + norm2({y} - x[k]) - {c}*norm2({u} - x[k]) >= 0"
CONVEX = "t*(f_n(xstar) - f_n(u[k])) >= dot(x[k] - u[k], xstar - u[k])"
STRONG = f"{CONVEX} + t*mu/2*norm2(xstar - u[k])"
SLOPE = "t*dot(grad(f_n, u[k]), x0) == dot(x[k] - u[k], x0)"
W = "connected(W)"


def one_line(of: object, sentence: str, schema: str, vectors: str, using: str = "", *assuming: str) -> Claim:
    """A claim whose proof is one line by the rule."""
    line = operated("all", sentence, schema, *vectors.split("; "), using=using)
    return claim("all", sentence, of=of, assuming=assuming, proof=(line,))


def proximal_line(sentence: str, schema: str, using: str = "", *assuming: str) -> Claim:
    """Of the proximal points that clients show, against the minimiser."""
    return one_line(proximal, sentence, schema, "u[k]; x[k]; xstar", using, *assuming)


def largest_line(sentence: str, u: str = "p[k]") -> Claim:
    """Of the largest coordinates of the gradient."""
    return one_line(largest, sentence, "largest", f"{u}; grad(f, x[k])")


def signs_line(sentence: str) -> Claim:
    """Of the gradient's signs."""
    return one_line(signs, sentence, "signs", "s[k]; grad(f, x[k])")


def mixed_line(sentence: str, schema: str = "mixed", vectors: str = "m[k]; x[k]") -> Claim:
    """Of what a matrix that is connected makes."""
    return one_line(mixed, sentence, schema, vectors, W, W)


ALONE = NEAREST.format(F="f", y="x0", u="x[k+1]", c=1)
OF_CLIENTS = NEAREST.format(F="f_n", y="xstar", u="u[k]", c=1)
MEAN = "dot(mean_n(m[k]) - mean_n(x[k]), x0) == 0"
SO = {
    "nearest": proximal_line(OF_CLIENTS, "proximal"),
    "convex": proximal_line(CONVEX, "proximal convex", "convex(f_n)", "convex(f_n)"),
    "strongly convex": proximal_line(STRONG, "proximal convex", *["strongly_convex(f_n, mu)"] * 2),
    "of samples": proximal_line(CONVEX, "proximal convex", *["convex(f_ni)"] * 2),
    "smooth": one_line(proximal, SLOPE, "proximal smooth", "u[k]; x[k]; x0", *["smooth(f_n, L)"] * 2),
    "one client": one_line(proximal, ALONE, "proximal", "x[k+1]; x[k]; x0", "", "N <= 1"),
    "largest": largest_line("d*norm2(p[k]) >= m*norm2(grad(f, x[k]))"),
    "the same": largest_line("dot(p[k], grad(f, x[k])) == norm2(p[k])"),
    "after the round": largest_line("dot(x[k] - x[k+1], grad(f, x[k])) == norm2(x[k] - x[k+1])", "x[k] - x[k+1]"),
    "signs": signs_line("dot(s[k], grad(f, x[k])) >= norm(grad(f, x[k]))"),
    "their length": signs_line("norm2(s[k]) <= d"),
    "mixed": mixed_line(AWAY.format(u="m[k]", v="x[k]", p=2)),
    "mixed twice": one_line(mixed_twice, AWAY.format(u="x[k+1]", v="m[k]", p=2), "mixed", "x[k+1]; m[k]", W, W),
    "mean": mixed_line(MEAN, "mixed mean", "m[k]; x[k]; x0"),
}
NOT = {
    "nearest, a quarter": proximal_line(NEAREST.format(F="f_n", y="xstar", u="u[k]", c=4), "proximal"),
    "convex, turned": proximal_line(CONVEX.replace(">=", "<="), "proximal convex", *["convex(f_n)"] * 2),
    "convex, not assumed": proximal_line(CONVEX, "proximal convex", "convex(f_n)"),
    "convex, not named": proximal_line(CONVEX, "proximal convex", "", "convex(f_n)"),
    "convex, of f alone": proximal_line(CONVEX, "proximal convex", *["convex(f)"] * 2),
    "convex, with a curvature": proximal_line(STRONG, "proximal convex", "convex(f_n)", "convex(f_n)", "mu <= 1"),
    "smooth, of f alone": one_line(proximal, SLOPE, "proximal smooth", "u[k]; x[k]; x0", *["smooth(f, L)"] * 2),
    "smooth, for convex": one_line(proximal, SLOPE, "proximal smooth", "u[k]; x[k]; x0", *["convex(f_n)"] * 2),
    "a model of several clients": one_line(proximal, ALONE, "proximal", "x[k+1]; x[k]; x0"),
    "of another vector": one_line(
        proximal, CONVEX.replace("x[k]", "x0"), "proximal convex", "u[k]; x0; xstar", *["convex(f_n)"] * 2
    ),
    "no proximal point": one_line(largest, "f_n(x0) >= f_n(x[k])", "proximal", "x[k]; x[k]; x0"),
    "largest, more of them": largest_line("d*norm2(p[k]) >= 2*m*norm2(grad(f, x[k]))"),
    "the same as another": largest_line("dot(p[k], x0) == norm2(p[k])"),
    "signs, shorter": signs_line("norm2(s[k]) <= 1"),
    "signs, a squared length": signs_line("dot(s[k], grad(f, x[k])) >= norm2(grad(f, x[k]))"),
    "mixed twice, at once": one_line(
        mixed_twice, AWAY.format(u="x[k+1]", v="x[k]", p=4), "mixed", "x[k+1]; x[k]", W, W
    ),
    "mixed, faster": mixed_line(AWAY.format(u="m[k]", v="x[k]", p=3)),
    "mixed by another matrix": mixed_line(AWAY.format(u="y[k+1]", v="y[k]", p=2), "mixed", "y[k+1]; y[k]"),
    "mixed, not connected": one_line(mixed, AWAY.format(u="m[k]", v="x[k]", p=2), "mixed", "m[k]; x[k]", W),
    "mixed, of each": mixed_line("norm2(m[k] - mean_n(x[k])) <= rho**2*norm2(x[k] - mean_n(x[k]))"),
    "mean, of each": mixed_line("dot(m[k] - x[k], x0) == 0", "mixed mean", "m[k]; x[k]; x0"),
    "mean, against each": mixed_line(MEAN.replace("x0", "x[k]"), "mixed mean", "m[k]; x[k]; x[k]"),
    "mixed before the noise": one_line(noisy, AWAY.format(u="m[k]", v="x[k]", p=2), "mixed", "m[k]; x[k]", W, W),
}


@pytest.mark.parametrize("name", SO)
def test_it_is_so(name: str) -> None:
    assert check(SO[name]).lines


@pytest.mark.parametrize("name", SO)
def test_what_it_uses_is_told(name: str) -> None:
    """A hypothesis that a line uses is among those that the derivation rests on, and no proof without it."""
    one = SO[name]
    assert check(one).hypotheses == one.assuming
    for dropped in one.assuming:
        assert not accepted(replace(one, assuming=tuple(a for a in one.assuming if a != dropped)), one.proof)


@pytest.mark.parametrize("name", NOT)
def test_it_is_not_so(name: str) -> None:
    assert not accepted(NOT[name], NOT[name].proof)


@algorithm
def steps(w, x, *, t):
    return w.mean(w.prox(x, t))


CURVED = "for every x, y: f(y) <= f(x) + dot(grad(f, x), y - x) + c/2*norm2(y - x)"


def there_is_one(t: str) -> Claim:
    """That there is a proximal point of a function that may be concave says how much: 1 + t*c >= 0."""
    lines = [
        operated(
            sign,
            f"2*{t}*(f(x[k+1] {sign} x[k]) - f(x[k+1])) + norm2(x[k+1] {sign} x[k] - x[k]) - norm2(x[k+1] - x[k]) >= 0",
            "proximal",
            *("x[k+1]", "x[k]", f"x[k+1] {sign} x[k]"),
        )
        for sign in "+-"
    ]
    points = "; ".join(f"every (x[k+1], x[k+1] {sign} x[k]) times {t}" for sign in "+-")
    last = combined("all", None, f"+ times 1/2; - times 1/2; {points}")
    return claim(
        "there", f"norm2(x[k])*(1 + {t}*c) >= 0", of=steps, assuming=("N == 1", CURVED),
        parameters={"c": REAL}, proof=(*lines, last),
    )  # fmt: skip


def test_there_need_be_no_proximal_point_after_the_run() -> None:
    """With a number for each round the sentence is of rounds in the run; with one number of x[K] too."""
    assert check(there_is_one("t_k")).lines
    assert not accepted(there_is_one("t"), there_is_one("t").proof)


def test_what_is_drawn_is_not_taken_out_of_a_mixed_vector() -> None:
    """Noise has mean 0, and lies in other clients' mixed vectors too, so that it is not averaged there."""
    one = claim("all", "E(mean_n(norm2(m[k]))) <= E(mean_n(norm2(x[k]))) + eta/N", of=noisy, assuming=(W,))
    assert not accepted(one, (combined("all"),))
