"""The report: every claim on its page, nothing from the network, hostile text escaped, links that lead somewhere."""

import base64
import io
import json
import math
import pickle
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties

from tests.validate import known_plays
from theory.catalog import claims
from theory.claim import Claim, Paper
from theory.claim import claim as written
from theory.typeset import latex_of_claim, latex_of_definitions
from validate.drawing import SERIES, Curve, Panel, draw_curves
from validate.experiment import Drawing, Experiment, Table, write_csv
from validate.experiments import reproduction
from validate.parallel import over_processes, tell
from validate.report import render, writing
from validate.report.formula import Typesetter, pieces
from validate.report.mathtext import Quick
from validate.report.page import TEMPLATES, file_names, typeset
from validate.report.readable import fraction, number
from validate.report.summary import in_words
from validate.report.views import paper_view
from validate.verdict import Evidence, Result

HOSTILE = "<script>alert('x')</script> & \"quoted\" {{ 7*7 }}"


def claim(label: str, **changes) -> Claim:
    made = {
        "of": known_plays.parallel_sgd,
        "title": f"title of {label}",
        "equation": f"({label})",
        "source": "Theorem 1",
        "assuming": ("smooth(f_ni, L)", "convex(f_ni)", "eta <= 1/(2*L)"),
        "where": {"term": "2*L"},
        "remarks": ("a remark",),
        "paper": "toy",
    }
    return written(label, changes.pop("statement", "E(f(x[k]) - fstar) <= term/K"), **(made | changes))


PAPER = Paper(
    "toy",
    "A toy paper",
    "Nobody",
    (
        claim("one"),
        claim("one/corrected", amends="one"),
        claim("two", title=HOSTILE, source=HOSTILE, remarks=(HOSTILE,)),
        claim("three"),
        claim("four"),
        claim("five"),
    ),
)


def results(out: Path) -> list[Result]:
    folder = out / "certificates"
    folder.mkdir(parents=True)
    (folder / "verify.py").write_text("")
    certificate = folder / "toy-one.json"
    content = known_plays.certificate("lost-factor")
    certificate.write_text(json.dumps(content))
    return [
        Result("toy/one", "refuted", 1.0909, (Evidence("certificate", "refuted", "It breaks."),), str(certificate)),
        Result("toy/one/corrected", "supported", 0.25, (Evidence("exact", "holds", "It holds.", 0.25),)),
        Result(
            "toy/two", "undecided", math.inf, (Evidence("search", "fails", HOSTILE, math.inf, 1e-6, {"x": math.nan}),)
        ),
        Result("toy/three", "proved", None, (Evidence("algebra", "proved", "All steps."),)),
        Result("toy/four", "vacuous", None, (Evidence("hypotheses", "vacuous", "They cannot hold."),)),
    ]


def experiment(folder: Path) -> Experiment:
    curve = Curve("a", 1.0 / (1 + np.arange(5.0)), 0)
    path = draw_curves(folder / "figure-1.svg", [Panel("left", (curve,))], "error")
    data = write_csv(folder / "figure-1.csv", {"round": [0, 1], "value": [1.0, 0.5]})
    table = Table(f"table {HOSTILE}", ("a", "b"), ((HOSTILE, "1"),), "a note")
    return Experiment(
        "toy", "the runs", ("a setting",), (Drawing(path, HOSTILE, HOSTILE),), (table,), (data,), ("a finding",)
    )


