"""Logs of mutants and their table: `benchmarks.mutants`."""

import json
from pathlib import Path
from typing import Any

from benchmarks.mutants import claims_of, measure, read, table
from tests.language import vectors


def mutant(claim: str, number: int, outcome: str) -> dict[str, Any]:
    return {"claim": claim, "name": f"{claim}/mutant-{number:03d}", "outcome": outcome, "description": "", "reason": ""}


def done(claim: str, stands: bool = True, cut: bool = False) -> dict[str, Any]:
    return {"claim": claim, "report": True, "stands": stands, "cut": cut, "seconds": 1.5}


def log(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_claim_counts_once_and_only_if_it_is_done(tmp_path: Path) -> None:
    first = log(
        tmp_path / "1", mutant("a/x", 1, "killed"), mutant("a/x", 1, "killed"), mutant("a/x", 2, "weaker"), done("a/x"),
        mutant("a/y", 1, "killed"), done("a/y", stands=False), mutant("b/z", 1, "survived"), done("b/z"),
    )  # fmt: skip
    second = log(
        tmp_path / "2", mutant("b/z", 1, "killed"), mutant("b/z", 2, "not shown false"), done("b/z", cut=True),
        mutant("a/x", 1, "survived"),
    )  # fmt: skip
    assert table(read([first, second, tmp_path / "none"])).splitlines()[2:] == [
        "| a | 1 | 0 | 2 | 1 | 0 | 1 | 1 | 2 | 100.0% |",
        "| b | 1 | 1 | 2 | 0 | 1 | 1 | 1 | 2 | 100.0% |",
        "| together | 2 | 1 | 4 | 1 | 1 | 2 | 2 | 3 | 100.0% |",
    ]


def test_what_is_measured_is_what_is_read(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = []
    measure(vectors.JENSEN, 4, 60, lines.append)
    assert [bool(line.get("report")) for line in lines] == [False] * 4 + [True]
    again = read([log(tmp_path / "log", *json.loads(json.dumps(lines, default=str)))])
    assert [line.get("name") for line in again] == [line.get("name") for line in lines]


def test_the_claims_of_a_paper_that_have_mutants() -> None:
    ids = [one.id for one in claims_of(["perm"])]
    assert "perm/lemma-2" in ids
    assert "perm/gen" not in ids
    assert [one.id for one in claims_of(["perm/lemma-2"])] == ["perm/lemma-2"]
