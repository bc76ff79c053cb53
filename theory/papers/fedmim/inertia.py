"""The recursion of FedMIM: the local update (2), the sequence u_t (Lemma 5), the increments delta_t (Lemma 6)."""

from __future__ import annotations

from theory.claim import Claim, Quantity, Step
from theory.papers.fedmim.lines import recursion
from theory.papers.fedmim.words import (
    BOUNDED_DTILDE,
    LAGS,
    NEXT_DELTA,
    WEIGHTS,
    WEIGHTS_IN_WORDS,
    alpha,
    delta_sq,
    dtilde_sq,
    identifier,
    result,
)

_LOCAL = Quantity("local_update", "x_{i,k+1} - x_{i,k}", r"x_{i,k+1}^t-x_{i,k}^t")
_U_NEXT = Quantity("auxiliary_iterate", "u_{t+1}", r"u_{t+1}")
_DELTA_NEXT = Quantity("increment", "delta_{t+1}", r"\delta_{t+1}")
_MEAN = r"\eta\frac{1}{SK}\sum_{i\in S_t}\sum_{k}g_{i,k}^t"
_INERTIA = r"\sum_j\alpha_j\delta_{t-j}"
_GLOBAL = r"\nabla f(x_t)"
_CLIENT = r"\nabla f_i(x_{i,k}^t-\hat\rho\nabla f(x_t))"
_TWO_GRADIENTS = r"-(1-A)\eta_l" + _GLOBAL + r"-A\eta_l" + _CLIENT


def _corrected_gradient(sign: str) -> Step:
    return Step(
        "the correction",
        _TWO_GRADIENTS,
        "=",
        r"-\eta_l[" + _CLIENT + sign + r"(1-A)(" + _CLIENT + "-" + _GLOBAL + ")]",
        "identity",
        "the sign of the correction is wrong: as printed it leads away from the global gradient"
        if sign == "+"
        else "A = 1 - (1-A)",
        # A = 1/(1+m), so that it stays in (0, 1]
        identity=(
            "-m/(1+m)*eta_l*grad - 1/(1+m)*eta_l*grad_i",
            f"-eta_l*(grad_i {sign} m/(1+m)*(grad_i - grad))",
        ),
    )


EQ2 = result(
    "eq2",
    "equation",
    "the local update read as a corrected gradient step",
    "(2)",
    "x_{i,k+1} = x_{i,k} - (1-A) eta_l delta_{t-j} - A eta_l grad f_i(x_{i,k} - eta_l sum_j beta_j delta_{t-j}), which "
    "for delta close to eta_l grad f(x_t) is close to x_{i,k} - eta_l [grad f_i(.) + (1-A)(grad f_i(.) - "
    "grad f(x_t))].",
    _LOCAL.latex
    + r"\approx-\eta_l[\nabla f_i(x_{i,k}^t-\hat\rho\nabla f(x_t))+(1-A)(\nabla f_i(x_{i,k}^t-\hat\rho\nabla f(x_t))"
    + r"-\nabla f(x_t))]",
    _LOCAL,
    "(2), Section III-B",
    relation="=",
    steps=(
        Step(
            "Algorithm 1",
            _LOCAL.latex,
            "=",
            r"-(1-A)\eta_l\delta_{t-j}-A\eta_l\nabla f_i(x_{i,k}^t-\eta_l\sum_j\beta_j\delta_{t-j})",
            "definition",
            "delta is multiplied by eta_l twice: Algorithm 1 subtracts sum_j alpha_j delta_{t-j}; j is bound "
            "by no sum. Compared for one lag, without the gradient",
            identity=("-m/(1+m)*delta", "-m/(1+m)*eta_l*delta"),
        ),
        _corrected_gradient("+"),
    ),
    remarks=(
        "The sign of the correction (1-A)(grad f_i - grad f) is wrong; with a minus it turns the step from the "
        "client's gradient to the global one, which is what the text says of it.",
        "In the first line delta stands for delta/eta_l; the following lines use delta = eta_l grad f.",
    ),
)
EQ2_CORRECTED = result(
    "eq2/corrected",
    "equation",
    "the local update read as a corrected gradient step",
    "(2), corrected",
    "x_{i,k+1} = x_{i,k} - sum_j alpha_j delta_{t-j} - A eta_l grad f_i(x_{i,k} - sum_j beta_j delta_{t-j}), which for "
    "delta = eta_l grad f(x_t) is x_{i,k} - eta_l [grad f_i(.) - (1-A)(grad f_i(.) - grad f(x_t))].",
    _LOCAL.latex
    + r"\approx-\eta_l[\nabla f_i(x_{i,k}^t-\hat\rho\nabla f(x_t))-(1-A)(\nabla f_i(x_{i,k}^t-\hat\rho\nabla f(x_t))"
    + r"-\nabla f(x_t))]",
    _LOCAL,
    "repair of (2)",
    relation="=",
    steps=(_corrected_gradient("-"),),
    amends="eq2",
    derivation="sum_j alpha_j = 1-A and A = 1 - (1-A).",
)

