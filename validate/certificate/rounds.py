"""Certificates about rounds of FedAvg-SVRG and local SGD: an instance, a fixed point, an order."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any

from theory.claim import Claim
from validate import verifier
from validate.certificate.parts import Certificate, Number, about, as_text, failures, meanings, named_numbers
from validate.scenario import rational

_TEXTS = ("algorithm", "aggregation", "empty", "name")
_COUNTS = ("S", "M", "K", "local_steps")


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


def _head(
    claim: Claim, kind: str, instance: dict[str, Any], parameters: Mapping[str, Number], silent: bool, note: str
) -> Certificate:
    numbers = named_numbers(claim, parameters, (*verifier.PARAMETERS, "eps"))
    return {**about(claim, kind, silent, note), "instance": instance, "parameters": numbers}


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
    names = meanings(claim, parameters)
    return {
        **_head(claim, "instance", _instance(spec), parameters, silent, note),
        **({"names": names} if names else {}),
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
    names = meanings(claim, parameters)
    certificate |= {"names": names} if names else {}
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
            failed = failures(report)
    raise ValueError(f"no constant on the grid proves that the order fails: {failed}")
