"""fedavg-svrg on instances worked out by hand, and the verdicts that are found quickly."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from theory import claim
from validate import check
from validate.both_sides import sides
from validate.expected import lines
from validate.instances import read_instance
from validate.instances.setting import Setting
from validate.verifier import verify

F = Fraction


def instance(label, clients, *, delta, p=1, S=1, M=1, start=1, rounds=1, **constants):
    """A claim with an instance of scalar quadratics, and the claim's constants in fractions."""
    data = {
        "algorithm": "fedavg-svrg/fedavg_svrg",
        "parameters": {"delta": delta, "p": p, "S": S, "M": M},
        "problem": {"clients": clients},
        "start": start,
        "rounds": rounds,
    }
    one = claim(f"fedavg-svrg/{label}")
    return one, read_instance(data, one.of), {name: F(value) for name, value in constants.items()}


def rows(label, clients, **fields):
    one, made, constants = instance(label, clients, **fields)
    return sides(one.sentence, one.vocabulary, made, constants).rows


ONE = [[{"h": 1, "a": 0}]]


def test_eq7_at_the_papers_own_settings():
    # theta^2/2 with S = 10, M = 5, step 1/10: the substituted gradient of step t = sM+m is (9/10)^t
    (row,) = rows("theorem-v1-eq7", ONE, delta="1/10", S=10, M=5, L=1)
    v2 = [[F(81, 100) ** (5 * s + m) for m in range(5)] for s in range(10)]
    drift = sum(sum(v2[s][:m]) for s in range(10) for m in range(5))
    weighted = sum(map(sum, v2))
    by_hand = 2 * F(1, 2) / (F(1, 10) * 50) + F(1, 100) * 4 / 50 * drift + F(1, 10) * weighted
    assert (row.left, row.right, row.status) == (1, by_hand, "broken")


@pytest.mark.parametrize(("S", "M"), [(1, 1), (3, 2), (2, 4)])
def test_the_drift_since_the_round_began_is_the_double_sum(S, M):
    (row,) = rows("theorem-v1-eq7/corrected", ONE, delta="1/4", S=S, M=M, L=1)
    v2 = [F(9, 16) ** t for t in range(S * M)]
    since = sum(t * sum(v2[:t]) for t in range(S * M))
    by_hand = 4 / F(S * M) + F(1, 16) / (S * M) * since + F(1, 4) * sum(v2)
    assert row.right == by_hand


def test_eq8_takes_the_largest_substituted_gradient_of_any_client():
    # one step of two clients, of which the second is at its minimiser, with chances 1/2 and 1
    (row,) = rows("theorem-v1-eq8", [[{"h": 1, "a": 0}], [{"h": 1, "a": 1}]], delta="1/2", p=["1/2", 1], L=1)
    assert row.left == F(1, 4)
    f0_gap = F(1, 4) - F(1, 8)
    assert row.right == 2 * f0_gap / F(1, 2) + F(1, 2) * 1 * F(3, 2)


def test_lemma_a2_forgets_the_steps_of_earlier_snapshots():
    # theta^2/2: at s = 1, m = 0 the drift within the snapshot is an empty sum
    (row,) = rows("lemma-a2", ONE, delta="1/2", S=2, M=1, L=1, s=1, m=0)
    assert (row.left, row.right, row.status) == (-F(1, 4), -F(1, 4), "holds")
    (row,) = rows("lemma-a2", ONE, delta="3/2", S=3, M=1, L=1, s=1, m=0)
    assert (row.left, row.right, row.status) == (F(3, 4), -F(3, 4), "broken")
    (row,) = rows("lemma-a2/corrected", ONE, delta="3/2", S=3, M=1, L=1, s=1, m=0)
    assert (row.right, row.status) == (F(27, 8) / 2 - F(3, 4), "holds")


def test_the_updates_add_up_in_every_outcome():
    found = rows("eq-a19", [[{"h": 1, "a": 0}], [{"h": 2, "a": 3}]], delta="1/3", p=["1/2", "1/3"], S=2, M=2, rounds=2)
    assert [(row.left, row.status) for row in found] == [(0, "holds"), (0, "holds")]


def test_moments_agree_with_play_on_taps_of_nested_loops():
    samples = [[{"h": 1, "a": 0}, {"h": 3, "a": 1}], [{"h": 2, "a": -1}, {"h": "1/2", "a": 2}]]
    for label in ("theorem-v1-eq7", "theorem-v1-eq8", "eq-a22", "eq-a20"):
        one, made, constants = instance(label, samples, delta="1/5", p=["1/2", "3/4"], S=2, M=1, L=2)
        played = sides(one.sentence, one.vocabulary, made, constants).rows
        values = {n: list(v) if isinstance(v, tuple) else v for n, v in {**made.parameters, **constants}.items()}
        setting = Setting(made.problem.quadratic, made.start, values, 1, one)
        found = lines(one, made.problem.quadratic, setting)
        assert [(r.left, r.right) for r in played] == [(r.left, r.right) for r in found]


@pytest.mark.parametrize("label", ["lemma-a1", "lemma-a2", "remark-rate"])
def test_what_is_false_at_once_is_refuted(label, tmp_path):
    result = check(f"fedavg-svrg/{label}", quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert verify(json.loads(Path(result.certificate).read_text())).valid


def test_a_start_that_no_round_moves_breaks_lemma_v1():
    # two clients that disagree, at the point where 40 local steps of each leave it: no optimum, and it stays
    one, two = (1 - F(1, 8)) ** 40, (1 - F(1, 16)) ** 40
    start = (two - one) / (2 - one - two)
    clients = [[{"h": 1, "a": 1}], [{"h": "1/2", "a": -1}]]
    (row,) = rows("lemma-v1", clients, delta="1/8", M=40, start=str(start), L=1, mu="1/2")
    assert row.right == 0
    assert row.left == (start - F(1, 3)) ** 2
    assert row.status == "broken"


@pytest.mark.slow
def test_such_a_start_is_found(tmp_path):
    result = check("fedavg-svrg/lemma-v1", quick=True, out=tmp_path)
    assert (result.verdict, result.origin) == ("refuted", "pool")
    assert verify(json.loads(Path(result.certificate).read_text())).valid
