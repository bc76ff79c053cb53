"""Exact play: every primitive against values worked out by hand, whole algorithms against plain implementations."""

import math
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from theory.arithmetic import UndecidedError, to_element
from theory.formula import UndefinedError
from theory.operations import to_fraction
from theory.program import Algorithm, algorithm
from validate.instances import Instance, read_instance
from validate.play import Play
from validate.primitives import two_points
from validate.rounds import TooManyOutcomesError
from validate.rounds.readers import Readers

F = Fraction
Law = dict[Any, Fraction]
TWO = [[{"h": 1, "a": 0}, {"h": 2, "a": 3}], [{"h": 3, "a": -1}, {"h": 1, "a": 2}]]
UNEVEN = [
    [{"h": 1, "a": 0}, {"h": 2, "a": 3}],
    [{"h": 3, "a": -1}, {"h": 1, "a": 2}, {"h": 1, "a": 5}],
    [{"h": 1, "a": 1}],
]
PLANE = [[{"H": [[1, 0], [0, 2]], "b": [1, 0]}], [{"H": [[2, 1], [1, 2]], "b": [1, 1]}]]
ONE = [[{"h": 1, "a": 0}]]


def instance(one: Algorithm, clients: Any = ONE, start: Any = 5, rounds: int = 1, **parameters: Any) -> Instance:
    data = {"algorithm": "a.py:one", "parameters": parameters, "problem": {"clients": clients}, "start": start}
    return read_instance({**data, "rounds": rounds}, one)


def law(one: Algorithm, clients: Any = ONE, start: Any = 5, rounds: int = 1, **parameters: Any) -> Law:
    """The states after the last round with their probabilities; of one coordinate and one variable as a number."""
    found = Play(instance(one, clients, start, rounds, **parameters)).distribution(rounds)
    assert sum(p for p, _ in found) == 1
    result = {plain(state if len(state) > 1 else state[0]): p for p, state in found}
    assert len(result) == len(found)
    return result


def plain(value: Any) -> Any:
    """Vectors of one coordinate as numbers."""
    if isinstance(value, tuple):
        return plain(value[0]) if len(value) == 1 and not isinstance(value[0], tuple) else tuple(map(plain, value))
    return value


def sums(*pairs: tuple[Any, Fraction]) -> Law:
    found: Law = {}
    for state, p in pairs:
        found[state] = found.get(state, F(0)) + p
    return found


# --- primitives ------------------------------------------------------------------------------------------------------


def test_gradients_of_samples_clients_and_all() -> None:
    @algorithm(x="x0", y="each x0", z="x0")
    def one(w, x, y, z):
        return w.full_gradient(x), w.gradient(x), w.mean(w.gradient(y, w.sample()))

    found = law(one, TWO, 1)
    # f_1' = (1*1 + 2*(1 - 3))/2 = -3/2, f_2' = (3*2 + 1*(-1))/2 = 5/2; samples: 1, -4; 6, -1
    ends = [F(a + b, 2) for a in (1, -4) for b in (6, -1)]
    assert found == sums(*(((F(1, 2), (F(-3, 2), F(5, 2)), z), F(1, 4)) for z in ends))


def test_a_sample_used_twice_is_the_same_sample() -> None:
    @algorithm
    def one(w, x):
        i = w.sample()
        return w.mean(w.gradient(x, i) - w.gradient(x, i))

    @algorithm
    def two(w, x):
        return w.mean(w.gradient(x, w.sample()) - w.gradient(x, w.sample()))

    clients = [[{"h": 1, "a": 0}, {"h": 2, "a": 3}]]
    assert law(one, clients, 1) == {0: 1}
    assert law(two, clients, 1) == {0: F(1, 2), 5: F(1, 4), -5: F(1, 4)}


