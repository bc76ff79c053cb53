"""Projections onto a ball, minimisers over it, powers with exponents in order, and integers in cases."""

from typing import Any

import pytest

from tests.derivation.both import accepted as by_both
from theory import algorithm, claim
from theory.claim import Claim
from theory.derivation import axiom, cases, combined, induction, lines
from theory.domain import COUNT, INDEX, NONNEGATIVE, REAL, Domain


def accepted(c: Claim, *written: Any) -> bool:
    return by_both(c, lines(c, written))


@algorithm
def projected(w: Any, x: Any, *, eta: Any, r: Any) -> Any:
    v = x - eta * w.mean(w.gradient(x, w.sample()))
    w.tap("v", v)
    return w.project(v, r)


NEARER = "norm2(x[k+1] - xstar) <= norm2(v[k] - xstar)"
ANGLE = "dot(v[k] - x[k+1], xstar - x[k+1]) <= 0"
INSIDE = "norm2(xstar) <= r**2"


def test_projections_do_not_expand() -> None:
    angle = axiom("angle", ANGLE, "projection", "x[k+1]", "v[k]", "xstar")
    nearer = combined("all", None, {"angle": "2"}, {"v[k] - x[k+1]": "1"})
    c = claim("projected", NEARER, of=projected, assuming=(INSIDE,))
    assert accepted(c, angle, nearer)
    assert not accepted(claim("projected", NEARER, of=projected), angle, nearer)
    assert not accepted(claim("projected", NEARER, of=projected, assuming=("norm2(xstar) <= 2*r**2",)), angle, nearer)
    for of in (("x[k+1]", "x[k]", "xstar"), ("x[k]", "v[k]", "xstar"), ("v[k]", "v[k]", "xstar"), ("x[k+1]", "v[k]")):
        assert not accepted(c, axiom("angle", ANGLE, "projection", *of), nearer)
    for other in (ANGLE.replace("<=", ">="), ANGLE.replace("<=", "<"), ANGLE.replace("xstar", "x0")):
        assert not accepted(c, axiom("angle", other, "projection", "x[k+1]", "v[k]", "xstar"), nearer)


def test_projections_are_in_the_ball() -> None:
    start = "norm2(x0) <= r**2"
    begin, go_on = combined("begin", None, {start: "1"}), axiom("go on", None, "projection", "x[k+1]")
    every = induction("all", "norm2(x[k]) <= r**2", [begin], [go_on])
    assert accepted(claim("in", "norm2(x[k]) <= r**2", of=projected, assuming=(start,)), every)
    assert not accepted(claim("in", "norm2(x[k+1]) <= r", of=projected), axiom("all", None, "projection", "x[k+1]"))
    assert not accepted(claim("in", "norm2(x[k]) <= r**2", of=projected), axiom("all", None, "projection", "x[k]"))
    assert not accepted(claim("in", "norm2(v[k]) <= r**2", of=projected), axiom("all", None, "projection", "v[k]"))
    doubled = axiom("all", None, "projection", "2*x[k+1]")
    assert not accepted(claim("in", "norm2(2*x[k+1]) <= r**2", of=projected), doubled)
    signed = claim("in", "norm2(x[k+1]) <= r**2", of=projected, parameters={"r": REAL})
    assert not accepted(signed, axiom("all", None, "projection", "x[k+1]"))


def test_what_is_projected_is_not_averaged() -> None:
    c = claim("mean", "E(dot(x[k+1], x0)) == E(dot(x[k] - eta*grad(f, x[k]), x0))", of=projected)
    assert not accepted(c, {"name": "all", "by": "step"})


@algorithm(z="each x0")
def projected_clients(w: Any, z: Any, *, r: Any) -> Any:
    return w.project(z - w.gradient(z), r)


def test_each_client_has_a_ball() -> None:
    parameters = {"r_n": NONNEGATIVE}  # a ball that is but one point too
    moved = "z[k] - grad(f_n, z[k])"
    angle = f"dot({moved} - z[k+1], u - z[k+1]) <= 0"
    line = axiom("all", None, "projection", "z[k+1]", moved, "u")
    inside = axiom("all", None, "projection", "z[k+1]")
    for assuming, domains, true in (
        ("norm2(u) <= r_n**2", parameters, True),
        ("norm2(u) <= mean_n(r_n**2)", parameters, False),
        ("norm2(u) <= r_n**2", {"r_n": REAL}, False),
    ):
        c = claim("angle", angle, of=projected_clients, vectors=("u",), assuming=(assuming,), parameters=domains)
        assert accepted(c, line) is true
    assert accepted(claim("in", "norm2(z[k+1]) <= r_n**2", of=projected_clients, parameters=parameters), inside)
    assert not accepted(
        claim("in", "norm2(z[k+1]) <= mean_n(r_n**2)", of=projected_clients, parameters=parameters), inside
    )
    less = axiom("less", "norm2(z[k+1]) <= r_n**2", "projection", "z[k+1]")
    mean = claim("in", "mean_n(norm2(z[k+1])) <= mean_n(r_n**2)", of=projected_clients, parameters=parameters)
    assert accepted(mean, less, combined("all", None, {"mean_n: less": "1"}))


