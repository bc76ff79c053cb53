"""What the names of a claim are worth where functions are not known: numbers, and forms in products and values."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from theory import predicates as p
from theory.arithmetic import to_element
from theory.claim import Claim
from theory.sentence import evaluate, text_of
from theory.worst_case.assembly import fraction
from theory.worst_case.classes import NoClassError
from theory.worst_case.forms import Form, NotLinearError, Root, dot, form_of, lifted
from validate.both_sides import World
from validate.instances.instance import Instance
from validate.instances.world import Still
from validate.play import Play
from validate.worst_case.unknown import Unknown

OUTCOMES = 400
"""Of one round."""


class FormWorld(World):
    """A world whose numbers are forms: of what hangs on noise of any law, they are expectations."""

    def __init__(self, instance: Instance, claim: Claim, constants: Mapping[str, Any], unknown: Unknown) -> None:
        play = None if instance.program is None else Play(instance, OUTCOMES)
        super().__init__(instance, constants, claim.vocabulary, play)
        self.unknown, self.inside = unknown, 0
        numbers = lifted(self.scalar_functions)
        self.scalar_functions = {**numbers, **{name: self._of_means(name, numbers[name]) for name in ("min", "max")}}
        self.vector_functions = {**self.vector_functions, "norm2": lambda v: dot(v, v), "dot": dot, "norm": self._norm}

    def _norm(self, v: Any) -> Root:
        if self.unknown.is_random(v):
            raise NotLinearError("the mean of a length, with noise")
        return Root(to_element(Fraction(1)), dot(v, v))

    def _of_means(self, name: str, function: Any) -> Any:
        """The least or greatest of means; those of values inside of a mean are refused."""

        def apply(*values: Any) -> Any:
            if self.inside and any(map(self.unknown.is_random, values)):
                raise NotLinearError(f"the mean of a {name}, with noise")
            return function(*values)

        return apply

    def _expectation(self, e: Any, at: Mapping[str, int]) -> Any:
        self.inside += 1
        try:
            found = super()._expectation(e, at)
        finally:
            self.inside -= 1
        return self.unknown.expected(found) if self.unknown.spread and isinstance(found, tuple) else found


def constants_of(constants: Mapping[str, Any], rounds: int) -> dict[str, Any]:
    """Numbers of names that are no parameters of the algorithm, with K."""
    return {name: value for name, value in constants.items() if name not in ("K", "N")} | {"K": Fraction(rounds)}


class Constants:
    """The constants of assumptions: formulas in numbers."""

    def __init__(
        self, claim: Claim, parameters: Mapping[str, Any], constants: Mapping[str, Any], clients: int, rounds: int
    ) -> None:

        self.words = claim.vocabulary
        given = {**parameters, **constants_of(constants, rounds), "N": Fraction(clients)}
        self.world = Still(Instance(), {k: v for k, v in given.items() if k != "K"}, self.words)
        self.world.given["K"] = to_element(Fraction(rounds))

    def constant(self, predicate: p.Predicate, n: int, i: int, place: int) -> Fraction:
        """The value of a constant for a client's sample."""
        tree = predicate.constants[place]
        value = evaluate(tree, self.world, {"n": n, "i": i, "*n": n, "*k": 0, "k": 0}, self.words)
        found = form_of(value)
        if not isinstance(found, Form) or not found.is_number:
            raise NoClassError(f"the constant {text_of(tree)} of {predicate.text} is no number")
        return fraction(found.constant)
