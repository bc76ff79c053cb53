"""`fedproof measure` and `falsify` for claims that say what they mean: one instance, and a search for one."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.language import heavy_ball, noise_ball, vectors
from tests.validate.command_line import call, complaint, printed
from theory import Domain, claim
from validate import measure, verifier
from validate.examine import examine
from validate.falsified import falsified
from validate.instances import read_instance
from validate.instances.hunt import hunt
from validate.instances.specs import instance_from, with_constants
from validate.on_instance import on_instance

LANGUAGE = Path(__file__).parents[1] / "language"
NOISE = f"{LANGUAGE / 'noise_ball.py'}"
PROBLEM = {"clients": [[{"h": 1, "b": 0}, {"h": 2, "b": 1}], [{"h": 2, "b": "3"}]]}
INSTANCE: dict[str, Any] = {"parameters": {"eta": "1/8"}, "problem": PROBLEM, "start": 3, "rounds": 2}
BREAKING: dict[str, Any] = {
    "parameters": {"eta": "1/2"},
    "problem": {"clients": [[{"h": "1/4", "b": 1}, {"h": "1/4", "b": -1}]]},
    "start": 0,
    "rounds": 3,
}


def test_both_sides_by_hand() -> None:
    """f = 7/4 (x - 1)^2/2 + const: gradients at 1 are (1, 1) - 1 and -1; sigma2 = 0 for both clients."""
    found = printed("measure", f"{NOISE}:noise-ball", "-", given=json.dumps(INSTANCE))
    assert found["verdict"] == "holds"
    assert found["constants"] == {"L": "2", "mu": "7/4"}
    # the first step: x = 3 - (3 or 5 + 3)/2/8, from client 1's sample; client 2's gradient is 3
    ends = [3 - Fraction(g + 3, 2) / 8 for g in (3, 5)]
    left = sum((x - 1) ** 2 for x in ends) / 2
    assert found["rows"][1] == {
        "at": {"k": 1}, "left": str(left), "right": str((1 - Fraction(7, 32)) * 4), "status": "holds",
        "ratio": pytest.approx(float(left / (4 - Fraction(7, 8)))),
    }  # fmt: skip
    assert [entry["holds"] for entry in found["hypotheses"]] == [True] * 4
    assert found["instance"]["algorithm"] == "noise-ball/parallel_sgd"


def test_the_verdicts_of_an_instance_and_their_statuses() -> None:
    broken = printed("measure", f"{NOISE}:lost-factor", "-", given=json.dumps(BREAKING), status=1)
    assert (broken["verdict"], broken["rows"][-1]["status"]) == ("broken", "broken")
    large = {**BREAKING, "parameters": {"eta": "9/4"}}
    violated = call("measure", f"{NOISE}:lost-factor", "-", given=json.dumps(large))
    assert violated.exit_code == 3
    assert "hypothesis eta <= " in violated.stderr
    assert "says nothing about the claim" in violated.stdout
    flat = {"problem": {"clients": [[{"h": 0, "b": 1}]]}, "parameters": {"eta": 1}, "start": 0, "rounds": 1}
    assert "mu in (0, inf)" in complaint(call("measure", f"{NOISE}:one-step", "-", given=json.dumps(flat)))
    silent = printed(
        "measure", f"{NOISE}:one-step", "-", "--set", "mu=1", "--set", "L=1/4", given=json.dumps(flat), status=3
    )
    assert silent["verdict"] == "violated"


def test_claims_about_vectors_and_functions() -> None:
    free = {"vectors": {"a_n": [[1, 0], [0, 1]]}}
    found = printed("measure", f"{LANGUAGE / 'vectors.py'}:jensen", "-", given=json.dumps(free))
    assert [(row["left"], row["right"]) for row in found["rows"]] == [("1/2", "1")]
    bent = {"problem": {"clients": [[{"h": -1, "b": 0}]]}, "start": 0, "vectors": {"x": [1], "y": [0]}}
    broken = printed("measure", f"{LANGUAGE / 'vectors.py'}:without-convexity", "-", given=json.dumps(bent), status=1)
    assert broken["rows"][0]["left"] == "-1"


def test_many_outcomes_are_measured_by_moments() -> None:
    many = {
        "parameters": {"eta": "1/8"}, "start": 3, "rounds": 2,
        "problem": {"clients": [[{"h": 1, "b": i} for i in range(9)] for _ in range(4)]},
    }  # fmt: skip
    instance = read_instance(many, noise_ball.parallel_sgd)
    found = on_instance(noise_ball.ONE_STEP, instance)
    assert (found.how, found.verdict) == ("moments", "holds")
    fewer = replace(instance, problem=read_instance({**many, "problem": PROBLEM}, noise_ball.parallel_sgd).problem)
    assert on_instance(noise_ball.ONE_STEP, fewer).how == "exact"
    assert not measure(noise_ball.ONE_STEP, {**many, "algorithm": ""}).broken.any()


BAD: list[tuple[tuple[str, ...], dict[str, Any], str]] = [
    (("--set", "L"), INSTANCE, "not NAME=VALUE"),
    (("--set", "L=1", "--set", "L=2"), INSTANCE, "gives L twice"),
    (("--set", "eta=1"), INSTANCE, "eta is the algorithm's"),
    (("--set", "G=1"), INSTANCE, "it is no name of the claim"),
    (("--set", "L=-1"), INSTANCE, "L=-1 is outside (0, inf)"),
    (
        (),
        {**INSTANCE, "algorithm": "algorithms/heavy_ball", "parameters": {"alpha": 1, "beta": 0}},
        "another algorithm",
    ),
    ((), {**INSTANCE, "parameters": {}}, "eta is missing"),
    ((), {**INSTANCE, "vectors": {"x": []}}, "vectors: x"),
]


@pytest.mark.parametrize(("options", "data", "message"), BAD)
def test_bad_input_is_refused_in_one_line(options: tuple[str, ...], data: dict[str, Any], message: str) -> None:
    said = complaint(call("measure", f"{NOISE}:noise-ball", "-", *options, given=json.dumps(data)))
    assert message.removeprefix("it ") in said


ALONE = {
    "vectors": claim("vectors", "norm2(a) <= norm2(b)", vectors=("a", "b")),
    "numbers": claim("numbers", "sum_k(1/(k + 1)) <= 4"),
    "weights": claim(
        "weights", "max_n(q_n) <= 1", assuming=("sum_n(q_n) == 1",), parameters={"q_n": Domain(-100, 100)}
    ),
    "schedule": claim("schedule", "K*sum_k(eta_k**2) > sum_k(eta_k)**2"),
    "functions": claim(
        "functions", "norm2(grad(f, x)) <= L*norm2(x - xstar)/2", vectors=("x",), assuming=("smooth(f, L)", "convex(f)")
    ),
}
"""Claims without an algorithm, all of them false."""


@pytest.mark.parametrize("name", ALONE)
def test_a_certificate_is_an_instance(name: str, tmp_path: Path) -> None:
    result = examine(ALONE[name], quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.certificate is not None
    data = json.loads(Path(result.certificate).read_text(encoding="utf-8"))
    parts = {key: data[key] for key in ("parameters", "problem", "start", "rounds", "vectors") if key in data}
    for given in (data, parts):
        form, constants = with_constants(given, ALONE[name])
        found = on_instance(ALONE[name], instance_from(form, ALONE[name]), constants)
        assert found.verdict == "broken"
        assert measure(ALONE[name], given).broken.any()


def test_a_long_fraction_is_a_decimal_in_the_table(folder: Path) -> None:
    one = 'C = claim("sum", "sum_k(1/(k + 1)) <= 100")'
    (folder / "harmonic.py").write_text(f'from theory import Paper, claim\n{one}\nPAPER = Paper("p", "t", "a", (C,))\n')
    for rounds, said in ((3, "11/6"), (20_000, "about 10.480")):
        plain = call("measure", f"{folder}/harmonic.py:sum", "-", given=json.dumps({"rounds": rounds}))
        assert said in plain.stdout
        assert max(map(len, plain.stdout.splitlines())) < 90


def test_a_claim_about_numbers_takes_k_n_and_d() -> None:
    verdicts = [
        on_instance(ALONE["numbers"], read_instance({}), {"K": Fraction(rounds)}).verdict for rounds in (30, 31)
    ]
    assert verdicts == ["holds", "broken"]
    with pytest.raises(ValueError, match=r"K=1/2 is outside the integers in \[1, inf\)"):
        on_instance(ALONE["numbers"], read_instance({}), {"K": Fraction(1, 2)})
    three = {"q": (Fraction(1, 3),) * 3}
    assert on_instance(ALONE["weights"], read_instance({}), {**three, "N": Fraction(3)}).verdict == "holds"
    with pytest.raises(ValueError, match="N=2 is given, and the instance has N=3"):
        on_instance(ALONE["weights"], read_instance({}), {**three, "N": Fraction(2)})


def test_a_start_of_which_nothing_speaks_may_be_left_out() -> None:
    data = {"problem": {"clients": [[{"h": 1, "b": 1}]]}, "vectors": {"x": [0]}}
    assert measure(ALONE["functions"], data).broken.any()
    other = claim("start", "norm2(x0 - xstar) <= norm2(x)", vectors=("x",), assuming=("smooth(f, L)",))
    with pytest.raises(ValueError, match="start is missing"):
        measure(other, data)


def test_the_same_round_in_other_names_is_the_claim_s(folder: Path) -> None:
    text = "from theory import algorithm\n\n@algorithm\ndef other(w, z, *, step):\n"
    text += "    i = w.sample()\n    return -step * w.mean(w.gradient(z, i)) + z\n"
    (folder / "other.py").write_text(text, encoding="utf-8")
    data = {**INSTANCE, "algorithm": "other.py:other", "parameters": {"step": "1/8"}}
    found = printed("measure", f"{NOISE}:noise-ball", "-", given=json.dumps(data))
    assert found["instance"]["parameters"] == {"eta": "1/8"}


# --- the search ------------------------------------------------------------------------------------------------------


def test_falsify_finds_a_certificate(folder: Path) -> None:
    found = printed("falsify", f"{NOISE}:lost-factor", "--seconds", 60, status=1)
    assert found["broken"]
    assert found["confirmed"]
    assert found["ratio"] > 1
    path = folder / found["certificate"]
    assert path.name == "noise-ball.lost-factor.falsify.json"
    assert verifier.verify(json.loads(path.read_text(encoding="utf-8"))).valid
    again = printed("measure", f"{NOISE}:lost-factor", "-", given=json.dumps(found["spec"]), status=1)
    assert again["verdict"] == "broken"


def test_a_break_that_no_certificate_holds_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(*arguments: Any, **options: Any) -> Any:
        raise ValueError("the verifier does not agree")

    monkeypatch.setattr("validate.breaks.certificates.write", refused)
    found = falsified(vectors.WRONG_WAY, seconds=60, out=tmp_path)
    assert found.broken is not None
    assert found.certificate is None
    assert "no certificate" in found.detail
    result = call("falsify", f"{LANGUAGE / 'vectors.py'}:wrong-way")
    assert result.exit_code == 1


def test_a_hunt_that_is_stopped_keeps_what_it_saw() -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 30

    found = hunt(noise_ball.ONE_STEP, pool=1000, far=100, evaluations=1000, stop=stop)
    assert found.broken is None
    assert 0 < len(found.seen) <= 30
    assert found.evaluations == 0
    calm = falsified(heavy_ball.QUADRATIC, seconds=0.5)
    assert (calm.broken, calm.certificate) == (None, None)
