"""E of rounds with loops, in terms of derivations, against the exact law of runs."""

import random
from fractions import Fraction
from typing import Any

import pytest

from tests.verifier.terms_at import value_of
from tests.verifier.written import derivation
from theory.papers.fedavg_svrg import fedavg_svrg
from theory.papers.fedmim import fedmim
from validate.verifier import FormatError, verify
from validate.verifier.derivation import level, points, read
from validate.verifier.derivation_defined import Defined
from validate.verifier.derivation_normal import Normal
from validate.verifier.derivation_replacing import Algebra
from validate.verifier.derivation_rounds import Round
from validate.verifier.derivation_turns import modes
from validate.verifier.play import read_world, set_up
from validate.verifier.reading import Uncheckable
from validate.verifier.scalars import Work
from validate.verifier.sentences import read_sentence

F = Fraction


def ending(program: Any, value: str, kind: str) -> dict[str, Any]:
    """A program in which a tap shows what its loop hands on."""
    data = program.to_json()
    place = next(i for i, s in enumerate(data["round"]) if s["do"] == "repeat")
    tap = {"do": "tap", "to": "", "kind": kind, "of": [value], "numbers": [], "label": "end"}
    data["round"].insert(place + 1, tap)
    return data


NESTED = ending(fedavg_svrg.program, "_11", "client")
MOMENTUM = ending(fedmim.program, "_16", "client")
OF_NESTED = (
    "mean_n(E(norm2(v[0, 1, 1])))",
    "mean_n(E(norm2(u[0, 1, 0])))",
    "mean_n(E(dot(v[0, 0, 0], w[0, 0, 1])))",
    "mean_n(E(dot(v[0, 1, 0], w[0, 1, 1])))",
    "mean_n(E(dot(v[0, 1, 1], v[0, 0, 1])))",
    "mean_n(E(dot(u[0, 1, 1], v[0, 0, 0])))",
    "E(norm2(mean_n(v[0, 1, 0])))",
    "E(norm2(mean_n(u[0, 1, 1]) - x0))",
    "mean_n(E(f_n(w[0, 1, 1])*norm2(u[0, 1, 1])))",
    "E(norm2(x[1]))",
    "E(f(x[1]))",
    "E(dot(x[1] - x0, mean_n(sum_h(sum_j(u[0, h, j])))))",
    "E(norm2(mean_n(sum_h(sum_j(u[0, h, j])))))",
    "mean_n(E(norm2(w[0, 1, 0] - w[0, 0, 1])))",
    "sum_h(sum_j((h + 2*j)*mean_n(E(norm2(v[0, h, j])))))",
)
OF_MOMENTUM = (
    "E(norm2(moved[0] - mean_h(chosen[0, h])))",
    "E(norm2(moved[1] - mean_h(chosen[1, h])))",
    "E(norm2(chosen[1, 1]))",
    "E(dot(moved[1], past[1, 0]))",
    "mean_n(E(norm2(after[1, 1])))",
    "mean_n(E(dot(after[1, 0], past[1, 0] + x0)))",
    "E(norm2(past[1, 0]))",
    "E(norm2(past[2, 1]))",
    "E(norm2(past[2, 0] - x[1]))",
    "mean_n(E(norm2(y[1, 1])))",
    "E(dot(chosen[1, 0], x[2] - x[1]))",
    "E(sum_j(alpha_j*norm2(past[2, j])))",
)


def instance(data: dict[str, Any], source: random.Random, parameters: dict[str, Any], rounds: int) -> dict[str, Any]:
    """Two clients with two samples each, on a line."""
    draw = source.randint
    clients = [[{"H": [[str(draw(1, 4))]], "b": [str(draw(-3, 3))]} for _ in range(2)] for _ in range(2)]
    said = {key: value for key, value in data.items() if key not in ("lines", "vectors")}
    return {
        **said,
        "kind": "play",
        "parameters": parameters,
        "problem": {"clients": clients},
        "start": [str(draw(-3, 3))],
        "rounds": rounds,
        "at": {},
        "left": "0",
        "right": "0",
    }


def of_nested(source: random.Random) -> dict[str, Any]:
    return {"delta": str(F(source.randint(1, 5), 7)), "p": str(F(source.randint(1, 4), 5)), "S": "2", "M": "2"}


def of_momentum(source: random.Random) -> dict[str, Any]:
    weights = {name: [str(F(source.randint(0, 3), 5)) for _ in range(2)] for name in ("alpha", "beta")}
    return {
        "eta_l": str(F(source.randint(1, 5), 7)),
        "A": str(F(source.randint(1, 4), 5)),
        "H": "2",
        "S": "1",
        **weights,
    }


