"""How minimisers move with the weights: Lemmas 1 and 2."""

from __future__ import annotations

from typing import Any

from theory.claim import Claim, Quantity, Step
from theory.papers.perm.weights_lines import minimisers, projected_step
from theory.papers.perm.words import (
    A1,
    A4,
    G,
    L,
    N,
    da2,
    dv2,
    mu,
    result,
)

MINIMISER_DISTANCE = Quantity("minimiser_distance", "||v*(a) - v*(a')||", r"\Vert v^*(\alpha)-v^*(\alpha')\Vert")
GAP_AT_BEST = Quantity(
    "gap_at_best_weights", "Phi(a*, vhat) - Phi(a*, v*)", r"\Phi(\alpha^*,\hat v)-\Phi(\alpha^*,v^*)"
)
GAP_AT_BEST_SUM = Quantity(
    "gap_at_best_weights_sum", "Phi(a*, vhat) - Phi(a*, v*) with Phi = sum_j a_j f_j", GAP_AT_BEST.latex
)

_STEP_1 = r"v^*(\alpha')-v^*(\alpha)"
_AT = r"\nabla_2\Phi(\alpha,v^*(\alpha'))"
_AT_OWN = r"\nabla_2\Phi(\alpha,v^*(\alpha))"
_AT_OTHER = r"\nabla_2\Phi(\alpha',v^*(\alpha'))"
PROOF_OF_LEMMA_1 = (
    Step(
        "(4)",
        "0",
        "<=",
        r"\langle " + _STEP_1 + "," + _AT_OWN + "-" + _AT_OTHER + r"\rangle",
        "inequality",
        "the two optimality conditions, added",
        vectors=minimisers("0", "first"),
    ),
    Step(
        "(5)",
        r"\mu\Vert " + _STEP_1 + r"\Vert^2",
        "<=",
        r"\langle " + _STEP_1 + "," + _AT + "-" + _AT_OWN + r"\rangle",
        "hypothesis",
        "strong convexity of Phi(a, .)",
        vectors=minimisers("modulus", "second"),
    ),
    Step(
        "(4) and (5)",
        r"\mu\Vert " + _STEP_1 + r"\Vert^2",
        "<=",
        r"\langle " + _STEP_1 + "," + _AT + "-" + _AT_OTHER + r"\rangle",
        "summation",
        vectors=minimisers("modulus", "sum"),
        uses=("(4)", "(5)"),
    ),
    Step(
        "Lemma 1",
        r"\Vert " + _STEP_1 + r"\Vert^2",
        "<=",
        r"\frac{L^2}{\mu^2}\Vert\alpha-\alpha'\Vert^2",
        "inequality",
        "Cauchy-Schwarz and the Lipschitz condition",
        vectors=minimisers("distance", "bound"),
        uses=("(4) and (5)",),
    ),
)