LEMMA_5 = result(
    "lemma-5",
    "lemma",
    "the auxiliary sequence moves by a plain step",
    "Lemma 5",
    "With eta = K eta_l and u_t = x_t - (K/A) sum_j (sum_{s=j}^{J-1} alpha_s) delta_{t-j}: u_{t+1} = u_t - "
    "eta (1/(SK)) sum g_{i,k}.",
    r"u_{t+1}=u_t-" + _MEAN,
    _U_NEXT,
    "Lemma 5, (16), appendix B",
    hypotheses=(WEIGHTS_IN_WORDS,),
    relation="=",
    steps=(
        Step(
            "(17)",
            "u_{t+1}",
            "=",
            r"u_t-K(\frac{1}{A}\delta_{t+1}-\sum_j\frac{\alpha_j}{A}\delta_{t-j})",
            "identity",
            "A + sum_{s>=0} alpha_s = 1",
            vectors=recursion("u by deltas", "=", "0"),
        ),
        Step(
            "(16)",
            "u_{t+1}",
            "=",
            r"u_t-" + _MEAN,
            "identity",
            "by (19), which is proved after it",
            vectors=recursion("u", "=", "0"),
            uses=("(17)",),
        ),
    ),
    vectors=recursion("u", "=", "0"),
    remarks=(
        "True when the lags are 0, ..., J-1; Table III counts them from 1, see lemma-5/lags-from-one.",
        "Algorithm 1 computes delta_t in the client, from x_{t-1}: with partial participation a client that was not "
        "selected in round t-1 does not have it, so that it has to be sent or recovered (the paper counts it as free).",
    ),
)
LEMMA_5_FROM_ONE = result(
    "lemma-5/lags-from-one",
    "lemma",
    "the auxiliary sequence, lags counted from 1",
    "Lemma 5, I = {1, ..., J}",
    "The same with j in I = {1, ..., J}, as the indices of Table III suggest: the inner sum then leaves alpha_J out.",
    r"u_{t+1}=u_t-" + _MEAN,
    _U_NEXT,
    "Lemma 5 with the indices of Table III",
    hypotheses=(WEIGHTS_IN_WORDS,),
    relation="=",
    vectors=recursion("u", "=", "0", from_one=True),
    remarks=("False: FedCM with the weight alpha_1 has u_t = x_t by it, and x_t does not move by a plain step.",),
)

LEMMA_6 = result(
    "lemma-6",
    "lemma",
    "the increments average the gradients",
    "Lemma 6",
    "delta_{t+1} = A dtilde_t + sum_j alpha_j delta_{t-j}; and E||delta_t||^2 <= eta_l^2 C for every t >= 1 if "
    "||dtilde_t||^2 <= eta_l^2 C.",
    r"\delta_{t+1}=A\tilde\delta_t+" + _INERTIA,
    _DELTA_NEXT,
    "Lemma 6, (19), appendix B",
    hypotheses=(WEIGHTS_IN_WORDS, BOUNDED_DTILDE),
    relation="=",
    steps=(
        Step(
            "(20)",
            r"\delta_{t+1}",
            "=",
            r"A\tilde\delta_t+" + _INERTIA,
            "identity",
            "clients that are not selected do not enter; the printed reason (a) is not needed",
            vectors=recursion("delta", "=", "0"),
        ),
        Step(
            "(21)",
            NEXT_DELTA.latex,
            "<=",
            r"A\mathbb{E}\Vert\tilde\delta_t\Vert^2+\sum_j\alpha_j\mathbb{E}\Vert\delta_{t-j}\Vert^2",
            "inequality",
            "Jensen (Lemma 3)",
            claim=identifier("eq21"),
            vectors=recursion("moved", "<=", "Jensen"),
            uses=("(20)",),
        ),
        Step(
            "bounded",
            NEXT_DELTA.latex,
            "<=",
            r"\eta_l^2C",
            "substitution",
            "by induction from delta_0 = delta_{-1} = ... = 0: A + sum alpha = 1",
            identity=("A*c + (1-A)*c", "c"),
            uses=("(21)",),
        ),
    ),
    vectors=recursion("delta", "=", "0"),
    remarks=(
        "C is assumed, not derived: a bound of the average gradient along the run that none of the assumptions gives. "
        "It enters the theorems.",
        "Lemma 3, which (21) uses, is printed for weights in (0, 1); weights of 0 do no harm.",
    ),
)
EQ21 = result(
    "eq21",
    "equation",
    "the increments, in mean square",
    "(21)",
    "E||delta_{t+1}||^2 <= A E||dtilde_t||^2 + sum_j alpha_j E||delta_{t-j}||^2.",
    NEXT_DELTA.latex + r"\leq A\mathbb{E}\Vert\tilde\delta_t\Vert^2+\sum_j\alpha_j\mathbb{E}\Vert\delta_{t-j}\Vert^2",
    NEXT_DELTA,
    "(21), appendix B",
    parameters=(alpha, dtilde_sq, delta_sq),
    hypotheses=(WEIGHTS,),
    definitions={"A": LAGS["A"]},
    relation="<=",
    right="A*dtilde_sq + sum(alpha*delta_sq)",
    vectors=recursion("moved", "<=", "Jensen"),
)

CLAIMS: tuple[Claim, ...] = (EQ2, EQ2_CORRECTED, LEMMA_5, LEMMA_5_FROM_ONE, LEMMA_6, EQ21)
