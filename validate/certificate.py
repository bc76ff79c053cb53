"""Certificates: a claim refuted by an instance in exact rationals, as JSON that a stand-alone program re-checks.

This layer only writes down what its caller found; `validate.verifier` decides whether it is true, with code of its
own. The caller's exact values (from `sim.exact` and `theory.evaluate`) are printed in the certificate, so that a
certificate is valid only if the oracle and the verifier agree to the last digit.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate import verifier
from validate.scenario import rational
from validate.verifier import FormatError, Report

Number = Fraction | int | str
Certificate = dict[str, Any]

_DIGITS = verifier.MAX_TEXT
_TEXTS = ("algorithm", "aggregation", "empty", "name")
_COUNTS = ("S", "M", "K", "local_steps")


def as_text(value: Number, name: str) -> str:
    """An exact number as ``"p/q"``.

    Args:
        value: a Fraction, an integer, or text such as ``"-3/8"`` or ``"0.25"``.
        name: what it is, for the message.

    Raises:
        ValueError: for a float (not exact), for other text, or for a number of more than 4,000 digits.
    """
    if isinstance(value, bool) or not isinstance(value, Fraction | int | str):
        raise ValueError(f"{name}={value!r} is not exact: give a Fraction, an integer or text such as '1/8'")
    try:
        exact = Fraction(value)
        if max(abs(exact.numerator), exact.denominator) >= 10**_DIGITS:
            raise ValueError(f"{name} has more than {_DIGITS} digits: take a smaller instance")
    except ZeroDivisionError:
        raise ValueError(f"{name}={value!r} divides by zero") from None
    return str(exact)


def _instance(spec: Mapping[str, Any], leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """The specification with every number exact and as text."""
    if not isinstance(spec, Mapping) or "clients" not in spec:
        raise ValueError(f"spec={spec!r} is not a specification with clients")

    def exact(value: Any, name: str) -> Any:
        if isinstance(value, list | tuple):
            return [exact(v, name) for v in value]
        return as_text(rational(value, name), name)

    def one_or_more(value: Any, name: str) -> list[str]:
        return exact(value if isinstance(value, list | tuple) else [value], name)

    result: dict[str, Any] = {}
    for key, value in spec.items():
        if key in leave_out:
            continue
        if key == "clients":
            result[key] = [
                {"h": one_or_more(c["h"], "h"), "a": one_or_more(c["a"], "a"), "p": exact(c.get("p", 1), "p")}
                for c in value
            ]
        elif key in _TEXTS:
            result[key] = str(value)
        elif key in _COUNTS:
            result[key] = int(as_text(rational(value, key), key))
        else:
            result[key] = exact(value, key)
    return result


def _hypotheses(claim: Claim, silent: bool) -> list[dict[str, Any]]:
    """The claim's hypotheses; those that its proof uses silently only when asked for."""
    result = []
    for h in claim.hypotheses:
        if not (h.printed or silent):
            continue
        item: dict[str, Any] = {
            "name": h.name,
            "assumption": None if h.assumption is None else type(h.assumption).__name__,
            "relation": h.relation,
        }
        for extra in ("constant", "of"):
            if hasattr(h.assumption, extra):
                item[extra] = getattr(h.assumption, extra)
        result.append(item)
    return result


def _head(
    claim: Claim, kind: str, instance: dict[str, Any], parameters: Mapping[str, Number], silent: bool, note: str
) -> Certificate:
    names = [p.name for p in claim.parameters]
    unknown = [name for name in parameters if name not in (*names, *verifier.PARAMETERS, "eps")]
    if unknown:
        raise ValueError(
            f"parameters={unknown} are neither parameters of {claim.id} nor known to the verifier: {names}"
        )
    head: Certificate = {
        "format": verifier.FORMAT,
        "kind": kind,
        "claim": claim.id,
        "statement": claim.statement,
        "instance": instance,
        "parameters": {name: as_text(value, name) for name, value in parameters.items()},
        "hypotheses": _hypotheses(claim, silent),
    }
    return {**head, "note": note} if note else head