def test_batches_with_and_without_replacement() -> None:
    @algorithm
    def with_replacement(w, x, *, b):
        return w.mean(w.gradient(x, w.sample(b)))

    @algorithm
    def without(w, x, *, b):
        return w.mean(w.gradient(x, w.sample(b, replace=False)))

    clients = [[{"h": 0, "b": -1}, {"h": 0, "b": -2}, {"h": 0, "b": -4}]]  # gradients 1, 2, 4
    pairs = [(F(a + c, 2), F(1, 9)) for a in (1, 2, 4) for c in (1, 2, 4)]
    assert law(with_replacement, clients, 0, b=2) == sums(*pairs)
    assert law(without, clients, 0, b=2) == {F(3, 2): F(1, 3), F(5, 2): F(1, 3), 3: F(1, 3)}
    assert law(without, clients, 0, b=3) == {F(7, 3): 1}
    with pytest.raises(ValueError, match=r"b of client 1|b=4 is outside the integers in \[1, 3\]"):
        law(without, clients, 0, b=4)
    assert sum(law(with_replacement, clients, 0, b=4).values()) == 1
    with pytest.raises(TooManyOutcomesError, match="round 0 draws one of 3001 batches of 3000 samples"):
        law(with_replacement, [clients[0][:2]], 0, b=3000)


def test_noise_has_mean_zero_and_its_variance() -> None:
    @algorithm(x="each 0")
    def one(w, x, *, s):
        return w.noise(s)

    for sigma2 in (F(4), F(2), F(3, 7), F(10**9 + 7)):
        found = Play(instance(one, PLANE, [0, 0], s=str(sigma2))).distribution(1)
        assert sum(p for p, _ in found) == 1
        assert len(found) == 16  # 2 coordinates, 2 values for each of 2 clients
        for n in (0, 1):
            for j in (0, 1):
                assert sum(p * x[n][j] for p, (x,) in found) == 0
            assert sum(p * (x[n][0] ** 2 + x[n][1] ** 2) for p, (x,) in found) == sigma2
        assert sum(p * (x[0][0] * x[1][0]) for p, (x,) in found) == 0
    assert law(one, ONE, 0, s=0) == {(0,): 1}
    assert tuple(tuple(map(to_fraction, point)) for point in two_points(to_element(F(9, 4)))) == (
        (F(1, 2), F(3, 2)),
        (F(1, 2), F(-3, 2)),
    )


def test_each_mean_sum_and_copies() -> None:
    @algorithm(x="x0", y="each x0", z="x0")
    def one(w, x, y, z):
        g = w.gradient(x)
        return w.sum(g), x + w.gradient(x) * 0, w.mean(w.each(x)) + w.sum(x)

    # gradients -3/2 and 5/2 at 1; the sum of a server's value is N times it
    assert law(one, TWO, 1) == {(F(1), (F(1), F(1)), F(3)): 1}


def test_choose_with_and_without_replacement() -> None:
    @algorithm(x="0", c="each 0")
    def one(w, x, c, *, S):
        return x, w.where(w.choose(S), c + w.ones(), c)

    @algorithm
    def counts(w, x, *, S):
        return w.average(w.gradient(x), w.choose(S, replace=True))

    clients = [[{"h": 0, "b": -g}] for g in (1, 2, 4)]
    assert law(one, clients, 0, S=2) == {(F(0), c): F(1, 3) for c in ((1, 1, 0), (1, 0, 1), (0, 1, 1))}
    assert law(counts, clients, 0, S=2) == sums(*((F(a + b, 2), F(1, 9)) for a in (1, 2, 4) for b in (1, 2, 4)))
    for S in (0, 4, F(3, 2)):
        with pytest.raises(ValueError, match=r"w.choose\(S\).*outside the integers in \[1, 3\]"):
            law(one, clients, 0, S=str(S))


def test_coins_and_a_coin() -> None:
    @algorithm(c="each 0")
    def coins(w, c, *, p):
        return w.where(w.coins(p), c + w.ones(), c)

    @algorithm(c="each 0")
    def coin(w, c, *, p):
        return w.where(w.coin(p), c + w.ones(), c)

    assert law(coins, TWO, 0, p=["1/3", "1/4"]) == {
        (1, 1): F(1, 12), (1, 0): F(1, 4), (0, 1): F(1, 6), (0, 0): F(1, 2),
    }  # fmt: skip
    assert law(coins, TWO, 0, p=[1, "1/4"]) == {(1, 1): F(1, 4), (1, 0): F(3, 4)}
    assert law(coin, TWO, 0, p="1/4") == {(1, 1): F(1, 4), (0, 0): F(3, 4)}
    for p in (0, "5/4"):
        with pytest.raises(ValueError, match=r"outside \(0, 1\]"):
            law(coin, TWO, 0, p=p)


