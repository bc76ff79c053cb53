"""How the mixing weights move with w: the Lipschitz observation of section 3.1, Lemma 3."""

from __future__ import annotations

from theory.claim import Claim, Quantity, Step
from theory.papers.perm.weights_lines import two_clients
from theory.papers.perm.words import (
    A1,
    WEIGHT_DISTANCE,
    L,
    dist2,
    identifier,
    lam,
    n,
    result,
    zeta_vector,
)

SQUARED_CHANGE = Quantity(
    "squared_weight_change", "||a*(w^R) - a*(w*)||^2, over all clients' weights", WEIGHT_DISTANCE + "^2"
)
CHANGE = Quantity("weight_change", "||a*(w^R) - a*(w*)||", WEIGHT_DISTANCE)

MODULUS = "amax(n)/(2*lam)"
ZETA = r"\sum_j(2\zeta_{ij}(w^*)+4L^2\Vert w^R-w^*\Vert^2)"
D2 = r"\Vert w^R-w^*\Vert^2"
SECOND_READING = "Section 3.1 calls kappa_g = n_max/(2 lam) a condition number; it is the Lipschitz modulus of a*(z)."

MOVED = (
    Step(
        "(7)",
        WEIGHT_DISTANCE + "^2",
        "<=",
        r"\kappa_g^2\Vert z^R-z^*\Vert^2",
        "cited",
        "Lemma 1 with mu = 2 lam/n_max and L = 1 (printed: Proposition 1, and strong convexity in z for alpha)",
        claim=identifier("lemma-1"),
    ),
    Step(
        "change of the gradients",
        r"\Vert(\nabla f_i-\nabla f_j)(w^R)-(\nabla f_i-\nabla f_j)(w^*)\Vert^2",
        "<=",
        r"4L^2" + D2,
        "inequality",
        "Assumption 1; (L-mu)^2 for 4L^2 is true as well, because f_i - f_j is (L-mu)-smooth",
        vectors=two_clients("change", "printed change"),
    ),
    Step(
        "sum of the gradients",
        r"\Vert(\nabla f_i-\nabla f_j)(w^R)+(\nabla f_i-\nabla f_j)(w^*)\Vert^2",
        "<=",
        r"2\zeta_{ij}(w^*)+4L^2" + D2,
        "inequality",
        "false at w^R = w*, where the left side is 4 zeta; from ||a|| <= ||b|| + 2L d follows (2||b|| + 2L d)^2",
        vectors=two_clients("sum", "printed sum"),
    ),
)
REPAIRED_MOVED = (
    *MOVED[:1],
    Step(
        "change of the gradients",
        r"\Vert(\nabla f_i-\nabla f_j)(w^R)-(\nabla f_i-\nabla f_j)(w^*)\Vert^2",
        "<=",
        r"(L-\mu)^2" + D2,
        "inequality",
        "f_i - f_j is (L-mu)-smooth",
        vectors=two_clients("change", "true change"),
    ),
    Step(
        "sum of the gradients",
        r"\Vert(\nabla f_i-\nabla f_j)(w^R)+(\nabla f_i-\nabla f_j)(w^*)\Vert^2",
        "<=",
        r"4(2\zeta_{ij}(w^*)+4L^2" + D2 + ")",
        "inequality",
        "true with a factor 9/16 to spare, and no less",
        vectors=two_clients("sum", "true sum"),
    ),
    Step(
        "product",
        r"(L-\mu)^2\cdot4(2\zeta+4L^2d^2)d^2",
        "<=",
        r"4L^2(2\zeta+4L^2d^2)d^2",
        "inequality",
        "Cauchy-Schwarz, |<x,y>|^2 <= ||x||^2 ||y||^2, and L = mu + rest",
        identity=("rest**2*4*(2*zeta+4*(mu+rest)**2*d)*d", "4*(mu+rest)**2*(2*zeta+4*(mu+rest)**2*d)*d"),
        uses=("change of the gradients", "sum of the gradients"),
    ),
)

DERIVATION_3 = (
    "a*(z) = argmin sum a_j z_j + lam sum a_j^2/n_j is n_max/(2 lam)-Lipschitz in z (Lemma 1). z_j^R - z_j^* = <x - y, "
    "x + y> for the differences x, y of the gradients at w^R and w*. f_i - f_j is (L-mu)-smooth, so ||x-y|| <= "
    "(L-mu) d and ||x+y|| <= 2||y|| + (L-mu) d, d = ||w^R - w*||; hence (z_j^R-z_j^*)^2 <= L^2 d^2 (2||y||+Ld)^2 <= "
    "4 L^2 d^2 (2 zeta_ij(w*) + 4 L^2 d^2), as (2b+x)^2 <= 9/16 (8b^2+16x^2)."
)

