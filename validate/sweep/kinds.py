"""The kinds of problems and algorithms of a specification, and who takes part; what each may say, and together.

The algorithms are those of the first specifications (`theory.papers.specs`), and a claim's own.

Everything here is on canonical values (see `validate.sweep.entries`) and computes nothing: a combination that cannot be
is found before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal

from theory.domain import NONNEGATIVE, POSITIVE, PROBABILITY, REAL, Domain
from theory.papers.specs import SPECS
from validate.sweep.entries import (
    Entry,
    check_names,
    choice,
    either,
    fraction,
    integer,
    number,
    refuse,
    sequence,
    shown,
    suggestion,
    table,
)

Table = Mapping[str, Any]

INSURANCE_CLIENTS = 18
MOST_HESSIAN_ENTRIES = 1_000_000  # N n d^2 of a generated problem
MOST_SAMPLES = 1_000  # of a scalar problem, all clients together
MOST_STEPS = 5_000_000  # K N times the local steps of a round: entries of a table of moments
MOST_IN_ORDERS = 16  # clients in all orders of which moments are computed, `sim.moments.turns.MOST_VISITED`


@dataclass(frozen=True)
class Kind:
    """What a table of one kind may say.

    Attributes:
        entries: by name, in the order in which an axis varies: the last one fastest.
        check: refuses values that do not go together, given all but `free` and the place for the error.
        free: entries that `check` does not look at.
        others: how entries of any other name are read; None where there are none.
        present: who takes part in an algorithm: clients by their chances, or so many of them, "all" by their nature,
            "some", so many of them, or whom a "program" says.
        weights: the entry with a weight of each client.
    """

    entries: Mapping[str, Entry]
    check: Callable[[Table, str], None] = lambda values, where: None
    free: tuple[str, ...] = ()
    others: Entry | None = None
    present: Literal["", "all", "some", "program"] = ""
    weights: str = ""

    def entries_for(self, given: Table, where: str) -> dict[str, Entry]:
        """Its entries, and those of other names that a table has.

        Raises:
            ValueError: for a name that is none.
        """
        if self.others is None:
            check_names(given, ("kind", *self.entries), where)
            return dict(self.entries)
        for name in given:
            if not _NAME.fullmatch(str(name)):
                raise ValueError(f"{where} has the entry {shown(name)}, which is no name of a parameter")
        return {**self.entries, **{name: self.others for name in sorted(given) if name != "kind"}}


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def _check_quadratic(values: Table, where: str) -> None:
    clients, dim, samples = values["clients"], values["dim"], values["samples"]
    mu, smooth = Fraction(values["mu"]), Fraction(values["L"])
    if mu > smooth:
        raise ValueError(f"{where}.mu={values['mu']} is outside [0, {values['L']}], 0..L")
    if clients * samples * dim * dim > MOST_HESSIAN_ENTRIES:
        size = f"{where}: clients*samples*dim^2={clients * samples * dim * dim}"
        raise ValueError(f"{size} is outside the integers in [1, {MOST_HESSIAN_ENTRIES}]")
    if clients < 2 and values["heterogeneity"] != "0":
        because = f"as heterogeneity={values['heterogeneity']} > 0"
        raise ValueError(f"{where}.clients={clients} is outside the integers in [2, inf), {because}")
    if clients * dim < 2 and mu < smooth:
        because = f"as mu={values['mu']} < L={values['L']}"
        raise ValueError(f"{where}: clients*dim={clients * dim} is outside the integers in [2, inf), {because}")
    if samples < 2 and values["sample_spread"] != "0":
        because = f"as sample_spread={values['sample_spread']} > 0"
        raise ValueError(f"{where}.samples={samples} is outside the integers in [2, inf), {because}")


def _client(value: Any, name: str) -> dict[str, list[str]]:
    """{h, a}: one number each, or as many numbers each."""
    given = table(value, name)
    check_names(given, ("h", "a"), name)
    found: dict[str, list[str]] = {}
    for key in ("h", "a"):
        if key not in given:
            raise ValueError(f"{name} lacks {key}; a client is {{ h = [...], a = [...] }}")
        values = given[key] if isinstance(given[key], list) else [given[key]]
        found[key] = sequence(number(REAL), "at least one number", 1)(values, f"{name}.{key}")
    if len(found["h"]) != len(found["a"]):
        raise ValueError(f"{name} has {len(found['h'])} values of h and {len(found['a'])} of a; it needs as many")
    return found


def _check_scalar(values: Table, where: str) -> None:
    samples = sum(len(client["h"]) for client in values["clients"])
    if samples > MOST_SAMPLES:
        raise ValueError(f"{where}.clients has {samples} samples; a scalar problem has at most {MOST_SAMPLES}")


PROBLEMS: Mapping[str, Kind] = {
    "quadratic": Kind(
        {
            "clients": Entry(integer(1)),
            "dim": Entry(integer(1)),
            "mu": Entry(number(NONNEGATIVE)),
            "L": Entry(number(POSITIVE)),
            "heterogeneity": Entry(number(NONNEGATIVE), "0"),
            "samples": Entry(integer(1), 1),
            "sample_spread": Entry(number(NONNEGATIVE), "0"),
            "seed": Entry(integer(0), 0),
        },
        _check_quadratic,
        free=("seed",),
    ),
    "scalar": Kind(
        {"clients": Entry(sequence(_client, "at least one client { h = [...], a = [...] }", 1), listed=True)},
        _check_scalar,
    ),
    "insurance": Kind({"columns": Entry(choice("standardised", "unit"), "standardised")}),
}

_STEP = Entry(either(number(POSITIVE), sequence(number(POSITIVE), "one number a round, at least one", 1)))
_RULES = {
    "aggregation": Entry(choice("unbiased", "normalised"), "unbiased"),
    "empty": Entry(choice("keep", "zero", "condition"), "keep"),
}


def _of_spec(spec: Mapping[str, Any]) -> Kind:
    """What the table of an algorithm may say, by the table of its specification."""
    absent, lags, weights = spec.get("absent", ()), spec.get("lags", ()), spec.get("weights", "")
    counts = [name for name in spec["parameters"] if name != "step" and name not in absent]
    entries = {"step": _STEP, **{name: Entry(integer(1)) for name in counts}}
    if weights:
        shares = Entry(sequence(number(NONNEGATIVE), "one weight a client, at least one", 1), None, listed=True)
        return Kind({**entries, weights: shares}, present="all", weights=weights)
    if not lags:
        return Kind({**entries, **{name: _RULES[name] for name, _ in spec["rules"]}})

    def check(values: Table, where: str) -> None:
        if not sum(map(Fraction, values[lags[0]])) < 1:
            raise ValueError(f"{where}.{lags[0]}={shown(list(values[lags[0]]))} has a sum outside [0, 1)")

    one_each = Entry(sequence(number(NONNEGATIVE), "one number a lag"), (), listed=True)
    free = ("step", *counts, *lags[1:])
    return Kind({**entries, **dict.fromkeys(lags, one_each)}, check, free, present="some")


SPEC_OF: Mapping[str, str] = {spec.get("kind", name): name for name, spec in SPECS.items()}
"""The specification's name of each kind of algorithm."""

