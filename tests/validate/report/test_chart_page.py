"""The charts on a page, in Chromium: legible at any width, nothing over anything else, one of the two pictures only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.validate.report.test_chart import made
from tests.validate.test_report import PAPER
from validate.experiment import Band
from validate.report import render

LEAST = 12.0  # pixels of a label's text
# What of a chart is seen: its class, the size of its text, and labels that leave it or lie over each other.
LOOK = """() => [...document.querySelectorAll('.chart svg')].filter((e) => e.getBoundingClientRect().width).map((e) => {
  const r = e.getBoundingClientRect(), labels = [...e.querySelectorAll('text')], wrong = [];
  const boxes = labels.map((t) => t.getBoundingClientRect());
  boxes.forEach((a, i) => {
    if (a.left < r.left - 1 || a.right > r.right + 1 || a.top < r.top - 1 || a.bottom > r.bottom + 1)
      wrong.push(labels[i].textContent);
    boxes.forEach((b, j) => {
      if (j > i && a.left < b.right && b.left < a.right && a.top < b.bottom - 3 && b.top < a.bottom - 3)
        wrong.push(`${labels[i].textContent} over ${labels[j].textContent}`);
    });
  });
  return [e.getAttribute('class'), 14 * r.width / e.viewBox.baseVal.width, wrong];
})"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Charts with labels of every kind: few and many, short and long, with a power of ten, with four entries above."""
    out = tmp_path_factory.mktemp("report")
    long = np.linspace(1, 0.5, 1200)
    curves = [
        made(long, long * 0.9, band=Band(long, long - 0.1, long + 0.1), runs=20_000),
        made([1, 2, 3, 4], [2, 3, 4, 5], over="parameter", index="delta", at=np.array([0.0157, 0.0195, 0.241, 0.3217])),
        made([1e-7, 2e-7], [3e-7, 4e-7], at=np.array([1e6, 5e6])),
        made([1, 1e-9, 1e-5], [1e4, 2, 1e-3], over="rounds", index="K", at=np.array([1.0, 100.0, 10_000.0])),
        made(np.geomspace(1e-6, 3, 900), np.ones(900), over="scenarios", index="scenario", scenarios=1000),
        made([-5, -2.5, 3], [1, 1, 1], at=np.array([-0.75, 0.125, 0.875])),
    ]
    predicted = {claim.id: replace(curve, claim=claim.id) for claim, curve in zip(PAPER.claims, curves, strict=True)}
    render([], [], out, papers=[PAPER], predicted=predicted)
    return out / "toy.html"


@pytest.mark.parametrize(
    ("width", "kind"), [(320, "phone"), (360, "phone"), (420, "phone"), (480, "page"), (760, "page"), (1280, "page")]
)
def test_charts_are_legible_at_any_width(browser: Any, page: Path, width: int, kind: str) -> None:
    opened = browser.new_page(viewport={"width": width, "height": 800})
    try:
        opened.goto(page.as_uri())
        seen = opened.evaluate(LOOK)
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        opened.close()
    assert [found[0] for found in seen] == [kind] * len(PAPER.claims)
    assert min(found[1] for found in seen) >= LEAST
    assert [found[2] for found in seen] == [[]] * len(PAPER.claims)


def test_what_is_printed_is_the_page_s_own_chart_and_each_is_read_out_once(browser: Any, page: Path) -> None:
    opened = browser.new_page(viewport={"width": 794, "height": 1123})  # A4
    try:
        opened.goto(page.as_uri())
        opened.emulate_media(media="print")
        assert {found[0] for found in opened.evaluate(LOOK)} == {"page"}
        assert opened.get_by_role("img", name="toy/one:").count() == 1
    finally:
        opened.close()
