"""What the report says of a sweep: the store's numbers, what is missing, and nothing that is executed."""

import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.validate.command_line import EQ7, EQ8, call
from tests.validate.test_report import Page, dead_links, own_scripts
from validate.experiment import Experiment, Table
from validate.report import render
from validate.report.readable import number
from validate.sweep import read_specification, run_cell
from validate.sweep.axis_drawing import Bar, Panel, draw_axis
from validate.sweep.cell import key
from validate.sweep.records import Row, Work
from validate.sweep.store import Store
from validate.sweep.summary import experiment_of
from validate.sweep.summary_tables import tables_of
from validate.sweep.tally import groups, tally

HOSTILE = "<script>alert('x')</script> $\\frac{ {{ 7*7 }} \ud800\u202e\x00"
SPECIFICATION = f"""
name = "a few exact cells"
claims = ["{EQ7}", "{EQ8}"]
rounds = [1, 2]

[[problem]]
kind = "quadratic"
clients = 2
dim = 1
mu = "1/10"
L = [1, 2]

[[problem]]
kind = "scalar"
clients = [{{ h = 1, a = 0 }}, {{ h = 1, a = 1 }}]

[[algorithm]]
kind = "fedavg-svrg"
step = ["1/20", "1/3"]
S = 1
M = 1
"""


def work(versions: str = "fedproof 0") -> Work:
    return Work(0.5, 1, "host:1", versions, "2026-01-01T00:00:00+00:00")


def kept(
    path: Path,
    entries: Iterable[tuple[Mapping[str, Any], Mapping[str, Any] | None]],
    name: str = "kept",
    text: str = "x",
) -> Path:
    """A store of documents with their results, if they have one."""
    entries = list(entries)
    with Store.create(path, text, [document for document, _ in entries], name=name) as store:
        store.keep([(key(document), result, work()) for document, result in entries if result is not None])
    return path


def toy(at: int, claim: str = "toy/one", **entries: Any) -> dict[str, Any]:
    return {"claim": claim, "rounds": at, "method": "exact", **entries}


def answer(ratio: float, outcome: str = "holds", **entries: Any) -> dict[str, Any]:
    sides = {"left": ratio, "right": 1.0, "ratio": ratio, "guarantee": "exact", "index": {"k": 3}, "runs": None}
    return {"outcome": outcome, **sides, "detail": "compared", **entries}


def table(found: Experiment, title: str) -> Table:
    return next(t for t in found.tables if t.title == title)


def page(found: Experiment, out: Path) -> Page:
    return Page(render((), (), out, papers=(), sweeps=[found]).read_text(encoding="utf-8"))


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[dict[str, Any], dict[str, Any]]]]:
    """The store of SPECIFICATION, and its cells computed here."""
    specification = read_specification(SPECIFICATION)
    cells = [(document, run_cell(document)) for document in specification.documents()]
    path = tmp_path_factory.mktemp("store") / "exact.sqlite"
    return kept(path, cells, specification.name, SPECIFICATION), cells


@pytest.fixture(scope="module")
def told(exact: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Experiment]:
    """A folder, and what is told of that store, with its figures in the folder's subfolder ``sweep``."""
    out = tmp_path_factory.mktemp("told")
    return out, experiment_of(exact[0], out / "sweep")


def test_an_exact_sweep_is_told_in_its_own_numbers(exact: Any, told: tuple[Path, Experiment]) -> None:
    cells, found = exact[1], told[1]
    assert found.title == "a few exact cells"
    assert "24 cells, 24 finished" in found.settings[0]
    assert any("no probability is involved" in text for text in found.settings)
    assert not any("sampled cell" in text for text in found.settings)
    varies = {row[0]: row[1:] for row in table(found, "What varies").rows}
    assert varies["rounds"] == ("2", "1, 2")
    assert varies["algorithm.step"] == ("2", "1/20, 1/3")
    assert varies["problem.kind"] == ("2", "quadratic, scalar")
    assert set(varies) == {"claim", "rounds", "algorithm.step", "problem.kind", "problem.clients", "problem.L"}

    outcomes = table(found, "Outcomes by claim")
    for claim, row in zip((EQ7, EQ8), outcomes.rows, strict=False):
        said = Counter(result["outcome"] for document, result in cells if document["claim"] == claim)
        assert row[0] == claim
        assert {name: row[at] for at, name in enumerate(outcomes.header) if name in said} == {
            name: str(count) for name, count in said.items()
        }
        assert row[-1] == "12"

    tightness = table(found, "Tightness by claim")
    for claim, row in zip((EQ7, EQ8), tightness.rows, strict=True):
        own = sorted(r["ratio"] for d, r in cells if d["claim"] == claim and r["ratio"] is not None)
        assert len(own) > 3
        at = [math.ceil(share * len(own)) - 1 for share in (0.25, 0.5, 0.75)]
        expected = [own[0], *(own[i] for i in at), own[-1]]
        assert row[:-1] == (claim, str(len(own)), *map(number, expected))
        (top,) = [d for d, r in cells if d["claim"] == claim and r["ratio"] == own[-1]][:1]
        assert f"rounds = {top['rounds']}" in row[-1]
        assert f"algorithm.step = {top['algorithm']['step']}" in row[-1]


