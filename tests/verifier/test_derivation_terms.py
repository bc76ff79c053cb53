"""A round in terms of derivations, with E over its draws, has the value that the exact play of all outcomes gives."""

import random
from fractions import Fraction
from typing import Any

import pytest

from tests.language.noise_ball import parallel_sgd
from tests.language.proxskip import proxskip
from tests.language.scaffold import scaffold
from tests.rounds import batched as batch
from tests.rounds import chosen
from tests.rounds import chosen_twice as counted
from tests.rounds import compressed as keep
from tests.rounds import noisy as noise
from tests.rounds import served as keep_of_the_server
from tests.verifier.terms_at import value_of
from tests.verifier.written import SGD, derivation
from theory import algorithm
from validate.verifier import Uncheckable
from validate.verifier.derivation import level, points, read
from validate.verifier.derivation_defined import Defined
from validate.verifier.derivation_normal import Normal
from validate.verifier.derivation_replacing import Algebra
from validate.verifier.derivation_rounds import Round
from validate.verifier.play import read_world, set_up
from validate.verifier.scalars import Work
from validate.verifier.sentences import read_sentence

F = Fraction


@algorithm
def coins(w: Any, x: Any, *, eta: Any, p: Any) -> Any:
    return x - eta * w.mean(w.where(w.coins(p), w.gradient(x), w.full_gradient(x)))


@algorithm
def keep_of_samples(w: Any, x: Any, *, eta: Any, m: Any, p: Any) -> Any:
    kept = w.keep(w.gradient(x, w.sample()), m)
    return x - eta * w.mean(w.where(w.coin(p), 2 * kept, kept))


@algorithm
def one_sample_twice(w: Any, x: Any, *, eta: Any) -> Any:
    i = w.sample()
    return x - eta * w.mean(w.gradient(x - eta * w.gradient(x, i), i))


ONES = (
    parallel_sgd, proxskip, chosen, counted, batch, coins, keep, keep_of_samples, keep_of_the_server, noise,
    one_sample_twice,
)  # fmt: skip
SCAFFOLD = scaffold.program.to_json()
PROGRAMS = {
    **{one.name: one.program.to_json() for one in ONES},
    "scaffold, one turn": {
        **SCAFFOLD,
        "round": [
            {**s, "count": "1", "body": [b for b in s["body"] if b["do"] != "tap"]} if s["do"] == "repeat" else s
            for s in SCAFFOLD["round"]
        ],
    },
}
EXPRESSIONS = (
    "E(norm2(x[1] - xstar))",
    "E(dot(x[1] - x0, x0 - 2*xstar))",
    "mean_n(E(norm2(x[1] - x0 + grad(f_n, x0))))",
    "2/N*E(norm2(x[1]) + 3*dot(x[1], grad(f, xstar)))",
    "E(norm2(x[1] - x0))*E(norm2(x[1])) - 1",
)
OF_CLIENTS = {"proxskip": ("mean_n(E(norm2(h[1] - grad(f_n, xstar))))", "E(norm2(mean_n(x[1] + h[1])))")}
OF_CLIENTS["scaffold, one turn"] = ("mean_n(E(norm2(c[1] - x0)))", "E(dot(mean_n(c[1]), x[1]))")


def _instance(data: dict[str, Any], source: random.Random) -> dict[str, Any]:
    several = any(s["do"] == "choose" and not s["replace"] for s in data["program"]["round"])
    N, d = source.choice((2, 3) if several else (1, 2, 3)), 2  # E of two that are chosen has N - 1 below
    draw = source.randint
    clients = []
    for _ in range(N):
        rows = []
        for _ in range(source.choice((1, 2))):
            a, b, c = draw(1, 3), draw(-1, 1), draw(2, 4)
            rows.append({"H": [[str(a), str(b)], [str(b), str(c)]], "b": [str(draw(-3, 3)) for _ in range(d)]})
        clients.append(rows)
    numbers = {
        "eta": F(draw(1, 5), 7), "gamma": F(draw(1, 5), 7), "p": F(draw(1, 4), 5), "m": draw(1, 2), "b": draw(1, 2),
        "H": 1, "S": draw(1, N), "eta_g": F(draw(1, 3), 2), "sigma2": 4,
    }  # fmt: skip
    said = {key: value for key, value in data.items() if key not in ("lines", "vectors")}
    return {
        **said,
        "kind": "play",
        "parameters": {name: str(numbers[name]) for name in data["program"]["parameters"]},
        "problem": {"clients": clients},
        "start": [str(draw(-3, 3)) for _ in range(d)],
        "rounds": 1,
        "at": {},
        "left": "0",
        "right": "0",
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_round(name: str) -> None:
    source = random.Random(name)
    every = () if name == "proxskip" else EXPRESSIONS  # its x is one a client
    for text in (*every, *OF_CLIENTS.get(name, ())):
        statement = f"{text} <= 0"
        data = derivation("test/test", statement, [{"name": "x", "by": "step"}], program=PROGRAMS[name])
        claimed = read(data)
        algebra = Algebra()
        normal = Normal(claimed, level(data, claimed), points(claimed), algebra)
        normal.signs = Defined(normal)
        normal.round = Round(normal, {})
        found = normal.value(claimed.sentence.left, normal.start)
        compared = 0
        for _ in range(4):
            game, world = read_world(_instance(data, source), Work())
            assert game.program is not None
            set_up(game.program, world)
            if world.xstar is None:
                minimum = world.problem.minimum(world.problem.mean)  # type: ignore[union-attr]
                assert minimum is not None
                world.xstar = minimum[0]
            ((left, _),) = world.everywhere(read_sentence(statement, "the statement"))
            assert value_of(found, world, {}) == left, (name, text)
            compared += 1
        assert compared == 4


def test_what_is_refused() -> None:
    """Products of three draws of clients, and a draw times a function of it."""
    for text, of in (("E(norm2(x[1])**2)", SGD), ("E(f(x[1])*norm2(x[1]))", SGD), ("E(f(x[1])*dot(x[1], x0))", SGD)):
        data = derivation("test/test", f"{text} <= 0", [{"name": "x", "by": "step"}], program=of)
        claimed = read(data)
        normal = Normal(claimed, level(data, claimed), points(claimed), Algebra())
        normal.signs = Defined(normal)
        normal.round = Round(normal, {})
        with pytest.raises(Uncheckable):
            normal.value(claimed.sentence.left, normal.start)
