"""Certificates that the verifier accepts, confirmed by code that it does not use.

Left sides are found again by the exact oracle (`sim`), by enumeration, by closed forms or in floats; right sides by the
formulas of `theory`, in fractions or Arb balls; then the claimed relation must be false.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import permutations
from math import isqrt
from typing import Any

import numpy as np

from tests.fuzz.in_floats import adam, products
from tests.fuzz.recomputed import CLOSE, Unknown, balls, ends, false_between, is_rounded, numbers
from tests.fuzz.statements import Certificate, told

F = Fraction


def confirmed(certificate: Certificate) -> bool:
    """Whether an accepted certificate was found to be true again; False when that is not computed here.

    Raises:
        AssertionError: when it is not true.
    """
    told(certificate)
    try:
        return KINDS[certificate["kind"]](certificate)
    except Unknown:
        return False


def refuted(c: Certificate, left: Any, names: Mapping[str, Any], relation: str = "", right: str = "right") -> bool:
    """That the printed sides are these, and the relation between them is false.

    Raises:
        AssertionError: otherwise.
        Unknown: when the right side has a name without a value.
    """
    value = balls(c[right], names, c.get("definitions"))
    assert is_rounded(str(c["left_value"]), left), ("left", c["left_value"], left)
    assert is_rounded(str(c["right_value"]), value), ("right", c["right_value"], value)
    assert false_between(left, relation or c["relation"], value), (left, value)
    return True


def instance(c: Certificate) -> bool:
    """By the exact oracle of `sim`."""
    from validate.scenario import Scenario

    spec = {name: value for name, value in c["instance"].items() if name != "name"}
    scenario = Scenario.from_spec(spec, exact=True)
    m, at = scenario.moments(), {k: int(v) for k, v in c["left"].get("index", {}).items()}
    best = _minimiser(scenario.problem)
    left: dict[str, Callable[[], Any]] = {
        "mean_squared_gradient_norm": m.mean_squared_gradient_norm,
        "squared_gradient_norm": lambda: m.squared_gradient_norm[at["k"]],
        "suboptimality": lambda: m.suboptimality[at["k"]],
        "expected_next_cost": lambda: m.cost[at["k"] + 1],
        "estimator_second_moment": lambda: m.estimator[at["k"], at["n"], at["s"], at["m"]],
        "local_suboptimality": lambda: m.local_suboptimality[at["k"], at["n"], at["s"], at["m"]],
        "squared_distance": lambda: m.second_moment[at["k"]][0][0] - 2 * best * m.mean[at["k"]][0] + best**2,
    }
    left["squared_distance_to_minimiser"] = left["squared_distance"]
    if c["left"]["quantity"] not in left:
        raise Unknown
    given = numbers(c["parameters"])
    fixed = {} if c.get("names") else {"K": scenario.rounds, "N": scenario.problem.clients}
    assert all(given.get(name, value) == value for name, value in fixed.items())
    return refuted(c, left[c["left"]["quantity"]](), given)


def _minimiser(problem: Any) -> Fraction:
    h, b = problem.hessian, problem.linear
    top = sum((sum(map(F, row.reshape(-1))) / row.size for row in b), F(0))
    return top / sum((sum(map(F, row.reshape(-1))) / row.size for row in h), F(0))


def fixed_point(c: Certificate) -> bool:
    """A round of the exact oracle maps the start to itself, and the gradient there is as printed."""
    from validate.scenario import Scenario

    spec = {name: value for name, value in c["instance"].items() if name != "name"}
    spec |= {"K": 1, "step": spec["step"][0] if isinstance(spec["step"], list) else spec["step"]}
    m = Scenario.from_spec(spec, exact=True).moments()
    assert m.mean[0][0] == m.mean[1][0]
    assert m.second_moment[1][0][0] == m.mean[1][0] ** 2
    assert m.squared_gradient_norm[0] == F(c["squared_gradient_norm"]) > 0
    return True


def order(c: Certificate) -> bool:
    """Runs of the exact oracle at the first j are above the claimed order."""
    from validate.scenario import Scenario

    q, eps, claimed = int(c["base"]), F(c["epsilon"]), F(c["claimed_exponent"])
    j = int(c["from"])
    if j**q > 300:
        raise Unknown
    spec = {k: v for k, v in c["instance"].items() if k != "name"} | {"K": j**q, "step": str(F(1, j ** int(q * eps)))}
    mean = Scenario.from_spec(spec, exact=True).moments().mean_squared_gradient_norm()
    assert mean * F(j) ** int(q * claimed) >= F(c["constant"]) * F(j) ** int(c["growth"])
    return True


def chain(c: Certificate) -> bool:
    """Every path of the iterates, one by one; the stability of one step, on a grid."""
    f, square = {k: F(v) for k, v in c["function"].items()}, F(c["R2"]) if "R2" in c else F(c["R"]) ** 2
    laws = {F(e["at"]): [(F(p), F(y)) for p, y in e["outcomes"]] for e in c["noise"]}
    eta, steps = F(c["eta"]), int(c["steps"])
    if max(map(len, laws.values()), default=1) ** min(steps, 20) > 5000:
        raise Unknown

    def step(x: Fraction) -> Fraction:
        return x - eta * (f["L"] if x < f["minimiser"] else f["mu"]) * (x - f["minimiser"])

    def moment(x: Fraction, left: int) -> Fraction:
        assert not left or x in laws
        return sum((p * moment(y, left - 1) for p, y in laws[x]), F(0)) if left else x * x

    for x, law in laws.items():
        mean = sum(p * y for p, y in law)
        assert mean == step(x)
        assert sum(p * y * y for p, y in law) - mean**2 <= eta**2 * F(c["sigma2"])
    side = F(isqrt(int(square * 10**12)), 10**6)
    assert all(step(side * i / 50) ** 2 + eta**2 * F(c["sigma2"]) <= square for i in range(-50, 51))
    found = moment(F(c["start"]), steps)
    assert F(c["start"]) ** 2 <= square
    assert found == F(c["left_value"]) > F(c["right_value"]) == square
    return True


def finite(c: Certificate) -> bool:
    """Second moments over the listed outcomes, by NumPy's objects."""
    p = np.array([F(o["p"]) for o in c["outcomes"]], dtype=object)
    x = np.array([[[F(v) for v in vector] for vector in o["x"]] for o in c["outcomes"]], dtype=object)
    w = np.array([[F(v) for v in o["weights"]] for o in c["outcomes"]], dtype=object)
    assert p.sum() == 1
    assert (w >= 0).all()
    mean = (x * w[:, :, None]).sum(axis=1) / w.sum(axis=1)[:, None]
    assert (((x**2).sum(axis=2) * p[:, None]).sum(axis=0) <= F(c["R2"])).all()
    assert ((mean**2).sum(axis=1) * p).sum() == F(c["left_value"]) > F(c["R2"]) == F(c["right_value"])
    return True


