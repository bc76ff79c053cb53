"""Sums that telescope: right ones are accepted, by kernel and verifier, and others by neither."""

import pytest

from tests.derivation.both import accepted as by_kernel
from tests.rounds import local_sgd
from theory import claim
from theory.derivation import axiom
from validate import verifier
from validate.certificate.derivation import derivation_certificate

TURNS = "E(mean_n(norm2(y[k, {h}])))"
ROUNDS = "norm2(x[{k}])"


def accepted(statement: str, of: str, over: str) -> bool:
    one = claim("telescope", statement, of=local_sgd)
    lines = [axiom("all", None, "telescope", of, over=over)]
    found = by_kernel(one, lines)
    assert verifier.verify(derivation_certificate(one, lines)).valid == found
    return found


@pytest.mark.parametrize(
    ("summed", "grown", "expected"),
    [
        ("sum_h", (TURNS, "h", "H", "0"), True),
        ("sum_k", (ROUNDS, "k", "K", "0"), True),
        ("sum_k", ("{k}**2", "k", "K", "0"), True),
        ("sum_h", (TURNS, "h", "H + 1", "0"), False),
        ("sum_h", (TURNS, "h", "H", "1"), False),
        ("sum_k", (ROUNDS, "k", "K - 1", "0"), False),
        ("sum_k", (ROUNDS, "k", "K", "1"), False),
        ("mean_h", (TURNS, "h", "H", "0"), False),
        ("mean_k", (ROUNDS, "k", "K", "0"), False),
    ],
)
def test_what_a_sum_of_growth_is(summed: str, grown: tuple[str, str, str, str], expected: bool) -> None:
    text, index, end, first = grown

    def there(value: str) -> str:
        return text.replace("{" + index + "}", value if value in (index, end, first) else f"({value})")

    statement = f"{summed}({there(index + ' + 1')} - {there(index)}) == {there(end)} - {there(first)}"
    for over in ("sum_h", "sum_k", summed):
        right = expected and over == summed
        assert accepted(statement, there(index), over) is right, (statement, over)


@pytest.mark.parametrize("relation", ["<=", "<"])
def test_it_is_an_equation(relation: str) -> None:
    assert not accepted(
        f"sum_k(norm2(x[k + 1]) - norm2(x[k])) {relation} norm2(x[K]) - norm2(x0)", "norm2(x[k])", "sum_k"
    )
