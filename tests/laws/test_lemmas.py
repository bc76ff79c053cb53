"""Lemmas about vectors, functions and numbers get their verdicts; what assumes a contradiction is vacuous."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.laws import lemmas
from tests.rounds import descent
from theory import claim
from theory.claim import Claim
from validate.examine import examine


@pytest.mark.parametrize("one", lemmas.CLAIMS, ids=lambda one: one.label)
def test_a_lemma_gets_its_verdict(one: Claim, tmp_path: Path) -> None:
    result = examine(one, quick=True, out=tmp_path)
    if one.label in lemmas.FALSE:
        assert result.verdict == "refuted"
        assert result.origin in ("pool", "search")
    else:
        assert result.verdict in ("supported", "proved"), result.covered


CLOSER = "norm2(x[k] - xstar) <= norm2(x0 - xstar)"
SMOOTH = ("smooth(f, L)", "strongly_convex(f_n, mu)", "eta <= 1/L")
VECTOR = claim("vector", "norm2(a) <= 1", vectors=("a",), assuming=("norm2(a) <= 1/2",))
RUN = claim("run", CLOSER, of=descent, assuming=SMOOTH, where={"apart": "mean_n(norm2(grad(f_n, xstar)))"})


@pytest.mark.parametrize(
    ("one", "more"),
    [
        (VECTOR, "norm2(a) <= -1"),
        (VECTOR, "norm2(a) >= 2/3"),
        (VECTOR, "norm(a) >= 3/4"),
        (RUN, "apart < 0"),
        (RUN, "eta >= 2/mu"),
        (RUN, "lipschitz(f, G)"),
        (RUN, "bounded_gradients(f_ni, G)"),
        (RUN, "norm2(x0 - xstar) + mu <= 0"),
    ],
)
def test_a_contradiction_is_vacuous(one: Claim, more: str, tmp_path: Path) -> None:
    result = examine(replace(one, assuming=(*one.assuming, more)), quick=True, out=tmp_path)
    assert result.verdict == "vacuous"
    assert result.certificate is None


@pytest.mark.parametrize("more", ["norm2(a) <= 1/3", "norm(a) >= 1/2"])
def test_what_can_hold_is_not_vacuous(more: str, tmp_path: Path) -> None:
    result = examine(replace(VECTOR, assuming=(*VECTOR.assuming, more)), quick=True, out=tmp_path)
    assert result.verdict in ("supported", "proved")
