"""Certificates against what is false of numbers, and against the rates of the remarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import log
from pathlib import Path

from theory.claim import Claim
from validate import certificate
from validate.verdict import Evidence

Found = tuple[list[Evidence], Path | None]
F = Fraction


def refutation(claim: Claim, out: Path) -> Found:
    """Evidence against one of `REFUTED`, and its certificate's path.

    Raises:
        ValueError: when the stand-alone verifier does not accept the certificate.
    """
    make, text = REFUTED[claim.label]
    path = certificate.write(make(claim), out / "certificates")
    return [Evidence("certificate", "refuted", f"{text}; the stand-alone verifier agrees")], path


# --- relations between numbers ---------------------------------------------------------------------------------------


def corrected_gradient(claim: Claim) -> certificate.Certificate:
    """(2) with the gradients grad f(x_t) = 0 and grad f_i = 1, alpha = 1/2."""
    return certificate.relation_certificate(
        claim,
        {"alpha": F(1, 2), "eta_l": 1, "grad": 0, "grad_i": 1},
        "-(1-A)*eta_l*grad - A*eta_l*grad_i",
        F(-1, 2),
        F(-3, 2),
        right="-eta_l*(grad_i + (1-A)*(grad_i - grad))",
        definitions={"A": "1 - alpha"},
        note="the step with delta = eta_l grad f(x_t) in the place of sum_j alpha_j delta_{t-j}/(1-A), on both sides",
    )


def lags_from_one(claim: Claim) -> certificate.Certificate:
    """One lag, counted 1, one client, one local step with the gradient 3: u_t = x_t, as the sum over s is empty."""
    return certificate.relation_certificate(
        claim,
        {"alpha1": F(1, 2), "eta_l": 1, "x": 0, "delta_before": 1, "g": 3},
        "u_next",
        -2,
        -3,
        right="u - eta_l*g",
        definitions={
            "A": "1 - alpha1",
            "x_next": "x - alpha1*delta_before - A*eta_l*g",
            "u": "x",
            "u_next": "x_next",
        },
        note="K = S = N = J = 1: j runs through 1 and s from 1 to J-1 = 0; delta_before is delta_{t-1}",
    )


# --- rates -----------------------------------------------------------------------------------------------------------

LAMBDA = F(1, 10)
ROOT_STEP, ROOT_RATE = "sqrt(S/(K*T))", "1/sqrt(S*K*T)"
LOG_STEP, LOG_RATE = "log(mu**2*S*T)/(mu*lam*K*T)", "1/(mu*S*T)"
_CONDITIONS = (
    "eta_l <= 3/(16*K*L)",
    "lam < 1/2 - 32*K*eta_l*L*B**2 - 36*eta_l**2*A*K**2*B**2*L**2",
)
ROOT_M = 128  # T = K m^2, so that eta_l = 1/(K m)


def no_speed_up(claim: Claim) -> certificate.Certificate:
    """Remark IV.1: the quotient of K eta_l/4 by the rate is K/4."""
    rows = [
        {"c": c, "K": 4 * c + 1, "T": (4 * c + 1) * ROOT_M**2, "quotient": F(4 * c + 1, 4 * c)}
        for c in (1, 10, 100, 1000)
    ]
    return certificate.floor_certificate(claim, ROOT_STEP, ROOT_RATE, LAMBDA, rows, conditions=_CONDITIONS)


def no_rate_without_log(claim: Claim) -> certificate.Certificate:
    """Remark IV.2: the quotient of K eta_l/4 by the rate is log(T)/(4 lambda)."""
    rows = [
        {"c": c, "K": 5, "T": 2**power, "quotient": power * log(2) / float(4 * LAMBDA * c)}
        for c, power in ((1, 14), (10, 14), (100, 64), (500, 300))
    ]
    conditions = (*_CONDITIONS, "eta_l >= 1/(mu*lam*K*T)")
    return certificate.floor_certificate(claim, LOG_STEP, LOG_RATE, LAMBDA, rows, conditions=conditions)


_CLIENTS = "two clients x^2/2 + x and x^2/2 - x, one of them a round, no noise, no inertia, x_0 = 1"
REFUTED: Mapping[str, tuple[Callable[[Claim], certificate.Certificate], str]] = {
    "eq2": (
        corrected_gradient,
        "with grad f(x_t) = 0, grad f_i = 1, A = 1/2 the step is -eta_l/2, and the printed bracket gives -3 eta_l/2",
    ),
    "lemma-5/lags-from-one": (
        lags_from_one,
        "one lag of weight 1/2, counted 1, one client: the sum over s = 1, ..., 0 is empty, so u_t = x_t, and x_{t+1} "
        "= x_t - delta_{t-1}/2 - eta_l g/2 is no plain step: from 0 with delta_{t-1} = eta_l = 1, g = 3 it is -2, not "
        "-3",
    ),
    "remark-iv1": (
        no_speed_up,
        f"{_CLIENTS}: E||grad f(x_t)||^2 >= K eta_l/4 for every t, which at eta_l = sqrt(S/(KT)) is K/4 times 1/sqrt("
        "SKT) for all K and T >= K (a K/4 times it at a times that step, a <= 1). So no constant that does not depend "
        "on K will do, whatever the analysis; with one that does, 1/sqrt(K) in the rate says nothing",
    ),
    "remark-iv2": (
        no_rate_without_log,
        f"{_CLIENTS}, mu = 1: E||grad f(x_t)||^2 >= K eta_l/4 for every t, so of u_out too, and that is log(T)/(4 "
        "lambda T), which no constant times 1/(mu ST) bounds",
    ),
}
