"""A printed claim beside its repair: what differs is marked, and nothing else."""

import re
from dataclasses import replace

from theory import algorithm
from theory.claim import claim
from validate.report.differences import differences
from validate.report.formula import Typesetter


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))


@algorithm
def ascent(w, x, *, eta):
    return x + eta * w.mean(w.gradient(x))


def marked(setter: Typesetter, text: str) -> list[int]:
    """Of each term of a formula, how many marks stand below it; 0 for one that is not marked as changed."""
    pieces = re.findall(r'<svg class="(p\d+)( changed)?">', text)
    bodies = dict(re.findall(r'<symbol id="(p\d+)"[^>]*>(.*?)</symbol>', setter.definitions(text)))
    for name, changed in pieces:
        assert bool(changed) == ('class="mark"' in bodies[name])
    return [bodies[name].count('class="mark"') for name, _ in pieces]


def test_a_term_that_differs_is_marked_where_it_differs() -> None:
    setter = Typesetter()
    printed, repaired = r"a \leq b+M-c", r"a \leq b+S M-c"
    assert marked(setter, setter.display(printed, "", repaired)) == [0, 0, 1, 0]  # a notch where S is missing
    assert marked(setter, setter.display(repaired, "", printed)) == [0, 0, 1, 0]
    assert marked(setter, setter.display(printed, "", printed)) == [0, 0, 0, 0]
    assert marked(setter, setter.display(printed, "")) == [0, 0, 0, 0]
    assert marked(setter, setter.display(r"a \leq b+d", "", r"a \leq b")) == [0, 0, 1]  # a term that is not there


def test_a_claim_whose_sentence_is_the_same_differs_all_the_same() -> None:
    printed = claim("one", "a <= b*c", assuming=("a <= 1",), where={"c": "2*a"})
    setter = Typesetter()
    repaired = replace(printed, label="two", assuming=("a <= 1", "b >= 1"), where={"c": "3*a"})
    found = differences(printed, repaired, setter)
    assert found.printed == found.repaired
    assert [(one.sign, one.what) for one in found.changes] == [("+", "assumes"), ("−", "where"), ("+", "where")]
    assert all("changed" in one.formula for one in found.changes[1:])


def test_another_algorithm_is_shown_by_its_lines() -> None:
    printed = claim("one", "norm2(x[1]) <= norm2(x0)", of=descent)
    found = differences(printed, replace(printed, label="two", of=ascent), Typesetter())
    lines = [(one.sign, one.what, re.sub(r"<[^>]+>", "", one.formula)) for one in found.changes]
    assert [(sign, what) for sign, what, _ in lines] == [("−", "algorithm"), ("+", "algorithm")]
    assert "- eta" in lines[0][2]
    assert "+ eta" in lines[1][2]
    assert differences(printed, printed, Typesetter()).changes == ()