_V = r"v-\hat v"
_TV = r"\Vert\tilde v-v\Vert^2"
_TH = r"\Vert\tilde v-\hat v\Vert^2"
_A = r"\Vert\hat\alpha-\alpha^*\Vert^2"
_PHI = r"\nabla\Phi(\alpha^*,\tilde v)"
_T1 = r"\langle " + _V + r",L(\hat v-\tilde v)+" + _PHI + r"\rangle"
_T2 = r"\langle " + _V + r",\nabla\Phi(\hat\alpha,\tilde v)-" + _PHI + r"\rangle"
_GAP = r"\Phi(\alpha^*,v)-\Phi(\alpha^*,\hat v)"
PROOF_OF_LEMMA_2 = (
    Step(
        "T1, split",
        _T1,
        "=",
        r"L\langle v-\tilde v,\hat v-\tilde v\rangle-L" + _TH + r"+\langle " + _V + "," + _PHI + r"\rangle",
        "identity",
        "v = v*(a*) here and below",
        vectors=projected_step("T1", "=", "T1 split"),
    ),
    Step(
        "T1, Young",
        _T1,
        "<=",
        "L(" + _TV + r"+\frac{1}{4}" + _TH + ")-L" + _TH + r"+\langle " + _V + "," + _PHI + r"\rangle",
        "inequality",
        vectors=projected_step("T1 split", "<=", "T1 Young"),
        uses=("T1, split",),
    ),
    Step(
        "spade",
        r"\langle " + _V + "," + _PHI + r"\rangle",
        "<=",
        _GAP + r"-\frac{\mu}{2}" + _TV + r"+\frac{L}{2}" + _TH,
        "inequality",
        "strong convexity and smoothness of Phi(a*, .)",
        vectors=projected_step("spade", "<=", "spade bound"),
    ),
    Step(
        "T1",
        _T1,
        "<=",
        _GAP + r"+\frac{L}{2}" + _TV + r"-(\frac{3L}{4}-\frac{L}{2})" + _TH,
        "substitution",
        "the lines before give L - mu/2 in front of the first norm, not L/2: the line is true by itself and does not "
        "follow",
        vectors=projected_step("T1", "<=", "T1 bound"),
        uses=("T1, Young", "spade"),
    ),
    Step(
        "T2",
        _T2,
        "<=",
        r"\frac{L}{4}"
        + _TV
        + r"+\frac{L}{4}"
        + _TH
        + r"+\frac{4}{L}\Vert\nabla\Phi(\hat\alpha,\tilde v)-"
        + _PHI
        + r"\Vert^2",
        "inequality",
        "Cauchy-Schwarz and Young; 2/L would do",
        vectors=projected_step("T2", "<=", "T2 Young"),
    ),
    Step(
        "T2, Lipschitz",
        _T2,
        "<=",
        r"\frac{L}{4}" + _TV + r"+\frac{L}{4}" + _TH + r"+\frac{4NG^2}{L}" + _A,
        "inequality",
        "grad Phi is sqrt(N) G-Lipschitz in alpha",
        vectors=projected_step("T2 Young", "<=", "T2 bound"),
        uses=("T2",),
    ),
    Step(
        "pieces",
        "0",
        "<=",
        _GAP + r"+\frac{L}{2}" + _TV + r"+\frac{L}{2}" + _TV + r"+\frac{4NG^2}{L}" + _A,
        "summation",
        "true by itself; L/4 of T2 is printed as L/2",
        vectors=projected_step("0", "<=", "pieces"),
        uses=("T1", "T2, Lipschitz"),
    ),
    Step(
        "triangle",
        r"L\Vert\tilde v-v^*(\alpha^*)\Vert^2",
        "<=",
        r"L\Vert\tilde v-v^*(\hat\alpha)\Vert^2+L\Vert v^*(\hat\alpha)-v^*(\alpha^*)\Vert^2",
        "inequality",
        "a factor 2 is lost, and regained in the next line",
        vectors=projected_step("distance", "<=", "triangle"),
    ),
    Step(
        "triangle, second",
        r"L\Vert\tilde v-v^*(\alpha^*)\Vert^2",
        "<=",
        r"2L\Vert\tilde v-v^*(\hat\alpha)\Vert^2+2\kappa_{\Phi}^2L" + _A,
        "inequality",
        "Lemma 1; true, with the factor 2",
        vectors=projected_step("distance", "<=", "twice"),
        uses=("triangle",),
    ),
    Step(
        "Lemma 2",
        GAP_AT_BEST.latex,
        "<=",
        r"2L\Vert\tilde v-v^*(\hat\alpha)\Vert^2+(2\kappa_{\Phi}^2L+\frac{4NG^2}{L})" + _A,
        "summation",
        vectors=projected_step("gap", "<=", "right"),
        uses=("pieces", "triangle, second"),
    ),
)
_LEMMA_2: dict[str, Any] = {
    "parameters": (L, mu, N, G, dv2, da2),
    "hypotheses": (*A1, A4),
    "definitions": {
        "kappa_phi2": "N*G**2/mu**2",
        "model_term": "2*L*dv2",
        "weights_term": "(2*kappa_phi2*L + 4*N*G**2/L)*da2",
    },
    "right": "model_term + weights_term",
    "steps": PROOF_OF_LEMMA_2,
    "vectors": projected_step("gap", "<=", "right"),
}
_LEMMA_2_LATEX = (
    GAP_AT_BEST.latex + r"\leq 2L\Vert\tilde v-v^*(\hat\alpha)\Vert^2+(2\kappa_{\Phi}^2L+\frac{4NG^2}{L})" + _A
)
_LEMMA_2_TEXT = (
    "vhat = P_W(vt - (1/L) grad Phi(ahat, vt)): Phi(a*, vhat) - Phi(a*, v*) <= 2L ||vt - v*(ahat)||^2 + (2 kPhi^2 L + "
    "4 N G^2/L) ||ahat - a*||^2, kPhi = sqrt(N) G/mu"
)

LEMMA_1 = result(
    "lemma-1",
    "lemma",
    "the minimiser is Lipschitz in the weights",
    "Lemma 1",
    "If Phi(a, .) is mu-strongly convex on W and grad_v Phi is L-Lipschitz in a, then v*(a) is (L/mu)-Lipschitz.",
    MINIMISER_DISTANCE.latex + r"\leq\frac{L}{\mu}\Vert\alpha-\alpha'\Vert",
    MINIMISER_DISTANCE,
    "Lemma 1, appendix B.1",
    relation="<=",
    steps=PROOF_OF_LEMMA_1,
    vectors=minimisers("distance", "bound"),
    remarks=("L is here the modulus in a, elsewhere the smoothness in v.",),
)
LEMMA_2 = result(
    "lemma-2",
    "lemma",
    "the gap at the best weights of a model made with others",
    "Lemma 2",
    _LEMMA_2_TEXT + "; Phi as in (3).",
    _LEMMA_2_LATEX,
    GAP_AT_BEST,
    "Lemma 2, appendix B.1",
    **_LEMMA_2,
    relation="<=",
    remarks=(
        "The proof has Phi = sum_j a_j f_j. With (3) Phi is (mu/N)-strongly convex, (L/N)-smooth and its gradient "
        "(G/sqrt(N))-Lipschitz in a: kPhi is the same, and the lemma is true in both readings.",
        "The proof loses L/2 in one line and a factor 2 in another; L ||vt - v*(ahat)||^2 + (kPhi^2 L + N G^2/(2L)) "
        "||ahat - a*||^2 is true as well.",
    ),
)
LEMMA_2_UNNORMALISED = result(
    "lemma-2/unnormalised",
    "lemma",
    "the gap at the best weights of a model made with others",
    "Lemma 2, read with Phi = sum a_j f_j",
    _LEMMA_2_TEXT + "; Phi = sum_j a_j f_j.",
    _LEMMA_2_LATEX,
    GAP_AT_BEST_SUM,
    "Lemma 2, as its proof reads (3)",
    **_LEMMA_2,
    relation="<=",
)
CLAIMS: tuple[Claim, ...] = (LEMMA_1, LEMMA_2, LEMMA_2_UNNORMALISED)
