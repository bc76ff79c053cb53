"""The search for a derivation of a claim."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from theory.claim import Claim

UNITS = 4000
"""Of work, without a limit of one's own: programs in floats, about a hundredth of a second each."""


@dataclass(frozen=True)
class Result:
    """What a search has come to.

    Attributes:
        lines: of a derivation that the kernel accepts; None where there is none.
        way: how it was found, in words.
        tried: what was tried, in words, in this order; where nothing was found it says where it broke off.
        seconds: how long it took.
        limited: whether the limit of work ended it, or it did without other claims, so that there may be one for more.
    """

    lines: tuple[Mapping[str, Any], ...] | None
    way: str
    tried: tuple[str, ...]
    seconds: float
    limited: bool = False


def search(claim: Claim, units: int = UNITS, until: float = inf, lemmas: bool = True) -> Result:
    """Look for a derivation of a claim; what is returned as one has been accepted by the kernel.

    Args:
        claim: with a sentence.
        units: how much work may be done, in programs solved in floats.
        until: a time of this process (`time.process_time`) after which no more is.
        lemmas: whether other claims of its paper are used, which takes longest.

    Raises:
        ValueError: for a claim without a sentence.
    """
    from theory.derivation.kernel import refusal
    from theory.derivation.search.by_lemmas import from_lemmas
    from theory.derivation.search.context import Context, once
    from theory.derivation.search.facts import facts
    from theory.derivation.search.forms import Forms
    from theory.derivation.search.problem import Limit, Work
    from theory.derivation.search.settings import Settings
    from theory.derivation.search.ways import STRATEGIES

    if not claim.has_sentence:
        raise ValueError(f"{claim.id} has no sentence")
    started = time.perf_counter()
    work, limited = Work(units, until), bool(claim.beside) and not lemmas
    tried: list[str] = []
    try:
        forms, settings, known = Forms(claim), Settings(claim), list(facts(claim))
    except ValueError as error:
        return Result(None, "", (str(error),), time.perf_counter() - started)
    try:
        stages = [(1, True), (0, False), (1, False), *([(2, False)] if claim.of is None else [])]
        ways = [(stage, plain, *way) for stage, plain in stages for way in STRATEGIES]
        if claim.beside and lemmas:  # after what is simplest, before what takes longest
            ways.insert(len(STRATEGIES), (0, True, "from other claims", from_lemmas))
        for stage, plain, words, strategy in ways:
            context = Context(claim, forms, work, settings, list(known), stage=stage, plain=plain)
            work.tried = []
            try:
                lines = strategy(context)
            except (ValueError, ArithmeticError, RecursionError) as error:  # beyond what is read or written
                tried += [f"{words}: {t}" for t in (*work.tried, str(error)[:500])]
                continue
            tried += [f"{words}: {t}" for t in work.tried]
            if lines is None:
                continue
            lines = once(lines)
            lines = [*lines[:-1], {k: v for k, v in lines[-1].items() if k != "sentence"}]
            why = refusal(claim, lines)
            if why is None:
                return Result(tuple(lines), words, tuple(tried), time.perf_counter() - started)
            tried.append(f"{words}: the kernel does not accept what was found: {why}")
    except Limit as error:
        tried += [f"{words}: {t}" for t in (*work.tried, str(error))]
        limited = True
    return Result(None, "", tuple(dict.fromkeys(tried)), time.perf_counter() - started, limited)
