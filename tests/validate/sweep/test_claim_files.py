"""Claims in an author's own file: what their cells are, where they are computed, and what a changed file does."""

import csv
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import EQ8, call, complaint, printed
from validate import files
from validate.sweep import Cell, Specification, claim_files, key, read_specification, run_cell
from validate.sweep.coordinator import Summary, sweep
from validate.sweep.store import Store
from validate.sweep.summary import experiment_of

PAPER = '''"""The noise ball of SGD with one client, and the same with a factor lost."""

from theory import Paper, algorithm, claim


@algorithm
def local_sgd(w, x, *, delta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - delta * w.gradient(y, w.sample())
    return w.mean(y)


ASSUMED = ("smooth(f_ni, L)", "strongly_convex(f_n, mu)", "delta <= 1/(2*L)", "H <= 1")
NOISE = {"R2": "norm2(x0 - xstar)", "noise": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}


def distance(label, right, relation="<="):
    where = {name: text for name, text in NOISE.items() if name in right}
    return claim(label, f"E(norm2(x[k] - xstar)) {relation} {right}", of=local_sgd, assuming=ASSUMED, where=where)


PAPER = Paper("mine", "Mine", "me", (
    distance("noise-ball", "(1-delta*mu)**k*R2 + 2*delta*noise/mu"),
    distance("lost-factor", "(1-delta*mu)**k*R2 + 2*delta**2*noise"),
    distance("from-below", "(1-delta*L)**(2*k)*R2", relation=">="),
))
'''
SPECIFICATION = """
name = "mine"
claims = [CLAIMS]
method = "exact"
rounds = [2, 6]
start = 0
error_probability = "1/1000"
runs = { first = 64, most = 128 }

[[problem]]
kind = "scalar"
clients = [{ h = [1, 1], a = [1, -1] }]

[[problem]]
kind = "quadratic"
clients = 1
dim = 2
mu = "1/2"
L = 1
samples = 2
sample_spread = 1

[[algorithm]]
kind = "program"
delta = "1/8"
H = 1
"""
BOTH = ("my_paper.py:noise-ball", "my_paper.py:lost-factor")


