"""Certificates about open federated learning systems: a chain of steps, finitely many outcomes, runs of Adam."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from validate.certificate.parts import Certificate, Number, about, as_decimal, as_text, named_numbers


def chain_certificate(
    claim: Claim,
    function: Mapping[str, Number],
    eta: Number,
    r: Number,
    sigma2: Number,
    start: Number,
    noise: Mapping[Number, Sequence[tuple[Number, Number]]],
    steps: int,
    left: Number,
    *,
    R: Number | None = None,
    R2: Number | None = None,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"chain"``: one-step stability at R holds, and yet E (x^steps)^2 > R^2.

    SGD in one dimension on f with f'(x) = L (x - minimiser) below the minimiser and mu (x - minimiser) above it.

    Args:
        claim: the claim as printed; its statement and hypotheses are copied.
        function: ``minimiser``, ``mu`` and ``L``.
        eta: the step size.
        r: the bound on the minimiser's norm.
        sigma2: the bound on the variance of the sampled gradient.
        start: x^0.
        noise: for every point that an iterate before the last one can take, the law of its next iterate as pairs
            (probability, next iterate).
        steps: the number of steps.
        left: E (x^steps)^2, exact, by the caller's own computation.
        R: the radius; either this,
        R2: or its square, where the radius is irrational.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when not exactly one of `R` and `R2` is given, or a number is not exact.
    """
    if (R is None) == (R2 is None):
        raise ValueError(f"R={R!r}, R2={R2!r}: give exactly one of them")
    radius = {"R": as_text(R, "R")} if R is not None else {"R2": as_text(R2 or 0, "R2")}
    square = Fraction(radius["R"]) ** 2 if R is not None else Fraction(radius["R2"])
    return {
        **about(claim, "chain", silent, note),
        "function": {key: as_text(function[key], key) for key in ("minimiser", "mu", "L")},
        "eta": as_text(eta, "eta"),
        **radius,
        "r": as_text(r, "r"),
        "sigma2": as_text(sigma2, "sigma2"),
        "start": as_text(start, "start"),
        "noise": [
            {
                "at": as_text(at, "at"),
                "outcomes": [[as_text(p, "probability"), as_text(x, "next iterate")] for p, x in outcomes],
            }
            for at, outcomes in noise.items()
        ],
        "steps": steps,
        "left_value": as_text(left, "left"),
        "right_value": as_text(square, "R^2"),
    }


def finite_certificate(
    claim: Claim,
    outcomes: Sequence[Mapping[str, Any]],
    R2: Number,
    left: Number,
    *,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"finite"``: E||x_i||^2 <= R^2 for every client, but not for their weighted average.

    Args:
        claim: the claim as printed; its statement and hypotheses are copied.
        outcomes: everything that can happen, each with its probability ``p``, the clients' iterates ``x`` (for each
            client its coordinates) and the clients' ``weights``.
        R2: the squared radius.
        left: E||sum_i w_i x_i / sum_i w_i||^2, exact, by the caller's own computation.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when a number is not exact.
    """
    return {
        **about(claim, "finite", silent, note),
        "R2": as_text(R2, "R2"),
        "outcomes": [
            {
                "p": as_text(outcome["p"], "p"),
                "x": [[as_text(coordinate, "x") for coordinate in x] for x in outcome["x"]],
                "weights": [as_text(w, "weights") for w in outcome["weights"]],
            }
            for outcome in outcomes
        ],
        "left_value": as_text(left, "left"),
        "right_value": as_text(R2, "R2"),
    }


def open_adam_certificate(
    claim: Claim,
    algorithm: Mapping[str, Number],
    clients: Sequence[Mapping[str, Number]],
    start: Number,
    local_steps: int,
    selected: Sequence[int],
    client: int,
    parameters: Mapping[str, Number],
    left: Number | float,
    right: Number | float,
    *,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"open-adam"``: a line about Adam fails, at the step after a communication or elsewhere.

    All clients (d = 1, f_i(x) = h/2 (x - a)^2, no noise) take ``local_steps`` steps of Adam (3) from `start`, the
    `selected` ones are averaged, everybody continues from the average, and the line is tested at the next step of
    `client`; with nobody selected there is no communication. `validate.verifier.open_adam` says which x is x^k and
    which names a formula may use.

    Args:
        claim: the claim as printed; its quantity (one of `validate.verifier.open_adam.QUANTITIES`), relation, right
            side and definitions are copied.
        algorithm: ``eta``, ``beta1``, ``beta2`` and ``eps``.
        clients: each with ``h`` and ``a``.
        start: x^0, the same for all.
        local_steps: before the communication.
        selected: indices of the clients that are averaged.
        client: index of the client for which the claim is tested.
        parameters: the claim's parameters, exact; not the names that the run itself gives values to.
        left: the left side's value, by the caller's own computation; printed with ten significant digits.
        right: the right side's value, likewise.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when the claim has no right side, a name is unknown, or a number is not exact.
    """
    if claim.right is None:
        raise ValueError(f"claim={claim.id!r} has no right side, so no certificate of kind open-adam")
    return {
        **about(claim, "open-adam", silent, note),
        "algorithm": {key: as_text(algorithm[key], key) for key in ("eta", "beta1", "beta2", "eps")},
        "clients": [{key: as_text(item[key], key) for key in ("h", "a")} for item in clients],
        "start": as_text(start, "start"),
        "local_steps": local_steps,
        "selected": list(selected),
        "client": client,
        "parameters": named_numbers(claim, parameters, ("mu", "L", "sigma", "r", "d", *algorithm)),
        "left": {"quantity": claim.quantity.name},
        "relation": claim.relation,
        "right": claim.right,
        "definitions": dict(claim.definitions),
        "left_value": as_decimal(left, "left"),
        "right_value": as_decimal(right, "right"),
    }
