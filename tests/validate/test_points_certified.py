"""What functions given by points refute: assumptions that classes imply, certificates, forgeries, shrinking."""

import copy
import json
import random
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import descent, proximal
from tests.validate.assumptions import assumed
from tests.validate.command_line import call, printed
from tests.validate.sampled_points import huber
from tests.validate.tampering import edit, verdict
from theory.claim import Claim, claim
from theory.program import algorithm
from validate import verifier
from validate.breaks import certificate_of_break, worst_evidence
from validate.certificate import play_certificate, write
from validate.examine import examine
from validate.in_words import described
from validate.instances import Points, read_instance, read_problem
from validate.instances.candidates import candidate_of, realised, size
from validate.instances.covered import coverage
from validate.instances.occasion import occasion
from validate.instances.point_moves import along, fewer_points, lists_of, projected, scaled
from validate.instances.seen import Hunt, Seen
from validate.instances.setting import Setting
from validate.instances.shrinking import shrunk
from validate.on_instance import on_instance
from validate.satisfied import best, true
from validate.verifier import implied as other_eyes
from validate.verifier.points import read_points
from validate.verifier.scalars import Work

F = Fraction
seeds = st.integers(0, 10**6)


CONVEX = ("smooth(f_ni, L)", "convex(f_ni)", "eta == 1/L")


def rate(steps: str, *assuming: str) -> Claim:
    """The suboptimality of gradient descent after K rounds; 4*K + 2 is attained by Huber functions."""
    sentence = f"f(x[K]) - fstar <= L*norm2(x0 - xstar)/({steps})"
    return claim("rate", sentence, of=descent, assuming=(*CONVEX, *assuming))


TRUE, FALSE = rate("4*K + 2"), rate("4*K + 3")


def on_huber(K: int, L: Any = 1, R: Any = 1) -> dict[str, Any]:
    problem = {"clients": [[huber(K, F(L), F(R))]]}
    start = {"problem": problem, "start": str(R), "rounds": K}
    return {"parameters": {"eta": str(1 / F(L))}, **start}


# --- assumptions ------------------------------------------------------------------------------------------------------


def point(x: Any, g: Any, f: Any = 0) -> dict[str, Any]:
    return {"x": x, "g": g, "f": f}


def known(*clients: list[dict[str, Any]]) -> Points:
    found = read_problem({"clients": list(clients)})
    assert isinstance(found, Points)
    return found


def sample(L: Any, mu: Any, *points: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"points": list(points) or [point(0, 1)], "L": L, "mu": mu, **more}


STILL = point(0, 0)
TWO = known([sample(3, 1), sample(2, -1)], [sample(4, 2)])
BOUNDED = known([sample(3, 0, G=2), sample(3, 0, G=1)], [sample(1, 0, G=1)])


@pytest.mark.parametrize(
    ("problem", "text", "numbers"),
    [
        (TWO, "smooth(f_ni, L)", (4,)),
        (TWO, "smooth(f_n, L)", (4,)),
        (TWO, "smooth(f, L)", (F(13, 4),)),
        (TWO, "convex(f_n)", ()),
        (TWO, "convex(f_ni)", None),
        (TWO, "strongly_convex(f, mu)", (1,)),
        (TWO, "pl(f, mu)", (1,)),
        (TWO, "strongly_convex(f_n, mu)", None),
        (TWO, "lipschitz(f, G)", None),
        (TWO, "bounded_below(f)", ()),
        (TWO, "bounded_below(f_ni)", ()),  # of the largest function with mu = -1
        (TWO, "quadratic(f_ni)", None),
        (TWO, "same_minimiser(f_ni)", None),
        (TWO, "bounded_variance(s)", None),
        (TWO, "dissimilar(z)", None),
        (BOUNDED, "lipschitz(f_n, G)", (F(3, 2),)),
        (BOUNDED, "bounded_gradients(f, G)", (F(5, 4),)),
        (BOUNDED, "bounded_variance(s)", (F(5, 2),)),
        (BOUNDED, "dissimilar(z)", (F(3, 2),)),
        (BOUNDED, "dissimilar(G, B)", (F(3, 2), 0)),
        (BOUNDED, "bounded_below(f)", None),  # a line, perhaps
        (known([sample(1, 0, STILL, G=1)]), "bounded_below(f)", ()),
        (known([sample(1, 0)]), "dissimilar(G, B)", (0, 1)),
        (known([sample(1, 0)]), "dissimilar(z)", (0,)),
        (known([sample(1, 0)], [sample(1, 0)]), "bounded_variance(s)", (0,)),
        (known([sample(1, 0, STILL)], [sample(3, 0, STILL)]), "same_minimiser(f_ni)", ()),
        (known([sample(1, 0, STILL)], [sample(3, -1, STILL)]), "same_minimiser(f_n)", None),
        (known([sample(1, 0, STILL)], [sample(3, 1, point(1, 0))]), "same_minimiser(f_n)", None),
        (known([sample(1, -1, STILL)]), "convex(f)", None),
        (known([sample(1, -1, STILL)]), "pl(f, mu)", None),
        (known([sample(1, -1)]), "bounded_below(f)", ()),
    ],
)
def test_what_classes_imply(problem: Points, text: str, numbers: Any) -> None:
    assert best(assumed(text), problem) == numbers
    if numbers is None:
        assert true(assumed(text), problem, (F(1), F(1))[: len(assumed(text).constants)]) is None


