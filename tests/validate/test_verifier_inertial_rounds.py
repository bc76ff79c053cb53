"""The rounds of FedMIM that the stand-alone verifier plays, against the exact oracle and against the definitions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from tests.validate.inertial_certificates import CLAIMS, moments
from theory.evaluate import exact
from validate.verifier.formulas import Uncheckable
from validate.verifier.inertial_measures import PARAMETERS, QUANTITIES, Context, polyak_lojasiewicz, relation_six
from validate.verifier.inertial_rounds import outcomes, play_run, read_instance

F = Fraction

small = rationals(-2, 2, 4)
weights = st.lists(rationals(0, F(2, 5), 10), max_size=2)


@st.composite
def specifications(draw: st.DrawFn) -> dict[str, Any]:
    N, K, T = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    clients = []
    for _ in range(N):
        samples = draw(st.integers(1, 2))
        same = st.lists(small, min_size=samples, max_size=samples)
        clients.append({key: [str(v) for v in draw(same)] for key in ("h", "b")})
    steps = draw(st.lists(rationals(F(1, 8), 1, 8), min_size=T, max_size=T))
    spec = {"algorithm": "fedmim", "clients": clients, "S": draw(st.integers(1, N)), "local_steps": K, "K": T}
    spec |= {"step": [str(s) for s in steps], "x0": str(draw(small))}
    return spec | {key: [str(v) for v in draw(weights)] for key in ("alpha", "beta")}


@given(specifications())
@settings(max_examples=60, deadline=None)
def test_all_moments_are_those_of_the_oracle(spec: dict[str, Any]) -> None:
    """The enumeration of all outcomes against the recursion for the covariances; every quantity, every index."""
    found, run = moments(spec), play_run(read_instance(spec))
    instance = run.instance
    N, K, T, S = instance.N, instance.K, instance.rounds, instance.S
    gradients = list(found.auxiliary_squared_gradient_norm)
    for t in range(T):

        def at(name: str, t: int = t, quantity: str = "", **index: int) -> Any:
            table = QUANTITIES if name in QUANTITIES else {key: compute for key, (_, compute) in PARAMETERS.items()}
            return table[name](Context(run, {"t": t, **index}, {}, quantity))

        assert at("squared_gradient") == at("grad_u2") == gradients[t]
        assert at("dtilde_sq") == found.squared_average_step[t]
        assert at("average_gradient_squared") == found.squared_average_step[t] / instance.step[t] ** 2
        assert at("next_delta_squared") == found.squared_increment[t + 1]
        assert at("delta_sq") == tuple(found.squared_increment[t - j] if j <= t else 0 for j in range(instance.J))
        if found.auxiliary_suboptimality is not None:
            gaps = found.auxiliary_suboptimality
            assert (at("gap"), at("next_gap"), at("f0_gap")) == (gaps[t], gaps[t + 1], gaps[0])
            assert at("descent") == gaps[t + 1] - gaps[t]
        else:
            with pytest.raises(Uncheckable):
                at("f0_gap")
        mean_drift = [sum(found.displacement[t, :, k]) / N for k in range(K + 1)]
        assert at("client_drift") == sum(mean_drift[1:]) / K
        for k in range(K + 1):
            assert at("mean_drift", k=k) == mean_drift[k] == at("drift", k=k)
            assert all(at("one_client_drift", k=k, n=n) == found.displacement[t, n, k] for n in range(N))
            if k:
                assert all(at("x_sq", k=k, n=n) == found.displacement[t, n, k - 1] for n in range(N))
                assert at("drift", k=k, quantity="mean_drift") == mean_drift[k - 1]
        chosen = []
        for k in range(K):
            local = found.local_gradient[t, :, k]
            assert all(at("client_squared_gradient", k=k, n=n) == local[n] for n in range(N))
            assert at("mean_client_squared_gradient", k=k) == at("gradients_sq", k=k) == sum(local) / N
            mean_sq = at("mean_sq", k=k)
            chosen.append(at("selected_gradient_squared", k=k))
            if N > 1:
                repaired = {"S": S, "N": N, "mean_sq": mean_sq, "gradients_sq": sum(local) / N}
                assert chosen[-1] == exact(CLAIMS["eq30/corrected"], repaired)
            else:
                assert chosen[-1] == mean_sq == local[0]
            assert (mean_sq, chosen[-1]) == (found.mean_gradient[t, k], found.selected_gradient[t, k])
        assert at("selected_sq") == sum(chosen) / K
    assert at("min_squared_gradient") == min(gradients[:T])
    assert at("C") == max(found.squared_average_step[t] / instance.step[t] ** 2 for t in range(T))
    if all(len(set(c["h"])) == 1 for c in spec["clients"]):
        assert instance.variance == max(found.noise[0, n, 0] for n in range(N))


def test_outcomes_are_counted() -> None:
    """Subsets of two of three clients with 4, 1 and 9 sequences of two samples: 4 + 36 + 9."""
    clients = [{"h": ["1"] * m, "b": ["0"] * m} for m in (2, 1, 3)]
    spec = {"algorithm": "fedmim", "clients": clients, "S": 2, "local_steps": 2, "step": "1/8", "x0": "1", "K": 1}
    assert outcomes(read_instance(spec)) == 49


@given(st.lists(st.tuples(small, small), min_size=1, max_size=3), st.fractions(0, 3), st.fractions(0, 4))
@settings(max_examples=100, deadline=None)
def test_relation_six_by_values(pairs: list[tuple[Fraction, Fraction]], G: Fraction, B: Fraction) -> None:
    """Against values on a grid, and the vertex: a polynomial that is negative somewhere is so at one of these."""
    clients = [{"h": [str(h)], "b": [str(b)]} for h, b in pairs]
    spec = {"algorithm": "fedmim", "clients": clients, "local_steps": 1, "step": "1", "x0": "0", "K": 1}
    instance = read_instance(spec)
    N = len(pairs)
    mean_h, mean_b = sum(h for h, _ in pairs) / N, sum(b for _, b in pairs) / N

    def gap(x: Fraction) -> Fraction:
        return G**2 + B**2 * (mean_h * x - mean_b) ** 2 - sum((h * x - b) ** 2 for h, b in pairs) / N

    second = gap(F(1)) + gap(F(-1)) - 2 * gap(F(0))
    vertex = [-(gap(F(1)) - gap(F(-1))) / (2 * second)] if second else []
    points = [*vertex, F(0), F(1), F(-1), F(10**9), F(-(10**9))]
    assert relation_six(instance, G, B) == (min(map(gap, points)) >= 0)


def test_polyak_lojasiewicz_of_lines() -> None:
    def of(h: Any, b: Any) -> Any:
        client = {"h": [h], "b": [b]}
        return read_instance(
            {"algorithm": "fedmim", "clients": [client], "local_steps": 1, "step": "1", "x0": "0", "K": 1}
        )

    assert polyak_lojasiewicz(of("2", "1"), F(2))
    assert not polyak_lojasiewicz(of("2", "1"), F(3))
    assert not polyak_lojasiewicz(of("2", "1"), F(0))
    assert polyak_lojasiewicz(of("0", "0"), F(9))
    assert not polyak_lojasiewicz(of("0", "1"), F(1, 9))
    assert not polyak_lojasiewicz(of("-1", "0"), F(1, 9))
