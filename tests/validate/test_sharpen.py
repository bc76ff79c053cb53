"""The strongest form of claims that were written for this, whose least constants and needs are known by hand."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shares import share
from tests.validate.command_line import call, complaint, printed
from theory import algorithm, catalog, claim
from theory.derivation import check, combined, induction
from theory.derivation.search.carried import carried
from theory.sentence import text_of
from validate import measure, sharpen
from validate.certificate import verified
from validate.sharpening.brackets import simplest
from validate.sharpening.findings import Sharpened
from validate.sharpening.recognition import recognised
from validate.sharpening.stronger import edited

F = Fraction


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


def bracket(found: Sharpened, what: str) -> tuple[Fraction | None, Fraction | None, bool]:
    one = next(b for b in found.brackets if b.what == what)
    return one.stands, one.limit, one.met


def needs(found: Sharpened) -> dict[str, str]:
    return {one.what: one.need for one in found.parts}


# By hand: a smooth function falls by norm2(grad)/(2L); the square of a sum is at least 4ab; Young at 1.
EXACT = (
    (
        claim("falls", "norm2(grad(f, x)) <= 5*L*(f(x) - fstar)", vectors=("x",), assuming=("smooth(f, L)",)),
        "5*L*(f(x) - fstar)",
        F(2, 5),
    ),
    (claim("means", "a*b <= (a + b)**2"), "(a + b)**2", F(1, 4)),
    (claim("young", "dot(a, b) <= 3*(norm2(a) + norm2(b))", vectors=("a", "b")), "3*(norm2(a) + norm2(b))", F(1, 6)),
)


@pytest.mark.parametrize(("one", "what", "least"), share(EXACT, 3), ids=lambda one: getattr(one, "label", ""))
def test_a_least_constant_is_met_from_both_sides(one, what, least) -> None:
    found = sharpen(one, seconds=8)
    assert bracket(found, what) == (least, least, True)
    met = next(b for b in found.brackets if b.what == what)
    assert met.proof is not None
    assert met.refutation is not None
    assert met.broken is not None
    assert check(met.proof.claim, met.proof.derivation)  # the kernel, of the claim at that factor
    assert 0 < least - met.broken < least / 100


@pytest.mark.slow
@settings(max_examples=4, deadline=None, derandomize=True)
@given(factor=st.fractions(F(1, 2), 6, max_denominator=12), weight=st.integers(1, 4))
def test_a_bracket_contains_the_least_constant(factor: Fraction, weight: int) -> None:
    """norm2(a + b) <= (1 + t)*norm2(a) + c*norm2(b) with t a number: c is least at 1 + 1/t."""
    least = (1 + F(1, weight)) / (1 + F(1, weight) + factor)
    text = f"norm2(a + b) <= {1 + weight}*norm2(a) + {1 + F(1, weight) + factor}*norm2(b)"
    found = sharpen(claim("sum", text, vectors=("a", "b")), seconds=6)
    stands, limit, _ = bracket(found, text.partition(" + ")[2].rpartition(" + ")[2])
    assert stands is not None
    assert limit is not None
    assert limit <= least <= stands


@pytest.mark.slow
def test_a_step_is_made_larger_than_it_is_printed() -> None:
    one = claim("falls", "f(x[k+1]) <= f(x[k])", of=descent, assuming=("smooth(f, L)", "eta <= 1/L"))
    found = sharpen(one, seconds=30)
    step = found.brackets[0]
    assert (step.kind, step.stands) == ("step", 2)  # eta*(1 - eta*L/2) >= 0
    assert step.limit is not None
    assert step.limit > 2
    assert needs(found) == {"smooth(f, L)": "needed", "eta <= 1/L": "needed"}


def test_what_is_not_needed_is_left_out_and_proved_so(tmp_path: Path) -> None:
    one = claim(
        "surplus", "dot(a, b) <= norm2(a)/2 + norm2(b)/2 + 3*norm2(a - b)", vectors=("a", "b"),
        assuming=("norm2(a) <= 1",),
    )  # fmt: skip
    found = sharpen(one, seconds=10, out=tmp_path)
    assert needs(found)["norm2(a) <= 1"] == needs(found)["3*norm2(a - b)"] == "not needed"
    assert found.strongest.statement == "dot(a, b) <= norm2(a)/2 + norm2(b)/2"
    assert found.strongest.assuming == ()
    for part in found.parts:
        assert (part.need == "undecided") == (part.word.file is None)
        if part.word.file is not None:
            made = Path(part.word.file)
            assert made.is_relative_to(tmp_path)
            assert made.is_file()


def test_nothing_is_called_needed_that_a_certificate_does_not_show(tmp_path: Path) -> None:
    found = sharpen("textbook/variance-transfer", seconds=20, out=tmp_path)
    shown = [p.word for p in found.parts if p.need == "needed"]
    assert shown
    for word in shown:
        assert word.file is not None
        assert verified(json.loads(Path(word.file).read_text("utf-8"))).valid


# --- worst cases, and formulas for them ---


@pytest.mark.slow
def test_the_rate_of_gradient_descent_is_recognised_and_proved() -> None:
    """The tight rate of function values is the square of the one that is claimed (Taylor, Hendrickx, Glineur 2018)."""
    found = sharpen(catalog.claim("textbook/gradient-descent-linear"), seconds=20)
    (one,) = found.least
    assert (one.printed, one.formula, one.exact) == ("(1 - eta*mu)**k", "(1 - eta*mu)**(2*k)", False)
    assert one.word is not None
    assert one.word.verdict == "proved"
    assert check(one.word.claim, one.word.derivation)
    assert found.strongest.statement == "f(x[k]) - fstar <= (1 - eta*mu)**(2*k)*(f(x0) - fstar)"


def test_a_tight_rate_is_called_the_least() -> None:
    (one,) = sharpen(catalog.claim("textbook/gradient-descent-tight"), seconds=5).least
    assert one.exact
    assert one.formula is None


NAMES = {
    "L": np.array([1.0, 2, 3, 5, 7, 4.5, 2]),
    "mu": np.array([0.6, 0.3, 1.5, 4, 1, 0.1, 1.1]),
    "k": np.array([1.0, 2, 3, 1, 2, 4, 5]),
}


@pytest.mark.parametrize(
    "text",
    ["L/2", "(L - mu)/(L + mu)", "((L - mu)/(L + mu))**(2*k)", "L/(4*k*L + 2)", "max(L - mu, 2*mu)**2"],
)
def test_a_formula_is_recognised_from_its_values(text: str) -> None:
    """By Python's own arithmetic on other numbers than those that it is recognised from."""
    tree = compile(text, "formula", "eval")
    values = np.array([eval(tree, {"max": max}, {n: v[i] for n, v in NAMES.items()}) for i in range(7)])
    found = recognised(values, NAMES, 1e-9)
    assert found is not None
    for L, mu, k in ((6.0, 0.25, 2.0), (1.5, 0.75, 3.0)):
        there = {"L": L, "mu": mu, "k": k, "max": max}
        assert eval(text_of(found), there) == pytest.approx(eval(text, there), rel=1e-9)


