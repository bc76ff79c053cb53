"""Lessard, Recht, Packard: Analysis and Design of Optimization Algorithms via Integral Quadratic Constraints.

SIAM J. Optim. 2016; arXiv 1408.3595v7. m of the paper is mu here. The limit of the heavy-ball cycle is no sentence:
that the three points are mapped to one another is.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import combined, domain
from theory.domain import PROBABILITY

SOURCE = "Lessard, Recht, Packard, Analysis and Design of Optimization Algorithms via IQCs, 2016"
CLASS = ("smooth(f, L)", "strongly_convex(f, mu)", "mu < L")
G_Y, G_B = (f"grad(f, {v}) - grad(f, z) - mu*({v} - z)" for v in "yb")

SLOPE = "25*min({0}, 1) + min(max({0}, 1), 2) - 1 + 25*max({0} - 2, 0)"
NEXT = "(1 + beta)*{1} - beta*{0} - alpha*({2}) - {3}"
TURNS = [NEXT.format(one, two, SLOPE.format(two), three) for one, two, three in ("abc", "bca", "cab")]

OFF_BY_ONE = (
    domain("most", "rb <= 1"),
    domain("least", "0 <= rb"),
    combined("last", "0 <= rho", "least; rb <= rho"),
    combined("some", "0 <= rho + rb", "least; last"),
    combined("small", "rb**2 <= 1", "most times 1 + rb"),
    combined("order", "0 <= rho**2 - rb**2", "rb <= rho times rho + rb"),
    combined(
        "all",
        None,
        "smooth strongly_convex f (b, z) times (rho**2 - rb**2)/(2*rho**2); smooth strongly_convex f (z, b) times 1/2; "
        "smooth strongly_convex f (z, y) times (1 - rb**2)/(2*rho**2); smooth strongly_convex f (y, z) "
        "times 1/(2*rho**2); "
        "smooth strongly_convex f (b, y) times rb**2/(2*rho**2)",
    ),
)

CLAIMS = (
    claim(
        "heavy-ball-cycle",
        " + ".join(f"abs({turn})" for turn in TURNS) + " <= 0",
        where={
            "alpha": "4/(sqrt(L) + sqrt(mu))**2", "beta": "((sqrt(L/mu) - 1)/(sqrt(L/mu) + 1))**2",
            "a": "792/1225", "b": "-2208/1225", "c": "2592/1225",
        },
        assuming=("L == 25", "mu == 1"),
        kind="equation", title="a cycle of the heavy-ball method", source=f"{SOURCE}, section 4.6 and appendix B",
        sure="transcribed",
        remarks=(
            "the gradient is 25*x below 1, x + 24 below 2, 25*x - 24 from 2 on",
            "the three points are mapped onto one another; that the run from 3.3 tends to them has no sentence",
        ),
    ),
    claim(
        "lemma-6",
        "-2*mu*L*norm2(y - z) + 2*(L + mu)*dot(y - z, grad(f, y) - grad(f, z)) - 2*norm2(grad(f, y) - grad(f, z)) >= 0",
        vectors=("y", "z"), assuming=CLASS,
        kind="lemma", equation="(3.14)", title="sector", source=f"{SOURCE}, Lemma 6", sure="transcribed",
    ),
    claim(
        "eq-3-18",
        f"dot({G_Y}, L*(y - b) - (grad(f, y) - grad(f, b))) >= q_y - q_b",
        vectors=("y", "b", "z"),
        where={
            "q_y": "(L - mu)*(f(y) - f(z) - mu/2*norm2(y - z)) - norm2(grad(f, y) - mu*(y - z))/2",
            "q_b": "(L - mu)*(f(b) - f(z) - mu/2*norm2(b - z)) - norm2(grad(f, b) - mu*(b - z))/2",
        },
        assuming=CLASS,
        kind="equation", equation="(3.18)", title="off-by-one, a line of its proof", source=f"{SOURCE}, (3.18)",
        sure="memory", remarks=("the display is transcribed, the definition of q (3.16) from memory",),
    ),
    claim(
        "eq-3-18/corrected",
        f"dot({G_Y}, L*(y - b) - (grad(f, y) - grad(f, b))) >= q_y - q_b",
        vectors=("y", "b", "z"),
        where={
            "q_y": "(L - mu)*(f(y) - f(z) - dot(grad(f, z), y - z) - mu/2*norm2(y - z)) "
            f"- norm2({G_Y})/2",
            "q_b": "(L - mu)*(f(b) - f(z) - dot(grad(f, z), b - z) - mu/2*norm2(b - z)) "
            f"- norm2({G_B})/2",
        },
        assuming=CLASS, amends="eq-3-18",
        kind="equation", title="the same with what is linear at the reference taken out of g", sure="memory",
        source=f"{SOURCE}, (3.18)",
    ),
    claim(
        "lemma-10",
        f"dot({G_B}, L*(b - z) - (grad(f, b) - grad(f, z))) + rho**(-2)*dot({G_Y}, L*(y - z - rb**2*(b - z)) "
        "- (grad(f, y) - grad(f, z) - rb**2*(grad(f, b) - grad(f, z)))) >= 0",
        vectors=("y", "b", "z"), parameters={"rho": PROBABILITY, "rb": PROBABILITY}, assuming=(*CLASS, "rb <= rho"),
        kind="lemma", equation="(3.20)", proof=OFF_BY_ONE, title="weighted off-by-one, two points",
        source=f"{SOURCE}, Lemma 10",
        sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper(
    "lessard2016",
    "Analysis and Design of Optimization Algorithms via IQCs",
    "Lessard, Recht, Packard",
    CLAIMS,
    family="momentum",
)
