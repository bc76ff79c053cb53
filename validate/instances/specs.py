"""What a user hands to a command: an instance, in the language's JSON form or in that of the first specifications.

A first specification (SPEC, `validate.scenario`) becomes an instance by the table of its names
(`theory.papers.specs.SPECS`). What no instance says stays a scenario: rounds that are drawn again until somebody takes
part (``empty="condition"``, where that can happen), chances that differ between clients and between rounds, and no
rounds at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.formula import Name
from theory.papers.specs import SPECS
from theory.program import Algorithm, Program, renaming
from theory.sentence import everything, index_of
from validate.instances.instance import KEYS, Instance, read_instance, uses_of
from validate.instances.kinds import read_problem
from validate.instances.named import algorithm_named
from validate.instances.numbers import entries, number, number_json


@dataclass(frozen=True)
class Asked:
    """What was handed over.

    Attributes:
        instance: the instance; None where it is a scenario that no instance says.
        scenario: that scenario.
    """

    instance: Instance | None
    scenario: Any


def asked(data: Mapping[str, Any]) -> Asked:
    """What an object of JSON says is to be run.

    Args:
        data: an instance, or a first specification.

    Raises:
        ValueError: naming argument, value and domain.
        OSError: for a file with an algorithm that cannot be read.
    """
    if not is_instance(data):
        from validate.scenario import read_scenario

        scenario = read_scenario(data, exact=False)
        instance = spoken(data)
        return Asked(instance, scenario if instance is None else None)
    return Asked(instance_from(data), None)


def is_instance(data: Mapping[str, Any]) -> bool:
    """Whether an object has the form of an instance, rather than that of a first specification."""
    if not isinstance(data, Mapping):
        raise ValueError(f"the instance is a {type(data).__name__}, not an object with named entries")
    name = data.get("algorithm")
    return "problem" in data or "parameters" in data or (isinstance(name, str) and ("/" in name or ".py:" in name))


def instance_from(data: Mapping[str, Any], claim: Claim | None = None) -> Instance:
    """The instance of an object of JSON; errors as of `asked`.

    Raises:
        ValueError: also for a first specification that no instance says, and for an algorithm that is not the claim's.
    """
    if not is_instance(data) and isinstance(data.get("algorithm"), str) and data["algorithm"] in SPECS:
        instance = spoken(data)
        if instance is None:
            raise ValueError("no instance of the language says this specification: see docs/reference/scenarios.md")
        if claim is not None and renaming_of(instance.program, claim) is None:
            raise ValueError(f"{claim.id} is about another algorithm than {data['algorithm']!r}")
        return instance if claim is None else renamed(instance, claim)

    if claim is not None and claim.of is not None and not data.get("algorithm"):
        data = {**data, "algorithm": f"{claim.paper}/{claim.of.name}"}

    def resolved(name: str) -> Algorithm | Program:
        if claim is not None and claim.of is not None and name in ("", claim.of.name, f"{claim.paper}/{claim.of.name}"):
            return claim.of
        return algorithm_named(name)

    schedules = frozenset() if claim is None else _schedules(claim)
    about_functions = claim is not None and claim.of is None
    instance = read_instance(data, None if about_functions else resolved, schedules)
    if claim is not None and instance.program != claim.program:
        if renaming_of(instance.program, claim) is None:
            raise ValueError(f"algorithm={instance.algorithm!r} is another algorithm than that of {claim.id}")
        return renamed(instance, claim)
    return instance


def with_constants(data: Mapping[str, Any], claim: Claim) -> tuple[dict[str, Any], dict[str, Any]]:
    """An instance of a claim and the values of its names that are no parameters of its algorithm, apart.

    Args:
        data: an instance, with such values among its parameters or under ``constants``; or a certificate, which has
            them so. Without an algorithm, a start of which the claim does not speak is left out, and is 0.
        claim: whose names these are.

    Returns:
        What `instance_from` reads, and the values by name, as exact numbers or lists of them.

    Raises:
        ValueError: for what is no number.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"the instance is a {type(data).__name__}, not an object with named entries")
    form = dict(data)
    if "format" in form and form.get("kind") == "play":
        form = {key: form[key] for key in KEYS if key in form and key != "algorithm"}
    given = form.pop("constants", {})
    if not isinstance(given, Mapping):
        raise ValueError(f"constants is to be an object with a value for each name, not {type(given).__name__}")
    constants = {str(name): _value(str(name), value) for name, value in given.items()}
    parameters = form.get("parameters")
    if isinstance(parameters, Mapping):
        program = claim.program
        own = set() if program is None else {*program.parameters, *uses_of(program)}
        others = {index_of(symbol)[0] for symbol in claim.symbols} | {"N", "d"}
        moved = {str(name) for name in parameters if str(name) in others - own}
        constants = {**{name: _value(name, parameters[name]) for name in moved}, **constants}
        form["parameters"] = {name: value for name, value in parameters.items() if str(name) not in moved}
    if form.get("problem") is None:
        if form.get("start") in ([], ()):
            del form["start"]
    elif claim.of is None and "start" not in form and not speaks_of_start(claim):
        form["start"] = [0] * read_problem(form["problem"]).dim
    return form, constants


