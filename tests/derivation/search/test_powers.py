"""Powers whose exponents are no integers, as of steps like K**(-1/3): their laws, and what is found by them unaided."""

from typing import Any

import pytest

from tests.derivation.both import accepted, check
from tests.derivation.search.finding import is_found, is_not_found
from tests.rounds import descent
from theory.claim import Claim, claim
from theory.derivation import axiom, combined
from theory.domain import Domain

REAL = Domain()
CUBE = ("eta == K**(-1/3)",)
TRUE: dict[str, tuple[str, tuple[str, ...]]] = {
    "below 1": ("K**(-1/3) <= 1", ()),
    "two thirds": ("K**(2/3)*K**(1/3) == K", ()),
    "between a half and nothing": ("K**(-1/2) <= K**(-1/3)", ()),
    "a step that is tuned": ("R/(eta*K) + eta**2*s <= (R + s)/K**(2/3)", CUBE),
    "the same without a quotient": ("1/(eta*K) + eta**2 <= 2*K**(-2/3)", CUBE),
    "the slower rate": ("R/(eta*K) + eta*s <= (R + s)/K**(1/3)", CUBE),
    "of a quotient": ("(a/K)**(1/3) <= a**(1/3)", ("a > 0",)),
    "an exponent with a name": ("K**(-eps - 1) <= K**eps", ()),
    "the largest": ("max(1/K**eps, 1/K**(2*eps)) <= 1", ()),
}
FALSE: dict[str, tuple[str, tuple[str, ...]]] = {
    "a third and a half": ("K**(-1/3) <= K**(-1/2)", ()),
    "a faster rate": ("R/(eta*K) + eta**2*s <= (R + s)/K", CUBE),
    "a half of it": ("R/(eta*K) + eta**2*s <= (R + s)/(2*K**(2/3))", CUBE),
    "two thirds": ("K**(2/3)*K**(1/3) <= K/2", ()),
    "of a base below 1": ("a**(1/3) <= a", ("a > 0",)),
    "an exponent with a name": ("K**(1 - eps) <= K**eps", ()),
}


@pytest.mark.parametrize("name", TRUE)
def test_it_is_found(name: str) -> None:
    is_found(claim("powers", TRUE[name][0], assuming=TRUE[name][1]))


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not(name: str) -> None:
    is_not_found(claim("powers", FALSE[name][0], assuming=FALSE[name][1]))


def _descent(rate: str) -> Claim:
    return claim(
        "cube-root", f"mean_k(norm2(grad(f, x[k]))) <= {rate}", of=descent,
        assuming=("smooth(f, L)", "eta == K**(-1/3)/L"),
    )  # fmt: skip


def test_a_step_of_a_cube_root_is_found_and_half_of_the_rate_is_not() -> None:
    is_found(_descent("2*L*(f(x0) - fstar)*K**(-2/3)"))
    is_not_found(_descent("L*(f(x0) - fstar)*K**(-2/3)"))


SAID: dict[str, tuple[str, tuple[Any, ...]]] = {
    "power sum": ("a**(s + t) == a**s*a**t", ("a", "s", "t")),
    "power product": ("(a*b)**s == a**s*b**s", ("a", "b", "s")),
    "power power": ("(a**s)**t == a**(s*t)", ("a", "s", "t")),
    "exponents": ("(1 + a)**s <= (1 + a)**(s + b)", ("1 + a", "s", "s + b")),
}
WIDE = {"s": REAL, "t": REAL, "c": Domain(0)}
USED = ("a > 0", "b > 0", "c <= 1", "s + t <= 1")
"""So that each name is one of the claim's."""


@pytest.mark.parametrize("schema", SAID)
def test_an_axiom_says_this_for_any_exponents(schema: str) -> None:
    statement, expressions = SAID[schema]
    one = claim("c", statement, parameters=WIDE, assuming=USED)
    line = axiom("said", statement if schema == "exponents" else None, schema, *expressions)
    assert check(one, [line, combined("all", None, "said")]).lines


@pytest.mark.parametrize(
    ("schema", "expressions", "statement"),
    [
        ("power sum", ("a - b", "s", "t"), "(a - b)**(s + t) == (a - b)**s*(a - b)**t"),  # of what may be negative
        ("power sum", ("c", "s", "t"), "c**(s + t) == c**s*c**t"),  # or 0: 0**(1 - 1) is 1
        ("power product", ("a", "a - b", "s"), "(a*(a - b))**s == a**s*(a - b)**s"),
        ("power power", ("a - b", "2", "1/2"), "((a - b)**2)**(1/2) == a - b"),
        ("power power", ("a", "s", "t"), "(a**s)**t == a**(s + t)"),  # another sentence
        ("exponents", ("1 + a", "s", "t"), "(1 + a)**s <= (1 + a)**t"),  # in no order
        ("exponents", ("a", "s", "s + b"), "a**s <= a**(s + b)"),  # of a base that may be less than 1
        ("exponents", ("c", "s", "s + b"), "c**(s + b) <= c**s"),  # or 0, with an exponent that may be negative
    ],
)
def test_an_axiom_is_asked_for_what_it_needs(schema: str, expressions: tuple[str, ...], statement: str) -> None:
    one = claim("c", statement, parameters=WIDE, assuming=USED)
    assert not accepted(one, [{"name": "all", "by": "axiom", "schema": schema, "of": list(expressions)}])