def test_average_is_zero_when_there_is_none() -> None:
    @algorithm
    def one(w, x, *, p):
        return w.average(w.gradient(x), w.coins(p))

    # gradients at 1: -3/2, 5/2
    assert law(one, TWO, 1, p="1/2") == {0: F(1, 4), F(-3, 2): F(1, 4), F(5, 2): F(1, 4), F(1, 2): F(1, 4)}


def test_before_and_the_turn_of_a_loop() -> None:
    @algorithm(c="each 0")
    def one(w, c, *, tau, H):
        for h in w.repeat(H):
            c = w.where(w.before(h, tau), c + (h + 1) * w.ones(), c)
        return c

    assert law(one, UNEVEN, 0, tau=[0, 1, 3], H=3) == {(0, 1, 6): 1}
    for tau in ([0, 1, -1], ["1/2", 1, 1]):
        with pytest.raises(ValueError, match="tau of client"):
            law(one, UNEVEN, 0, tau=tau, H=3)
    with pytest.raises(ValueError, match=r"w.repeat\(H\).*integers in \[1"):
        law(one, UNEVEN, 0, tau=[0, 1, 1], H=0)


def test_visit_goes_to_the_clients_in_every_order() -> None:
    @algorithm
    def one(w, x, *, eta):
        return w.visit(x, lambda x, one: x - eta * one.gradient(x, one.sample()))

    expected: list[tuple[Any, Fraction]] = []
    for order in permutations(range(2)):
        for samples in product(range(2), repeat=2):
            x = F(5)
            for n in order:
                s = TWO[n][samples[n]]
                x -= F(1, 8) * s["h"] * (x - s["a"])
            expected.append((x, F(1, 8)))
    assert law(one, TWO, 5, eta="1/8") == sums(*expected)


def test_visit_reads_the_clients_own_values() -> None:
    @algorithm(x="x0", c="each 0")
    def one(w, x, c, *, p):
        g = w.gradient(x)
        z = w.visit(x, lambda v, one: v + p * (g - c) + one.where(one.coin(1), 0 * v, v))
        return z, c

    # the gradients at 1 are -3/2 and 5/2; p is 1 of client 0 and 2 of client 1: the order does not matter
    assert law(one, TWO, 1, p=[1, 2]) == {(F(1) - F(3, 2) + 5, (F(0), F(0))): 1}


def test_pass_over_goes_through_all_samples_in_every_order() -> None:
    @algorithm(y="each x0")
    def one(w, y, *, eta):
        return w.pass_over(y, lambda v, i: v - eta * w.gradient(v, i))

    each = []
    for own in UNEVEN:
        ends = []
        for order in permutations(own):
            x = F(5)
            for s in order:
                x -= F(1, 8) * s["h"] * (x - s["a"])
            ends.append((x, F(1, math.factorial(len(own)))))
        each.append(ends)
    expected = [(tuple(x for x, _ in ends), math.prod((p for _, p in ends), start=F(1))) for ends in product(*each)]
    assert law(one, UNEVEN, 5, eta="1/8") == sums(*expected)


def test_pass_over_inside_visit() -> None:
    @algorithm
    def one(w, x, *, eta):
        return w.visit(x, lambda x, one: one.pass_over(x, lambda v, i: v - eta * one.gradient(v, i)))

    expected = []
    for order in permutations(UNEVEN):
        for orders in product(*(list(permutations(own)) for own in order)):
            x = F(5)
            for s in (s for own in orders for s in own):
                x -= F(1, 8) * s["h"] * (x - s["a"])
            expected.append((x, F(1, 6 * 12)))
    assert law(one, UNEVEN, 5, eta="1/8") == sums(*expected)