def speaks_of_start(claim: Claim) -> bool:
    """Whether a claim without an algorithm has x0 in it."""
    sides = [side for one in (claim.sentence, *claim.relations) for side in one.sides]
    trees = [*sides, *claim.definitions.values()]
    return any(isinstance(part, Name) and part.name == "x0" for tree in trees for part in everything(tree))


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"k"}:
        return entries(name, value["k"])
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        return [entries(f"{name}[{i}]", row) for i, row in enumerate(value)]
    return entries(name, value) if isinstance(value, list | tuple) else number(name, value)


def _schedules(claim: Claim) -> frozenset[str]:
    from validate.instances.setting import schedules_of

    return schedules_of(claim)


def renaming_of(program: Program | None, claim: Claim) -> Mapping[str, str] | None:
    """A program's parameters by those of a claim's algorithm, where both are the same round; else None."""
    return None if program is None or claim.program is None else renaming(program, claim.program)


def renamed(instance: Instance, claim: Claim) -> Instance:
    """The instance with the names of the claim's algorithm, which is the same round."""
    names = renaming_of(instance.program, claim)
    assert names is not None
    assert claim.of is not None
    parameters = {mine: instance.parameters[theirs] for mine, theirs in names.items()}
    unused = {name: Fraction(1) for name in claim.of.program.parameters if name not in parameters}
    problem, start, called = instance.problem, instance.start, f"{claim.paper}/{claim.of.name}"
    return Instance(claim.of.program, {**unused, **parameters}, problem, start, instance.rounds, {}, called)


# --- first specifications --------------------------------------------------------------------------------------------


def spoken(spec: Mapping[str, Any]) -> Instance | None:
    """The instance of a first specification that was found to be one; None where the language does not say it."""
    form = translated(spec)
    if form is None:
        return None
    try:
        return read_instance(form, algorithm_named)
    except ValueError:  # numbers too long, too many rounds, ...: what it was written for takes them
        return None


def lengths_of(spec: Mapping[str, Any]) -> tuple[str, str]:
    """What the rounds of a first specification are called, and what their number is called in JSON."""
    length: str = SPECS[spec["algorithm"]]["rounds"]
    return ("round" if length == "K" else length.removesuffix("s")), length


