"""Certificates of kind "instance" about local SGD: inside a round, on W, mini-batches; every number changed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.papers import perm

from tests.validate.tampering import at_path, edit, json_values, other_numbers, same_number, strings, verdict
from theory import claim
from theory.claim import Claim
from validate import certificate, verifier
from validate.falsify import confirm
from validate.verifier.domain import domain, largest_dissimilarity, largest_variance
from validate.verifier.local_measures import LOCAL_PARAMETERS, LOCAL_QUANTITIES, averaged
from validate.verifier.measures import Context

F = Fraction


def spec(clients: list[tuple[list[str], list[str]]], step: str, local_steps: int, K: int, start: str) -> dict[str, Any]:
    return {
        "algorithm": "local-sgd",
        "clients": [{"h": h, "a": a, "p": "1"} for h, a in clients],
        "step": step,
        "local_steps": local_steps,
        "K": K,
        "theta0": start,
    }


NOISY = [(["1", "2"], ["1", "-1/2"]), (["1/2"], ["-2"])]


def of(label: str) -> Claim:
    """The claim; Lemma 4 without the step that the proof of Lemma 6 fixes, as only long ones break it."""
    found = claim(f"perm/{label}")
    return replace(found, standing=()) if label == "lemma-4" else found


def made(label: str, instance: dict[str, Any]) -> dict[str, Any]:
    c = of(label)
    found = confirm(c, instance, perm.cases)
    assert found is not None
    return certificate.instance_certificate(
        c, found.spec, found.index, found.parameters, found.left, found.right, silent=True
    )


MADE = {
    "lemma-4": made("lemma-4", spec([(["1"], ["0"]), (["2"], ["1/2"])], "3/2", 2, 1, "3")),
    "lemma-5": made("lemma-5", spec([(["1"], ["1/10"]), (["1", "1"], ["-1/10", "-1/9"])], "1/4", 2, 1, "0")),
    "lemma-6": made("lemma-6", spec([(["1"], ["-1/1000"]), (["2"], ["1/2000"])], "1/4", 2, 2, "0")),
    "proposition-4-eq15": made("proposition-4-eq15", spec([(["4", "4"], ["1/4", "-1/4"])] * 2, "1/4", 1, 2, "0")),
    "proposition-4-eq16": made("proposition-4-eq16", spec([(["4", "4"], ["1/4", "-1/4"])], "1/4", 1, 2, "0")),
    "proposition-4-eq17": made("proposition-4-eq17", spec([(["4", "4"], ["1/4", "-1/4"])], "1/4", 1, 2, "0")),
}


@pytest.mark.parametrize("label", MADE)
def test_valid_certificates(label: str) -> None:
    report = verifier.verify(MADE[label])
    assert report.valid, report.lines
    assert certificate.differences(MADE[label], of(label)) == ()


def outcomes(instance: dict[str, Any]) -> list[tuple[Fraction, list[list[Fraction]]]]:
    """Every outcome of one round: probability, and each client's path."""
    step = F(instance["step"])
    own = []
    for client in instance["clients"]:
        samples = [(F(h), F(a)) for h, a in zip(client["h"], client["a"], strict=True)]
        paths = []
        for choice in product(samples, repeat=instance["local_steps"]):
            path = [F(instance["theta0"])]
            for h, a in choice:
                path.append(path[-1] - step * h * (path[-1] - a))
            paths.append((F(1, len(samples) ** len(choice)), path))
        own.append(paths)
    found = []
    for joint in product(*own):
        p = F(1)
        for q, _ in joint:
            p *= q
        found.append((p, [path for _, path in joint]))
    return found


def test_averages_inside_a_round_by_enumeration() -> None:
    instance = spec(NOISY, "1/3", 3, 1, "2")
    read = verifier.read_instance(instance)
    round_ = verifier.play_round(read, 0, (F(2), F(4)))
    for m in range(4):
        mean = square = spread = F(0)
        for p, paths in outcomes(instance):
            now = [path[m] for path in paths]
            w = sum(now, F(0)) / len(now)
            mean, square = mean + p * w, square + p * w * w
            spread += p * sum(((x - w) ** 2 for x in now), F(0)) / len(now)
        found = averaged(round_, m)
        assert (found.mean, found.square, found.spread) == (mean, square, spread)
    assert averaged(round_, 3).square == round_.end[1]


