"""Malinovsky, Yi, Richtarik: Variance Reduced ProxSkip (NeurIPS 2022), Theorems 6 and 8, for federated learning.

r is the indicator of consensus, its prox the average; sums over the clients are written as means.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import assumed, axiom, cases, combined, domain, induction, step
from theory.program import algorithm

SOURCE = "Malinovsky, Yi, Richtarik, Variance Reduced ProxSkip, NeurIPS 2022"


@algorithm(x="each x0", h="each 0")
def proxskip(w, x, h, *, gamma, p):
    """Algorithm 1 with exact gradients: with probability p the clients average."""
    moved = x - gamma * (w.gradient(x) - h)
    after = w.where(w.coin(p), w.each(w.mean(moved - gamma / p * h)), moved)
    return after, h + p / gamma * (after - moved)


@algorithm(x="each x0", h="each 0")
def sproxskip(w, x, h, *, gamma, p):
    """The same with sampled gradients."""
    moved = x - gamma * (w.gradient(x, w.sample()) - h)
    after = w.where(w.coin(p), w.each(w.mean(moved - gamma / p * h)), moved)
    return after, h + p / gamma * (after - moved)


PSI = "mean_n(E(norm2(x[k] - xstar))) + gamma**2/p**2*mean_n(E(norm2(h[k] - grad(f_n, xstar))))"
PSI0 = "(norm2(x0 - xstar) + gamma**2/p**2*mean_n(norm2(grad(f_n, xstar))))"
RATE = "max((1 - gamma*mu)**k, (1 - p**2)**k)"

XK = "mean_n(E(norm2(x[k] - xstar)))"
HK = "mean_n(E(norm2(h[k] - grad(f_n, xstar))))"
NEXT = PSI.replace("[k]", "[k+1]")
VAR = "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"
LEAST = "min(gamma*mu, p**2)"
ONE = "mean_n(mean_i(E(norm2(x[k] - xstar - gamma*(grad(f_ni, x[k]) - grad(f_n, xstar))))))"
MEAN = "mean_n(x[k] - gamma*(grad(f_n, x[k]) - h[k]) - gamma/p*h[k]) - xstar"
PROXSKIP = (
    step(
        "turn",
        f"{NEXT} == mean_n(E(norm2(x[k] - xstar - gamma*(grad(f_n, x[k]) - grad(f_n, xstar))))) "
        f"+ (1 - p**2)*gamma**2/p**2*{HK} - 2*gamma*E(dot({MEAN}, grad(f, xstar)))",
    ),
    combined("short", "gamma*L <= 1", "gamma <= 1/L times L"),
    assumed("curvature", "mu <= L", ("smooth(f_n, L)", "strongly_convex(f_n, mu)"), "curvature"),
    combined("falls", "gamma*mu <= 1", "short; curvature times gamma"),
    combined("square", "p**2 <= 1", "p <= 1 times 1 + p"),
    combined(
        "recursion",
        f"{NEXT} <= (1 - gamma*mu)*{XK} + (1 - p**2)*gamma**2/p**2*{HK}",
        f"turn; E: zero ({MEAN}) times -2*gamma; "
        "E mean_n: strongly_convex f_n (x[k], xstar) times 2*gamma; E mean_n: smooth convex f_n (x[k], "
        "xstar) times 2*gamma",
        "E mean_n: grad(f_n, x[k]) - grad(f_n, xstar) times gamma*(1 - gamma*L)/L",
    ),
    cases(
        "all",
        None,
        "gamma*mu <= p**2",
        first=[
            induction(
                "run",
                f"{PSI} <= (1 - gamma*mu)**k*{PSI0}",
                [combined("start")],
                [
                    combined(
                        "next", None, f"recursion; IH times 1 - gamma*mu; gamma*mu <= p**2 times gamma**2/p**2*{HK}"
                    )
                ],
            ),
            axiom(
                "larger",
                "(1 - gamma*mu)**k <= max((1 - gamma*mu)**k, (1 - p**2)**k)",
                "max",
                "(1 - gamma*mu)**k",
                "(1 - p**2)**k",
            ),
            combined("one", None, f"run; larger times {PSI0}"),
        ],
        second=[
            induction(
                "run",
                f"{PSI} <= (1 - p**2)**k*{PSI0}",
                [combined("start")],
                [combined("next", None, f"recursion; IH times 1 - p**2; p**2 <= gamma*mu times {XK}")],
            ),
            axiom(
                "larger",
                "(1 - p**2)**k <= max((1 - gamma*mu)**k, (1 - p**2)**k)",
                "max",
                "(1 - gamma*mu)**k",
                "(1 - p**2)**k",
            ),
            combined("two", None, f"run; larger times {PSI0}"),
        ],
    ),
)


def half(sure, least, case, spare):
    F = f"2*gamma**2*{VAR}/({least})"
    return [
        induction(
            "run",
            f"{PSI} - {F} <= (1 - {least})**k*({PSI0} - {F})",
            [combined("start")],
            [combined("next", None, f"recursion; IH times 1 - {least}; {case} times {spare}")],
        ),
        axiom(
            "larger",
            f"(1 - {least})**k <= max((1 - gamma*mu)**k, (1 - p**2)**k)",
            "max",
            "(1 - gamma*mu)**k",
            "(1 - p**2)**k",
        ),
        axiom("lowest", f"{least} <= {LEAST}", "bounds", "gamma*mu", "p**2", least),
        combined("positive", f"{LEAST} > 0", f"lowest; {sure}"),
        axiom("low", f"{LEAST} <= {least}", "min", "gamma*mu", "p**2"),
        combined(
            "end",
            None,
            f"run; larger times {PSI0}; low times 2*gamma**2*{VAR}/({LEAST}*{least})",
            f"1 times (1 - {least})**k*{F}",
        ),
    ]


SPROXSKIP = (
    step("turn", f"{NEXT} == {ONE} + (1 - p**2)*gamma**2/p**2*{HK} - 2*gamma*E(dot({MEAN}, grad(f, xstar)))"),
    axiom("first", "min(1/mu, 1/(2*L)) <= 1/mu", "min", "1/mu", "1/(2*L)"),
    axiom("second", "min(1/mu, 1/(2*L)) <= 1/(2*L)", "min", "1/mu", "1/(2*L)"),
    combined("falls", "gamma*mu <= 1", "gamma <= min(1/mu, 1/(2*L)) times mu; first times mu"),
    combined("short", "2*gamma*L <= 1", "gamma <= min(1/mu, 1/(2*L)) times 2*L; second times 2*L"),
    combined("square", "p**2 <= 1", "p <= 1 times 1 + p"),
    combined(
        "recursion",
        f"{NEXT} <= (1 - gamma*mu)*{XK} + (1 - p**2)*gamma**2/p**2*{HK} + 2*gamma**2*{VAR}",
        f"turn; E: zero ({MEAN}) times -2*gamma; "
        "E mean_n: strongly_convex f_n (x[k], xstar) times 2*gamma; "
        "E mean_n mean_i: smooth convex f_ni (x[k], xstar) times 4*gamma**2*L; E mean_n: convex f_n "
        "(xstar, x[k]) times 2*gamma*(1 - 2*gamma*L)",
        "E mean_n mean_i: grad(f_ni, x[k]) - 2*grad(f_ni, xstar) + grad(f_n, xstar) times gamma**2",
    ),
    domain("chance", "p > 0"),
    combined("squared chance", "p**2 > 0", "chance times p"),
    domain("step", "gamma > 0"),
    cases(
        "all",
        None,
        "gamma*mu <= p**2",
        first=[
            combined("some", "gamma*mu > 0", "step times mu"),
            *half("some", "gamma*mu", "gamma*mu <= p**2", f"gamma**2/p**2*{HK}"),
        ],
        second=half("squared chance", "p**2", "p**2 <= gamma*mu", XK),
    ),
)

CLAIMS = (
    claim(
        "theorem-6",
        f"{PSI} <= {RATE}*{PSI0}",
        of=proxskip, assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/L", "p <= 1"),
        equation="(8)", proof=PROXSKIP, title="ProxSkip", source=f"{SOURCE}, Theorem 6", sure="read",
    ),
    claim(
        "theorem-8",
        f"{PSI} <= {RATE}*{PSI0} + gamma**2*mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"
        "/min(gamma*mu, p**2)",
        of=sproxskip,
        assuming=(
            "smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f_n, mu)", "gamma <= min(1/mu, 1/L)", "p <= 1",
        ),
        equation="(9)", title="SProxSkip", source=f"{SOURCE}, Theorem 8", sure="read",
    ),
    claim(
        "theorem-8/corrected",
        f"{PSI} <= {RATE}*{PSI0} + 2*gamma**2*mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"
        "/min(gamma*mu, p**2)",
        of=sproxskip,
        assuming=(
            "smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f_n, mu)", "gamma <= min(1/mu, 1/(2*L))", "p <= 1",
        ),
        amends="theorem-8", proof=SPROXSKIP, title="the same with both factors of 2 that a square of a sum has",
        source=f"{SOURCE}, Theorem 8", sure="read",
    ),
)  # fmt: skip

PAPER = Paper("proxskip-vr", "Variance Reduced ProxSkip", "Malinovsky, Yi, Richtarik", CLAIMS, family="ProxSkip")
