"""What is found does not depend on the number of processes: verdicts and certificates; nothing is lost."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from theory import catalog
from validate import checking
from validate.checking import check_all, listener, without_process
from validate.files import forgetting
from validate.verdict import Result

# refuted and proved claims of two papers that take little
CHOSEN = ("fedavg-svrg/lemma-v1-eq13", "fedavg-svrg/lemma-a2", "textbook/young", "textbook/jensen-three")


def found(processes: int, out: Path) -> tuple[list[Result], list[str]]:
    """The results, and what was said."""
    said: list[str] = []
    return check_all(CHOSEN, quick=True, out=out, progress=said.append, processes=processes), said


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_one_and_three_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every, said_of, folder = {}, {}, Path("out")
    for processes in (1, 3):
        (tmp_path / str(processes)).mkdir()
        monkeypatch.chdir(tmp_path / str(processes))
        results, said = found(processes, folder)
        assert [r.id for r in results] == list(CHOSEN)
        assert set(CHOSEN) <= set(said)
        assert sum(line.endswith(f" of {len(CHOSEN)} claims") for line in said) == len(CHOSEN)
        said_of[processes] = [r.to_json() for r in results]
        every[processes] = files(folder)
    assert said_of[1] == said_of[3]
    assert set(every[1]) == set(every[3])
    for name, content in every[1].items():
        assert content == every[3][name], name
    verdicts = json.loads(every[1]["verdicts.json"])
    assert [entry["id"] for entry in verdicts] == list(CHOSEN)
    assert {"refuted", "proved"} <= {entry["verdict"] for entry in verdicts}
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


OWN = """
from theory import Paper, claim
PAPER = Paper("mine", "Of a file", "Nobody", tuple(claim(f"c{i}", f"x**2 + {i} >= 0") for i in range(3)))
"""


@pytest.mark.slow
def test_the_claims_of_a_file_are_checked_in_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN, encoding="utf-8")
    with forgetting():
        results = check_all(["own.py"], quick=True, out="out", processes=2)
    assert [(r.id, r.verdict) for r in results] == [(f"mine/c{i}", "proved") for i in range(3)]
    assert capfd.readouterr() == ("", "")


def test_a_process_that_ends_is_a_line_of_evidence(tmp_path: Path) -> None:
    said: list[Any] = []
    result = without_process(CHOSEN[0], True, tmp_path, "ended by signal 9", said.append)
    assert result.verdict == "undecided"
    assert [item.detail for item in result.evidence] == ["the check could not be made: its process ended by signal 9"]
    assert [(entry["id"], entry["verdict"], out) for entry, out in said] == [(CHOSEN[0], "undecided", tmp_path)]


@pytest.mark.skipif(sys.platform != "linux", reason="the system bounds no memory")
def test_a_check_that_needs_too_much_memory_is_a_line_of_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def greedy(*arguments: Any, **options: Any) -> None:
        held = [bytes(1 << 26) for _ in range(64)]
        raise AssertionError(len(held))

    monkeypatch.setattr("validate.examine.examine", greedy)
    result = checking.check_one(catalog.claim(CHOSEN[0]), quick=True, out=tmp_path)
    assert (result.verdict, [item.detail for item in result.evidence]) == (
        "undecided",
        ["the check could not be made: it needs more than 2 GiB of memory"],
    )
    assert len([bytes(1 << 26) for _ in range(40)]) == 40  # the bound was the check's alone


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_an_interrupt_ends_a_check_and_loses_nothing(tmp_path: Path, jobs: str) -> None:
    """The last claim takes a fraction of a second, the others many."""
    long = ("fedavg-svrg/lemma-v1-eq14", "perm/lemma-12/corrected")
    command = [sys.executable, "-m", "validate.cli", "check", "--quick", "--jobs", jobs, *long, CHOSEN[0]]
    command += ["--out", str(tmp_path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(f"{CHOSEN[0]}: finished" if jobs == "3" else long[0]):
                break
        os.killpg(process.pid, signal.SIGINT)
        out, said = process.communicate(timeout=60)  # all that write to its stderr have left
    finally:
        process.kill()
    assert (process.returncode, out, said.splitlines()[-1]) == (130, "", "interrupted")
    kept = [entry["id"] for path in tmp_path.glob("verdicts.json") for entry in json.loads(path.read_text())]
    assert kept == ([CHOSEN[0]] if jobs == "3" else [])