KINDS = (
    "smooth(f, c)", "smooth(f_n, c)", "smooth(f_ni, c)", "convex(f)", "convex(f_n)", "convex(f_ni)",
    "strongly_convex(f, c)", "strongly_convex(f_n, c)", "pl(f_ni, c)", "pl(f, c)", "lipschitz(f_n, c)",
    "bounded_gradients(f_ni, c)", "bounded_gradients(f, c)", "bounded_below(f)", "bounded_below(f_n)",
    "bounded_below(f_ni)", "same_minimiser(f)", "same_minimiser(f_n)", "same_minimiser(f_ni)", "quadratic(f)",
    "bounded_variance(c)", "dissimilar(c)", "dissimilar(c, e)",
)  # fmt: skip


def drawn_points(rng: random.Random) -> Points:
    """One to three points of a function with curvature 1, still at 0 or not."""

    def one() -> dict[str, Any]:
        shift, bound = rng.choice((0, 0, 0, 1)), rng.random() < 0.3
        mu = 0 if bound else rng.choice((-2, -1, 0, 0, 1))
        points = [point(x, x - shift, str(F(x * x, 2) - shift * x)) for x in {0, *(rng.randint(-3, 3) for _ in "ab")}]
        return sample(rng.choice((2, 3)), mu, *points, **({"G": rng.randint(4, 6)} if bound else {}))

    return known(*([one() for _ in range(rng.randint(1, 2))] for _ in range(rng.randint(1, 3))))


@settings(max_examples=300, deadline=None)
@given(seeds, st.sampled_from(KINDS))
def test_the_verifier_is_told_the_same_by_classes(seed: int, text: str) -> None:
    rng = random.Random(seed)
    problem, predicate = drawn_points(rng), assumed(text)
    read = read_points(as_text(problem.to_json()), Work())
    told = best(predicate, problem) or (F(rng.randint(0, 6)), F(1))
    constants = tuple(F(v) * rng.choice((F(1), F(1), F(2), F(1, 2))) for v in told)[: len(predicate.constants)]
    if predicate.name == "bounded_variance":
        seen = all(other_eyes.variance(read, n, constants[0]) for n in range(problem.clients))
    elif predicate.name == "dissimilar":
        seen = other_eyes.dissimilar(read, constants)
    else:
        functions = read.all_named(predicate.function)
        seen = all(other_eyes.DECIDE[predicate.name](read, f, *constants) for f, _ in functions)
    assert true(predicate, problem, constants) is (True if seen else None)
    for which, f in (((), read.mean), ((0,), read.own[0]), ((0, 0), read.samples[0][0])):
        points, least = problem.least(*which)
        infimum = None if least is None else F(int(least.p), int(least.q))
        assert f.infimum() == infimum
        assert [tuple(F(int(x.p), int(x.q)) for x in v) for v in points] == f.minimisers()


def as_text(data: Any) -> Any:
    """As certificates have them: all numbers as text, x and g as lists."""
    if isinstance(data, dict):
        return {k: [str(v)] if k in "xg" and not isinstance(v, list) else as_text(v) for k, v in data.items()}
    return [as_text(v) for v in data] if isinstance(data, list) else str(data)


