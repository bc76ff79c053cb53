"""A round of a program on an instance, compiled once, and all its outcomes from a state.

Branches go through the steps side by side: a probability and an environment, the values at hand; a draw makes more of
them. A value of the server is a vector (a tuple of d numbers), one of the clients a tuple of N vectors, a table a tuple
of vectors for each client, a number a number, or N of them, a sample a tuple of indices (a batch) for each client. In
``w.visit``, values are those of the client whose turn it is.
"""

from validate.rounds.compiled import Outcome, Round
from validate.rounds.frame import State, TooManyOutcomesError, too_many

__all__ = ["Outcome", "Round", "State", "TooManyOutcomesError", "too_many"]
