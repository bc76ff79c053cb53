"""Claims that say themselves how they are measured, for a paper in one file."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from theory.assumptions import Assumption
from theory.catalog import suggestion
from theory.claim import Claim, Hypothesis, Parameter, Quantity, Relation, Step
from theory.formula import names_in, parse, parse_relation
from validate.own.tables import ALGORITHMS, MEASURES, PARTICIPATION, QUANTITIES, SERVER, known
from validate.own.typeset import RELATIONS, latex_of_claim

_CONSTANTS = ("constant", "relative", "step", "smoothness")  # the assumptions' attributes that name a parameter
_NOWHERE = (
    ("shuffling", "independent"),
    ("shuffling", "independent-mean"),
    ("shuffling", "uniform"),
    ("fedmim", "independent"),
    ("fedmim", "independent-mean"),
)


@dataclass(frozen=True)
class MeasuredParameter(Parameter):
    """A parameter that is a measured constant of a scenario.

    Attributes:
        measure: which, a name in `MEASURES`.
    """

    measure: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        known("measured constant", self.measure, MEASURES)

    @property
    def counterpart(self) -> str:
        """What the verifier calls it; its own name where it has none there."""
        return MEASURES[self.measure].counterpart or self.name


@dataclass(frozen=True)
class MeasuredClaim(Claim):
    """A claim about the rounds of an algorithm, with the left side and all parameters measured by the oracle.

    Attributes:
        algorithm: a name in `ALGORITHMS`.
        participation: a name in `PARTICIPATION`; what it means is part of the claim, not a hypothesis. `SERVER` says
            what the server makes of what is sent: with ``"independent"`` it is divided by p_n.
    """

    algorithm: str = "local-sgd"
    participation: str = "everybody"

    def __post_init__(self) -> None:
        super().__post_init__()
        known("algorithm", self.algorithm, ALGORITHMS)
        known("kind of participation", self.participation, PARTICIPATION)
        if (self.algorithm, self.participation) in _NOWHERE:
            raise ValueError(f"{self.id}: {self.algorithm} with participation={self.participation!r} is not measured")
        of = QUANTITIES[known("measured quantity", self.quantity.name, QUANTITIES)].of
        for parameter in self.parameters:
            if not isinstance(parameter, MeasuredParameter):
                raise ValueError(f"{self.id}: the parameter {parameter.name!r} is not made by `parameters`")
            measure = MEASURES[parameter.measure]
            if self.algorithm not in measure.algorithms:
                raise ValueError(f"{self.id}: {self.algorithm} has no {parameter.measure} ({parameter.name})")
            if parameter.measure == "chosen_clients" and self.participation != "uniform":
                raise ValueError(f"{self.id}: chosen_clients ({parameter.name}) is of participation='uniform' only")
            if of not in measure.of:
                advice = {"rounds": "; take 'round'", "round": "; take 'rounds'"}.get(parameter.measure, "")
                raise ValueError(
                    f"{self.id}: {self.quantity.name} is measured {of}, where {parameter.measure!r} ({parameter.name}) "
                    f"has no meaning{advice}"
                )
        _check_names(self.id, self.parameters, self.definitions, self.right or "0", self.conditions)

    @property
    def measured_as(self) -> str:
        """How the claim is measured, in a line: the algorithm, who takes part, what the server makes of it."""
        if self.algorithm in ("shuffling", "fedmim"):
            return f"of {self.algorithm}: {ALGORITHMS[self.algorithm]}; {PARTICIPATION[self.participation]}"
        said = PARTICIPATION[self.participation].removesuffix(" (local-sgd, fedavg-svrg)")
        return f"of {self.algorithm}; participation {self.participation}: {said}; {SERVER[self.participation]}"


def _check_parts(id: str, hypotheses: Sequence[Hypothesis], relation: str, rest: Mapping[str, Any]) -> None:
    """That the pieces of a claim are what they are to be, which Python does not ask.

    Raises:
        ValueError: naming the piece that is not.
    """
    fields = {field.name for field in dataclasses.fields(Claim)}
    for name in rest:
        if name not in fields:
            hint = suggestion(name, sorted({*fields, *inspect.signature(claim).parameters} - {"rest"}))
            raise ValueError(f"{id}: a claim has no {name!r}{hint}")
    relations = dict.fromkeys(get_args(Relation))
    known("relation", relation, relations)
    steps = rest.get("steps", ())
    standing = rest.get("standing", ())
    for name, several, of in (
        ("hypotheses", hypotheses, Hypothesis),
        ("standing", standing, Hypothesis),
        ("steps", steps, Step),
    ):
        if not isinstance(several, list | tuple) or not all(isinstance(one, of) for one in several):
            raise ValueError(f"{id}: {name} is to be a tuple of theory.{of.__name__}, also of a single one: (one,)")
    for hypothesis in (*hypotheses, *standing):
        if not isinstance(hypothesis.assumption, Assumption | None):
            raise ValueError(
                f"{id}: the assumption of the hypothesis {hypothesis.name!r} is {hypothesis.assumption!r}; "
                'it is to be one of theory.assumptions with its constants, such as Smooth("L")'
            )
    for step in steps:
        where = f"of the line {step.label!r}"
        known(f"relation ({where})", step.relation, relations)
        if step.identity is None:
            continue
        if not isinstance(step.identity, tuple) or len(step.identity) != 2:
            raise ValueError(f"{id}: the identity {where} is to be two formulas, (left, right), not {step.identity!r}")
        for side in step.identity:
            parse(side)


def _check_names(
    id: str,
    parameters: Sequence[Parameter],
    definitions: Mapping[str, str],
    right: str,
    hypotheses: Sequence[Hypothesis],
) -> frozenset[str]:
    """The names that a claim uses; its formulas and assumptions speak of its parameters only.

    Raises:
        ValueError: when one does not, or cannot be read.
    """
    names = [parameter.name for parameter in parameters]
    known_here, used_anywhere = set(names), frozenset[str]()
    for where, used in _used(definitions, right, hypotheses):
        unknown = sorted(used - known_here)
        if unknown:
            listed = ", ".join(names) or "(there are none)"
            raise ValueError(f"{id}: {where} has {', '.join(unknown)}, which is none of the parameters {listed}")
        known_here |= {where} & set(definitions)
        used_anywhere |= used
    return used_anywhere


def _used(
    definitions: Mapping[str, str], right: str, hypotheses: Sequence[Hypothesis]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Where a claim uses names, and which: in each definition, on the right side, in each hypothesis."""
    for name, formula in definitions.items():
        yield name, names_in(parse(formula))
    yield "the right side", names_in(parse(right))
    for hypothesis in hypotheses:
        of = hypothesis.assumption
        constants = {str(getattr(of, attribute)) for attribute in _CONSTANTS if hasattr(of, attribute)}
        relation = frozenset() if hypothesis.relation is None else names_in(parse_relation(hypothesis.relation))
        yield f"the hypothesis {hypothesis.name!r}", relation | constants