ALGORITHMS: Mapping[str, Kind] = {
    **{kind: _of_spec(SPECS[name]) for kind, name in SPEC_OF.items()},
    "program": Kind(
        {},
        others=Entry(either(number(REAL), sequence(number(REAL), "one number a client, or a round", 1))),
        present="program",
    ),
}
"""Of "program", the algorithm is the claim's own, and the entries are its parameters."""

PARTICIPATION: Mapping[str, Entry] = {
    "p": Entry(either(number(PROBABILITY), sequence(number(PROBABILITY), "one probability a client", 1))),
    "clients": Entry(integer(1)),
}
EVERYBODY: Table = {"p": "1"}


def kind_of(given: Any, kinds: Mapping[str, Kind], where: str) -> tuple[str, Kind]:
    """The kind that a table names.

    Raises:
        ValueError: when it names none of `kinds`.
    """
    name = table(given, where).get("kind")
    if type(name) is not str or name not in kinds:
        known = ", ".join(map(repr, kinds))
        if "kind" not in given:
            raise ValueError(f"{where} lacks kind, one of {known}")
        close = suggestion(name, list(kinds)) if isinstance(name, str) else ""
        raise ValueError(f"{where}.kind={shown(name)} is not one of {known}{close}")
    return name, kinds[name]


def axes(given: Any, kinds: Mapping[str, Kind], where: str) -> dict[str, tuple[Any, ...]]:
    """The values of every entry of a table, its kind included, in the kind's order; checked one by one and together.

    Raises:
        ValueError: naming the table and the entry, its value and what it may be.
    """
    name, kind = kind_of(given, kinds, where)
    found: dict[str, tuple[Any, ...]] = {"kind": (name,)}
    for key, entry in kind.entries_for(given, where).items():
        if key in given:
            found[key] = entry.values(given[key], f"{where}.{key}")
        elif entry.required:
            raise ValueError(f"{where} lacks {key}; kind {name!r} needs it")
        else:
            found[key] = (list(entry.default) if isinstance(entry.default, tuple) else entry.default,)
    return found


def check_together(found: Mapping[str, tuple[Any, ...]], kinds: Mapping[str, Kind], where: str) -> None:
    """Refuse a table of axes of which some combination cannot be.

    Raises:
        ValueError: naming the table and the entries.
    """
    kind = kinds[found["kind"][0]]
    for values in combinations({key: values for key, values in found.items() if key not in kind.free}):
        kind.check(values, where)


