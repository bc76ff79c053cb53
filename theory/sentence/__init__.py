"""Sentences of claims: left, relation, right, read by our own reader and executed by nobody.

The language is that of `theory.formula`, and beside it states and taps ``x[k]``, ``y[k, h]``; points ``x0 xstar
xstar_n``; functions ``f f_n f_ni``, their gradients ``grad(f_n, v)``; ``norm2 norm dot``; expectations ``E(...)``; and
``mean_n sum_n max_n min_n`` with their like over samples (``_i``), rounds (``_k``), turns of a loop (``_h``) and of a
loop inside it (``_j``). An index is a number too: ``sum_j((M - 1 - j)*norm2(v[k, h, j]))``. ``first_n(...)`` is that of
the first client, of whom a claim about "client i" speaks; ``simplex_n(c_n, q_n)`` the weight of client n in the point
of the simplex at which sum_n(c_n*a_n + q_n*a_n**2) is least; ``argmin_n(q_n)`` the minimiser of sum_n(q_n*f_n),
with a second argument that over the ball of this radius around 0;
``quantile(e, q)`` the least number that e exceeds with probability at most 1 - q.

``past[k, j]`` is what a state that remembers vectors has j rounds back, and ``alpha_j`` its weight in ``combine``: sums
over h and j in which no tap has the index are over what is remembered, and an error where nothing is.

What a tree means on an instance is decided by a `World`; `evaluate` folds the tree with it. Free indices are for all.
"""

from theory.formula import SCALAR_FUNCTIONS
from theory.sentence.reader import parse_call, parse_expression, parse_sentence
from theory.sentence.spacing import respaced
from theory.sentence.trees import (
    ALL_CLIENTS,
    COORDINATE,
    FUNCTION_NAMES,
    INDICES,
    INTEGERS,
    NUMBERS_OF_VECTORS,
    OVER,
    POINTS,
    RELATIONS,
    SPECIAL,
    TURNS,
    At,
    Expression,
    Relation,
    Sentence,
    SentenceError,
    applied,
    everything,
    exchanged,
    factors_of,
    parts,
    replaced,
    signed_terms,
    text_of,
)
from theory.sentence.vocabulary import (
    Reading,
    Vocabulary,
    check_turns,
    everything_meant,
    index_of,
    read,
    remembered,
)
from theory.sentence.worlds import World, evaluate, index_value, simplex_weights

__all__ = [
    "ALL_CLIENTS",
    "COORDINATE",
    "FUNCTION_NAMES",
    "INDICES",
    "INTEGERS",
    "NUMBERS_OF_VECTORS",
    "OVER",
    "POINTS",
    "RELATIONS",
    "SCALAR_FUNCTIONS",
    "SPECIAL",
    "TURNS",
    "At",
    "Expression",
    "Reading",
    "Relation",
    "Sentence",
    "SentenceError",
    "Vocabulary",
    "World",
    "applied",
    "check_turns",
    "evaluate",
    "everything",
    "everything_meant",
    "exchanged",
    "factors_of",
    "index_of",
    "index_value",
    "parse_call",
    "parse_expression",
    "parse_sentence",
    "parts",
    "read",
    "remembered",
    "replaced",
    "respaced",
    "signed_terms",
    "simplex_weights",
    "text_of",
]
