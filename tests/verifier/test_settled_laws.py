"""Where states of several rounds have the same law, what is of one round alone is averaged once, and nothing else."""

import random
from typing import Any

import pytest

from tests.verifier.test_derivation_turns import instance
from tests.verifier.written import derivation
from theory import algorithm
from validate.verifier.play import read_world, set_up
from validate.verifier.scalars import Work
from validate.verifier.sentences import read_sentence
from validate.verifier.spoken import World


@algorithm
def sgd(w: Any, x: Any, *, eta: Any) -> Any:
    """With a step of 1 on functions norm2(x)/2 - b*x it jumps to a sample's b: from the first round on, one law."""
    return x - eta * w.mean(w.gradient(x, w.sample()))


def played(text: str, monkeypatch: pytest.MonkeyPatch, plainly: bool) -> tuple[Any, int]:
    """The value of a text in a run of six rounds, and how many outcomes were looked at."""
    data = derivation("test/test", f"{text} <= 0", [{"name": "x", "by": "step"}], program=sgd.program.to_json())
    made = instance(data, random.Random(0), {"eta": "1"}, 6)
    made["problem"] = {"clients": [[{"H": [["1"]], "b": [b]} for b in ("1", "-3")]]}
    claimed, world = read_world(made, Work())
    assert claimed.program is not None
    set_up(claimed.program, world)
    averages = []

    def averaged(self: World, *of: Any) -> Any:
        averages.append(of)
        return kept(self, *of)

    kept = World._averaged
    with monkeypatch.context() as patch:
        patch.setattr(World, "_averaged", averaged)
        if plainly:
            patch.setattr(World, "_of_one_round", lambda *_: False)
        ((value, _),) = world.everywhere(read_sentence(f"{text} <= 0", "the statement"))
    return value, len(averages)


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("mean_k(E(norm2(x[k])))", True),
        ("mean_k(k*E(norm2(x[k] - x0)))", True),
        ("mean_k(E(norm2(k*x[k])))", False),
        ("mean_k(E(norm2(x[k] - x[1])))", False),
        ("mean_k(E(norm2(x[k+1] - x[k])))", False),
        ("mean_k(E(dot(x[k], mean_k(x[k]))))", False),
    ],
)
def test_an_average_is_taken_once_where_the_law_is_the_same(
    text: str, once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (value, fewer), (plain, all_) = (played(text, monkeypatch, plainly) for plainly in (False, True))
    assert value == plain
    assert (fewer < all_) == once