CASES = [
    *((text, NESTED, of_nested, 1) for text in OF_NESTED),
    *((text, MOMENTUM, of_momentum, 2) for text in OF_MOMENTUM),
]
"""Of these every ninth is read always, all in slow tests."""


@pytest.mark.parametrize(
    ("text", "program", "parameters", "rounds"),
    [pytest.param(*case, id=case[0], marks=[] if n % 9 == 2 else [pytest.mark.slow]) for n, case in enumerate(CASES)],
)
def test_a_turn(text: str, program: Any, parameters: Any, rounds: int) -> None:
    source = random.Random(text)
    statement = f"{text} <= 0"
    whole = {"lower": "1", "upper": None, "lower_open": False, "upper_open": False, "integer": True}
    domains = {"M": whole} if program is NESTED else {}
    data = derivation("test/test", statement, [{"name": "x", "by": "step"}], program=program, domains=domains)
    claimed = read(data)
    normal = Normal(claimed, level(data, claimed), points(claimed), Algebra())
    normal.signs = Defined(normal)
    left = claimed.sentence.left
    found = []
    for at, path, turning in modes(normal, [normal.value(left, normal.start)]):
        normal.round = Round(normal, at, path, turning=turning)
        try:
            found.append(normal.value(left, normal.start))
        except Uncheckable:
            continue
        finally:
            normal.round = None
    assert found
    for _ in range(2):
        game, world = read_world(instance(data, source, parameters(source), rounds), Work())
        assert game.program is not None
        set_up(game.program, world)
        ((value, _),) = world.everywhere(read_sentence(statement, "the statement"))
        for p in found:
            assert value_of(p, world, {}) == value, text


WHOLE = {"lower": "1", "upper": None, "lower_open": False, "upper_open": False, "integer": True}
INDEX = {**WHOLE, "lower": "0"}
WEIGHT = {"lower": "0", "upper": "1", "lower_open": False, "upper_open": True, "integer": False}


def valid(statement: str, *lines: dict[str, Any], program: Any = NESTED, **more: Any) -> bool:
    """Whether the verifier accepts these lines; without any, one step."""
    domains = {"M": WHOLE, "m": INDEX, "s": INDEX} if program is NESTED else {"alpha": WEIGHT, "beta": WEIGHT}
    written = list(lines) or [{"name": "all", "by": "step"}]
    data = derivation("test/test", statement, written, program=program, domains=domains, **more)
    try:
        return verify(data).valid
    except FormatError:
        return False


def axiom(schema: str, *of: str, over: str = "", name: str = "all", sentence: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "by": "axiom", "schema": schema, "of": list(of)}
    return {**found, **({"over": over} if over else {}), **({"sentence": sentence} if sentence else {})}


@pytest.mark.parametrize(
    ("statement", "true"),
    [
        ("norm2(w[k, h, j + 1] - w[k, h, j] + delta*v[k, h, j]) <= 0", True),
        ("norm2(w[k, h, j + 1] - w[k, h, j] + delta*v[k, h, j + 1]) <= 0", False),
        ("norm2(w[k, 0, 0] - x[k]) <= 0", True),
        ("norm2(w[k, h, 0] - x[k]) <= 0", False),
        ("norm2(w[k, h + 1, 0] - w[k, h, M]) <= 0", True),
        ("norm2(w[k, h + 1, 0] - w[k, h, 0]) <= 0", False),
        ("norm2(w[k, h, M] - w[k, h, 0]) <= 0", False),
        ("norm2(w[k, j, 0] - w[k, j, 0]) <= 0", False),
        ("norm2(x[k + 1] - x[k]) == norm2(mean_n(w[k, S, 0]) - x[k])", False),
        ("E(dot(x[k + 1] - x[k], x0)) == E(dot(mean_n(w[k, S, 0]) - x[k], x0))", True),
        ("E(norm2(u[k, h, j])) == E(norm2(v[k, h, j]))/p_n", True),
        ("E(norm2(u[k, h, j])) == E(norm2(v[k, h, j]))", False),
        ("E(dot(v[k, h, j], x0)) == E(dot(grad(f_n, w[k, h, j]), x0))", True),
        ("E(dot(v[k, h, j], w[k, h, j + 1])) == E(dot(grad(f_n, w[k, h, j]), w[k, h, j + 1]))", False),
        ("E(dot(v[k, h, j], v[k, h, M])) == E(dot(grad(f_n, w[k, h, j]), v[k, h, M]))", False),
        ("E(f_n(v[k, h, j])**2) == E(f_n(v[k, h, j]))**2", False),
        ("E(f_n(v[k, h, j])*norm2(u[k, h, j])) == E(f_n(v[k, h, j])*norm2(v[k, h, j]))/p_n", True),
        ("E(f_n(u[k, h, j])*norm2(u[k, h, j])) == E(f_n(u[k, h, j])*norm2(v[k, h, j]))/p_n", False),
    ],
)
def test_steps_of_a_nest(statement: str, true: bool) -> None:
    assert valid(statement) == true


