"""The small charts: well-formed, small, safe, and true to their numbers whatever these are."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.report.chart import caption, chart, figure

from validate.experiment import Band
from validate.predicted import Predicted
from validate.report.axis import axis, tick_labels
from validate.report.picture import NARROW, WIDE

HOSTILE = """</svg><script>alert(1)</script>"'&<b onload=x>"""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def made(left: Any, right: Any, **changes: Any) -> Predicted:
    """Both sides at k = 1, 2, ..."""
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    with np.errstate(all="ignore"):
        broken = left > right
        worst = int(np.nanargmax(np.where(np.isfinite(left - right), left - right, -np.inf))) if len(left) else 0
    given = {
        "claim": "toy/one",
        "relation": "<=",
        "scenario": "a toy",
        "over": "index",
        "index": "k",
        "at": np.arange(1.0, len(left) + 1),
        "left": left,
        "right": right,
        "broken": broken,
        "worst": worst,
        "parameters": {},
    }
    return Predicted(**(given | changes))


def parsed(svg: str) -> ElementTree.Element:
    """The picture as XML: it is well-formed, and nothing in it lies outside by more than a mark, or is no number."""
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert "nan" not in svg.lower().replace("nance", "")
    width, height = map(int, str(root.get("viewBox")).split()[2:])
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 <= float(str(text.get("x"))) <= width
        assert 0 <= float(str(text.get("y"))) <= height
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", str(path.get("d"))):
            assert -6 <= float(x) <= width + 6
            assert -6 <= float(y) <= height + 6
    return root


