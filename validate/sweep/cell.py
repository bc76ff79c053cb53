"""One cell of a sweep: a claim on an algorithm's run, by moments or by the simulator, and what comes of it.

A cell is its document, plain JSON data from which everything is made again in any process:

    {"format": 1, "claim": "my-paper/theorem-1", "problem": {"kind": "quadratic", ...}, "algorithm": {...},
     "participation": {"p": "1/2"}, "rounds": 10, "start": "1", "method": "exact"}

for method "sampled" also "seed", "level", "first" and "most", and for a claim in an author's own file also "file" and
"relation" (`validate.sweep.claim_files`). Its key is a hash of the canonical text, and its result is plain JSON data
that depends on the document alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from validate.sweep import claim_files, kinds
from validate.sweep.entries import check_names, integer, number, shown, table
from validate.sweep.specification import FORMAT, MOST_RUNS

_COMMON = ("format", "claim", "problem", "algorithm", "participation", "rounds", "start", "method")
_SAMPLED = ("seed", "level", "first", "most")

Result = dict[str, Any]


def canonical(document: Mapping[str, Any]) -> str:
    """The one text of a document, or of a result: JSON with sorted names, no blanks, ASCII only.

    Raises:
        ValueError: for a number that is not finite.
        TypeError: for what is not plain JSON data.
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def key(document: Mapping[str, Any]) -> str:
    """The first 40 hexadecimal digits of the SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(document).encode("ascii")).hexdigest()[:40]


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell, read from its document.

    Attributes:
        claim: its id, or ``my_paper.py:label``.
        problem, algorithm, participation: tables with one canonical value an entry (`validate.sweep.kinds`).
        rounds: K.
        start: theta^0 in every coordinate.
        method: "exact" or "sampled".
        seed: of the simulator; with level, first and most 0 in an exact cell.
        level: error probability of each kind, a power of 1/2.
        first: runs of the first batch.
        most: runs of all batches together.
        file: SHA-256 of the author's own file that has the claim; else "".
        relation: of such a claim; else "".
    """

    claim: str
    problem: Mapping[str, Any]
    algorithm: Mapping[str, Any]
    participation: Mapping[str, Any]
    rounds: int
    start: str
    method: str
    seed: int = 0
    level: Fraction = Fraction(0)
    first: int = 0
    most: int = 0
    file: str = ""
    relation: str = ""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Cell:
        """Read a document, and check that it is one that a specification makes.

        Raises:
            ValueError: naming the entry, its value and what it may be.
        """
        given = table(document, "the cell")
        method = kinds.METHOD.read(given.get("method"), "method")
        if "claim" in given and type(given["claim"]) is not str:
            raise ValueError(f"claim={shown(given['claim'])} is not the id of a claim")
        own = claim_files.file_of(given.get("claim", "")) is not None
        names = _COMMON + (_SAMPLED if method == "sampled" else ()) + (claim_files.ENTRIES if own else ())
        check_names(given, names, "the cell")
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(f"the cell lacks {', '.join(missing)}")
        if type(given["format"]) is not int or given["format"] != FORMAT:
            raise ValueError(f"format={shown(given['format'])} is not {FORMAT}, which is the one known here")
        if own:
            claim_files.check(given)
        values: dict[str, Any] = _tables(given)
        values |= {
            "rounds": kinds.ROUNDS.read(given["rounds"], "rounds"),
            "start": kinds.START.read(given["start"], "start"),
        }
        if method == "sampled":
            first = integer(2, MOST_RUNS)(given["first"], "first")
            values |= {
                "seed": kinds.SEEDS.read(given["seed"], "seed"),
                "level": number(kinds.UNIT)(given["level"], "level"),
                "first": first,
                "most": integer(first, MOST_RUNS)(given["most"], "most"),
            }
        for name, value in values.items():
            if type(value) is not type(given[name]) or value != given[name]:
                raise ValueError(f"{name}={shown(given[name])} is not in canonical form, which is {shown(value)}")
        if method == "sampled":
            values["level"] = Fraction(values["level"])
        kinds.check_sizes(
            values["algorithm"],
            kinds.clients_of(values["problem"]),
            values["rounds"],
            method == "exact",
            ("problem", "algorithm"),
        )
        besides = {name: given[name] for name in claim_files.ENTRIES} if own else {}
        return cls(claim=given["claim"], method=method, **values, **besides)

    @property
    def scenario(self) -> str:
        """The canonical text of what the claim is held against; cells that share it share the oracle's work."""
        return canonical(
            {
                "problem": self.problem,
                "algorithm": self.algorithm,
                "participation": self.participation,
                "rounds": self.rounds,
                "start": self.start,
            }
        )


def _tables(given: Mapping[str, Any]) -> dict[str, Any]:
    """Problem, algorithm and participation, in canonical form."""
    problem = kinds.one(given["problem"], kinds.PROBLEMS, "problem")
    algorithm = kinds.one(given["algorithm"], kinds.ALGORITHMS, "algorithm")
    parts = table(given["participation"], "participation")
    if len(parts) != 1 or not set(parts) <= set(kinds.PARTICIPATION):
        raise ValueError(f"participation={shown(parts)} does not have exactly one of p and clients")
    part = {name: kinds.PARTICIPATION[name].read(value, f"participation.{name}") for name, value in parts.items()}
    names = ("problem", "algorithm", "participation")
    algorithm, part = (dict(t) for t in kinds.settled(algorithm, part, kinds.clients_of(problem), names))
    return {"problem": problem, "algorithm": algorithm, "participation": part}


def run_cell(document: Mapping[str, Any], paths: Mapping[str, str] | None = None) -> Result:
    """What comes of a cell: a function of its document alone.

    Args:
        document: a cell's document.
        paths: where the authors' files lie, by their names (`Specification.paths`). Such a file is run if a cell has a
            claim of it, and if its contents are those that the cell says.

    Returns:
        Plain JSON data, every number finite or None:

        - outcome: "holds", "unbroken" (a sampled cell, where only the central limit theorem says that it holds, to no
          stated error probability), "fails" (never "refuted": that takes a certificate), "undecided", "inapplicable"
          (the claim does not speak of this scenario, or is not measured there), "violated" (a hypothesis does not hold;
          the detail names it) or "diverged" (moments beyond float64);
        - left, right, ratio: both sides, and left/right where right > 0, at the index of the worst break, or, of a
          claim that holds, at the largest ratio;
        - lower, upper, runs: a confidence interval of the left side and the runs behind it, of a sampled cell;
        - guarantee: "exact", or "anytime" or "asymptotic" of a sampled cell; None without both sides;
        - index: where the two sides were taken, such as {"k": 3}; None without both sides;
        - detail: one sentence.

    Raises:
        ValueError: for a document that is no cell's, or a scenario that the libraries refuse; for an author's file that
            is not there, or has other contents.
    """
    from theory.catalog import claim as find_claim
    from validate.sweep.sentences import of_sentence

    cell = Cell.from_document(document)
    if cell.file:
        return of_sentence(cell, claim_files.find(cell.claim, cell.file, cell.relation, paths or {}))
    return of_sentence(cell, find_claim(cell.claim))


def result(outcome: str, detail: str, **found: Any) -> Result:
    """A result as `run_cell` returns it; what is not given is None."""
    empty = dict.fromkeys(("left", "right", "ratio", "lower", "upper", "runs", "guarantee", "index"))
    return {"outcome": outcome, "detail": detail, **empty, **found}
