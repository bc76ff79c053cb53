"""Certificates and numbers in words for a reader."""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from theory.typeset import GREEK, SQUARES
from validate.certificate.exact_text import SUPERSCRIPTS
from validate.verdict import BEYOND

if TYPE_CHECKING:
    from theory.claim import Claim

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
LOWERED = str.maketrans("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
"""Letters below the line, as far as Unicode has them."""

LAMDA = {"lam": "lamda", "lambda": "lamda"}  # as Unicode spells it


class Side(NamedTuple):
    """One side of what a certificate refutes: what it is, set or in words, and its value."""

    name: Markup
    value: str

    @property
    def short(self) -> str:
        """The exact value alone where it is shown, else the decimal."""
        return self.value.split(" ≈ ")[0]


def letter(name: str) -> str:
    """A parameter's name as a reader writes it.

    Example:
        >>> [letter(name) for name in ("delta", "eta_l", "beta1", "sigma2", "lam", "eps", "theta_max", "bias")]
        ['δ', 'ηₗ', 'β₁', 'σ²', 'λ', 'eps', 'θₘₐₓ', 'bias']
    """
    found = re.fullmatch(rf"({GREEK.pattern}|lam)(\d*)(_\w+)?", name)
    if not found:
        return name
    word, digits, index = found.groups()
    case = "SMALL" if word.islower() else "CAPITAL"
    sign = unicodedata.lookup(f"GREEK {case} LETTER {LAMDA.get(word.lower(), word)}")
    above = digits == "2" and word in SQUARES
    low = (index or "")[1:].translate(LOWERED)
    below = index or "" if any(c.isascii() for c in low) else low
    return sign + digits.translate(SUPERSCRIPTS if above else SUBSCRIPTS) + below


def called(claim: Claim) -> str:
    """What a claim is, and its number: "Theorem V.1 (7)", "Lemma 4", "Equation (A.24)"; its title where it has none."""
    kind, number = claim.kind.capitalize(), claim.equation
    if not number:
        return f"{kind}: {claim.title or claim.label}"
    if not number.startswith("("):
        return number[:1].upper() + number[1:]
    named = re.search(rf"(?<!of )\b{kind} [\w.]*\w", claim.source)
    return f"{named.group() if named else kind} {number}"


def equal(value: Any) -> str:
    """ "= value", or "≈ decimal" where the exact value is long."""
    if isinstance(value, list):
        inner = [equal(v).removeprefix("= ") for v in value[:4]] + (["…"] if len(value) > 4 else [])
        return f"= ({', '.join(inner)})"
    text = str(value)
    if len(text) <= 16:
        return f"= {text.replace('-', '−')}"
    return f"≈ {fraction(text).split('≈')[-1].strip()}"


def number(value: float | None, digits: int = 3) -> str:
    """A number for readers: three significant digits, powers of ten outside 1e-3..1e5, "–" for none."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "not a number"
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)
    if value == float(f"1e{power}") and not -3 <= power < 5:
        return f"10{str(power).translate(SUPERSCRIPTS)}"
    if -3 <= power < 5:
        text = f"{float(f'{value:.{digits - 1}e}'):.{max(digits - 1 - power, 0)}f}"
        return text.replace("-", "−")
    return f"{mantissa}×10{str(power).translate(SUPERSCRIPTS)}".replace("-", "−")


def ratio(value: float | None) -> str:
    """left / right for readers; beyond `validate.verdict.BEYOND` only that."""
    return f"> {number(BEYOND)}" if value is not None and BEYOND < value < math.inf else number(value)


SHORT_DECIMAL = 8
"""Characters."""


def fraction(text: str | None, digits: int = 4) -> str:
    """An exact value as ``p/q ≈ decimal``, a short decimal as it is; a long one only as ``≈ decimal``."""
    if text is None:
        return "–"
    try:
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError):
        return text
    if exact.denominator == 1 and len(text) <= 12:
        return text.replace("-", "−")
    try:
        decimal = number(float(exact), digits)
    except OverflowError:
        return "beyond 10³⁰⁸" if exact > 0 else "below −10³⁰⁸"
    if "/" not in text:
        return text.replace("-", "−") if len(text) <= SHORT_DECIMAL else f"≈ {decimal}"
    return f"{text.replace('-', '−')} ≈ {decimal}" if len(text) <= 16 else f"≈ {decimal}"


def slug(text: str) -> str:
    """An id for HTML."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def finite(value: Any) -> Any:
    """JSON data with the numbers that JSON does not have (inf, nan) as null."""
    if isinstance(value, dict):
        return {str(k): finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
