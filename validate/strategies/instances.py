"""Instances on which a claim says something, made from the claim."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from theory.claim import Claim
from validate.instances.candidates import candidate_of, realised, size, smaller
from validate.instances.pool import Drawn, drawn, fitting_sizes
from validate.instances.shapes import Size
from validate.measurement import sentence_of

_SEEDS = 1 << 20
_AGAIN = 30  # seeds that are tried in a row, as not every one leads to an instance
_SIMPLER = (40, 0, 0, 0, 1, 4, 12)
"""Steps towards a simpler instance. Hypothesis shrinks towards the first, and draws any."""


def instances(claim: Claim | str) -> st.SearchStrategy[Drawn]:
    """Instances of a claim: all its hypotheses hold there, and every name has a value.

    Problems satisfy the assumptions by construction, and parameters are solved for from the relations, as in the pool
    of a check (`validate.instances.pool`): extremes, ends of what the relations allow, starts at and off the minimiser.
    Examples shrink towards few clients, samples, coordinates and rounds, and short numbers.

        @given(instances("my_paper.py:noise-ball"))
        def test_holds(drawn):
            assert on_instance(CLAIM, drawn.instance, drawn.constants).verdict != "broken"

    Args:
        claim: the claim, its id, or ``"my_paper.py:label"``, a file that is run.

    Returns:
        Of `Drawn`: ``instance``, ``constants`` (the claim's names that are not its algorithm's), ``values`` of all.

    Raises:
        ValueError: for a claim that is no sentence, and where no instance that satisfies its hypotheses can be made.
    """
    found = sentence_of(claim)
    sizes = sorted(fitting_sizes(found), key=lambda s: (s.clients * s.samples * s.dim, s.clients, s.samples))
    if not any(_first(found, seed, [one]) is not None for one in sizes for seed in (0, _AGAIN)):
        raise ValueError(f"{found.id}: no instance was found that satisfies its hypotheses")
    return _instances(found, sizes)


@st.composite
def _instances(draw: st.DrawFn, claim: Claim, sizes: list[Size]) -> Drawn:
    one = draw(st.sampled_from(sizes))
    found = _first(claim, draw(st.integers(0, _SEEDS)), [one])
    assume(found is not None)
    assert found is not None
    for _ in range(draw(st.sampled_from(_SIMPLER))):
        simpler = _simpler(claim, found)
        if simpler is None:
            break
        found = simpler
    return found


def _first(claim: Claim, seed: int, sizes: list[Size]) -> Drawn | None:
    return next((one for i in range(_AGAIN) if (one := drawn(claim, seed + i, sizes=sizes)) is not None), None)


def _simpler(claim: Claim, one: Drawn) -> Drawn | None:
    """The first simpler instance that a single move leads to."""
    here = candidate_of(one)
    for move in smaller(here, claim):
        if size(move) < size(here):
            found = realised(claim, move)
            if found is not None:
                return found
    return None
