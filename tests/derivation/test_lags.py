"""Remembered vectors, what a loop adds up, one client, Jensen's inequality, and divisors that the claim has itself."""

from typing import Any

import pytest

from tests.derivation.both import check
from theory import algorithm, claim
from theory.claim import Claim
from theory.derivation import NotProvedError, at, axiom, combined, domain, induction, lines, single, step
from theory.domain import NONNEGATIVE


@algorithm(x="x0", past="J times 0")
def inertial(w, x, past, *, eta, alpha):
    new = x - w.combine(alpha, past) - eta * w.full_gradient(x)
    return new, w.shift(past, x - new)


@algorithm
def summing(w, x, *, eta, S, H):
    active = w.choose(S)
    y, total, twice = w.each(x), w.each(0 * x), w.each(0 * x)
    for _ in w.repeat(H):
        w.tap("y", y)
        w.tap("chosen", w.average(w.gradient(y), active))
        g = w.gradient(y, w.sample())
        total = total + g
        twice = 2 * twice + g
        w.tap("after", y - eta * g)
        y = y - eta * g
    w.tap("moved", w.average(total, active) / H)
    w.tap("doubled", w.average(twice, active))
    return w.average(y, active)


def lagged(text: str, *assuming: str, **fields: Any) -> Claim:
    return claim("c", text, of=inertial, assuming=assuming, parameters={"alpha": NONNEGATIVE}, **fields)


def summed(text: str, *assuming: str, **fields: Any) -> Claim:
    return claim("c", text, of=summing, assuming=assuming, **fields)


def rejected(c: Claim, *written: Any) -> None:
    with pytest.raises(NotProvedError):
        check(c, lines(c, written))


C = "sum_h(max(0, min(1, h + 1 - {}))*alpha_h)"
LENGTH = "sum_j(0*alpha_j + 1)"


def test_remembered_vectors_move_back() -> None:
    check(lagged("norm2(past[k+1, j+1] - past[k, j]) <= 0"), [combined("all")])
    check(lagged("norm2(past[k+1, 0] - (x[k] - x[k+1])) <= 0"), [step("all")])
    check(lagged("norm2(x[k+1] - x[k] + sum_j(alpha_j*past[k, j]) + eta*grad(f, x[k])) <= 0"), [step("all")])
    check(lagged("norm2(past[0, j]) <= 0"), [combined("all")])
    check(lagged("sum_h(alpha_h*norm2(past[k, h])) == sum_j(alpha_j*norm2(past[k, j]))"), [combined("all")])
    rejected(lagged("norm2(past[k+1, j] - past[k, j]) <= 0"), step("all"))
    rejected(lagged("norm2(past[k+1, 1] - (x[k] - x[k+1])) <= 0"), step("all"))
    rejected(lagged("norm2(x[k+1] - x[k] + sum_j(past[k, j]) + eta*grad(f, x[k])) <= 0"), step("all"))
    rejected(lagged("norm2(past[k, j]) <= 0*norm2(alpha_j*x0)"), combined("all"))


def test_tails_of_the_weights() -> None:
    now, later = C.format("j"), C.format("(j + 1)")
    whole = axiom("whole", f"{C.format('0')} == sum_j(alpha_j)", "tail", "alpha_h")
    one = axiom("tail", f"{now} - {later} == alpha_j", "tail", "alpha_h")
    weights = domain("weights", "alpha_j >= 0")
    less = (
        [combined("first", None, {"whole": "1"})],
        [combined("next", None, {"IH": "1", "tail": "-1", "weights": "1"})],
    )
    c = lagged(f"sum_j({now}*norm2(past[k, j])) <= sum_j(alpha_j)*sum_j(norm2(past[k, j]))")
    below = induction("below", f"{now} <= sum_j(alpha_j)", *less, on="j")
    check(c, [whole, one, weights, below, combined("all", None, {"sum_j: below": "norm2(past[k, j])"})])
    check(lagged(f"{C.format(f'({LENGTH})')} == 0*sum_j(alpha_j)"), [axiom("all", None, "tail", "alpha_h")])
    # beyond the last lag it is not so
    rejected(lagged(f"{C.format(f'({LENGTH})')} == alpha_j"), one, at("all", "tail", j=LENGTH))
    rejected(lagged(f"{C.format('(j + 1)')} - {C.format('(j + 2)')} == alpha_j"), axiom("all", None, "tail", "alpha_h"))
    rejected(lagged(f"{now} - {later} == alpha_j + eta"), axiom("all", None, "tail", "alpha_h"))
    rejected(lagged(f"{C.format('1')} == sum_j(alpha_j)"), axiom("all", None, "tail", "alpha_h"))
    rejected(lagged(f"{now} <= sum_j(alpha_j)"), axiom("all", None, "tail", "alpha_h"))


def test_what_is_assumed_of_lags_ends_with_them() -> None:
    c = lagged("sum_j(alpha_j*norm2(past[k, j])) <= eta*sum_j(norm2(past[k, j]))", "alpha_j <= eta")
    check(c, [combined("all", None, {"sum_j: alpha_j <= eta": "norm2(past[k, j])"})])
    rejected(lagged(f"0 <= {LENGTH}", "alpha_j <= eta"), at("beyond", "alpha_j <= eta", j=LENGTH), combined("all"))
    rejected(lagged("alpha_j >= 1"), domain("all"))


