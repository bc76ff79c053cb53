"""Right derivations, written by hand: each a claim and the lines that end at it."""

from typing import Any

from tests.language import compression, noise_ball, proxskip, scaffold, vectors
from tests.laws.proved_claims import proved
from theory.claim import Claim
from theory.derivation import assumed, at, axiom, combined, domain, induction, lines, mean, replaced, single, step, zero

D = "(grad(f_ni, x[k]) - grad(f_ni, xstar))"
DN = "(grad(f_n, x[k]) - grad(f_n, xstar))"
DF = "(grad(f, x[k]) - grad(f, xstar))"
AHEAD = "E(norm2(x[k+1] - xstar)) == E(norm2(x[k] - xstar)) - 2*eta*E(dot(grad(f, x[k]), x[k] - xstar))"
ONE_STEP = (
    step(
        "round",
        f"{AHEAD} + eta**2*E(norm2(grad(f, x[k]))) "
        "+ eta**2/N*mean_n(mean_i(E(norm2(grad(f_ni, x[k]) - grad(f_n, x[k])))))",
    ),
    combined("small", "2*L*eta <= 1", {"eta <= 1/(2*L)": "2*L"}),
    combined(
        "one-step",
        noise_ball.ONE_STEP.statement,
        {
            "round": "1",
            "E: strongly_convex f (x[k], xstar)": "2*eta",
            "E mean_n mean_i: smooth convex f_ni (x[k], xstar)": "4*L*eta**2",
            "E: infimum f (x[k])": "2*eta*(1 - 2*L*eta)",
            "minimiser f": "2*eta*(1 - 2*L*eta)",
            "E: zero f (2*grad(f, x[k]) - grad(f, xstar))": "eta**2",
            "E: zero f (x[k] - xstar)": "-4*L*eta**2",
        },
        {
            f"E mean_n mean_i: {D} - grad(f_ni, xstar) - ({DN} - grad(f_n, xstar))": "eta**2/N",
            f"E mean_n: {DN} - {DF}": "eta**2",
            f"E mean_n mean_i: {D} - {DN}": "2*eta**2*(N - 1)/N",
            f"E mean_n: {DN}": "eta**2",
        },
    ),
)
NOISE_BALL = (
    *ONE_STEP,
    combined(
        "floor",
        "0 <= 2*eta*sigma2/(mu*N)",
        squares={"mean_n mean_i: grad(f_ni, xstar) - grad(f_n, xstar)": "2*eta/(mu*N)"},
    ),
    assumed("curvature", None, ["smooth(f_ni, L)", "strongly_convex(f, mu)"], "curvature", on="f"),
    combined("rate", "eta*mu <= 1", {"small": "1/2", "curvature": "eta"}, {"1": "1/2"}),
    induction(
        "ball",
        None,
        [combined("start", None, {"floor": "1"})],
        [combined("next", None, {"one-step": "1", "IH": "1 - eta*mu"})],
    ),
)
BALL = (
    step("round", f"{AHEAD} + eta**2*E(norm2(grad(f, x[k]))) + eta**2*omega/N*mean_n(E(norm2(grad(f_n, x[k]))))"),
    domain("kept", "m <= d"),
    combined("omega", "omega >= 0", {"kept": "1/m"}),
    combined("small", "eta*L*(1 + 2*omega/N) <= 1", {"eta <= 1/(L*(1 + 2*omega/N))": "L*(1 + 2*omega/N)"}),
    combined(
        "end",
        None,
        {
            "round": "1",
            "E: strongly_convex f (x[k], xstar)": "2*eta",
            "minimiser f": "2*eta*(1 - eta*L*(1 + 2*omega/N))",
            "E: infimum f (x[k])": "2*eta*(1 - eta*L*(1 + 2*omega/N))",
            "E mean_n: smooth convex f_n (x[k], xstar)": "2*L*eta**2*(1 + 2*omega/N)",
            "E: zero f (x[k] - xstar)": "-2*L*eta**2*(1 + 2*omega/N)",
            "E: zero f (2*grad(f, x[k]) - grad(f, xstar))": "eta**2",
        },
        {f"E mean_n: {DN} - {DF}": "eta**2", "E mean_n: grad(f_n, x[k]) - 2*grad(f_n, xstar)": "eta**2*omega/N"},
    ),
)
MOVED = "mean_n(x[k] - gamma*(grad(f_n, x[k]) - h[k]) - gamma/p*h[k]) - xstar"
PSI = "mean_n(E(norm2(x[k+1] - xstar))) + gamma**2/p**2*mean_n(E(norm2(h[k+1] - grad(f_n, xstar))))"
LYAPUNOV = (
    step(
        "round",
        f"{PSI} == mean_n(E(norm2(x[k] - xstar - gamma*{DN}))) "
        "+ (1 - p**2)*gamma**2/p**2*mean_n(E(norm2(h[k] - grad(f_n, xstar)))) "
        f"- 2*gamma*E(dot(grad(f, xstar), {MOVED}))",
    ),
    combined("gamma L", "gamma*L <= 1", {"gamma <= 1/L": "L"}),
    combined("gamma mu", "gamma*mu <= 1", {"gamma L": "1", "curvature f_n": "gamma"}),
    combined("two", "2 - gamma*(L + mu) >= 0", {"gamma L": "1", "gamma mu": "1"}),
    combined(
        "contracts",
        f"norm2(x[k] - xstar - gamma*{DN}) <= (1 - gamma*mu)*norm2(x[k] - xstar)",
        {
            "smooth strongly_convex f_n (x[k], xstar)": "gamma**2/2",
            "smooth strongly_convex f_n (xstar, x[k])": "gamma**2/2",
            "strongly_convex f_n (x[k], xstar)": "gamma*(2 - gamma*(L + mu))",
            "strongly_convex f_n (xstar, x[k])": "gamma*(2 - gamma*(L + mu))",
            "gamma mu": "gamma*mu*norm2(x[k] - xstar)",
        },
    ),
    axiom("one", "min(gamma*mu, p**2) <= gamma*mu", "min", "gamma*mu", "p**2"),
    axiom("other", "min(gamma*mu, p**2) <= p**2", "min", "gamma*mu", "p**2"),
    combined(
        "all",
        None,
        {
            "round": "1",
            f"E: zero f ({MOVED})": "-2*gamma",
            "mean_n E: contracts": "1",
            "one": "mean_n(E(norm2(x[k] - xstar)))",
            "other": "gamma**2/p**2*mean_n(E(norm2(h[k] - grad(f_n, xstar))))",
        },
    ),
)
AT_X, AT_C = "norm2(x[k] - xstar) <= 0", "E(norm2(c[k] - grad(f_n, xstar))) <= 0"
STAYS = (
    assumed("zero", "norm2(grad(f, xstar)) == 0", [], "zero", v="grad(f, xstar)"),
    induction(
        "stays",
        AT_X,
        sentences=(AT_X, AT_C),
        base=[
            combined("x first", "norm2(x[0] - xstar) <= 0", {"norm2(x0 - xstar) <= 0": "1"}),
            replaced("same", "norm2(x0 - xstar) <= 0", "norm2(grad(f_n, x0) - grad(f_n, xstar)) == 0"),
            combined("c first", None, {"same": "1"}),
        ],
        step=[
            at("c now", "IH 2", AT_C),
            induction(
                "local",
                "norm2(y[k, h] - xstar) <= 0",
                on="h",
                base=[
                    step("y first", "norm2(y[k, 0] - xstar) == norm2(x[k] - xstar)"),
                    combined("y begins", None, {"y first": "1", "IH 1": "1"}),
                ],
                step=[
                    step("turn", "norm2(y[k, h+1] - xstar) == eta**2*norm2(grad(f, xstar))", ["IH", "c now"]),
                    combined("y next", None, {"turn": "1", "zero": "eta**2"}),
                ],
            ),
            at("after", "local", "norm2(y[k, H] - xstar) <= 0", h="H"),
            step("x next", "norm2(x[k+1] - xstar) <= 0", ["after", "IH 1"]),
            step(
                "c moved",
                "E(norm2(c[k+1] - grad(f_n, xstar))) == S/N*norm2(grad(f, xstar))",
                ["after", "IH 1", "c now"],
            ),
            combined("c next", None, {"c moved": "1", "zero": "S/N"}),
        ],
    ),
    mean("all", "stays", "E"),
)


