"""What is about numbers alone: the steps, sums and rates with which proofs of papers end, found unaided."""

from fractions import Fraction
from typing import Any

import pytest

from tests.derivation.both import accepted, check
from theory.claim import Claim, claim
from theory.derivation import axiom, combined
from theory.derivation.search.field import Field
from theory.derivation.search.searching import search
from theory.derivation.search.settings import settings
from validate.proving import UNITS_OF_NUMBERS, evidence, work_of

TUNED = {"eta": "min(1/(2*L), sqrt(2*D/(L*s*K)))"}
RHO = {
    "rho": "1/mu - B*sqrt(2)/(mu*sqrt(S)) - L*B/(mu*mu) - L*B**2/(2*mu**2) - L*B**2/(mu**2*S)*(2*sqrt(2*S) + 2)",
    "mu": "6*L*B**2",
}
TRUE: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "means": ("sqrt(a*b) <= (a + b)/2", (), {}),
    "roots of a sum": ("sqrt(a + b) <= sqrt(a) + sqrt(b)", (), {}),
    "a step that is tuned": ("a/(eta*K) + b*eta == 2*sqrt(a*b/K)", (), {"eta": "sqrt(a/(b*K))"}),
    "any step": ("2*sqrt(a*b*K) <= a/eta + b*eta*K", (), {}),
    "the largest of three": ("max(1/(eta*K), eta/S) <= 1/sqrt(S*K)", (), {"eta": "sqrt(S/K)"}),
    "with one step": ("max(1/(eta*K), eta*H/S) <= 1/sqrt(S*K)", ("H == 1",), {"eta": "sqrt(S/(H*K))"}),
    "two steps": ("2*D/(eta*K) + L*eta*s <= 4*L*D/K + 2*sqrt(2*D*L*s/K)", (), TUNED),
    "one over a step": ("1/eta <= 2*L + sqrt(K)", (), {"eta": "min(1/(2*L), 1/sqrt(K))"}),
    "numbers far out": ("rho >= 1/(32*L*B**2)", ("B >= 100", "B <= sqrt(S)/2"), RHO),
    "the least": ("min(a, b) <= sqrt(a*b)", (), {}),
    "both at most": ("max(a, b) <= sqrt(a**2 + b**2)", (), {}),
    "a distance": ("abs(a - b) <= max(a, b)", (), {}),
    "below a root": ("sqrt(1 - a) <= 1 - a/2", ("a <= 1",), {}),
    "one more root": ("1/sqrt(K) <= 2*(sqrt(K) - sqrt(K - 1))", ("K >= 1",), {}),
    "Nesterov's numbers": ("t >= s + 1/2", (), {"t": "(1 + sqrt(1 + 4*s**2))/2"}),
    "a logarithm": ("log(1 + a) <= a", (), {}),
    "logarithms": ("log(a + b) - log(a) >= b/(a + b)", (), {}),
    "a logarithm and a root": ("log(K) <= 2*sqrt(K)", (), {}),
    "an exponential": ("exp(-a) <= 1/(1 + a)", (), {}),
    "a rate": ("(1 - mu/L)**K*D <= exp(-K*mu/L)*D", ("mu <= L",), {}),
    "another rate": ("(1 - a)**K <= 1/(1 + K*a)", ("a <= 1",), {}),
    "rounds enough": ("(1 - mu/L)**K*D <= eps", ("mu <= L", "K >= L/mu*log(D/eps)"), {}),
    "harmonic": ("sum_k(1/(k + 1)) <= 1 + log(K)", (), {}),
    "a mean": ("mean_k(1/(k + 1)) <= (1 + log(K))/K", (), {}),
    "roots that are summed": ("sum_k(1/sqrt(k + 1)) <= 2*sqrt(K)", (), {}),
    "roots from below": ("sum_k(1/sqrt(k + 1)) >= 2*sqrt(K + 1) - 2", (), {}),
    "their mean from below": ("mean_k(1/sqrt(k + 1)) >= 1/sqrt(K)", (), {}),
    "harmonic from below": ("sum_k(1/(k + 1)) >= log(K + 1)", (), {}),
    "geometric": ("sum_k((1 - a)**k) <= 1/a", ("a < 1",), {}),
}
FALSE: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "means": ("sqrt(a*b) <= (a + b)/3", (), {}),
    "roots of a sum": ("sqrt(a) + sqrt(b) <= sqrt(a + b)", (), {}),
    "a step that is tuned": ("a/(eta*K) + b*eta <= sqrt(a*b/K)", (), {"eta": "sqrt(a/(b*K))"}),
    "two steps": ("2*D/(eta*K) + L*eta*s <= 4*L*D/K + sqrt(2*D*L*s/K)", (), TUNED),
    "numbers far out": ("rho >= 1/(24*L*B**2)", ("B >= 100", "B <= sqrt(S)/2"), RHO),
    "the largest": ("sqrt(a*b) <= min(a, b)", (), {}),
    "a logarithm": ("log(1 + a) <= a - a**2/2", (), {}),
    "a rate": ("(1 - mu/L)**K*D <= exp(-2*K*mu/L)*D", ("mu <= L",), {}),
    "too few rounds": ("(1 - mu/L)**K*D <= eps", ("mu <= L", "K >= L/(2*mu)*log(D/eps)"), {}),
    "a negative base": ("(1 - a)**K <= exp(-K*a)", (), {}),
    "harmonic": ("sum_k(1/(k + 1)) <= log(K)", (), {}),
    "harmonic from below": ("sum_k(1/(k + 1)) >= log(K + 2)", (), {}),
    "roots from below": ("sum_k(1/sqrt(k + 1)) >= 2*sqrt(K + 1) - 1", (), {}),
    "geometric": ("sum_k((1 - a)**k) <= 1/a", ("a <= 3",), {}),
}