OBSERVATION = result(
    "lipschitz-observation",
    "equation",
    "the weights move less the closer w is to w*",
    "Section 3.1",
    "||a*(w^R) - a*(w*)||^2 <= 4 L^2 kappa_g^2 sum_j (2 zeta_ij(w*) + 4 L^2 ||w^R-w*||^2) ||w^R-w*||^2, kappa_g = "
    "n_max/(2 lam), 'the condition number of g_i(w, .)'.",
    SQUARED_CHANGE.latex + r"\leq 4L^2\kappa_g^2" + ZETA + D2,
    SQUARED_CHANGE,
    "Section 3.1, before Assumption 1",
    parameters=(L, lam, n, zeta_vector, dist2),
    hypotheses=A1[:2],
    definitions={
        "kappa_g": MODULUS,
        "condition_number": "amax(n)/amin(n)",
        "kappa_of_theorem_1": "1/(lam*amin(n))",
        "dissimilarity": "sum(2*zeta + 4*L**2*dist2)",
    },
    relation="<=",
    right="4*L**2*kappa_g**2*dissimilarity*dist2",
    steps=REPAIRED_MOVED,
    remarks=(
        SECOND_READING + " The condition number of g_i in alpha is n_max/n_min.",
        "The printed derivation (Lemma 3) does not give this constant; for convex f_i it is true all the same, with a "
        "factor 16/9 to spare.",
        "Without convexity it is false: ||grad f_i - grad f_j|| may then change by 2L d.",
    ),
)

LEMMA_3 = result(
    "lemma-3",
    "lemma",
    "how the weights move with w",
    "Lemma 3",
    "||a*(w^R) - a*(w*)|| <= kappa_g^2 sum_j (2 zeta_ij(w*) + 4 L^2 ||w^R-w*||^2) 4 L ||w^R-w*||^2, kappa_g = "
    "n_max/(2 lam).",
    CHANGE.latex + r"\leq\kappa_g^2" + ZETA + "4L" + D2,
    CHANGE,
    "Lemma 3, appendix B.2",
    parameters=(L, lam, n, zeta_vector, dist2),
    hypotheses=A1[:2],
    definitions={"kappa_g": MODULUS, "dissimilarity": "sum(2*zeta + 4*L**2*dist2)"},
    relation="<=",
    right="kappa_g**2*dissimilarity*4*L*dist2",
    steps=(
        *MOVED,
        Step(
            "Lemma 3",
            CHANGE.latex,
            "<=",
            r"\kappa_g^2" + ZETA + "4L" + D2,
            "substitution",
            "the square of the left side is lost, and 4L stands for 4L^2",
            claim=identifier("lemma-3"),
            identity=("4*L**2", "4*L"),
            uses=("(7)", "change of the gradients", "sum of the gradients"),
        ),
    ),
    remarks=(
        "The left side is not squared although the derivation bounds its square: of first order in ||w^R-w*|| on the "
        "left, of second on the right, so false for every w^R near w* at which the weights move.",
        "4L for 4L^2: with the square put back it is still false for large L.",
    ),
)
LEMMA_3_CORRECTED = result(
    "lemma-3/corrected",
    "lemma",
    "how the weights move with w",
    "Lemma 3, corrected",
    "||a*(w^R) - a*(w*)||^2 <= 4 L^2 kappa_g^2 sum_j (2 zeta_ij(w*) + 4 L^2 ||w^R-w*||^2) ||w^R-w*||^2.",
    CHANGE.latex + r"\leq 2L\kappa_g\sqrt{" + ZETA + D2 + "}",
    CHANGE,
    "repair of Lemma 3: the observation of section 3.1",
    parameters=(L, lam, n, zeta_vector, dist2),
    hypotheses=A1[:2],
    definitions={"kappa_g": MODULUS, "dissimilarity": "sum(2*zeta + 4*L**2*dist2)"},
    relation="<=",
    right="2*L*kappa_g*sqrt(dissimilarity*dist2)",
    steps=REPAIRED_MOVED,
    amends="lemma-3",
    derivation=DERIVATION_3,
)

CLAIMS: tuple[Claim, ...] = (
    LEMMA_3,
    LEMMA_3_CORRECTED,
)
