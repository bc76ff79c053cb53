"""What the verifier refuses by itself: true or false, it is written in a way that derivations are not read."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.verifier.test_derivation_turns import INDEX, MOMENTUM, WHOLE
from tests.verifier.written import DESCENT, combination, derivation, line
from validate.verifier import FormatError, verify

Written = Mapping[str, Any]
WEIGHT = {"lower": "0", "upper": None, "lower_open": False, "upper_open": True, "integer": False}
LESS = combination("less", "a/b_k <= c/b_k", ("a <= c", "1/b_k"))
VARIANCE = "mean_i(norm2(grad(f_ni, {0}) - grad(f_n, {0}))) <= s"


def of(statement: str, *lines: Any, assuming: Any = (), hypotheses: Any = (), **more: Any) -> Written:
    return derivation("test/test", statement, list(lines), assuming, hypotheses, **more)


def equal(statement: str, **more: Any) -> Written:
    return of(statement, combination("all", None), **more)


def square(vector: str, m: Any = WHOLE, program: Any = MOMENTUM, **more: Any) -> Written:
    """That a squared norm is at least 0."""
    end = combination("all", None, squares=[(vector, "1")])
    return of(f"norm2({vector}) >= 0", end, program=program, domains={"m": m}, **more)


def divided(*lines: Any, **more: Any) -> Written:
    return of(LESS["sentence"], *lines, hypotheses=("a <= c",), domains={"b": WEIGHT}, **more)


def power(statement: str, **more: Any) -> Written:
    return of(statement, line("all", None, "power", line="c <= 2", **more), hypotheses=("c <= 2",))


def extreme(statement: str, of_what: str, **more: Any) -> Written:
    return of(statement, line("all", None, "axiom", schema="extreme", of=[of_what], **more))


def drawn(point: str) -> Written:
    by = line("all", None, "assumption", of=["bounded_variance(s)"], schema="variance", at={"v": point})
    return of(VARIANCE.format(point), by, assuming=("bounded_variance(s)",), vectors=("v",))


def apart(point: str) -> Written:
    by = line("all", None, "assumption", of=["dissimilar(zeta)"], schema="dissimilar", at={"v": point})
    said = f"mean_n(norm2(grad(f_n, {point}) - grad(f, {point}))) <= zeta**2"
    return of(said, by, assuming=("dissimilar(zeta)",), vectors=("v", "a_n"))


OWN = "norm2(grad(f_ni, v))"
PAIRS = {
    "a sample of another client": (
        equal(f"mean_n(mean_i({OWN})) == mean_n(mean_i({OWN}))", vectors=("v",)),
        equal(f"mean_n({OWN}) == mean_n({OWN})", vectors=("v",)),
    ),
    "a sample of another client, in a definition": (
        equal("mean_n(mean_i(G)) == mean_n(mean_i(G))", definitions={"G": OWN}, vectors=("v",)),
        equal("mean_n(G) == mean_n(G)", definitions={"G": OWN}, vectors=("v",)),
    ),
    "a sample of another client, in a maximum": (
        equal(f"max_i({OWN}) == max_i({OWN})", vectors=("v",)),
        equal(f"max_n({OWN}) == max_n({OWN})", vectors=("v",)),
    ),
    "a sample of another client, in a mean over samples of one": (
        equal(f"mean_i(mean_n(mean_i({OWN}))*f_ni(v)) == mean_i(mean_n(mean_i({OWN}))*f_ni(v))", vectors=("v",)),
        equal(f"mean_i(mean_n({OWN})*f_ni(v)) == mean_i(mean_n({OWN})*f_ni(v))", vectors=("v",)),
    ),
    "a turn that may be negative": (square("z[k, m - 2]", hypotheses=("m >= 2",)), square("z[k, m - 2]")),
    "a round that may be negative": (square("x[m - 1]"), square("x[m - 1]", m=INDEX)),
    "a round before one": (square("x[k + 1]"), square("x[k - 1]")),
    "a round before one that is not the first": (
        square("x[k + 1]", hypotheses=("k >= 1",)),
        square("x[k - 1]", hypotheses=("k >= 1",)),
    ),
    "a multiple of rounds": (square("x[K + 1]", program=DESCENT), square("x[2*K]", program=DESCENT)),
    "a divisor with a free round, before the last line": (
        divided({**LESS, "name": "all"}),
        divided(LESS, line("all", None, "at", line="less")),
    ),
    "a divisor with a free round, in a case": (
        divided({**LESS, "name": "all"}),
        divided(line("all", None, "cases", on="a <= 1", first=[LESS], second=[LESS])),
    ),
    "another exponent": (power("c**3 <= 8", exponent="3"), power("c**3 <= 8", exponent="2")),
    "no exponent": (power("c**3 <= 8", exponent="3"), power("c**3 <= 8")),
    "an exponent that is no integer": (power("c**3 <= 8", exponent="3"), power("c**(1/2) <= 2**(1/2)", exponent="1/2")),
    "a power elsewhere": (power("c**3 <= 8", exponent="3"), power("c**3 <= 8", exponent="3", put={})),
    "the greatest over something else": (
        extreme("c_n <= max_n(c_n)", "c_n", over="max_n"),
        extreme("c_n <= max_n(c_n)", "c_n", over="max_k"),
    ),
    "the greatest over nothing": (
        extreme("c_n >= min_n(c_n)", "c_n", over="min_n"),
        extreme("c_n >= min_n(c_n)", "c_n"),
    ),
    "the variance at a point for each sample": (drawn("v"), drawn("grad(f_ni, v)")),
    "clients apart at a point for each": (apart("v"), apart("a_n")),
}


def valid(data: Written) -> bool:
    try:
        return verify(dict(data)).valid
    except FormatError:
        return False


@pytest.mark.parametrize("name", PAIRS)
def test_the_first_is_read_and_the_second_is_not(name: str) -> None:
    read, unread = PAIRS[name]
    assert valid(read), verify(dict(read)).lines
    assert not valid(unread)
