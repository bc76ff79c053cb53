"""Assumptions as conditions on points: between which curvatures each sample's function is, and how steep it may be.

What is asked across functions (how far they may be apart), and what a sentence says for every point, is a form at the
points that are met: necessary, and not enough for functions that are so everywhere. It makes the class that is read
larger: a bound is one for the claim, and a solution none of its instances (`Classes.across`).

What is said of a mean (f_n of several samples, f of several clients) is no condition on the points of single
functions. It is then asked of each of them, which implies it: a smaller class. An instance of it is still one of the
claim, but a bound is none for the whole class (`Classes.whole`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from theory import predicates as p
from theory.for_every import ForEvery

STEEPEST = Fraction(1000)
"""The constant of smoothness of convex functions of which none is assumed, in units of what else has curvature."""


class NoClassError(ValueError):
    """Assumptions that are no conditions on points, or of which this module knows none."""


@dataclass(frozen=True)
class Class:
    """Functions f with f - mu/2 norm2 convex, L/2 norm2 - f convex, and gradients of norm at most `steepest`.

    Attributes:
        mu: below L; -L for functions that need not be convex.
        L: above 0.
        steepest: None where gradients are not bounded.
    """

    mu: Fraction
    L: Fraction
    steepest: Fraction | None = None


@dataclass(frozen=True)
class Classes:
    """Of every sample of every client.

    Attributes:
        of: by client and sample.
        whole: whether they are all that the assumptions allow at these sizes.
        same_minimiser: the functions (``f_n``, ``f_ni``) that every minimiser of f minimises; else empty.
        notes: in what they are smaller.
        across: the assumptions on how far functions are apart, and for every point, which are asked at the points only.
    """

    of: dict[tuple[int, int], Class]
    whole: bool
    same_minimiser: str
    notes: tuple[str, ...]
    across: tuple[p.Predicate, ...] = ()


@dataclass
class _Found:
    mu: Fraction | None = None  # None: not known to be convex
    L: Fraction | None = None
    steepest: Fraction | None = None


Constant = Callable[[p.Predicate, int, int, int], Fraction]
"""The value of a predicate's constant: of client n, of sample i, the constant's place."""
_LEVEL = {"f": 0, "f_n": 1, "f_ni": 2}


def classes(assumed: Sequence[p.Predicate], samples: Sequence[int], constant: Constant) -> Classes:
    """The classes of functions that assumptions ask for.

    Args:
        assumed: the assumptions.
        samples: of each client.
        constant: the numbers in them.

    Raises:
        NoClassError: where one of them is no condition on points, or no function is left; where the class would be
            smaller in one thing and larger in another.
    """
    depth = 2 if any(count > 1 for count in samples) else 1 if len(samples) > 1 else 0
    found = {(n, i): _Found() for n, count in enumerate(samples) for i in range(count)}
    notes: list[str] = []
    across: list[p.Predicate] = []
    same = ""
    # what is said of single functions first: what it implies for means needs no more
    for one in sorted(assumed, key=lambda q: -_LEVEL.get(q.function, 2)):
        exact = _LEVEL.get(one.function, 2) >= depth
        if isinstance(one, p.SameMinimiser):
            same = max(same, one.function, key=lambda f: _LEVEL.get(f, 0))
            continue
        if _is_trivial(one, samples, constant):
            continue
        if isinstance(one, p.BoundedVariance | p.Dissimilar | ForEvery):
            across.append(one)
            continue
        changed = False
        for (n, i), own in found.items():
            changed = _narrow(own, one, lambda place, n=n, i=i, one=one: constant(one, n, i, place)) or changed  # type: ignore[misc]
        if isinstance(one, p.PolyakLojasiewicz) and changed:
            notes.append(f"{one.text} for strongly convex functions only")
        elif changed and not exact:
            notes.append(f"{one.text} asked of every function in the mean")
    if any(own.L is None for own in found.values()):
        if any(own.L is None and own.mu is None for own in found.values()):
            raise NoClassError("functions neither smooth nor convex; with smooth(f_ni, L) or convex(f_ni) it is")
        notes.append(f"functions of smoothness {STEEPEST} only")
    if any(own.mu is None and own.steepest is not None for own in found.values()):
        notes.append("convex functions only, whose gradients are bounded")
        for own in found.values():
            own.mu = own.mu or Fraction(0)
    if any(own.mu and own.steepest is not None for own in found.values()):
        raise NoClassError("strongly convex functions have no bounded gradients")
    of = {}
    for key, own in found.items():
        L = own.L if own.L is not None else STEEPEST * max(Fraction(1), own.mu or Fraction(0))
        of[key] = Class(-L if own.mu is None else own.mu, L, own.steepest)
        if of[key].mu >= L:
            raise NoClassError("no room between the constants of smoothness and of strong convexity")
    if across and notes:
        raise NoClassError(f"{across[0].text} at the points only, and {notes[0]}: neither a bound nor an instance")
    return Classes(of, not notes, same, tuple(notes), tuple(across))


def _narrow(own: _Found, one: p.Predicate, constant: Callable[[int], Fraction]) -> bool:
    """Ask an assumption of one function; whether that changes its class."""
    before = replace(own)
    if isinstance(one, p.Smooth):
        own.L = constant(0) if own.L is None else min(own.L, constant(0))
    elif isinstance(one, p.Convex):
        own.mu = max(own.mu or Fraction(0), Fraction(0))
    elif isinstance(one, p.StronglyConvex | p.PolyakLojasiewicz):
        own.mu = max(own.mu or Fraction(0), constant(0))
    elif isinstance(one, p.Lipschitz) or (isinstance(one, p.BoundedGradients) and not one.on_ball):
        own.steepest = constant(0) if own.steepest is None else min(own.steepest, constant(0))
    else:
        raise NoClassError(f"{one.text} is no condition on points")
    return own != before


def _is_trivial(one: p.Predicate, samples: Sequence[int], constant: Constant) -> bool:
    """Whether an assumption says nothing about functions at these sizes."""
    if isinstance(one, p.Connected | p.BoundedBelow):  # points can be continued by a function that is bounded below
        return True
    if isinstance(one, p.BoundedVariance):
        return all(count == 1 for count in samples)
    if isinstance(one, p.Dissimilar) and len(samples) == 1:
        return one.spread or constant(one, 0, 0, 1) >= 1
    return False