def test_a_random_start_of_a_round() -> None:
    """The second of two rounds, whose start is random: its averages are mixtures over the first one's outcomes."""
    instance = spec(NOISY, "1/3", 2, 1, "2")
    read = verifier.read_instance(instance)
    first = verifier.play_round(read, 0, (F(2), F(4)))
    second = averaged(verifier.play_round(read, 0, first.end), 1)
    mean = square = spread = F(0)
    for p, paths in outcomes(instance):
        start = sum((path[-1] for path in paths), F(0)) / len(paths)
        for q, more in outcomes({**instance, "theta0": str(start), "local_steps": 1}):
            now = [path[-1] for path in more]
            w = sum(now, F(0)) / len(now)
            mean, square = mean + p * q * w, square + p * q * w * w
            spread += p * q * sum(((x - w) ** 2 for x in now), F(0)) / len(now)
    assert (second.mean, second.square, second.spread) == (mean, square, spread)


def test_every_quantity_and_parameter_equals_enumeration() -> None:
    """Two local steps, one round; f is (w + 1/2)^2/2 up to a constant."""
    instance = spec(NOISY, "1/3", 2, 1, "2")
    read = verifier.read_instance(instance)
    context = Context(read, [verifier.play_round(read, 0, (F(2), F(4)))], {"k": 0, "m": 1}, {}, (), False)
    late = replace(context, index={"k": 1})
    best = F(-1, 2)
    after = before = spread = F(0)
    for p, paths in outcomes(instance):
        w = [sum((path[m] for path in paths), F(0)) / 2 for m in range(3)]
        after += p * (w[2] - best) ** 2
        before += p * (w[1] - best) ** 2
        spread += p * sum(((path[1] - w[1]) ** 2 for path in paths), F(0)) / 2
    move = sum(p * ((paths[0][2] + paths[1][2]) / 2 - 2) ** 2 for p, paths in outcomes(instance))
    quantities = {
        "next_squared_distance": after,
        "client_drift": spread,
        "squared_distance": F(25, 4),
        "squared_distance_to_minimiser": F(25, 4),
        "squared_move": move,
    }
    parameters = {
        "step": F(1, 3),
        "local_steps": 2,
        "round": 0,
        "start_distance": F(25, 4),
        "start_gap_of_f": F(25, 8),
        "average_distance": before,
        "average_gap": before / 2,
        "client_drift": spread,
        "sample_variance": largest_variance(read),  # both by enumeration below
        "dissimilarity": largest_dissimilarity(read),
    }
    assert set(LOCAL_QUANTITIES) == set(quantities)
    assert set(LOCAL_PARAMETERS) - set(parameters) == {"batch"}
    assert {name: LOCAL_QUANTITIES[name](context) for name in quantities} == quantities
    assert {name: LOCAL_PARAMETERS[name][1](context) for name in parameters} == parameters
    assert LOCAL_QUANTITIES["squared_distance"](late) == after
    with pytest.raises(verifier.Uncheckable, match="copies"):
        LOCAL_PARAMETERS["batch"][1](context)
    copies = verifier.read_instance(spec([NOISY[0]] * 3, "1/3", 1, 1, "2"))
    assert LOCAL_PARAMETERS["batch"][1](replace(context, instance=copies)) == 3


def test_the_domain_by_enumeration() -> None:
    instance = spec(NOISY, "1/3", 2, 1, "2")
    read = verifier.read_instance(instance)
    seen = [x for _, paths in outcomes(instance) for path in paths for x in path]
    seen.append(F(-1, 2))  # w*
    assert domain(read) == (min(seen), max(seen))

    def variance(w: Fraction) -> Fraction:
        g = [w - 1, 2 * (w + F(1, 2))]
        return sum((x * x for x in g), F(0)) / 2 - (sum(g, F(0)) / 2) ** 2

    grid = [min(seen) + F(i, 50) * (max(seen) - min(seen)) for i in range(51)]
    assert largest_variance(read) == max(variance(w) for w in grid)
    apart = [((F(3, 2) * w - 0) - (w / 2 + 1)) / 2 for w in grid]
    assert largest_dissimilarity(read) == max(x * x for x in apart)


