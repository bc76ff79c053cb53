"""How both sides of the claims about one epoch are measured: by enumeration of all orders of the clients.

"With probability at least 1-p" is a statement about the (1-p)-quantile over the orders, an element of the finite list
of values; where a claim says nothing of p, or "for every permutation", the left side is the largest value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from validate.bounds import Cases
from validate.papers.perm.shuffling_epochs import Epoch, norm, quantile

CHANCES = tuple(Fraction(text) for text in ("1/100", "1/10", "1/2", "9/10", "99/100", "999999/1000000"))
ROUNDING = 1e-12

Measure = Callable[[Claim, Epoch], "Cases | None"]


def epoch_cases(claim: Claim, epoch: Epoch) -> Cases | None:
    """The claim's left side and parameters on an epoch, or None when it does not speak of it."""
    measure = MEASURES.get(claim.label)
    return measure(claim, epoch) if measure is not None else None


def _chances(epoch: Epoch) -> list[Any]:
    return [p if epoch.exact else float(p) for p in CHANCES]


def _cases(
    claim: Claim, epoch: Epoch, left: Sequence[Any], index: dict[str, Any] | None = None, **parameters: Any
) -> Cases | None:
    """Cases from left sides; constants of the epoch that the claim names are added, and no others."""
    kind: Any = object if epoch.exact else np.float64
    known = {
        "eta": epoch.step,
        "N": epoch.clients,
        "K": epoch.local_steps,
        "R": epoch.epochs,
        "L": epoch.L,
        "mu": epoch.mu,
        "G": epoch.G,
        "grad_sum": norm(epoch.weighted_gradient),
        "grad_phi": norm(epoch.weighted_gradient) / epoch.clients,
        "delta": epoch.spread,
        "delta2": epoch.spread**2,
    }
    found = {}
    for p in claim.parameters:
        value = parameters[p.name] if p.name in parameters else known[p.name]
        found[p.name] = np.array(value, dtype=kind) if isinstance(value, list) else value
    return Cases(np.array(left, dtype=kind), found, {k: np.array(v) for k, v in (index or {}).items()})


def _short(epoch: Epoch, factor: Any = 4) -> bool:
    """eta <= 1/(factor N K R L), which the proof of Lemma 11 fixes for all of them."""
    slack = 0 if epoch.exact else ROUNDING
    return bool(factor * epoch.length * epoch.L * epoch.epochs <= 1 + slack)


def _over_orders(claim: Claim, epoch: Epoch, values: list[Any]) -> Cases | None:
    """Quantiles where the claim has p, the largest value where it has not."""
    if any(value is None for value in values):
        return None
    if all(p.name != "p" for p in claim.parameters):
        return _cases(claim, epoch, [max(values)])
    chances = _chances(epoch)
    return _cases(claim, epoch, [quantile(values, p) for p in chances], p=chances)


def _partial_sum(claim: Claim, epoch: Epoch) -> Cases | None:
    """Fixed n: the printed sum has n+1 terms, that of the repairs n."""
    sums = [epoch.partial_sums(order) for order in epoch.orders]
    printed = claim.quantity.name == "partial_sum"
    counts = range(epoch.clients) if printed else range(1, epoch.clients + 1)
    columns = {n: [own[n if printed else n - 1] for own in sums] for n in counts}
    if all(p.name != "p" for p in claim.parameters):
        return _cases(claim, epoch, [max(values) for values in columns.values()], {"n": list(columns)})
    cells = [(n, p) for n in columns for p in _chances(epoch)]
    n, chances = [n for n, _ in cells], [p for _, p in cells]
    left = [quantile(columns[n], p) for n, p in cells]
    return _cases(claim, epoch, left, {"n": n}, n=[1 * x for x in n], p=chances)


def _bias(claim: Claim, epoch: Epoch) -> Cases | None:
    if not _short(epoch):
        return None
    return _over_orders(claim, epoch, [epoch.bias()] * len(epoch.orders))