def test_jensen_over_weights() -> None:
    def said(w: str, v: str, over: str) -> str:
        return f"norm2({over}({w}*{v})) <= {over}({w})*{over}({w}*norm2({v}))"

    for over, w, v in (("sum_j", "alpha_j", "past[k, j]"), ("mean_n", "q_n", "grad(f_n, x[k])")):
        check(lagged(said(w, v, over)), [axiom("all", None, "jensen", w, v, over=over)])
    rejected(
        lagged(said("(alpha_j - 1)", "past[k, j]", "sum_j")),
        axiom("all", None, "jensen", "alpha_j - 1", "past[k, j]", over="sum_j"),
    )
    rejected(
        lagged(said("alpha_j", "past[k, j]", "sum_j")),
        axiom("all", None, "jensen", "alpha_j", "past[k, j]", over="max_j"),
    )
    half = "norm2(sum_j(alpha_j*past[k, j])) <= sum_j(alpha_j)*sum_j(alpha_j*norm2(past[k, j]))/2"
    rejected(lagged(half), axiom("all", None, "jensen", "alpha_j", "past[k, j]", over="sum_j"))


VARIANCE = "mean_h(mean_n(E(mean_i(norm2(grad(f_ni, y[k, h]) - grad(f_n, y[k, h]))))))"


def test_what_a_loop_adds_up() -> None:
    check(summed(f"E(norm2(moved[k] - mean_h(chosen[k, h]))) == {VARIANCE}/(H*S)"), [step("all")])
    check(summed("E(dot(x[k], moved[k])) == mean_h(E(dot(x[k], mean_n(grad(f_n, y[k, h])))))"), [step("all")])
    rejected(summed(f"E(norm2(moved[k] - mean_h(chosen[k, h]))) == {VARIANCE}/H"), step("all"))
    rejected(summed("E(norm2(moved[k])) == E(norm2(mean_h(chosen[k, h])))"), step("all"))
    # what is doubled in each turn is no sum; what hangs on the sample of its turn is not independent of it
    rejected(summed("E(dot(x[k], doubled[k])) == sum_h(E(dot(x[k], mean_n(grad(f_n, y[k, h])))))"), step("all"))
    later = "E(dot({0}, moved[k])) == mean_h(E(dot({0}, mean_n(grad(f_n, y[k, h])))))"
    rejected(summed(later.format("after[k, 0]")), step("all"))


def test_one_client_has_all_draws() -> None:
    squares = "mean_n(E(norm2(grad(f_n, y[k, h]))))"
    all_of_them = single("all", unfold=True)
    check(summed(f"E(norm2(chosen[k, h])) == {squares}/S", "N <= 1"), [all_of_them])
    rejected(summed(f"E(norm2(chosen[k, h])) == {squares}/S"), all_of_them)
    rejected(summed(f"E(norm2(chosen[k, h])) == {squares}", "N <= 2"), all_of_them)
    rejected(summed(f"E(norm2(chosen[k, h])) == 2*{squares}/S", "N <= 1"), all_of_them)
    rejected(summed(f"E(norm2(chosen[k, h])) == {squares}/S", "N <= 1"), single("all"))


def test_exponents_add_up() -> None:
    numbers = claim("c", "exp(a + b) == exp(a)*exp(b)")
    check(numbers, [axiom("all", None, "exp sum", "a", "b")])
    rejected(claim("c", "exp(a + b) == exp(a)*exp(a)"), axiom("all", None, "exp sum", "a", "b"))
    rejected(claim("c", "exp(a*b) == exp(a)*exp(b)"), axiom("all", None, "exp sum", "a", "b"))
    rejected(numbers, axiom("all", None, "exp sum", "a"))


def test_indices_less_than_a_number() -> None:
    c = "E(norm2(y[k, m-1])) <= E(norm2(y[k, m-1])) + norm2(x0)"
    for text, assumed in ((c, ()), (c.replace("m-1", "m-2"), ("m >= 2",))):
        check(summed(text, *assumed), [combined("all", None, (), {"x0": "1"})])
    for text in (c.replace("m-1", "m-2"), c.replace("m-1", "h-1"), c.replace("m-1", "eta-1")):
        rejected(summed(text), combined("all", None, (), {"x0": "1"}))


def test_a_claim_may_divide_by_what_it_is_about() -> None:
    gap = "E(norm2(x[k+1] - x[k]))"
    c = lagged(f"eta/{gap} <= 2*eta/{gap}")
    check(c, [combined("less", "eta <= 2*eta", {}, {"1": "eta"}), combined("all", None, {"less": f"1/{gap}"})])
    other = "E(norm2(x[k]))"
    rejected(
        c, combined("less", "eta <= 2*eta", {}, {"1": "eta"}), combined("all", None, {"less": f"{other}/{gap}/{other}"})
    )
    again = combined("less", f"eta/{gap} <= 2*eta/{gap}", {}, {"1": f"eta/{gap}"})
    rejected(c, again, combined("all", None, {"less": "1"}))
    # where a sum is taken over what it divides by, all of it has to have a value; and for every outcome
    over = lagged(f"sum_k(eta/{gap}) <= 2*sum_k(eta/{gap})")
    rejected(over, combined("all", None, (), [{"of": "1", "over": ["sum_k"], "times": f"eta/{gap}"}]))
    chance = summed("eta/norm2(x[k+1] - x[k]) <= 2*eta/norm2(x[k+1] - x[k])")
    rejected(chance, combined("all", None, (), {"1": "eta/norm2(x[k+1] - x[k])"}))
