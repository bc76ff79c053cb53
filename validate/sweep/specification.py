"""The specification of a sweep: TOML text -> `Specification` -> the documents of its cells.

docs/sweeps.md describes the text. A specification is plain data: nothing in it is executed but the Python files that
its claims name, everything is checked before the first cell is made, and sizes are bounded. Tables are counted from 0
in messages.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from theory.catalog import claim as find_claim
from theory.catalog import paper as find_paper
from theory.claim import Claim
from validate.files import is_file
from validate.sweep import claim_files, kinds
from validate.sweep.entries import MOST_CELLS, Decimal, Entry, check_names, integer, number, shown
from validate.sweep.kinds import Table

FORMAT = 1
MOST_TEXT, MOST_LINE = 1_000_000, 20_000  # characters
MOST_RUNS = 10_000_000
NAMES = (
    "name", "claims", "method", "seeds", "rounds", "error_probability", "runs", "start", "problem", "algorithm",
    "participation",
)  # fmt: skip

Axes = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, eq=False)
class Specification:
    """A sweep as it was specified, checked; made by `read_specification`.

    Attributes:
        text: the TOML text.
        name: a few words, or "".
        claims: ids, and ``my_paper.py:label`` for claims in an author's own file.
        problems, algorithms: one mapping a table, from entry to the values of its axis, canonical.
        participations: one table each; empty for everybody.
        rounds: K.
        starts: theta^0, canonical numbers.
        methods: "exact", "sampled".
        seeds: of the simulator, for sampled cells.
        error_probability: of all sampled cells together.
        first, most: runs of a sampled cell's first batch, and of all its batches.
        paths: absolute, of the authors' files, by their names.
        entries: what cells have besides (`validate.sweep.claim_files.ENTRIES`), by the names of claims in such files.
    """

    text: str = field(repr=False)
    name: str
    claims: tuple[str, ...]
    problems: tuple[Axes, ...]
    algorithms: tuple[Axes, ...]
    participations: tuple[Table, ...]
    rounds: tuple[int, ...]
    starts: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    error_probability: Fraction
    first: int
    most: int
    paths: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of cells."""
        return self._grid * (("exact" in self.methods) + self._repeats)

    @property
    def sampled(self) -> int:
        """The number of sampled cells."""
        return self._grid * self._repeats

    @property
    def level(self) -> Fraction:
        """The error probability of one sampled cell: its share, rounded down to a power of 1/2.

        A somewhat larger grid therefore keeps its cells.
        """
        share = self.error_probability / max(self.sampled, 1)
        return Fraction(1, 2 ** (math.ceil(1 / share) - 1).bit_length())

    def documents(self) -> Iterator[dict[str, Any]]:
        """The cells' documents, each once, in a fixed order whatever the order in the text.

        From the slowest to the fastest: problems (tables in their order, in each the entries in the order of
        docs/sweeps.md), algorithms, participation, rounds, start, method, seeds, claims; so claims about one scenario
        are neighbours. Documents share their tables: they are not to be changed.
        """
        level = str(self.level)
        for problem in self._problems():
            for algorithm, participation in self._settled[kinds.clients_of(problem)]:
                for rounds in self.rounds:
                    for start in self.starts:
                        scenario = {
                            "format": FORMAT,
                            "problem": problem,
                            "algorithm": algorithm,
                            "participation": participation,
                            "rounds": rounds,
                            "start": start,
                        }
                        for way in self._ways(level):
                            for claim in self.claims:
                                yield {**scenario, **way, "claim": claim, **self.entries.get(claim, {})}

    def _ways(self, level: str) -> Iterator[dict[str, Any]]:
        for method in self.methods:
            if method == "exact":
                yield {"method": method}
            else:
                for seed in self.seeds:
                    yield {"method": method, "seed": seed, "level": level, "first": self.first, "most": self.most}

    @property
    def _repeats(self) -> int:
        return len(self.seeds) if "sampled" in self.methods else 0

    @cached_property
    def _grid(self) -> int:
        """Cells of one method and one seed."""
        count = sum(many * len(self._settled[clients]) for clients, many in self._clients.items())
        return count * len(self.rounds) * len(self.starts) * len(self.claims)

    def _problems(self) -> Iterator[dict[str, Any]]:
        """Every problem once."""
        names = [axes["kind"][0] for axes in self.problems]
        seen: set[str] = set()
        for axes, name in zip(self.problems, names, strict=True):
            several = names.count(name) > 1
            for problem in kinds.combinations(axes):
                if several:
                    text = json.dumps(problem)
                    if text in seen:
                        continue
                    seen.add(text)
                yield problem

    @cached_property
    def _clients(self) -> Counter[int]:
        """How many problems have N clients, by N."""
        return Counter(map(kinds.clients_of, self._problems()))

    @cached_property
    def _settled(self) -> dict[int, list[tuple[Table, Table]]]:
        """The algorithms with those who take part, by N; each pair once.

        Raises:
            ValueError: for what cannot be, naming the tables and the entries.
        """
        found: dict[int, list[tuple[Table, Table]]] = {}
        exact = "exact" in self.methods
        for i, axes in enumerate(self.problems):
            for clients in sorted({kinds.clients_of(problem) for problem in _differing_in_clients(axes)}):
                if clients in found:
                    continue
                problem = f"problem[{i}] ({axes['kind'][0]}, {clients} clients)"
                pairs: dict[str, tuple[Table, Table]] = {}
                for j, options in enumerate(self.algorithms):
                    method = f"algorithm[{j}] ({options['kind'][0]})"
                    for algorithm in kinds.combinations(options):
                        for part in self.participations or (None,):
                            pair = kinds.settled(algorithm, part, clients, (problem, method, "participation"))
                            pairs[json.dumps(pair)] = pair
                        for rounds in self.rounds:
                            kinds.check_sizes(pair[0], clients, rounds, exact, (problem, method))
                found[clients] = list(pairs.values())
        return found