def relation(c: Certificate) -> bool:
    """Both sides by the formulas of `theory`."""
    names = numbers(c["parameters"])
    left = balls(c["left"]["formula"], names, c["definitions"])
    return refuted(c, left, names, right="right" if "right" in c else "right_formula")


def permutations_(c: Certificate) -> bool:
    """Every order of the clients played, with Q_j in closed form; the right side in balls."""
    h, b = ([F(client[name]) for client in c["clients"]] for name in ("h", "b"))
    alpha, eta, K, start = [F(a) for a in c["alpha"]], F(c["step"]), int(c["local_steps"]), F(c["start"])
    N, given = len(h), numbers(c["parameters"])
    rate = [eta * a * N for a in alpha]
    Q = [(1 - (1 - r * x) ** K) / x for r, x in zip(rate, h, strict=True)]
    g = [x * start - y for x, y in zip(h, b, strict=True)]
    whole = sum((a * x for a, x in zip(alpha, g, strict=True)), F(0))
    last = int(given.get("n", 0)), int(c["left"].get("last", 1))
    left: dict[str, Callable[[Any], Fraction]] = {
        "partial_sum": lambda s: abs(sum((alpha[j] * g[j] for j in s[: last[0] + 1]), F(0))),
        "epoch_bias_sum": lambda s: (sum(Q[j] * g[j] for j in s) - eta * N * K * whole) ** 2,
        "epoch_part": lambda s: abs(sum((Q[j] * g[j] for j in s[: last[1] - 1]), F(0))),
    }
    if c["left"]["quantity"] not in left:
        raise Unknown
    assert sum(alpha) == 1
    assert min(h) > 0
    assert F(c["domain"][0]) <= start <= F(c["domain"][1])
    far = max(abs(x * F(v) - y) for x, y in zip(h, b, strict=True) for v in c["domain"])
    best = {"G": far, "L": max(h)}
    assert all(given.get(name, value) >= value for name, value in best.items())
    fixed = {"N": N, "eta": eta, "K": K}
    assert all(given.get(name, value) == value for name, value in fixed.items())
    right = ends(balls(c["right"], {**best, "mu": min(h), **given}, c.get("definitions")))[1]
    found = [left[c["left"]["quantity"]](s) for s in permutations(range(N))]
    if "p" in given:
        assert sum(value > right for value in found) > given["p"] * len(found)
    else:
        assert sum(found, F(0)) / len(found) > right
    return True


