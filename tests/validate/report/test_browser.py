"""The report's pages in Chromium: no complaint, nothing from the network, controls that do what they say, both themes
and a phone legible, print complete.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pages import THEMES, WIDTHS, looked_at
from tests.validate.test_report import PAPER, claim, experiment, results
from theory.claim import Paper
from validate.report import render
from validate.report.figures import shorter
from validate.report.formula import Typesetter, pieces
from validate.verdict import Evidence, Result

LONG = "(" + " + ".join(f"a{i}" for i in range(60)) + ")/b <= c"  # wider than any page, and in one piece
OTHER = Paper(
    "other",
    "Another paper, with a title that is longer than a line of a telephone",
    "Somebody, Somebody Else",
    (
        claim("one", paper="other", title="with a title"),
        claim("one/later", paper="other", title="a reading", equation="(one)"),
        claim("two", paper="other", statement=LONG, of=None, assuming=(), where={}, equation="Lemma 10", kind="lemma"),
        claim("three", paper="other", title="a_very_long_name_without_any_space_" * 3, equation="Lemma 9"),
    ),
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two papers and a sweep."""
    folder = tmp_path_factory.mktemp("report")
    said = (Evidence("exact", "holds", "It holds " + "on_a_very_long_name" * 8 + ".", 0.5),)
    found = results(folder)
    found += [Result("other/one", "supported", 0.5, said), Result("other/one/later", "supported", 0.75, said)]
    found += [Result("other/two", "supported", 12.5, said)]
    render(
        found,
        [experiment(folder / "figures")],
        folder,
        papers=[PAPER, OTHER],
        sweeps=[replace(experiment(folder / "sweep-1"), paper="sweep-1", title="a sweep")],
        trust=["46 results that are known to be true."],
        quick=True,
    )
    return folder


PAGES = [
    "experiments-toy.html", "index.html", "other.html", "sheet-toy-one.html", "sweep-1.html", "toy.html",
]  # fmt: skip


