"""Rows of boxes, joined by lines of which none passes behind a box."""

import random
from itertools import pairwise

import pytest

from validate.report.layered import WIDEST, Lane, layout


@pytest.mark.parametrize("seed", range(20))
def test_every_edge_leads_downwards_and_past_the_boxes(seed: int) -> None:
    draw = random.Random(seed)
    names = [f"n{at}" for at in range(draw.randint(2, 30))]
    widths = {name: draw.choice((58, 90, 200)) for name in names}
    edges = [(a, b) for at, b in enumerate(names) for a in draw.sample(names[:at], min(at, draw.randint(0, 3)))]
    found = layout(widths, edges)
    after: dict[object, list[object]] = {}
    for above, on in found.segments:
        after.setdefault(above, []).append(on)
    row = found.row
    assert all(row[on] == row[above] + 1 for above, on in found.segments)
    assert len(set(found.segments)) == len(found.segments)
    for base, on in edges:
        way: list[object] = [base]
        while row[way[-1]] < row[on] - 1:
            (lane,) = [one for one in after[way[-1]] if isinstance(one, Lane)]
            way.append(lane)
        assert on in after[way[-1]]
    for at in set(row.values()):
        beside = sorted((x, widths.get(item, 0)) for item, x in found.centre.items() if row[item] == at)
        assert all(x + w / 2 < to_x - to_w / 2 for (x, w), (to_x, to_w) in pairwise(beside))
        assert sum(w for _, w in beside) <= max(WIDEST, *(w for _, w in beside))
    ends = [(x - widths.get(item, 0) / 2, x + widths.get(item, 0) / 2) for item, x in found.centre.items()]
    assert min(left for left, _ in ends) >= 0
    assert max(right for _, right in ends) <= found.width


def test_a_circle_is_cut() -> None:
    found = layout(dict.fromkeys("abc", 60), [("a", "b"), ("b", "a"), ("b", "c")])
    assert found.row["b"] < found.row["c"]
    assert sum(not isinstance(on, Lane) for _, on in found.segments) == 2