def unrolled(c: Certificate) -> bool:
    """The epoch played in 80 decimals' worth of fractions, from right to left as a composition of affine maps."""
    h, b = ([F(client[name]) for client in c["clients"]] for name in ("h", "b"))
    rate = [F(c["step"]) * F(a) * len(h) for a in c["alpha"]]
    slope, constant = F(1), F(0)
    for j in reversed(range(len(h))):
        for d in reversed(c["noise"][j]):
            constant += slope * rate[j] * (b[j] - F(d))
            slope *= 1 - rate[j] * h[j]
    assert slope * F(c["start"]) + constant == F(c["left_value"]) != F(c["right_value"])
    return True


def mixing(c: Certificate) -> bool:
    """The weights by the other exact solver, the iterates in closed form."""
    from theory.mixing import exact_projected_gradient, exact_weights

    h, b = ([F(f[name]) for f in c["functions"]] for name in ("h", "b"))
    n, lam, step, R = [F(x) for x in c["n"]], F(c["lam"]), F(c["step"]), int(c["rounds"])
    star = sum(b, F(0)) / sum(h, F(0))
    powers = [(1 - step * x) ** int(c["local_steps"]) for x in h]
    end = F(c["start"])
    for _ in range(R):
        end = sum((p * end + (1 - p) * y / x for p, x, y in zip(powers, h, b, strict=True)), F(0)) / len(h)
    own = int(c["client"])

    def z(w: Fraction) -> list[Fraction]:
        return [(h[own] * w - b[own] - x * w + y) ** 2 for x, y in zip(h, b, strict=True)]

    def square(x: Any, y: Any) -> Fraction:
        return sum(((p - q) ** 2 for p, q in zip(x, y, strict=True)), F(0))

    settled, best = exact_weights(z(end), n, lam).weights, exact_weights(z(star), n, lam).weights
    quantity = c["left"]["quantity"]
    if quantity in ("weight_change", "squared_weight_change"):
        left = square(settled, best)
    elif quantity in ("weight_descent_error", "weight_error", "weight_end"):
        uniform = (F(1, len(h)),) * len(h)
        reached = exact_projected_gradient(z(end), n, lam, int(c["weight_steps"]), uniform)[-1]
        left = square(reached, settled if quantity == "weight_descent_error" else best)
    else:
        raise Unknown
    if quantity == "weight_change":  # a root, printed as a decimal
        left = F(float(left) ** 0.5)
    assert is_rounded(c["left_value"], left, CLOSE)
    if "right" not in c:  # an order; what makes it false is that the left side is the same for every T_a
        assert left > 0
        return True
    away = (end - star) ** 2
    names = {"mu": min(h), "L": max(h), "N": F(len(h)), "R": F(R), "K": F(int(c["local_steps"])), "n": tuple(n)}
    names |= {"T_a": F(int(c["weight_steps"])), "lam": lam, "gamma": step, "dist2": away, "zeta": tuple(z(star))}
    names["zbar"] = sum(z(star), F(0)) / len(h)
    right = ends(balls(c["right"], {**names, **numbers(c["parameters"])}, c.get("definitions")))[0]
    assert is_rounded(c["right_value"], right, CLOSE)
    assert left > right * (1 - F(CLOSE))
    return True


def vectors(c: Certificate) -> bool:
    """The Gram matrix by NumPy's objects, and every condition on it."""
    names = list(c["vectors"])
    rows = np.array([[F(x) for x in c["vectors"][name]] for name in names], dtype=object).reshape(len(names), -1)
    weights = np.array([F(w) for w in c["weights"]], dtype=object)
    gram = (rows * weights) @ rows.T
    assert all(weights > 0)

    def holds(item: Mapping[str, Any]) -> tuple[bool, Fraction]:
        total = F(item["constant"]) + sum(F(k) * F(c["values"][name]) for name, k in item["values"])
        total += sum(F(k) * gram[names.index(a), names.index(b)] for a, b, k in item["products"])
        return {"<=": total <= 0, "<": total < 0, "==": total == 0}[item["relation"]], total

    assert all(holds(item)[0] for item in c["given"])
    claimed, value = holds(c["condition"])
    assert not claimed
    assert value == F(c["value"])
    return True


KINDS: dict[str, Callable[[Certificate], bool]] = {
    "instance": instance,
    "fixed-point": fixed_point,
    "order": order,
    "chain": chain,
    "finite": finite,
    "open-adam": adam,
    "mixing": mixing,
    "permutations": permutations_,
    "unrolled": unrolled,
    "products": products,
    "relation": relation,
    "vectors": vectors,
}