def of(given: tuple[str, tuple[str, ...], dict[str, str]]) -> Claim:
    statement, assuming, where = given
    return claim("numbers", statement, assuming=assuming, where=where)


@pytest.mark.parametrize("name", TRUE)
def test_it_is_found(name: str) -> None:
    """With the work of a check, and what is found the verifier accepts too."""
    c = of(TRUE[name])
    assert work_of(c) == UNITS_OF_NUMBERS
    lines = search(c, UNITS_OF_NUMBERS).lines
    assert lines is not None
    assert check(c, lines).lines


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    assert search(of(FALSE[name]), UNITS_OF_NUMBERS).lines is None


def test_an_equation_of_roots_says_something() -> None:
    """Both sides have values on every instance, though balls never tell that they are equal."""
    c = claim("equal", "t**2 - t <= s**2", where={"t": "(1 + sqrt(1 + 4*s**2))/2"})
    assert [item.outcome for item in evidence(c)] == ["proved"]


def test_numbers_that_lie_far_out_are_met() -> None:
    c = claim("far", "a <= b", assuming=("a >= 100", "a <= sqrt(b)/2", "b <= c/1000"))
    found = settings(c, 4)
    assert len(found) == 4
    assert all(one["a"] >= 100 and one["b"] >= 4 * one["a"] ** 2 * (1 - 1e-9) for one in found)


SAID: dict[str, tuple[str, tuple[Any, ...]]] = {
    "log product": ("log(a*b) == log(a) + log(b)", ("a", "b")),
    "log quotient": ("log(a/b) == log(a) - log(b)", ("a", "b")),
    "exp log": ("exp(log(a)) == a", ("a",)),
    "log exp": ("log(exp(a - b)) == a - b", ("a - b",)),
    "exp power": ("exp((a - b)*K) == exp(a - b)**K", ("a - b", "K")),
}


@pytest.mark.parametrize("schema", SAID)
def test_an_axiom_says_this(schema: str) -> None:
    statement, expressions = SAID[schema]
    line = axiom("said", None, schema, *expressions)
    assert check(claim("c", statement), [line, combined("all", None, "said")]).lines


@pytest.mark.parametrize(
    ("schema", "expressions", "statement"),
    [
        ("log product", ("a - b", "b"), "log((a - b)*b) == log(a - b) + log(b)"),  # of what may be negative
        ("log quotient", ("a", "a - b"), "log(a/(a - b)) == log(a) - log(a - b)"),
        ("exp log", ("a - b",), "exp(log(a - b)) == a - b"),
        ("log product", ("a", "b"), "log(a + b) == log(a) + log(b)"),  # another sentence
        ("log quotient", ("a", "b"), "log(a/b) == log(b) - log(a)"),
        ("exp power", ("a", "K"), "exp(a*K) == exp(K)**K"),
        ("exp power", ("a", "K/2"), "exp(a*(K/2)) == exp(a)**(K/2)"),  # an exponent that need be no integer
        ("exp power", ("a", "0 - K"), "exp(a*(0 - K)) == exp(a)**(0 - K)"),
    ],
)
def test_an_axiom_is_asked_for_what_it_needs(schema: str, expressions: tuple[str, ...], statement: str) -> None:
    line = {"name": "all", "by": "axiom", "schema": schema, "of": list(expressions)}
    assert not accepted(claim("c", statement), [line])


@pytest.mark.parametrize(
    "statement",
    [
        "sqrt(a) + sqrt(b) + sqrt(c) + sqrt(q) <= 2*sqrt(a + b + c + q)",  # far too long when it is squared
        "sqrt(a + sqrt(b + sqrt(c))) <= 1 + a + b + c",
        "exp((1/2 - min(K, a))) <= (((a + a))**(1/3) * sqrt(abs(K)))",
        "sqrt(sqrt(c)) <= min(exp(b**K), sqrt(min(a, K)))",
        "((min(a, 1/2)**K)**2)**K <= sqrt(1 + a)",
    ],
)
def test_what_is_beyond_it_ends_without_a_derivation(statement: str) -> None:
    assert search(claim("beyond", statement), UNITS_OF_NUMBERS).lines is None


def test_long_polynomials_have_the_factors_that_short_ones_have() -> None:
    field = Field(("a", "b", "c"))
    a, b, c = (gen.numer for gen in field.inner.gens)
    p = (a + b) ** 2 * (a - b + c) ** 3 * 3 / 2
    assert len(p) > 12
    number, found = p.factor_list()
    content, factors = field.factors(p)
    assert content == Fraction(int(number.numerator), int(number.denominator))
    assert {(str(f), n) for f, n in factors} == {(str(f), n) for f, n in found}
