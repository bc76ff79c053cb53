"""What the search has to find with the work of a check, and what it must not."""

from tests.derivation.both import check
from theory.claim import Claim
from theory.derivation.search.searching import search
from validate.proving import work_of


def is_found(one: Claim) -> None:
    """There is a derivation, and the verifier accepts it too."""
    lines = search(one, work_of(one)).lines
    assert lines is not None
    assert check(one, lines).lines


def is_not_found(one: Claim) -> None:
    """There is none."""
    assert search(one, work_of(one)).lines is None
