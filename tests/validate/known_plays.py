"""Claims about small algorithms, the false ones with instances that break them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tests.rounds import compressed, gossip
from tests.rounds import loopless as lsvrg
from tests.rounds import sgd as parallel_sgd
from tests.validate import plays
from theory.claim import Claim, Paper, claim
from theory.domain import Domain
from theory.program import algorithm
from validate.certificate import play_certificate


@algorithm
def fedavg(w: Any, x: Any, *, eta: Any, H: Any, S: Any) -> Any:
    active = w.choose(S)
    y = w.each(x)
    for _h in w.repeat(H):
        y = y - eta * w.gradient(y)
    return x + w.average(y - x, active)


@algorithm(x="x0", c="each grad(f_n, x0)")
def scaffold(w: Any, x: Any, c: Any, *, eta: Any, eta_g: Any, H: Any, S: Any) -> Any:
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for _h in w.repeat(H):
        y = y - eta * (w.gradient(y) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


@algorithm(x="x0", s="grad(f, x0)", c="each grad(f_n, x0)")
def scaffold_with_server(w: Any, x: Any, s: Any, c: Any, *, eta: Any, H: Any, S: Any, N: Any) -> Any:
    """As printed: the server's control variate moves by S/N of the average change."""
    active = w.choose(S)
    y = w.each(x)
    for _h in w.repeat(H):
        y = y - eta * (w.gradient(y) - c + s)
    plus = c - s + (x - y) / (H * eta)
    moved = w.average(plus - c, active)
    return x + w.average(y - x, active), s + S / N * moved, w.where(active, plus, c)


@algorithm(x="each x0", h="each 0")
def proxskip(w: Any, x: Any, h: Any, *, gamma: Any, p: Any) -> Any:
    moved = x - gamma * (w.gradient(x) - h)
    after = w.where(w.coin(p), w.each(w.mean(moved - gamma / p * h)), moved)
    return after, h + p / gamma * (after - moved)


@algorithm
def normalised(w: Any, x: Any, *, eta: Any) -> Any:
    g = w.full_gradient(x)
    return x - eta / w.norm(g) * g


@algorithm
def sampled(w: Any, x: Any, *, eta: Any, p: Any) -> Any:
    return x - eta * w.mean(w.coins(p) / p * w.gradient(x))


NOISE = {"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}
CONVEX = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)")
BALL = "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*{}"
STILL = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L", "norm2(x0 - xstar) <= 0")
COMPRESSED = ("smooth(f_n, L)", "convex(f_n)", "strongly_convex(f, mu)", "m <= d", "eta <= 1/(L*(1 + 2*omega/N))")
OMEGA = {"omega": "d/m - 1", "spread": "mean_n(norm2(grad(f_n, xstar)))"}
ONE_STEP = "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar))"
PSI = "mean_n(E(norm2(x[{k}] - xstar))) + gamma**2/p**2*mean_n(E(norm2(h[{k}] - grad(f_n, xstar))))"
PHI = "E(norm2(x[{k}] - xstar)) + 4*eta**2/p*mean_n(mean_i(E(norm2(grad(f_ni, s[{k}]) - grad(f_ni, xstar)))))"
LSVRG = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(6*L)", "p <= 1", "N <= 1")


def skips(label: str, rate: str) -> Claim:
    statement = f"{PSI.format(k='k+1')} <= (1 - {rate})*({PSI.format(k='k')})"
    assumed = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/L", "p <= 1")
    return claim(label, statement, of=proxskip, assuming=assumed)


def loopless(label: str, rate: str) -> Claim:
    statement = f"{PHI.format(k='k+1')} <= max({rate})*({PHI.format(k='k')})"
    return claim(label, statement, of=lsvrg, assuming=LSVRG)


PAPER = Paper(
    "known",
    "Known claims",
    "a test",
    (
        claim("noise-ball", BALL.format("eta*sigma2/(mu*N)"), of=parallel_sgd, assuming=CONVEX, where=NOISE),
        claim("lost-factor", BALL.format("eta**2*sigma2/N"), of=parallel_sgd, assuming=CONVEX, where=NOISE),
        claim("stays", "E(norm2(x[k] - xstar)) <= 0", of=scaffold, assuming=STILL),
        claim("fedavg-stays", "E(norm2(x[k] - xstar)) <= 0", of=fedavg, assuming=STILL),
        claim("ball", ONE_STEP + " + 2*eta**2*omega*spread/N", of=compressed, assuming=COMPRESSED, where=OMEGA),
        claim("no-spread", ONE_STEP, of=compressed, assuming=COMPRESSED, where=OMEGA),
        skips("skips", "min(gamma*mu, p**2)"),
        skips("skips-too-fast", "min(gamma*mu, p)"),
        loopless("loopless", "1 - eta*mu, 1 - p/2"),
        loopless("loopless-too-fast", "1 - 2*eta*mu, 1 - p"),
        claim("variates", "norm2(s[k] - mean_n(c[k])) <= 0", of=scaffold_with_server, standing=("eta*H <= 1",)),
        claim(
            "consensus", "sum_n(norm2(x[k] - mean_n(x[k]))) <= rho**(4*k)*sum_n(norm2(grad(f_n, x0)))", of=gossip,
            assuming=("connected(W)", "quadratic(f_n)", "bounded_below(f)"),
        ),
        claim(
            "unit-steps", "norm(x[k] - x0) <= eta*sqrt(k)/2", of=normalised,
            assuming=("smooth(f, L)", "pl(f, mu)"), parameters={"eta": Domain(0, 1, lower_open=True)},
        ),
        claim(
            "chances", "E(norm2(x[k])) <= mean_n(p_n)*norm2(x0)", of=sampled,
            assuming=("dissimilar(G, B)", "p <= 1", "bounded_variance(sigma2)", "same_minimiser(f_ni)"),
        ),
        claim("wrong-way", "norm2(mean_n(a_n)) >= mean_n(norm2(a_n))/N", vectors=("a_n",)),
    ),
)  # fmt: skip
CLAIMS = {one.label: one for one in PAPER}
NOT_UNIQUE = claim(
    "some-minimiser", "norm2(x[k] - xstar) <= 0", of=fedavg, assuming=("smooth(f, L)", "convex(f)", "eta <= 1")
)


