"""The moments that the stand-alone verifier computes, against brute force and against the exact oracle."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

from sim.exact import moments
from validate import verifier
from validate.scenario import Scenario
from validate.verifier.local_measures import LOCAL_PARAMETERS, LOCAL_QUANTITIES
from validate.verifier.round_measures import ROUND_PARAMETERS, ROUND_QUANTITIES

F = Fraction


# --- brute force: everything that can happen, one outcome at a time -----------------------------------------------


def client_paths(
    spec: dict[str, Any], n: int, theta: Fraction, delta: Fraction
) -> list[tuple[Fraction, dict[str, Any]]]:
    """All outcomes of one client's local steps: (probability, what was seen)."""
    client = spec["clients"][n]
    samples = [(F(h), F(a)) for h, a in zip(client["h"], client["a"], strict=True)]
    svrg = spec["algorithm"] == "fedavg-svrg"
    S, M = (spec["S"], spec["M"]) if svrg else (1, spec["local_steps"])
    paths = []
    for choice in itertools.product(samples, repeat=S * M):
        w, seen = theta, {"v": {}, "w": {}, "snapshot": {}}
        for s in range(S):
            snapshot = w
            seen["snapshot"][s] = snapshot
            full = sum((h * (snapshot - a) for h, a in samples), F(0)) / len(samples)
            for m in range(M):
                h, a = choice[s * M + m]
                v = h * (w - a)
                if svrg:
                    v = v - h * (snapshot - a) + full
                seen["v"][s, m], seen["w"][s, m] = v, w
                w = w - delta * v
        seen["end"] = w
        paths.append((F(1, len(samples)) ** (S * M), seen))
    return paths


def enumerate_run(spec: dict[str, Any]) -> dict[str, Any]:
    """Expectations of the same things as the verifier's tables, under the same names and indices."""
    K, N = spec["K"], len(spec["clients"])
    step = spec["step"] if isinstance(spec["step"], list) else [spec["step"]] * K
    p = [c["p"] if isinstance(c["p"], list) else [c["p"]] * K for c in spec["clients"]]
    aggregation, empty = spec.get("aggregation", "unbiased"), spec.get("empty", "keep")

    def f_n(n: int, t: Fraction) -> Fraction:
        c = spec["clients"][n]
        return sum((F(h) / 2 * (t - F(a)) ** 2 for h, a in zip(c["h"], c["a"], strict=True)), F(0)) / len(c["h"])

    def g_n(n: int, t: Fraction) -> Fraction:
        c = spec["clients"][n]
        return sum((F(h) * (t - F(a)) for h, a in zip(c["h"], c["a"], strict=True)), F(0)) / len(c["h"])

    def g(t: Fraction) -> Fraction:
        return sum((g_n(n, t) for n in range(N)), F(0)) / N

    found: dict[str, Any] = {"v": {}, "inner": {}, "fw": {}, "fs": {}, "aggregate": {}, "f": {}, "g2": {}, "theta": {}}
    law = {F(spec["theta0"]): F(1)}
    for k in range(K + 1):
        found["f"][k] = sum(q * sum(f_n(n, t) for n in range(N)) / N for t, q in law.items())
        found["g2"][k] = sum(q * g(t) ** 2 for t, q in law.items())
        found["theta"][k] = (sum(q * t for t, q in law.items()), sum(q * t * t for t, q in law.items()))
        if k == K:
            break
        new: dict[Fraction, Fraction] = {}
        found["aggregate"][k] = F(0)
        delta = F(step[k])
        for theta, mass in law.items():
            paths = [client_paths(spec, n, theta, delta) for n in range(N)]
            for n in range(N):
                for q, seen in paths[n]:
                    for (s, m), v in seen["v"].items():
                        key, weight, w = (k, n, s, m), mass * q, seen["w"][s, m]
                        for name, value in (("v", v * v), ("inner", g(theta) * g_n(n, w)), ("fw", f_n(n, w))):
                            found[name][key] = found[name].get(key, F(0)) + weight * value
                    for s, w in seen["snapshot"].items():
                        found["fs"][k, n, s] = found["fs"].get((k, n, s), F(0)) + mass * q * f_n(n, w)
            chances = [F(p[n][k]) for n in range(N)]
            nobody = F(1)
            for chance in chances:
                nobody *= 1 - chance
            for active in itertools.product((0, 1), repeat=N):
                who = F(1)
                for chance, a in zip(chances, active, strict=True):
                    who *= chance if a else 1 - chance
                if who == 0 or (empty == "condition" and not any(active)):
                    continue
                if empty == "condition":
                    who /= 1 - nobody
                for outcome in itertools.product(*paths):
                    q = mass * who
                    for probability, _ in outcome:
                        q *= probability
                    moves = [seen["end"] - theta for _, seen in outcome]
                    scaled = sum((-a * x / delta / c for a, x, c in zip(active, moves, chances, strict=True)), F(0))
                    found["aggregate"][k] += q * scaled**2
                    if aggregation == "unbiased":
                        c_n = [a / (N * c) for a, c in zip(active, chances, strict=True)]
                    else:
                        c_n = [F(a, max(sum(active), 1)) for a in active]
                    after = theta + sum((c * x for c, x in zip(c_n, moves, strict=True)), F(0))
                    if empty == "zero" and not any(active):
                        after = F(0)
                    new[after] = new.get(after, F(0)) + q
        law = new
    return found


