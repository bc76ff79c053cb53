"""The verifier's reading by moments: as when it plays, and as our own moments where nothing is played."""

import copy
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.moments import Point, Schedule, moments_of
from sim.problems import Quadratic
from tests.sim import test_moments_of_programs as known
from tests.sim.test_moments_of_programs import at_random
from tests.validate import known_plays, plays
from tests.validate.tampering import edit, verdict
from tests.validate.test_verifier_play import EXACT, corrupted, made
from theory.claim import claim
from theory.papers import algorithms
from theory.program import LINEAR_GIVEN_DRAWS, Program, algorithm
from validate import examine as examination
from validate.certificate import differences, play_certificate, read, verify, write
from validate.verifier.play import read_world, set_up
from validate.verifier.reading import FormatError, Uncheckable
from validate.verifier.scalars import MOST_WORK, Work


def plain(value: Any) -> Any:
    """Numbers as certificates have them."""
    if isinstance(value, Schedule):
        return {"k": plain(value.values)}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(Fraction(value))


def problem_of(problem: Quadratic) -> dict[str, Any]:
    counts = [int(c) for c in problem.counts]
    return {
        "clients": [
            [
                {"H": plain(problem.hessian[n, i].tolist()), "b": plain(problem.linear[n, i].tolist())}
                for i in range(counts[n])
            ]
            for n in range(len(counts))
        ]
    }


def certificate(
    program: Program, problem: Quadratic, parameters: dict[str, Any], start: Any, rounds: int, statement: str, **at: int
) -> dict[str, Any]:
    return {
        "format": "fedproof-certificate-2", "kind": "play", "claim": "a/b", "statement": statement, "assumptions": [],
        "relations": [], "definitions": {}, "program": program.to_json(),
        "parameters": {name: plain(value) for name, value in parameters.items() if name != "J"},
        "problem": problem_of(problem), "start": plain(start.tolist()), "rounds": rounds, "at": at, "left": "0",
        "right": "0",
    }  # fmt: skip


def sides_by(data: dict[str, Any], by: str, work: int = MOST_WORK) -> tuple[Any, Any]:
    """Both sides, by the verifier's reading of this name."""
    claimed, world = read_world({**data, "by": by}, Work(work))
    assert claimed.program is not None
    set_up(claimed.program, world)
    (pair,) = world.both(claimed.sentence, dict(data["at"]))
    return pair


