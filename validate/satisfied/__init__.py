"""What a problem satisfies: is an assumption true of it with these constants, and what are its best constants?

One table for each type of problem, by the type of the assumption; no algorithm, paper or claim is asked for.
`true` decides exactly on exact problems (fractions); on float64 problems up to rounding.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sim.problems import Quadratic
from theory import predicates as p
from theory.for_every import ForEvery
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from theory.sentence import Expression, index_of, text_of
from validate.instances.pieces import Pieces
from validate.instances.points import Points
from validate.instances.ridges import Ridges
from validate.satisfied import each, every, of_pieces, of_points, of_quadratics, of_ridges
from validate.satisfied.network import connected, second_eigenvalue
from validate.satisfied.rules import Numbers, Rules

__all__ = ["best", "second_eigenvalue", "true"]

RULES: Mapping[type, Rules] = {
    Quadratic: of_quadratics.RULES,
    Pieces: of_pieces.RULES,
    Points: of_points.RULES,
    Ridges: of_ridges.RULES,
}
NONE = Rules({}, {})


def _rules(problem: Any) -> Rules:
    return next((RULES[kind] for kind in type(problem).__mro__ if kind in RULES), NONE)


def true(predicate: p.Predicate, problem: Any, constants: Sequence[Any], network: Any = None) -> bool | None:
    """Whether an assumption is true of a problem with these constants.

    Args:
        predicate: the assumption.
        problem: such as `sim.problems.Quadratic`, `validate.instances.Pieces` or `Points`.
        constants: values of its constants, in its order: Fractions for an exact decision; a list, one a client, of
            a constant that has one for each.
        network: the mixing matrix W, (N, N), for `connected`.

    Returns:
        None where nobody has told how to decide it for such a problem, or where the problem leaves it open.
    """
    if isinstance(predicate, p.Connected):
        return network is not None and connected(network, constants[0] if constants else None)
    decide = _rules(problem).true.get(type(predicate))
    if decide is None:
        return None
    if any(isinstance(c, list) for c in constants) and not isinstance(predicate, ForEvery):
        return _decided(lambda: each.true(predicate, problem, constants, decide))
    key = ("true", predicate, *((type(c), c) for c in constants))  # a float is decided otherwise than a fraction
    return _once(key, problem, lambda: decide(predicate, problem, tuple(constants)))


def best(predicate: p.Predicate, problem: Any, known: Mapping[str, Any] = MappingProxyType({})) -> Numbers | None:
    """The best constants of an assumption on a problem: the smallest L, the largest mu, ...

    Args:
        predicate: the assumption.
        problem: such as `sim.problems.Quadratic`, `validate.instances.Pieces` or `Points`.
        known: values of parameters by name, of which a sentence for every point may have some.

    Returns:
        One number for each of its constants (exact where the eigenvalues are, else float64; 0 where all positive
        numbers are constants), a list of them where it has one a client; an empty tuple for an assumption without
        constants that is true; None where none are (or nobody has told how to find them).
    """
    if isinstance(predicate, ForEvery):
        given = {name: known[name] for name in map(_base, predicate.constants) if name in known}
        return _once(("best", predicate, *given.items()), problem, lambda: _best_of_sentence(predicate, problem, given))
    look = _rules(problem).best.get(type(predicate))
    if look is not None and each.indexed(predicate):
        return _once(("best", predicate), problem, lambda: each.best(predicate, problem, look))
    if look is not None:
        return _once(("best", predicate), problem, lambda: look(predicate, problem))
    return () if not predicate.constants and true(predicate, problem, ()) else None


def _base(constant: Expression) -> str:
    return index_of(text_of(constant))[0]


def _best_of_sentence(predicate: ForEvery, problem: Any, given: Mapping[str, Any]) -> Numbers | None:
    if isinstance(problem, Points):
        return None
    return every.best(predicate, of_pieces.as_ridges(problem) if isinstance(problem, Pieces) else problem, given)


KEPT = 64
"""Problems of which it is remembered what is true of them: parameters are chosen for each several times."""
_known: OrderedDict[int, tuple[Any, dict[Any, Any]]] = OrderedDict()


def _once(key: Any, problem: Any, work_out: Callable[[], Any]) -> Any:
    """What is worked out for a problem, once."""
    entry = _known.get(id(problem))
    if entry is None:
        _known[id(problem)] = entry = (problem, {})  # the problem is kept, so that its id stays its own
        if len(_known) > KEPT:
            _known.popitem(last=False)
    kept = entry[1]
    try:
        if key not in kept:
            kept[key] = _decided(work_out)
        return kept[key]
    except TypeError:  # constants that are lists have no hash
        return _decided(work_out)


def _decided(work_out: Callable[[], Any]) -> Any:
    try:
        return work_out()
    except (UndecidedError, UndefinedError):  # a problem that does not tell
        return None
