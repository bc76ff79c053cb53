"""Mini-batch SGD on the global model: Proposition 4."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from theory.assumptions import InteriorMinimiser, Smooth, StronglyConvex
from theory.claim import Claim, Hypothesis, Quantity, Step
from theory.papers.perm.shuffling_lines import minibatch
from theory.papers.perm.words import (
    A2,
    MODULI,
    UNBIASED,
    F_gap,
    L,
    M,
    T,
    delta2,
    gamma,
    mu,
    result,
)

GRADIENT = Quantity("squared_gradient_norm", "E||grad F(w^T)||^2", r"\mathbb{E}\Vert\nabla F(w^T)\Vert^2")
MOVE = Quantity("squared_move", "E||w^{T+1} - w^T||^2", r"\mathbb{E}\Vert w^{T+1}-w^T\Vert^2")
DISTANCE = Quantity("squared_distance_to_minimiser", "E||w^T - w*||^2", r"\mathbb{E}\Vert w^T-w^*\Vert^2")

_SGD = (
    Hypothesis("smooth", "F is L-smooth", assumption=Smooth("L", of="average")),
    Hypothesis("strongly convex", "F is mu-strongly convex", assumption=StronglyConvex("mu", of="average")),
    MODULI,
    UNBIASED,
    A2,
)
_STEP = Hypothesis("step size", "gamma <= 1/L", relation="gamma <= 1/L")
_STEP_OF_THEOREM_3 = replace(
    _STEP, where="Theorem 3, whose gamma = Theta(log(NKR^3)/(mu R)) is that short for all large R"
)
_FREE = Hypothesis("minimiser inside W", "no W: grad F(w*) = 0, and no projection", assumption=InteriorMinimiser("F"))
_PARAMETERS = (mu, L, gamma, delta2, M, T, F_gap)
_DECAY = r"(1-\mu\gamma)^T(F(w^0)-F(w^*))"
# label: (quantity, what multiplies the decaying gap, the noise as printed, the noise put right, all in LaTeX and ASCII)
_START = "(1-mu*gamma)**T*F_gap"


def _minibatch_claims(
    label: str,
    quantity: Quantity,
    start: tuple[str, str],
    printed: tuple[str, str],
    right: tuple[str, str],
    rest: tuple[str, str],
    lines: tuple[tuple[str, str, str, str], tuple[str, str]],
    slip: str,
) -> tuple[Claim, Claim]:
    """(15), (16) or (17) as printed and put right.

    Args:
        label: "15", "16" or "17".
        quantity: the left side.
        start, printed, right, rest: (LaTeX, ASCII) of the factor of the decaying gap, of the noise as printed and put
            right, and of a term that both have.
        lines: how the quantity follows from the gap: left and right side in LaTeX and the names of the vector line; and
            the noise that follows against the printed one, as formulas.
        slip: what is wrong.
    """
    (left_latex, right_latex, left_name, right_name), (follows, claimed) = lines
    gap = Step(
        "one step",
        r"\mathbb{E}F(w^{t+1})-F(w^*)",
        "<=",
        r"(1-\mu\gamma)(F(w^t)-F(w^*))+\frac{\gamma^2L\delta^2}{2M}",
        "inequality",
        "descent lemma and ||grad F||^2 >= 2 mu (F - F*), for gamma <= 1/L",
        vectors=minibatch("next gap", "gap bound"),
    )
    steps = Step(
        "T steps",
        r"\frac{1}{\mu\gamma}\frac{\gamma^2L\delta^2}{2M}",
        "=",
        r"\frac{\gamma L\delta^2}{2\mu M}",
        "summation",
        "the gap's stationary value",
        identity=("gamma**2*L*delta2/(2*M)/(mu*gamma)", "gamma*L*delta2/(2*mu*M)"),
        uses=("one step",),
    )
    from_gap = Step(
        "from the gap",
        left_latex,
        "<=",
        right_latex,
        "inequality",
        vectors=minibatch(left_name, right_name),
        uses=("T steps",),
    )
    common: dict[str, Any] = {"parameters": _PARAMETERS}

    def terms(noise: str) -> dict[str, str]:
        return {
            "kappa": "L/mu",
            "start_term": f"{start[1]}*{_START}",
            "noise_term": noise,
            **({"sampling_term": rest[1]} if rest[1] else {}),
        }

    total = "start_term + noise_term" + (" + sampling_term" if rest[1] else "")
    as_printed = result(
        f"proposition-4-eq{label}",
        "proposition",
        "mini-batch SGD",
        f"Proposition 4 ({label})",
        f"{quantity.meaning} <= {start[1]} (1-mu gamma)^T (F(w^0)-F(w*)) + {printed[1]}"
        + (f" + {rest[1]}." if rest[1] else "."),
        quantity.latex + r"\leq " + start[0] + _DECAY + "+" + printed[0] + rest[0],
        quantity,
        f"Proposition 4, ({label}), appendix C.1",
        hypotheses=(*_SGD, _FREE),
        standing=(_STEP_OF_THEOREM_3,),
        definitions=terms(printed[1]),
        relation="<=",
        right=total,
        steps=(
            gap,
            steps,
            from_gap,
            Step(
                "noise",
                right[0],
                "<=",
                printed[0],
                "substitution",
                slip,
                identity=(follows, claimed),
                uses=("from the gap",),
            ),
        ),
        remarks=(slip, "No proof is printed. No condition on gamma is stated here; the bound needs one."),
        **common,
    )
    repaired = result(
        f"proposition-4-eq{label}/corrected",
        "proposition",
        "mini-batch SGD",
        f"Proposition 4 ({label}), corrected",
        f"gamma <= 1/L: {quantity.meaning} <= {start[1]} (1-mu gamma)^T (F(w^0)-F(w*)) + {right[1]}"
        + (f" + {rest[1]}." if rest[1] else "."),
        quantity.latex + r"\leq " + start[0] + _DECAY + "+" + right[0] + rest[0],
        quantity,
        f"repair of ({label})",
        hypotheses=(*_SGD, _STEP, _FREE),
        definitions=terms(right[1]),
        relation="<=",
        right=total,
        steps=(gap, steps, from_gap),
        amends=f"proposition-4-eq{label}",
        derivation=(
            "E F(w^{t+1}) - F* <= (1-mu gamma)(F(w^t)-F*) + gamma^2 L delta^2/(2M) for gamma <= 1/L (smoothness, then "
            "||grad F||^2 >= 2 mu (F-F*)), so E F(w^T) - F* <= (1-mu gamma)^T (F(w^0)-F*) + gamma L delta^2/(2 mu "
            "M); then ||grad F||^2 <= 2L (F-F*), E||w^{T+1}-w^T||^2 <= gamma^2 E||grad F||^2 + gamma^2 delta^2/M, "
            "||w-w*||^2 <= (2/mu)(F-F*)."
        ),
        **common,
    )
    return as_printed, repaired


_SLIP = "a factor L is lost (and 2 where 1 would do): false for L > 2"
EQ15 = _minibatch_claims(
    "15",
    GRADIENT,
    ("2L", "2*L"),
    (r"\frac{2\gamma\kappa\delta^2}{M}", "2*gamma*kappa*delta2/M"),
    (r"\frac{\gamma\kappa L\delta^2}{M}", "gamma*kappa*L*delta2/M"),
    ("", ""),
    (
        (r"\Vert\nabla F(w)\Vert^2", r"2L(F(w)-F(w^*))", "gradient", "smooth"),
        ("gamma*L/mu*L*delta2/M", "2*gamma*L/mu*delta2/M"),
    ),
    _SLIP,
)
EQ16 = _minibatch_claims(
    "16",
    MOVE,
    (r"2\gamma^2L", "2*gamma**2*L"),
    (r"\frac{2\gamma^3\kappa\delta^2}{M}", "2*gamma**3*kappa*delta2/M"),
    (r"\frac{\gamma^3\kappa L\delta^2}{M}", "gamma**3*kappa*L*delta2/M"),
    (r"+\frac{\gamma^2\delta^2}{M}", "gamma**2*delta2/M"),
    (
        (r"\Vert\nabla F(w)\Vert^2", r"2L(F(w)-F(w^*))", "gradient", "smooth"),
        ("gamma**3*L/mu*L*delta2/M", "2*gamma**3*L/mu*delta2/M"),
    ),
    _SLIP,
)
EQ17 = _minibatch_claims(
    "17",
    DISTANCE,
    (r"\frac{2}{\mu}", "2/mu"),
    (r"2\gamma\frac{\delta^2}{\mu^2M}", "2*gamma*delta2/(mu**2*M)"),
    (r"\frac{\gamma L\delta^2}{\mu^2M}", "gamma*L*delta2/(mu**2*M)"),
    ("", ""),
    (
        (r"\Vert w-w^*\Vert^2", r"\frac{2}{\mu}(F(w)-F(w^*))", "distance", "convex"),
        ("gamma*L*delta2/(mu**2*M)", "2*gamma*delta2/(mu**2*M)"),
    ),
    _SLIP,
)
CLAIMS: tuple[Claim, ...] = (*EQ15, *EQ16, *EQ17)