def _part(claim: Claim, epoch: Epoch) -> Cases | None:
    """As printed for one N' < N at a time, N'-1 terms; the repairs are about all parts of the epoch at once."""
    parts = [epoch.parts(order) for order in epoch.orders]
    if claim.amends is not None:
        return _over_orders(claim, epoch, [max(own) for own in parts])
    if not _short(epoch) or epoch.clients < 3:
        return None
    cells = [(terms, p) for terms in range(1, epoch.clients - 1) for p in _chances(epoch)]
    left = [quantile([own[terms - 1] for own in parts], p) for terms, p in cells]
    return _cases(claim, epoch, left, {"n": [terms for terms, _ in cells]}, p=[p for _, p in cells])


def _cross(claim: Claim, epoch: Epoch) -> Cases | None:
    if epoch.clients < 2:
        return None
    return _over_orders(claim, epoch, [epoch.cross(order) for order in epoch.orders])


def _noise(claim: Claim, epoch: Epoch) -> Cases | None:
    """E||.|| by all outcomes of the noise; the largest over the orders."""
    if not _short(epoch) or epoch.spread == 0:
        return None
    sums = [epoch.noise_sums(order) for order in epoch.orders]
    if any(own is None for own in sums):
        return None
    return _cases(claim, epoch, [max(abs(own).sum() / len(own) for own in sums if own is not None)])


def _noise_squared(claim: Claim, epoch: Epoch) -> Cases | None:
    if epoch.spread == 0:
        return None
    return _cases(claim, epoch, [max(epoch.noise_squared(order) for order in epoch.orders)])


def _next_distance(claim: Claim, epoch: Epoch) -> Cases | None:
    """E||v^{r+1} - v*||^2 given the order; with the probability over the orders where the claim has p."""
    values = [epoch.next_distance(order) for order in epoch.orders]
    if epoch.best is None or any(value is None for value in values):
        return None
    away = epoch.start - epoch.best
    parameters = {"V": away @ away, "gap": max(epoch.cost(epoch.start) - epoch.cost(epoch.best), 0)}
    if all(p.name != "p" for p in claim.parameters):
        return _cases(claim, epoch, [max(values)], **parameters)
    chances = _chances(epoch)
    return _cases(claim, epoch, [quantile(values, p) for p in chances], p=chances, **parameters)


def _q_norm(claim: Claim, epoch: Epoch) -> Cases | None:
    """||Q_j|| of every client: Q_j is a polynomial in H_j, symmetric."""
    if epoch.dimension == 1:
        left = [abs(q[0, 0]) for q in epoch.moves]
    else:
        left = [float(np.linalg.norm(q, 2)) for q in epoch.moves]
    return _cases(claim, epoch, left, {"n": list(range(epoch.clients))}, alpha=list(epoch.alpha))


MEASURES: dict[str, Measure] = {
    **dict.fromkeys(("lemma-10", "lemma-10/unnormalised", "lemma-10/corrected", "lemma-10/corrected-2"), _partial_sum),
    **dict.fromkeys(
        ("lemma-11a", "lemma-11a/unnormalised", "lemma-11a/corrected", "lemma-11a/corrected-2"),
        _bias,
    ),
    **dict.fromkeys(("lemma-11b", "lemma-11b/unnormalised", "lemma-11b/corrected", "lemma-11b/corrected-2"), _part),
    **dict.fromkeys(("lemma-12", "lemma-12/unnormalised", "lemma-12/corrected", "lemma-12/corrected-2"), _cross),
    **dict.fromkeys(
        ("theorem-2-step/unnormalised", "theorem-2-step/corrected", "theorem-2-step/corrected-2"), _next_distance
    ),
    "proposition-3": _q_norm,
    "lemma-13": _noise,
    "lemma-13/corrected": _noise_squared,
}
