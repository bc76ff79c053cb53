"""The scalar moments of FedAvg-SVRG for many instances at once, in torch, so that claims can be differentiated.

A second implementation of what `sim.exact` computes, for one dimension and one structure (N, n, S, M, K), and of what
the claims of Rostami and Kia read off it. It proposes; what it finds is decided by the oracle. Everything is float64,
with axes (B, K, N, S, M) for the quantities, B instances, of size 1 where an index does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from theory.assumptions import Convex, Smooth, StronglyConvex
from theory.claim import Claim
from theory.formula import fold, parse, parse_relation
from validate.search.scoring import INFEASIBLE, NEGLIGIBLE
from validate.search.space import Point, Structure

Tensor = Any


class UnsupportedError(ValueError):
    """The claim speaks of something that has no counterpart here."""


class Run:
    """The moments of B instances; the attributes are named as the claims' parameters.

    Args:
        structure: N, n, S, M, K; FedAvg-SVRG.
        point: ``h`` and ``a`` (B, N, n), ``p`` (B, N), ``step`` and ``start`` (B,), torch float64; see
            `validate.search.space.Structure.decode`.
    """

    def __init__(self, structure: Structure, point: Point) -> None:
        import torch

        self.structure = structure
        self.h, step = point["h"], point["step"]
        B, N = self.h.shape[:2]
        S, M, K = structure.snapshots, structure.inner, structure.rounds
        self.step = step
        self.p = point["p"] if "p" in point else torch.ones(B, N, dtype=torch.float64)
        self.curvature = self.h.mean(-1)
        mean = self.curvature.mean(-1)
        self.mean_curvature = mean
        beta = (self.h * point["a"]).mean((-1, -2))
        # Coordinates around the minimiser of f, so that what converges keeps its digits.
        centre = torch.where(mean > 1e-9, beta / torch.where(mean > 1e-9, mean, 1.0), 0.0)
        a = point["a"] - centre[:, None, None]
        linear = (self.h * a).mean(-1)
        beta = linear.mean(-1)
        self.offset = (self.h * a * a).mean((-1, -2)) / 2
        contraction = 1 - step[:, None] * self.curvature
        slopes, shifts = [torch.ones_like(contraction)], [torch.zeros_like(contraction)]
        for _ in range(S * M):
            slopes.append(contraction * slopes[-1])
            shifts.append(contraction * shifts[-1] + step[:, None] * linear)
        slope, shift = torch.stack(slopes, -1), torch.stack(shifts, -1)  # (B, N, T + 1)
        if structure.stationary:
            moved = (1 - slope[..., -1]).sum(-1)
            start = shift[..., -1].sum(-1) / torch.where(moved.abs() > 1e-12, moved, 1.0)
        else:
            start = point["start"] - centre
        first, second = start, start * start
        rows: dict[str, list[Tensor]] = {name: [] for name in ("v", "inner", "local", "gradient", "cost", "aggregate")}
        h = self.curvature[..., None]
        local_centre = linear / torch.where(self.curvature.abs() > 1e-12, self.curvature, 1.0)
        residual = h * shift[..., :-1] - linear[..., None]
        snapshot = (torch.arange(S * M) // M) * M
        for _ in range(K):
            m1, m2 = first[:, None, None], second[:, None, None]

            def square(u: Tensor, v: Tensor, m1: Tensor = m1, m2: Tensor = m2) -> Tensor:
                """E (u theta + v)^2."""
                return u * u * m2 + 2 * u * v * m1 + v * v

            before, ahead = slope[..., :-1], shift[..., :-1]
            carried = square(before - slope[..., snapshot], ahead - shift[..., snapshot])
            covariance, noise, last = self._noise(carried, contraction, M)
            big, b = mean[:, None, None], beta[:, None, None]
            rows["v"].append(square(h * before, residual) + h * h * covariance + noise)
            rows["inner"].append(
                big * h * before * m2 + (big * residual - b * h * before) * m1 - b * residual.expand_as(before)
            )
            rows["local"].append(h / 2 * (square(before, ahead - local_centre[..., None]) + covariance))
            rows["gradient"].append(square(big, -b)[:, 0, 0])
            rows["cost"].append(mean / 2 * second - beta * first)
            dg, dc = slope[..., -1] - 1, shift[..., -1]
            average_g, average_c = dg.mean(-1), dc.mean(-1)
            spread = square(dg[..., None], dc[..., None])[..., 0]
            move = square(average_g[:, None, None], average_c[:, None, None])[:, 0, 0]
            move = move + ((1 / self.p - 1) * spread + last / self.p).sum(-1) / N**2
            rows["aggregate"].append(move * N**2 / step**2)
            first, second = (
                first + average_g * first + average_c,
                second + 2 * (average_g * second + average_c * first) + move,
            )
        rows["cost"].append(mean / 2 * second - beta * first)
        shape = (B, K, N, S, M)
        self.v, self.inner, self.local = (torch.stack(rows[r], 1).reshape(shape) for r in ("v", "inner", "local"))
        # In exact arithmetic these are not negative.
        self.local = self.local.clamp(min=0)
        self.gradient, self.relative_cost, self.aggregate = (
            torch.stack(rows[r], 1)[:, :, None, None, None] for r in ("gradient", "cost", "aggregate")
        )
        steps = self.v.reshape(B, K, N, 1, S * M)
        self.since_snapshot = torch.cumsum(self.v, -1) - self.v
        self.since_start = (torch.cumsum(steps, -1) - steps).reshape(shape)
        self.lexicographic = torch.arange(S * M, dtype=torch.float64).reshape(S, M)
        self.inverse_p = 1 / self.p[:, None, :, None, None]

    def _noise(self, carried: Tensor, contraction: Tensor, inner: int) -> tuple[Tensor, Tensor, Tensor]:
        """Covariance of w given theta and of v given the past, (B, N, T); the former after the last step, (B, N)."""
        import torch

        zero = torch.zeros_like(carried[..., 0])
        if self.structure.samples == 1:
            return torch.zeros_like(carried), torch.zeros_like(carried), zero
        variance = ((self.h - self.curvature[..., None]) ** 2).mean(-1)
        now = at_snapshot = cross = zero
        covariances, noises = [], []
        for t in range(carried.shape[-1]):
            if t % inner == 0:
                at_snapshot = cross = now
            noises.append(variance * (carried[..., t] + now + at_snapshot - 2 * cross))
            covariances.append(now)
            cross = contraction * cross
            now = contraction**2 * now + self.step[:, None] ** 2 * noises[-1]
        return torch.stack(covariances, -1), torch.stack(noises, -1), now


def _per_instance(value: Tensor) -> Tensor:
    return value.reshape(-1, 1, 1, 1, 1)


def _all(value: Tensor) -> Tensor:
    return value.sum((1, 2, 3, 4), keepdim=True)


def _round(value: Tensor) -> Tensor:
    return value.sum((2, 3, 4), keepdim=True)


def _index(axis: int) -> Callable[[Run], Tensor]:
    def find(run: Run) -> Tensor:
        import torch

        shape = [1] * 5
        shape[axis] = run.v.shape[axis]
        return torch.arange(run.v.shape[axis], dtype=torch.float64).reshape(shape)

    return find


def _cost(run: Run) -> Tensor:
    return run.relative_cost + _per_instance(run.offset)


QUANTITIES: Mapping[str, Callable[[Run], Tensor]] = {
    "mean_squared_gradient_norm": lambda r: r.gradient.mean(1, keepdim=True),
    "expected_next_cost": lambda r: _cost(r)[:, 1:],
    "scaled_aggregate": lambda r: (
        r.aggregate * _per_instance(r.step**2 * r.curvature.abs().amax(-1)) / (2 * r.structure.clients**2)
    ),
    "negative_inner_product": lambda r: -_per_instance(r.step) * r.inner.mean(2, keepdim=True),
    "estimator_second_moment": lambda r: r.v,
    "local_suboptimality": lambda r: r.local,
    "mean_local_suboptimality": lambda r: r.local.mean(-1, keepdim=True),
    "drift": lambda r: r.since_snapshot,
}
PARAMETERS: Mapping[str, Callable[[Run], Tensor | int]] = {
    "delta": lambda r: _per_instance(r.step),
    "mu": lambda r: _per_instance(r.curvature.amin(-1)),
    "K": lambda r: r.structure.rounds,
    "S": lambda r: r.structure.snapshots,
    "M": lambda r: r.structure.inner,
    "N": lambda r: r.structure.clients,
    "k": _index(1),
    "s": _index(3),
    "m": _index(4),
    "f0_gap": lambda r: r.relative_cost[:, :1],
    "f_drop": lambda r: r.relative_cost[:, :1] - r.relative_cost[:, -1:],
    "drift_sum": lambda r: _all(r.since_snapshot),
    "lexicographic_drift_sum": lambda r: _all(r.since_start * r.lexicographic),
    "weighted_sum": lambda r: _all(r.v * r.inverse_p),
    "mean_inv_p": lambda r: r.inverse_p.mean(2, keepdim=True),
    "sum_inv_p": lambda r: r.inverse_p.sum(2, keepdim=True),
    "G2": lambda r: r.v.amax((1, 2, 3, 4), keepdim=True),
    "D": lambda r: r.local[..., :1, :1].amax((1, 2), keepdim=True),
    "cost": lambda r: _cost(r)[:, :-1],
    "squared_gradient_norm": lambda r: r.gradient,
    "inner_product_sum": lambda r: _round(r.inner) / r.structure.clients,
    "aggregate_second_moment": lambda r: r.aggregate,
    "weighted_round": lambda r: _round(r.v * r.inverse_p),
    "drift_round": lambda r: r.since_snapshot.sum(2, keepdim=True),
    "lexicographic_drift_round": lambda r: r.since_start.sum(2, keepdim=True),
    "weighted_drift_round": lambda r: _round(r.since_start * r.lexicographic),
    "full_drift_round": lambda r: _round(r.v) * r.structure.inner,
    "local_gap": lambda r: r.local,
    "snapshot_gap": lambda r: r.local[..., :1],
    "start_gap": lambda r: r.local[..., :1, :1],
}
# Parameters that exist only where f, or every f_n, has a minimum.
NEED_MINIMUM = frozenset({"f0_gap"})
NEED_MINIMA = frozenset({"local_gap", "snapshot_gap", "start_gap", "D"})


def supports(claim: Claim, structure: Structure) -> bool:
    """Whether `sides` knows everything that the claim speaks of."""
    known = claim.quantity.name in QUANTITIES and all(p.name in PARAMETERS or p.name == "L" for p in claim.parameters)
    usual = structure.algorithm == "fedavg-svrg" and structure.aggregation == "unbiased"
    usual = usual and not (structure.alike or structure.copies)
    return claim.right is not None and known and usual and claim.relation != "="


def sides(claim: Claim, structure: Structure, point: Point, rounds: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Both sides of a claim on B instances, and by how much its hypotheses are violated.

    Args:
        claim: a claim that `supports` accepts.
        structure: of all the instances.
        point: from `validate.search.space.Structure.decode`, torch.
        rounds: put this in place of K on the right: of use at fixed points, where nothing else depends on K.

    Returns:
        left and right (B, C) for C cases, and the violation (B,): 0 where every hypothesis holds.

    Raises:
        UnsupportedError: for a formula over vectors.
    """
    import torch

    run = Run(structure, point)
    kinds = {h.assumption.of for h in claim.conditions if isinstance(h.assumption, Smooth)}
    curvatures = run.h.flatten(1) if "sample" in kinds else run.curvature
    names: dict[str, Tensor] = {"L": _per_instance(curvatures.abs().amax(-1))}
    names |= {p.name: PARAMETERS[p.name](run) for p in claim.parameters if p.name != "L"}
    if rounds is not None:
        names["K"] = rounds
    names = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in names.items()}
    for name, text in claim.definitions.items():
        names[name] = evaluate(text, names)
    left, right = torch.broadcast_tensors(QUANTITIES[claim.quantity.name](run), evaluate(str(claim.right), names))
    return left.flatten(1), right.flatten(1), _violation(claim, run, names)