def _differing_in_clients(axes: Axes) -> Iterator[dict[str, Any]]:
    """Problems of a table with every N that it has."""
    return kinds.combinations({key: values if key == "clients" else values[:1] for key, values in axes.items()})


def read_specification(text: str, folder: Path | str = ".") -> Specification:
    """The sweep that a TOML text specifies, with everything checked that can be without computing a cell.

    The Python files that its claims name are run, as `validate.files.load` does, and nothing else.

    Args:
        text: as described in docs/sweeps.md, at most `MOST_TEXT` characters.
        folder: that relative paths of these files begin at.

    Raises:
        ValueError: for text that is not TOML, with the line; else naming the entry, its value and what it may be; or
            the tables and entries that do not go together; or more than `MOST_CELLS` cells.
    """
    given = _parsed(text)
    check_names(given, NAMES, "the specification")
    missing = [name for name in ("claims", "rounds", "problem", "algorithm") if name not in given]
    if missing:
        raise ValueError(f"the specification lacks {', '.join(missing)}")
    runs = _runs(given.get("runs", {}))
    claims = _claims(given["claims"], folder)
    made = Specification(
        text=text,
        name=_name(given.get("name", "")),
        claims=tuple(claims),
        problems=_kinds(given["problem"], kinds.PROBLEMS, "problem"),
        algorithms=_kinds(given["algorithm"], kinds.ALGORITHMS, "algorithm"),
        participations=_participations(given.get("participation", [])),
        rounds=_values(kinds.ROUNDS, given, "rounds"),
        starts=_values(kinds.START, given, "start"),
        methods=_values(kinds.METHOD, given, "method"),
        seeds=_values(kinds.SEEDS, given, "seeds"),
        error_probability=_error_probability(given),
        first=runs["first"],
        most=runs["most"],
        paths={Path(own[0].path).name: own[0].path for own in claims.values() if own},
        entries={name: claim_files.entries(*own) for name, own in claims.items() if own},
    )
    _check_count(made)
    for tables_of, known, where in (
        (made.problems, kinds.PROBLEMS, "problem"),
        (made.algorithms, kinds.ALGORITHMS, "algorithm"),
    ):
        for i, axes in enumerate(tables_of):
            kinds.check_together(axes, known, f"{where}[{i}]")
    len(made)  # every combination is checked in counting them
    return made


