"""What is found does not depend on the number of processes: verdicts, certificates and the report."""

import json
from pathlib import Path
from typing import Any

import pytest

from theory import catalog
from theory.claim import Paper
from validate import checking
from validate.checking import check_paper, listener, tasks
from validate.parallel import over_processes
from validate.report import render
from validate.verdict import Result

# refuted and proved claims of two papers that take little
CHOSEN = ("fedavg-svrg/lemma-v1-eq13", "fedavg-svrg/lemma-a2", "textbook/young", "textbook/jensen-three")


def found(processes: int, out: Path) -> tuple[list[Result], list[str]]:
    """The results, and what was said."""
    said: list[str] = []
    every = over_processes(check_paper, tasks(CHOSEN, True, out), processes=processes, heard=listener(said.append))
    return [result for results in every for result in results], said


def papers() -> list[Paper]:
    """Those of the chosen claims."""
    return [catalog.paper(name) for name in dict.fromkeys(i.split("/")[0] for i in CHOSEN)]


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but for the folder's own name in it."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes().replace(str(folder).encode(), b"OUT") for path in paths}


@pytest.mark.slow
def test_one_and_two_processes_find_the_same(tmp_path: Path) -> None:
    every = {}
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        results, said = found(processes, folder)
        assert [r.id for r in results] == list(CHOSEN)
        assert set(CHOSEN) <= set(said)
        render(results, [], folder, papers=papers())
        every[processes] = files(folder)
    assert set(every[1]) == set(every[2])
    for name, content in every[1].items():
        assert content == every[2][name], name
    verdicts = json.loads(every[1]["verdicts.json"])
    assert [entry["id"] for entry in verdicts] == list(CHOSEN)
    assert {"refuted", "proved"} <= {entry["verdict"] for entry in verdicts}
    assert "report.json" in every[1]
    assert sum(name.startswith("certificates") and name.endswith(".json") for name in every[1]) == 1


def kept_entry(name: str, verdict: str) -> dict[str, Any]:
    """As in verdicts.json."""
    return {"id": name, "verdict": verdict, "quick": False, "digest": ""}


def test_verdicts_are_kept_in_the_catalogue_s_order(tmp_path: Path) -> None:
    hear = listener(None)
    for name in (*CHOSEN[::-1], "somebody/else"):
        hear((kept_entry(name, "undecided"), tmp_path))
    hear((kept_entry(CHOSEN[1], "proved"), tmp_path))
    kept = json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))
    assert [entry["id"] for entry in kept] == [*CHOSEN, "somebody/else"]
    assert [entry["verdict"] for entry in kept].count("proved") == 1


def test_an_interrupted_check_has_kept_its_verdicts(tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if line == CHOSEN[1]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checking.check_all(CHOSEN[:2], quick=True, out=tmp_path, progress=stop)
    assert [entry["id"] for entry in json.loads((tmp_path / "verdicts.json").read_text())] == [CHOSEN[0]]