def play(spec: dict[str, Any]) -> tuple[verifier.Instance, list[verifier.Round]]:
    instance = verifier.read_instance(spec)
    rounds: list[verifier.Round] = []
    for k in range(instance.K):
        start = rounds[-1].end if rounds else (instance.theta0, instance.theta0**2)
        rounds.append(verifier.play_round(instance, k, start))
    return instance, rounds


SVRG = {
    "algorithm": "fedavg-svrg",
    "clients": [{"h": ["1", "2"], "a": ["0", "1"], "p": "1/2"}, {"h": ["1/2"], "a": ["-1"], "p": "1/3"}],
    "step": "1/5",
    "S": 2,
    "M": 2,
    "K": 2,
    "theta0": "3",
}
SGD = {
    "algorithm": "local-sgd",
    "clients": [{"h": ["1", "3"], "a": ["0", "1"], "p": "1/2"}, {"h": ["-1/2"], "a": ["-1"], "p": "1/3"}],
    "step": "1/4",
    "local_steps": 2,
    "K": 2,
    "theta0": "-2",
}


def changed(spec: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {**spec, **values}


SPECS = [
    SVRG,
    changed(SVRG, step=["1/5", "1/2"], clients=[{"h": ["1", "2"], "a": ["0", "1"], "p": ["1/2", "1"]}]),
    changed(SVRG, S=1, M=3, K=1, aggregation="normalised", empty="zero"),
    changed(SVRG, S=3, M=1, K=1, aggregation="unbiased", empty="condition"),
    SGD,
    *(
        changed(SGD, K=1, aggregation=a, empty=e)
        for a in ("unbiased", "normalised")
        for e in ("keep", "zero", "condition")
    ),
]


@pytest.mark.parametrize("spec", SPECS, ids=[str(i) for i in range(len(SPECS))])
def test_moments_equal_enumeration(spec: dict[str, Any]) -> None:
    found = enumerate_run(spec)
    instance, rounds = play(spec)
    for k, r in enumerate(rounds):
        assert r.start == found["theta"][k]
        assert r.end == found["theta"][k + 1]
    for (k, n, s, m), value in found["v"].items():
        assert rounds[k].estimator[n][s][m] == value
        assert rounds[k].inner[n][s][m] == found["inner"][k, n, s, m]
        assert rounds[k].local_cost[n][s][m] == found["fw"][k, n, s, m]
    for (k, n, s), value in found["fs"].items():
        assert rounds[k].snapshot_cost[n][s] == value
    assert len(found["v"]) == instance.K * len(instance.clients) * instance.S * instance.M


def test_every_quantity_and_parameter_equals_enumeration() -> None:
    spec = changed(SVRG, K=2, S=2, M=2)
    found = enumerate_run(spec)
    instance, rounds = play(spec)
    v, N, S, M, K, L = found["v"], 2, 2, 2, 2, F(3, 2)
    chances, delta, k, n, s, m = [F(1, 2), F(1, 3)], F(1, 5), 1, 0, 1, 1
    lowest = [verifier.minimum(c) for c in instance.clients]
    best = verifier.minimum(instance)
    assert (
        min(c.cost(t, t * t) for c in instance.clients[:1] for t in (F(2, 3) + F(i, 100) for i in range(-9, 9)))
        == lowest[0]
    )
    indices = list(itertools.product(range(K), range(N), range(S), range(M)))

    def before(k_: int, n_: int, s_: int, m_: int) -> Fraction:
        return sum((v[k_, n_, a, b] for a in range(S) for b in range(M) if (a, b) < (s_, m_)), F(0))

    quantities = {
        "mean_squared_gradient_norm": (found["g2"][0] + found["g2"][1]) / 2,
        "squared_gradient_norm": found["g2"][k],
        "suboptimality": found["f"][k] - best,
        "expected_next_cost": found["f"][k + 1],
        "estimator_second_moment": v[k, n, s, m],
        "local_suboptimality": found["fw"][k, n, s, m] - lowest[n],
        "scaled_aggregate": delta**2 * L / (2 * N**2) * found["aggregate"][k],
        "negative_inner_product": -delta * (found["inner"][k, 0, s, m] + found["inner"][k, 1, s, m]) / N,
        "mean_local_suboptimality": sum(found["fw"][k, n, a, b] for a in range(S) for b in range(M)) / (S * M)
        - lowest[n],
    }
    parameters = {
        "delta": delta,
        "L": L,
        "mu": F(1, 2),
        "N": 2,
        "K": 2,
        "S": 2,
        "M": 2,
        "k": k,
        "n": n,
        "s": s,
        "m": m,
        "f0_gap": found["f"][0] - best,
        "f_drop": found["f"][0] - found["f"][K],
        "drift_sum": sum(v[a, b, c, e] for a, b, c, d in indices for e in range(d)),
        "weighted_sum": sum(v[i] / chances[i[1]] for i in indices),
        "lexicographic_drift_sum": sum((c * M + d) * before(a, b, c, d) for a, b, c, d in indices),
        "mean_inv_p": F(5, 2),
        "sum_inv_p": F(5),
        "G2": max(v.values()),
        "D": max(found["fw"][a, b, 0, 0] - lowest[b] for a in range(K) for b in range(N)),
        "cost": found["f"][k],
        "squared_gradient_norm": found["g2"][k],
        "inner_product_sum": sum(found["inner"][i] for i in indices if i[0] == k) / N,
        "weighted_round": sum(v[i] / chances[i[1]] for i in indices if i[0] == k),
        "full_drift_round": sum(v[k, b, c, e] for a, b, c, d in indices if a == k for e in range(M)),
        "drift_round": sum(v[k, b, s, e] for b in range(N) for e in range(m)),
        "lexicographic_drift_round": sum(before(k, b, s, m) for b in range(N)),
        "weighted_drift_round": sum((c * M + d) * before(a, b, c, d) for a, b, c, d in indices if a == k),
        "aggregate_second_moment": found["aggregate"][k],
        "local_gap": found["fw"][k, n, s, m] - lowest[n],
        "snapshot_gap": found["fs"][k, n, s] - lowest[n],
        "start_gap": found["fw"][k, n, 0, 0] - lowest[n],
    }
    index = {"k": k, "n": n, "s": s, "m": m}
    context = verifier.Context(instance, rounds, index, {"L": L}, (), False)
    # those of local SGD are enumerated in test_verifier_local
    assert set(verifier.QUANTITIES) - set(quantities) == {"drift", *LOCAL_QUANTITIES, *ROUND_QUANTITIES}
    assert set(verifier.PARAMETERS) - set(parameters) == {"p", *LOCAL_PARAMETERS, *ROUND_PARAMETERS}
    for name, value in quantities.items():
        assert verifier.QUANTITIES[name](context) == value, name
    for name, value in parameters.items():
        assert verifier.PARAMETERS[name][1](context) == value, name
    with pytest.raises(verifier.Uncheckable, match="not one number"):
        verifier.PARAMETERS["p"][1](context)
    with pytest.raises(verifier.Uncheckable, match="S = 1"):
        verifier.QUANTITIES["drift"](context)
    one = play(changed(SVRG, S=1, M=3, K=1))
    drift = verifier.QUANTITIES["drift"](verifier.Context(*one, {"k": 0, "n": 0, "m": 2}, {}, (), False))
    enumerated = enumerate_run(changed(SVRG, S=1, M=3, K=1))["v"]
    assert drift == enumerated[0, 0, 0, 0] + enumerated[0, 0, 0, 1]


def random_spec(seed: int) -> dict[str, Any]:
    rng = random.Random(seed)

    def fraction(low: int, high: int) -> str:
        return str(F(rng.randint(low * 4, high * 4), 4))

    clients = []
    for _ in range(rng.randint(1, 4)):
        size = rng.randint(1, 3)
        h = [str(F(rng.randint(1, 12), 4)) for _ in range(size)]
        clients.append({"h": h, "a": [fraction(-3, 3) for _ in h], "p": str(F(rng.randint(1, 5), 5))})
    local = {"S": rng.randint(1, 3), "M": rng.randint(1, 3)} if seed % 2 else {"local_steps": rng.randint(1, 4)}
    rules = (
        {}
        if seed % 4 == 1
        else {"aggregation": rng.choice(["unbiased", "normalised"]), "empty": rng.choice(["keep", "zero"])}
    )
    algorithm = "fedavg-svrg" if seed % 2 else "local-sgd"
    common = {"algorithm": algorithm, "clients": clients, "step": str(F(1, rng.randint(2, 9))), "K": rng.randint(1, 3)}
    return {**common, "theta0": fraction(-3, 3), **local, **rules}


@pytest.mark.parametrize("seed", range(12))
def test_verifier_agrees_with_the_oracle(seed: int) -> None:
    spec = random_spec(seed)
    scenario = Scenario.from_spec(spec, exact=True)
    oracle = moments(
        scenario.algorithm, scenario.problem, scenario.participation, rounds=scenario.rounds, start=scenario.start
    )
    instance, rounds = play(spec)
    context = verifier.Context(instance, rounds, {}, {}, (), False)
    K, N, S, M = oracle.estimator.shape
    for k in range(K):
        assert rounds[k].end == (oracle.mean[k + 1, 0], oracle.second_moment[k + 1, 0, 0])
        at = verifier.Context(instance, rounds, {"k": k}, {}, (), False)
        assert verifier.QUANTITIES["squared_gradient_norm"](at) == oracle.squared_gradient_norm[k]
        assert verifier.QUANTITIES["suboptimality"](at) == oracle.suboptimality[k]
        if oracle.aggregate is not None and instance.empty == "keep":
            assert verifier.PARAMETERS["aggregate_second_moment"][1](at) == oracle.aggregate[k]
        for n, s, m in itertools.product(range(N), range(S), range(M)):
            assert rounds[k].estimator[n][s][m] == oracle.estimator[k, n, s, m]
            assert rounds[k].inner[n][s][m] == oracle.inner_product[k, n, s, m]
            gap = rounds[k].local_cost[n][s][m] - verifier.minimum(instance.clients[n])
            assert gap == oracle.local_suboptimality[k, n, s, m]
    for name in ("drift_sum", "weighted_sum", "lexicographic_drift_sum"):
        assert verifier.PARAMETERS[name][1](context) == getattr(oracle, name)()
    assert verifier.QUANTITIES["mean_squared_gradient_norm"](context) == oracle.mean_squared_gradient_norm()
