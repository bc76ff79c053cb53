"""Certificates about an epoch of shuffling local SGD, its unrolled form, and products of matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theory.claim import Claim
from validate.certificate.parts import Certificate, Number, about, as_decimal, as_text, named_numbers

# Constants that a claim may lack as parameters and that its hypotheses are about.
CONSTANTS = ("mu", "L", "R", "G", "D", "delta", "delta2")


def _epoch(
    clients: Sequence[Mapping[str, Number]], alpha: Sequence[Number], step: Number, local_steps: int, start: Number
) -> dict[str, Any]:
    return {
        "clients": [{key: as_text(client[key], key) for key in ("h", "b")} for client in clients],
        "alpha": [as_text(a, "alpha") for a in alpha],
        "step": as_text(step, "step"),
        "local_steps": local_steps,
        "start": as_text(start, "start"),
    }


def permutations_certificate(
    claim: Claim,
    clients: Sequence[Mapping[str, Number]],
    alpha: Sequence[Number],
    step: Number,
    local_steps: int,
    start: Number,
    domain: tuple[Number, Number],
    parameters: Mapping[str, Number],
    left: Number,
    right: Number | float,
    *,
    noise: Number = 0,
    last: int | None = None,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"permutations"``: a bound on an epoch fails for too many orders of the clients.

    Args:
        claim: the claim as printed; its quantity, relation, right side and definitions are copied.
        clients: each with ``h`` and ``b``, f = h/2 v^2 - b v.
        alpha: one weight a client, a point of the simplex.
        step: eta.
        local_steps: K.
        start: v^r.
        domain: the ends of W.
        parameters: the claim's parameters, exact; also mu, L, R, G, D, delta, delta2, where its hypotheses need them.
        left: the (1-p)-quantile of the quantity over the orders (its mean, for a claim without p), exact, by the
            caller's own computation.
        right: the right side's value, likewise; printed with ten significant digits.
        noise: the spread e of the sampled gradients, f_j' + e or f_j' - e.
        last: N' of the quantity ``epoch_part``.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when the claim has no right side, a name is unknown, or a number is not exact.
    """
    if claim.right is None:
        raise ValueError(f"claim={claim.id!r} has no right side, so no certificate of kind permutations")
    return {
        **about(claim, "permutations", silent, note),
        **_epoch(clients, alpha, step, local_steps, start),
        "domain": [as_text(end, "domain") for end in domain],
        "noise": as_text(noise, "noise"),
        "parameters": named_numbers(claim, parameters, CONSTANTS),
        "left": {"quantity": claim.quantity.name, **({} if last is None else {"last": last})},
        "relation": claim.relation,
        "right": claim.right,
        "definitions": dict(claim.definitions),
        "left_value": as_text(left, "left"),
        "right_value": as_decimal(right, "right"),
    }


def unrolled_certificate(
    claim: Claim,
    clients: Sequence[Mapping[str, Number]],
    alpha: Sequence[Number],
    step: Number,
    local_steps: int,
    start: Number,
    noise: Sequence[Sequence[Number]],
    left: Number,
    right: Number,
    *,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"unrolled"``: a printed formula for the iterates does not give the iterates.

    Args:
        claim: Proposition 1 or Lemma 7 as printed; its quantity is copied.
        clients: in the order of their turns, each with ``h`` and ``b``, f = h/2 v^2 - b v.
        alpha: one weight a client.
        step: eta.
        local_steps: K.
        start: the first iterate.
        noise: what the sampled gradients are off by, for each client one number a local step.
        left: the iterate, exact, by the caller's own computation.
        right: what the formula gives, exact, likewise.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when a number is not exact.
    """
    return {
        **about(claim, "unrolled", silent, note),
        **_epoch(clients, alpha, step, local_steps, start),
        "noise": [[as_text(d, "noise") for d in own] for own in noise],
        "left": {"quantity": claim.quantity.name},
        "left_value": as_text(left, "left"),
        "right_value": as_text(right, "right"),
    }


def products_certificate(
    claim: Claim,
    A: Sequence[Sequence[Sequence[Number]]],
    parameters: Mapping[str, Number],
    left: Number | float,
    right: Number | float,
    *,
    B: Sequence[Sequence[Sequence[Number]]] = (),
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"products"``: the bound of Proposition 2 on products of matrices fails.

    Args:
        claim: the claim as printed; its relation, right side and definitions are copied.
        A: the symmetric matrices A_l .. A_h, of one or two dimensions.
        parameters: a, b, L, l and h, exact.
        left: the distance of the products, by the caller's own computation; printed with ten significant digits.
        right: the right side's value, likewise.
        B: the matrices B_l .. B_h; none where b = 0.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when the claim has no right side, a name is unknown, or a number is not exact.
    """
    if claim.right is None:
        raise ValueError(f"claim={claim.id!r} has no right side, so no certificate of kind products")

    def texts(matrices: Sequence[Sequence[Sequence[Number]]], name: str) -> list[Any]:
        return [[[as_text(x, name) for x in row] for row in matrix] for matrix in matrices]

    return {
        **about(claim, "products", silent, note),
        "A": texts(A, "A"),
        "B": texts(B, "B"),
        "parameters": named_numbers(claim, parameters),
        "left": {"quantity": claim.quantity.name},
        "relation": claim.relation,
        "right": claim.right,
        "definitions": dict(claim.definitions),
        "left_value": as_decimal(left, "left"),
        "right_value": as_decimal(right, "right"),
    }
