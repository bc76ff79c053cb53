"""Relations as functions: worth what `evaluate` says, counted as it counts, undefined where it is."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sim.problems import Quadratic
from theory import claim
from theory.arithmetic import balls
from theory.claim import Claim
from theory.operations import to_fraction
from theory.program import work
from theory.sentence import evaluate, parse_sentence
from validate.both_sides import World
from validate.instances import read_instance
from validate.instances.relations import holds, relation_satisfied, with_name
from validate.instances.setting import Setting
from validate.instances.settled import compiled, value_once

RELATIONS = (
    "eta <= 1/(2*L*sqrt(mu))",
    "sum_n(q_n*c) == (c + 1)**(K - 2)",
    "sum_k((1 - eta*mu)**k) <= max(L, c, 1)*K",
    "mean_n(q_n**2) - min(q_n, c) < R/(q_n - 1)",
    "log(c) + exp(-L) <= abs(c - max_n(q_n))",
    "E(first_n(q_n)) + R >= R*R - R/3",
)
F = Fraction


def one_claim(*relations: str) -> Claim:
    return claim("any", "c <= c", assuming=relations, where={"R": "L*c + eta*(L*c)"})


def values(rng: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {name: F(rng.randint(1, 9), rng.randint(1, 9)) for name in ("eta", "L", "mu", "c")}
    if rng.random() < 0.3:
        found["mu"] = rng.random() + 0.1
    return {**found, "q": [F(rng.randint(0, 4), 4) for _ in range(3)]}


def setting(claim_: Claim, given: dict[str, Any], rounds: int) -> Setting:
    zero = F(0)
    flat = [np.full(shape, zero, dtype=object) for shape in ((3, 1, 1, 1), (3, 1, 1), (3, 1))]
    return Setting(Quadratic(*flat, np.ones(3, dtype=int)), np.array([zero]), given, rounds, claim_)


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("text", RELATIONS)
def test_a_side_as_a_function_is_worth_what_it_was(text: str, once: bool) -> None:
    """Numbers, their types, the operations that are counted, and where there is no value."""
    owner, rng = one_claim(text), random.Random(text)
    words, sentence = owner.vocabulary, parse_sentence(text)
    told = 0
    for side in (sentence.left, sentence.right):
        code = compiled(side, words, once=once)
        assert code is not None
        for _ in range(40):
            world = setting(owner, values(rng), rng.randint(1, 4))
            at = {"n": rng.randrange(3), "i": 0, "k": 0}
            outcomes = []
            for way in range(2):
                before = work.operations()
                try:
                    if way:
                        found = to_fraction(code(world, at, {}))
                    else:
                        found = value_once(side, world, at, words, {}) if once else evaluate(side, world, at, words)
                except ValueError as error:
                    found = str(error)
                outcomes.append((type(found), found, work.operations() - before))
            assert outcomes[0] == outcomes[1]
            told += isinstance(outcomes[0][1], Fraction)
    assert told > 20


def test_relations_are_satisfied_as_their_sides_say() -> None:
    rng, found = random.Random(7), set()
    for text in RELATIONS:
        owner = one_claim(text)
        words, (relation,) = owner.vocabulary, owner.relations
        for _ in range(30):
            world = setting(owner, values(rng), rng.randint(1, 4))
            expected = True
            for n in range(3):
                at, memo = {"n": n, "i": 0, "k": 0}, {}
                try:
                    left, right = (value_once(side, world, at, words, memo) for side in (relation.left, relation.right))
                except ValueError:
                    expected = False
                    break
                expected = expected and holds(left, relation.relation, right)
            assert relation_satisfied(relation, world, owner) == expected
            found.add(expected)
    assert found == {True, False}


def test_vectors_and_weights_that_are_solved_for_are_not_compiled() -> None:
    owner = claim("any", "norm2(x0) <= c", assuming=("norm2(x0 + x0) <= c", "simplex_n(c_n, q_n) <= c"))
    first, second = owner.relations
    assert compiled(second.left, owner.vocabulary, once=True) is None
    code = compiled(first.left, owner.vocabulary, once=True)  # a number of vectors, worked out as it always is
    assert code is not None
    world = setting(owner, {"c": F(1)}, 1)
    assert to_fraction(code(world, {"n": 0, "i": 0, "k": 0}, {})) == 0


def test_what_does_not_change_is_worked_out_once() -> None:
    """Lengths, gradients and means are kept for the next value of a parameter; what has it is worked out again."""
    text = "L*(dot(grad(f, x0), x0 - grad(f_n, x0)/2) + c) + mean_n(f_n(x0 - c*x0)) <= c*norm2(2*x0 - grad(f, x0)) + L"
    owner = one_claim(text)
    (relation,) = owner.relations
    curved = [
        np.array(numbers, dtype=object).reshape(2, 1, *[1] * d)
        for numbers, d in (((F(1), F(3)), 2), ((F(2), F(-3)), 1))
    ]
    problem = Quadratic(*curved, np.full((2, 1), F(1), dtype=object), np.ones(2, dtype=int))
    at, changing = {"n": 0, "i": 0, "k": 0}, set[int]()
    sides = (relation.left, relation.right)
    for side in sides:
        with_name(side, "L", owner.vocabulary, changing)
    memo: dict[int, Any] = {}
    spent = []
    for L in (F(1, 3), F(7), F(7, 2)):
        for tree in changing:
            memo.pop(tree, None)
        world = Setting(problem, np.array([F(5)]), {"L": L, "c": F(2, 3)}, 1, owner)
        before = work.operations()
        codes = [compiled(side, owner.vocabulary, once=True) for side in sides]
        found = [to_fraction(code(world, at, memo)) for code in codes if code is not None]
        spent.append(work.operations() - before)
        assert found == [evaluate(side, world, at, owner.vocabulary) for side in sides]
    assert spent[0] > 2 * spent[1]
    assert spent[1] == spent[2]


def test_a_sum_that_hangs_on_no_run_is_counted_as_often_as_it_is_asked_for() -> None:
    """Worked out once in a world, for each value of the indices on which it hangs."""
    owner = claim("any", "mean_n(norm2(grad(f_n, x0)) + c) + q_n <= sum_n(q_n*norm2(grad(f_n, x0)))")
    instance = read_instance(
        {"problem": {"clients": [[{"h": "1", "a": "2"}], [{"h": "3", "a": "-1"}]]}, "start": "5", "rounds": 1}
    )
    world = World(instance, {"c": F(1), "q": (F(1, 3), F(2))}, owner.vocabulary)
    spent = []
    for n, left in ((0, F(333, 2) + 1 + F(1, 3)), (0, F(333, 2) + 1 + F(1, 3)), (1, F(333, 2) + 1 + 2)):
        before = work.operations()
        with balls(128):
            assert to_fraction(evaluate(owner.sentence.left, world, {"n": n}, owner.vocabulary)) == left
            right = to_fraction(evaluate(owner.sentence.right, world, {}, owner.vocabulary))
        assert right == F(9, 3) + 2 * 324
        spent.append(work.operations() - before)
    assert len(world.kept) == 2
    assert len(set(spent)) == 1