def test_a_setting_sees_the_points() -> None:
    problem = known([sample(1, 0, point(0, 0, 1), point(2, 1, 2))], [sample(1, 0, point(0, 0, 3))])
    world = Setting(problem, np.array([F(2)], dtype=object), {}, 1, FALSE)
    assert world.function("f", np.array([F(0)], dtype=object), {}) == 2
    assert world.function("f_n", np.array([F(2)], dtype=object), {"n": 0}) == 2
    assert world.gradient("f_n", np.array([F(2)], dtype=object), {"n": 0}) == [1]
    assert (world.parameter("fstar", {}), world.point("xstar", {})[0]) == (2, 0)
    for x in (F(2), 0.0):
        with pytest.raises(ValueError, match=r"among the points|in floats only"):
            world.function("f", np.array([x], dtype=object), {})


# --- a worst case that no quadratic attains ---------------------------------------------------------------------------


@pytest.mark.parametrize(("K", "L", "R"), [(1, 1, 1), (2, 3, "1/2"), (5, "2/3", 7), (12, 1, 1)])
def test_gradient_descent_on_huber_functions(K: int, L: Any, R: Any) -> None:
    """f(x_K) - f* <= L |x0 - x*|^2/(4 K + 2) for convex L-smooth f and eta = 1/L (Drori, Teboulle, 2014), exactly."""
    instance = read_instance(on_huber(K, F(L), F(R)), descent)
    row = on_instance(TRUE, instance).measured.rows[0]
    assert (row.status, row.left) == ("holds", row.right)
    assert on_instance(TRUE, instance).verdict == "holds"
    assert on_instance(FALSE, instance).verdict == "broken"
    certificate = certificate_of_break(occasion(FALSE, instance))
    assert verdict(certificate) == "valid"
    with pytest.raises(ValueError, match="is not broken on the instance"):
        certificate_of_break(occasion(TRUE, instance))


def test_what_is_not_implied_refutes_nothing() -> None:
    instance = read_instance(on_huber(2), descent)
    found = on_instance(rate("4*K + 3", "quadratic(f_ni)"), instance)
    assert (found.verdict, found.measured.rows[0].status) == ("undecided", "broken")
    with pytest.raises(ValueError, match="the instance violates 'quadratic"):
        certificate_of_break(occasion(rate("4*K + 3", "quadratic(f_ni)"), instance))


def test_it_refutes_when_it_is_given(tmp_path: Path) -> None:
    result = examine(replace(FALSE, given=(on_huber(3),)), quick=True, out=tmp_path)
    (item,) = [e for e in result.evidence if e.outcome == "refuted"]
    assert "functions given by points" in item.detail or item.origin != "given"
    assert result.verdict == "refuted"
    one = occasion(FALSE, on_huber(3))
    assert "1 client, 1 dimension, functions given by points, 3 rounds" in described(one.drawn)


PAPER = """
from theory import Paper, algorithm, claim

@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)

RATE = claim("rate", "f(x[K]) - fstar <= L*norm2(x0 - xstar)/(4*K + 3)", of=descent,
             assuming=("smooth(f_ni, L)", "convex(f_ni)", "eta == 1/L"), source="Theorem 1")
PAPER = Paper("steep", "Gradient descent", "a reader", (RATE,))
"""


def test_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "steep.py").write_text(PAPER)
    data = on_huber(2)
    found = printed("measure", f"{tmp_path / 'steep.py'}:rate", "-", given=json.dumps(data), status=1)
    assert (found["verdict"], found["constants"], found["rows"][0]["left"]) == ("broken", {"L": "1"}, "1/10")
    assert found["instance"]["problem"]["clients"][0][0]["points"][1] == {"x": "4/5", "g": "1/5", "f": "7/50"}
    data["problem"]["clients"][0][0]["points"][1]["f"] = "1/2"
    refused = call("measure", f"{tmp_path / 'steep.py'}:rate", "-", given=json.dumps(data))
    assert refused.exit_code == 2
    assert "points[0] and points[1]: no function with curvature between mu=0 and L=1" in refused.stderr