def test_what_no_small_formula_takes_is_not_recognised() -> None:
    values = np.random.default_rng(5).uniform(1, 2, 7)  # 1e8 formulas are tried, each fits by chance with 1e-40
    assert recognised(values, NAMES, 1e-6) is None
    assert recognised(-values, NAMES, 1e-6) is None


# --- derivations that are carried over ---


def test_the_drift_term_of_a_printed_theorem_is_not_needed() -> None:
    eq8 = catalog.claim("fedavg-svrg/theorem-v1-eq8")
    right = "2*f0_gap/(delta*K*S*M) + delta*L*S*M*G2*mean_inv_p"
    less = edited(eq8, "less", statement=f"mean_k(E(norm2(grad(f, x[k])))) <= {right}")
    assert less is not None
    lines = carried(less, eq8, 400)
    assert lines is not None
    assert check(less, lines)
    false = edited(eq8, "false", statement=f"mean_k(E(norm2(grad(f, x[k])))) <= {right.rpartition(' + ')[0]}")
    assert false is not None
    assert carried(false, eq8, 400) is None


@pytest.mark.slow
def test_half_of_the_first_term_of_a_printed_theorem_is_enough() -> None:
    eq8 = catalog.claim("fedavg-svrg/theorem-v1-eq8")
    for factor, stands in (("1/2", True), ("49/100", False)):
        right = f"{factor}*(2*f0_gap/(delta*K*S*M)) + delta*L*S*M*G2*mean_inv_p"
        less = edited(eq8, "less", statement=f"mean_k(E(norm2(grad(f, x[k])))) <= {right}")
        assert less is not None
        lines = carried(less, eq8, 400)
        assert (lines is not None) is stands
        assert lines is None or check(less, lines)


