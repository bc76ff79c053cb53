"""Re-checks a certificate against a claim, with nothing but Python's standard library.

    python -I -S verify.py CERTIFICATE.json ...    exit status 0: valid, 1: not valid, 2: unreadable or malformed

A certificate says that a printed claim about federated optimisation is false, and gives an instance that shows it.
This program trusts nothing in the file but the text of the claim: it plays the algorithm on the instance itself, in
exact fractions (or, where square roots occur, in intervals that are rounded outwards), and checks the hypotheses, the
parameters and both sides. Each kind of certificate is one module, which says what is checked and what remains for the
reader; what always remains is to compare the statement, the formula and the hypotheses with the printed paper. They
are printed first, and VALID is said of them: this program has no catalogue of claims.

    reading, checks        JSON, fields, numbers; the report, one check a line
    formulas, functions    formulas over fractions and intervals; quotients of polynomials in j
    intervals              outward-rounded arithmetic with square roots, exponentials and logarithms
    quadratic_rounds, measures, hypotheses         rounds of FedAvg-SVRG and local SGD, for the next three kinds
    instance, fixed_point, order                   kinds "instance", "fixed-point", "order"
    conditions                                     hypotheses on given constants, for the following kinds
    chain, finite, open_adam                       kinds "chain", "finite", "open-adam"
    epoch                                          an epoch of shuffling local SGD, for the next two kinds
    permutations, unrolled, products               kinds "permutations", "unrolled", "products"
    relation, gram                                 kinds "relation", "vectors"
    claimed                                        what is printed of the claim, and what contradicts itself
    play                                           kind "play": any algorithm, as data; see there for its modules
    program                                        which kind it is, and the command line
"""

from .checks import Report
from .formulas import MAX_EXPONENT, Uncheckable, evaluate, parse, relation_holds
from .functions import Function, shift
from .measures import PARAMETERS, QUANTITIES, Context
from .program import main, verify
from .quadratic_rounds import Instance, Round, minimum, play_round, read_instance
from .reading import FORMAT, FORMATS, MAX_BYTES, MAX_TEXT, MAX_WORK, FormatError, load

__all__ = [
    "FORMAT",
    "FORMATS",
    "MAX_BYTES",
    "MAX_EXPONENT",
    "MAX_TEXT",
    "MAX_WORK",
    "PARAMETERS",
    "QUANTITIES",
    "Context",
    "FormatError",
    "Function",
    "Instance",
    "Report",
    "Round",
    "Uncheckable",
    "evaluate",
    "load",
    "main",
    "minimum",
    "parse",
    "play_round",
    "read_instance",
    "relation_holds",
    "shift",
    "verify",
]