def h(curvature: Any, centre: Any) -> dict[str, Any]:
    return {"h": curvature, "a": centre}


SMALL = {"clients": [[h(1, 1), h(1, -1)]]}
PAIR = {"clients": [[h(1, 0)], [h("1/2", 3)]]}
THREE = {"clients": [[h(1, 0)], [h("1/2", 3)], [h(1, 1)]]}
EQUAL = {"clients": [[h(1, 0)], [h(1, 3)]]}
UNIT = [[1, 0], [0, 1]]
SPREAD = {"clients": [[{"H": UNIT, "b": [1, 2]}], [{"H": UNIT, "b": [-1, -2]}]]}
TWO_THIRDS = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]
Where = tuple[dict[str, Any], dict[str, Any], Any, int, dict[str, int], dict[str, Any]]
WHERE: Mapping[str, Where] = {
    "lost-factor": ({"eta": "1/8"}, SMALL, 0, 3, {"k": 3}, {"L": 1, "mu": 1}),
    "fedavg-stays": ({"eta": "1/2", "H": 2, "S": 2}, PAIR, 1, 1, {"k": 1}, {"L": 1, "mu": "1/2"}),
    "no-spread": ({"eta": "1/4", "m": 1}, SPREAD, [0, 0], 1, {"k": 0}, {"L": 1, "mu": 1}),
    "skips-too-fast": ({"gamma": "1/2", "p": "1/10"}, EQUAL, 1, 1, {"k": 0}, {"L": 1, "mu": 1}),
    "loopless-too-fast": ({"eta": "1/12", "p": "1/2"}, {"clients": [[h(1, 1), h(2, -1)]]}, 1, 1, {"k": 0},
                          {"L": 2, "mu": "3/2"}),
    "variates": ({"eta": "1/4", "H": 2, "S": 1}, THREE, 2, 2, {"k": 2}, {}),
    "consensus": ({"eta": "1/2", "W": TWO_THIRDS}, THREE, 1, 2, {"k": 2}, {"rho": "1/4"}),
    "unit-steps": ({"eta": "1/3"}, {"clients": [[{"H": [[2, 0], [0, 3]], "b": [1, 1]}]]}, [2, 1], 2, {"k": 2},
                   {"L": 3, "mu": 2}),
    "chances": ({"eta": 2, "p": ["1/2", 1]}, {"clients": [[h(1, 0), h(1, 0)], [h(2, 0)]]}, 1, 1, {"k": 1},
                {"G": 1, "B": 2, "sigma2": 1}),
    "wrong-way": ({}, {}, [], 1, {}, {}),
}  # fmt: skip
"""Parameters, problem, start, rounds, indices, constants, at which the claim breaks."""
NEIGHBOURS = {
    "lost-factor": "noise-ball",
    "fedavg-stays": "stays",
    "no-spread": "ball",
    "skips-too-fast": "skips",
    "loopless-too-fast": "loopless",
}
"""The false claims, and true ones that speak of the same instance."""


def at(label: str, one: Claim, left: Any, right: Any, **more: Any) -> dict[str, Any]:
    """A certificate of a claim at the instance of a label."""
    parameters, problem, start, rounds, indices, constants = WHERE[label]
    if one.of is scaffold:
        parameters = {**parameters, "eta_g": 1}
    instance: dict[str, Any] = {"parameters": parameters, "start": start, "rounds": rounds}
    instance |= {"problem": problem} if problem else {"vectors": {"a_n": [[1, 2], [-1, 0]]}}
    return play_certificate(
        one, instance, indices, left, right, origin="search", quick=False, constants=constants, **more
    )


def plant(certificate: dict[str, Any]) -> dict[str, Any]:
    """The server's control variate moves by the whole average change: S/N is lost, by hand, in the data."""
    (step,) = [s for s in certificate["program"]["round"] if "(S / N)" in s.get("numbers", [])]
    step["numbers"] = ["1" if text == "(S / N)" else text for text in step["numbers"]]
    return certificate


def certificate(label: str) -> dict[str, Any]:
    """A certificate that the claim of this label is false; of ``variates`` with an error planted in the algorithm."""
    draft = at(label, CLAIMS[label], 0, 0)
    if label == "variates":
        draft = plant(draft)
    rooted = label == "unit-steps"
    left, right = plays.sides(draft)
    if rooted:
        near = Fraction(1, 10**9)
        sides = {
            name: {"lower": f"{float(v - near):.12f}", "upper": f"{float(v + near):.12f}"}
            for name, v in (("left", left), ("right", right))
        }
        return {**draft, **sides}
    return {**draft, "left": str(left), "right": str(right)}
