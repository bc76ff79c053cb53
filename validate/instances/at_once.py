"""Claims of which one round says all: longer runs are not needed to break them."""

from __future__ import annotations

from fractions import Fraction

from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.sentence import At, Expression, Vocabulary, applied, everything_meant, factors_of, signed_terms
from validate.instances import along
from validate.instances.relations import of_length

ROUND = (Name("k"), applied("+", (Name("k"), Number(Fraction(1)))))


def shows_at_once(claim: Claim) -> bool:
    """Whether what breaks a claim in some round breaks it in the first, from another start.

    So it is where the start is all that a run remembers, rounds are alike, and both sides are sums of E of what is said
    of a round and the one after it.
    """
    program = claim.program
    words = claim.vocabulary
    if program is None or program.counts_rounds or claim.by_round:
        return False
    if [(s.kind, s.initial) for s in program.state] != [("server", "x0")]:
        return False
    if any(along.speaks_of_run(one, words) or of_length(one, words) for one in claim.relations):
        return False
    for side in claim.sentence.sides:
        for part in everything_meant(side, words):
            if isinstance(part, At) and part.indices[0] not in ROUND:
                return False
            if isinstance(part, Name) and part.name in ("x0", "K"):
                return False
            if isinstance(part, Apply) and (part.operation.endswith("_k") or part.operation == "quantile"):
                return False
        if program.random and not all(_is_expected(term, words) for _, _, term in signed_terms(side)):
            return False
    return True


def _is_expected(term: Expression, words: Vocabulary) -> bool:
    """Whether a term is a number that is not random times E of what is, or no state is in it."""
    if isinstance(term, Name) and term.name in words.definitions:
        return all(_is_expected(one, words) for _, _, one in signed_terms(words.definitions[term.name]))
    above, below = factors_of(term)
    expected = [one for one in above if isinstance(one, Apply) and one.operation == "E"]
    rest = [one for one in (*above, *below) if one not in expected]
    said = any(isinstance(part, At) for one in rest for part in everything_meant(one, words))
    return len(expected) <= 1 and not said
