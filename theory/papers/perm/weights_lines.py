"""Lines of perm's Lemmas 1 to 3 that speak of vectors. `theory.inequality.vectors` is imported when a line is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from theory.claim import VectorLine

if TYPE_CHECKING:
    from theory.inequality.vectors import Condition, Form, Space

Values: TypeAlias = Mapping[str, Fraction]
Built: TypeAlias = "tuple[Space, Condition, list[Condition]]"
Sides: TypeAlias = "tuple[Space, dict[str, Form], list[Condition]]"


def compared(sides: Callable[[Values], Sides], left: str, relation: str, right: str, values: Values) -> Built:
    """The line ``left relation right`` between two of the named expressions that `sides` builds."""
    space, forms, given = sides(values)
    gap = forms[left] - forms[right]
    return space, (gap.equals(0) if relation == "=" else gap <= 0), given


# --- Lemma 1 ---------------------------------------------------------------------------------------------------------


def _minimisers(values: Values) -> Sides:
    """d = v*(a') - v*(a); p, r the gradients of Phi(a, .) at v*(a) and v*(a'), q that of Phi(a', .) at v*(a')."""
    from theory.inequality.vectors import Space, inner, square

    space = Space(("d", "p", "q", "r"), ("moved",))
    d, p, q, r = space.vectors_of()
    mu, L = values["mu"], values["L"]
    moved = space.value("moved")  # ||a - a'||^2
    given = [
        (inner(d, p) * -1 <= 0).named("v*(a) is the minimiser"),
        (inner(d, q) <= 0).named("v*(a') is the minimiser"),
        (mu * square(d) <= inner(d, r - p)).named("strong convexity"),
        (square(r - q) <= L**2 * moved).named("Lipschitz in a"),
    ]
    forms = {
        "0": space.constant(0),
        "first": inner(d, p - q),
        "modulus": mu * square(d),
        "second": inner(d, r - p),
        "sum": inner(d, r - q),
        "distance": square(d),
        "bound": (L / mu) ** 2 * moved,
    }
    return space, forms, given


_LEMMA_1 = ({"mu": "1/3", "L": "2"}, {"mu": "1", "L": "1"})


def minimisers(left: str, right: str) -> VectorLine:
    """A line of Lemma 1's proof, ``left <= right``."""
    return VectorLine(
        partial(compared, _minimisers, left, "<=", right), _LEMMA_1, "every mu and L, by scaling Phi and the weights"
    )


# --- Lemma 2 ---------------------------------------------------------------------------------------------------------