@dataclass
class Seen:
    """What a page complains of and asks for."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Any, seen: Seen | None = None, **context: Any) -> Iterator[Any]:
    """A page in a context of its own."""
    with browser.new_context(**context) as own:
        page = own.new_page()
        if seen is not None:
            page.on("console", lambda message: seen.complaints.append(message.text))
            page.on("pageerror", lambda error: seen.complaints.append(str(error)))
            page.on("requestfailed", lambda request: seen.complaints.append(f"failed: {request.url}"))
            page.on("request", lambda request: seen.requests.append(request.url))
        yield page


@pytest.fixture(scope="module")
def index(browser: Any, out: Path) -> Iterator[Any]:
    """index.html on a desk."""
    with opened(browser, viewport={"width": 1280, "height": 900}) as page:
        page.goto(f"{(out / 'index.html').as_uri()}#verdicts")
        yield page


def files(out: Path) -> list[Path]:
    found = sorted(out.glob("*.html"))
    assert [path.name for path in found] == PAGES
    return found


def open_all(page: Any) -> None:
    page.eval_on_selector_all("details", "all => all.forEach((details) => { details.open = true; })")
    page.wait_for_timeout(50)


def shown(page: Any) -> list[str]:
    """The ids of the claims whose rows are shown, in their order."""
    return page.eval_on_selector_all(
        "table.verdicts tbody tr", "rows => rows.filter((r) => r.offsetHeight > 0).map((r) => r.dataset.id)"
    )


def test_no_page_complains_or_asks_the_network(browser: Any, out: Path) -> None:
    seen = Seen()
    with opened(browser, seen) as page:
        for path in files(out):
            page.goto(path.as_uri())
            open_all(page)
            assert page.locator("h1").count() == 1
    assert seen.complaints == []
    assert len(seen.requests) == len(PAGES)
    assert all(url.startswith(("file:", "data:")) for url in seen.requests)


@pytest.mark.parametrize(
    ("widths", "themes"),
    [
        pytest.param({390: 844}, ["light"], id="a telephone"),
        pytest.param(WIDTHS, THEMES, id="all", marks=pytest.mark.slow),
    ],
)
def test_every_page_is_accessible_and_every_link_alive(
    browser: Any, out: Path, widths: dict[int, int], themes: list[str]
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason="axe-core-python is not installed").Axe()
    assert list(looked_at(browser, out, axe, widths, themes)) == []


def test_what_is_wrong_with_a_page_is_seen(browser: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason="axe-core-python is not installed").Axe()
    wide = '<div style="width:900px">wide</div>'
    links = '<a href="gone.html">gone</a> <a href="other.html#nowhere">nowhere</a> <a href="other.html#here">here</a>'
    hidden = f'<details><summary>more</summary>{wide}<p style="color:#eee">pale</p></details>'
    html = '<!doctype html><html lang="en"><title>a page</title><main><h1>a page</h1>{}</main>'
    (tmp_path / "one.html").write_text(html.format(f"{links}{hidden}<script>console.log('said')</script>"))
    (tmp_path / "other.html").write_text(html.format('<p id="here">here</p>'))
    found = list(looked_at(browser, tmp_path, axe, {390: 844}, ["light"]))
    told = ["unfolded: sticks out: div.: wide", "color-contrast (1)", "light: said", "dead link", "no such place"]
    for part in told:
        assert any(part in one for one in found), part
    assert all(one.startswith("one.html") and any(part in one for part in told) for one in found)


def test_a_page_that_is_kept_is_not_seen_again(browser: Any, tmp_path: Path) -> None:
    rows, pages = tmp_path / "pages.jsonl", tmp_path / "pages"
    pages.mkdir()
    (pages / "one.html").write_text('<!doctype html><title>a page</title><a href="two.html#there">two</a>')
    (pages / "two.html").write_text('<!doctype html><title>a page</title><p id="there">two</p>')
    heard: list[str] = []
    assert list(looked_at(browser, pages, None, {390: 844}, ["light"], rows=rows, told=heard.append)) == []
    assert heard == ["one.html: 0 faults (1 of 2)", "two.html: 0 faults (2 of 2)"]
    rows.write_text(rows.read_text()[:-5])  # the last line is cut short
    (pages / "one.html").write_text('<!doctype html><title>a page</title><a href="two.html#here">two</a>')
    assert len(list(looked_at(browser, pages, None, {390: 844}, ["light"], rows=rows))) == 1
    assert rows.read_text().count("digest") == 4
    assert len(list(looked_at(None, pages, None, {390: 844}, ["light"], rows=rows))) == 1  # without a browser


def test_filters_show_what_they_say(index: Any) -> None:
    from playwright.sync_api import expect

    form = index.locator("form.filters")
    rows = index.eval_on_selector_all("table.verdicts tbody tr", "rows => rows.map((r) => ({...r.dataset}))")
    assert len(rows) == 10
    for name in ("verdict", "paper", "version"):
        values = sorted({row[name] for row in rows})
        assert len(values) >= 2
        for value in values:
            form.locator(f"[name={name}]").select_option(value)
            wanted = [row["id"] for row in rows if row[name] == value]
            assert shown(index) == wanted
            assert form.locator("output").inner_text() == f"{len(wanted)} of 10 shown"
        form.locator(f"[name={name}]").select_option("")
    form.locator("[name=origin]").select_option("given")
    assert shown(index) == [row["id"] for row in rows if row["origin"] == "given"] == ["toy/one"]
    form.locator("[name=origin]").select_option("search")
    assert shown(index) == []
    form.locator("[name=origin]").select_option("")
    form.locator("[name=paper]").select_option("other")
    form.locator("[name=version]").select_option("reading")
    assert shown(index) == ["other/one/later"]
    form.get_by_role("button", name="Show all").click()
    expect(form.locator("output")).to_have_text("10 of 10 shown")  # after the event, in a task of its own
    form.locator("[name=text]").fill("HOLDS later")
    assert shown(index) == ["other/one/later"]
    form.locator("[name=text]").fill("no such text")
    assert shown(index) == []
    assert form.locator("output").get_attribute("aria-live") == "polite"
    form.locator("[name=text]").fill("")
    assert len(shown(index)) == 10


def test_columns_sort(index: Any) -> None:
    before = shown(index)
    head = index.locator("table.verdicts th", has_text="Tightness")
    order = {"other/one": 0.5, "other/one/later": 0.75, "other/two": 12.5, "toy/one": 1.0909}
    order |= {"toy/one/corrected": 0.25, "toy/two": float("inf")}
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    rest = [name for name in before if name not in order]
    assert shown(index) == [*sorted(order, key=order.__getitem__), *rest]  # without a value last
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert shown(index) == [*sorted(order, key=order.__getitem__, reverse=True), *rest]
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") is None
    assert shown(index) == before
    equation = index.locator("table.verdicts th", has_text="Equation")
    equation.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") is None
    found = shown(index)
    assert found.index("other/three") < found.index("other/two")  # Lemma 9 before Lemma 10
    verdict = index.locator("table.verdicts th", has_text="Verdict")
    verdict.get_by_role("button").click()
    kinds = [index.locator(f"tr[data-id='{name}']").get_attribute("data-verdict") for name in shown(index)]
    worst = ["refuted", "vacuous", "undecided", "supported", "proved"]
    assert kinds == sorted(kinds, key=worst.index)
    for _ in range(2):
        verdict.get_by_role("button").click()
    assert shown(index) == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_button(browser: Any, out: Path, scheme: str) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    colours = {"light": "rgb(251, 251, 249)", "dark": "rgb(20, 23, 26)"}
    other = "dark" if scheme == "light" else "light"
    with opened(browser, color_scheme=scheme) as page:
        page.goto((out / "index.html").as_uri())
        assert page.evaluate(background) == colours[scheme]
        button = page.locator("button.theme")
        assert button.inner_text() == f"{other.capitalize()} theme"
        button.click()
        assert page.evaluate(background) == colours[other]
        assert button.inner_text() == f"{scheme.capitalize()} theme"
        for _ in range(50):  # the choice is kept; Chromium hands it on to another page's process when it has time
            page.goto((out / "toy.html").as_uri())
            if page.evaluate(background) == colours[other]:
                break
            page.wait_for_timeout(100)
        assert page.evaluate(background) == colours[other]
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


PLACES = """ids => ids.map((id) => {
  const text = document.querySelector(`#${id} text`).cloneNode(true);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.style.font = "100px formula"; svg.style.textRendering = "geometricPrecision";
  svg.append(text); document.body.append(svg);
  return [...text.textContent].map((c, i) => { const at = text.getStartPositionOfChar(i); return [at.x, at.y]; });
})"""


def test_glyphs_stand_where_they_were_laid_out(browser: Any, out: Path) -> None:
    setter = Typesetter()
    for latex in (r"\sum_{n=1}^{N}\left(x_n-\frac{\lambda}{m_n}\right)^2", r"\sqrt{\frac{a}{b}}", r"\|x^{k+1}_n\|^2"):
        (name,) = re.findall(r'href="#(p\d+)"', html := setter.display(latex, latex))
        with opened(browser) as page:
            page.set_content(f"{setter.definitions(html)}{html}")
            page.evaluate("document.fonts.load('100px formula', '\\ue000')")
            (places,) = page.evaluate(PLACES, [name])
        glyphs, _, _ = setter._layout.get_glyphs_mathtext(setter._properties, f"${pieces(latex)[0]}$")
        wanted = sorted(glyphs, key=lambda glyph: glyph[1])
        assert len(places) == len(wanted)
        assert max(abs(x - to_x) for (x, _), (_, to_x, _, _) in zip(places, wanted, strict=True)) < 1.5
        down = [y + to_y for (_, y), (_, _, to_y, _) in zip(places, wanted, strict=True)]
        assert max(down) - min(down) < 1.5  # all of it may be moved


def test_a_phone_shows_the_page_without_scrolling_sideways(browser: Any, out: Path) -> None:
    with opened(browser, viewport={"width": 360, "height": 800}) as page:
        for path in files(out):
            page.goto(path.as_uri())
            open_all(page)
            assert page.evaluate("document.documentElement.scrollWidth") == 360, path.name
        page.goto((out / "other.html").as_uri())
        wide = page.locator("#other-two .math").first
        assert wide.evaluate("e => e.scrollWidth > e.clientWidth")  # it scrolls by itself, also by keyboard
        assert wide.get_attribute("tabindex") == "0"


def test_the_verdicts_fit_a_phone(browser: Any, out: Path) -> None:
    with opened(browser, viewport={"width": 360, "height": 800}) as page:
        page.goto(f"{(out / 'index.html').as_uri()}#verdicts")
        page.locator("[name=verdict]").select_option("refuted")  # without the names that nothing can break
        row = page.locator("tr[data-id='toy/one']")
        for cell in (".badge", ".title a", ".num"):
            box = row.locator(cell).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
        assert row.locator(".title").inner_text().startswith("(one) title of one")


def test_what_is_printed_is_open_and_has_no_controls(browser: Any, out: Path) -> None:
    with opened(browser) as page:
        page.goto((out / "other.html").as_uri())
        details = page.locator("#other-one details", has_text="As fedproof reads")
        line = details.locator("code").first
        assert details.get_attribute("open") is None
        assert not line.is_visible()
        page.emulate_media(media="print")
        assert line.bounding_box()["height"] > 10
        for control in (".theme", ".filters", "nav"):
            assert not page.locator(control).first.is_visible()
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")  # for browsers that do not know details-content
        assert details.get_attribute("open") == ""
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert details.get_attribute("open") is None


def test_pages_are_small(out: Path) -> None:
    for path in files(out):
        assert path.stat().st_size < 250_000, path.name


@pytest.mark.slow
def test_the_pages_of_all_papers_are_small(tmp_path: Path) -> None:
    """Without the figures of experiments, which take up to 0.7 MB of a paper's page."""
    from theory import catalog

    render([], [], tmp_path, papers=catalog.papers())
    sizes = {path.name: path.stat().st_size for path in tmp_path.glob("*.html")}
    assert len(sizes) == len(catalog.papers()) + 1  # without verdicts there are no sheets
    assert sizes.pop("index.html") < 1e6
    assert max(sizes.values()) < 1.5e6