def _violation(claim: Claim, run: Run, names: Mapping[str, Tensor]) -> Tensor:
    import torch

    used = {p.name for p in claim.parameters}
    least: list[Tensor] = [run.curvature.abs().amax(-1) - run.structure.least_curvature]
    if claim.quantity.name == "mean_squared_gradient_norm" or used & NEED_MINIMUM:
        least.append(run.mean_curvature - 1e-6)
    if used & NEED_MINIMA or any(isinstance(h.assumption, StronglyConvex) for h in claim.conditions):
        least.append(run.curvature.amin(-1) - 1e-6)
    if any(isinstance(h.assumption, Convex) for h in claim.conditions):
        least.append(run.h.amin((-1, -2)))
    total = torch.zeros_like(run.step)
    for value in least:
        total = total + (-value).clamp(min=0)
    for hypothesis in claim.conditions:
        if hypothesis.relation is None:
            continue
        relation = parse_relation(hypothesis.relation)
        values = [_evaluate(side, names) for side in relation.sides]
        for a, b, operator in zip(values, values[1:], relation.operators, strict=False):
            gap = {"<": a - b, "<=": a - b, ">": b - a, ">=": b - a, "==": (a - b).abs()}[operator]
            worst = torch.broadcast_to(gap, (len(total), *gap.shape[1:])) if gap.ndim else gap.expand(len(total))
            worst = worst.reshape(len(total), -1).amax(-1)
            total = total + torch.log1p(torch.nan_to_num(worst, 1e9, 1e9, 0.0).clamp(0, 1e9))
    return total