def _projected_step(values: Values) -> Sides:
    """t, h, u: the given point, the projected step and v*(ahat), measured from v = v*(a*).

    The class of Phi(a*, .) is that of sum_j a_j f_j divided by `share` (1, or N with (3)).
    """
    from theory.inequality.interpolation import smooth_strongly_convex
    from theory.inequality.vectors import Space, inner, square

    space = Space(("t", "h", "u", "gt", "gh", "gs", "e"), ("ft", "fh", "fs", "moved"))
    t, h, u, gt, gh, gs, e = space.vectors_of()
    ft, fh, fs, moved = (space.value(name) for name in space.values)
    mu, L, N, share = values["mu"], values["L"], values["N"], values["share"]
    points = [(t, gt, ft), (h, gh, fh), (space.zero(), gs, fs)]
    error = N * moved / share**2  # ||grad Phi(ahat, vt) - grad Phi(a*, vt)||^2, with G = 1
    kappa = N * moved / mu**2
    given = [
        *smooth_strongly_convex(space, points, mu / share, L / share, "Phi"),
        (inner(h, L * (h - t) + gt + e) <= 0).named("projection"),
        (square(e) <= error).named("Lipschitz in a"),
        (square(u) <= kappa).named("Lemma 1"),
        (inner(gs, h) * -1 <= 0).named("v* is the minimiser"),
    ]
    phi = inner(h, gt) * -1  # <v - vhat, grad Phi(a*, vt)>
    forms = {
        "0": space.constant(0),
        "T1": phi - L * inner(h, h - t),
        "T1 split": L * inner(t, h - t) * -1 - L * square(t - h) + phi,
        "T1 Young": L * square(t) + L / 4 * square(h - t) - L * square(t - h) + phi,
        "spade": phi,
        "spade bound": fs - fh - mu / share / 2 * square(t) + L / share / 2 * square(t - h),
        "T1 bound": fs - fh + L / 2 * square(t) - L / 4 * square(t - h),
        "T1 bound, right": fs - fh + L * square(t) - L / 4 * square(t - h),
        "T2": inner(h, e) * -1,
        "T2 Young": L / 4 * square(t) + L / 4 * square(t - h) + 4 / L * square(e),
        "T2 bound": L / 4 * square(t) + L / 4 * square(t - h) + 4 * N / L * moved,
        "pieces": fs - fh + L * square(t) + 4 * N / L * moved,
        "gap": fh - fs,
        "at v*(a*)": L * square(t) + 4 * N / L * moved,
        "distance": L * square(t),
        "triangle": L * square(t - u) + L * square(u),
        "twice": 2 * L * square(t - u) + 2 * L * kappa,
        "right": 2 * L * square(t - u) + (2 * N / mu**2 * L + 4 * N / L) * moved,
    }
    return space, forms, given


_LEMMA_2 = (
    {"mu": "1/4", "L": "1", "N": "2", "share": "1"},
    {"mu": "1/4", "L": "1", "N": "2", "share": "2"},
    {"mu": "1/100", "L": "1", "N": "1", "share": "1"},
)
_LEMMA_2_SCOPE = "these mu/L and N, with and without the factor 1/N of (3), G = 1; every L and G, by scaling"


def projected_step(left: str, relation: str, right: str, *, settings: int = 3) -> VectorLine:
    """A line of Lemma 2's proof, at the first `settings` settings."""
    return VectorLine(partial(compared, _projected_step, left, relation, right), _LEMMA_2[:settings], _LEMMA_2_SCOPE)


# --- the Lipschitz observation, Lemma 3 ------------------------------------------------------------------------------


def _two_clients(values: Values) -> Sides:
    """a, b: the gradients of f_i and f_j at w*; c, e: those at w^R = w* + d."""
    from theory.inequality.interpolation import smooth_strongly_convex
    from theory.inequality.vectors import Space, square

    space = Space(("d", "a", "b", "c", "e"), ("fi0", "fi1", "fj0", "fj1"))
    d, a, b, c, e = space.vectors_of()
    mu, L = values["mu"], values["L"]
    zero = space.zero()
    given = [
        *smooth_strongly_convex(space, [(zero, a, space.value("fi0")), (d, c, space.value("fi1"))], mu, L, "f_i"),
        *smooth_strongly_convex(space, [(zero, b, space.value("fj0")), (d, e, space.value("fj1"))], mu, L, "f_j"),
    ]
    before, after = a - b, c - e
    forms = {
        "change": square(after - before),
        "printed change": 4 * L**2 * square(d),
        "true change": (L - mu) ** 2 * square(d),
        "sum": square(after + before),
        "printed sum": 2 * square(before) + 4 * L**2 * square(d),
        "true sum": 8 * square(before) + 16 * L**2 * square(d),
        "tight sum": Fraction(9, 16) * (8 * square(before) + 16 * L**2 * square(d)),
    }
    return space, forms, given


_TWO_CLIENTS = ({"mu": "1/4", "L": "1"}, {"mu": "1/100", "L": "1"})


def two_clients(left: str, right: str) -> VectorLine:
    """A line about two clients' gradients at two points, ``left <= right``."""
    return VectorLine(
        partial(compared, _two_clients, left, "<=", right), _TWO_CLIENTS, "these mu/L; every L, by scaling"
    )