def test_without_javascript_everything_is_there_but_the_controls(browser: Any, out: Path) -> None:
    with opened(browser, java_script_enabled=False) as page:
        page.goto((out / "index.html").as_uri())
        for control in (".theme", ".filters"):
            assert not page.locator(control).is_visible()
        page.locator("#verdicts > summary").click()
        assert page.locator("table.verdicts tbody tr:visible").count() == 10
        page.goto((out / "toy.html").as_uri())
        sentence = page.locator("#toy-one .statement")
        page.locator("#toy-one > summary").click()
        assert not sentence.is_visible()
        page.locator("#toy-one").get_by_text("As fedproof reads").click()
        assert sentence.is_visible()


def test_a_shortened_figure_looks_the_same(browser: Any, out: Path) -> None:
    """No more than the edges of lines differ, by what a tenth of a point changes."""
    import io

    import numpy as np
    from matplotlib.image import imread

    text = (out / "figures" / "figure-1.svg").read_text(encoding="utf-8")
    text = text[text.index("<svg") :]
    assert len(shorter(text)) < 0.75 * len(text)
    assert shorter(shorter(text)) == shorter(text)
    style = "<style>body{margin:0}svg{width:900px;height:auto}svg *{stroke-linejoin:round;stroke-linecap:butt}</style>"
    seen = []
    with opened(browser, viewport={"width": 900, "height": 600}) as page:
        for drawing in (text, shorter(text), ""):
            page.set_content(style + drawing)
            seen.append(np.asarray(imread(io.BytesIO(page.screenshot())), dtype=float)[..., :3].mean(axis=-1))
    differs = np.abs(seen[0] - seen[1])
    assert differs.mean() < 0.003
    assert (differs > 0.5).mean() < 0.001
    assert (differs > 0.5).mean() < 0.1 * (np.abs(seen[0] - seen[2]) > 0.5).mean()


