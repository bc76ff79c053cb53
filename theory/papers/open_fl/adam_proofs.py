"""The proofs of Theorem 3, (14) to (19), and of Lemma 5, (20) to (26), line by line, with what they use unsaid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from theory.claim import Claim, Hypothesis, Inference, Step, Use
from theory.papers.open_fl.adam_lines import DESCENT, FIRST_PART, LOWER, POLYAK, SUFFICIENT, UPPER
from theory.papers.open_fl.words import identifier

LOCAL_STEP = Hypothesis(
    "no communication in between",
    "iteration k is a local one of this client: x^k - x^{k-1} = -eta (eps I + Vhat^k)^(-1/2) h^k",
    where="(3), the iterates of which sections VI-B and VI-C speak; communications are Proposition 1's",
)
FRESH = Hypothesis(
    "fresh optimiser",
    "h^0 = 0, and 0 <= vhat^0 <= sigma^2 in every coordinate: Adam's own start, and every other that is bounded alike",
    where="Algorithm 1, lines 1 and 12: the local optimiser is initialised (how is not printed)",
)
FACTORS = Hypothesis(
    "factors of the moments",
    "beta1^2 < beta2: Lemma 8 of [21], which (25) cites, needs it",
    relation="beta1**2 < beta2",
    printed=False,
)


_NEED_FACTORS = tuple(map(identifier, ("theorem-3", "lemma-5", "eq17", "eq25", "eq26")))


def with_factors(claim: Claim, **changes: Any) -> Claim:
    """One of the claims that need it, with the condition on the factors of the moments, which the paper does not state.

    The lines of its proof are then those with that condition.
    """

    def named(id: str | None) -> str | None:
        return f"{id}/with-moment-factors" if id in _NEED_FACTORS else id

    return replace(
        claim,
        id=f"{claim.id}/with-moment-factors",
        title=f"{claim.title}, beta1^2 < beta2",
        hypotheses=(*claim.hypotheses, FACTORS),
        steps=tuple(replace(step, claim=named(step.claim)) for step in claim.steps),
        **changes,
    )


FINAL_26 = r"C_1\mathcal{L}^{(k)}+C_2"
NEXT = r"\mathbb{E}[\mathcal{L}^{(k+1)}|x^{(k)}]"
STEP_LENGTH = r"\frac{\eta^2d}{(1-\beta_2)(1-\beta_1^2/\beta_2)}"

# C1 written for eta: the combination is then rational in C1, and C1 >= 0 is all that it needs.
_BY_C1 = {"eta": "(1-C1)*sqrt(eps+sigma**2)/(2*mu)"}
RADIUS = "((1+a)/(1-a)*r + w)"  # a = kappa C1, w the root in (19)
OFFSET = "(w**2 - (1+3*a)/(1-a)**2*r**2)*(1-a)"  # (2/mu)(C2 + C3 + C1 C4) in terms of w

PROOF_OF_THEOREM_3 = (
    Step(
        "(14)",
        NEXT,
        "<=",
        FINAL_26,
        "inequality",
        "Lemma 5; it is about local steps, and needs the gradients at x^k and x^{k-1} bounded, though (5) bounds "
        "x^{k+1}",
        claim=identifier("lemma-5"),
        needs=(LOCAL_STEP, FRESH, FACTORS),
    ),
    Step(
        "strong convexity",
        r"\Vert x^{(k)}-x^*\Vert^2",
        "<=",
        r"\frac{2}{\mu}(f(x^{(k)})-f(x^*))",
        "inequality",
        "Assumption 1",
        vectors=LOWER,
    ),
    Step(
        "(15)",
        r"\Vert x^{(k)}-x^*\Vert^2",
        "<=",
        r"\frac{2}{\mu}(\mathcal{L}^{(k)}+C_3)",
        "inequality",
        "(13), with ||grad f(x^{k-1})|| <= sigma, ||h^k|| <= sigma and 0 <= vhat^k <= sigma^2",
        claim=identifier("eq15"),
        uses=("strong convexity",),
        needs=(FRESH,),
    ),
    Step(
        "smoothness",
        r"\Vert x^{(k)}-x^*\Vert^2",
        ">=",
        r"\frac{2}{L}(f(x^{(k)})-f(x^*))",
        "inequality",
        "Assumption 1",
        vectors=UPPER,
    ),
    Step(
        "(16)",
        r"\Vert x^{(k)}-x^*\Vert^2",
        ">=",
        r"\frac{2}{L}(\mathcal{L}^{(k)}-C_4)",
        "inequality",
        "(13), with ||grad f(x^{k-1})|| <= sigma, ||h^k|| <= sigma and vhat^k >= 0",
        claim=identifier("eq16"),
        uses=("smoothness",),
        needs=(FRESH,),
    ),
    Step(
        "(17)",
        r"\mathbb{E}[\Vert x^{(k+1)}-x^*\Vert^2|x^{(k)}]",
        "<=",
        r"\frac{L}{\mu}C_1\Vert x^{(k)}-x^*\Vert^2+\frac{2}{\mu}(C_2+C_3+C_1C_4)",
        "substitution",
        "(15) at k+1, (14), and (16) multiplied by L C1/mu, which needs C1 >= 0",
        claim=identifier("eq17"),
        uses=("(14)", "(15)", "(16)"),
        inference=Inference(
            (
                Use("(14)", "2/mu", _BY_C1),
                Use("(15)", "1", {"squared_distance": "next_squared_distance", "lyapunov": "lyapunov_next", **_BY_C1}),
                Use("(16)", "L*C1/mu", _BY_C1),
            ),
            at=_BY_C1,
        ),
        needs=(LOCAL_STEP, FRESH, FACTORS),
    ),
    Step(
        "(18)",
        r"\frac{L}{\mu}C_1(R+r)^2+\frac{2}{\mu}(C_2+C_3+C_1C_4)",
        "<=",
        r"R^2-2rR",
        "hypothesis",
        "claimed to be sufficient for R: it is, as E||x^{k+1}-x*||^2 <= R^2 - 2rR gives E||x^{k+1}||^2 <= R^2",
        claim=identifier("eq18"),
        vectors=SUFFICIENT,
    ),
    Step(
        "(19)",
        r"\kappa C_1(R+r)^2+\frac{2}{\mu}(C_2+C_3+C_1C_4)",
        "=",
        r"R^2-2rR",
        "identity",
        "at the printed R; a = kappa C1, w the root in (19)",
        claim=identifier("eq19"),
        identity=(f"a*({RADIUS}+r)**2 + {OFFSET}", f"{RADIUS}**2 - 2*r*{RADIUS}"),
    ),
    Step(
        "(5)",
        r"\mathbb{E}[\Vert x^{(k+1)}\Vert^2|x^{(k)}]",
        "<=",
        r"R^2",
        "substitution",
        "(17) with ||x^k - x*|| <= R + r, and (18) at the R of (19)",
        claim=identifier("theorem-3"),
        uses=("(17)", "(18)", "(19)"),
        inference=Inference(remains=(f"a*({RADIUS}+r)**2 + {OFFSET}", f"{RADIUS}**2 - 2*r*{RADIUS}")),
        needs=(LOCAL_STEP, FRESH, FACTORS),
    ),
)

_CHOICE = {"b": "eta*sigma**2/(1-beta1)", "c": "eta*beta1/(1-beta1)"}

PROOF_OF_LEMMA_5 = (
    Step(
        "(20)",
        r"f(x^{(k+1)})-f(x^{(k)})",
        "<=",
        r"\frac{L}{2}\Vert x^{(k+1)}-x^{(k)}\Vert^2+\eta A^{(k)}",
        "inequality",
        "smoothness of f",
        claim=identifier("eq20"),
        vectors=DESCENT,
    ),
    Step(
        "(21)",
        r"\mathbb{E}[A^{(k)}|x^{(k)}]",
        "=",
        r"I_1+I_2+I_3",
        "identity",
        "in each coordinate: f1 of the gradient, D and E of the inverse roots at k and k+1, g of the sample",
        claim=identifier("eq21"),
        identity=(
            "-f1*E*(beta1*h+(1-beta1)*g)",
            "-beta1*f1*D*h - (1-beta1)*f1*D*g - f1*(E-D)*(beta1*h+(1-beta1)*g)",
        ),
    ),
    Step(
        "(22)",
        r"I_1",
        "<=",
        r"\beta_1A^{(k-1)}+\frac{\beta_1L}{\eta}\Vert x^{(k)}-x^{(k-1)}\Vert^2",
        "inequality",
        "smoothness, and x^k - x^{k-1} = -eta (eps I + Vhat^k)^(-1/2) h^k",
        claim=identifier("eq22"),
        vectors=FIRST_PART,
        needs=(LOCAL_STEP,),
    ),
    Step(
        "(23)",
        r"I_2",
        "=",
        r"-(1-\beta_1)\Vert\nabla f(x^{(k)})\Vert^2_{(\epsilon I+\hat{V}^{(k)})^{-1/2}}",
        "moment identity",
        "E g = grad f(x^k), as Vhat^k is known at step k",
        claim=identifier("eq23"),
    ),
    Step(
        "(24)",
        r"I_3",
        "<=",
        r"\sigma^2\mathbb{E}[\sum_i(\epsilon+\hat{v}_i^{(k)})^{-1/2}-(\epsilon+\hat{v}_i^{(k+1)})^{-1/2}|x^{(k)}]",
        "inequality",
        "||grad f|| <= sigma, ||h^{k+1}|| <= sigma, the spectral norm is at most the trace; vhat never falls",
        claim=identifier("eq24"),
        needs=(FRESH,),
    ),
    Step(
        "Lemma 8 of [21]",
        r"\Vert x^{(k+1)}-x^{(k)}\Vert^2",
        "<=",
        STEP_LENGTH,
        "cited",
        "cited in (25), for the steps to k+1 and to k; by Cauchy-Schwarz it holds, with a further factor (1-beta1)^2",
        claim=identifier("eq25/step-length"),
        needs=(LOCAL_STEP, FRESH, FACTORS),
    ),
    Step(
        "(25)",
        NEXT + r"-\mathcal{L}^{(k)}",
        "<=",
        r"\frac{L}{2}S-cA^{(k-1)}+b\,\mathbb{E}[\Sigma^{(k+1)}-\Sigma^{(k)}]+(\eta+c)(\beta_1A^{(k-1)}"
        r"+\frac{\beta_1L}{\eta}S-(1-\beta_1)\Vert\nabla f\Vert^2_D+\sigma^2\mathbb{E}[\Sigma^{(k)}-\Sigma^{(k+1)}])",
        "substitution",
        "S the square of the step length, Sigma^k = sum_i (eps + vhat_i^k)^(-1/2)",
        claim=identifier("eq25"),
        uses=("(20)", "(21)", "(22)", "(23)", "(24)", "Lemma 8 of [21]"),
        inference=Inference(
            (
                Use("(20)"),
                Use("(21)", "eta+c"),
                Use("(22)", "eta+c"),
                Use("(23)", "eta+c"),
                Use("(24)", "eta+c"),
                Use("Lemma 8 of [21]", "L/2"),
                Use("Lemma 8 of [21]", "(eta+c)*beta1*L/eta", {"next_squared_step": "squared_step"}),
            ),
            at={
                "lyapunov_increase": "cost_increase + c*expected_descent - c*A_previous - b*inverse_root_drop",
            },
        ),
        needs=(LOCAL_STEP, FRESH, FACTORS),
    ),
    Step(
        "choice of b and c",
        r"(\eta+c)\beta_1",
        "=",
        r"c",
        "definition",
        "c = eta beta1/(1-beta1)",
        identity=("(eta+eta*beta1/(1-beta1))*beta1", "eta*beta1/(1-beta1)"),
    ),
    Step(
        "choice of b",
        r"\sigma^2(\eta+c)",
        "=",
        r"b",
        "definition",
        "b = eta sigma^2/(1-beta1)",
        identity=("sigma**2*(eta+eta*beta1/(1-beta1))", "eta*sigma**2/(1-beta1)"),
    ),
    Step(
        "(26)",
        NEXT,
        "<=",
        r"\mathcal{L}^{(k)}+(\frac{L}{2}+(\eta+c)\frac{\beta_1L}{\eta})S"
        r"-(\eta+c)(1-\beta_1)\Vert\nabla f(x^{(k)})\Vert^2_D",
        "substitution",
        "the first line of (26): (25) with these b and c, in which the sums of inverse roots cancel",
        claim=identifier("eq26"),
        uses=("(25)", "choice of b and c", "choice of b"),
        inference=Inference((Use("(25)", at={"lyapunov_increase": "lyapunov_next - lyapunov", **_CHOICE}),)),
        needs=(LOCAL_STEP, FRESH, FACTORS),
    ),
    Step(
        "(26), second line",
        r"(\frac{L}{2}+(\eta+c)\frac{\beta_1L}{\eta})S-(\eta+c)(1-\beta_1)W",
        "=",
        r"(\frac{L}{2}+\frac{L\beta_1}{1-\beta_1})S-\eta W",
        "identity",
        "printed with (eta+c)(1-beta1), which is eta, in the next line",
        identity=(
            "(L/2+(eta+eta*beta1/(1-beta1))*beta1*L/eta)*S - (eta+eta*beta1/(1-beta1))*(1-beta1)*W",
            "(L/2+L*beta1/(1-beta1))*S - eta*W",
        ),
        uses=("(26)",),
    ),
    Step(
        "(26), third line",
        r"(\epsilon+\sigma^2)^{-1/2}\Vert\nabla f\Vert^2",
        "<=",
        r"\Vert\nabla f\Vert^2_{(\epsilon I+\hat{V}^{(k)})^{-1/2}}",
        "inequality",
        "in each coordinate, with vhat <= sigma^2: sqrt(eps+sigma^2) = root + more with more >= 0",
        identity=("g**2/(root+more)", "g**2/root"),
        uses=("(26), second line",),
        needs=(FRESH,),
    ),
    Step(
        "(26), fourth line",
        r"\Vert\nabla f(x^{(k)})\Vert^2",
        ">=",
        r"2\mu(f(x^{(k)})-f(x^*))",
        "inequality",
        "strong convexity",
        vectors=POLYAK,
        uses=("(26), third line",),
    ),
    Step(
        "(26), fifth line",
        r"f(x^{(k)})-f(x^*)",
        "=",
        r"\mathcal{L}^{(k)}-b\Sigma^{(k)}-cA^{(k-1)}",
        "definition",
        "(13)",
        identity=("gap", "(gap + b*Sigma + c*A) - b*Sigma - c*A"),
        uses=("(26), fourth line",),
    ),
    Step(
        "(26), last bound",
        r"b\Sigma^{(k)}+cA^{(k-1)}",
        "<=",
        r"\frac{\eta\sigma^2}{\sqrt{\epsilon}}d\frac{1+\beta_1}{1-\beta_1}",
        "inequality",
        "Sigma <= d eps^(-1/2) and A <= sigma^2 eps^(-1/2) leave (eta sigma^2/((1-beta1) sqrt(eps)))(d + beta1), and "
        "d + beta1 <= d (1 + beta1); a stands for the factor before it",
        identity=("a*(d+beta1)", "a*d*(1+beta1)"),
        uses=("(26), fifth line",),
        needs=(FRESH,),
    ),
    Step(
        "(14)",
        NEXT,
        "<=",
        FINAL_26,
        "substitution",
        "the lines of (26) put together; a = eta sigma^2/((1-beta1) sqrt(eps)), s = sqrt(eps + sigma^2)",
        claim=identifier("lemma-5"),
        uses=(
            "(26)",
            "(26), second line",
            "(26), third line",
            "(26), fourth line",
            "(26), fifth line",
            "(26), last bound",
        ),
        inference=Inference(
            remains=(
                "(1-2*mu*eta/s)*lyapunov + constant + 2*mu*eta/s*a*(d+beta1)",
                "(1-2*mu*eta/s)*lyapunov + constant + 2*mu*eta/s*a*d*(1+beta1)",
            )
        ),
        needs=(LOCAL_STEP, FRESH, FACTORS),
    ),
)
