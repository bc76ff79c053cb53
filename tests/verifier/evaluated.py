"""Whether all sentences of a derivation are true on random instances, by the verifier's exact play: nothing of it is
shared with what decides derivations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from validate.verifier.arguments import OutsideRun
from validate.verifier.assumed import holds
from validate.verifier.play import read_world, set_up
from validate.verifier.reading import FormatError, Uncheckable
from validate.verifier.scalars import Work, surely_not
from validate.verifier.sentences import Sentence, read_sentence
from validate.verifier.spoken import World

F = Fraction


def instances(data: dict[str, Any], seed: int, tries: int = 60, wanted: int = 4) -> Iterator[World]:
    """Random instances that satisfy all hypotheses of a derivation's claim."""
    source = random.Random(seed)
    found = 0
    for _ in range(tries):
        try:
            claimed, world = read_world(_instance(data, source), Work())
            if claimed.program is not None:
                set_up(claimed.program, world)
            if all(holds(a, world) for a in claimed.assumptions) and not any(
                surely_not(left, r.relation, right) for r in claimed.relations for left, right in world.everywhere(r)
            ):
                found += 1
                yield world
        except (Uncheckable, FormatError):
            continue
        if found == wanted:
            return


def _instance(data: dict[str, Any], source: random.Random) -> dict[str, Any]:
    N, M = source.choice((1, 2, 3)), source.choice((1, 2))
    own = [[(F(source.randint(1, 4)), F(source.randint(-3, 3))) for _ in range(M)] for _ in range(N)]
    if source.random() < 0.3:
        own = [[(own[0][0][0], b) for _, b in row] for row in own]
    h, b = (sum(F(x[j], N * M) for row in own for x in row) for j in (0, 1))
    minimiser = b / h
    if source.random() < 0.15:
        own = [[(h, h * minimiser) for h, _ in row] for row in own]
    start = minimiser if source.random() < 0.4 else F(source.randint(-3, 3))
    L = max(h for row in own for h, _ in row) * source.choice((1, 1, 2))
    mu = min(sum(h for h, _ in row) / M for row in own) * source.choice((1, 1, F(1, 2)))
    step = source.choice((F(1, 4), F(1, 2), F(1, 2), 1, 1, F(3, 2), 3)) / L
    pick = source.choice
    numbers: dict[str, Any] = {
        "L": L, "mu": mu, "eta": step, "gamma": step, "eta_g": pick((F(1, 2), 1, 2)), "H": pick((1, 2)), "m": 1,
        "S": source.randint(1, N), "p": pick((F(1, 3), F(1, 2), 1)), "q": pick((F(1, 3), F(1, 2), 2, 1)),
        "c": pick((F(1, 3), 1, 5)), "G": pick((1, 4)), "sigma2": 1,
    }  # fmt: skip
    text = str({key: value for key, value in data.items() if key != "lines"})
    spoken = {name for name in numbers if _speaks(text, name)}
    free = {v: [str(source.randint(-3, 3))] for v in data.get("vectors", []) if not v.endswith("_n")}
    free |= {v: [[str(source.randint(-3, 3))] for _ in range(N)] for v in data.get("vectors", []) if v.endswith("_n")}
    functions = data["program"] is not None or bool(data["assumptions"])
    said = {key: value for key, value in data.items() if key not in ("lines", "vectors", "kind", "note")}
    problem = {"clients": [[{"H": [[str(h)]], "b": [str(b)]} for h, b in row] for row in own]}
    return {
        **said,
        "kind": "play",
        "parameters": {name: str(numbers[name]) for name in spoken},
        "problem": problem if functions else None,
        "start": [str(start)] if functions else [],
        "rounds": 2 if data["program"] is not None else source.randint(1, 4),
        "at": {},
        "left": "0",
        "right": "0",
        **({"vectors": free} if free else {}),
    }


def _speaks(text: str, name: str) -> bool:
    import re

    return re.search(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9(])", text) is not None


def sentences(data: dict[str, Any]) -> list[str]:
    """The claim's sentence and those of all lines (of nested lists too, but not under a case's hypothesis)."""
    found = [data["statement"]]
    left = list(data["lines"])
    while left:
        item = left.pop()
        if "sentence" in item:
            found.append(item["sentence"])
        found += item.get("sentences", [])
        left += [*item.get("base", []), *item.get("step", [])]
    return found


def false_sentence(data: dict[str, Any], seed: int, wanted: int = 4) -> tuple[str | None, int]:
    """A sentence of the derivation that is false on an instance (None for none), and how many instances were tried."""
    texts = sentences(data)
    tried = 0
    for world in instances(data, seed, wanted=wanted):
        tried += 1
        for text in texts:
            sentence = read_sentence(text, "a sentence")
            if _false(sentence, world):
                return text, tried
    return None, tried


def _false(sentence: Sentence, world: World) -> bool:
    try:
        for pair in world.everywhere(sentence):
            try:
                if surely_not(pair[0], sentence.relation, pair[1]):
                    return True
            except Uncheckable:
                continue
    except (Uncheckable, OutsideRun, FormatError):
        return False
    return False
