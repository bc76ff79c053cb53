"""Claims in numbers: which numbers a bound takes, and what it is worth."""

import importlib.util
import math
import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.theory.trees import scalar, worth
from theory import algorithm, claim, evaluate
from theory.arithmetic import NotRationalError
from theory.calculator import LONGEST, MOST_ROUNDS, ROUNDS, Calculator, calculator
from theory.domain import COUNT, NONNEGATIVE, POSITIVE, REAL
from theory.listing import listing
from theory.sentence import parse_expression, text_of

TWO_GAPS = {"f_x0_fstar": NONNEGATIVE, "f_a_fstar": NONNEGATIVE}
LANGUAGE = Path(__file__).parent.parent / "language"


@algorithm
def sgd(w, x, *, eta, p=1):
    return x - eta * w.mean(w.gradient(x, w.sample())) + 0 * w.mean(w.where(w.coins(p), x, x))


@algorithm(x="x0", past="J times 0")
def inertia(w, x, past, *, alpha, A):
    new = x - w.combine(alpha, past) - A * w.full_gradient(x)
    return new, w.shift(past, x - new)


def numbers(right: str, **more: Any) -> Calculator:
    return calculator(claim("one", f"E(norm2(x[k] - xstar)) <= {right}", of=more.pop("of", sgd), **more))


def names(found: Calculator) -> list[str]:
    return [p.name for p in found.bound.parameters]


def value(found: Calculator, **given: Any) -> Fraction:
    return evaluate.exact(found.bound, found.complete(given))