def test_the_same_results_give_the_same_page(exact: Any, told: tuple[Path, Experiment], tmp_path: Path) -> None:
    (path, cells), (one, experiment) = exact, told
    render((), (), one, papers=(), sweeps=[experiment])
    # the same cells, kept in another order
    (tmp_path / "other").mkdir()
    with Store.create(
        tmp_path / "other" / path.name, SPECIFICATION, [d for d, _ in cells], name="a few exact cells"
    ) as s:
        shuffled = random.Random(0).sample(cells, len(cells))
        for document, result in shuffled:
            s.keep([(key(document), result, work())])
    experiment = experiment_of(tmp_path / "other" / path.name, tmp_path / "two" / "sweep")
    render((), (), tmp_path / "two", papers=(), sweeps=[experiment])
    first = {p.relative_to(one): p.read_bytes() for p in one.rglob("*") if p.is_file()}
    assert len(first) == 13  # the page, report.json, report-files.json, five figures with their numbers
    for name, content in first.items():
        assert (tmp_path / "two" / name).read_bytes() == content, name


# --- what is missing, fails, and failed ------------------------------------------------------------------------------


def test_an_empty_store(tmp_path: Path) -> None:
    found = experiment_of(kept(tmp_path / "s", [], name=""), tmp_path / "out")
    assert (found.title, found.findings) == ("sweep s", ("The store has no cells.",))
    assert not found.tables
    assert not found.figures
    assert "The store has no cells." in page(found, tmp_path).text


def test_failures_are_listed_with_their_messages(tmp_path: Path) -> None:
    entries: list[Any] = [(toy(at), answer(0.5)) for at in range(2)]
    entries += [(toy(at), {"outcome": "error", "detail": "ValueError: one"}) for at in range(2, 5)]
    entries += [(toy(5, "toy/two"), {"outcome": "error", "detail": "ValueError: one"})]
    entries += [(toy(6), {"outcome": "timeout", "detail": "longer than 3 s"}), (toy(7), {"outcome": "crashed"})]
    entries += [(toy(8), {"outcome": "violated", "detail": "hypotheses that do not hold: step"})]
    found = experiment_of(kept(tmp_path / "s", entries), tmp_path / "out")
    assert found.findings[0].startswith("6 cells ended without an answer (4 error, 1 timeout, 1 crashed)")
    assert table(found, "Cells without an answer").rows == (
        ("error", "toy/one, toy/two", "ValueError: one", "4", "rounds = 2"),
        ("timeout", "toy/one", "longer than 3 s", "1", "rounds = 6"),
        ("crashed", "toy/one", "–", "1", "rounds = 7"),
    )
    assert table(found, "Why cells say nothing of their claim").rows == (
        ("violated", "toy/one", "hypotheses that do not hold: step", "1", "rounds = 8"),
    )
    assert table(found, "Tightness by claim").rows[0][1] == "2"


def test_the_most_frequent_messages_come_first(tmp_path: Path) -> None:
    entries = [(toy(at), {"outcome": "error", "detail": f"ValueError: {math.isqrt(at)}"}) for at in range(26**2)]
    found = experiment_of(kept(tmp_path / "s", entries), tmp_path / "out")
    failures = table(found, "Cells without an answer")
    assert [row[2:] for row in failures.rows] == [
        (f"ValueError: {root}", str(2 * root + 1), f"rounds = {root**2}") for root in range(25, 5, -1)
    ]
    assert failures.note.endswith("6 more messages of 36 cells are not shown.")