def immaterial(label: str, path: tuple[Any, ...]) -> bool:
    """How long the run goes on, and the start of clients of one curvature, whose drift does not depend on it."""
    if label == "lemma-5" and path[-1] == "theta0":
        return True
    return path == ("instance", "K") or (label == "lemma-4" and path == ("instance", "local_steps"))


NEEDED = ("left_value", "right_value", "parameters", "instance")


@pytest.mark.parametrize("label", MADE)
def test_no_number_can_be_changed(label: str) -> None:
    """Except where the certificate then proves the same."""
    original = MADE[label]
    for path, text in strings(original):
        if path[0] not in NEEDED or path[-1] == "algorithm" or immaterial(label, path):
            continue
        for other in other_numbers(str(text)):
            if same_number(other, str(text)):
                continue
            value: Any = int(other) if isinstance(text, int) and other.lstrip("-").isdigit() else other
            assert verdict(edit(original, path, value)) in ("invalid", "malformed"), (path, other)


@pytest.mark.parametrize(
    ("label", "path", "value", "says"),
    [
        ("lemma-5", ("names", "K"), "batch", "parameter K cannot be checked"),
        ("lemma-5", ("names", "zeta"), "start_distance", "parameter zeta"),
        ("lemma-5", ("parameters", "zeta"), "1/50", "parameter zeta"),
        ("lemma-5", ("parameters", "delta2"), "0", "bounded variance"),
        ("lemma-6", ("parameters", "R"), "1", "parameter R = 1 = 2"),
        ("lemma-6", ("parameters", "dist0"), "1", "parameter dist0"),
        ("lemma-6", ("instance", "clients", 0, "p"), "1/2", "everybody takes part"),
        ("lemma-4", ("left", "index"), {"k": 0}, "needs the index m"),
        ("lemma-4", ("left", "index", "m"), 2, "is outside 0..1"),
        ("proposition-4-eq15", ("parameters", "M"), "1", "parameter M = 1 = 2"),
        ("proposition-4-eq15", ("instance", "clients", 0, "a", 0), "1/2", "clients that are copies"),
        ("proposition-4-eq16", ("instance", "local_steps"), 2, "clients that are copies"),
    ],
)
def test_what_is_wrong_is_named(label: str, path: tuple[Any, ...], value: Any, says: str) -> None:
    report = verifier.verify(edit(MADE[label], path, value))
    assert not report.valid
    assert any(line.startswith("FAIL") and says in line for line in report.lines), report.lines


@pytest.mark.parametrize(
    ("path", "value"),
    [(("names",), ["K"]), (("names", "K"), "nothing"), (("names", "K"), 1), (("hypotheses", 4, "at"), "there")],
)
def test_malformed_fields(path: tuple[Any, ...], value: Any) -> None:
    assert verdict(edit(MADE["lemma-6"], path, value)) == "malformed"


def test_names_with_another_meaning_differ_from_the_catalogue() -> None:
    other = edit(MADE["lemma-6"], ("names", "R"), "local_steps")
    assert certificate.differences(other, claim("perm/lemma-6")) == ("names",)
    del other["names"]
    assert certificate.differences(other, claim("perm/lemma-6")) == ("names",)


def test_names_are_printed_for_the_reader() -> None:
    lines = verifier.verify(MADE["lemma-6"]).lines
    assert any("K is local_steps" in line and "zeta is dissimilarity" in line for line in lines)


PATHS = sorted({path[:cut] for path, _ in strings(MADE["lemma-6"]) for cut in range(1, len(path) + 1)}, key=repr)


@given(st.sampled_from(PATHS), json_values)
@settings(max_examples=150, deadline=None)
def test_rubbish_never_raises(path: tuple[Any, ...], value: Any) -> None:
    outcome = verdict(edit(MADE["lemma-6"], path, value))
    if path[0] in ("instance", "left_value", "right_value") and "aggregation" not in path:
        assert outcome != "valid" or same_number(str(value), str(at_path(MADE["lemma-6"], path)))