def test_less_than_half_of_it_is_broken_on_a_long_slope() -> None:
    """By hand: slope 1 and curvature 1 at its end; of 500 steps of 1/50 the mean is 1, the terms 2 + 1/10 and 1/50."""
    eq8 = catalog.claim("fedavg-svrg/theorem-v1-eq8")
    right = "9/20*(2*f0_gap/(delta*K*S*M)) + delta*L*S*M*G2*mean_inv_p"
    less = edited(eq8, "less", statement=f"mean_k(E(norm2(grad(f, x[k])))) <= {right}")
    assert less is not None
    slope = {
        "algorithm": "fedavg-svrg/fedavg_svrg",
        "parameters": {"delta": "1/50", "S": 1, "M": 1, "p": [1]},
        "problem": {"clients": [[{"knots": [-1, 1], "slopes": [0, 1, 0], "b": 0}]]},
        "start": [11],
        "rounds": 500,
    }
    found = measure(less, slope)
    assert found.left[0] == 1
    assert found.right[0] == F(9, 20) * F(21, 10) + F(1, 50)
    assert found.broken[0]


def test_a_carried_derivation_has_multipliers_of_its_own() -> None:
    growth = "norm2(x[k+1] - x0) <= norm2(x[k] - x0) + c"
    base, step = [combined("first")], [combined("next", None, f"IH; {growth}; more times c")]
    far = claim(
        "far", "norm2(x[k] - x0) <= 2*k*c", of=descent, assuming=(growth,),
        proof=(combined("more", "0 <= 1", squares="1"), induction("all", None, base=base, step=step)),
    )  # fmt: skip
    check(far)
    for factor, stands in ((F(1), True), (F(3, 2), True), (F(1, 2), False)):
        other = edited(far, "other", statement=f"norm2(x[k] - x0) <= {factor}*k*c")
        assert other is not None
        assert (carried(other, far, 100) is not None) == stands


# --- numbers, and the command ---


@given(st.fractions(-3, 3, max_denominator=40), st.fractions(0, 1, max_denominator=60))
def test_the_simplest_fraction_lies_within_and_has_the_least_denominator(low: Fraction, wide: Fraction) -> None:
    found = simplest(low, low + wide)
    assert low <= found <= low + wide
    for denominator in range(1, found.denominator):
        assert -((-low * denominator) // 1) > (low + wide) * denominator


def test_the_command_prints_and_refuses(tmp_path: Path) -> None:
    document = printed("sharpen", "textbook/young", "--seconds", 5, "--out", tmp_path)
    assert document["verdict"] == "proved"
    assert {one["need"] for one in document["parts"]} == {"needed"}
    assert all(one["met"] for one in document["brackets"])
    told = call("sharpen", "textbook/young", "--seconds", 5, "--out", tmp_path).stdout
    assert "needed  term  t/2*norm2(a)" in told
    assert "exact" in told
    refuted = call("sharpen", "fedmim/eq2", "--seconds", 5, "--out", tmp_path)
    assert refuted.exit_code == 2
    assert "error: fedmim/eq2 is refuted, so there is nothing to sharpen" in refuted.stderr
    assert "no sentence" in complaint(call("sharpen", "fedmim/remark-iv3", "--out", tmp_path))
    with pytest.raises(ValueError, match="seconds=0"):
        sharpen("textbook/young", seconds=0)


def test_an_interrupt_keeps_what_is_known() -> None:
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        if "norm2(b)" in line:
            raise KeyboardInterrupt

    found = sharpen("textbook/young", seconds=10, tell=tell)
    assert found.cut == "interrupted"
    assert [one.what for one in found.parts] == ["t/2*norm2(a)"]
