"""Certificates and numbers in words for a reader."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

from validate.verdict import BEYOND

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Side(NamedTuple):
    """One side of what a certificate refutes: what it is, and its value."""

    label: str
    value: str


def sides(certificate: dict[str, Any]) -> tuple[Side | None, Side | None]:
    """Both sides of what a certificate refutes, as text; None where it has none."""
    kind = certificate.get("kind")
    if kind == "fixed-point" and "squared_gradient_norm" in certificate:
        value = fraction(str(certificate["squared_gradient_norm"]))
        return Side("gradient norm², for ever", value), Side("claimed limit", "0")
    if kind == "order" and {"constant", "epsilon", "claimed_exponent"} <= certificate.keys():
        grows = f"{fraction(str(certificate['constant'])).split('≈')[-1].strip()}·K^(−{certificate['epsilon']})"
        return Side("left side, at least", grows), Side("claimed order", f"K^(−{certificate['claimed_exponent']})")
    if kind == "floor" and "rate" in certificate:
        return Side("left side, at least", "Kηₗ/4"), Side("claimed order", str(certificate["rate"]))
    left, right = certificate.get("left_value"), certificate.get("right_value")
    if left is None or right is None:
        return None, None
    return Side("left side", fraction(str(left))), Side("right side", fraction(str(right)))


def explanation(certificate: dict[str, Any]) -> str:
    """What else a reader needs to see why a certificate refutes its claim."""
    parts = []
    if certificate.get("kind") == "fixed-point" and {"fixed_point", "minimiser"} <= certificate.keys():
        parts.append(
            f"One round maps θ {equal(certificate['fixed_point'])} to itself, while the minimiser of f is "
            f"θ* {equal(certificate['minimiser'])}."
        )
    if certificate.get("kind") == "order" and {"epsilon", "base", "from"} <= certificate.keys():
        parts.append(
            f"With δ = K^(−{certificate['epsilon']}), for every K = j^{certificate['base']}, j ≥ {certificate['from']}."
        )
    if certificate.get("note"):
        parts.append(str(certificate["note"]))
    return " ".join(parts)


def described(certificate: dict[str, Any]) -> str:
    """The instance of a certificate in one or two lines, whatever its kind; empty where it has none."""
    spec = certificate.get("instance")
    if isinstance(spec, dict):
        return instance_in_words(spec)
    words = {
        "chain": _chain_in_words,
        "finite": _outcomes_in_words,
        "open-adam": _adam_in_words,
        "mixing": _mixing_in_words,
        "permutations": _epoch_in_words,
        "unrolled": _epoch_in_words,
        "products": _products_in_words,
        "relation": _relation_in_words,
    }
    describe = words.get(str(certificate.get("kind")))
    try:
        return describe(certificate) if describe is not None else ""
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):  # not what a certificate of this kind holds
        return ""


def _chain_in_words(certificate: dict[str, Any]) -> str:
    f = certificate["function"]
    centre = equal(f["minimiser"])
    radius = f"R {equal(certificate['R'])}" if "R" in certificate else f"R² {equal(certificate['R2'])}"
    return (
        f"SGD in one dimension, f′(x) = L(x − a) below a {centre} with L {equal(f['L'])}, μ(x − a) above it with "
        f"μ {equal(f['mu'])}; η {equal(certificate['eta'])}, gradient variance at most "
        f"{equal(certificate['sigma2']).removeprefix('= ')}, x⁰ {equal(certificate['start'])}. "
        f"One step from |x| ≤ R stays within {radius} in mean square, whatever the noise; "
        f"{certificate['steps']} steps do not."
    )


def _outcomes_in_words(certificate: dict[str, Any]) -> str:
    outcomes = certificate["outcomes"]
    first = outcomes[0]
    return (
        f"{many(len(first['x']), 'client')}, {many(len(outcomes), 'outcome')}; every client has E‖xᵢ‖² at most "
        f"{equal(certificate['R2']).removeprefix('= ')}, and the weights depend on the iterates."
    )


def _adam_in_words(certificate: dict[str, Any]) -> str:
    adam, clients = certificate["algorithm"], certificate["clients"]
    costs = "; ".join(
        f"f{str(i).translate(SUBSCRIPTS)} = {_square(str(c['h']), str(c['a'])).replace('θ', 'x')}"
        for i, c in enumerate(clients, start=1)
    )
    chosen = [str(i + 1) for i in certificate["selected"]]
    averaged = f", then the server averages {'clients' if len(chosen) > 1 else 'client'} {', '.join(chosen)}"
    return (
        f"{many(len(clients), 'client')} without noise: {costs}; Adam with η {equal(adam['eta'])}, "
        f"β₁ {equal(adam['beta1'])}, "
        f"β₂ {equal(adam['beta2'])}, ε {equal(adam['eps'])}; x⁰ {equal(certificate['start'])}, "
        f"{many(certificate['local_steps'], 'local step')}{averaged if chosen else ''}; "
        f"the next step of client {certificate['client'] + 1} breaks the claim."
    )


def _mixing_in_words(certificate: dict[str, Any]) -> str:
    functions = certificate["functions"]
    costs = "; ".join(
        f"h{str(j).translate(SUBSCRIPTS)} {equal(f['h'])}, b{str(j).translate(SUBSCRIPTS)} {equal(f['b'])}"
        for j, f in enumerate(functions, start=1)
    )
    rounds = int(certificate["rounds"])
    played = (
        f"{many(rounds, 'round')} of {many(certificate['local_steps'], 'gradient step')} of "
        f"{equal(certificate['step']).removeprefix('= ')} from w⁰ {equal(certificate['start'])}"
        if rounds
        else f"w {equal(certificate['start'])}"
    )
    tail = ""
    if "ratio" in certificate:
        tail = (
            " The terms with ζ̄ or δ² are 0; what is left of the right side tends to 0 with Tα, as "
            f"({certificate['ratio']})^Tα, and the left side does not."
        )
    return (
        f"{many(len(functions), 'client')} without noise, fⱼ(w) = ½hⱼw² − bⱼw: {costs}; n {equal(certificate['n'])}, "
        f"λ {equal(certificate['lam'])}, weights of client {int(certificate['client']) + 1}, Tα = "
        f"{certificate['weight_steps']}; {played}.{tail}"
    )


def _epoch_in_words(certificate: dict[str, Any]) -> str:
    """An epoch of shuffling local SGD, and what is asked of it."""
    clients = certificate["clients"]
    costs = ", ".join(
        f"h{str(j).translate(SUBSCRIPTS)} {equal(c['h'])}, b{str(j).translate(SUBSCRIPTS)} {equal(c['b'])}"
        for j, c in enumerate(clients, start=1)
    )
    steps = int(certificate["local_steps"])
    one = len(clients) == 1
    text = (
        f"{many(len(clients), 'client')}, fⱼ(v) = ½hⱼv² − bⱼv: {costs}; α {equal(certificate['alpha'])}, "
        f"η {equal(certificate['step'])}, "
        f"{many(steps, 'local step')}, start {equal(certificate['start']).removeprefix('= ')}"
    )
    if certificate["kind"] == "unrolled":
        noise = "; ".join(equal(own).removeprefix("= ") for own in certificate["noise"])
        return f"{text}; noise of the sampled gradients {noise}{'' if one else ', client by client'}."
    low, high = (equal(end).removeprefix("= ") for end in certificate["domain"])
    spread = certificate["noise"]
    noise = "" if str(spread) == "0" else f", gradients off by ±{equal(spread).removeprefix('= ')}"
    chance = certificate["parameters"].get("p")
    what = "the left side is its mean over the orders"
    if chance is not None:
        rest = 1 - Fraction(chance)
        p = equal(chance) if rest >= Fraction(1, 100) else f"= 1 − {number(float(rest))}"
        what = f"the left side is the (1−p)-quantile over the orders, p {p}"
    return f"{text}, W = [{low}, {high}]{noise}; {what}."


def _products_in_words(certificate: dict[str, Any]) -> str:
    given = certificate["parameters"]
    names = ("A", "B") if certificate["B"] else ("A",)
    matrices = "; ".join(f"{name}ₜ: {', '.join(_matrix(m) for m in certificate[name])}" for name in names)
    values = ", ".join(f"{name} {equal(given[name])}" for name in ("a", "b", "L", "l", "h"))
    return f"{matrices}; {values}."


def _relation_in_words(certificate: dict[str, Any]) -> str:
    values = ", ".join(f"{name} {equal(value)}" for name, value in certificate["parameters"].items())
    other = certificate["right"] if "right" in certificate else certificate["right_formula"]
    return f"{certificate['left']['formula']} {certificate['relation']} {other} is false at {values}."


def _matrix(rows: list[list[Any]]) -> str:
    """A number, or the rows in brackets."""
    texts = [[equal(x).removeprefix("= ") for x in row] for row in rows]
    return texts[0][0] if len(texts) == 1 else f"[{'; '.join(' '.join(row) for row in texts)}]"


def instance_in_words(spec: dict[str, Any]) -> str:
    """A scenario's specification (as for `fedproof moments`) in one line.

    Example:
        >>> instance_in_words({"clients": [{"h": ["1"], "a": ["0"], "p": "1"}], "step": "1/2", "S": 8, "M": 1, "K": 1,
        ...                    "theta0": "1"})
        'One client, f(θ) = ½θ², always present; δ = 1/2, S = 8, M = 1, K = 1, θ⁰ = 1.'
    """
    clients = [c for c in spec.get("clients", ()) if isinstance(c, dict)]
    kinds: list[tuple[str, list[int]]] = []
    for at, client in enumerate(clients, start=1):
        words = _client_in_words(client)
        same = next((indices for known, indices in kinds if known == words), None)
        if same is None:
            kinds.append((words, [at]))
        else:
            same.append(at)
    parts = []
    for words, indices in kinds:
        if len(clients) == 1:
            parts.append(f"One client, f(θ) = {words}")
        elif len(indices) == len(clients):
            parts.append(f"{len(clients)} equal clients, fₙ(θ) = {words}")
        else:
            who = ", ".join(f"f{str(i).translate(SUBSCRIPTS)}" for i in indices[:4])
            who += ", …" if len(indices) > 4 else ""
            parts.append(f"{who} = {words}")
    if len(kinds) > 1:
        parts[0] = f"{len(clients)} clients: {parts[0]}"
    names = {"step": "δ", "S": "S", "M": "M", "local_steps": "local steps", "K": "K", "theta0": "θ⁰"}
    values = [
        f"{name} {equal(spec[key])}".replace(" ", "\N{NO-BREAK SPACE}")
        for key, name in names.items()
        if key in spec and not (key in ("S", "M") and "local_steps" in spec)
    ]
    return f"{'; '.join([*parts, ', '.join(values)])}." if parts else f"{', '.join(values)}."


def _client_in_words(client: dict[str, Any]) -> str:
    samples = [_square(str(h), str(a)) for h, a in zip(client.get("h", ()), client.get("a", ()), strict=False)]
    kinds = list(Counter(samples).items())
    if len(kinds) == 1:
        words = kinds[0][0] + (f" ({len(samples)} equal samples)" if len(samples) > 1 else "")
    else:
        terms = [term if count == 1 else f"{count} times {term}" for term, count in kinds[:3]]
        words = f"mean of {', '.join(terms)}" + (f", … ({len(samples)} samples)" if len(kinds) > 3 else "")
    present = client.get("p", "1")
    return f"{words}, " + ("always present" if str(present) == "1" else f"present with p {equal(present)}")


def _square(h: str, a: str) -> str:
    """h/2 (θ − a)² in as few signs as it takes."""
    try:
        half = Fraction(h) / 2
    except (ValueError, ZeroDivisionError):
        return f"½·({h})·(θ − {a})²"
    if half == 0:
        return "0"
    signs = {Fraction(1, 2): "½", Fraction(1): "", Fraction(1, 4): "¼"}
    value = equal(half).removeprefix("= ")
    factor = signs.get(half, value if half.denominator == 1 else f"({value})·")
    centre = equal(a).removeprefix("= ")
    base = "θ" if centre == "0" else f"(θ + {centre[1:]})" if centre.startswith("−") else f"(θ − {centre})"
    return f"{factor}{base}²"


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


def fraction(text: str | None) -> str:
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
        decimal = number(float(exact), 4)
    except OverflowError:
        return "beyond 10³⁰⁸" if exact > 0 else "below −10³⁰⁸"
    if "/" not in text:
        return text.replace("-", "−") if len(text) <= SHORT_DECIMAL else f"≈ {decimal}"
    return f"{text.replace('-', '−')} ≈ {decimal}" if len(text) <= 16 else f"≈ {decimal}"


def many(count: Any, what: str) -> str:
    """``1 client``, ``2 clients``."""
    return f"{count} {what}{'s' * (str(count) != '1')}"


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