def test_what_the_error_probability_covers(tmp_path: Path) -> None:
    text = SPECIFICATION.replace("rounds", 'method = ["exact", "sampled"]\nerror_probability = "1/500"\nrounds', 1)
    assert read_specification(text).error_probability == Fraction(1, 500)
    said = [("holds", "anytime"), ("unbroken", "asymptotic"), ("fails", "anytime"), ("undecided", None)] * 6
    entries = [(toy(at), answer(0.5)) for at in range(24)]
    for at, (outcome, guarantee) in enumerate(said):
        document = toy(at, method="sampled", level="1/16384", seed=0)
        entries.append((document, answer(0.5, outcome, guarantee=guarantee, runs=64)))
    found = experiment_of(kept(tmp_path / "s", entries, text=text), tmp_path / "out")
    (promise,) = [sentence for sentence in found.settings if "sampled cells" in sentence]
    assert promise.startswith("24 sampled cells")
    assert f"at most {number(24 / 16384)} (stated: 1/500)" in promise
    assert "This does not cover 6 cells with guarantee asymptotic" in promise
    decided = table(found, "How outcomes were decided")
    assert decided.header == ("outcome", "exact", "anytime", "asymptotic")
    assert decided.rows == (("holds", "24", "6", "–"), ("unbroken", "–", "–", "6"), ("fails", "–", "6", "–"))


def test_versions_that_differ_are_named(tmp_path: Path) -> None:
    path = kept(tmp_path / "s", [(toy(0), answer(0.5)), (toy(1), None)])
    with Store.open(path) as store:
        store.keep([(key(toy(1)), answer(0.5), work("fedproof 1"))])
    found = experiment_of(path, tmp_path / "out")
    assert any("fedproof 0 (1 cell); fedproof 1 (1 cell)" in text for text in found.findings)


# --- anything may be in a store --------------------------------------------------------------------------------------