def test_filters_stand_in_the_address(browser: Any, out: Path) -> None:
    address = (out / "index.html").as_uri()
    with opened(browser, viewport={"width": 1280, "height": 900}) as page:
        page.goto(f"{address}?verdict=refuted&paper=toy")
        assert shown(page) == ["toy/one"]  # the folded table is opened
        page.locator("[name=verdict]").select_option("proved")
        page.locator("[name=text]").fill("three")
        page.wait_for_url(f"{address}?verdict=proved&paper=toy&text=three#verdicts")
        before = shown(page)
        page.reload()
        assert shown(page) == before != []
        page.get_by_role("button", name="Show all").click()
        page.wait_for_url(f"{address}#verdicts")
        assert len(shown(page)) == 10


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_first_screen_says_what_is_false(browser: Any, out: Path, width: int, height: int) -> None:
    with opened(browser, viewport={"width": width, "height": height}) as page:
        for file in ("index.html", "toy.html", "sheet-toy-one.html"):
            page.goto((out / file).as_uri())
            for place in (page.get_by_text("is false"), page.locator(":is(.headlines, .sides) .n")):
                box = place.first.bounding_box()
                assert box is not None
                assert box["y"] + box["height"] <= height, file


def test_contents_stay_in_sight_and_a_link_opens_what_is_folded(browser: Any, out: Path) -> None:
    with opened(browser, viewport={"width": 390, "height": 844}) as page:
        page.goto(f"{(out / 'toy.html').as_uri()}#toy-one-corrected")
        claim = page.locator("#toy-one-corrected")
        assert claim.get_attribute("open") == ""
        assert page.locator("#toy-two").get_attribute("open") is None
        page.mouse.wheel(0, 20_000)
        page.wait_for_timeout(100)
        assert page.locator("nav.sections").bounding_box()["y"] == pytest.approx(0, abs=1)


def test_a_sheet_is_copied_as_it_is(browser: Any, out: Path) -> None:
    with opened(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto((out / "sheet-toy-one.html").as_uri())
        texts = page.evaluate("JSON.parse(document.getElementById('copies').textContent)")
        for name, beginning in (
            ("Markdown", "## Theorem 1 (one) is false"),
            ("LaTeX", r"\subsection*{Theorem 1 (one)"),
        ):
            page.get_by_role("button", name=f"Copy as {name}").click()
            page.get_by_text("copied").wait_for()
            assert page.evaluate("navigator.clipboard.readText()") == texts[name.lower()]
            assert texts[name.lower()].startswith(beginning)
