"""What is offered as the value of a parameter: by what the algorithm does with it, by its domain, in what units."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from theory.domain import Domain
from validate.instances.roles import Roles
from validate.instances.setting import F
from validate.instances.turning_points import Solver

FREE = (F(1), F(1, 2), F(2), F(1, 10), F(3), F(1, 4), F(10), F(1, 100), F(3, 4), F(9, 10))
FEW = 6
"""Clients up to which as many are chosen; of more all, half of them, and all but one, too."""
CHANCES = (F(1, 2), F(1), F(1, 4), F(9, 10), F(1, 10), F(3, 4))
TURNS = (1, 2, 3, 5, 2)
LARGE_TURNS = (10, 20, 50)
SHARP_TURNS = (1, 2, 5, 8)
ONE_OF_SEVERAL: Mapping[bool, tuple[int, ...]] = {False: (8, 1), True: (1, 2, 5)}
EXTREMES = (*(F(10) ** k for k in (-9, -6, -4, -3, 3, 4, 6, 9)), F(2) ** 200, F(1, 2**200))
LARGE_INTEGERS = tuple(map(F, (20, 50, 100, 1000, 10**4, 10**6)))
"""Numbers of a claim without functions, beyond those of `FREE`."""
BELOW_AN_END = (F(1, 10**9), F(1, 10**3))
"""How far below the open end of a domain a number is taken."""


@dataclass(frozen=True)
class Manner:
    """How values are chosen.

    Attributes:
        attempt: which, from 0.
        large: whether loops turn often.
        everybody: whether all clients take part, all coordinates are kept, and what may happen happens.
        sharp: whether numbers are where the claim has the least room.
        patient: whether numbers that leave no room for another are changed.
        first: names that come before all others, the last one first.
    """

    attempt: int
    large: bool
    everybody: bool
    sharp: bool = False
    patient: bool = False
    first: tuple[str, ...] = ()


def offered(name: str, solver: Solver, manner: Manner, roles: Roles, tied: bool, rng: random.Random) -> list[Fraction]:
    """Values that a parameter may be given, in random order.

    Args:
        name: of the parameter.
        solver: the claim, the problem and the values so far.
        manner: how they are chosen.
        roles: what the algorithm does with its parameters.
        tied: whether a relation speaks of it.
        rng: decides.
    """
    problem, domain = solver.world.problem, solver.claim.domains[name]
    if name in roles.turns:
        numbers: tuple[int, ...] = LARGE_TURNS if manner.large else SHARP_TURNS if manner.sharp else TURNS
        if len(roles.turns) > 1 or manner.everybody:  # many turns of one loop while another has few
            numbers += ONE_OF_SEVERAL[manner.large]
        found = [F(x) for x in numbers]
    elif manner.everybody and name in roles.chances | roles.clients | roles.coordinates:
        found = [F(1) if name in roles.chances else F(problem.clients if name in roles.clients else problem.dim)]
    elif name in roles.clients:
        N = problem.clients
        found = [F(x) for x in (*range(1, min(N, FEW) + 1), N, *((N // 2, N - 1) if N > FEW + 1 else ()))]
    elif name in roles.coordinates:
        found = [F(x) for x in range(1, problem.dim + 1)]
    elif name in roles.batch:
        found = [F(x) for x in range(1, int(min(problem.counts)) + 1)]
    elif name in roles.lengths or name in roles.steps:
        found = [F(1), F(2), F(3)]
    elif name in roles.chances:
        found = list(CHANCES)
    else:
        found = [F(0), F(1), F(2), F(3), F(5), F(10)] if domain.integer else list(FREE)
        if domain.contains(F(-1)) and not domain.integer:
            found += [-x for x in found]
        if domain.upper is not None and domain.upper_open and not domain.integer:
            near = [F(domain.upper) - gap for gap in BELOW_AN_END]  # a probability near 1 makes log(1/p) small
            found = [*near, F(domain.upper) / 2] if manner.sharp else found + near
        if manner.large and problem is None:
            found += LARGE_INTEGERS if domain.integer else EXTREMES
        if not domain.integer and problem is not None and domain.upper is None and not tied:
            found = _in_units(found, solver, rng)
    rng.shuffle(found)
    return found


def closed_ends(domain: Domain) -> list[Fraction]:
    """The ends that belong to a domain."""
    lower = [] if domain.lower is None or domain.lower_open else [F(domain.lower)]
    upper = [] if domain.upper is None or domain.upper_open else [F(domain.upper)]
    return lower + upper


def _in_units(numbers: list[Fraction], solver: Solver, rng: random.Random) -> list[Fraction]:
    """Numbers, or multiples of the inverse of a constant: such as a step that no relation ties to curvature is."""
    known = map(solver.values.get, solver.claim.constants)
    constants = [value for value in known if isinstance(value, Fraction) and value]
    if not constants or rng.random() < 0.3:
        return numbers
    unit = rng.choice(constants)
    return [number / unit for number in numbers]


def network(clients: int, rng: random.Random) -> list[list[Fraction]]:
    """A symmetric, doubly stochastic matrix of rationals whose second eigenvalue is rational and below 1."""
    share = rng.choice((F(1, 2), F(3, 4), F(1, 4), F(1, 10), F(9, 10)))
    kind = rng.random()
    if clients == 4 and kind < 0.4:  # a ring
        return [
            [1 - share if i == j else share / 2 if (i - j) % 4 in (1, 3) else F(0) for j in range(4)] for i in range(4)
        ]
    if clients in PATHS and 0.6 < kind < 0.8:  # a path, at whose ends little is heard of the others
        return _along_a_path([share / 3 * weight for weight in PATHS[clients]])
    if clients > 1 and kind > 0.8:
        return _of_eigenvectors(clients, share, rng)
    return [[(1 - share if i == j else F(0)) + share / clients for j in range(clients)] for i in range(clients)]


def any_matrix(clients: int, rng: random.Random) -> list[list[Fraction]]:
    """One that is connected, one whose rows are weights of any clients, or entries of any size and sign."""
    kind = rng.random()
    if kind < 1 / 3:
        return network(clients, rng)
    if kind < 2 / 3:
        heard = [[F(rng.choice((0, 0, 1, 1, 2))) for _ in range(clients)] for _ in range(clients)]
        heard = [row if any(row) else [F(i == j) for j in range(clients)] for i, row in enumerate(heard)]
        return [[x / sum(row) for x in row] for row in heard]
    unit = F(1, rng.choice((1, 1, 2, 10)))
    return [[unit * rng.choice((0, 0, 1, 1, -1, 2, -2)) for _ in range(clients)] for _ in range(clients)]


def swapping(clients: int, rng: random.Random) -> list[list[Fraction]]:
    """Two clients change places, and a little of everything: of two such matrices neither commutes with the other."""
    share = rng.choice((F(1, 2), F(3, 4), F(9, 10)))
    place = list(range(clients))
    if clients > 1:
        i, j = rng.sample(place, 2)
        place[i], place[j] = j, i
    return [
        [(share if j == place[i] else F(0)) + (1 - share) / clients for j in range(clients)] for i in range(clients)
    ]


PATHS: Mapping[int, tuple[Fraction, ...]] = {2: (F(1),), 3: (F(1), F(1)), 4: (F(3, 4), F(1), F(3, 4))}
"""Weights of a path's edges with which all eigenvalues are rational: of four clients 1 - 7t + 5t and 1 - 7t - 5t."""