def parameters(**measures: str) -> tuple[MeasuredParameter, ...]:
    """The parameters of a paper, each bound to a measured constant: ``parameters(delta="step", R2="start_distance")``.

    Args:
        measures: names in `MEASURES`, by the paper's own names.

    Raises:
        ValueError: for a name that is not known; the message lists those that are.
    """
    made = []
    for name, measure in measures.items():
        found = MEASURES[known(f"measured constant (for {name})", measure, MEASURES)]
        made.append(MeasuredParameter(name, found.domain, found.meaning, measure=measure))
    return tuple(made)


def claim(
    id: str,
    statement: str,
    quantity: str,
    right: str,
    *,
    parameters: Sequence[Parameter],
    hypotheses: Sequence[Hypothesis] = (),
    algorithm: str = "local-sgd",
    participation: str = "everybody",
    relation: Relation = "<=",
    **rest: Any,
) -> MeasuredClaim:
    """A claim ``quantity relation right`` about the rounds of an algorithm.

    Args:
        id: ``paper/label``, lower-case letters, digits, dots and dashes.
        statement: the claim in words.
        quantity: the left side, a name in `QUANTITIES`.
        right: the right side, an ASCII formula in the names of the parameters (and of `definitions`).
        parameters: from `parameters`; those that the claim does not use are left out, so that all the paper's may be
            given.
        hypotheses: all of them; each needs a relation or an assumption to be checked.
        algorithm: a name in `ALGORITHMS`.
        participation: a name in `PARTICIPATION`.
        relation: in which the quantity is to stand to the right side; an upper bound where nothing else is said.
        rest: further fields of `theory.claim.Claim`: kind, title, standing, definitions, steps, derivation, latex (made
            from the formulas where it is not given), ...

    Raises:
        ValueError: for a name that is not known, a formula that cannot be read, or one with an unknown name, and for
            hypotheses or steps that are something else.
    """
    found = QUANTITIES[known("measured quantity", quantity, QUANTITIES)]
    _check_parts(id, hypotheses, relation, rest)
    used = _check_names(id, parameters, rest.get("definitions", {}), right, (*hypotheses, *rest.get("standing", ())))
    label = id.split("/", 1)[-1]
    about: dict[str, Any] = {
        "kind": "theorem",
        "title": label.replace("-", " "),
        "equation": label,
        "source": "",
        **rest,
    }
    if not about.get("latex") and relation in RELATIONS:
        about["latex"] = latex_of_claim(found.latex, relation, right, rest.get("definitions", {}))
    return MeasuredClaim(
        id=id,
        statement=statement,
        quantity=Quantity(quantity, found.meaning, found.latex),
        right=right,
        parameters=tuple(p for p in parameters if p.name in used),
        hypotheses=tuple(hypotheses),
        algorithm=algorithm,
        participation=participation,
        relation=relation,
        **about,
    )
