"""Sentences for every point that no functions satisfy together: from them alone a derivation ends at what is false.

Such as that all points are one, or within a distance of each other that is a number, for free vectors that the
assumptions do not know; that gradients of a strongly convex function are no longer than a number; or that 1 is at
most 0. Also without such sentences, where clients are hardly apart. Only what the kernel and the stand-alone verifier
accept is said.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from theory.claim import Claim
from theory.domain import Domain
from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number
from theory.predicates import Dissimilar, Predicate, StronglyConvex
from theory.sentence import POINTS, At, Expression, Sentence, everything, everything_meant, text_of
from validate.counted import counted
from validate.instances.pool import drawn, fitting_sizes
from validate.shown import shown
from validate.verdict import Evidence

log = logging.getLogger(__name__)
SEEDS = 24
"""Instances of the pool that are asked for: where there is one, the assumptions do not contradict each other."""
UNITS = 200
"""Of work for each derivation."""
RUN = ("x0", "k", "h", "j", "K")
FUNCTIONS = ("f", "f_n", "f_ni", "grad f", "grad f_n", "grad f_ni")


def excluded(claim: Claim) -> list[Evidence]:
    """That no functions satisfy what a claim assumes for every point, where a derivation shows it; else nothing."""
    alike = any(isinstance(one, Dissimilar) for one in claim.predicates) and _is_strongly_convex(claim)
    if claim.over or not (alike or any(isinstance(one, ForEvery) for one in claim.predicates)):
        return []
    sizes = fitting_sizes(claim)
    if any(drawn(claim, seed, sizes=sizes) is not None for seed in range(SEEDS)):
        return []
    for absurd in _absurd(claim):
        item = _said(absurd)
        if item is not None:
            return [item]
    return []


def _said(absurd: Claim) -> Evidence | None:
    found = shown(absurd, UNITS)
    if found is None:
        return None
    free = f", for all vectors {', '.join(absurd.vectors)}" if absurd.vectors else ""
    text = (
        f"no functions satisfy {'; '.join(found.hypotheses)}: a derivation of {counted(found.lines, 'line')} ends at "
        f"{absurd.statement}{free}"
    )
    return Evidence("hypotheses", "vacuous", text, data={"derivation": found.certificate}, origin="search")


def _absurd(claim: Claim) -> Iterator[Claim]:
    """Claims with the same assumptions on functions that are false wherever these are satisfied at all."""
    texts = (*claim.assuming, *claim.standing)
    assuming = tuple(text for text, one in zip(texts, claim.assumptions, strict=True) if not _is_of_run(claim, one))
    taken = {*claim.symbols, *claim.definitions, *claim.vectors}
    v, w = (next(name for name in (letter, f"{letter}_free", f"{letter}_away") if name not in taken) for letter in "vw")
    trees = [side for one in claim.predicates if isinstance(one, ForEvery) for side in one.sentence.sides]
    least = any(isinstance(part, Name) and part.name == "xstar" for tree in trees for part in everything(tree))
    least = least or any(isinstance(one, StronglyConvex) for one in claim.predicates)  # of one, and so of f
    other = "xstar" if least else w
    points = (v,) if least else (v, w)
    sentences: list[tuple[str, tuple[str, ...]]] = [("1 <= 0*f(xstar)", ())] if least else []
    sentences += [(f"norm2({v} - {other}) <= 0", points)]
    down = [name for one in claim.predicates for name, way in one.binds.items() if way == "down"]
    down = [name for name in down if _is_positive(claim.domains[name])]
    bounds = [text_of(tree) for tree in trees if _is_number(claim, tree)]
    for bound in dict.fromkeys(bounds):
        factors = ["", *(f"{factor}*" for m in dict.fromkeys(down) for factor in (f"{m}/2", m, f"{m}**2"))]
        sentences += [(f"{factor}norm2({v} - {other}) <= {bound}", points) for factor in factors]
    if _is_strongly_convex(claim):  # then gradients are as long as any number says
        alike = [one.constants for one in claim.predicates if isinstance(one, Dissimilar) and not one.spread]
        bounds += [f"({text_of(G)})**2/(1 - ({text_of(B)})**2)" for G, B in alike]
        sentences += [(f"norm2(grad(f, {v})) <= {bound}", (v,)) for bound in dict.fromkeys(("0", *bounds))]
    for statement, vectors in sentences:
        try:
            one = replace(
                claim, statement=statement, of=None, vectors=vectors, assuming=assuming, standing=(), proof=None,
                given=(), beside=(), amends=None,
            )  # fmt: skip
            assert one.sentence
        except (ValueError, TypeError) as error:
            log.debug("%s: %s", statement, error)
            continue
        yield one


def _is_strongly_convex(claim: Claim) -> bool:
    """Whether f is, with a number that is not 0: it is the mean of such functions, or one."""
    some = [one.constants[0] for one in claim.predicates if isinstance(one, StronglyConvex)]
    domains = [claim.domains.get(mu.name) for mu in some if isinstance(mu, Name)]
    return any(isinstance(mu, Number) and mu.value > 0 for mu in some) or any(
        domain is not None and _is_positive(domain) for domain in domains
    )


def _is_positive(domain: Domain) -> bool:
    return domain.lower is not None and (domain.lower > 0 or (domain.lower == 0 and domain.lower_open))


def _is_of_run(claim: Claim, one: Predicate | Sentence) -> bool:
    """Whether it is a relation that speaks of states or of the start."""
    if isinstance(one, Predicate):
        return False
    found = [part for side in one.sides for part in everything_meant(side, claim.vocabulary)]
    return any(isinstance(part, At) or (isinstance(part, Name) and part.name in RUN) for part in found)


def _is_number(claim: Claim, tree: Expression) -> bool:
    """Whether a side has parameters alone."""
    points = {point for one in claim.predicates if isinstance(one, ForEvery) for point in one.points}
    for part in everything_meant(tree, claim.vocabulary):
        if isinstance(part, At) or (isinstance(part, Name) and part.name in {*POINTS, *points, "fstar"}):
            return False
        if isinstance(part, Apply) and part.operation in FUNCTIONS:
            return False
    return True