def one_line(parts: Any = (), squares: Any = ()) -> tuple[Any, ...]:
    return (combined("all", None, parts, squares),)


def twice(schema: str, times: str) -> tuple[Any, ...]:
    return one_line({f"{schema} f (x, y)": times, f"{schema} f (y, x)": times})


BY_HAND: list[tuple[Claim, Any]] = [
    (vectors.JENSEN, one_line(squares={"mean_n: a_n - mean_n(a_n)": "1"})),
    (vectors.YOUNG, one_line(squares={"c*a - b": "1/c"})),
    (vectors.COCOERCIVE, twice("smooth convex", "1")),
    (
        vectors.GEOMETRIC,
        (
            induction(
                "sum",
                "sum_k(q**k) == (1 - q**K)/(1 - q)",
                on="K",
                base=[combined("first")],
                step=[combined("next", None, {"IH": "1"})],
            ),
        ),
    ),
    (noise_ball.ONE_STEP, ONE_STEP),
    (noise_ball.NOISE_BALL, NOISE_BALL),
    (compression.BALL, BALL),
    (proxskip.THEOREM, LYAPUNOV),
    (scaffold.STAYS, STAYS),
]
SHORT = 2
PROOFS = [*BY_HAND, *((c, found) for c, found in proved().values() if c.paper == "textbook" and len(found) <= SHORT)]
"""After what is written by hand, what the textbook's paper and its checks have, where it is short."""
IDS = [claim.id for claim, _ in PROOFS]


def derivation(claim: Claim, written: tuple[Any, ...]) -> list[dict[str, Any]]:
    """The lines, with those that combinations name."""
    return lines(claim, written)


__all__ = ["BY_HAND", "IDS", "PROOFS", "derivation", "single", "zero"]