def paper(name: str) -> Mapping[str, Any]:
    spec = importlib.util.spec_from_file_location(name, LANGUAGE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {c.label: c for c in module.PAPER}


# --- what becomes a parameter ----------------------------------------------------------------------------------------


def test_a_definition_by_numbers_is_a_term_and_one_by_functions_is_a_parameter() -> None:
    found = numbers(
        "init + noise",
        where={
            "f0_gap": "f(x0) - fstar",
            "mean_inv_p": "mean_n(1/p_n)",
            "init": "f0_gap/(eta*K)",
            "noise": "eta*mean_inv_p",
        },
    )
    assert dict(found.bound.definitions) == {"init": "f0_gap/(eta*K)", "noise": "eta*mean_inv_p"}
    assert found.bound.right == "init + noise"
    assert {p.name: (p.domain, p.meaning) for p in found.bound.parameters if p.name in found.texts} == {
        "f0_gap": (NONNEGATIVE, "f(x0) - fstar"),
        "mean_inv_p": (POSITIVE, "mean_n(1/p_n)"),
    }
    given = {"eta": "1/2", "K": 4, "f0_gap": 6, "mean_inv_p": "3/2"}
    assert evaluate.exact_terms(found.bound, given) == {"init": 3, "noise": Fraction(3, 4)}
    assert value(found, **given) == Fraction(15, 4)


@pytest.mark.parametrize(
    ("right", "expected", "parameters"),
    [
        ("E(3*eta*norm2(x[k]))", "3*eta*E_norm2_x_k", {"E_norm2_x_k": NONNEGATIVE}),
        (
            "mean_n(E(f_n(x[k])) + eta*E(norm2(x[k])))",
            "mean_n_E_f_n_x_k + eta*E_norm2_x_k",
            {"mean_n_E_f_n_x_k": REAL, "E_norm2_x_k": NONNEGATIVE},
        ),
        ("f(x0) - fstar", "f_x0_fstar", {"f_x0_fstar": NONNEGATIVE}),
        ("eta + f(x0) - 1 - fstar", "f_x0_fstar + eta - 1", {"f_x0_fstar": NONNEGATIVE}),
        ("2*(E(f(x[k])) - fstar)", "2*E_f_x_k_fstar", {"E_f_x_k_fstar": NONNEGATIVE}),
        ("mean_n(f_n(x0)) - fstar", "mean_n_f_n_x0_fstar", {"mean_n_f_n_x0_fstar": NONNEGATIVE}),
        ("mean_n(f_n(x0) - f_n(xstar_n))", "mean_n_f_n_x0_f_n_xstar_n", {"mean_n_f_n_x0_f_n_xstar_n": NONNEGATIVE}),
        ("mean_n(f_n(xstar_n)) - fstar", "mean_n_f_n_xstar_n - fstar", {"mean_n_f_n_xstar_n": REAL, "fstar": REAL}),
        ("f(x0) - fstar + f(a) - fstar", "f_x0_fstar + f_a_fstar", TWO_GAPS),
        ("fstar - f(x0)", "-f_x0_fstar", {"f_x0_fstar": NONNEGATIVE}),
        ("f(x0) - f(x[1])", "f_x0 - f_x_1", {"f_x0": REAL, "f_x_1": REAL}),
        ("dot(x0, xstar)**2", "dot_x0_xstar**2", {"dot_x0_xstar": REAL}),
        ("mean_n(sum_i(1)*eta)", "eta*mean_n_sum_i_1", {"mean_n_sum_i_1": POSITIVE}),
        ("sum_n(eta)", "N*eta", {"N": COUNT}),
        ("max_n(eta) + E(2)", "eta + 2", {}),
        ("max_n(L_n)", "max_n_L_n", {"max_n_L_n": POSITIVE}),
        ("mean_n(1/p_n)", "mean_n_1_p_n", {"mean_n_1_p_n": POSITIVE}),
        ("mean_n(norm(a_n)*norm(x0)/eta)", "1/eta*mean_n_norm_a_n_norm_x0", {"mean_n_norm_a_n_norm_x0": NONNEGATIVE}),
    ],
)  # fmt: skip
def test_what_stands_in_the_right_side(right: str, expected: str, parameters: dict[str, Any]) -> None:
    found = numbers(right, vectors=("a_n", "a"))
    assert found.bound.right == expected
    assert {p.name: p.domain for p in found.bound.parameters if p.name != "eta"} == parameters


def test_different_expressions_have_different_names() -> None:
    found = numbers("norm2(x0 - xstar) + norm2(x0 + xstar) + norm2_x0_xstar")
    assert found.bound.right == "norm2_x0_xstar_2 + norm2_x0_xstar_3 + norm2_x0_xstar"
    assert [found.named(text) for text in ("norm2(x0-xstar)", "norm2(x0 + xstar)", "norm2(x0)", "eta", "a b")] == [
        "norm2_x0_xstar_2", "norm2_x0_xstar_3", "norm2(x0)", "eta", "a b",
    ]  # fmt: skip
    long = numbers("norm2(x0 + 2*x[0] + 3*xstar + 4*x0 + 5*x[0] + 6*xstar + 7*x0 + 8*x[0] + 9*xstar + 10*x0)")
    assert len(names(long)[0]) <= LONGEST


# --- hypotheses ------------------------------------------------------------------------------------------------------


def holding(found: Calculator, **given: Any) -> dict[str, bool | None]:
    return {h["name"]: h["holds"] for h in evaluate.hypotheses(found.bound, given)}


def test_hypotheses_that_numbers_decide() -> None:
    one = claim(
        "one", "E(norm2(x[k] - xstar)) <= (1 - eta*mu)*R2", of=sgd,
        assuming=("smooth(f_n, L)", "strongly_convex(f, mu)", "eta <= 1/L", "norm2(x0 - xstar) <= R2"),
        standing=("eta <= 1",),
    )  # fmt: skip
    found = calculator(one)
    assert names(found) == ["eta", "L", "mu", "R2"]
    assert holding(found, eta=1, L=1, mu=2, R2=1) == {
        "smooth(f_n, L)": None,
        "strongly_convex(f, mu)": None,
        "eta <= 1/L": True,
        "norm2(x0 - xstar) <= R2": None,
        "mu <= L": False,
        "eta <= 1": True,
    }
    assert [h.name for h in found.bound.standing] == ["eta <= 1"]
    few = calculator(one, {"R2", "eta", "mu"})  # the bound needs no other
    assert names(few) == ["eta", "mu", "R2"]
    assert [h for h, holds in holding(few, eta=1, mu=1, R2=1).items() if holds is not None] == ["eta <= 1"]
    more = calculator(one, {"norm2_x0_xstar", "p"})  # p, of which the bound does not speak, may be given
    assert names(more) == ["eta", "p", "mu", "R2", "norm2_x0_xstar"]
    assert holding(more, eta=1, mu=1, p=1, R2=1, norm2_x0_xstar=2)["norm2(x0 - xstar) <= R2"] is False
    assert "norm2_x0_xstar" in names(calculator(one, all_relations=True))


# --- numbers alone ---------------------------------------------------------------------------------------------------


def test_sums_over_rounds() -> None:
    found = numbers("mean_k(rate) + max_k(1/(k + 1)) + sum_k(1)", where={"rate": "(1 - eta)**k"})
    assert found.bound.right == f"mean((1 - eta)**{ROUNDS}) + amax(1/({ROUNDS} + 1)) + K"
    assert value(found, eta="1/2", K=2) == Fraction(3, 4) + 1 + 2
    assert value(found, eta=1, K="1*3") == Fraction(1, 3) + 1 + 3  # 0**0 is 1
    for wrong in (0.5, 0, MOST_ROUNDS + 1):
        with pytest.raises(ValueError, match=r"K="):
            found.complete({"eta": 1, "K": wrong})


def test_what_is_remembered_goes_by_the_papers_name_too() -> None:
    one = claim(
        "weights",
        "E(norm2(x[K])) <= A*c + sum_j(alpha_j*R)",
        of=inertia,
        assuming=("A == 1 - sum_j(alpha_j)",),
        where={"R": "max_j(alpha_j)"},
        printed={"w": "alpha_j", "T": "K"},
    )
    values = {"w": [0.5, 0.25], "c": 8, "T": 3}
    assert one.bound(**values) == 8 * 0.25 + 0.75 * 0.5
    assert one.terms(**values) == {"A": 0.25, "R": 0.5}
    assert {p.name: p.shape for p in calculator(one).bound.parameters} == {"w": "vector", "c": "scalar"}


def test_a_term_beside_the_bound_is_there_where_its_numbers_are() -> None:
    one = claim("beside", "c <= a", where={"double": "2*b", "twice": "2*a"}, assuming=("b <= a",), printed={"B": "b"})
    assert one.terms(a=3) == {"twice": 6.0}
    assert one.terms(a=3, B=1) == {"twice": 6.0, "double": 2.0}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"printed": {"R": "H"}}, "printed has 'R': 'H', which the claim does not use"),
        ({"in_words": {"c": "a constant"}}, "in_words has 'c', which the claim does not use"),
    ],
)
def test_names_that_a_claim_does_not_use_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        claim("wrong", "a <= b", **fields)