def test_hostile_text_is_escaped(tmp_path: Path) -> None:
    entries: list[Any] = []
    for at, outcome in enumerate(("holds", "fails", "error", "violated")):
        document = {
            "claim": HOSTILE + str(at % 2),
            "method": HOSTILE,
            HOSTILE: [HOSTILE, at],
            "table": {HOSTILE: HOSTILE + str(at)},
        }
        hostile = {"detail": HOSTILE + outcome, "index": {HOSTILE: HOSTILE}, "guarantee": HOSTILE}
        entries.append((document, answer(0.5 * at - 0.5, outcome) | hostile))
    path = kept(tmp_path / "s", entries, name=HOSTILE.replace("\ud800", "").replace("\x00", ""))
    with Store.open(path) as store:
        entries[0][0]["claim"] = "more"
        store.extend("", [d for d, _ in entries] + [row.document for row in store.rows()])
        store.keep([(key(entries[0][0]), answer(0.25), work("</style><script>"))])
    found = experiment_of(path, tmp_path / "out" / "sweep-1")
    assert len(found.figures) == 2
    html = page(found, tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert not html.open
    assert not any("alert(" in script for script in own_scripts(text))
    assert text.count("</style>") == text.count("<style")  # of the page and of its formulas, none of them from a value
    assert html.text.count("<script>alert('x')</script>") >= 10
    assert "{{ 7*7 }}" in html.text
    assert not {"\u202e", "\x00"} & set(text)
    for _, link in html.links:
        assert link[1:] in html.ids if link.startswith("#") else (tmp_path / "out" / link).is_file(), link
    assert len(html.ids) == len(set(html.ids))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12) | st.sampled_from(["exact", "sampled", "1/1024", "1/0", "1e999999999", "toy/one"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=6,
)  # fmt: skip
DOCUMENTS = st.dictionaries(
    st.sampled_from(["claim", "method", "level", "problem", "rounds"]) | st.text(), JSON, max_size=5
)
RESULTS = st.none() | st.fixed_dictionaries(
    {"outcome": st.sampled_from(["holds", "unbroken", "fails", "undecided", "violated", "error"]) | JSON},
    optional=dict.fromkeys(("left", "ratio", "guarantee", "index", "detail", "runs"), JSON),
)


@given(st.lists(st.tuples(DOCUMENTS, RESULTS), max_size=8))
@settings(max_examples=80, deadline=None)
def test_any_plain_data_is_counted(cells: list[tuple[dict[str, Any], dict[str, Any] | None]]) -> None:
    found = tally(Row(str(at), at, document, result, work()) for at, (document, result) in enumerate(cells))
    assert (found.cells, found.finished) == (len(cells), sum(result is not None for _, result in cells))
    assert found.totals.total() == len(cells)
    tables = list(tables_of(found))
    assert all(len(row) == len(t.header) for t in tables for row in t.rows)
    for text in (text for t in tables for row in (t.header, *t.rows) for text in row):
        text.encode("utf-8")
        assert text == "" or text.isprintable()
    for name in ("claim", "rounds"):
        members = [cell for _, group in groups(found, "claim", name) for cell in group.tolist()]
        assert sorted(members) == list(range(len(found.ratios)))


def test_what_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    document: Any = {}
    for _ in range(600):
        document = {"a": document}
    rows = [Row("k", 0, {"a": document}, None, None)]
    assert tally(rows).cells == 1
    for _ in range(600):
        document = {"a": document}
    with pytest.raises(ValueError, match="nested too deeply"):
        tally([Row("k", 0, document, None, None)])


# --- the parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values", [["a", "$\\frac{", "c"], [str(n) for n in range(1, 30)], ["-1", *map(str, range(9))]]
)
@pytest.mark.parametrize(
    "panels",
    [
        [(0.5, 0.5, 0.5), (5e-324, 1.0, 1.7e308), (-1e308, 0.0, 1e-300), (-3.0, -2.0, -1.0)],
        [(-3.0, -2.0, 0.0), (-1.7e308, -1.7e308, -1.7e308)],
    ],
)
def test_every_ratio_can_be_drawn(tmp_path: Path, panels: list[tuple[float, ...]], values: list[str]) -> None:
    drawn = []
    for at, ratios in enumerate(panels):
        series = {"exact": [Bar(value, *ratios) for value in values], "sampled": [Bar(values[0], *ratios)]}
        drawn.append(Panel(f"claim {at} $x_", series))
    text = draw_axis(tmp_path / "f.svg", drawn, "a_b $").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "inf" not in text


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_reports_stores_without_checking_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import validate.checking

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a paper is checked")

    monkeypatch.setattr(validate.checking, "check_by_id", refuse)
    one = kept(tmp_path / "one", [(toy(at), answer(at / 8)) for at in range(4)], name="first sweep")
    two = kept(tmp_path / "two", [(toy(at), answer(at / 4)) for at in range(3)], name="second sweep")
    result = call("report", "--store", one, "--store", two, "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout.strip()) == (0, str(tmp_path / "out" / "index.html")), result.stderr
    pages = {path.name: Page(path.read_text(encoding="utf-8")) for path in (tmp_path / "out").glob("*.html")}
    assert set(pages) == {"index.html", "sweep-1.html", "sweep-2.html"}
    for html in pages.values():
        assert not html.open
        assert len(html.ids) == len(set(html.ids))
        assert "All verdicts" not in html.text
    assert {"first sweep", "second sweep"} <= set(pages["index.html"].text.splitlines())
    assert ("href", "sweep-2.html") in pages["index.html"].links
    assert ("href", "sweep-2/axis-1-rounds.csv") in pages["sweep-2.html"].links
    assert dead_links(tmp_path / "out", pages) == []
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == []
    assert "missing does not exist" in complaint_of("--store", tmp_path / "missing")
    (tmp_path / "text").write_text("not a store")
    assert "not the store of a sweep" in complaint_of("--store", tmp_path / "text")


def complaint_of(*arguments: object) -> str:
    """The error line of a report that cannot be made; what is read is told before it."""
    result = call("report", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr.splitlines()[-1]


def test_a_sweep_stands_beside_papers(exact: Any, tmp_path: Path) -> None:
    from theory import catalog

    found = experiment_of(exact[0], tmp_path / "sweep-1", "sweep-1")
    path = render((), (), tmp_path, papers=[catalog.paper("textbook")], sweeps=[found])
    html = Page(path.read_text(encoding="utf-8"))
    assert not html.open
    assert "All verdicts" in html.text
    assert {"sweeps", "sweep-1", "findings"} <= set(html.ids)
    assert len(html.ids) == len(set(html.ids))
    assert ("href", "sweep-1.html") in html.links
    assert found.findings[0] in html.text
    alone = Page((tmp_path / "sweep-1.html").read_text(encoding="utf-8"))
    assert ("href", "index.html") in alone.links
    assert found.findings[0] in alone.text
