"""What a reader of section IV of the open-fl paper must know; each sentence appears only if these runs bear it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from validate.experiments.open_fl.radii import Constants, Radii
from validate.experiments.open_fl.setting import BATCH, LABELS, LOCAL_STEPS, RIDGE, STEPS, Case
from validate.experiments.open_fl.tables import (
    FEW,
    MANY,
    Array,
    Family,
    Found,
    estimate,
    interval,
    ordering,
    stability,
    stationary,
)
from validate.report.readable import number


def findings(
    families: Mapping[str, Mapping[str, Family]],
    found: Found,
    beside: Sequence[tuple[Constants, Radii, Array, Array]],
    applicability: Any,
    sweep: Mapping[tuple[str, int, int | None], tuple[Case, Case]],
    digits: Mapping[str, Mapping[str, Family]],
    missing: bool,
) -> tuple[str, ...]:
    """The sentences, the theorems first.

    Args:
        families, found: the cases of figures 2 to 4 and what was simulated.
        beside: constants, radii and norms (R, K+1) from 0 and from the radius, of local SGD with eta = 1/L.
        applicability: of Theorem 3.
        sweep: the cases of other local steps and minibatches.
        digits: the cases of figures 5 and 6.
        missing: whether they could not be run.
    """
    texts = [*_theorems(beside, applicability)]
    for kind in STEPS:
        texts += _by_ridge(kind, families["2"][kind], found, beside)
    for kind in STEPS:
        texts += _by_change(kind, families["3"][kind], found)
    texts += _whole_gradients(sweep, found)
    texts += _static(families["3"], found)
    if missing:
        texts.append("The digits were not run: scikit-learn, which brings them, is not installed (extra `data`).")
    else:
        texts += _digits(digits, found)
    return tuple(texts)


def _theorems(beside: Sequence[tuple[Constants, Radii, Array, Array]], applicability: Any) -> list[str]:
    texts = []
    paper = next(c for c, *_ in beside if c.mu == RIDGE)
    if STEPS["sgd"] > 1 / paper.L:
        texts.append(
            f"Theorem 2 says nothing about the paper's own figures: it needs η ≤ 1/L = {number(1 / paper.L)}, and the "
            f"figures use η = 1, {number(STEPS['sgd'] * paper.L)} times as much. No radius is drawn there."
        )
    kept = [
        (c, radii, largest)
        for c, radii, inside, edge in beside
        if (largest := _largest(inside)) <= radii.uniform >= _largest(edge) / (1 + 1e-9)
    ]
    if len(kept) == len(beside):
        factors = " and ".join(number(radii.printed / largest) for _, radii, largest in kept)
        least = " and ".join(number(radii.uniform / largest) for _, radii, largest in kept)
        which = " and ".join(f"{c.mu:g}" for c, *_ in kept)
        texts.append(
            f"With η = 1/L Theorem 2 applies and holds, far from tight on these data: for λ = {which} the "
            f"printed radius is {factors} times the largest norm from θ⁰ = 0, the repaired one {least} times. The "
            "radii are for the worst function with these constants, which logistic regression is not."
        )
    failed = [c.name for c in applicability.failed]
    if failed:
        texts.append(
            "Theorem 3 cannot be applied to the figures either, its gradient bound read on the ball of which it "
            f"speaks: {len(failed)} of {len(applicability.conditions)} conditions on numbers fail ({'; '.join(failed)}"
            "). At β₁ = 0.9 it has no radius whatever the other numbers are (open-fl/theorem-3/papers-settings)."
        )
    return texts


def _largest(norm: Array) -> float:
    return float(np.sqrt(np.mean(norm**2, axis=0)).max())


def _by_ridge(
    kind: str, family: Family, found: Found, beside: Sequence[tuple[Constants, Radii, Array, Array]]
) -> list[str]:
    names, norms = list(family), [found[case]["norm"] for case in family.values()]
    ends = [stationary(norm) for norm in norms]
    texts = []
    for large, small in ordering(names, ends).against:
        values = [number(float(ends[names.index(name)].mean())) for name in (small, large)]
        # with a step that Theorem 2 allows
        short = [stationary(inside) for c, _, inside, _ in beside if kind == "sgd" and c.mu == family[small].ridge]
        gain = f" With η = 1/L it is {number(float(short[0].mean()))} for {small}." if short else ""
        texts.append(
            f"Not borne out, figure 2, {LABELS[kind]}: a smaller λ does not always give a larger norm. It is "
            f"{values[0]} for {small} and {values[1]} for {large}.{gain}"
        )
    rounds = norms[0].shape[1] - 1
    unstable = [name for name, norm in zip(names, norms, strict=True) if stability(norm) == "no"]
    if unstable:
        texts.append(
            f"Figure 2, {LABELS[kind]}: after {rounds} rounds the norm has not yet reached a stable value for "
            f"{', '.join(unstable)}."
        )
    return texts


def _by_change(kind: str, family: Family, found: Found) -> list[str]:
    names = list(family)
    ends = [stationary(found[case]["norm"]) for case in family.values()]
    higher = [
        (name, end) for name, end in zip(names[1:-1], ends[1:-1], strict=True) if estimate(end - ends[-1]).lower > 0
    ]
    if not higher:
        return []
    name, end = higher[-1]
    record = found[family[name]]
    size = len(record["norm"][0]) // 5
    norm, present = record["norm"][:, -size:], record["present"][:, -size:]
    few, many = norm[present <= FEW], norm[present >= MANY]
    why = ""
    if few.size and many.size and few.mean() > many.mean():
        why = (
            f" At {name} the number of clients walks at random; with at most {FEW} present the norm is "
            f"{number(float(few.mean()))}, with {MANY} or more {number(float(many.mean()))}. At p = 1 it is always ten."
        )
    return [
        f"Not borne out, figure 3, {LABELS[kind]}: the norm is not largest at p = 1. It is "
        f"{number(float(end.mean()))} at {name} and {number(float(ends[-1].mean()))} at p = 1.{why}"
    ]


def _whole_gradients(sweep: Mapping[tuple[str, int, int | None], tuple[Case, Case]], found: Found) -> list[str]:
    """Whether what p does depends on the minibatches, which the paper does not state."""
    texts = []
    for kind in STEPS:
        pairs = [(batch, cases) for (k, steps, batch), cases in sweep.items() if k == kind and steps == LOCAL_STEPS]
        changes = {
            batch: estimate(stationary(found[moving]["norm"]) - stationary(found[still]["norm"]))
            for batch, (still, moving) in pairs
        }
        if None not in changes:
            continue
        sampled, whole = changes[BATCH], changes[None]
        if sampled.lower > 0 and whole.lower <= 0 <= whole.upper:
            runs = len(found[pairs[0][1][0]]["norm"])
            texts.append(
                f"What figure 3 shows of {LABELS[kind]} depends on a choice that the paper does not state: the norm at "
                f"p = 1 exceeds that at p = 0 by {interval(sampled)} with minibatches of {BATCH}, and with whole "
                f"gradients by {interval(whole)}, which is no difference that {runs} runs can tell."
            )
    return texts


def _static(kinds: Mapping[str, Family], found: Found) -> list[str]:
    """At p = 0 the norm is a function of which ten clients there are."""
    spreads = []
    for kind, family in kinds.items():
        norm = found[family["p = 0"]]["norm"]
        tail = norm[:, -(len(norm[0]) // 5) :]
        spreads.append((kind, float(tail.mean(axis=1).std(ddof=1)), float(tail.std(axis=1).mean()), tail))
    if not all(between > 0 for _, between, *_ in spreads):
        return []
    text = "; ".join(
        f"{LABELS[kind]}: {number(between)} between runs, from {number(float(tail.mean(axis=1).min()))} to "
        f"{number(float(tail.mean(axis=1).max()))}, against {number(within)} over the rounds of one run"
        for kind, between, within, tail in spreads
    )
    return [
        "At p = 0 a run is ten clients for ever: its stable norm depends on which ten they are (standard deviations: "
        f"{text}). One run tells nothing of another ten."
    ]


def _digits(digits: Mapping[str, Mapping[str, Family]], found: Found) -> list[str]:
    texts = []
    for kind, family in digits["5"].items():
        names, norms = list(family), [found[case]["norm"] for case in family.values()]
        answers = [stability(norm) for norm in norms]
        unstable = [name for name, answer in zip(names, answers, strict=True) if answer == "no"]
        order = ordering(names, [stationary(norm) for norm in norms])
        end = f"after {norms[0].shape[1] - 1} rounds"
        if not order.against and not order.open:
            texts.append(f"Digits, {LABELS[kind]}, figure 5: {end} the norm is larger when λ is smaller, as it says.")
        if unstable:
            texts.append(
                f"Digits, {LABELS[kind]}, figure 5: {end} the norm still changes for {', '.join(unstable)}; its stable "
                "value is not seen."
            )
    return texts