def test_a_pass_that_forgets_what_came_before() -> None:
    @algorithm(y="each x0")
    def one(w, y):
        return w.pass_over(y, lambda v, i: w.gradient(w.ones(), i))

    # the gradient of the last sample at 1
    found = law(one, UNEVEN, 5)
    assert found == {(a, b, F(0)): F(1, 6) for a in (1, -4) for b in (6, -1, -4)}


def test_mix() -> None:
    @algorithm(x="each grad(f_n, x0)")
    def one(w, x, *, W):
        return w.mix(x, W)

    assert law(one, TWO, 1, W=[["1/4", "3/4"], [1, 2]]) == {(F(-3, 8) + F(15, 8), F(-3, 2) + 5): 1}
    with pytest.raises(ValueError, match="W is to be a matrix of 2 rows"):
        law(one, TWO, 1, W=[[1, 2]])


def test_keep_and_top() -> None:
    @algorithm
    def keep(w, x, *, m):
        return w.keep(x, m)

    @algorithm
    def top(w, x, *, m):
        return w.top(x, m)

    @algorithm(y="each x0")
    def keep_each(w, y, *, m):
        return w.keep(y, m)

    three = [[{"H": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "b": [0, 0, 0]}]]
    assert law(keep, three, [1, 2, 4], m=1) == {(3, 0, 0): F(1, 3), (0, 6, 0): F(1, 3), (0, 0, 12): F(1, 3)}
    assert law(keep, three, [1, 2, 4], m=2) == {
        (F(3, 2), 3, 0): F(1, 3), (F(3, 2), 0, 6): F(1, 3), (0, 3, 6): F(1, 3),
    }  # fmt: skip
    assert law(keep, three, [1, 0, 4], m=1) == {(3, 0, 0): F(1, 3), (0, 0, 0): F(1, 3), (0, 0, 12): F(1, 3)}
    assert law(keep, three, [1, 2, 4], m=3) == {(1, 2, 4): 1}
    assert len(law(keep_each, PLANE, [1, 2], m=1)) == 4
    assert law(top, three, [1, -2, 2], m=1) == {(0, -2, 0): 1}
    assert law(top, three, [1, -2, 2], m=2) == {(0, -2, 2): 1}
    assert law(top, three, [1, 1, 1], m=2) == {(1, 1, 0): 1}
    for one in (keep, top):
        with pytest.raises(ValueError, match=r"m=4 is outside the integers in \[1, 3\]"):
            law(one, three, [1, 2, 4], m=4)


def test_prox() -> None:
    @algorithm(y="each x0")
    def one(w, y, *, t):
        return w.prox(y, t)

    # argmin h (u - a)^2/2 + (u - v)^2/(2t) = (h a + v/t)/(h + 1/t)
    clients = [[{"h": 1, "a": 0}], [{"h": 3, "a": -1}]]
    assert law(one, clients, 5, t=2) == {(F(5, 2) / F(3, 2), (F(-3) + F(5, 2)) / F(7, 2)): 1}
    found = Play(instance(one, PLANE, [1, 2], t=1)).distribution(1)[0][1][0]
    assert found[0] == (F(2, 2), F(2, 3))  # (I + diag(1, 2))^-1 (b + v) = (2/2, 2/3)
    u = found[1]  # (I + H) u = b + v
    assert (3 * u[0] + u[1], u[0] + 3 * u[1]) == (2, 3)
    with pytest.raises(ValueError, match="no unique value"):
        law(one, [[{"h": -1, "b": 0}]], 5, t=1)
    assert law(one, [[{"h": -1, "b": 0}]], 5, t="1/2") == {(10,): 1}  # (-1 + 2) u = 2 * 5


def test_projections_are_rational_where_they_can_be() -> None:
    @algorithm
    def project(w, x, *, r):
        return w.project(x, r)

    @algorithm
    def clip(w, x, *, r):
        return w.clip(x, r)

    for one in (project, clip):
        assert law(one, PLANE, [3, 4], r=5) == {(3, 4): 1}
        assert law(one, PLANE, [3, 4], r=1) == {(F(3, 5), F(4, 5)): 1}
        ((state,),) = [s for _, s in Play(instance(one, PLANE, [1, 1], r=1)).distribution(1)]
        assert abs(float(state[0]) - math.sqrt(0.5)) < 1e-15
        assert state[0].contains(state[0].mid())
        assert not state[0].is_exact()


