"""Remembered vectors in Rocq, clients of which so many are chosen, draws of different turns, one client, and signs and
powers of sums."""

import shutil

import pytest

from tests.derivation.export.test_rocq import accepted, compiled, statement
from tests.shares import share
from theory import algorithm, claim
from theory.derivation import axiom, combined, domain, induction, lines, single, step
from theory.derivation.export import NotExportedError, rocq
from theory.domain import COUNT, NONNEGATIVE, Domain

coqc = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")


@algorithm(x="x0", past="J times 0")
def inertial(w, x, past, *, eta, alpha, H, S):
    """Sampled steps of chosen clients, shifted by what earlier rounds have moved."""
    active, shift = w.choose(S), w.combine(alpha, past)
    z, total, exact = w.each(x), w.each(0 * x), w.each(0 * x)
    for _ in w.repeat(H):
        w.tap("z", z)
        g, full = w.gradient(z, w.sample()), w.gradient(z)
        total, exact = total + g, exact + full
        z = z - eta * g
    w.tap("moved", w.average(total, active) / H)
    w.tap("meant", w.average(exact, active) / H)
    w.tap("chosen", w.average(w.gradient(w.each(x)), active))
    new = w.average(z, active) - shift
    return new, w.shift(past, x - new)


@algorithm(x="x0", last="0", past="J times 0")
def late(w, x, last, past, *, eta, alpha):
    """What is put in front is of the round before, and what is combined was shifted first."""
    now = w.shift(past, last)
    return x - w.combine(alpha, now), eta * x, now


WEIGHTS = {"alpha": Domain(0, 1, upper_open=True)}
TAIL = "sum_h(max(0, min(1, h + 1 - {}))*alpha_h)"
LENGTH = "sum_j(0*alpha_j + 1)"
GRADIENT, SAMPLE = "grad(f_n, z[k, h])", "grad(f_ni, z[k, h])"
CHOSEN = "E(norm2(chosen[k])) == mean_n(E(norm2(grad(f_n, x[k]))))/S"
NOISE = f"E(norm2(moved[k] - meant[k])) == mean_h(mean_n(E(mean_i(norm2({SAMPLE} - {GRADIENT})))))/(H*S)"
ACCEPTED = {
    "what is put in front": ("norm2(past[k+1, 0] - x[k] + x[k+1]) <= 0", [step("all", None)]),
    "what is older": ("norm2(past[k+1, j+1] - past[k, j]) <= 0", [step("all", None)]),
    "nothing at first": (
        "norm2(past[k, j]) >= 0",
        [
            induction(
                "both", "norm2(past[k, j]) >= 0", [combined("a", None, squares={"past[0, j]": "1"})],
                [combined("b", None, squares={"past[k+1, j]": "1"})],
            ),
            combined("all", None, {"both": "1"}),
        ],
    ),
    "tails": (f"{TAIL.format('j')} - {TAIL.format('(j + 1)')} == alpha_j", [axiom("all", None, "tail", "alpha_h")]),
    "a whole tail": (f"{TAIL.format('0')} == sum_j(alpha_j)", [axiom("all", None, "tail", "alpha_h")]),
    "no tail": (f"{TAIL.format(f'({LENGTH})')} == 0", [axiom("all", None, "tail", "alpha_h")]),
    "so many are chosen": (
        "norm2(x[k+1] - x[k] + eta*H*moved[k] + sum_j(alpha_j*past[k, j])) <= 0",
        [
            axiom(
                "turns", "norm2(sum_h(z[k, h+1] - z[k, h]) - (z[k, H] - z[k, 0])) <= 0", "telescope", "z[k, h]",
                over="sum_h",
            ),
            step("all", None, using=["turns"]),
        ],
    ),
    "samples of different turns": (NOISE, [step("all", None)]),
    "no more are chosen than there are": (
        "S + 0*norm2(x[k]) <= N",
        [domain("some", "S <= N"), combined("all", None, {"some": "1"})],
    ),
    "one client": (
        f"N*{CHOSEN.replace('== ', '== N*')}",
        [single("all", None, unfold=True)],
    ),
    "a gradient that grows": ("0 <= norm2(grad(f, x[k]))", [combined("all", squares={"grad(f, x[k])": "1"})]),
}  # fmt: skip
MORE = {"one client": ("N <= 1",), "a gradient that grows": ("pl(f, mu)",)}


def said(which: str):
    text, written = ACCEPTED[which]
    one = claim("remembered", text, assuming=MORE.get(which, ()), of=inertial, parameters=WEIGHTS)
    return one, lines(one, written)