def instance_certificate(
    claim: Claim,
    spec: Mapping[str, Any],
    index: Mapping[str, int],
    parameters: Mapping[str, Number],
    left: Fraction | int,
    right: Fraction | int | None = None,
    *,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"instance"``: ``left relation right`` fails on one instance.

    Args:
        claim: the claim as printed; its quantity, relation, right side and definitions are copied.
        spec: the instance, as for ``fedproof moments`` (one dimension; exact numbers).
        index: the indices k, n, s, m at which the quantity and the parameters are taken; only those needed.
        parameters: the claim's parameters, exact.
        left: the quantity's exact value, from the oracle.
        right: the right side's exact value; by default from `theory.evaluate.exact`.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when the claim has no formula, a name is not among its parameters, or a number is not exact.
    """
    if claim.right is None:
        raise ValueError(f"claim={claim.id!r} has no right side, so no instance certificate")
    if right is None:
        from theory.evaluate import exact

        right = exact(claim, {name: Fraction(value) for name, value in parameters.items()})
    return {
        **_head(claim, "instance", _instance(spec), parameters, silent, note),
        "relation": claim.relation,
        "left": {"quantity": claim.quantity.name, "index": dict(index)},
        "right": claim.right,
        "definitions": dict(claim.definitions),
        "left_value": as_text(left, "left"),
        "right_value": as_text(right, "right"),
    }


def fixed_point_certificate(
    claim: Claim,
    spec: Mapping[str, Any],
    squared_gradient_norm: Fraction | int,
    minimiser: Fraction | int,
    parameters: Mapping[str, Number],
    *,
    compare: bool = False,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"fixed-point"``: nothing changes for ever, away from the optimum.

    Args:
        claim: the claim as printed, about a limit or a rate for every K.
        spec: an instance without chance whose ``theta0`` one round maps to itself; K is ignored.
        squared_gradient_norm: ||grad f(theta0)||^2, which is not 0.
        minimiser: x* of f.
        parameters: the claim's parameters, exact; K among them if `compare`.
        compare: also claim that the squared gradient norm exceeds the claim's right side at that K.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: as for `instance_certificate`.
    """
    certificate = _head(claim, "fixed-point", _instance(spec, ("K",)), parameters, silent, note)
    certificate["fixed_point"] = as_text(spec["theta0"], "theta0")
    certificate["squared_gradient_norm"] = as_text(squared_gradient_norm, "squared_gradient_norm")
    certificate["minimiser"] = as_text(minimiser, "minimiser")
    if compare:
        about_gradients = claim.quantity.name in ("mean_squared_gradient_norm", "squared_gradient_norm")
        if claim.right is None or "K" not in parameters or not about_gradients:
            raise ValueError(f"compare=True needs a bound on the gradient in {claim.id}, and the parameter K")
        certificate["right"] = claim.right
    if claim.definitions:
        certificate["definitions"] = dict(claim.definitions)
    return certificate


def order_certificate(
    claim: Claim,
    spec: Mapping[str, Any],
    claimed_exponent: Number,
    epsilon: Number,
    parameters: Mapping[str, Number] | None = None,
    *,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"order"``: along delta = K^-epsilon the left side is not O(K^-claimed_exponent).

    On a family with S = M = 1 and one sample a client, started at the minimiser x*, the second moment of theta - x*
    obeys m_{k+1} = A m_k + B with A and B polynomials in delta. The mean squared gradient norm over K rounds is at
    least curvature^2 B/(1-A) (1 - 1/(K(1-A))), which is of the order of delta, whereas K^-claimed_exponent is
    smaller. K runs over the powers j^q that make everything rational in j.

    Args:
        claim: the claim as printed.
        spec: the instance without ``step`` and ``K`` (ignored); ``theta0`` defaults to x*.
        claimed_exponent: a of the claimed O(K^-a).
        epsilon: eps of the schedule delta = K^-eps.
        parameters: of the claim, exact, where the verifier is to check them (K and delta vary, so not those).
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when the family does not refute the order, or no constant on the grid proves that it does.
    """
    claimed, eps = Fraction(as_text(claimed_exponent, "claimed_exponent")), Fraction(as_text(epsilon, "epsilon"))
    if eps <= 0 or claimed <= eps:
        raise ValueError(f"epsilon={eps} is outside (0, claimed_exponent={claimed}): on this family the order holds")
    instance = _instance(spec, ("step", "K"))
    clients = [(Fraction(c["h"][0]), Fraction(c["a"][0]), Fraction(c["p"])) for c in instance["clients"]]
    number = len(clients)
    curvature = sum((h for h, _, _ in clients), Fraction(0)) / number
    if curvature <= 0:
        raise ValueError(f"the curvature {curvature} of f is outside (0, inf)")
    minimiser = sum((h * a for h, a, _ in clients), Fraction(0)) / number / curvature
    instance.setdefault("theta0", str(minimiser))
    # theta+ - x* = e - delta sum_n c_n h_n (e + x* - a_n), with E c_n = 1/N and Var c_n = (1/p_n - 1)/N^2
    variances = [(1 / p - 1) / number**2 * h**2 for h, _, p in clients]
    square = curvature**2 + sum(variances, Fraction(0))
    noise = sum((v * (minimiser - a) ** 2 for v, (_, a, _) in zip(variances, clients, strict=True)), Fraction(0))
    base = lcm(claimed.denominator, eps.denominator)
    certificate = _head(claim, "order", instance, parameters or {}, silent, note)
    certificate.update(
        claimed_exponent=str(claimed),
        epsilon=str(eps),
        base=base,
        contraction=[as_text(v, "contraction") for v in (1, -2 * curvature, square)],
        noise=[as_text(v, "noise") for v in (0, 0, noise)],
        growth=int(base * (claimed - eps)),
    )
    if noise == 0:
        raise ValueError("the clients' participation makes no noise at x*: the family does not refute the order")
    failed = ""
    limit = curvature * noise / 2  # of the mean squared gradient norm over delta, as delta -> 0
    for part in ("1/2", "1/4", "1/16"):
        for start in (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256):
            candidate = {**certificate, "constant": as_text(limit * Fraction(part), "constant"), "from": start}
            report = verifier.verify(candidate)
            if report.valid:
                return candidate
            failed = _failures(report)
    raise ValueError(f"no constant on the grid proves that the order fails: {failed}")


def _failures(report: Report) -> str:
    return "; ".join(line.removeprefix("FAIL").strip() for line in report.lines if line.startswith("FAIL"))


def verify(certificate: Certificate | str | Path) -> Report:
    """Checks a certificate, or the file of one, with the stand-alone verifier.

    Raises:
        FormatError: (a ValueError) when it cannot be read or is malformed.
    """
    return verifier.verify(read(certificate) if isinstance(certificate, str | Path) else certificate)


def read(path: str | Path) -> Certificate:
    """Reads a certificate; nothing in it is executed.

    Raises:
        FormatError: (a ValueError) when the file cannot be read or is not JSON of an object.
    """
    data = verifier.load(str(path))
    if not isinstance(data, dict):
        raise FormatError(f"{path} is not a certificate")
    return data


def write(certificate: Certificate, directory: str | Path, name: str | None = None) -> Path:
    """Writes a valid certificate, and the verifier beside it as ``verify.py``.

    Args:
        certificate: as made by the functions above.
        directory: where to; made if need be.
        name: the file's stem; by default the claim's id with ``/`` as ``.``.

    Returns:
        The path of the JSON file.

    Raises:
        ValueError: when the certificate is malformed or not valid; nothing is written then.
    """
    report = verifier.verify(certificate)
    if not report.valid:
        raise ValueError(f"the certificate for {certificate['claim']} is not valid: {_failures(report)}")
    stem = name if name is not None else certificate["claim"].replace("/", ".")
    if not stem or stem.startswith(".") or not all(c.isascii() and (c.isalnum() or c in ".-_") for c in stem):
        raise ValueError(f"name={stem!r} is not a file name of letters, digits, '.', '-' and '_'")
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.json"
    path.write_text(json.dumps(certificate, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(Path(verifier.__file__), folder / "verify.py")
    return path


def differences(certificate: Certificate, claim: Claim) -> tuple[str, ...]:
    """The fields in which a certificate departs from the claim that it says it refutes.

    The verifier cannot know the printed claim; the catalogue does. Empty when statement, formula, definitions,
    relation, quantity and printed hypotheses are those of the claim.
    """
    found = []
    expected: dict[str, Any] = {"claim": claim.id, "statement": claim.statement}
    if "right" in certificate:
        expected |= {"right": claim.right, "definitions": dict(claim.definitions)}
    if certificate.get("kind") == "instance":
        expected["relation"] = claim.relation
        if certificate["left"]["quantity"] != claim.quantity.name:
            found.append("left")
    found += [key for key, value in expected.items() if certificate.get(key) != value]
    listed = certificate.get("hypotheses", [])
    if any(h not in listed for h in _hypotheses(claim, silent=False)):
        found.append("hypotheses")
    return tuple(found)