def test_coordinates() -> None:
    @algorithm(x="x0", a="0", b="0", c="0", e="0", g="0")
    def one(w, x, a, b, c, e, g):
        twos = 2 * w.ones()
        return x, w.times(x, x), w.over(x, twos), w.larger(x, w.ones()), w.sqrt(w.times(x, x)), w.sign(x)

    assert law(one, PLANE, [-3, 4]) == {
        ((-3, 4), (9, 16), (F(-3, 2), 2), (1, 4), (3, 4), (-1, 1)): 1,
    }  # fmt: skip
    assert next(iter(law(one, PLANE, [0, 4])))[5] == (0, 1)


def test_a_norm_is_a_number() -> None:
    @algorithm(x="x0", y="each x0")
    def one(w, x, y):
        return x / w.norm(x), w.norm(w.gradient(y)) * y

    # gradients at (3, 4): (2, 8), norm sqrt(68), irrational; (9, 10), norm sqrt(181)
    ((x, y),) = [s for _, s in Play(instance(one, PLANE, [3, 4])).distribution(1)]
    assert x == (F(3, 5), F(4, 5))
    assert abs(float(y[1][0]) - 3 * math.sqrt(181)) < 1e-12
    with pytest.raises(UndefinedError):
        law(one, PLANE, [0, 0])


def test_memory() -> None:
    @algorithm(past="J times x0")
    def one(w, past, *, alpha):
        return w.shift(past, w.combine(alpha, past) + w.ones())

    @algorithm(past="each J times grad(f_n, x0)", x="x0")
    def clients(w, past, x, *, alpha):
        return w.shift(past, x), w.mean(w.combine(alpha, past))

    # (5, 5, 5) -> 1*5 + 2*5 + 3*5 + 1 = 31 -> 31 + 10 + 15 + 1 = 57
    assert law(one, ONE, 5, 2, alpha=[1, 2, 3]) == {(F(57), F(31), F(5)): 1}
    assert law(one, ONE, 5, 1, alpha=[1, 2], J=2) == {(F(16), F(5)): 1}
    with pytest.raises(ValueError, match="alpha has 2 weights, and past remembers 3"):
        law(one, ONE, 5, 1, alpha=[1, 2], J=3)
    assert law(clients, TWO, 1, 1, alpha=[1, 1]) == {(((1, F(-3, 2)), (1, F(5, 2))), F(1)): 1}


def test_tables() -> None:
    @algorithm(x="x0", g="table grad(f_ni, x0)")
    def saga(w, x, g, *, eta):
        i = w.sample()
        new = w.gradient(x, i)
        return x - eta * w.mean(new - w.get(g, i) + w.get(g)), w.put(g, i, new)

    clients = [[{"h": 1, "a": 0}, {"h": 2, "a": 3}]]
    expected: list[tuple[Any, Fraction]] = [((F(1), (F(1), F(-4))), F(1))]
    for _ in range(3):
        after = []
        for (x, g), p in expected:
            for i, (h, a) in enumerate(((1, 0), (2, 3))):
                new = h * (x - a)
                table = tuple(new if j == i else g[j] for j in range(2))
                after.append(((x - F(1, 4) * (new - g[i] + (g[0] + g[1]) / 2), table), p / 2))
        expected = after
    assert law(saga, clients, 1, 3, eta="1/4") == sums(*(((x, (g,)), p) for (x, g), p in expected))


def test_tables_of_a_batch_and_of_a_mask() -> None:
    @algorithm(g="table 0")
    def batch(w, g, *, b):
        i = w.sample(b, replace=False)
        return 2 * w.put(g, i, w.ones()) - g

    @algorithm(g="table grad(f_ni, x0)")
    def masked(w, g, *, S):
        return w.where(w.choose(S), g, 0 * g)

    clients = [[{"h": 1, "a": 0}] * 3]
    assert law(batch, clients, 0, b=2) == {((2, 2, 0),): F(1, 3), ((2, 0, 2),): F(1, 3), ((0, 2, 2),): F(1, 3)}
    assert law(masked, TWO, 1, S=1) == {((1, -4), (0, 0)): F(1, 2), ((0, 0), (6, -1)): F(1, 2)}