def one_round_of(spec: Mapping[str, Any], step: Any = None, chances: Sequence[Any] = ()) -> Instance:
    """The instance of one round of a first specification, drawn once, whoever takes part.

    Args:
        spec: one that `validate.scenario.read_scenario` accepts, of any number of rounds.
        step: of this round; without one that of the first, or 1.
        chances: of each client in this round; without them 1. The instance has one a client.

    Raises:
        ValueError: for numbers that no instance takes, and why.
    """
    table = SPECS[spec["algorithm"]]
    if step is None:
        step = spec["step"]
        step = (step[0] if step else 1) if isinstance(step, list | tuple) else step
    clients = [dict(client) for client in spec["clients"]]
    for n, client in enumerate(clients if table["clients"] else ()):
        client["p"] = chances[n] if chances else 1
    single = {**spec, "clients": clients, table["rounds"]: 1, "step": step}
    if spec.get("empty") == "condition":
        single["empty"] = "keep"
    form = translated(single)
    assert form is not None
    for old, new in table["clients"].items():
        form["parameters"][new] = [client[old] for client in clients]
    return read_instance(form, algorithm_named)


def translated(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """The JSON form of the instance of a first specification; None where there is none.

    Args:
        spec: one that `validate.scenario.read_scenario` accepts.
    """
    from validate.scenario import rational

    table = SPECS.get(spec["algorithm"])
    if table is None:
        return None
    rounds = int(spec[table["rounds"]])
    rules = tuple(spec.get(name, otherwise) for name, otherwise in table["rules"])
    clients = spec["clients"]
    each = {old: [_texts(client.get(old, 1), rational) for client in clients] for old in table["clients"]}
    if rules and rules[-1] == "condition" and any(p == "1" for p in each.get("p", ())):
        rules = (*rules[:-1], "keep")  # somebody is always there
    if rounds < 1 or rules not in table["algorithms"]:
        return None
    parameters: dict[str, Any] = {}
    for old, new in table["clients"].items():
        value = _of_clients(each[old])
        if value is None:
            return None
        parameters[new] = value
    factor = rational(spec.get(table.get("factor", ""), 1), "factor")
    for old, new in table["parameters"].items():
        value = _texts(spec.get(old, len(clients)), rational)
        if old == "step":
            value = (
                [str(Fraction(v) / factor) for v in value] if isinstance(value, list) else str(Fraction(value) / factor)
            )
        parameters[new] = {"k": value} if isinstance(value, list) else value
    if "lags" in table:
        weights = {name: [_texts(v, rational) for v in spec.get(name, ())] for name in table["lags"]}
        longest = max(1, *map(len, weights.values()))
        parameters |= {name: [*own, *["0"] * (longest - len(own))] for name, own in weights.items()}
        parameters[table["rest"]] = str(1 - sum(map(Fraction, weights[table["lags"][0]])))
    shares = [factor] * len(clients)
    if "weights" in table:
        shares = [factor * len(clients) * rational(w, "weight") for w in spec[table["weights"]]]
    return {
        "algorithm": table["algorithms"][rules],
        "parameters": parameters,
        "problem": {"clients": [_samples(c, table["sample"], s) for c, s in zip(clients, shares, strict=True)]},
        "start": _texts(spec[table["start"]], rational),
        "rounds": rounds,
    }


def _texts(value: Any, rational: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_texts(v, rational) for v in value]
    return str(rational(value, "number"))


def _of_clients(values: list[Any]) -> Any:
    """One number, one a client, or a schedule; None for a table of them."""
    if all(value == values[0] for value in values):
        return {"k": values[0]} if isinstance(values[0], list) else values[0]
    plain = [value[0] if isinstance(value, list) and len(set(value)) == 1 else value for value in values]
    return None if any(isinstance(value, list) for value in plain) else plain


def _samples(client: Mapping[str, Any], names: tuple[str, str], share: Fraction) -> list[dict[str, Any]]:
    from validate.scenario import as_list, rational

    first, second = names
    h, other = ([rational(v, name) for v in as_list(client[name])] for name in names)
    scaled = other if second == "a" else [share * v for v in other]
    return [{first: number_json(share * a), second: number_json(b)} for a, b in zip(h, scaled, strict=True)]