MEANT = "sum_h(max(0, min(1, h + 1 - j))*alpha_h)"
LATER = "sum_h(max(0, min(1, h + 1 - (j + 1)))*alpha_h)"
GROWTH = "mean_h(mean_n(E(mean_i(norm2(grad(f_ni, y[k, h]) - grad(f_n, y[k, h]))))))"


@pytest.mark.parametrize(
    ("statement", "true"),
    [
        ("norm2(past[k + 1, 0] - (x[k] - x[k + 1])/H) <= 0", True),
        ("norm2(past[k + 1, j + 1] - past[k, j]) <= 0", True),
        ("norm2(past[k + 1, j] - past[k, j]) <= 0", False),
        ("norm2(past[k + 1, j + 1] - past[k, j + 1]) <= 0", False),
        ("norm2(past[0, j]) <= 0", True),
        ("norm2(y[k, h] - z[k, h] + sum_j(beta_j*past[k, j])) <= 0", True),
        ("norm2(y[k, h] - z[k, h] + sum_j(alpha_j*past[k, j])) <= 0", False),
        ("norm2(after[k, h] - z[k, h + 1]) <= 0", True),
        ("norm2(after[k, h] - z[k, h]) <= 0", False),
        (f"E(norm2(moved[k] - mean_h(chosen[k, h]))) == {GROWTH}/(S*H)", True),
        (f"E(norm2(moved[k] - mean_h(chosen[k, h]))) == {GROWTH}/S", False),
        ("E(dot(moved[k], mean_h(chosen[k, h]))) == E(norm2(mean_h(chosen[k, h])))", False),
        ("E(dot(moved[k], mean_h(z[k, h]))) == E(dot(mean_h(chosen[k, h]), mean_h(z[k, h])))", False),
        ("E(dot(moved[k], x0)) == E(dot(mean_h(mean_n(grad(f_n, y[k, h]))), x0))", True),
    ],
)
def test_steps_with_what_is_remembered(statement: str, true: bool) -> None:
    assert valid(statement, program=MOMENTUM) == true


def test_one_client_after_a_step() -> None:
    statement = "E(norm2(chosen[k, h])) == mean_n(E(norm2(grad(f_n, y[k, h]))))/S"
    line = {"name": "all", "by": "single", "unfold": True}
    assert valid(statement, line, program=MOMENTUM, relations=("N <= 1",))
    assert not valid(statement, line, program=MOMENTUM, relations=("N <= 2",))
    assert not valid(statement, {"name": "all", "by": "single"}, program=MOMENTUM, relations=("N <= 1",))
    assert not valid(f"{statement}/2", line, program=MOMENTUM, relations=("N <= 1",))


def test_one_turn() -> None:
    statement = "E(norm2(sum_h(w[k, h, 0]))) == E(norm2(w[k, 0, 0]))"
    line = {"name": "all", "by": "single", "of": "S"}
    assert valid(statement, line, relations=("S == 1",))
    assert not valid(statement, line, relations=("S == 2",))
    assert not valid(statement, {**line, "of": "M"}, relations=("S == 1", "M == 1"))
    assert not valid(statement, {**line, "of": "delta"}, relations=("S == 1", "delta == 1"))
    assert not valid("E(norm2(sum_k(x[k]))) == E(norm2(x[0]))", {**line, "of": "K"}, relations=("K == 1",))


def test_telescopes() -> None:
    e, m = "E(norm2(w[k, h, j]))", "max(0, min(1, m - j))"
    grows = "(E(norm2(w[k, h, j + 1])) - E(norm2(w[k, h, j])))"
    whole = f"sum_j({grows}) == E(norm2(w[k, h, M])) - E(norm2(w[k, h, 0]))"
    assert valid(whole, axiom("telescope", e, over="sum_j"))
    assert not valid(whole.replace("M]", "M + 1]"), axiom("telescope", e, over="sum_j"))
    assert not valid(whole, axiom("telescope", e, over="sum_h"))
    until = f"sum_j({m}*{grows}) == E(norm2(w[k, h, m])) - E(norm2(w[k, h, 0]))"
    line = axiom("telescope", e, "m", over="sum_j")
    assert valid(until, line, relations=("m <= M",))
    assert not valid(until, line, relations=("m <= M + 1",))
    assert not valid(until, line)
    assert not valid(until.replace("m -", "j + m -"), axiom("telescope", e, "j + m", over="sum_j"))
    vectors = "norm2(sum_j(w[k, h, j + 1] - w[k, h, j]) - w[k, h, M] + w[k, h, 0]) <= 0"
    assert valid(vectors, axiom("telescope", "w[k, h, j]", over="sum_j"))
    assert not valid(vectors.replace("- w[k, h, M]", "- 2*w[k, h, M]"), axiom("telescope", "w[k, h, j]", over="sum_j"))
    assert not valid(vectors.replace("<= 0", "< 0"), axiom("telescope", "w[k, h, j]", over="sum_j"))


