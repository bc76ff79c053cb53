"""What is claimed: the theorems of federated optimisation as objects.

    from theory import Paper, algorithm, claim       # a paper of one's own: see docs/language.md
    from theory.catalog import claim                 # a known claim, by its id
    c = claim("textbook/sgd-step")
    c.bound(...), c.enclose(...), c.violated(...)

Importing this package loads no computer algebra. `theory.claim` is the function that writes a claim (and, given an id
alone, looks one up); the module of that name, which defines classes, is reached by ``from theory.claim import Claim``.
"""

# The submodules `theory.claim` and `theory.papers` are loaded here for good, before the functions of those names take
# their place in this namespace: a submodule becomes an attribute of its package only when it is first loaded.
import theory.claim
import theory.papers  # noqa: F401
from theory.domain import (
    AT_LEAST_ONE,
    COUNT,
    INDEX,
    NONNEGATIVE,
    OPEN_UNIT,
    POSITIVE,
    PROBABILITY,
    REAL,
    Domain,
)

from theory.catalog import claims, paper, papers  # isort: skip
from theory.program import algorithm  # isort: skip
from theory.claim import Claim, Paper, claim  # isort: skip

__all__ = [
    "AT_LEAST_ONE",
    "COUNT",
    "INDEX",
    "NONNEGATIVE",
    "OPEN_UNIT",
    "POSITIVE",
    "PROBABILITY",
    "REAL",
    "Claim",
    "Domain",
    "Paper",
    "algorithm",
    "claim",
    "claims",
    "paper",
    "papers",
]
