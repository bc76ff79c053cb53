"""The ways to a claim, in the order in which they are tried."""

from __future__ import annotations

from theory.derivation.search.chances import on_average, with_a_chance
from theory.derivation.search.drift import over_turns
from theory.derivation.search.extremes import of_each
from theory.derivation.search.flat import beyond_smoothness
from theory.derivation.search.lengths import by_lengths
from theory.derivation.search.local import over_turns_and_rounds
from theory.derivation.search.means import at_the_mean, best_of_rounds, enough_rounds, through_distance
from theory.derivation.search.numbers import between_numbers, over_powers, term_by_term, through_exponentials
from theory.derivation.search.rates import at_a_linear_rate
from theory.derivation.search.strategies import (
    Strategy,
    as_it_stands,
    by_cases,
    by_squares,
    by_step,
    over_length,
    over_rounds,
    still,
    through_potential,
)

STRATEGIES: tuple[tuple[str, Strategy], ...] = (
    ("for the best round", best_of_rounds),
    ("at the mean of the models", at_the_mean),
    ("after enough rounds", enough_rounds),
    ("after enough rounds at a linear rate", at_a_linear_rate),
    ("over the turns of a loop, or over the rounds", over_turns),
    ("as it stands", as_it_stands),
    ("by what the algorithm does", by_step),
    ("where f may be constant", beyond_smoothness),
    ("by what is so of roots, extremes, exponentials and powers", between_numbers),
    ("from squares", by_squares),
    ("by what is so of lengths", by_lengths),
    ("from what is so of each", of_each),
    ("on average, from squares", on_average),
    ("with a probability, by Markov", with_a_chance),
    ("in two cases", by_cases),
    ("induction over k", over_rounds),
    ("induction over turns, then rounds", over_turns_and_rounds),
    ("induction over K", over_length),
    ("induction over an exponent", over_powers),
    ("through exponentials", through_exponentials),
    ("term by term", term_by_term),
    ("through a potential", through_potential),
    ("through the distance", through_distance),
    ("a start that does not move", still),
)
