"""What a derivation can do without is left out many at a time, and comes to what leaving out one by one would."""

from hypothesis import given
from hypothesis import strategies as st

from theory.derivation.search.multipliers import needless

THINGS = range(24)
SETS = st.lists(st.frozensets(st.sampled_from(THINGS), min_size=1, max_size=4), max_size=5)


@given(kept=SETS)
def test_it_is_what_one_by_one_leaves_out(kept):
    """Enough is what has one at least of each of some sets."""

    def enough(gone):
        return not any(one <= {*gone} for one in kept)

    one_by_one: list[int] = []
    for thing in THINGS:
        if enough([*one_by_one, thing]):
            one_by_one.append(thing)
    assert needless(THINGS, enough) == one_by_one


@given(st.integers(1, 200), st.data())
def test_where_few_are_needed_few_are_asked_for(count, data):
    needed = data.draw(st.frozensets(st.integers(0, count - 1), max_size=3))
    asked = []

    def enough(gone):
        asked.append(len(gone))
        return needed.isdisjoint(gone)

    assert needless(range(count), enough) == [i for i in range(count) if i not in needed]
    assert len(asked) <= 1 + 2 * len(needed) * count.bit_length()


def test_nothing_is_asked_of_nothing():
    assert needless([], lambda gone: 1 / 0) == []
