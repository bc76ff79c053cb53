"""Theorems in a file of one's own, each beside neighbours in which a power of N, of H or of b is wrong.

`TRUE` and `FALSE` are their labels. The false ones are false in the sizes that a reader means, many clients or many
local steps; with five of each, constants would hide most of them.
"""

from theory import Convex, Hypothesis, Paper, Smooth, StronglyConvex
from validate.own import MeasuredClaim, claim, parameters

SYMBOLS = parameters(
    delta="step", mu="strong_convexity", L="sample_smoothness", N="clients", H="local_steps", b="chosen_clients",
    k="round", K="rounds", R2="start_distance", D="distance", f0="start_gap", noise="noise_at_minimiser",
    het="heterogeneity", worst="largest_noise", G2="largest_second_moment",
)  # fmt: skip
SMOOTH = Hypothesis("smooth", "every sample's gradient is L-Lipschitz", assumption=Smooth("L", "sample"))
CONVEX = Hypothesis("convex", "every sample's function is convex", assumption=Convex("sample"))
STRONG = Hypothesis("strongly convex", "every client is mu-strongly convex", assumption=StronglyConvex("mu"))
ALL = (SMOOTH, CONVEX, STRONG)
ONE = ("delta <= 1/(2*L)", "H <= 1")
Q = "(1-delta*mu)"

# label: quantity, the right sides (the true one first), hypotheses on functions, on numbers, participation
FAMILIES = {
    "ball": (
        "squared_distance",
        (f"{Q}**k*R2 + 2*delta*noise/(mu*N)", f"{Q}**k*R2 + 2*delta*noise/(mu*N**2)",
         f"{Q}**k*R2 + 2*delta*noise/(mu*N**(3/2))"),
        ALL, ONE, "everybody",
    ),
    "step": (
        "next_distance", (f"{Q}*D + 2*delta**2*noise/N", f"{Q}*D + 2*delta**2*noise/N**2"), ALL, ONE, "everybody",
    ),
    "tied": (
        "next_distance", (f"{Q}*D + 2*delta**2*noise/N", f"{Q}*D + 2*delta**2*noise/N**2"),
        ALL, ("delta == 1/(2*L)", "H <= 1"), "everybody",
    ),
    "local": (
        "squared_distance", (f"{Q}**(H*k)*R2", f"{Q}**(H**2*k)*R2"),
        ALL, ("delta <= 1/L", "noise <= 0", "het <= 0"), "everybody",
    ),
    "local-noise": (
        "squared_distance",
        (f"{Q}**(H*k)*R2 + 2*delta*noise/mu", f"{Q}**(H*k)*R2 + 2*delta*noise/(mu*H)",
         f"{Q}**(H*k)*R2 + 12*delta*noise/(mu*H)"),
        ALL, ("delta <= 1/(2*L)", "het <= 0"), "everybody",
    ),
    "batch": (
        "next_distance", (f"{Q}*D + 2*delta**2*het/b", f"{Q}*D + 2*delta**2*het/b**2"),
        ALL, ("delta <= 1/(4*L)", "H <= 1", "noise <= 0"), "uniform",
    ),
    "convex": (
        "mean_suboptimality", ("R2/(delta*K) + 2*delta*noise/N", "R2/(delta*K) + 2*delta*noise/N**2"),
        (SMOOTH, CONVEX), ("delta <= 1/(4*L)", "H <= 1"), "everybody",
    ),
    "nonconvex": (
        "mean_squared_gradient_norm", ("2*f0/(delta*K) + L*delta*worst/N", "2*f0/(delta*K) + L*delta*worst/N**2"),
        (SMOOTH,), ("delta <= 1/L", "H <= 1"), "everybody",
    ),
    "second": (
        "next_distance",
        ("D + delta**2*H**2*G2 + 2*delta*H*sqrt(D*G2)", "D + delta**2*H*G2/4 + delta*sqrt(D*G2)"),
        ALL, (), "everybody",
    ),
}  # fmt: skip


def _claims() -> dict[str, MeasuredClaim]:
    found = {}
    for family, (quantity, rights, functions, relations, participation) in FAMILIES.items():
        for i, right in enumerate(rights):
            label = f"{family}-wrong-{i}" if i else family
            found[label] = claim(
                f"powers/{label}",
                f"{quantity} <= {right}",
                quantity,
                right,
                parameters=SYMBOLS,
                hypotheses=(*functions, *(Hypothesis(one, one, relation=one) for one in relations)),
                participation=participation,
            )
    return found


CLAIMS = _claims()
TRUE = tuple(label for label in CLAIMS if "wrong" not in label)
FALSE = tuple(label for label in CLAIMS if "wrong" in label)
PAPER = Paper("powers", "Powers of N, H and b", "a reader", tuple(CLAIMS.values()))
