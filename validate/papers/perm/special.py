"""Proofs by algebra, refutations, and instances of other shapes, for the claims about weights and about local SGD."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from theory.claim import Claim
from theory.mixing import exact_weights
from validate.algebra import checked_lines
from validate.papers.perm.mixing_refutations import REFUTED, refutation
from validate.papers.perm.proofs import PROOFS
from validate.verdict import Evidence

Found = tuple[list[Evidence], Path | None]

PROGRAMS = 300


def special(claim: Claim, out: Path) -> Found:
    """Evidence that is particular to a claim, and the path of a certificate when it refutes the claim."""
    if claim.label in REFUTED:
        return refutation(claim, out)
    found = []
    if claim.label in PROOFS:
        lines, how = PROOFS[claim.label]
        found.append(checked_lines(lines(), how))
    find = _SPECIAL.get(claim.label)
    return [*found, *(find(claim) if find is not None else [])], None


# --- the programs ----------------------------------------------------------------------------------------------------


def programs(count: int = PROGRAMS, seed: int = 20260303) -> list[tuple[list[Fraction], list[Fraction], Fraction]]:
    """Random rational programs (z, n, lam), some with ties, some with one client."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        size = rng.randint(1, 7)
        z = [Fraction(rng.randint(0, 12), rng.choice([1, 2, 5])) for _ in range(size)]
        n = [Fraction(rng.randint(1, 40)) for _ in range(size)]
        found.append((z, n, Fraction(rng.randint(1, 200), rng.choice([1, 10, 100]))))
    return found


def is_best(weights: Sequence[Fraction], z: Sequence[Fraction], n: Sequence[Fraction], lam: Fraction) -> bool:
    """Whether weights minimise (2): on the simplex, with equal slopes where they are positive, and none below those."""
    slopes = [z_j + 2 * lam * a / n_j for a, z_j, n_j in zip(weights, z, n, strict=True)]
    level = all(slope == min(slopes) for a, slope in zip(weights, slopes, strict=True) if a > 0)
    return sum(weights) == 1 and min(weights) >= 0 and level


def _program(
    costs: Callable[[random.Random, list[Fraction]], list[Fraction]], lam: bool, what: str
) -> Callable[[Claim], list[Evidence]]:
    """Evidence for a program whose costs are made from z; without `lam` the penalty is 1."""

    def find(claim: Claim) -> list[Evidence]:
        rng = random.Random(1)
        wrong = sparse = 0
        for z, n, penalty in programs():
            own = costs(rng, z)
            weight = penalty if lam else Fraction(1)
            found = exact_weights(own, n, weight).weights
            wrong += not is_best(found, own, n, weight)
            sparse += min(found) == 0
        text = (
            f"{PROGRAMS} random rational programs ({what}): the minimiser is unique, as the Hessian 2 lam diag(1/n) is "
            f"positive definite, and n_j max(0, nu - c_j)/(2 lam) satisfies the optimality conditions in fractions in "
            f"{PROGRAMS - wrong}; some weight is 0 in {sparse}"
        )
        return [Evidence("exact", "fails" if wrong else "holds", text)]

    return find


def _definition(text: str) -> Callable[[Claim], list[Evidence]]:
    return lambda claim: [Evidence("algebra", "undecided", text)]


# --- W that binds ----------------------------------------------------------------------------------------------------


def _bound_lemma_4(claim: Claim) -> list[Evidence]:
    """f = w^2/2 on W = [1, 2], from w* = 1 with gamma = 1/2: nothing is projected inside a round."""
    w, step = Fraction(1), Fraction(1, 2)
    left = (w - step * w - 1) ** 2
    text = (
        f"where W binds it fails for short steps too: f = w^2/2 on W = [1, 2], w = w* = 1, gamma = 1/2 goes to 1/2, so "
        f"the left side is {left} and every term on the right is 0"
    )
    return [Evidence("exact", "fails", text, data={"left": str(left), "right": "0"})]


def _bound_lemma_6(claim: Claim) -> list[Evidence]:
    """f = x^2 + xy + y^2 on [1, 2] x [-1, 1]: a round of two steps from w* = (1, -1/2) does not come back to it."""
    step = Fraction(1, 6)
    x, y = Fraction(1), Fraction(-1, 2)
    for _ in range(2):
        x, y = x - step * (2 * x + y), y - step * (x + 2 * y)
    x, y = min(max(x, Fraction(1)), Fraction(2)), min(max(y, Fraction(-1)), Fraction(1))
    left = (x - 1) ** 2 + (y + Fraction(1, 2)) ** 2
    text = (
        "where W binds it fails without dissimilarity and noise: one client, x^2+xy+y^2 on [1, 2] x [-1, 1], from w* "
        f"= (1, -1/2), gamma = 1/6, K = 2, R = 1 gives {left}, and the right side is 0"
    )
    return [Evidence("exact", "fails" if left else "holds", text, data={"left": str(left), "right": "0"})]


_ANY = "z with ties"
_SPECIAL: dict[str, Callable[[Claim], list[Evidence]]] = {
    "gen": _definition(
        "informal and cited: the failure probability is hidden in C, which the paper does not give; for linear classes "
        "theory.mixing.generalisation has a bound with constants"
    ),
    "eq1": _program(lambda rng, z: [Fraction(rng.randint(0, 9), 2) for _ in z], False, "any costs, lam = 1"),
    "eq2": _program(lambda rng, z: z, True, _ANY),
    "eq2-heterogeneous": _program(
        # with VC_j = n_j q_j^2 the root is q_j
        lambda rng, z: [z_j + Fraction(rng.randint(0, 6), 4) for z_j in z],
        True,
        f"{_ANY}; sqrt(VC_j/n_j) rational",
    ),
    "eq3": _definition(
        "a definition has nothing to be proved; with its 1/N some of what follows is false, and true or not with "
        "Phi = sum_j a_j f_j: the claims whose ids end in unnormalised"
    ),
    "lemma-4": _bound_lemma_4,
    "lemma-6": _bound_lemma_6,
}