def words(svg: str) -> list[str]:
    """What is written in the picture."""
    return [str(text.text or "") for text in parsed(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_chart_says_what_it_shows() -> None:
    found = made([1, 0.5, 0.3, 0.2, 0.1], [2, 0.4, 0.35, 0.3, 0.2])
    svg = chart(found)
    root = parsed(svg)
    label = str(root.get("aria-label"))
    assert "toy/one: both sides over k = 1 to 5" in label
    assert "broken at 1 of 5 points; by most with left / right = 1.25 at k = 2 (0.500 against 0.400)" in label
    assert {"right side, predicted", "left side, exact", "broken", "k"} <= set(words(svg))
    assert "var(--series-0," in svg
    assert "var(--series-1," in svg
    assert "var(--refuted," in svg
    assert "stroke-dasharray" in svg
    text = caption(found)
    assert text.startswith("Scenario: a toy.")
    assert "exact but for rounding, not sampled" in text
    assert "broken" not in chart(made([1, 2], [3, 4]))


def test_the_marks_are_where_the_numbers_are() -> None:
    svg = chart(made([0, 1, 2, 3, 4], [4, 4, 4, 4, 4]))
    dots = next(
        re.findall(r"M([\d.]+) ([\d.]+)h0", str(p.get("d")))
        for p in parsed(svg).iter()
        if "h0" in str(p.get("d")) and "series-1" in str(p.get("style"))
    )
    x, y = np.array(dots, dtype=float).T
    assert np.allclose(np.diff(x), np.diff(x)[0], atol=0.11)
    assert np.allclose(np.diff(y), np.diff(y)[0], atol=0.11)
    assert np.diff(y)[0] < 0  # larger values are higher


def test_the_band_is_drawn_and_its_confidence_is_said() -> None:
    mean = np.array([1.0, 0.5, 0.25, 0.2])
    band = Band(mean, mean * 0.9, mean * 1.1)
    found = made(mean, mean * 3, band=band, runs=2000)
    svg = chart(found)
    assert "mean of 2,000 runs" in words(svg)
    assert sum(1 for _ in parsed(svg).iter("{http://www.w3.org/2000/svg}polygon")) == 1
    assert "confidence 99 percent, at each point by itself" in caption(found)
    assert "at most 10.0 percent of the mean" in caption(found)
    assert "does not rest on these runs" in caption(found)
    tested = caption(replace(found, error_probability=1e-6, tested=4.0))
    assert "one-sided, at k = 4 alone, with error probability 10⁻⁶" in tested
    assert "does not rest" not in tested


def test_numbers_behind_the_chart_can_be_had(tmp_path: Path) -> None:
    mean = np.array([1 / 3, 0.5])
    found = made(mean, mean * 3, claim="toy/one/corrected-2", band=Band(mean, mean - 1, mean + 1), runs=7)
    text = figure(found, tmp_path)
    assert 'href="predicted/toy-one-corrected-2.csv" download' in text
    with (tmp_path / "predicted" / "toy-one-corrected-2.csv").open() as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["k", "left", "right", "mean", "lower", "upper"]
    assert [float(v) for v in rows[1]] == [1.0, 1 / 3, 1.0, 1 / 3, 1 / 3 - 1, 1 / 3 + 1]
    assert len(rows) == 3


def test_hostile_names_are_text(tmp_path: Path) -> None:
    spec = {"clients": [{"h": [HOSTILE], "a": ["0"]}], "step": HOSTILE, "theta0": "1", "local_steps": 1}
    for found in (
        made([1, 2], [3, 1], claim=HOSTILE, scenario=HOSTILE, index=HOSTILE, fixed={HOSTILE: 1.0}),
        made([1, 2], [3, 1], claim=HOSTILE, scenario=HOSTILE, over="scenarios", index="scenario", spec=spec),
    ):
        text = figure(found, tmp_path)
        ElementTree.fromstring(text)
        assert "<script" not in text
        assert "<b " not in text
        assert "&lt;script" in text
    assert [path.name for path in (tmp_path / "predicted").iterdir()] == ["svg-script-alert-1-script-b-onload-x.csv"]


def test_where_there_is_nothing_to_see_there_is_a_sentence(tmp_path: Path) -> None:
    point = made([1], [2], over="point", index="")
    assert chart(point) == ""
    assert "left / right = 0.500 (1.00 against 2.00)" in caption(point)
    same = made(np.arange(1, 9), np.arange(1, 9) * (1 + 1e-15), over="scenarios", index="scenario", relation="=")
    assert chart(same) == ""
    assert "Both sides agree on all 8 scenarios" in caption(same)
    assert "<svg" not in figure(same, tmp_path)


def test_ratios_over_scenarios() -> None:
    left = np.geomspace(1e-14, 3, 1900)
    found = made(left, np.ones(1900), over="scenarios", index="scenario", scenarios=2000)
    svg = chart(found)
    assert len(svg) < 8000
    assert {"left / right", "equal sides", "broken", "scenarios, sorted"} <= set(words(svg))
    assert "above 10⁻⁹" in caption(found)
    upwards = replace(found, relation=">=", broken=left < 1)
    assert parsed(chart(upwards)) is not None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
        ([1, 1, 1, 1, 1], [1, 1, 1, 1, 1]),
        ([-1, -1, -1], [-1, -1, -1]),
        ([1, 0.1, 0, 0, 0], [2, 1, 0.01, 1e-9, 0]),
        ([-5, 3, 2], [1, -2, 1e3]),
        ([math.inf, 1, 2, 3], [1, math.inf, 2, math.nan]),
        ([math.nan, math.nan], [math.inf, -math.inf]),
        ([1e300, 1e-300, 5e-324], [1.7e308, 1e-308, 1]),
        ([1e308, -1e308], [1.7e308, -1.7e308]),
        ([1, 1 + 1e-15], [1 + 1e-14, 1]),
        ([3], [4]),
    ],
)
def test_numbers_of_every_kind(left: list[float], right: list[float]) -> None:
    for found in (made(left, right), made(left, right, over="scenarios", index="scenario")):
        assert caption(found)
        for layout in (WIDE, NARROW):
            svg = chart(found, layout)
            if svg:
                parsed(svg)
                assert len(svg) < 12_000