def _parsed(text: Any) -> dict[str, Any]:
    """The TOML text as plain data."""
    if not isinstance(text, str):
        raise ValueError(f"the specification is a {type(text).__name__}, not text")
    if len(text) > MOST_TEXT:
        raise ValueError(f"the specification has {len(text)} characters; it may have {MOST_TEXT}")
    for at, line in enumerate(text.splitlines(), 1):  # a key of many parts takes time that grows with their square
        if len(line) > MOST_LINE:
            raise ValueError(f"line {at} of the specification has {len(line)} characters; it may have {MOST_LINE}")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except ValueError as error:  # of which TOMLDecodeError is one; it names the line
        raise ValueError(f"the specification is not TOML: {error}") from None
    except RecursionError:
        raise ValueError("the specification is not TOML that can be read: its lists are nested too deeply") from None


def _values(entry: Entry, given: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    return entry.values(given[name], name) if name in given else (entry.default,)


def _name(value: Any) -> str:
    if type(value) is not str or len(value) > 200:
        raise ValueError(f"name={shown(value)} is not text of at most 200 characters")
    return value


def error_probability_of(text: str) -> Fraction:
    """The error probability that a specification states, of which nothing else is read, and no file is run.

    Raises:
        ValueError: for text that is not TOML, or where it states what is none.
    """
    return _error_probability(_parsed(text))


def _error_probability(given: Mapping[str, Any]) -> Fraction:
    return Fraction(number(kinds.UNIT)(given.get("error_probability", "1/1000"), "error_probability"))


def _claims(value: Any, folder: Path | str) -> dict[str, tuple[claim_files.ClaimFile, Claim] | None]:
    """Claims that are sentences, each once, in the order given; names of papers stand for all of theirs.

    By id, or as ``my_paper.py:label``, and then with the file and the claim.
    """
    targets = value if isinstance(value, list) else [value]
    if not targets:
        raise ValueError("claims=[] is empty: give ids of claims or names of papers")
    found: dict[str, tuple[claim_files.ClaimFile, Claim] | None] = {}
    files: dict[str, claim_files.ClaimFile] = {}
    for i, target in enumerate(targets):
        if type(target) is not str:
            raise ValueError(f"claims[{i}]={shown(target)} is neither the id of a claim nor the name of a paper")
        try:
            if is_file(target):
                name, file, own = claim_files.read(target, folder)
                if files.setdefault(Path(file.path).name, file) != file:
                    raise ValueError(f"{target!r} is in another file than an earlier {name.partition(':')[0]}; cells "
                                     "have the file's name: rename one")  # fmt: skip
                found[name] = (file, own)
            elif "/" in target:
                claim = find_claim(target)
                if not claim.has_sentence:
                    raise ValueError(f"{target!r} is no sentence, so it has no cells")
                found[claim.id] = None
            else:
                found |= {c.id: None for c in find_paper(target) if c.has_sentence}
        except ValueError as error:
            raise ValueError(f"claims[{i}]: {error}") from None
    return found


def _kinds(value: Any, known: Mapping[str, kinds.Kind], where: str) -> tuple[Axes, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where}={shown(value)} is not one or more tables [[{where}]]")
    return tuple(kinds.axes(table, known, f"{where}[{i}]") for i, table in enumerate(value))


def _participations(value: Any) -> tuple[Table, ...]:
    """Each once; a table, or several."""
    if not isinstance(value, list):
        return tuple(kinds.participation_axes(value, "participation"))
    found = [part for i, table in enumerate(value) for part in kinds.participation_axes(table, f"participation[{i}]")]
    return tuple({json.dumps(part): part for part in found}.values())


def _runs(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        raise ValueError(f"runs={shown(value)} is not a table {{ first = 64, most = 16384 }}")
    check_names(value, ("first", "most"), "runs")
    first = integer(2, MOST_RUNS)(value.get("first", 64), "runs.first")
    return {"first": first, "most": integer(first, MOST_RUNS)(value.get("most", max(first, 16384)), "runs.most")}


def _check_count(made: Specification) -> None:
    """Refuse a grid that is too large, before any of it is expanded."""
    ways = ("exact" in made.methods) + (len(made.seeds) if "sampled" in made.methods else 0)
    counts = {
        "claims": len(made.claims),
        "problem": sum(math.prod(map(len, axes.values())) for axes in made.problems),
        "algorithm": sum(math.prod(map(len, axes.values())) for axes in made.algorithms),
        "participation": max(len(made.participations), 1),
        "rounds": len(made.rounds),
        "start": len(made.starts),
        "method and seeds": ways,
    }
    total = math.prod(counts.values())
    if total > MOST_CELLS:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise ValueError(f"the sweep has {total} cells ({listed}); it may have {MOST_CELLS}")