MOST_TURNED = 8
"""Clients up to which eigenvectors are drawn; of more, all others weigh more than what a client has itself."""


def _of_eigenvectors(clients: int, largest: Fraction, rng: random.Random) -> list[list[Fraction]]:
    """The mean, and one or two vectors orthogonal to it, with eigenvalues of either sign, as far as no entry is < 0."""
    one = F(1, clients)
    if clients > MOST_TURNED:
        most = largest * one / (clients - 1)
        return [[one + (most if i != j else -most * (clients - 1)) for j in range(clients)] for i in range(clients)]
    vectors: list[list[Fraction]] = []
    while len(vectors) < min(clients - 1, 2):
        drawn = [F(rng.randint(-3, 3)) for _ in range(clients)]
        for other in ([F(1)] * clients, *vectors):
            part = _product(drawn, other) / _product(other, other)
            drawn = [x - part * y for x, y in zip(drawn, other, strict=True)]
        if any(drawn):
            vectors.append(drawn)
    values = [rng.choice((F(1), F(1, 2), -F(1, 2), -F(1))), rng.choice((F(0), F(0), F(1, 2), -F(1, 2)))]
    values = values[: len(vectors)]
    parts = [(value / _product(v, v), v) for value, v in zip(values, vectors, strict=True)]
    found = [[sum((c * v[i] * v[j] for c, v in parts), F(0)) for j in range(clients)] for i in range(clients)]
    scale = min(one / -min(map(min, found)), largest / max(map(abs, values)))
    scale = F(math.floor(12 * scale), 12) if 12 * scale >= 1 else F(1, math.ceil(1 / scale))  # short eigenvalues
    return [[one + scale * entry for entry in row] for row in found]


def _product(one: list[Fraction], two: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(one, two, strict=True)), F(0))


def _along_a_path(weights: list[Fraction]) -> list[list[Fraction]]:
    """The matrix with these weights between neighbours."""
    N = len(weights) + 1
    found = [[F(int(i == j)) for j in range(N)] for i in range(N)]
    for n, weight in enumerate(weights):
        for i, j in ((n, n + 1), (n + 1, n)):
            found[i][j] += weight
            found[i][i] -= weight
    return found