@algorithm
def projected_in_turns(w: Any, x: Any, *, H: Any, r: Any) -> Any:
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = w.project(y - w.gradient(y, w.sample()), r)
    return w.mean(y)


def test_projections_in_turns_of_a_loop() -> None:
    turn = axiom("all", None, "projection", "y[k, h+1]")
    assert accepted(claim("in", "norm2(y[k, h+1]) <= r**2", of=projected_in_turns), turn)
    for sentence, of in (("norm2(y[k, h]) <= r**2", "y[k, h]"), ("norm2(x[k+1]) <= r**2", "x[k+1]")):
        assert not accepted(claim("in", sentence, of=projected_in_turns), axiom("all", None, "projection", of))


@algorithm
def projected_at_random(w: Any, x: Any, *, r: Any, p: Any) -> Any:
    return w.project(x - w.mean(w.gradient(x)), r * w.coin(p))


def test_a_ball_that_is_drawn_is_not_read() -> None:
    line = axiom("all", None, "projection", "x[k+1]")
    assert not accepted(claim("in", "norm2(x[k+1]) <= r**2", of=projected_at_random), line)


@algorithm(z="each x0")
def noisy(w: Any, z: Any, *, s: Any) -> Any:
    return z + w.noise(s)


def test_what_is_made_of_noise_is_not_independent_of_it() -> None:
    moved = "E(dot(grad(f_n, z[k+1]) - grad(f_n, z[k]), z[k+1] - z[k])) == 0"  # s/d times the trace of the Hessian
    for assuming in (("quadratic(f_n)",), ("quadratic(f_n)", "smooth(f_n, L)")):
        assert not accepted(claim("noise", moved, of=noisy, assuming=assuming), {"name": "all", "by": "step"})
    plain = claim("noise", "E(dot(grad(f_n, z[k]), z[k+1] - z[k])) == 0", of=noisy, assuming=("smooth(f_n, L)",))
    assert accepted(plain, {"name": "all", "by": "step"})


BEST = "argmin_n(q_n, r)"


def test_minimisers_over_a_ball() -> None:
    slope = f"0 <= sum_n(q_n*dot(grad(f_n, {BEST}), u - {BEST}))"
    inside = ("norm2(u) <= r**2",)
    line = axiom("all", None, "argmin", "q_n", "r", "u")
    assert accepted(claim("best", slope, vectors=("u",), assuming=inside), line)
    assert not accepted(claim("best", slope, vectors=("u",)), line)
    assert not accepted(claim("best", slope.replace("<=", ">="), vectors=("u",), assuming=inside), line)
    assert not accepted(claim("best", slope.replace("u -", "2*u -"), vectors=("u",), assuming=inside), line)
    assert not accepted(claim("best", slope.replace("grad(f_n", "grad(f"), vectors=("u",), assuming=inside), line)
    each = f"0 <= dot(grad(f_n, {BEST}), u - {BEST})"
    assert not accepted(claim("best", each, vectors=("u",), assuming=inside), line)
    assert not accepted(
        claim("best", slope, vectors=("u",), assuming=inside), axiom("all", None, "argmin", "1", "r", "u")
    )
    signed = claim("best", slope, vectors=("u",), assuming=inside, parameters={"q_n": REAL, "r": NONNEGATIVE})
    assert accepted(signed, line)
    for other in ("grad(f_n, xstar)", f"grad(f_n, {BEST}) - grad(f_n, u)"):
        moved = slope.replace(f"grad(f_n, {BEST})", other)
        assert not accepted(claim("best", moved, vectors=("u",), assuming=(*inside, f"norm2({BEST}) >= 0")), line)
    own = slope.replace("u -", "u_n -")
    each_own = axiom("all", None, "argmin", "q_n", "r", "u_n")
    assert not accepted(claim("best", own, vectors=("u_n",), assuming=("norm2(u_n) <= r**2",)), each_own)
    ball = axiom("all", None, "argmin", "q_n", "r")
    assert accepted(claim("best", f"norm2({BEST}) <= r**2"), ball)
    assert not accepted(claim("best", f"norm2({BEST}) <= 2*r", assuming=("r <= 2",)), ball)
    assert not accepted(claim("best", f"norm2({BEST}) <= r**2", parameters={"r": REAL}), ball)


def test_weights_of_a_minimiser_are_certain() -> None:
    for weights, true in (("q_n*E(norm2(x[k]))", False), ("q_n*norm2(x[K])", False), ("q_n*E(norm2(x[K]))", True)):
        ball = claim("best", f"norm2(argmin_n({weights}, r)) <= r**2", of=projected)
        assert accepted(ball, axiom("all", None, "argmin", weights, "r")) is true


