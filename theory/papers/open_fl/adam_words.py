"""Parameters, quantities and constants that the claims about Adam share."""

from __future__ import annotations

from theory.claim import Hypothesis, Parameter, Quantity
from theory.domain import NONNEGATIVE, REAL
from theory.papers.open_fl.words import L, beta1, beta2, dimension, eps, eta, gradient_bound, mu, r

# (12), in the names of the claims' parameters
_ROOT = "sqrt(eps+sigma**2)"
CONSTANTS = {
    "kappa": "L/mu",
    "C1": f"1 - 2*mu*eta/{_ROOT}",
    "C2": f"2*mu*eta**2*sigma**2*d/(sqrt(eps)*{_ROOT})*(1+beta1)/(1-beta1)"
    " + (L/2 + L*beta1/(1-beta1))*eta**2*d/((1-beta2)*(1-beta1**2/beta2))",
    "C3": f"eta*beta1/(1-beta1)*sigma**2/sqrt(eps) - eta*sigma**2/(1-beta1)*d/{_ROOT}",
    "C4": "eta*beta1/(1-beta1)*sigma**2/sqrt(eps) + eta*sigma**2/(1-beta1)*d/sqrt(eps)",
    "C5": "(1 + kappa*C1)/(1 - kappa*C1)",
    "one_minus_kappa_C1": "1 - kappa*C1",
}

LEMMA_PARAMETERS = (mu, L, eta, beta1, beta2, eps, gradient_bound, dimension)
THEOREM_PARAMETERS = (*LEMMA_PARAMETERS, r)

SHORT_STEP = Hypothesis("step size", "eta in (0, 1/L]", relation="eta <= 1/L")
CONTRACTION = Hypothesis(
    "contraction factor",
    "C1 in (0, 1); (17) multiplies (16) by C1",
    relation="C1 > 0",
    where="Lemma 5, which is about the C1 of (12); below 1 it is anyway",
)
POSITIVE_C2 = Hypothesis("second constant", "C2 > 0", relation="C2 > 0", where="Lemma 5: C2 in R+, that of (12)")

lyapunov = Parameter("lyapunov", REAL, "Lyap^k, (13)")
lyapunov_next = Parameter("lyapunov_next", REAL, "E[Lyap^{k+1} | x^k]")
squared_distance = Parameter("squared_distance", NONNEGATIVE, "||x^k - x*||^2")
next_squared_step = Parameter("next_squared_step", NONNEGATIVE, "||x^{k+1} - x^k||^2")
squared_step = Parameter("squared_step", NONNEGATIVE, "||x^k - x^{k-1}||^2")
descent = Parameter("expected_descent", REAL, "E[A^k | x^k]")
A_previous = Parameter("A_previous", REAL, "A^{k-1}")
weighted_gradient = Parameter(
    "weighted_gradient", NONNEGATIVE, "squared norm of grad f(x^k) in (eps I + Vhat^k)^(-1/2)"
)
inverse_root_drop = Parameter(
    "inverse_root_drop",
    NONNEGATIVE,
    "E[sum_i (eps + vhat_i^k)^(-1/2) - (eps + vhat_i^{k+1})^(-1/2) | x^k]",
)

EXPECTED_LYAPUNOV = Quantity("lyapunov_next", "E[Lyap^{k+1} | x^k]", r"\mathbb{E}[\mathcal{L}^{(k+1)}|x^{(k)}]")
SQUARED_DISTANCE = Quantity("squared_distance", "||x^k - x*||^2", r"\Vert x^{(k)}-x^*\Vert^2")
NEXT_SQUARED_DISTANCE = Quantity(
    "next_squared_distance", "E[||x^{k+1} - x*||^2 | x^k]", r"\mathbb{E}[\Vert x^{(k+1)}-x^*\Vert^2|x^{(k)}]"
)
STABILITY_RADIUS = Quantity("stability_radius", "the least R >= 0 from which on (18) holds", r"R")
COST_INCREASE = Quantity("cost_increase", "f(x^{k+1}) - f(x^k)", r"f(x^{(k+1)})-f(x^{(k)})")
EXPECTED_DESCENT = Quantity(
    "expected_descent",
    "E[A^k | x^k], A^k = -<grad f(x^k), (eps I + Vhat^{k+1})^(-1/2) h^{k+1}>",
    r"\mathbb{E}[A^{(k)}|x^{(k)}]",
)
FIRST_PART = Quantity("I1", "I1 of (21)", r"I_1")
SECOND_PART = Quantity("I2", "I2 of (21)", r"I_2")
THIRD_PART = Quantity("I3", "I3 of (21)", r"I_3")
SQUARED_STEP = Quantity("next_squared_step", "||x^{k+1} - x^k||^2", r"\Vert x^{(k+1)}-x^{(k)}\Vert^2")
LYAPUNOV_INCREASE = Quantity(
    "lyapunov_increase",
    "E[Lyap^{k+1} | x^k] - Lyap^k",
    r"\mathbb{E}[\mathcal{L}^{(k+1)}|x^{(k)}]-\mathcal{L}^{(k)}",
)