def test_the_round_and_schedules() -> None:
    @algorithm
    def one(w, x, *, eta):
        return x + eta * w.ones() + w.k * w.ones()

    assert law(one, ONE, 0, 3, eta={"k": [1, 10, 100]}) == {F(111 + 3): 1}
    assert law(one, ONE, 0, 3, eta=[1, 10, 100]) == {F(114): 1}
    with pytest.raises(ValueError, match="eta has values for 2 rounds, and there are K=3"):
        law(one, ONE, 0, 3, eta={"k": [1, 10]})


def test_roots_in_scalars() -> None:
    @algorithm
    def one(w, x, *, eta):
        return x - w.sqrt(eta) * w.ones()

    assert law(one, ONE, 0, eta="9/4") == {F(-3, 2): 1}
    ((x,),) = [s for _, s in Play(instance(one, ONE, 0, eta=2)).distribution(1)]
    assert (x[0] ** 2).contains(2)
    assert abs(float(x[0]) + math.sqrt(2)) < 1e-15


def test_a_comparison_that_balls_do_not_decide() -> None:
    @algorithm(x="x0", y="0")
    def one(w, x, y, *, eta):
        root = w.sqrt(eta)
        return x, w.where(root * root - 2, x, y)

    with pytest.raises(UndecidedError):
        law(one, ONE, 1, eta=2)
    assert law(one, ONE, 1, eta=4) == {(1, 1): 1}


def test_division_by_zero_is_undefined() -> None:
    @algorithm
    def one(w, x, *, eta):
        return w.over(w.ones(), x - eta * w.ones())

    assert law(one, ONE, 5, eta=3) == {F(1, 2): 1}
    with pytest.raises(UndefinedError, match="division by zero"):
        law(one, ONE, 5, eta=5)


def test_a_number_that_grows_too_long_is_refused() -> None:
    @algorithm
    def one(w, x):
        for _ in w.repeat(40):
            x = w.times(x, x)
        return x

    with pytest.raises(ValueError, match="more than 1048576 bits"):
        law(one, ONE, 3)


def test_a_caller_may_refuse_numbers_that_are_shorter() -> None:
    @algorithm
    def shrinking(w, x, *, eta):
        return x - eta * x

    run = instance(shrinking, start=1, rounds=100, eta="1/3")
    assert Play(run, longest=160).law(100)  # 3**100 has 159 bits
    with pytest.raises(ValueError, match="more than 150 bits"):
        Play(run, longest=150).law(100)


def test_starts() -> None:
    @algorithm(x="2*x0", y="0", z="grad(f, x0)", c="each grad(f_n, x0) - grad(f, x0)", s="xstar", t="each xstar_n")
    def one(w, x, y, z, c, s, t):
        return x, y, z, c, s, t

    clients = [[{"h": 1, "a": 0}], [{"h": 3, "a": 4}]]
    # f' = (x + 3 (x - 4))/2 = 2x - 6
    assert law(one, clients, 1) == {(2, 0, -4, (5, -5), 3, (0, 4)): 1}

    @algorithm(x="1")
    def wrong(w, x):
        return x

    with pytest.raises(ValueError, match="is a number and no vector"):
        law(wrong)
    with pytest.raises(ValueError, match="more than one minimiser"):
        law(one, [[{"h": 0, "b": 0}]], 1)


# --- outcomes --------------------------------------------------------------------------------------------------------


