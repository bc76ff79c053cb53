"""Sums up to a turn, over pairs of turns, and of one term: right ones are accepted by kernel and verifier alike."""

import re
from typing import Any

import pytest

from tests.derivation.both import accepted as by_kernel
from tests.derivation.programs import nested
from theory import claim
from theory.derivation import axiom, combined
from theory.domain import COUNT, INDEX
from validate import verifier
from validate.certificate.derivation import derivation_certificate


def accepted(statement: str, *lines: dict[str, Any], assuming: tuple[str, ...] = ()) -> bool:
    names = {"M": COUNT, "s": INDEX, "m": INDEX}
    used = {name: names[name] for name in names if name == "M" or re.search(rf"\b{name}\b", f"{statement} {assuming}")}
    one = claim("sums", statement, of=nested, assuming=assuming, parameters=used)
    found = by_kernel(one, lines)
    assert verifier.verify(derivation_certificate(one, lines)).valid == found
    return found


E = "norm2(y[k, h, j])"
NEXT = "norm2(y[k, h, j + 1])"


def until(end: str, at: str) -> str:
    return f"max(0, min(1, {end} - {at}))"


@pytest.mark.parametrize(
    ("sum_", "at", "assuming", "expected"),
    [
        (f"sum_j({until('m', 'j')}*({NEXT} - {E}))", "m", ("m <= M",), True),
        (f"sum_j({until('m', 'j')}*({NEXT} - {E}))", "m", (), False),
        (f"sum_j({until('m', 'j')}*({NEXT} - {E}))", "m", ("m <= M + 1",), False),
        (f"sum_j({until('m', 'j')}*({NEXT} - {E}))", "m + 1", ("m <= M",), False),
        (f"sum_j({until('m + 1', 'j')}*({NEXT} - {E}))", "m", ("m <= M",), False),
        (f"sum_j(max(0, m - j)*({NEXT} - {E}))", "m", ("m <= M",), False),
    ],
)
def test_sums_up_to_a_turn(sum_: str, at: str, assuming: tuple[str, ...], expected: bool) -> None:
    statement = f"{sum_} == norm2(y[k, h, {at}]) - norm2(y[k, h, 0])"
    assert accepted(statement, axiom("all", None, "telescope", E, "m", over="sum_j"), assuming=assuming) is expected


def test_vectors_telescope() -> None:
    grown = "norm2(sum_j(y[k, h, j + 1] - y[k, h, j]) - y[k, h, M] + y[k, h, 0])"
    line = axiom("all", None, "telescope", "y[k, h, j]", over="sum_j")
    assert accepted(f"{grown} <= 0", line)
    assert not accepted(f"{grown} <= -1", line)
    assert not accepted(f"{grown.replace('y[k, h, 0]', 'y[k, h, 1]')} <= 0", line)
    assert not accepted(f"{grown.replace('M', 'S')} <= 0", line)


PAIRS = f"sum_h(sum_j({until('s*M + m', '(h*M + j)')}*{E}))"
FIRST, LAST = f"sum_h({until('s', 'h')}*sum_j({E}))", f"sum_j({until('m', 'j')}*norm2(y[k, s, j]))"


@pytest.mark.parametrize(
    ("statement", "assuming", "expected"),
    [
        (f"{PAIRS} == {FIRST} + {LAST}", ("s <= S - 1", "m <= M"), True),
        (f"{PAIRS} == {FIRST} + {LAST}", ("s <= S", "m <= M"), False),
        (f"{PAIRS} == {FIRST} + {LAST}", ("s <= S - 1", "m <= M + 1"), False),
        (f"{PAIRS} == {FIRST} + {LAST}", ("m <= M",), False),
        (f"{PAIRS} == {FIRST}", ("s <= S - 1", "m <= M"), False),
        (f"{PAIRS} <= {FIRST} + {LAST}", ("s <= S - 1", "m <= M"), False),
        (f"{PAIRS.replace('s*M', 's*S')} == {FIRST} + {LAST}", ("s <= S - 1", "m <= M"), False),
    ],
)
def test_sums_over_pairs_of_turns(statement: str, assuming: tuple[str, ...], expected: bool) -> None:
    assert accepted(statement, axiom("all", None, "lexicographic", E, "s", "m"), assuming=assuming) is expected


@pytest.mark.parametrize(
    ("statement", "assuming", "of", "expected"),
    [
        (f"sum_h(sum_j({E})) == sum_j(norm2(y[k, 0, j]))", ("S == 1",), "S", True),
        (f"sum_h(sum_j({E})) == sum_j(norm2(y[k, 0, j]))", ("S <= 1",), "S", True),
        (f"sum_h(sum_j({E})) == sum_j(norm2(y[k, 0, j]))", ("S <= 2",), "S", False),
        (f"sum_h(sum_j({E})) == sum_j(norm2(y[k, 0, j]))", ("S == 1",), "M", False),
        (f"sum_h(sum_j({E})) == sum_j({E})", ("S == 1",), "S", False),
        ("norm2(y[k, S, 0]) == norm2(y[k, 1, 0])", ("S == 1",), "S", True),
        ("norm2(y[k, S, 0]) == norm2(y[k, 0, 0])", ("S == 1",), "S", False),
        ("N*norm2(x[k]) <= S*N*norm2(x[k])", ("S == 1",), "S", True),
        ("eta*norm2(x[k]) == norm2(x[k])", ("eta <= 1", "eta >= 1"), "eta", False),
    ],
)
def test_a_loop_of_one_turn(statement: str, assuming: tuple[str, ...], of: str, expected: bool) -> None:
    assert accepted(statement, {"name": "all", "by": "single", "of": of}, assuming=assuming) is expected


def test_what_holds_for_every_number_of_turns_is_no_single_turn() -> None:
    assert not accepted(f"sum_h(sum_j({E})) == sum_j(norm2(y[k, 0, j]))", combined("all"), assuming=("S == 1",))
