"""Re-checks a certificate against a claim, with nothing but Python's standard library.

    python -I -S verify.py CERTIFICATE.json ...    exit status 0: valid, 1: not valid, 2: unreadable or malformed

A certificate says that a printed claim about federated optimisation is false, and gives an instance that shows it; or,
as a derivation, that it is true, and gives the proof line by line. This program trusts nothing in the file but the text
of the claim. Kind "play": it plays the algorithm on the instance itself, in exact fractions (or, where square roots
occur, in intervals that are rounded outwards), and checks the hypotheses, the parameters and both sides. Kind
"derivation": it checks that each line follows from hypotheses and earlier lines, for all parameters, dimensions,
clients and rounds, and that the last is the claim. Their modules say what is checked and what remains for the reader,
which is to compare the statement, the algorithm and the hypotheses with the printed paper. They are printed first, and
VALID is said of them: this program has no catalogue of claims.

    program                               the command line
    play, derivation                      kinds "play" and "derivation"
    reading, checks                       JSON, fields, numbers; the report, one check a line
    intervals                             outward-rounded arithmetic with square roots, exponentials and logarithms
    sentences, vocabulary                 texts to trees; what they are
    scalars, parameters                   fractions and intervals; the numbers of an instance
    quadratics, points, ridges, pieces    problems of each kind; functions of one variable
    problems                              the one that is given
    steps, programs, arguments            algorithms as data, and the domains of what they are given
    draws, later, making, running         all choices of a draw; what a step makes; a round
    playing                               all outcomes of a run
    still, simplex, spoken                what sentences come to
    assumed, implied                      assumptions; what classes of functions imply
    ridges_assumed                        assumptions on sums of functions along directions
    every, unknowns, on_ball              sentences that are assumed for every point, or on a ball
    chances, quantities                   counts that are drawn; sums of random quantities, and their covariances
    linear_steps, linear, passes, moments the same run by means and covariances, without playing outcomes
    spoken_by_moments                     what sentences come to then
    derivation_atoms, derivation_terms    atoms; polynomials over them
    derivation_binders                    means, sums, E, inner products
    derivation_replacing                  other atoms in the place of some
    derivation_places, derivation_ranges  where a tree stands; over what indices go
    derivation_names, derivation_normal   from trees to these
    derivation_powers                     powers
    derivation_facts                      true sentences and what they hang on
    derivation_domains, derivation_signs  signs by domains of parameters, and by lines
    derivation_defined                    what is divided by
    derivation_schemas, derivation_axioms what assumptions say at points; what is always true
    derivation_sums, derivation_sets      of sums; of balls, and what is projected onto one
    derivation_operations                 of proximal points, largest coordinates, signs, mixed vectors
    derivation_making, derivation_turns   steps of the algorithm; loops
    derivation_rounds, derivation_draws   a round; E over its draws
    derivation_turning                    samples of several turns
    derivation_drawn, derivation_depends  rules that unfold a round; what hangs on a draw
    derivation_coordinates                vectors by coordinates
    derivation_lines                      lines by name, at other indices
    derivation_vectors, derivation_rules  the rules
    derivation_blocks, derivation_claims  lists of lines, induction, cases; another claim as a line
    stated, shapes, listing               the claim, what it says of its parameters, and what is printed for the reader
"""

from .checks import Report
from .program import main, verify
from .reading import FORMAT, MAX_BYTES, MAX_TEXT, FormatError, Uncheckable, load

__all__ = ["FORMAT", "MAX_BYTES", "MAX_TEXT", "FormatError", "Report", "Uncheckable", "load", "main", "verify"]