@coqc
@pytest.mark.parametrize("which", share(ACCEPTED, 11))
def test_coqc_accepts_what_is_remembered(folder, which):
    text = rocq.theorem(*said(which))
    accepted(folder, text, f"remembered_{list(ACCEPTED).index(which)}")
    assert "_satisfiable : exists" in text  # and coqc has accepted that the hypotheses hold together


def test_a_statement_says_what_is_remembered():
    text = statement(rocq.theorem(*said("what is older")))
    assert "forall j, forall w, (w < outcomes Pr)%nat -> past 0%nat j w = zero" in text
    assert "forall j, forall w, (w < outcomes Pr)%nat -> past (S t) (S j) w = past t j w" in text
    assert "past (S t) 0%nat w = sub (x t w)" in text
    assert "vsum J (fun j1 => scal (alpha j1) (past t j1 w))" in text
    assert "(J_dom : (1 <= J)%nat)" in text
    assert "phi (x t w) (fun j => past t j w)" in text


def test_a_statement_says_how_many_are_chosen():
    text = statement(rocq.theorem(*said("what is older")))
    assert "(w < outcomes Pr)%nat -> sum N (fun n => (drawn_" in text
    assert " t n w)) = INR S_)" in text


def test_only_where_it_is_needed_a_statement_says_that_there_are_enough_clients():
    needed, other = (statement(rocq.theorem(*said(which))) for which in ("no more are chosen than there are", "tails"))
    assert "_fits : INR S_ <= INR N)" in needed
    assert "_fits" not in other


def test_only_where_it_is_needed_a_statement_speaks_of_draws_of_two_turns():
    needed, other = (statement(rocq.theorem(*said(which))) for which in ("samples of different turns", "what is older"))
    assert "_later : " in needed
    assert "_later : " not in other
    assert "(h < h2)%nat -> (h2 < H)%nat -> " in needed


@pytest.mark.parametrize(
    "text",
    [
        NOISE.replace("/(H*S)", "/S"),
        NOISE.replace("== ", "== 2*"),
        "norm2(past[k+1, 1] - x[k] + x[k+1]) <= 0",
        "norm2(past[k+1, j+1] - past[k, j+1]) <= 0",
        "norm2(past[k+1, 0] - past[k, 0]) <= 0",
    ],
)
def test_what_is_not_so_of_remembered_vectors_is_not_exported(text):
    one = claim("remembered", text, of=inertial, parameters=WEIGHTS)
    with pytest.raises(NotExportedError):
        rocq.theorem(one, lines(one, [step("all", None)]))


def test_vectors_that_were_shifted_before_they_are_combined_are_named():
    one = claim("late", "norm2(x[k+1]) >= 0", of=late, parameters=WEIGHTS)
    with pytest.raises(NotExportedError, match="shifted in this round"):
        rocq.theorem(one, lines(one, [combined("all", squares={"x[k+1]": "1"})]))


SUMS = {
    "above a lower end": ("0 <= 1/(2*m - 1)", {"m": COUNT}, [combined("all", None, (), "1 times 1/(2*m - 1)")]),
    "below an upper end": ("q/2 <= 1", {"q": Domain(0, 1)}, [combined("all", None, (), "1 times 1 - q/2")]),
    "powers of a sum and their inverses": (
        "sum_n((1 + a)**(-2*m - 1)*(1 + a)**(2*m + 1)*c_n) == sum_n(c_n)",
        {"m": COUNT, "a": NONNEGATIVE},
        [domain("some", "a >= 0"), combined("all", None)],
    ),
    "powers of a sum with a divisor": (
        "sum_n(((2*m - 1)/(2*m))**(-2*p - 1)*((2*m - 1)/(2*m))**(2*p + 1)*c_n) == sum_n(c_n)",
        {"m": COUNT, "p": COUNT},
        [combined("all", None)],
    ),
}


@coqc
@pytest.mark.parametrize("which", share(SUMS, 4))
def test_coqc_accepts_signs_and_powers_of_sums(folder, which):
    text, parameters, written = SUMS[which]
    one = claim("sums", text, parameters=parameters)
    found = compiled(folder, rocq.theorem(one, lines(one, written)), f"sums_{list(SUMS).index(which)}")
    assert found.accepted, found.errors


@pytest.mark.parametrize(
    ("text", "parameters"),
    [("0 <= 1/(2*m - 3)", {"m": COUNT}), ("2*q <= 1", {"q": Domain(0, 1)}), ("0 <= a - 1", {"a": NONNEGATIVE})],
)
def test_a_sum_that_may_be_negative_is_not_shown_to_be_none(text, parameters):
    one = claim("sums", text, parameters=parameters)
    low, high = text.split(" <= ")
    with pytest.raises(NotExportedError, match="is not negative"):
        rocq.theorem(one, lines(one, [combined("all", None, (), f"1 times {high} - {low}")]))