def test_samples_that_nobody_reads_are_not_drawn() -> None:
    @algorithm
    def one(w, x, *, eta, S, H):
        active = w.choose(S)
        y = w.each(x)
        for _ in w.repeat(H):
            w.tap("y", y)
            y = y - eta * w.gradient(y, w.sample())
        return w.average(y, active)

    play = Play(instance(one, UNEVEN, 5, eta="1/8", S=1, H=2))
    # of the chosen client: 2^2, 3^2 or 1 sequences of samples
    assert len(play.outcomes(play.start, 0)) == 4 + 9 + 1
    # taps are of all clients, so that all draw
    assert len(play.outcomes(play.start, 0, ["y"])) == 3 * 4 * 9
    expected: dict[Any, Fraction] = {}
    for outcome in play.outcomes(play.start, 0, ["y"]):
        expected[outcome.state] = expected.get(outcome.state, 0) + outcome.probability
    assert expected == {state: p for p, state in play.law(1)}


def test_guards_see_where_factors_and_loops() -> None:
    @algorithm(x="x0", c="each 0")
    def where(w, x, c, *, p):
        active = w.coins(p)
        g = w.gradient(x, w.sample())
        return x - w.mean(active * g), w.where(active, c, g)

    play = Play(instance(where, TWO, 5, p=["1/2", "1/2"]))
    assert len(play.outcomes(play.start, 0)) == 16  # g is read of every client: on one side or the other

    @algorithm
    def factor(w, x, *, p):
        active = w.coins(p)
        return x - w.mean(active * w.gradient(x, w.sample()))

    play = Play(instance(factor, TWO, 5, p=["1/2", "1/2"]))
    assert len(play.outcomes(play.start, 0)) == 1 + 2 + 2 + 4

    @algorithm
    def delayed(w, x, *, tau, H):
        y = w.each(x)
        for h in w.repeat(H):
            y = w.where(w.before(h, tau), y - w.gradient(y, w.sample()), y)
        return w.mean(y)

    play = Play(instance(delayed, TWO, 5, tau=[1, 0], H=3))
    assert len(play.outcomes(play.start, 0)) == 2

    @algorithm
    def passing(w, x, *, S):
        active = w.choose(S)
        return w.average(w.pass_over(x, lambda v, i: v - w.gradient(v, i)), active)

    play = Play(instance(passing, UNEVEN, 5, S=1))
    assert len(play.outcomes(play.start, 0)) == 2 + 6 + 1


@algorithm(x="x0", c="each 0")
def guarded(w, x, c, *, eta, S, H, tau, p):
    """Masks of every sort, around draws of every sort."""
    active, coins = w.choose(S), w.coins(p)
    y = w.each(x)
    for h in w.repeat(H):
        there = w.before(h, tau)
        y = w.where(there, y - eta * w.keep(w.gradient(y, w.sample()), 1), y)
    z = w.pass_over(y, lambda v, i: v - eta * w.gradient(v, i))
    return w.average(z, active) + w.mean(coins * w.noise(1)), w.where(active, z, c)


