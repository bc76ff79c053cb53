"""Instances that refute claims of fedmim, as certificates, for the tests of the kind "inertial"."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tests.lazy import Lazy
from tests.validate.tampering import open_claim
from theory.claim import Claim, Hypothesis, Parameter
from theory.domain import REAL
from theory.papers.fedmim import PAPER
from validate import certificate
from validate.inertial_scenario import InertialScenario
from validate.verifier.inertial_measures import PARAMETERS, QUANTITIES, Context
from validate.verifier.inertial_rounds import play_run, read_instance

F = Fraction
CLAIMS = {c.label: c for c in PAPER}
ANY_STEP = "theorem-iv2-eq9/any-step"  # without the step that Theorem IV.1 fixes, made up here
CLAIMS[ANY_STEP] = replace(
    CLAIMS["theorem-iv2-eq9"],
    id=f"fedmim/{ANY_STEP}",
    standing=tuple(h for h in CLAIMS["theorem-iv2-eq9"].standing if h.name != "descent step"),
)


def problem(
    h: Sequence[Any], b: Sequence[Any] = (), *, S: int = 1, K: int = 1, T: int = 1, **more: Any
) -> dict[str, Any]:
    clients = [{"h": x, "b": y} for x, y in zip(h, b or [0] * len(h), strict=True)]
    spec = {"algorithm": "fedmim", "clients": clients, "S": S, "local_steps": K, "K": T, "x0": 1}
    return {**spec, "step": "3/16", **more}


def moments(spec: dict[str, Any]) -> Any:
    return InertialScenario.from_spec(spec, exact=True).moments()


def made(label: str, spec: dict[str, Any], left: Fraction, index: dict[str, int], **parameters: Any) -> dict[str, Any]:
    """A certificate with what the specification fixes, and the parameters of the claim among the others."""
    lags = max(1, len(spec.get("alpha", ())), len(spec.get("beta", ())))
    padded = {key: [*spec.get(key, ()), *[0] * (lags - len(spec.get(key, ())))] for key in ("alpha", "beta")}
    known = {**padded, "K": spec["local_steps"], "S": spec["S"], "T": spec["K"], "eta_l": spec["step"]}
    known |= {"N": len(spec["clients"]), "sigma2": 0, "G": 0, "delta_sq": [0] * lags, **parameters}
    names = [p.name for p in CLAIMS[label].parameters]
    return certificate.inertial_certificate(
        CLAIMS[label], spec, index, {name: known[name] for name in names if name in known}, left
    )


def growing(up: int, down: int, K: int, T: int) -> dict[str, Any]:
    """Theorem IV.1 without (33): x^2/2 and -x^2/2, one of them a round, the largest step."""
    N = up + down
    mean = F(up - down, N)
    spec = problem([1] * up + [-1] * down, K=K, T=T, step=str(F(3, 16 * K)))
    found = moments(spec)
    left = min(found.auxiliary_squared_gradient_norm[:T])
    C = max(found.squared_average_step) / F(spec["step"]) ** 2
    constants = {"L": 1, "B": 1 / mean, "C": F(int(C) + 1), "f0_gap": mean / 2, "lam": "49/100"}
    return made("theorem-iv1-eq7", spec, left, {}, **constants)


def two_clients(label: str, T: int) -> dict[str, Any]:
    """x^2/2 and -(9/20) x^2: B^2 = 362."""
    spec = problem([1, "-9/10"], T=T)
    found = moments(spec).auxiliary_squared_gradient_norm[:T]
    weights = [(1 - F(1, 20) * F(3, 16) * F(49, 100)) ** (T - 1 - t) for t in range(T)]
    left = sum(w * g for w, g in zip(weights, found, strict=True)) / sum(weights)
    constants = {"L": 1, "B": 20, "C": 10**9, "f0_gap": "1/40", "lam": "49/100", "mu": "1/20"}
    return made(label, spec, left if "iv2" in label else min(found), {}, **constants)


def long_step() -> dict[str, Any]:
    constants = {"L": 1, "B": 1, "C": 9, "f0_gap": "1/2", "lam": "1/4", "mu": 1}
    return made("theorem-iv2-eq9/any-step", problem([1], T=2, step=3), F(17, 5), {}, **constants)


def one_of_many(label: str, N: int, k: int, L: int, B: Fraction, step: str) -> dict[str, Any]:
    """f_1 = N x^2/2, the others 0: a bound of the mean does not bound one client."""
    spec = problem([N] + [0] * (N - 1), S=N, K=2, step=step)
    found = moments(spec)
    drift = label in ("eq25", "eq26")
    left = found.displacement[0, 0, k] if drift else found.local_gradient[0, 0, k]
    return made(
        label,
        spec,
        left,
        {"t": 0, "k": k, "n": 0},
        L=L,
        B=B,
        k=k,
        grad_u2=found.auxiliary_squared_gradient_norm[0],
        x_sq=found.displacement[0, 0, k - 1],
    )


def strict() -> dict[str, Any]:
    """One of two clients, with gradients 1 and -1."""
    return made("eq30", problem([0, 0], [1, -1]), F(1), {"t": 0, "k": 0}, mean_sq=0, gradients_sq=1)


def linear() -> dict[str, Any]:
    """Ten times the same linear function, nine selected: G = 1, B = 0."""
    spec = problem([0] * 10, [1] * 10, S=9, step="1/100")
    return made("lemma-9", spec, F(1), {"t": 0}, L=1, B=0, G=1, grad_u2=1)


BROKEN = Lazy[dict[str, Any]](
    {
        "theorem-iv1-eq7": lambda: two_clients("theorem-iv1-eq7", 109),
        "theorem-iv1-eq7, 11": lambda: growing(6, 5, 1, 60),
        "theorem-iv1-eq7, 7": lambda: growing(4, 3, 2, 40),
        "theorem-iv1-eq7, 7, K=3": lambda: growing(4, 3, 3, 39),
        "theorem-iv1-eq7, 12": lambda: growing(7, 5, 8, 33),
        "theorem-iv2-eq9/any-step": long_step,
        "theorem-iv2-eq9": lambda: two_clients("theorem-iv2-eq9", 220),
        "lemma-7": lambda: one_of_many("lemma-7", 5, 1, 5, F(9, 4), "1/1000000"),
        "lemma-7, index": lambda: one_of_many("lemma-7", 1, 1, 1, F(1), "4"),
        "eq25": lambda: one_of_many("eq25", 9, 2, 9, F(3), "1/1000000"),
        "eq26": lambda: one_of_many("eq26", 25, 1, 25, F(5), "1/1000000"),
        "eq30": strict,
        "lemma-9": linear,
    }
)


def rich(more: tuple[Hypothesis, ...] = ()) -> tuple[Claim, dict[str, Any]]:
    """Two lags, noise, two of three clients, in which every number of the instance matters; a made-up claim."""
    spec = problem([[1, 1], 2, "1/2"], [[1, 2], -1, "1/3"], S=2, K=3, T=3)
    spec |= {"step": "1/8", "alpha": ["3/5", "3/10"], "beta": ["1/2"], "x0": 3}
    context = Context(play_run(read_instance(written(spec))), {"t": 2, "k": 2, "n": 0}, {}, "descent")
    names = [name for name in PARAMETERS if name not in ("A", "rho", "J")]
    hypotheses = tuple(h for h in CLAIMS["lemma-9"].hypotheses if h.printed)
    claim = replace(
        open_claim("rich", (*hypotheses, *more), "descent"),
        right="-1000 + (N - N)*sum(alpha + delta_sq)*sqrt(2)",
        parameters=tuple(
            Parameter(name, REAL, "", "vector" if name in ("alpha", "beta", "delta_sq") else "scalar")
            for name in (*names, "G", "B")
        ),
    )
    values: dict[str, Any] = {name: PARAMETERS[name][1](context) for name in names}
    left = QUANTITIES["descent"](context)
    parameters = {**values, "G": 10, "B": 3}
    return claim, certificate.inertial_certificate(claim, spec, context.index, parameters, left, -1000.0)


def written(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification as certificates hold it."""
    result = copy.deepcopy(spec)
    for client in result["clients"]:
        for key in ("h", "b"):
            client[key] = client[key] if isinstance(client[key], list) else [client[key]]
    return result