def combinations(found: Mapping[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """One table for each combination of the axes' values, the last axis varying fastest."""
    names = tuple(found)
    for values in product(*found.values()):
        yield dict(zip(names, values, strict=True))


def one(given: Any, kinds: Mapping[str, Kind], where: str) -> dict[str, Any]:
    """A table in which every entry has one value, read and checked as `axes` does.

    Raises:
        ValueError: also when an entry is an axis.
    """
    name, kind = kind_of(given, kinds, where)
    values: dict[str, Any] = {"kind": name}
    for key, entry in kind.entries_for(given, where).items():
        if key not in given:
            raise ValueError(f"{where} lacks {key}; kind {name!r} needs it")
        values[key] = entry.read(given[key], f"{where}.{key}")
    kind.check(values, where)
    return values


def participation_axes(given: Any, where: str) -> list[Table]:
    """What a table of participation lists.

    Raises:
        ValueError: naming the entry, its value and what it may be.
    """
    check_names(table(given, where), tuple(PARTICIPATION), where)
    if len(given) != 1:
        raise ValueError(f"{where} has {', '.join(given) or 'no entry'}; it has one of p and clients")
    return [{key: value} for key in given for value in PARTICIPATION[key].values(given[key], f"{where}.{key}")]


def clients_of(problem: Table) -> int:
    """N."""
    if problem["kind"] == "quadratic":
        return int(problem["clients"])
    return len(problem["clients"]) if problem["kind"] == "scalar" else INSURANCE_CLIENTS


def local_steps_of(algorithm: Table) -> int:
    """Local steps of a client in a round."""
    if algorithm["kind"] == "program":
        return 1
    return int(algorithm["S"] * algorithm["M"] if "S" in algorithm else algorithm["local_steps"])


def settled(
    algorithm: Table, participation: Table | None, clients: int, where: tuple[str, str, str]
) -> tuple[Table, Table]:
    """An algorithm and who takes part in it, for N clients, in canonical form.

    Absent weights are 1/N each; everybody is p = 1, and N of N clients where the number of them is said.

    Args:
        algorithm: one combination of a table.
        participation: the same, or None for everybody.
        clients: N.
        where: how errors call the problem, the algorithm and the participation.

    Raises:
        ValueError: for what cannot be, naming the tables and the entries.
    """
    (problem, method, part), name, kind = where, algorithm["kind"], ALGORITHMS[algorithm["kind"]]
    if entry := kind.weights:
        weights = algorithm[entry] if algorithm[entry] is not None else [str(Fraction(1, clients))] * clients
        if len(weights) != clients:
            refuse(
                f"{method} with {problem}", f"{entry} has {len(weights)} weights; it needs one a client, N={clients}"
            )
        algorithm = {**algorithm, entry: weights}
    chosen = dict(EVERYBODY) if participation is None else dict(participation)
    if isinstance(chosen.get("p"), list):
        if len(chosen["p"]) != clients:
            count = len(chosen["p"])
            refuse(f"{part} with {problem}", f"p has {count} probabilities; it needs one a client, N={clients}")
        if len(set(chosen["p"])) == 1:
            chosen = {"p": chosen["p"][0]}
    if chosen.get("clients", 0) > clients:
        refuse(f"{part} with {problem}", f"clients={chosen['clients']} is outside the integers in [1, {clients}], 1..N")
    everybody = chosen in (EVERYBODY, {"clients": clients})
    if kind.present in ("all", "program"):
        if not everybody:
            why = "a program says who takes part" if kind.present == "program" else f"{name} visits every client"
            refuse(f"{part} with {method}", f"{_brief(chosen)} is not everybody, and {why}")
        chosen = dict(EVERYBODY)
    if kind.present == "some":
        if not everybody and "p" in chosen:
            refuse(f"{part} with {method}", f"{_brief(chosen)} is neither 1 nor absent; {name} has clients = S of N")
        chosen = {"clients": clients} if everybody else chosen
    return algorithm, chosen


def _brief(chosen: Table) -> str:
    return ", ".join(f"{key}={shown(value)}" for key, value in chosen.items())


def check_sizes(algorithm: Table, clients: int, rounds: int, exact: bool, where: tuple[str, str]) -> None:
    """Refuse what no machine can hold, and a schedule of steps that does not fit the rounds.

    Args:
        algorithm: settled.
        clients: N.
        rounds: K.
        exact: whether the exact oracle is asked.
        where: how errors call the problem and the algorithm.

    Raises:
        ValueError: naming the tables and the entries.
    """
    problem, method = where
    step = algorithm["step"] if algorithm["kind"] != "program" else None
    if isinstance(step, list) and len(step) != rounds:
        refuse(method, f"step has {len(step)} entries; it needs one a round, rounds={rounds}")
    steps = rounds * clients * local_steps_of(algorithm)
    if steps > MOST_STEPS:
        refuse(f"{method} with {problem}", f"rounds*clients*local steps={steps} is outside [1, {MOST_STEPS}]")
    if exact and ALGORITHMS[algorithm["kind"]].present == "all" and clients > MOST_IN_ORDERS:
        text = f"clients={clients} is outside the integers in [1, {MOST_IN_ORDERS}], of which the exact oracle can take"
        refuse(f"{method} with {problem}", f"{text} all orders; sampled cells can have more")


def start_of(value: Any, name: str) -> str:
    """The start, a number for every coordinate, in canonical form."""
    return str(fraction(value, name))


ROUNDS = Entry(integer(1))
START = Entry(start_of, "1")
SEEDS = Entry(integer(0), 0)
METHOD = Entry(choice("exact", "sampled"), "exact")
UNIT = Domain(0, 1, lower_open=True, upper_open=True)
