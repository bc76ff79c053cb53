"""Both sides of a sentence on an instance, exactly: Fractions, or balls where there are roots.

    measured = sides(parse_sentence("E(norm2(x[k] - xstar)) <= R"), words_of(instance), instance, {"R": Fraction(2)})
    measured.broken, measured.holds

The free index k runs over every k >= 0 for which all indices of the sentence lie in the run, and n, i, h and j over all
that there are. What is random outside of E is looked at in every outcome, and the worst is kept. A sentence that speaks
of xstar where f has more than one minimiser is measured at several of them: one at which it is broken breaks it; that
it holds at all of them shows nothing for the others (`Measured.every_minimiser`).
"""

from validate.both_sides.indices import indices_of
from validate.both_sides.measuring import in_outcomes, meant, relation_holds, sides
from validate.both_sides.outcomes import quantile
from validate.both_sides.rows import Measured, Reading, Row, as_printed
from validate.both_sides.world import World, words_of

__all__ = [
    "Measured",
    "Reading",
    "Row",
    "World",
    "as_printed",
    "in_outcomes",
    "indices_of",
    "meant",
    "quantile",
    "relation_holds",
    "sides",
    "words_of",
]