FLOATS = st.one_of(st.floats(), st.floats(-10, 10), st.sampled_from([0.0, 1.0]))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(FLOATS, FLOATS, FLOATS, FLOATS), min_size=1, max_size=50),
    st.sampled_from(["index", "rounds", "parameter", "scenarios", "point"]),
    st.sampled_from(["<=", "<", ">=", ">", "="]),
    st.sampled_from(["k", "n", "K"]),
    st.booleans(),
)
def test_every_array_makes_a_picture(
    rows: list[tuple[float, ...]], over: str, relation: str, index: str, banded: bool
) -> None:
    left, right, low, high = (np.array(column) for column in zip(*rows, strict=True))
    band = Band(left, low, high) if banded else None
    found = made(left, right, over=over, relation=relation, index=index, band=band, runs=5 if banded else None)
    assert caption(found)
    for layout in (WIDE, NARROW):
        svg = chart(found, layout)
        if svg:
            parsed(svg)
            assert len(svg) < 12_000


def test_long_curves_stay_small() -> None:
    k = np.arange(5000)
    found = made(np.sin(k) + 2, np.full(5000, 2.5), band=Band(np.sin(k), np.sin(k) - 1, np.sin(k) + 1), runs=5)
    assert len(chart(found)) < 12_000
    assert len(chart(found, NARROW)) < 8_000


def test_a_telephone_has_a_picture_of_its_own() -> None:
    """The same in a narrower picture: each entry of the legend in a row of its own, fewer labels, none over another."""
    mean = np.linspace(2, 1, 60)
    found = made(mean, mean * 0.9, band=Band(mean, mean - 0.1, mean + 0.1), runs=2000)
    wide, narrow = (parsed(chart(found, layout)) for layout in (WIDE, NARROW))
    assert wide.get("aria-label") == narrow.get("aria-label")
    assert (wide.get("class"), narrow.get("class")) == ("page", "phone")
    assert [root.get("viewBox") for root in (wide, narrow)] == ["0 0 440 290", "0 0 320 326"]
    texts = [list(root.iter("{http://www.w3.org/2000/svg}text")) for root in (wide, narrow)]
    legends = [[t for t in some if t.get("text-anchor") is None] for some in texts]
    assert [t.text for t in legends[0]] == [t.text for t in legends[1]]
    assert [t.get("y") for t in legends[0]] == ["14", "14", "32", "32"]
    assert [t.get("y") for t in legends[1]] == ["14", "32", "50", "68"]
    for some, layout in zip(texts, (WIDE, NARROW), strict=True):
        lowest = max(float(str(t.get("y"))) for t in some)
        below = [float(str(t.get("x"))) for t in some if float(str(t.get("y"))) == lowest - 18]
        assert 3 <= len(below) <= layout.ticks + 1
        assert np.diff(below).min() >= layout.apart


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=9), st.sampled_from([None, False]), st.booleans())
def test_axes_hold_their_values_and_have_few_ticks(values: list[float], log: bool | None, whole: bool) -> None:
    array = np.array(values)
    found = axis(array, 0.0, 100.0, log=log, whole=whole)
    assert found.low < found.high
    places = found(array)
    known = places[np.isfinite(places)]
    if np.abs(array[np.isfinite(array)]).max(initial=0) < 1e299:
        assert ((known > -1e-6) & (known < 100 + 1e-6)).all()
    ticks = found.ticks(5)
    assert len(ticks) <= 7
    assert all(found.low * (1 - 1e-6) <= t or found.low - 1e-6 * (found.high - found.low) <= t for t in ticks)
    labels, factor = tick_labels(ticks, found.log)
    assert len(labels) == len(set(labels))
    assert all(len(label) <= 10 for label in [*labels, factor])


def test_labels_of_ticks() -> None:
    assert tick_labels([0.0, 0.5, 1.0], False) == (["0", "0.5", "1"], "")
    assert tick_labels([-2e-7, 0.0, 2e-7], False) == (["−2", "0", "2"], "×10⁻⁷")
    assert tick_labels([0.01, 1.0, 100.0], True) == (["0.01", "1", "100"], "")
    assert tick_labels([1e-8, 1e-4, 1.0], True) == (["10⁻⁸", "10⁻⁴", "1"], "")