SPOKEN = {
    "server": ("E(norm2({0}[K]))", "dot(E({0}[K]), x0)", "E(f({0}[K]) + dot(grad(f, {0}[K]), {0}[1]))"),
    "client": ("mean_n(E(norm2({0}[K])))", "E(norm2(mean_n({0}[K]) - x[1]))", "mean_n(E(f_n({0}[1])))"),
    "past": ("E(norm2({0}[K, 0]))", "E(norm2({0}[K, 0] - x0))", "dot(E({0}[1, 0]), x0)"),
    "client past": ("mean_n(E(norm2({0}[K, 0])))", "E(norm2(mean_n({0}[K, 0]) - x0))"),
    "table": ("mean_n(mean_i(E(norm2({0}[K]))))", "E(dot(x[K], mean_n(mean_i({0}[1]))))"),
}  # fmt: skip
WANTED, PARTS = 120, 6
PLAYED = 1_200_000
"""Work of the verifier within which a program is played here."""


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))])
def test_programs_at_random_are_as_when_they_are_played(part: int) -> None:
    done, seed, operations, refused = 0, 200_000 + 100_000 * part, set[str](), set[str]()
    while done < WANTED // PARTS:
        seed += 1
        program, problem, parameters, start = at_random(seed)
        if not program.random:
            continue
        texts = [text.format(s.name) for s in program.state for text in SPOKEN.get(s.kind, ())]
        for rounds in (2, 1):
            data = [certificate(program, problem, parameters, start, rounds, f"{text} <= 0") for text in texts]
            try:
                played = [sides_by(one, "play", PLAYED // len(data)) for one in data]
            except FormatError:  # too many outcomes
                continue
            try:
                known = [sides_by(one, "moments") for one in data]
            except Uncheckable as error:
                refused.add(str(error))
                break
            assert known == played, (seed, rounds)
            assert all(isinstance(value, Fraction) for pair in known for value in pair)
            operations |= program.operations
            done += 1
            break
    assert len(operations) > 12
    assert refused <= {
        "moments of clients in random order",
        "moments of draws within a pass",
        "moments of loops, or taps, within a pass",
    }


# --- as our own moments, where nothing is played ---------------------------------------------------------------------


@algorithm
def quiet_steps(w: Any, x: Any, *, eta: Any, sigma2: Any, H: Any) -> Any:
    y = w.each(x)
    for _h in w.repeat(H):
        y = y - eta * (w.gradient(y) + w.noise(sigma2))
    return w.mean(y)


@algorithm
def noisy_steps(w: Any, x: Any, *, eta: Any, sigma2: Any, H: Any) -> Any:
    y = w.each(x)
    for _h in w.repeat(H):
        w.tap("y", y)
        y = y - eta * (w.gradient(y) + w.noise(sigma2))
    return w.mean(y)


F = Fraction
QUARTER, HALF = F(1, 4), F(1, 2)


@algorithm(x="x0", m="each 0")
def passes(w: Any, x: Any, m: Any, *, eta: Any, S: Any) -> Any:
    """Epochs of some of the clients, from where each is, with what it remembers, and a coin."""
    y = w.pass_over(w.each(x), lambda v, i: v - eta * w.gradient(v, i) - eta / 3 * m)
    chosen = w.choose(S)
    return w.average(w.where(w.coins(QUARTER), y, x), chosen), w.where(chosen, (y - x) / 4, m)


def repeated(problem: Quadratic, times: int) -> Quadratic:
    """Every sample so often."""
    each = (problem.hessian, problem.linear, problem.offset)
    return Quadratic(*(np.concatenate([one] * times, axis=1) for one in each), problem.counts * times)


@pytest.mark.parametrize(
    ("sizes", "times", "rounds"), [((2, 3, 1), 1, 2), ((2, 2, 2), 2, 1), ((1, 2, 2), 4, 2), ((2, 2, 1), 7, 2)]
)
def test_passes_are_as_our_own_moments_say_and_as_they_are_played(
    sizes: tuple[int, int, int], times: int, rounds: int
) -> None:
    """Samples that are the same are counted by both; the smaller problems are played in all their orders, too."""
    rng = random.Random(f"{sizes}{times}")
    problem, start = repeated(known.drawn_problem(rng, *sizes), times), known.fractions(rng, sizes[2])
    parameters = {"eta": QUARTER, "S": 1}
    ours = moments_of(passes.program, problem, parameters, start=start, rounds=rounds)
    statement = "E(norm2(x[K])) <= mean_n(E(dot(m[K], x[K-1])))"
    data = certificate(passes.program, problem, parameters, start, rounds, statement)
    left, right = sides_by(data, "moments")
    last, before = Point("x", rounds), Point("x", rounds - 1)
    clients = range(problem.clients)
    assert left == ours.norm2({last: 1})
    assert right == sum(ours.dot({Point("m", rounds, n=n): 1}, {before: 1}) for n in clients) / problem.clients
    if problem.samples < 4 or rounds == 1:
        assert sides_by(data, "play", 20 * PLAYED) == (left, right)


LARGE = [
    (quiet_steps, {"eta": QUARTER, "sigma2": F(2), "H": 25}, (4, 1, 2), 2),
    (algorithms.fedavg, {"eta": QUARTER, "H": 4, "S": 50}, (100, 1, 1), 3),
    (algorithms.fedavg, {"eta": QUARTER, "H": 2, "S": 20}, (40, 2, 1), 2),
    (algorithms.fedavg_with_replacement, {"eta": QUARTER, "H": 1, "S": 7}, (12, 1, 2), 3),
    (algorithms.fedavg_coins, {"eta": QUARTER, "H": 1, "p": F(1, 3)}, (24, 1, 1), 2),
    (known.scaffold, {"eta": QUARTER, "eta_g": HALF, "H": 3, "S": 4}, (8, 2, 1), 2),
    (known.batches_without, {"eta": QUARTER, "b": 20}, (3, 50, 2), 12),
    (algorithms.diana, {"eta": QUARTER, "alpha": HALF, "m": 3}, (3, 1, 5), 2),
    (algorithms.saga, {"eta": QUARTER}, (2, 9, 1), 4),
]


@pytest.mark.parametrize(("one", "parameters", "sizes", "rounds"), LARGE, ids=[f"{c[0].name}-{c[2]}" for c in LARGE])
def test_large_instances_are_as_our_own_moments_say(
    one: Any, parameters: dict[str, Any], sizes: tuple[int, int, int], rounds: int
) -> None:
    rng = random.Random(f"{one.name}{sizes}")
    problem, start = known.drawn_problem(rng, *sizes), known.fractions(rng, sizes[2])
    ours = moments_of(one.program, problem, parameters, start=start, rounds=rounds)
    statement = "E(norm2(x[K])) <= E(dot(x[K], x[K-1]))"
    data = certificate(one.program, problem, parameters, start, rounds, statement)
    left, right = sides_by(data, "moments")
    last, before = Point("x", rounds), Point("x", rounds - 1)
    assert left == ours.norm2({last: 1})
    assert right == ours.dot({last: 1}, {before: 1})
    assert left != right


# --- certificates ----------------------------------------------------------------------------------------------------

TURNS = claim(
    "turns",
    "mean_h(mean_n(E(norm2(y[k, h] - x[k])))) <= 9*eta**2*sigma2",
    of=noisy_steps,
    assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L", "same_minimiser(f_n)", "norm2(x0 - xstar) <= 0"),
)
"""False from 20 turns on: the noise of h steps makes h eta^2 sigma2, and nothing else is as large."""
ONE = {"clients": [[{"h": "1/100", "b": 0}], [{"h": "1/100", "b": 0}]]}


def broken() -> dict[str, Any]:
    """A certificate that only moments can re-check."""
    parameters = {"eta": 1, "sigma2": 3, "H": 30}
    instance = {"parameters": parameters, "problem": ONE, "start": [0], "rounds": 1}
    variance = [sum(F(99, 100) ** (2 * j) for j in range(h)) * 3 for h in range(30)]
    left = sum(map(F, variance), F(0)) / 30
    constants = {"L": "1/100"}
    return play_certificate(
        TURNS, instance, {"k": 0}, left, 27, origin="pool", quick=False, constants=constants, by="moments"
    )


def test_a_break_with_too_many_outcomes_is_accepted_by_moments_and_only_so(tmp_path: Path) -> None:
    path = write(broken(), tmp_path)
    command = [sys.executable, "-I", "-S", str(tmp_path / "verify.py"), str(path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "by moments" in result.stdout
    assert not differences(broken(), TURNS)
    with pytest.raises(FormatError, match="too many outcomes"):
        verify({**broken(), "by": "play"})


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("right",), "28", "FAIL  the right side is 27, not as printed"),
        (("left",), "28", "FAIL  the left side is"),
        (("parameters", "sigma2"), "4", "not as printed"),
        (("parameters", "H"), "10", "not as printed"),
        (("program", "round", 1, "body", 2, "numbers", 0), "sigma2/4", "not as printed"),
        (("statement",), "mean_h(mean_n(E(norm2(y[k, h] - x[k])))) <= 90*eta**2*sigma2", "FAIL  the statement is true"),
        (("statement",), "mean_h(mean_n(norm2(y[k, h] - x[k]))) <= 9*eta**2*sigma2", "outside of E"),
        (("statement",), "mean_h(mean_n(E(norm(y[k, h] - x[k])))) <= 9*eta**2*sigma2", "do not tell E of norm"),
        (("statement",), "E(max_n(norm2(y[k, 1]))) <= 9*eta**2*sigma2", "do not tell E of max_n"),
        (("statement",), "E(norm2(x[k+1])*norm2(x[k+1])) <= 9*eta**2*sigma2", "E of a product"),
    ],
)
def test_forged_certificates_are_refused(path: tuple[Any, ...], value: Any, says: str) -> None:
    forged = edit(copy.deepcopy(broken()), path, value)
    report = verify(forged)
    assert not report.valid
    assert any(says in line for line in report.lines), report


def test_the_moments_of_what_is_drawn_are_not_the_certificates_to_say() -> None:
    for field in ("moments", "weights", "covariance"):
        with pytest.raises(FormatError, match="unknown fields"):
            verify({**broken(), field: {"_1": "1"}})
    with pytest.raises(FormatError, match="by="):
        verify({**broken(), "by": "guessing"})
    with pytest.raises(ValueError, match="by='guessing' is none of play, moments"):
        play_certificate(TURNS, {"problem": ONE}, {}, 0, 0, origin="pool", quick=False, by="guessing")  # type: ignore[arg-type]


STRONGER = claim(
    "stronger",
    "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**(k*H)*norm2(x0 - xstar) + 18*eta**2*sigma2/N",
    of=quiet_steps,
    assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L", "eta*mu <= 1", "same_minimiser(f_n)"),
)
"""False where k*H steps add up to more noise than 18 do, which is seen in long runs only."""


@pytest.mark.parametrize(
    "one", [pytest.param(TURNS, id="turns"), pytest.param(STRONGER, id="stronger", marks=pytest.mark.slow)]
)
def test_false_claims_that_break_only_where_outcomes_are_many_are_refuted(
    one: Any, tmp_path: Path, few_instances: None
) -> None:
    result = examination.examine(one, quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.certificate is not None
    certificate = read(result.certificate)
    assert certificate["by"] == "moments"
    assert verify(certificate).valid


@algorithm
def clipped(w: Any, x: Any, *, eta: Any, G: Any) -> Any:
    return x - eta * w.mean(w.clip(w.gradient(x, w.sample()), G))


@algorithm
def one_by_one(w: Any, x: Any, *, eta: Any) -> Any:
    return w.visit(x, lambda v, one: v - eta * one.gradient(v))


@pytest.mark.parametrize(
    ("one", "parameters", "says"),
    [(clipped, {"eta": 1, "G": 1}, "not linear in the state"), (one_by_one, {"eta": 1}, "in random order")],
)
def test_what_moments_do_not_follow_is_refused_with_a_reason(one: Any, parameters: dict[str, Any], says: str) -> None:
    instance = {"parameters": parameters, "problem": ONE, "start": [1], "rounds": 1}
    made = claim("c", "E(norm2(x[k])) <= 0", of=one)
    report = verify(play_certificate(made, instance, {"k": 1}, 1, 0, origin="pool", quick=True, by="moments"))
    assert not report.valid
    assert any("cannot be checked" in line and says in line for line in report.lines)


@algorithm
def chosen(w: Any, x: Any, *, eta: Any) -> Any:
    return x - eta * w.mean(w.choose(5, replace=True) * w.gradient(x))


@pytest.mark.parametrize(
    ("number", "says"),
    [
        ("(((_1**4)**4)**4)**4", "a product of more than 24 counts"),
        ("1/(2 - _1)", "cannot be checked: a division by 0"),
        ("sqrt(_1 + 2)", "which is no fraction"),
    ],
)
def test_numbers_that_are_drawn_and_make_no_sense_are_refused(number: str, says: str) -> None:
    made = claim("c", "E(norm2(x[k])) <= 0", of=chosen)
    instance = {"parameters": {"eta": 1}, "problem": ONE, "start": [1], "rounds": 1}
    hostile = play_certificate(made, instance, {"k": 1}, 1, 0, origin="pool", quick=True, by="moments")
    (place,) = [
        i for i, step in enumerate(hostile["program"]["round"]) if step["do"] == "linear" and "_1" in step["numbers"][0]
    ]
    hostile["program"]["round"][place]["numbers"][0] = number
    try:
        told = "\n".join(verify(hostile).lines)
    except FormatError as error:
        told = f"FAIL {error}"
    assert "FAIL" in told
    assert says in told


def test_work_is_bounded() -> None:
    rng = random.Random(3)
    problem, start = known.drawn_problem(rng, 3, 3, 3), known.fractions(rng, 3)
    data = certificate(known.local_sgd.program, problem, {"eta": QUARTER, "H": 2000}, start, 3, "E(norm2(x[K])) <= 0")
    with pytest.raises(FormatError, match="to be checked"):
        sides_by(data, "moments", 2_000_000)


# --- corruptions -----------------------------------------------------------------------------------------------------

EXPECTED = [
    label
    for label in EXACT
    if "E(" in made(label)["statement"] and known_plays.CLAIMS[label].program.operations <= LINEAR_GIVEN_DRAWS
]


def test_certificates_that_are_played_are_accepted_by_moments() -> None:
    assert len(EXPECTED) > 3
    for label in EXPECTED:
        assert verify({**made(label), "by": "moments"}).valid, label


def test_what_is_valid_by_moments_after_a_corruption_is_right() -> None:
    rng, valid, refused = random.Random(12), 0, 0
    for _ in range(600):
        true = {**made(rng.choice(EXPECTED)), "by": "moments"}
        other = corrupted(true, rng)
        if verdict(other) == "valid":
            valid += 1
            assert plays.recomputed(other), other
        else:
            refused += 1
    assert valid > 5
    assert refused > 300