@pytest.fixture(autouse=True)
def _forgetting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Papers that a test adds are known to that test only."""
    monkeypatch.setattr(claim_files, "_loaded", {})
    with files.forgetting():
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a paper."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_paper.py").write_text(PAPER, encoding="utf-8")
    (tmp_path / "spec.toml").write_text(text(*BOTH), encoding="utf-8")
    return tmp_path


def text(*claims: str, **changes: str) -> str:
    """SPECIFICATION with claims, and other lines."""
    made = SPECIFICATION.replace("CLAIMS", ", ".join(f'"{claim}"' for claim in claims))
    for old, new in changes.items():
        assert f"\n{old} = " in made
        made = "\n".join(f"{old} = {new}" if line.startswith(f"{old} = ") else line for line in made.split("\n"))
    return made


def read(*claims: str, folder: Path | str = ".", **changes: str) -> Specification:
    """The specification of claims."""
    return read_specification(text(*claims, **changes), folder)


def in_threads(specification: Specification, path: Path | str, **options: Any) -> Summary:
    """A sweep in this process."""
    with ThreadPoolExecutor(2) as executor:
        return sweep(specification, path, executor=executor, **options)


def results(path: Path | str) -> list[tuple[str, dict[str, Any]]]:
    """Claims and results of all cells."""
    with Store.read(path) as store:
        return [(row.document["claim"], row.result or {}) for row in store.rows()]


# --- what a cell is --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"file": None}, "the cell lacks file"),
        ({"relation": None}, "the cell lacks relation"),
        ({"file": "0" * 63}, "file='0+' is not the SHA-256 of a file"),
        ({"file": ["0" * 64]}, r"file=\['0+'\] is not the SHA-256"),
        ({"relation": "<>"}, "relation='<>' is not one of <=, <, >=, >, =="),
        ({"claim": EQ8}, "the cell has the unknown entry 'file'"),
        ({"claim": "a/my_paper.py:noise-ball"}, "the cell has the unknown entry 'file'"),
        ({"claim": 3}, "claim=3 is not the id"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_document_that_no_specification_makes_is_refused(change: dict[str, Any], said: str) -> None:
    document = {**next(read(*BOTH).documents()), **change}
    with pytest.raises(ValueError, match=said):
        Cell.from_document({name: value for name, value in document.items() if value is not None})


# --- what comes of it ------------------------------------------------------------------------------------------------


def test_both_sides_are_those_of_the_closed_form(folder: Path) -> None:
    """One client, h = 1, a = 1 and -1, start 0, step 1/8: the second moment obeys m <- (7/8)^2 m + 1/64."""
    specification = read(*BOTH)
    for document in specification.documents():
        if document["problem"]["kind"] != "scalar":
            continue
        rounds, lost = document["rounds"], document["claim"] == BOTH[1]
        moments = [(1 - Fraction(7, 8) ** (2 * k)) / 15 for k in range(rounds + 1)]
        right = Fraction(1, 32) if lost else Fraction(1, 4)
        found = run_cell(document, specification.paths)
        assert found["right"] == right
        assert found["left"] == pytest.approx(float(moments[found["index"]["k"]]), rel=1e-12)
        assert found["outcome"] == ("fails" if moments[rounds] > right else "holds")
    assert {run_cell(d, specification.paths)["outcome"] for d in specification.documents()} == {"fails", "holds"}


def test_a_failing_cell_names_what_searches_for_a_certificate(folder: Path) -> None:
    specification = read(BOTH[1], rounds="200")
    details = [run_cell(d, specification.paths)["detail"] for d in specification.documents()]
    assert "`fedproof falsify my_paper.py:lost-factor` finds a certificate" in details[1]
    short = run_cell(next(read(BOTH[1], rounds="6").documents()), specification.paths)
    assert short["detail"].startswith("in fractions: left side ")
    assert files.find("my_paper.py:lost-factor").label == "lost-factor"


def test_every_executor_computes_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specification = read(*BOTH)
    monkeypatch.chdir("/")  # a worker loads the file by its absolute path
    here = {key(d): run_cell(d, specification.paths) for d in specification.documents()}
    done = [
        in_threads(specification, folder / "threads"),
        sweep(specification, folder / "lanes", workers=1),
        sweep(specification, folder / "pool", executor=lambda: ProcessPoolExecutor(1, get_context("spawn"))),
    ]
    assert len({one.digest for one in done}) == 1
    assert [one.outcomes for one in done] == [{"holds": 7, "fails": 1}] * 3
    with Store.read(done[1].path) as store:
        assert {row.key: row.result for row in store.rows()} == here


def test_a_dask_cluster_computes_the_same(folder: Path) -> None:
    pytest.importorskip("distributed")
    from tests.validate.sweep.clusters import programs

    specification = read(*BOTH)
    place = folder / "cluster"
    place.mkdir()
    with programs(place, workers=1) as cluster:  # whose workers are in another folder
        done = sweep(specification, folder / "s", engine="dask", address=cluster.address)
    assert done.digest == in_threads(specification, folder / "t").digest


# --- a file that is not what it was ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "ValueError: my_paper.py cannot be read on this machine (No such file or directory): "),
        (PAPER.replace("2*delta*noise/mu", "9"), "ValueError: my_paper.py is not what it was when the sweep was speci"),
    ],
)
@pytest.mark.parametrize("processes", [False, True])
def test_a_worker_without_the_file_gives_no_answer(folder: Path, content: str, said: str, processes: bool) -> None:
    specification, path = read(*BOTH), folder / "my_paper.py"
    whole = in_threads(specification, "whole").digest
    path.unlink()
    if content is not None:
        path.write_text(content, encoding="utf-8")
    claim_files._loaded.clear()  # as in a process of its own
    options: dict[str, Any] = {"workers": 1} if processes else {}
    swept = sweep if processes else in_threads
    done = swept(specification, "s", **options)
    assert done.outcomes == {"error": 8}
    assert all(str(result["detail"]).startswith(said) for _, result in results("s"))
    path.write_text(PAPER, encoding="utf-8")
    again = swept(specification, "s", retry=True, **options)
    assert (again.computed, again.digest) == (8, whole)


def test_a_store_is_not_gone_on_with_when_the_file_has_changed(folder: Path) -> None:
    assert call("sweep", "spec.toml", "--out", "s", "--workers", 1).exit_code == 1
    before, content = results("s"), Path("s").read_bytes()
    (folder / "my_paper.py").write_text(PAPER + "# a remark\n", encoding="utf-8")
    then, now = (sha256(t.encode()).hexdigest()[:12] for t in (PAPER, PAPER + "# a remark\n"))
    for option in ("--resume", "--retry"):
        said = complaint(call("sweep", "spec.toml", "--out", "s", option))
        assert f"my_paper.py has changed since s was begun: its SHA-256 was {then}... and is now {now}..." in said
        assert "Nothing is lost" in said
    (folder / "more.toml").write_text(text(*BOTH, rounds="[2, 6, 7]"), encoding="utf-8")
    assert "has changed since s was begun" in complaint(call("sweep", "more.toml", "--out", "s", "--resume"))
    assert results("s") == before
    with closing(sqlite3.connect("s")) as connection:
        assert connection.execute("SELECT count(*) FROM cells").fetchone() == (8,)
    assert len(Path("s").read_bytes()) == len(content)
    # the file as it was: everything is there, and a larger grid adds to it
    (folder / "my_paper.py").write_text(PAPER, encoding="utf-8")
    again = printed("sweep", "spec.toml", "--out", "s", "--resume", status=1)
    assert (again["computed"], again["cells"]) == (0, 8)
    more = printed("sweep", "more.toml", "--out", "s", "--resume", "--workers", 1, status=1)
    assert (more["computed"], more["cells"]) == (4, 12)


def test_a_claim_that_is_left_out_is_another_sweep(folder: Path) -> None:
    in_threads(read(*BOTH), "s")
    with pytest.raises(ValueError, match="4 of its 8 cells are not of this specification"):
        in_threads(read(BOTH[0]), "s", resume=True)


# --- what is refused before any work ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("my_papr.py:noise-ball", "claims[0]: 'my_papr.py' cannot be read: No such file or directory"),
        (
            "my_paper.py:noise-bal",
            "claims[0]: my_paper.py has no claim 'noise-bal'; it has noise-ball, lost-factor, from-below; "
            "did you mean 'noise-ball'?",
        ),
        (
            "my_paper.py",
            "'my_paper.py' lacks the label of a claim, as in my_paper.py:noise-ball; it has noise-ball, los",
        ),
        ("my_paper.py:", "'my_paper.py:' lacks the label of a claim, as in my_paper.py:noise-ball"),
        ("raises.py:a", "claims[0]: raises.py, line 3: ZeroDivisionError: division by zero"),
        ("ends.py:a", "claims[0]: ends.py, line 2: SystemExit: 3"),
        ("broken.py:a", "claims[0]: broken.py, line 1: '(' was never closed"),
        ("empty.py:a", "claims[0]: empty.py has no papers"),
        ("folder.py:a", "claims[0]: 'folder.py' cannot be read: Is a directory"),
        ("nul\\u0000.py:a", "claims[0]: embedded null byte"),
    ],
)
def test_slips_are_told_before_anything_is_computed(folder: Path, claim: str, said: str) -> None:
    others = {"raises.py": "\n\n1/0", "ends.py": "import sys\nsys.exit(3)", "broken.py": "x = (", "empty.py": "x = 1"}
    for name, content in others.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "folder.py").mkdir()
    (folder / "spec.toml").write_text(text(claim, BOTH[0]), encoding="utf-8")
    assert said in complaint(call("sweep", "spec.toml", "--out", "s", "--workers", 1))
    with pytest.raises(ValueError, match=r"claims\[0\]: "):
        read(claim)
    assert not (folder / "s").exists()


def test_two_files_of_one_name_are_refused(folder: Path) -> None:
    (folder / "b").mkdir()
    (folder / "b" / "my_paper.py").write_text(PAPER + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"claims\[1\]: 'b/my_paper.py:noise-ball' is in another file than an earlier"):
        read("my_paper.py:noise-ball", "b/my_paper.py:noise-ball")


def test_a_path_begins_where_the_specification_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = folder / "deep"
    deep.mkdir()
    for name in ("my_paper.py", "spec.toml"):
        (folder / name).rename(deep / name)
    assert printed("sweep", "deep/spec.toml", "--dry-run")["cells"] == 8
    with pytest.raises(ValueError, match=r"'my_paper.py' cannot be read"):
        read(*BOTH)
    monkeypatch.chdir(deep)
    assert read(*BOTH).paths == {"my_paper.py": str(deep / "my_paper.py")}


# --- what a reader sees ----------------------------------------------------------------------------------------------


def test_tables_pages_and_lists_have_names_that_a_reader_knows(folder: Path) -> None:
    claims = (*BOTH, "my_paper.py:from-below", EQ8)
    (folder / "spec.toml").write_text(text(*claims), encoding="utf-8")
    dry = printed("sweep", "spec.toml", "--dry-run")
    assert dry["axes"]["claim"] == list(claims)
    assert not {"file", "relation"} & set(dry["axes"])
    assert printed("sweep", "spec.toml", "--out", "s", "--workers", 1, status=1)["cells"] == 16
    assert printed("sweep", "--status", "s", "--export", "t.csv")["finished"] == 16
    with Path("t.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    digest = sha256(PAPER.encode()).hexdigest()
    assert {(row["claim"], row["file"], row["relation"]) for row in rows} == {
        (BOTH[0], digest, "<="), (BOTH[1], digest, "<="), (claims[2], digest, ">="), (EQ8, "", ""),
    }  # fmt: skip
    (folder / "my_paper.py").unlink()  # a page only reads the store
    found = experiment_of("s", folder / "figures")
    tables = {table.title: table for table in found.tables}
    assert [row[0] for row in tables["Outcomes by claim"].rows] == [*claims, "all"]
    assert {row[0] for row in tables["Tightness by claim"].rows} == {*BOTH, "my_paper.py:from-below [>=]"}
    assert {row[0] for row in tables["Cells that fail"].rows} == {BOTH[1]}
    assert f"my_paper.py (SHA-256 {digest})" in " ".join(found.settings)
    assert "file" not in {row[0] for row in tables["What varies"].rows}
    assert not any("against file" in figure.title or "against relation" in figure.title for figure in found.figures)
    assert "my_paper.py:lost-factor" in found.findings[0]


def test_reading_a_store_runs_nothing(folder: Path) -> None:
    """A store from elsewhere may name files that are there: only those of the specification at hand are run."""
    ways = {"method": '["exact", "sampled"]', "rounds": "2"}
    in_threads(read(*BOTH, **ways), "s")
    trace = folder / "was run"
    hostile = f"from pathlib import Path\nPath({str(trace)!r}).touch()\n" + PAPER
    (folder / "my_paper.py").write_text(hostile, encoding="utf-8")
    claim_files._loaded.clear()
    document = {**next(read_without_running().documents()), "file": sha256(hostile.encode()).hexdigest()}
    with Store.open("s") as store:
        store.extend(text(*BOTH, **ways), [*(row.document for row in store.rows()), document])
    assert printed("sweep", "--status", "s", "--export", "t.csv")["cells"] == 9
    found = experiment_of("s", folder / "figures")
    assert "9 cells" in found.settings[0]
    assert any("(stated: 1/1000)" in setting for setting in found.settings)
    with pytest.raises(ValueError, match=r"where my_paper.py lies is not known"):
        run_cell(document)
    # gone on with by a specification that names no file
    other = read(EQ8, rounds="2")
    Store.create("t", other.text, [*other.documents(), document]).close()
    assert in_threads(other, "t", resume=True).outcomes == {"inapplicable": 2, "error": 1}
    assert str(results("t")[-1][1]["detail"]).startswith("ValueError: where my_paper.py lies is not known")
    assert not trace.exists()


def read_without_running() -> Specification:
    """The specification of an unchanged paper elsewhere."""
    other = Path("unchanged")
    other.mkdir()
    (other / "my_paper.py").write_text(PAPER, encoding="utf-8")
    return read(*BOTH, folder=other)


def test_a_cell_runs_no_other_contents_than_its_own(folder: Path) -> None:
    specification = read(*BOTH)
    document = next(specification.documents())
    trace = folder / "was run"
    (folder / "my_paper.py").write_text(f"open({str(trace)!r}, 'w').close()\n" + PAPER, encoding="utf-8")
    claim_files._loaded.clear()
    with pytest.raises(ValueError, match="is not what it was"):
        run_cell(document, specification.paths)
    assert not trace.exists()
    (folder / "my_paper.py").write_text(PAPER, encoding="utf-8")
    with pytest.raises(ValueError, match="has no claim 'noise-ball' with relation >="):
        run_cell({**document, "relation": ">="}, specification.paths)
    with pytest.raises(ValueError, match="has no claim 'other' with relation <="):
        run_cell({**document, "claim": "my_paper.py:other"}, specification.paths)