def score(claim: Claim, structure: Structure, point: Point, rounds: int | None = None) -> Tensor:
    """(B,), the largest (left - right)/(|left| + |right|) of each instance, which is positive iff it breaks the claim.

    An instance that violates a hypothesis has `INFEASIBLE` less the violation.
    """
    import torch

    left, right, violation = sides(claim, structure, point, rounds)
    if claim.relation in (">=", ">"):
        left, right = right, left
    size = left.abs() + right.abs()
    known = torch.where(torch.isfinite(size), size, 0.0).detach()
    small = size <= NEGLIGIBLE * known.amax(-1, keepdim=True)
    excess = torch.where(small, -1.0, (left - right) / torch.where(small, 1.0, size))
    # A case at which a side is no number says nothing.
    best = torch.where(torch.isfinite(size), torch.nan_to_num(excess, -1.0, -1.0, -1.0), 2 * INFEASIBLE).amax(-1)
    return torch.where(violation > 0, INFEASIBLE - violation, best)


def evaluate(text: str, names: Mapping[str, Tensor]) -> Tensor:
    """A formula (`theory.formula`) over tensors."""
    return _evaluate(parse(text), names)


def _evaluate(formula: Any, names: Mapping[str, Tensor]) -> Tensor:
    import torch

    operations: dict[str, Callable[..., Tensor]] = {
        "+": torch.add,
        "-": torch.sub,
        "*": torch.mul,
        "/": torch.div,
        "**": torch.pow,
        "neg": torch.neg,
        "sqrt": torch.sqrt,
        "log": torch.log,
        "exp": torch.exp,
        "abs": torch.abs,
        "min": _chain(torch.minimum),
        "max": _chain(torch.maximum),
    }

    def apply(operation: str, parts: tuple[Tensor, ...]) -> Tensor:
        if operation not in operations:
            raise UnsupportedError(f"{operation} is not one of {sorted(operations)}")
        return operations[operation](*parts)

    return fold(formula, lambda value: torch.tensor(float(value), dtype=torch.float64), names.__getitem__, apply)


def _chain(operation: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    def apply(*parts: Tensor) -> Tensor:
        result = parts[0]
        for part in parts[1:]:
            result = operation(result, part)
        return result

    return apply
