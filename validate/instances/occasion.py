"""A claim put to an instance that a user hands over, as `validate.on_instance` measures it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.predicates import Connected, base_of
from theory.sentence import index_of
from validate import satisfied
from validate.instances.instance import Instance
from validate.instances.pool import Drawn
from validate.instances.specs import instance_from, with_constants
from validate.on_instance import OnInstance, functions_of, valued


def occasion(claim: Claim, instance: Instance | Drawn | Mapping[str, Any] | str) -> OnInstance:
    """A claim on an instance.

    Args:
        claim: as its author wrote it.
        instance: one, or its JSON form (`validate.instances.specs.instance_from`), as plain data or as text. The form
            may have ``constants`` beside: values of the claim's names that are no parameters of its algorithm. A name
            that an assumption binds has the best value of the problem where none is given.

    Raises:
        ValueError: for what is no instance, one of another algorithm, or a name of the claim without a value.
    """
    if isinstance(instance, Drawn):
        constants: dict[str, Any] = {name: v for name, v in instance.constants.items() if name not in ("N", "d", "K")}
        instance = instance.instance
    elif isinstance(instance, Instance):
        constants = {}
    else:
        instance, constants = _read(claim, instance)
    if instance.program != claim.program:
        raise ValueError(f"the instance is of another algorithm than that of {claim.id}")
    missing = [name for name in claim.vectors if name not in instance.vectors]
    if missing:
        raise ValueError(f"{claim.id}: the free vector {missing[0]} has no value; give it under vectors")
    for name in _without_constant(claim, instance):  # any number: the assumption is not true with it
        base, index = index_of(name)
        any_number: Any = [Fraction(1)] * functions_of(instance).clients if index == "n" else Fraction(1)
        constants.setdefault(base, any_number)
    return OnInstance(claim, valued(claim, instance, constants))


def _read(claim: Claim, given: Any) -> tuple[Instance, dict[str, Any]]:
    """The instance of a JSON form, and the constants that stand beside it."""
    if isinstance(given, str):
        import json

        try:
            given = json.loads(given, parse_float=str)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the instance is no JSON: {error}") from None
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{claim.id} is put to an instance, an object with algorithm, parameters, problem, start and rounds, not "
            f"to a {type(given).__name__}"
        )
    form, constants = with_constants(given, claim)
    return instance_from(form, claim), constants


def _without_constant(claim: Claim, instance: Instance) -> list[str]:
    """The names that assumptions bind of which the instance has no value at all, such as mu where f is flat."""
    problem = functions_of(instance)
    own = {} if instance.program is None else instance.parameters
    found = []
    for one in claim.predicates:
        if isinstance(one, Connected) or len(one.binds) < len(one.constants) or not one.binds or problem is None:
            continue
        bests = satisfied.best(one, problem)
        for i, (constant, direction) in enumerate(zip(one.constants, one.directions, strict=True)):
            base = base_of(constant)
            name = "" if base is None else base[0]
            if name not in one.binds or index_of(name)[0] in own:
                continue
            best = None if bests is None else bests[i]
            least = min(best) if isinstance(best, list) else best
            if least is None or (direction == "down" and not least > 0):
                found.append(name)
    return found