def test_without_a_ball_nothing_is_said() -> None:
    free = claim("best", "0 <= sum_n(q_n*dot(grad(f_n, argmin_n(q_n)), u - argmin_n(q_n)))", vectors=("u",))
    for of in (("q_n",), ("q_n", "u"), ("q_n", "r", "u")):
        assert not accepted(free, axiom("all", None, "argmin", *of))


def test_a_minimiser_of_which_the_claim_does_not_speak_need_not_be_there() -> None:
    c = claim("none", "0 <= r**2")
    assert not accepted(
        c, axiom("in", f"norm2({BEST}) <= r**2", "argmin", "q_n", "r"), combined("all", None, {"in": "1"}, {BEST: "1"})
    )
    c = claim("none", f"norm2({BEST}) <= r**2 + s**2")
    other = "argmin_n(q_n, s)"
    line = axiom("other", f"norm2({other}) <= s**2", "argmin", "q_n", "s")
    mine = axiom("in", f"norm2({BEST}) <= r**2", "argmin", "q_n", "r")
    assert not accepted(c, line, mine, combined("all", None, {"in": "1", "other": "1"}, {other: "1"}))
    assert accepted(c, mine, combined("all", None, {"in": "1"}, {"s": "1"}))


@pytest.mark.parametrize(
    ("statement", "domains", "assuming", "of", "true"),
    [
        ("a**m <= a**(m + 1)", {}, "a >= 1", ("a", "m", "m + 1"), True),
        ("a**(m + 1) <= a**m", {}, "a <= 1", ("a", "m", "m + 1"), True),
        ("a**(2*m) <= a**m", {}, "a <= 1", ("a", "m", "2*m"), True),
        ("a**m <= a**(m + 1)", {}, "a <= 1", ("a", "m", "m + 1"), False),
        ("a**m <= a**(m + 1)", {}, "a >= 1/2", ("a", "m", "m + 1"), False),
        ("a**(m + 1) <= a**m", {"a": REAL}, "a <= 1", ("a", "m", "m + 1"), False),
        ("a**(m + 1) <= a**m", {"a": NONNEGATIVE}, "a <= 1", ("a", "m", "m + 1"), True),
        ("a**(m + 1) <= a**m", {}, "a >= 1", ("a", "m + 1", "m"), False),
        ("a**b <= a**(b + c)", {"c": NONNEGATIVE, "b": NONNEGATIVE}, "a >= 1", ("a", "b", "b + c"), True),
        ("a**(b + c) <= a**b", {"a": NONNEGATIVE, "c": NONNEGATIVE, "b": REAL}, "a <= 1", ("a", "b", "b + c"), False),
        ("1 <= a**(s - m)", {"s": INDEX}, "a >= 1", ("a", "0", "s - m"), False),
    ],
)
def test_powers_grow_or_shrink(statement: str, domains: Any, assuming: str, of: tuple[str, ...], true: bool) -> None:
    used = dict(domains.items())
    c = claim("powers", statement, assuming=(assuming,), parameters={"a": Domain(0, None, lower_open=True), **used})
    assert accepted(c, axiom("all", None, "exponents", *of)) is true


def test_integers_that_are_more_are_more_by_one() -> None:
    statement = "0 <= (s - 1)*(s - 2)"

    def written(one: str, two: str) -> Any:
        less = [combined("less", None, {one: "2 - s"})]
        return cases("all", None, one, less, [combined("more", None, {two: "s - 1"})])

    domains = {"s": COUNT}
    assert not accepted(claim("s", statement, parameters=domains), written("s <= 1", "1 < s"))
    more = [combined("two", "2 <= s", {"1 + 1 <= s": "1"}), combined("more", None, {"two": "s - 1"})]
    less = [combined("two", "s <= 2", {"s <= 1": "1"}, {"1": "1"}), combined("less", None, {"s <= 1": "2 - s"})]
    both = cases("all", None, "s <= 1", less, more)
    assert accepted(claim("s", statement, parameters=domains), both)
    assert not accepted(claim("s", statement), both)
    assert not accepted(claim("s", statement.replace("s - 2", "s - 3"), parameters=domains), both)


def test_a_sum_is_no_less_than_each_of_its_parts() -> None:
    part = axiom("all", None, "part", "b_n", over="sum_n")
    for statement, domain, true in (
        ("b_n <= sum_n(b_n)", NONNEGATIVE, True),
        ("b_n <= sum_n(b_n)", REAL, False),
        ("b_n <= mean_n(b_n)", NONNEGATIVE, False),
        ("sum_n(b_n) <= b_n", NONNEGATIVE, False),
        ("b_n <= first_n(b_n)", NONNEGATIVE, False),
    ):
        assert accepted(claim("part", statement, parameters={"b_n": domain}), part) is true
    c = claim("part", "b_n <= sum_n(b_n)", assuming=("first_n(b_n) >= 0",), parameters={"b_n": REAL})
    assert not accepted(c, part)
    assert accepted(claim("part", "b_n <= sum_n(b_n)", assuming=("b_n >= 0",), parameters={"b_n": REAL}), part)
