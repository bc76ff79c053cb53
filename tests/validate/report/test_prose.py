"""Formulas within the sentences of the report."""

import pytest

from theory.catalog import claims
from validate.report.prose import prose


def plain(text: str) -> str:
    """Without italics."""
    return prose(text).replace("<i>", "").replace("</i>", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("beta1**2 <= beta2", "β₁² ≤ β₂"),
        ("||grad f_i(y2)||^2 at x^{t-1}", "‖∇f<sub>i</sub>(y2)‖² at x<sup>t-1</sup>"),
        ("E(norm2(x[k+1] - x0)) == 3/(16*H*L)", "E(‖x<sup>k+1</sup> - x0‖²) = 3/(16·H·L)"),
        ("f = x^2/2, of order K^-2/3", "f = x²/2, of order K<sup>-2/3</sup>"),
        ("sum_j(alpha_j) < lam_max", "Σ<sub>j</sub>(α<sub>j</sub>) &lt; λ<sub>max</sub>"),
        ("exp(-T_a/kappa_g)", "exp(-T<sub>a</sub>/κ<sub>g</sub>)"),
        ("sqrt(S/T)", "√(S/T)"),
        ("a proof’s sum: `x-2`, lemma-a1/b", "a proof’s sum: <code>x-2</code>, lemma-a1/b"),
        ("A.3 of Lemma 11 (b), the mean and the max", "A.3 of Lemma 11 (b), the mean and the max"),
        ("bounded_variance(sigma2), <b>", "bounded_variance(σ²), &lt;b&gt;"),
    ],
)
def test_a_formula_in_a_sentence_is_set(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_words_stay_words_and_letters_are_set_in_italics() -> None:
    assert prose("a step of d coordinates") == "a step of <i>d</i> coordinates"


def test_nothing_of_a_remark_is_lost() -> None:
    """Digits, and words of five letters and more that are no names, in their order."""
    import re

    for c in claims():
        for remark in c.remarks:
            shown = re.sub(r"<[^>]*>", "", prose(remark)).replace("²", "2").replace("³", "3")
            shown = shown.translate(str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789"))
            kept = [word for word in re.findall(r"[A-Za-z]{7,}", remark) if word not in ("epsilon", "upsilon")]
            assert [w for w in re.findall(r"[A-Za-z]{7,}", shown) if w in kept] == kept, (c.id, remark, shown)
            before, after = (re.findall(r"\d", one) for one in (remark.replace("norm2", "norm"), shown))
            assert len(after) >= len(before) - remark.count("norm2"), (c.id, remark, shown)
