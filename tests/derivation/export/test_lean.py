"""Derivations as files for Lean: their text; no Lean is asked."""

import pytest

from tests.derivation.export import derivations
from theory.derivation.export import NotExportedError, lean


def test_a_lemma_about_vectors():
    one, written = derivations.small()[1]
    text = lean.theorem(one, written)
    assert one.statement in text
    assert "(c_low : 0 < c)" in text
    assert "ip (add a b) (add a b) ≤ (1 + c) * ip a a + (1 + 1 * c⁻¹) * ip b b := by" in text
    assert "sorry" not in text


def test_what_is_not_exported_is_said():
    one, written = derivations.small()[4]
    with pytest.raises(NotExportedError, match="functions"):
        lean.theorem(one, written)