# --- the examples ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(path.stem for path in LANGUAGE.glob("*.py") if path.stem != "__init__"))
def test_every_example_has_a_bound_in_numbers(file: str) -> None:
    for label, one in paper(file).items():
        found = calculator(one)
        domains = {p.name: p for p in found.bound.parameters if p.name != ROUNDS}
        given = {name: 1 if p.domain.contains(1) else 2 for name, p in domains.items()}
        complete = found.complete(given)
        try:
            assert evaluate.enclose(found.bound, complete).lower is not None
            assert evaluate.exact(found.bound, complete) is not None
        except evaluate.UndefinedError:  # such as (1 - q**K)/(1 - q) at q = 1
            assert label == "geometric"
        except NotRationalError:  # exp(-1), log(K)
            assert any(word in one.statement for word in ("exp(", "log(", "sqrt(")), one.id
        assert listing(found.bound).program["inputs"] == names(found)


def test_a_claim_evaluates_itself() -> None:
    one = paper("noise_ball")["noise-ball"]
    given = {"eta": [0.1, 0.2], "mu": 1, "k": 3, "N": 2, "sigma2": 1, "norm2_x0_xstar": 4}
    arrays = {**given, "eta": np.array(given["eta"])}
    assert one.bound(**arrays) == pytest.approx([0.9**3 * 4 + 0.1, 0.8**3 * 4 + 0.2])
    first = {**given, "eta": "1/10"}
    assert one.violated(**first, L=6) == ("eta <= 1/(2*L)",)
    assert one.enclose(**first).lower == "3.016"
    compressed = paper("compression")["ball"]
    values = {"eta": 1, "mu": 1, "m": 2, "d": 6, "N": 1, "spread": 3, "E(norm2(x[k] - xstar))": 0}
    assert compressed.terms(**values) == {"omega": 2.0}
    assert compressed.bound(**values) == 12.0


# --- random sentences ------------------------------------------------------------------------------------------------


@algorithm(x="x0", h="each 0")
def anything(w, x, h, *, eta):
    y = w.each(x)
    for _ in w.repeat(3):
        w.tap("y", y)
        y = y - eta * w.gradient(y, w.sample())
    return w.mean(y), h


EXACT = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp, "E": lambda value: value}
"""Operations as they are; the expectation of what has one outcome."""


@pytest.mark.parametrize("seed", range(300))
def test_the_bound_is_the_right_side(seed: int) -> None:
    """At the values that the expressions have, in a world in which every name has some value."""
    at = {"n": 1, "k": 2, "i": 0}
    rng = random.Random(seed)
    tree = scalar(rng, rng.randint(2, 6), "nk" if seed % 2 else "")
    found = calculator(claim("one", f"dot(x0, x0) <= {text_of(tree)}", of=anything, vectors=("a", "b_n")))
    try:
        expected = worth(tree, at, EXACT)
        given = {
            p.name: worth(parse_expression(found.texts.get(p.name, p.name)), at, EXACT)
            for p in found.bound.parameters
            if p.name != ROUNDS
        }
    except (ValueError, OverflowError, ZeroDivisionError):
        pytest.skip("no value")
    if isinstance(expected, complex) or not math.isfinite(expected) or abs(expected) > 1e12:
        pytest.skip("no value")
    assert evaluate.bound(found.bound, found.complete(given)) == pytest.approx(expected, rel=1e-6, abs=1e-9)