# --- certificates -----------------------------------------------------------------------------------------------------


def huber_certificate(K: int = 2) -> dict[str, Any]:
    return certificate_of_break(occasion(FALSE, on_huber(K)))


def at_sample(certificate: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    return edit(certificate, ("problem", "clients", 0, 0, key), value)


def test_the_reader_is_told_what_it_rests_on(tmp_path: Path) -> None:
    path = write(huber_certificate(), tmp_path)
    command = [sys.executable, "-I", "-S", str(tmp_path / "verify.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Taylor, Hendrickx and Glineur, Mathematical Programming 161 (2017), Theorem 4" in done.stdout
    assert "client 1, sample 1: L = 1, mu = 0, 4 point(s)" in done.stdout
    assert "x = (4/5), g = (1/5), f = 7/50" in done.stdout
    assert "ok    client 1, sample 1: every two of its 4 point(s) satisfy the conditions of its class" in done.stdout
    assert "the largest is meant" not in done.stdout


def test_forgeries_are_refused() -> None:
    good = huber_certificate()
    points = good["problem"]["clients"][0][0]["points"]
    assert verdict(good) == "valid"
    ways: list[dict[str, Any]] = [at_sample(good, "points", points[:j] + points[j + 1 :]) for j in range(4)]
    for j, key in ((0, "f"), (1, "f"), (2, "f"), (3, "f"), (0, "g"), (1, "x"), (2, "g"), (3, "g")):
        for by in (F(1, 100), F(-1, 100)):
            changed = copy.deepcopy(points)
            old = changed[j][key]
            changed[j][key] = [str(F(old[0]) + by)] if isinstance(old, list) else str(F(old) + by)
            ways.append(at_sample(good, "points", changed))
    ways += [at_sample(good, "L", "9/10"), at_sample(good, "mu", "1/10"), at_sample(good, "L", "2")]
    ways += [at_sample(good, "mu", "-1"), at_sample(good, "G", "1/6")]
    ways += [edit(good, ("left",), "1/9"), edit(good, ("xstar",), ["1/5"]), edit(good, ("xstar",), ["3/5"])]
    assert [verdict(one) for one in ways] == ["invalid"] * len(ways)
    assert verdict(at_sample(good, "G", "1/5")) == "valid"  # true as well
    text = str(verifier.verify(at_sample(good, "points", points[::2])))
    assert "FAIL" in text
    assert "is not among the points" in text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("points", []), ("points", 5), ("points", [{"x": ["0"], "g": ["0"]}]), ("L", "0"), ("L", "-1"), ("mu", "1"),
        ("mu", "-2"), ("G", "-1"), ("L", None), ("H", [["1"]]), ("points", [{"x": ["0"], "g": ["0", "0"], "f": "0"}]),
        ("points", [{"x": ["0"], "g": ["0"], "f": "0"}] * 2), ("points", [{"x": "0", "g": ["0"], "f": "0"}]),
        ("points", [{"x": [str(j)], "g": ["0"], "f": "0"} for j in range(301)]),
        ("points", [{"x": [f"{j}/{10**3500 + j}"], "g": ["0"], "f": "0"} for j in range(300)]),
        ("points", [{"x": ["0"] * 41, "g": ["0"] * 41, "f": "0"}]),
    ],
)  # fmt: skip
def test_malformed_or_too_large(key: str, value: Any) -> None:
    assert verdict(at_sample(huber_certificate(), key, value)) == "malformed"


def test_kinds_do_not_mix_in_certificates() -> None:
    mixed = edit(huber_certificate(), ("problem", "clients", 0), [{"H": [["1"]], "b": ["0"]}, sample("1", "0")])
    assert verdict(mixed) == "malformed"
    many = [sample("1", "0", {"x": ["0"], "g": ["0"], "f": "0"})] * 501
    assert verdict(edit(huber_certificate(), ("problem", "clients", 0), many)) == "malformed"


GROWTH = "f(x0) - fstar <= norm2(grad(f, x0))/(4*L)"
"""Of a function that is not convex, f(x0) - fstar >= norm2/(2 L) all the same."""


def test_the_infimum_of_a_function_that_is_not_convex() -> None:
    one = claim("growth", GROWTH, of=descent, assuming=("smooth(f, L)", "bounded_below(f)", "eta == 1/L"))
    problem = {"clients": [[sample(1, -1, point(0, 1))]]}
    start = {"problem": problem, "start": 0, "rounds": 1, "parameters": {"eta": 1}}
    found = occasion(one, start)
    assert (found.measured.rows[0].left, found.measured.rows[0].right) == (F(1, 2), F(1, 4))
    certificate = certificate_of_break(found)
    told = verifier.verify(certificate)
    assert told.valid
    assert "the largest is meant" in str(told)
    flatter = at_sample(certificate, "mu", "-1/2")  # of a smaller class the largest function has the same infimum
    assert verdict(flatter) == "valid"
    bounded = at_sample(at_sample(certificate, "mu", "0"), "G", "1")
    assert verdict(bounded) == "invalid"
    assert "FAIL  assumption bounded_below(f)" in str(verifier.verify(bounded))
    bounded["assumptions"] = bounded["assumptions"][:1]
    assert "do not tell the infimum" in str(verifier.verify(bounded))
    two = edit(certificate, ("problem", "clients"), [*certificate["problem"]["clients"]] * 2)
    assert verdict(two) == "invalid"


def test_proximal_points_are_played_alike() -> None:
    """One proximal step on f = |x| made smooth: from 3 with eta = 1 to 2, where the gradient is 1."""
    one = claim("near", "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)/4", of=proximal, assuming=("convex(f)",))
    points = [point(3, 1, "5/2"), point(2, 1, "3/2"), STILL]
    start = {"start": 3, "rounds": 1, "parameters": {"eta": 1}}
    certificate = certificate_of_break(occasion(one, {"problem": {"clients": [[sample(1, 0, *points)]]}, **start}))
    assert (certificate["left"], certificate["right"]) == ("4", "9/4")
    assert verdict(certificate) == "valid"
    points = certificate["problem"]["clients"][0][0]["points"]
    assert verdict(at_sample(certificate, "points", points[::2])) == "invalid"


# --- smaller ----------------------------------------------------------------------------------------------------------


def far_away(K: int = 3) -> dict[str, Any]:
    """Huber functions of two clients, one of them with two samples, in the plane, with long numbers."""
    at, R = (F(17, 13), F(5, 7)), F(113, 97)
    one = huber(K, F(1), R)
    for place in one["points"]:
        place["x"] = [str(at[0] + F(place["x"])), str(at[1])]
        place["g"], place["f"] = [place["g"], "0"], str(F(place["f"]) + F(1, 3))
    problem = {"clients": [[one, one], [one]]}
    start = [str(at[0] + R), str(at[1])]
    return {**on_huber(K), "problem": problem, "start": start}


def test_a_break_is_made_smaller() -> None:
    found = occasion(FALSE, far_away())
    seen = shrunk(FALSE, Seen(found.drawn, found.measured))
    instance = seen.drawn.instance
    assert (instance.problem.clients, instance.problem.dim, instance.problem.samples(0)) == (1, 1, 1)
    assert len(instance.problem.functions[0][0].points) == instance.rounds + 2
    assert max(len(text) for text in numbers(instance.to_json()["problem"])) <= 4
    assert seen.measured.broken
    assert verdict(certificate_of_break(occasion(FALSE, seen.drawn))) == "valid"
    here = candidate_of(found.drawn)
    again = realised(FALSE, here)
    assert again is not None
    assert again.instance.problem == found.drawn.instance.problem
    assert size(candidate_of(seen.drawn)) < size(here)


def numbers(data: Any) -> list[str]:
    if isinstance(data, dict | list):
        return [t for v in (data.values() if isinstance(data, dict) else data) for t in numbers(v)]
    return [str(data)]


def test_points_follow_the_run() -> None:
    """With eta = 1/2 and gradients doubled, descent from 2 goes as before from 1, a unit higher; 0 stays."""
    old = read_instance(on_huber(2), descent)
    assert isinstance(old.problem, Points)
    lists = tuple(
        tuple(tuple(replace(q, g=tuple(2 * y for y in q.g)) for q in own) for own in client)
        for client in lists_of(old.problem.functions)
    )
    new = replace(old, start=(F(2),), parameters={"eta": F(1, 2)})
    moved = along(old, new, lists)
    assert moved is not None
    assert [q.x for q in moved[0][0]] == [(2,), (F(9, 5),), (F(8, 5),), (0,)]
    assert [q.g for q in moved[0][0]] == [(F(2, 5),)] * 3 + [(0,)]


def test_points_follow_proximal_steps() -> None:
    """From 3 with eta = 1 to 2, where the gradient is 1; with eta = 2 and 1/2 there, from 4 to 3. 0 is its own prox."""
    problem = {"clients": [[sample(1, 0, point(2, 1, "3/2"), STILL)]]}
    old = read_instance({"problem": problem, "start": 3, "rounds": 1, "parameters": {"eta": 1}}, proximal)
    lists = ((tuple(replace(q, g=(q.g[0] / 2,)) for q in old.problem.functions[0][0].points),),)
    moved = along(old, replace(old, start=(F(4),), parameters={"eta": F(2)}), lists)
    assert moved is not None
    assert [(q.x, q.g) for q in moved[0][0]] == [((3,), (F(1, 2),)), ((0,), (0,))]


def test_moves_of_points() -> None:
    problem = read_problem(far_away()["problem"])
    assert isinstance(problem, Points)
    functions = problem.functions
    assert {sum(len(f.points) for own in fewer for f in own) for fewer in fewer_points(functions)} == {12, 14}
    flat = projected(functions, [1])
    assert flat is None  # all points are one there, with different values
    line = projected(functions, [0])
    assert line is not None
    assert line[0][0].points[0].x == functions[0][0].points[0].x[:1]
    (before, *_), (after, *_) = line[1][0].points, scaled(line, F(3))[1][0].points
    assert (after.x, after.g, after.f) == ((3 * before.x[0],), (3 * before.g[0],), 9 * before.f)


def test_what_was_covered_by_points() -> None:
    """An instance on which the claim holds counts, and where nothing is known at its start that does not."""
    data = on_huber(2)
    other = copy.deepcopy(data)
    other["problem"]["clients"][0][0]["points"] = data["problem"]["clients"][0][0]["points"][3:]
    ball = claim("ball", "norm2(x0 - xstar) <= 9", of=descent, assuming=CONVEX)
    seen = [Seen(one.drawn, one.measured) for one in (occasion(ball, data), occasion(ball, other))]
    assert all(one.measured.holds for one in seen)
    told = coverage(ball, Hunt(seen=seen), quick=True)
    assert not told.earned
    assert "no start was at the minimiser" in told.detail


@pytest.mark.parametrize(
    ("assumed", "valid"),
    [("bounded_gradients(f, 1, 5)", True), ("bounded_gradients(f, 1/2, 5)", False), ("stable(f, eta, 5)", False)],
)
def test_what_is_asked_on_a_ball_is_told_by_what_holds_everywhere(assumed: str, valid: bool) -> None:
    """A bound on all gradients is one on a ball; where a step takes functions of points is not known."""
    one = claim("c", "norm2(x[1] - x0) <= 0", of=descent, assuming=(assumed,))
    points = [{"x": 0, "g": 0, "f": 0}, {"x": 2, "g": 1, "f": "3/2"}]
    data = {
        "algorithm": "descent",
        "parameters": {"eta": 1},
        "problem": {"clients": [[{"points": points, "L": 1, "mu": 0, "G": 1}]]},
        "start": 2,
        "rounds": 1,
    }
    made = play_certificate(one, data, {}, F(1), F(0), origin="pool", quick=True)
    assert verifier.verify(made).valid is valid


@algorithm
def own_steps(w, x, *, eta):  # type: ignore[no-untyped-def]
    return x - w.mean(eta * w.gradient(x))


def test_the_worst_functions_of_an_algorithm_with_one_number_a_client(tmp_path: Path) -> None:
    halves = claim("halves", "norm2(x[1] - xstar) <= norm2(x0 - xstar)/2", of=own_steps,
                   assuming=("smooth(f_n, L)", "convex(f_n)", "eta_n <= 1/L"))  # fmt: skip
    (item, *_), path, broken = worst_evidence(halves, tmp_path, True, 0)
    assert item.outcome == "refuted"
    assert path is not None
    assert broken is not None
    assert isinstance(broken.drawn.values["eta"], list)