class Page(HTMLParser):
    """Collects what the tests ask of a page."""

    VOID = {"meta", "link", "img", "br", "input", "hr"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.spoken: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("href", "src", "xlink:href", "srcset", "action", "data"):
                self.links.append((name, value))
            if name == "id":
                self.ids.append(value)

    def handle_startendtag(self, tag, attrs) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data
        if not {"style", "script"} & set(self.open):
            self.spoken.append(data)


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    made = [experiment(folder / "figures"), experiment(tmp_path_factory.mktemp("elsewhere"))]
    render(results(folder), made[:1], folder, papers=[PAPER])
    return folder


@pytest.fixture(scope="module")
def pages(out) -> dict[str, Page]:
    return {path.name: Page(path.read_text(encoding="utf-8")) for path in out.glob("*.html")}


@pytest.fixture(scope="module")
def html(pages) -> Page:
    return pages["toy.html"]


def own_scripts(text: str) -> list[str]:
    """The scripts of a page, which are the templates' and data for them; anything else is a failure."""
    found = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    assert text.lower().count("<script") == len(found)
    known = [path.read_text(encoding="utf-8").strip() for path in TEMPLATES.glob("*.js")]
    for script in found:
        if script.startswith("{"):
            json.loads(script)
        else:
            for own in known:
                script = script.replace(own, "")
            assert script.strip() in ("", '"use strict";')
    return found


def dead_links(out: Path, pages: dict[str, Page]) -> list[str]:
    """Links of pages that lead nowhere."""
    found = []
    for name, page in pages.items():
        for _, link in page.links:
            file, _, anchor = link.partition("#")
            if link.startswith("data:"):
                continue
            known = pages[file or name].ids if (file or name) in pages else None
            alive = (out / file).is_file() if not anchor else known is not None and anchor in known
            if not alive:
                found.append(f"{name}: {link}")
    return found


def test_every_claim_and_verdict_appears(pages) -> None:
    assert set(pages) == {"index.html", "toy.html", "sheet-toy-one.html", "experiments-toy.html"}
    for file in ("index.html", "toy.html"):
        html = pages[file]
        assert not html.open
        assert html.tags.count("h1") == 1
        for c in PAPER:
            assert c.title in html.text
            anchor = f"#toy-{c.label.replace('/', '-')}"
            assert ("href", anchor if file == "toy.html" else f"toy.html{anchor}") in html.links
        for verdict in ("refuted", "supported", "proved", "vacuous", "undecided"):
            assert verdict in html.text
        assert "Not checked." in html.text  # toy/five has no result
    html = pages["toy.html"]
    for c in PAPER:
        assert f"toy-{c.label.replace('/', '-')}" in html.ids
        assert c.id in html.text
    assert "f_ni has an L-Lipschitz gradient" in html.text or "Lipschitz" in html.text


def spoken(page: Page) -> str:
    """The text of a page, in one line."""
    return " ".join(" ".join(page.spoken).split())


def test_the_first_page_counts_by_verdict_and_by_origin(tmp_path) -> None:
    origins = ("given", "pool", "given", "search")
    paper = Paper("toy", "A toy paper", "Nobody", tuple(claim(f"c{i}") for i in range(7)))
    found = [
        Result(f"toy/c{i}", "refuted", 2.0, (Evidence("certificate", "refuted", "It breaks.", origin=origin),))
        for i, origin in enumerate(origins)
    ]
    held = (Evidence("exact", "holds", "It holds."), Evidence("search", "holds", "It holds.", origin="search"))
    found.append(Result("toy/c4", "supported", 0.5, held, covered="2 scenarios, N to 3", quick=True))
    found.append(Result("toy/c5", "undecided", 2.0, (Evidence("exact", "fails", "It seems to break.", 2.0),)))
    lone = (Evidence("exact", "holds", "It holds."),)
    found.append(Result("toy/c6", "undecided", 0.5, lone, covered="a lone scenario"))
    index = spoken(Page(render(found, [], tmp_path, papers=[paper], quick=True).read_text(encoding="utf-8")))
    top = index[: index.index("All verdicts in a table Verdict")]
    assert "4 ✗ refuted 2 ? undecided 1 ✓ supported of 7 claims as printed" in top
    assert "1 of the undecided is broken, without a certificate." in top
    assert "1 search found by an unguided search" in top
    assert "1 pool made from the claim's own sentence" in top
    assert "0 worst case the worst of its class" in top
    assert "2 given written by hand for this claim" in top
    assert "Supported: 1 after a quick search" in top
    rows = index[index.index("All verdicts in a table Verdict") :]
    assert "refuted found by search" in rows
    assert rows.count("refuted written by hand for this claim") == 2
    assert "supported quick search" in rows
    assert "Covered: 2 scenarios, N to 3." in rows
    assert "undecided broken, no certificate" in rows
    assert "broken, no certificate: It seems to break." in rows
    own = spoken(Page((tmp_path / "toy.html").read_text(encoding="utf-8")))
    assert "The instance that breaks it: written by hand for this claim" not in own  # there is no certificate to show
    assert own.index("(c5)") < own.index("(c6)")  # of the undecided, what is broken comes first
    assert "Not called supported: a lone scenario." in own
    assert "certificate written by hand for this claim It breaks." in own


def test_a_claim_s_page_says_where_the_instance_comes_from(pages) -> None:
    assert "The instance that breaks it: written by hand for this claim" in spoken(pages["toy.html"])


@pytest.mark.parametrize("absent", [False, True])
def test_the_first_page_says_what_the_absence_of_z3_costs(tmp_path, monkeypatch, absent) -> None:
    if absent:
        monkeypatch.setitem(sys.modules, "z3", None)
    elif find_spec("z3") is None:
        pytest.skip("z3 is not installed")
    render(results(tmp_path), [], tmp_path, papers=[PAPER])
    for name in ("index.html", "toy.html"):
        said = "claims that are vacuous may be called undecided" in spoken(Page((tmp_path / name).read_text("utf-8")))
        assert said == absent


def test_certificates_are_offered_as_downloads(out) -> None:
    for path in out.glob("*.html"):
        links = re.findall(r'<a href="certificates/toy-one.json"([^>]*)>', path.read_text(encoding="utf-8"))
        assert set(links) == ({" download"} if path.name != "index.html" and "experiments" not in path.name else set())


def test_the_summary_counts_the_verdicts(tmp_path) -> None:
    found = {r.id: r for r in results(tmp_path)}
    view = paper_view(PAPER, "toy.html", found, (), Typesetter(), tmp_path)
    assert in_words([view]) == (
        "Of 5 results that the paper prints, 1 is false as printed, 1 can never be applied, 2 could not be decided "
        "(1 of them broken, without a certificate), 1 is proved. 1 repair: 1 was never broken where it could have been."
    )
    assert in_words([view, view]).startswith("Of 10 results that 2 papers print, 2 are false as printed, ")
    assert in_words([]) == "No results."


def test_every_page_has_a_file_of_its_own() -> None:
    assert file_names(["open-fl", "index", "Open FL"], ["sweep-1"]) == [
        "open-fl.html",
        "index-2.html",
        "open-fl-2.html",
        "sweep-1.html",
    ]


def test_hostile_text_is_escaped(out, pages) -> None:
    assert pages["toy.html"].text.count("<script>alert('x')</script>") >= 6
    assert pages["index.html"].text.count("<script>alert('x')</script>") >= 2
    for path in out.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        for script in own_scripts(text):
            assert "alert(" not in script
    assert all("{{ 7*7 }}" in pages[name].text for name in ("index.html", "toy.html"))


def test_links_lead_somewhere(out, pages) -> None:
    assert all(len(page.links) > 4 for page in pages.values())
    assert dead_links(out, pages) == []


def test_nothing_comes_from_the_network(out, pages) -> None:
    for name, page in pages.items():
        assert not [link for _, link in page.links if re.match(r"(https?:)?//", link)]
        text = (out / name).read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", text)
        assert "default-src 'none'" in text
        assert not {"link", "iframe", "object", "embed", "base"} & set(page.tags)


def test_ids_are_unique(pages) -> None:
    for page in pages.values():
        assert len(page.ids) == len(set(page.ids))


def test_json_contract(out) -> None:
    content = json.loads((out / "report.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert [c["id"] for c in content] == ["toy/one", "toy/one/corrected", "toy/two", "toy/three", "toy/four"]
    for c in content:
        keys = (
            "id",
            "verdict",
            "covered",
            "tightness",
            "severity",
            "evidence",
            "certificate",
            "proof",
            "quick",
            "sure",
        )
        assert tuple(c) == keys
        assert all({"kind", "outcome", "detail", "origin"} <= set(e) for e in c["evidence"])
    assert content[2]["tightness"] is None  # infinite: not a number of JSON
    assert content[2]["evidence"][0]["detail"] == HOSTILE


def test_figures_follow_the_page_s_colours(out) -> None:
    text = (out / "experiments-toy.html").read_text(encoding="utf-8")
    assert f"var(--series-0, {SERIES[0]})" in text
    assert 'id="toy-figure-1-' in text
    for at, colour in enumerate(SERIES):
        assert f"--series-{at}: light-dark({colour}, #" in text


def test_files_from_elsewhere_are_copied(tmp_path) -> None:
    made = experiment(tmp_path / "elsewhere")
    out = tmp_path / "report"
    render([], [made], out, papers=[PAPER])
    assert (out / "figures" / "figure-1.svg").is_file()
    assert (out / "figures" / "figure-1.csv").is_file()
    assert json.loads((out / "report.json").read_text()) == []


@pytest.mark.parametrize("content", [None, "not json", "[]"])
def test_a_certificate_that_cannot_be_read_is_left_out(tmp_path, content) -> None:
    path = tmp_path / "certificates" / "x.json"
    if content is not None:
        path.parent.mkdir()
        path.write_text(content)
    broken = Result("toy/one", "refuted", None, (Evidence("certificate", "refuted", "It breaks."),), str(path))
    render([broken], [], tmp_path, papers=[PAPER])
    for path in tmp_path.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "It breaks." in text
        assert "certificates/x.json" not in text


def test_write_joins_checks_and_experiments(tmp_path, monkeypatch) -> None:
    import validate.checking
    from theory import catalog

    asked, made = [], {}

    def check_by_id(id, quick, out, seed):
        asked.append((id, quick, out))
        tell(f"{id}: at work")
        if id == "textbook/x":
            return Result(id, "proved", None, ())
        if out not in made:
            made[out] = {result.id: result for result in results(out)}
        return made[out].get(id) or Result(id, "undecided", None, ())

    known = Paper("textbook", "Known results", "Nobody", (claim("x", paper="textbook"),))
    monkeypatch.setattr(validate.checking, "check_by_id", check_by_id)
    monkeypatch.setattr(catalog, "papers", lambda: (PAPER,))
    monkeypatch.setattr(catalog, "paper", lambda name: PAPER if name == "toy" else known)

    def reproduce(*, out, quick, progress):
        progress("drawing")
        return experiment(out / "figures")

    monkeypatch.setattr(writing, "reproduction", lambda name: reproduce)
    said: list[str] = []
    path = writing.write(quick=True, out=tmp_path, progress=said.append)
    assert path == tmp_path / "index.html"
    text = path.read_text(encoding="utf-8")
    assert (
        "1 result of the textbooks that is known to be true: 1 proved; 0 false alarms (refuted, vacuous or broken)."
        in text
    )
    of_the_paper = [(c.id, True, tmp_path) for c in PAPER]
    assert sorted(asked) == sorted([("textbook/x", True, tmp_path / "textbook"), *of_the_paper])
    assert "quick report" in text
    assert "fewer runs" in text
    own = (tmp_path / "toy.html").read_text(encoding="utf-8")
    assert "quick report" in own
    assert "the runs" in (tmp_path / "experiments-toy.html").read_text(encoding="utf-8")
    assert {"toy/one: at work", "toy: drawing"} <= set(said)
    parts = len(asked) + 2  # the formulas, the experiments
    assert sum(line.endswith(f"of {parts} parts of the report") for line in said) == parts
    again = writing.write(["toy"], out=tmp_path / "again").read_text(encoding="utf-8")
    assert "A toy paper" in again
    assert "full report" in again
    assert "quick report" not in again


def test_papers_whose_figures_have_one_name_keep_their_own(tmp_path) -> None:
    other = Paper("other", "Another paper", "Nobody", (claim("one", paper="other"),))
    found = [experiment(tmp_path / "toy" / "figures")]
    found.append(replace(experiment(tmp_path / "other" / "figures"), paper="other"))
    render([], found, tmp_path, papers=[PAPER, other])
    pages = {path.name: Page(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.html")}
    assert set(pages) == {"index.html", *(f"{x}{p}.html" for x in ("", "experiments-") for p in ("toy", "other"))}
    for name in ("toy", "other"):
        parsed = pages[f"experiments-{name}.html"]
        assert len(parsed.ids) == len(set(parsed.ids))
        assert f"{name}/figures/figure-1.svg" in {link for _, link in parsed.links}
    assert dead_links(tmp_path, pages) == []


def test_a_reading_is_not_counted_as_printed(tmp_path) -> None:
    paper = Paper("toy", "A toy paper", "Nobody", (claim("one"), claim("one/later")))
    said = (Evidence("certificate", "refuted", "It breaks."),)
    found = [Result("toy/one", "proved", None, ()), Result("toy/one/later", "refuted", 2.0, said)]
    index = Page(render(found, [], tmp_path, papers=[paper]).read_text(encoding="utf-8")).text
    own = Page((tmp_path / "toy.html").read_text(encoding="utf-8")).text
    for text in (index, own):
        assert "of 1 claim as printed" in text
        assert "1 reading of printed claims" in text
        assert "false as printed" not in text


def test_the_work_on_a_report_is_in_parts(tmp_path) -> None:
    full = writing._parts(["fedavg-svrg", "perm"], False, tmp_path)
    assert sorted((part.kind, part.paper) for part in full if part.kind != "claims") == [
        ("experiments", "fedavg-svrg"),
        ("experiments", "perm"),
        ("formulas", writing.ALL),
    ]
    checked = {}
    for part in full:
        if part.kind == "claims":
            checked.setdefault(part.paper, []).append(part.arguments[0])
    for name in ("fedavg-svrg", "textbook", "perm"):  # one by one
        assert sorted(checked[name]) == sorted(c.id for c in claims(name))
    efforts = [part.effort for part in full]
    assert efforts == sorted(efforts, reverse=True)  # what takes little is begun last, and nobody waits for it alone
    assert {part.effort for part in full if part.kind != "claims"} == {max(efforts)}
    assert "textbook: young" in {part.label for part in full}
    alone = writing._parts(["textbook"], False, tmp_path)
    assert {part.arguments[1] for part in alone if part.kind == "claims"} == {False}


@pytest.mark.slow
def test_experiments_run_in_another_process(tmp_path) -> None:
    tasks = [("fedavg-svrg", True, tmp_path / "one"), ("fedavg-svrg", True, tmp_path / "two")]
    said: list[str] = []
    found = over_processes(writing._experiment, tasks, processes=2, heard=said.append)
    assert [e.paper for e in found] == ["fedavg-svrg"] * 2
    assert all(figure.path.is_relative_to(tmp_path / "one" / "fedavg-svrg") for figure in found[0].figures)
    assert found[0].tables == found[1].tables
    assert said
    assert all(line.startswith("fedavg-svrg: ") for line in said)


def test_the_paper_s_experiments_are_found() -> None:
    from examples.fedavg_svrg import reproduce

    assert reproduction("fedavg-svrg") == reproduce
    assert reproduction("textbook") is None
    with pytest.raises(ValueError, match="unknown paper 'no-such-paper'"):
        reproduction("no-such-paper")


# --- formulas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.slow)])
def test_every_formula_of_the_catalogue_is_typeset(every: int) -> None:
    """Of one claim in sixteen; of all in slow tests. The site, which has every formula, is not built otherwise."""
    setter = Typesetter()
    for c in claims()[::every]:
        assert "ascii" not in setter.display(latex_of_claim(c), c.statement), c.id
        for _, latex in latex_of_definitions(c).items():
            assert "ascii" not in setter.display(latex, "x"), (c.id, latex)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"a\leq b+c", ["a", r"\leq b", "+c"]),
        (r"-a+b", ["-a", "+b"]),
        (r"a(b+c)-\left[d-e\right]", ["a(b+c)", r"-\left[d-e\right]"]),
        (r"\Vert a-b\Vert^2-c", [r"\| a-b\|^2", "-c"]),
        (r"E[a+b|c-d]+e", ["E[a+b|c-d]", "+e"]),
        (r"x^-+y_{a+b}", ["x^-", "+y_{a+b}"]),
        (r"\frac{a+b}{c}=\sqrt{\frac{1}{2}}", [r"\dfrac{a+b}{c}", r"=\sqrt{\frac{1}{2}}"]),
        (r"a\langle b-c\rangle-d", [r"a\langle b-c\rangle", "-d"]),
        (r"a)-b", ["a)-b"]),
        (r"(a-b", ["(a-b"]),
    ],
)
def test_formulas_are_cut_only_between_terms(latex, expected) -> None:
    assert pieces(latex) == expected


def test_a_formula_that_cannot_be_set_is_shown_in_ascii() -> None:
    shown = Typesetter().display(r"\notacommand{x}", "x <= <b>")
    assert "x &lt;= &lt;b&gt;" in shown
    assert "ascii" in shown


def characters(given: str) -> set[str]:
    """Those that stand for glyphs in a page's pieces."""
    return set("".join(re.findall(r"<text[^>]*>([^<]*)</text>", given)))


def glyphs_of(given: str) -> set[str]:
    """The characters of a page's font."""
    from fontTools.ttLib import TTFont

    (data,) = re.findall(r"url\(data:font/woff;base64,([^)]*)\)", given)
    return {chr(code) for code in TTFont(io.BytesIO(base64.b64decode(data))).getBestCmap()}


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_what_is_read_in_one_pass_is_laid_out_as_by_mathtext(every: int) -> None:
    """Of one formula of the catalogue in six; of all in slow tests."""
    from matplotlib.mathtext import MathTextParser

    both = MathTextParser("path"), MathTextParser("path")
    both[1]._parser = Quick()
    properties = FontProperties(size=100, math_fontfamily="stix")
    read = {latex for c in claims() for latex in (latex_of_claim(c), *latex_of_definitions(c).values())}
    cut = sorted({piece for latex in read for piece in pieces(latex)})[::every]
    for latex in (*cut, r"\tilde{x}'_n\text{ is }\left|\frac{1}{2}\right|", r"\binom{n}{2}\quad \mathcal{O}(1)"):
        one, two = (parser.parse(f"${latex}$", 72, properties) for parser in both)
        assert str(one[:3] + tuple(g[2:] for g in one[3])) == str(two[:3] + tuple(g[2:] for g in two[3])), latex


def test_a_formula_is_read_out_in_words() -> None:
    setter = Typesetter()
    shown = setter.display(r"a\leq b", 'a "at most" b')
    assert 'aria-label="a &#34;at most&#34; b"' in shown
    used = set(re.findall(r'href="#(p\d+)"', shown))
    assert used
    given = setter.definitions(shown)
    assert used == set(re.findall(r'id="(p\d+)"', given))
    assert characters(given) == glyphs_of(given) != set()


def test_a_page_holds_only_its_own_pieces_and_each_once() -> None:
    setter = Typesetter()
    one, two = setter.display(r"a\leq b_2", "one"), setter.display(r"c\leq b_2", "two")
    pieces_of = {text: re.findall(r'href="#(p\d+)"', text) for text in (one, two)}
    assert pieces_of[one][1] == pieces_of[two][1]
    for text in (one, two):
        assert re.findall(r'id="(p\d+)"', setter.definitions(text)) == pieces_of[text]
    assert setter.definitions(one + two).count('<symbol id="') == 3
    assert characters(setter.definitions(one)) == glyphs_of(setter.definitions(one))
    assert len(characters(setter.definitions(one + two))) == 5  # a, c, b, its index, and the relation
    assert "@font-face" not in setter.definitions("no formula")


def test_what_is_set_passes_between_processes() -> None:
    here = typeset([PAPER])
    again = pickle.loads(pickle.dumps(here))
    for c in PAPER:
        assert again.display(latex_of_claim(c), c.statement) == here.display(latex_of_claim(c), c.statement)
    shown = here.display(latex_of_claim(PAPER.claims[0]), "")
    assert again.definitions(shown) == here.definitions(shown) != ""
    assert again.display("Q", "Q") == here.display("Q", "Q")


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (1, "1.00"),
        (0.41249, "0.412"),
        (-2.5, "−2.50"),
        (12345.6, "12300"),
        (123456, "1.23×10⁵"),
        (0.00012345, "1.23×10⁻⁴"),
        (1e-6, "10⁻⁶"),
        (0.9999, "1.00"),
        (99999.9, "1.00×10⁵"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_number(value, text) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1", "1"),
        ("-3", "−3"),
        ("30037/32768", "30037/32768 ≈ 0.9167"),
        ("1234567890123456789/2345678901234567890", "≈ 0.5263"),
        ("not a fraction", "not a fraction"),
        ("1/0", "1/0"),
        ("-0.25", "−0.25"),
        ("-0.2196075782", "≈ −0.2196"),
        (f"{10**400}/3", "beyond 10³⁰⁸"),
        (None, "–"),
    ],
)
def test_fraction(text, shown) -> None:
    assert fraction(text) == shown