@pytest.mark.parametrize("clients", [TWO, UNEVEN[:2]])
def test_what_is_not_drawn_makes_no_difference(clients: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one = instance(guarded, clients, 5, eta="1/8", S=1, H=2, tau=[1, 0], p=["1/2", 1])
    few = Play(one)
    lazy, count = dict(map(reversed, few.distribution(1))), len(few.outcomes(few.start, 0))
    nothing = frozenset[Any]()

    def careless(program: Any, taps: frozenset[str]) -> Readers:
        found = Readers(program, taps)
        found.guards = {name: None if own is None else nothing for name, own in found.guards.items()}
        return found

    monkeypatch.setattr("validate.rounds.frame.readers_of", careless)
    all_of_them = Play(one)
    assert dict(map(reversed, all_of_them.distribution(1))) == lazy
    assert len(all_of_them.outcomes(all_of_them.start, 0)) > 2 * count


def test_a_mask_that_changes_from_turn_to_turn_guards_nothing_of_another_turn() -> None:
    @algorithm
    def one(w, x, *, H):
        y = w.each(x)
        for _ in w.repeat(H):
            active = w.choose(1)
            y = w.where(active, y - w.gradient(y, w.sample()) / 4, y)
        return w.mean(y)

    expected: list[tuple[tuple[Fraction, ...], Fraction]] = [((F(5), F(5)), F(1))]
    for _ in range(3):
        expected = [
            (tuple(v - s["h"] * (v - s["a"]) / F(4) if m == n else v for m, v in enumerate(y)), p / 4)
            for y, p in expected
            for n in range(2)
            for s in TWO[n]
        ]
    assert law(one, TWO, 5, H=3) == sums(*((sum(y) / 2, p) for y, p in expected))


def test_too_many_outcomes_are_refused_with_their_number() -> None:
    @algorithm
    def one(w, x):
        return w.mean(w.gradient(x, w.sample()))

    clients = [[{"h": 1, "a": i} for i in range(10)]] * 6
    with pytest.raises(TooManyOutcomesError, match=r"limit=200000 outcomes, at least 1000000: take fewer clients"):
        law(one, clients)
    small = instance(one, TWO, 5, 3)
    assert len(Play(small, limit=100).law(3)) > 1
    with pytest.raises(TooManyOutcomesError, match="round 1 has more than limit=15"):
        Play(small, limit=15).law(3)
    with pytest.raises(ValueError, match="limit=0"):
        Play(small, limit=0)


def test_merged_equals_unmerged() -> None:
    @algorithm(x="x0", s="x0")
    def one(w, x, s, *, p, m):
        return w.keep(x - s, m) + w.where(w.coin(p), x, s), w.sign(x)

    play = Play(instance(one, PLANE, [1, 2], 4, p="1/3", m=1))
    paths: list[tuple[Any, Any]] = [(F(1), play.start)]
    for k in range(4):
        paths = [
            (p * F(int(o.probability.p), int(o.probability.q)), o.state) for p, s in paths for o in play.outcomes(s, k)
        ]
    assert len(paths) > len(play.law(4))
    unmerged: dict[Any, Fraction] = {}
    for p, s in paths:
        unmerged[s] = unmerged.get(s, F(0)) + p
    assert unmerged == {s: F(int(p.p), int(p.q)) for p, s in play.law(4)}


def test_joint_laws_agree_with_paths() -> None:
    @algorithm
    def one(w, x, *, eta):
        g = w.gradient(x, w.sample())
        w.tap("g", w.mean(g))
        return x - eta * w.mean(g)

    play = Play(instance(one, TWO, 5, 3, eta="1/4"))
    items = frozenset({("x", (1,)), ("g", (1,)), ("x", (3,))})
    expected: dict[Any, Fraction] = {}
    for samples in product(product(range(2), repeat=2), repeat=3):
        x, taps, xs = F(5), [], [F(5)]
        for pair in samples:
            g = sum(F(TWO[n][i]["h"]) * (x - TWO[n][i]["a"]) for n, i in enumerate(pair)) / 2
            taps.append(g)
            x -= g / 4
            xs.append(x)
        key = (xs[1], taps[1], xs[3])
        expected[key] = expected.get(key, F(0)) + F(1, 64)
    found: dict[Any, Fraction] = {}
    for p, outcome in play.joint(items):
        key = tuple(
            F(int(v[0].p), int(v[0].q)) for v in (outcome[("x", (1,))], outcome[("g", (1,))], outcome[("x", (3,))])
        )
        found[key] = found.get(key, F(0)) + F(int(p.p), int(p.q))
    assert found == expected
    with pytest.raises(ValueError, match=r"g\[3\] is not in a run of K=3 rounds"):
        play.joint(frozenset({("g", (3,))}))


def test_rounds_give_taps_between_two_states() -> None:
    @algorithm
    def one(w, x, *, H):
        for h in w.repeat(H):
            for j in w.repeat(h + 1):
                w.tap("y", x + 10 * j * w.ones())
            x = x + w.ones()
        return x

    play = Play(instance(one, ONE, 0, 2, H=2))
    ((p, before, taps, after),) = play.rounds(1)
    assert (p, before, after) == (1, ((2,),), ((4,),))
    assert taps == {("y", (0, 0)): (2,), ("y", (1, 0)): (3,), ("y", (1, 1)): (13,)}
    assert [play.turns("y", 0), play.turns("y", 0, (0,)), play.turns("y", 0, (1,))] == [2, 1, 2]
    with pytest.raises(ValueError, match="no tap inside 3 loops"):
        play.turns("y", 0, (0, 0))
