"""The sliders in Chromium: the page's own interpreter against Python's values, and what a reader does and sees."""

import random
import shlex
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.validate.report.playing import CLAIMS, FORMULAS, INPUTS, SAME, data_of, made, numbers, page_of, same, starts
from theory import catalog
from theory.bound import Bound
from theory.calculator import calculator
from theory.domain import Domain
from theory.evaluate import bound, hypotheses, parse_assignments, violated
from theory.floats import Floats
from theory.listing import listing


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens claims' panels on a page of their own; afterwards nothing may have been logged or asked of the network."""
    said: list[str] = []
    contexts = []

    def open_page(*claims: Bound, starts: Mapping[str, Mapping[str, Any]] | None = None, **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(page_of(list(claims), starts), encoding="utf-8")
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith("file:") else said.append(r.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def decimal(rng: random.Random, domain: Domain) -> str:
    """A plain decimal of a domain, over six decades where it is unbounded."""
    for _ in range(1000):
        if domain.lower is not None and domain.upper is not None:
            value = domain.lower + (domain.upper - domain.lower) * rng.randint(0, 1000) / 1000
        else:
            value = (domain.lower or 0) + float(f"{10 ** rng.uniform(-3, 3):.3g}")
            value = -value if domain.lower is None and rng.random() < 0.5 else value
            value = domain.lower if domain.lower is not None and rng.random() < 0.05 else value
        text = str(round(value)) if domain.integer else f"{value:.6g}"
        if domain.contains(Fraction(text)):
            return text
    raise AssertionError(f"no number of {domain}")


def drawn(rng: random.Random, claim: Bound) -> dict[str, Any]:
    size = rng.randint(1, 4)
    return {
        p.name: decimal(rng, p.domain) if p.shape == "scalar" else tuple(decimal(rng, p.domain) for _ in range(size))
        for p in claim.parameters
    }


def test_the_page_computes_what_python_does_for_every_claim(opened: Any) -> None:
    """At the starts and at random values of the domains (seeded), in float64, and the hypotheses as decided exactly."""
    rng = random.Random(9)
    cases, expected = [], []
    for claim in CLAIMS:
        data = data_of(claim.id)
        at_start = {k: tuple(map(str, v)) if isinstance(v, list) else str(v) for k, v in starts(data).items()}
        for values in (at_start, *(drawn(rng, claim) for _ in range(3))):
            numeric = [[float(v) for v in x] if isinstance(x, tuple) else float(x) for x in values.values()]
            cases.append([CLAIMS.index(claim), numeric])
            floats = Floats(claim, values)
            holds = [h["holds"] for h, r in zip(hypotheses(claim, values), claim.formulas.relations, strict=True) if r]
            expected.append((claim, values, floats.right(), floats.definitions(), holds))
    page = opened()
    found = page.evaluate(
        "([all, cases]) => cases.map(([i, inputs]) => {"
        "  const said = playProgram.evaluate(all[i], inputs);"
        "  const text = (v) => Array.isArray(v) ? v.map(String) : String(v);"  # JSON has no NaN
        "  return [text(said.bound), said.terms.map(text), said.hypotheses];"
        "})",
        [[data_of(claim.id) for claim in CLAIMS], cases],
    )
    undefined = decided = broken = 0
    for (claim, values, right, terms, holds), (right_there, terms_there, holds_there) in zip(
        expected, found, strict=True
    ):
        where = claim.id, values
        assert same(np.array(right_there, dtype=float), right), (where, right_there, right)
        for mine, theirs in zip(terms, terms_there, strict=True):
            assert same(np.array(theirs, dtype=float), mine), (where, theirs, mine)
        tied = [h for h, r in zip(claim.conditions, claim.formulas.relations, strict=True) if r is not None]
        for h, exact, there in zip(tied, holds, holds_there, strict=True):
            if h.relation is not None and "==" in h.relation and exact is False and there is True:
                continue  # the start of a tied parameter, equal but for the rounding of its decimals
            there = False if there is None else there  # what has no value does not hold
            assert exact == there, (where, h.relation, exact, there)
            decided += exact is not None
            broken += exact is False
        undefined += not np.isfinite(right)
    assert undefined > 0
    assert 100 < broken < decided - 100


@settings(max_examples=3, deadline=None, phases=[Phase.generate])
@given(st.lists(st.tuples(FORMULAS, INPUTS), min_size=60, max_size=60))
def test_the_page_computes_any_formula(browser: Any, cases: list[tuple[str, dict[str, Any]]]) -> None:
    sent, expected = [], []
    for text, values in cases:
        try:
            listed = listing(made(text))
        except ValueError:
            continue
        sent.append(
            [
                {"program": listed.program, "bound": listed.right, "terms": [], "hypotheses": []},
                [values[n] for n in "abv"],
            ]
        )
        expected.append((text, values, Floats(made(text), values).right()))
    page = browser.new_page()
    folder = Path(__file__).parents[3] / "validate" / "report" / "templates"
    page.evaluate(
        (folder / "play-program.js").read_text(encoding="utf-8") + "; globalThis.run = playProgram.evaluate; 0"
    )
    found = page.evaluate("cases => cases.map(([data, inputs]) => String(run(data, inputs).bound))", sent)
    page.close()
    for there, (text, values, here) in zip(found, expected, strict=True):
        assert same(np.float64(there), here), (text, values, there, here)


LEMMA = "fedavg-svrg/lemma-v1-eq14"  # relations on scalars; alpha is one of its terms
INERTIAL = "fedmim/theorem-iv2-eq9"  # vectors
TIED = "perm/theorem-2"  # eta is set by a hypothesis


def set_slider(page: Any, name: str, stop: int) -> None:
    page.get_by_label(f"{name}, slider", exact=True).evaluate(
        "(slider, stop) => { slider.value = stop; slider.dispatchEvent(new Event('input')); }", stop
    )


def field(page: Any, claim: Bound, name: str) -> Any:
    return page.locator(f"#play-{claim.id.replace('/', '-')}-{name}")


def shown(page: Any, claim: Bound) -> dict[str, Any]:
    """The values in the panel's fields, as its command line gives them."""
    words = shlex.split(page.locator(".play-command code").inner_text())
    assert words[:3] == ["fedproof", "bound", claim.id]
    assert words[3::2] == ["--set"] * len(claim.parameters)
    return parse_assignments(words[4::2], claim)


def agrees_with_python(page: Any, claim: Bound) -> None:
    values = shown(page, claim)
    there = float(page.locator(".play-value").get_attribute("data-value"))
    assert there == pytest.approx(bound(claim, values), rel=SAME)
    assert float(page.locator(".play-value").inner_text()) == pytest.approx(there, rel=1e-5)
    said = {li.split("\n")[1]: li.split("\n")[0] for li in page.locator(".play-hypotheses li").all_inner_texts()}
    words = {True: "✓", False: "✗"}  # the latter also where there is no value
    pairs = zip(hypotheses(claim, values), claim.conditions, strict=True)
    marks = [word.split()[0] for word in said.values()]
    assert marks == [words[found["holds"]] for found, h in pairs if h.relation is not None]


def test_panels_are_built_when_they_are_opened(opened: Any) -> None:
    page = opened(catalog.claim(LEMMA), catalog.claim(INERTIAL))
    assert page.locator(".play-panel").count() == 0
    page.locator("summary").first.click()
    page.locator(".play-panel").wait_for()
    assert page.locator(".play-panel").count() == 1
    page.locator("summary").first.click()
    page.locator("summary").first.click()
    assert page.locator(".play-panel").count() == 1


def test_sliders_recompute_and_a_violated_hypothesis_is_named(opened: Any) -> None:
    from playwright.sync_api import expect

    claim = numbers(catalog.claim(LEMMA))
    page = opened(claim)
    page.locator("summary").click()
    agrees_with_python(page, claim)
    before = page.locator(".play-value").inner_text()
    assert not page.locator(".play-notice").is_visible()
    slider = page.get_by_label("D, slider", exact=True)
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert field(page, claim, "D").input_value() not in ("1", "")
    assert slider.get_attribute("aria-valuetext") == f"D = {field(page, claim, 'D').input_value()}"
    assert page.locator(".play-value").inner_text() != before
    agrees_with_python(page, claim)
    set_slider(page, "delta", 150)
    agrees_with_python(page, claim)
    broken = violated(claim, shown(page, claim))
    assert broken
    notice = page.locator(".play-notice")
    assert notice.is_visible()
    assert all(name in notice.inner_text() for name in broken)
    assert "promises nothing" in notice.inner_text()
    expect(page.locator(".play-live")).to_contain_text("Violated")
    assert "outside" in page.locator(".play-plot path.curve").first.get_attribute("class")
    assert "dashed" in page.locator(".play-legend").inner_text()
    page.get_by_role("button", name="Reset").click()
    assert page.locator(".play-value").inner_text() == before
    assert not notice.is_visible()


def test_bad_texts_are_told_and_fractions_are_taken(opened: Any) -> None:
    claim = calculator(catalog.claim(INERTIAL)).bound
    page = opened(claim)
    page.locator("summary").click()
    alpha, k = field(page, claim, "alpha"), field(page, claim, "K")

    def message(name: str) -> str:
        found = page.locator(f"#play-{claim.id.replace('/', '-')}-{name}-error")
        assert found.is_visible()
        return str(found.inner_text())

    alpha.fill("0.1, x, 0.2")
    assert "Entry 2" in message("alpha")
    assert "“x” is not a number" in message("alpha")
    assert alpha.get_attribute("aria-invalid") == "true"
    assert page.locator(".play-value").inner_text() == "–"
    assert "Correct" in page.locator(".play-notice").inner_text()
    alpha.fill("0.1,, 0.2")
    assert "Entry 2" in message("alpha")
    alpha.fill("0.1, 2")
    assert "outside [0, 1)" in message("alpha")
    alpha.fill("1/10, 0.25")
    assert not page.locator(".play-notice").is_visible()
    k.fill("0")
    assert "outside the integers in [1, ∞)" in message("K")
    k.fill("2.5")
    assert "outside the integers" in message("K")
    k.fill("1e2")
    agrees_with_python(page, claim)
    assert shown(page, claim)["alpha"] == ("1/10", "0.25")
    page.get_by_label("The right side along").select_option("T")
    picture = page.locator(".play-plot svg")
    assert "T = " in picture.get_attribute("aria-label")
    assert picture.locator("circle.mark").count() == 1


def test_vectors_of_different_lengths_are_told(opened: Any) -> None:
    claim = calculator(catalog.claim("fedmim/eq21")).bound
    page = opened(claim)
    page.locator("summary").click()
    field(page, claim, "alpha").fill("0.1, 0.2")
    notice = page.locator(".play-notice").inner_text()
    assert "same number of entries" in notice
    assert "alpha has 2" in notice
    assert "delta_sq has 3" in notice
    assert page.locator(".play-value").inner_text() == "–"
    field(page, claim, "delta_sq").fill("1, .5")
    agrees_with_python(page, claim)


def test_a_tied_parameter_follows_its_formula_until_it_is_let_go(opened: Any) -> None:
    claim = calculator(catalog.claim(TIED)).bound
    page = opened(claim)
    page.locator("summary").click()
    eta = field(page, claim, "eta")
    assert eta.is_disabled()
    before = eta.input_value()
    agrees_with_python(page, claim)
    set_slider(page, "R", 60)
    assert eta.input_value() != before
    agrees_with_python(page, claim)
    page.get_by_role("checkbox").uncheck()
    assert not eta.is_disabled()
    eta.fill("1/1000")
    agrees_with_python(page, claim)
    assert "eta == c_eta*log_of_statement/(mu*R)" in page.locator(".play-notice").inner_text()


def test_where_there_is_no_real_value_the_page_says_so(opened: Any) -> None:
    claim = made("sqrt(a) + log(b)", "log(a) < b")
    page = opened(claim, starts={claim.id: {"a": -1.0}})
    page.locator("summary").click()
    assert page.locator(".play-value").inner_text() == "no real value"
    assert page.locator(".play-hypotheses b").inner_text() == "✗ no real value"
    assert "order" in page.locator(".play-notice").inner_text()
    assert page.locator(".play-plot path.curve").count() > 0


def test_on_a_phone_nothing_is_wider_than_the_page(opened: Any) -> None:
    page = opened(*map(catalog.claim, (LEMMA, INERTIAL, TIED)), viewport={"width": 360, "height": 780})
    for summary in page.locator("summary").all():
        summary.click()
    page.locator(".play-panel").nth(2).wait_for()  # a panel is drawn on the event of its opening, later than the click
    assert page.locator(".play-panel").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_scripts_the_command_line_is_named(opened: Any) -> None:
    page = opened(catalog.claim(LEMMA), java_script_enabled=False)
    page.locator("summary").click()
    assert f"fedproof bound {LEMMA}" in page.locator("details").inner_text()