def test_lexicographic_sums() -> None:
    e, at_s = "E(norm2(v[k, h, j]))", "E(norm2(v[k, s, j]))"
    statement = (
        f"sum_h(sum_j(max(0, min(1, s*M + m - h*M - j))*{e})) =="
        f" sum_h(max(0, min(1, s - h))*sum_j({e})) + sum_j(max(0, min(1, m - j))*{at_s})"
    )
    line, inside = axiom("lexicographic", e, "s", "m"), ("s <= S - 1", "m <= M")
    assert valid(statement, line, relations=inside)
    assert not valid(statement, line, relations=("s <= S", "m <= M"))
    assert not valid(statement, line, relations=("s <= S - 1", "m <= M + 1"))
    assert not valid(statement.replace(at_s, e), line, relations=inside)
    assert not valid(statement.replace("s - h", "s + 1 - h"), line, relations=inside)


def test_tails() -> None:
    tail = axiom("tail", "alpha_h", name="tail", sentence=f"{MEANT} - {LATER} == alpha_j")
    below = f"sum_j(norm2(past[k, j])*({MEANT} - {LATER})) == sum_j(alpha_j*norm2(past[k, j]))"
    summed = {"line": "tail", "over": ["sum_j"], "times": "norm2(past[k, j])"}
    assert valid(below, tail, {"name": "all", "by": "combination", "parts": [summed]}, program=MOMENTUM)
    assert valid(f"{MEANT} - {LATER} == alpha_j", axiom("tail", "alpha_h"), program=MOMENTUM)
    assert valid(f"{MEANT.replace('- j', '- 0')} == sum_h(alpha_h)", axiom("tail", "alpha_h"), program=MOMENTUM)
    assert not valid(f"{MEANT} - {LATER} == alpha_j + 1", axiom("tail", "alpha_h"), program=MOMENTUM)
    # of a later one it is not known: there is none where the last was
    later = {"name": "all", "by": "at", "line": "tail", "put": {"j": "j + 1"}}
    moved = f"{LATER} - {LATER.replace('j + 1', 'j + 2')} == 0*norm2(past[k, j]) + "
    assert not valid(moved + "alpha_j", tail, later, program=MOMENTUM)
    first = f"{MEANT.replace('- j', '- 0')} - {LATER.replace('(j + 1)', '1')} == sum_j(0*alpha_j) + "
    at_first = {"name": "all", "by": "at", "line": "tail", "put": {"j": "0"}}
    assert not valid(first + "norm2(past[k, 0])", tail, at_first, program=MOMENTUM)


def test_jensen_with_weights() -> None:
    statement = "norm2(sum_j(alpha_j*past[k, j])) <= sum_j(alpha_j)*sum_j(alpha_j*norm2(past[k, j]))"
    assert valid(statement, axiom("jensen", "alpha_j", "past[k, j]", over="sum_j"), program=MOMENTUM)
    assert not valid(statement, axiom("jensen", "beta_j", "past[k, j]", over="sum_j"), program=MOMENTUM)
    worse = statement.replace("alpha_j", "(alpha_j - 1)")
    assert not valid(worse, axiom("jensen", "alpha_j - 1", "past[k, j]", over="sum_j"), program=MOMENTUM)
    assert not valid(
        statement.replace("<=", "<"), axiom("jensen", "alpha_j", "past[k, j]", over="sum_j"), program=MOMENTUM
    )


def test_what_is_replaced_everywhere() -> None:
    """Equal for all turns: also at the turns of a sum; equal at one: there alone."""
    same = {"name": "same", "by": "step", "sentence": "norm2(after[k, h] - z[k, h + 1]) <= 0"}
    summed = {"name": "all", "by": "replace", "line": "same"}
    statement = "sum_h(E(norm2(after[k, h]))) == sum_h(E(norm2(z[k, h + 1])))"
    assert valid(statement, same, summed, program=MOMENTUM)
    one = {"name": "one", "by": "at", "line": "same", "put": {"h": "0"}}
    assert not valid(statement, same, one, {**summed, "line": "one"}, program=MOMENTUM)
    given = ("norm2(after[k, h] - z[k, h]) <= 0",)  # known of the run alone
    over = "sum_h(E(norm2(after[k, h]))) == sum_h(E(norm2(z[k, h])))"
    assert not valid(over, {**summed, "line": given[0]}, program=MOMENTUM, relations=given)
