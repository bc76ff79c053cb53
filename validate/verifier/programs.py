"""Reads an algorithm as data: one round as a list of steps and loops. Every name, kind and argument is checked.

A value is the server's (a vector), the clients' (one for each), a table (one for each sample of each client), a past
(remembered vectors), a number or one a client, or samples. Inside ``visit`` everything is that of the client at hand:
what the clients have outside is seen there as that client's own; its part of a table is a ``row``, its samples are
``drawn``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .reading import FormatError, fields, list_of, shown, text_of
from .sentences import ONE_NUMBER, POINTS, SEVERAL_NUMBERS, WORDS, Node, everything, names_in, read_formula
from .steps import OF_CLIENTS, VECTORS, Carried, Loop, Program, Scalar, State, Step, defined, result_of
from .vocabulary import Vocabulary

KINDS = (*VECTORS, "past", "client past", "number", "numbers", "sample")
COLLECTIVE = ("mean", "sum", "average", "mix")
NUMBERS_OF = {
    "sample": 1, "noise": 1, "choose": 1, "coins": 1, "coin": 1, "average": 1, "where": 1, "before": 2, "keep": 1,
    "top": 1, "prox": 1, "project": 1, "clip": 1,
}  # fmt: skip
"""How many scalars an operation has; ``linear`` has one for each of its vectors, the others none."""
LABELLED = ("mix", "combine", "tap")
PLAIN = (
    *("linear", "gradient", "full gradient", "each", "mean", "sum", "mix", "ones", "get", "put", "shift", "combine"),
    *("tap", "times", "over", "larger", "sqrt", "sign", "norm"),
)
OPERATIONS = frozenset((*PLAIN, *NUMBERS_OF))
CHOICES = ("sample", "choose")
MOST_STEPS = 2_000
MOST_LOOPS = 8
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
VALUE = re.compile(r"_[0-9]{1,6}")
TURN = re.compile(r"h[0-9]{0,2}")
INDICES_OF = {"client": frozenset("n"), "client past": frozenset("n"), "table": frozenset("ni")}
"""Which indices a state of a kind has, and the formula of what it begins with."""
IN_FORMULAS = {"number", "name", "+", "-", "*", "/", "**", "neg", *ONE_NUMBER, *SEVERAL_NUMBERS}


def read_program(data: Any) -> Program:
    """A program from its data.

    Raises:
        FormatError: for data that are none.
    """
    fields(data, "the program", "state parameters round result", "name")
    name = shown(text_of(data.get("name", ""), "the program's name"), 80)
    parameters = tuple(named(p, "a parameter of the program") for p in list_of(data["parameters"], "parameters"))
    state = tuple(_state(s, parameters) for s in list_of(data["state"], "state"))
    names = [*(s.name for s in state), *parameters]
    if not state or len(set(names)) < len(names) or len(state) > 50 or len(parameters) > 100:
        raise FormatError("the program has no state, or a name twice")
    reader = _Reader(parameters)
    inputs = [f"_{i}" for i in range(len(state))]
    reader.kinds |= {value: s.kind for value, s in zip(inputs, state, strict=True)}
    body = reader.steps(data["round"], frozenset(inputs), None, ())
    result = tuple(text_of(r, "a result") for r in list_of(data["result"], "result"))
    if len(result) != len(state):
        raise FormatError("the program's result is not its state")
    copied = []
    for value, s in zip(result, state, strict=True):
        kind = reader.kinds.get(value)
        if kind != s.kind and (kind, s.kind) != ("server", "client"):
            raise FormatError(f"the state {s.name} of kind {s.kind} becomes {shown(value)}, of kind {kind}")
        copied.append(kind != s.kind)
    clash = {label for label in reader.taps if label in names}
    if clash:
        raise FormatError(f"a tap has a name that is taken: {shown(sorted(clash))}")
    return Program(name, state, parameters, body, result, tuple(copied), reader.kinds, reader.taps)


def named(value: Any, what: str) -> str:
    """A name that means nothing else in claims."""
    text = text_of(value, what)
    if not NAME.fullmatch(text) or text in WORDS - {"h"} or text in POINTS or text in ("K", "k", "n", "i"):
        raise FormatError(f"{what} is no name, or means something else: {shown(text)}")
    return text


def _state(data: Any, parameters: Sequence[str]) -> State:
    fields(data, "a state variable", "name initial")
    name, text = named(data["name"], "a state variable"), text_of(data["initial"], "an initial value").strip()
    match = re.fullmatch(r"(?:(each|table)\s+)?(?:(\S+)\s+times\s+)?(.+)", text, re.DOTALL)
    if match is None or (match[1] == "table" and match[2]):
        raise FormatError(f"the initial value of {name} cannot be read: {shown(text)}")
    kind = {None: "server", "each": "client", "table": "table"}[match[1]]
    length = None
    if match[2]:
        kind = "past" if kind == "server" else "client past"
        tree = read_formula(match[2], f"the length of {name}")
        length = Scalar(tree, {}, True, match[2])
        _only(tree, match[2])
    initial = read_formula(match[3], f"the initial value of {name}")
    begins = Vocabulary().read(initial)
    is_vector = begins.vector or (initial.op == "number" and initial.value == 0)
    if begins.free - INDICES_OF.get(kind, frozenset()) or not is_vector:
        raise FormatError(f"{name} begins with what is no vector there: {shown(text)}")
    return State(name, kind, initial, length, text)


def _only(tree: Node, text: str) -> None:
    for node in everything(tree):
        if node.op not in IN_FORMULAS:
            raise FormatError(f"{node.op} is no operation of a program: {shown(text)}")


class _Reader:
    """Goes through the steps and keeps what is known."""

    def __init__(self, parameters: Sequence[str]) -> None:
        self.parameters = parameters
        self.kinds: dict[str, str] = {}
        self.taps: dict[str, tuple[str, tuple[Loop, ...]]] = {}
        self.count = 0

    def steps(
        self, data: Any, known: frozenset[str], inside: frozenset[str] | None, turns: tuple[str, ...], depth: int = 0
    ) -> tuple[Step | Loop, ...]:
        """Steps in order; `known` are the values that are there before, `inside` those made in a visit."""
        found: list[Step | Loop] = []
        for item in list_of(data, "the steps of a round"):
            self.count += 1
            if self.count > MOST_STEPS or depth > MOST_LOOPS:
                raise FormatError("the program is too long, or its loops are nested too deeply")
            if isinstance(item, dict) and item.get("do") in ("repeat", "visit", "pass"):
                step: Step | Loop = self.loop(item, known, inside, turns, depth)
            else:
                step = self.step(item, known, inside, turns)
            found.append(step)
            made = frozenset(defined(step))
            known = known | made
            inside = None if inside is None else inside | made
        return tuple(found)

    def seen(self, name: Any, known: frozenset[str], inside: frozenset[str] | None) -> tuple[str, bool]:
        """What a value is where it is read, and whether it has a part for each client of which one is taken there."""
        text = text_of(name, "the name of a value")
        if text not in known:
            raise FormatError(f"the value {shown(text)} is not there where it is used")
        kind = self.kinds[text]
        each = kind in OF_CLIENTS
        if inside is not None:
            return (OF_CLIENTS.get(kind, kind), False) if text not in inside else (kind, False)
        if kind in ("row", "drawn"):
            raise FormatError(f"the value {text} of one client is used outside of its visit")
        return kind, each

    def new(self, name: Any, kind: str) -> str:
        text = text_of(name, "the name of a value")
        if not VALUE.fullmatch(text) or text in self.kinds:
            raise FormatError(f"{shown(text)} is no name of a value, or there already")
        self.kinds[text] = kind
        return text

    def scalar(self, text: Any, known: frozenset[str], inside: frozenset[str] | None, turns: tuple[str, ...]) -> Scalar:
        tree = read_formula(text, "a number of the program", values=True)
        _only(tree, str(text))
        values: dict[str, bool] = {}
        fixed = True
        for name in sorted(names_in(tree)):
            if VALUE.fullmatch(name):
                kind, each = self.seen(name, known, inside)
                if kind not in ("number", "numbers"):
                    raise FormatError(f"{name} is a vector where a number is needed")
                values[name], fixed = each, False
            elif name in turns:
                fixed = False
            elif name not in self.parameters and name not in ("k", "N", "d"):
                raise FormatError(f"the program speaks of {shown(name)}, which is no parameter")
        return Scalar(tree, values, fixed, str(text))

    def step(self, data: Any, known: frozenset[str], inside: frozenset[str] | None, turns: tuple[str, ...]) -> Step:
        fields(data, "a step of the program", "do to kind of numbers", "label replace")
        op = text_of(data["do"], "an operation")
        if op not in OPERATIONS:
            raise FormatError(f"{shown(op)} is no operation of a program")
        seen = [self.seen(name, known, inside) for name in list_of(data["of"], "of")]
        given = tuple(self.scalar(text, known, inside, turns) for text in list_of(data["numbers"], "numbers"))
        label, replace = text_of(data.get("label", ""), "a label"), data.get("replace")
        if not isinstance(replace, bool | None) or (replace is not None) != (op in CHOICES):
            raise FormatError(f"{shown(op)}: replace is said of {' and '.join(CHOICES)}, and there it is true or false")
        if (op in LABELLED) != bool(label):
            raise FormatError(f"{shown(op)} has a label, or lacks one")
        kinds = tuple(kind for kind, _ in seen)
        if len(given) != (len(kinds) if op == "linear" else NUMBERS_OF.get(op, 0)):
            raise FormatError(f"{shown(op)} has {len(given)} numbers")
        many = any(each for scalar in given for each in scalar.values.values())
        declared = text_of(data["kind"], "a kind")
        if declared not in KINDS:
            raise FormatError(f"the kind {shown(declared)} is none of {list(KINDS)}")
        kind = result_of(op, kinds, many, inside is not None)
        if kind is None:
            raise FormatError(f"{shown(op)} of {list(kinds)} is no operation of a program")
        if inside is None and op in ("linear", "where") and (kind, declared) == ("server", "client"):
            kind = declared  # copied for every client
        if inside is None and kind != declared and op != "tap":
            raise FormatError(f"{shown(op)} gives a value of kind {kind}, not {declared}")
        of = tuple(data["of"])
        if inside is not None and op in COLLECTIVE:
            if inside & {*of, *(name for scalar in given for name in scalar.values)}:
                raise FormatError(f"{op} in a visit, of a value that is that of one client")
            seen = [self.seen(name, known, None) for name in of]
            kinds = tuple(kind for kind, _ in seen)
            if op == "average":
                given = (self.scalar(data["numbers"][0], known, None, turns),)
        if op == "tap":
            self.tap(label, kinds[0])
            if data["to"] != "":
                raise FormatError("a tap makes no value")
            to = ""
        else:
            to = self.new(data["to"], kind)
        if op in ("mix", "combine") and label not in self.parameters:
            raise FormatError(f"{op} with {shown(label)}, which is no parameter")
        return Step(op, to, kind, of, tuple(each for _, each in seen), kinds, given, label, bool(replace))

    def tap(self, label: str, kind: str) -> None:
        named(label, "a tap")
        if label in self.taps or kind not in ("server", "client"):
            raise FormatError(f"the tap {label} is there twice, or is no vector")
        self.taps[label] = (kind, ())

    def loop(
        self, data: Any, known: frozenset[str], inside: frozenset[str] | None, turns: tuple[str, ...], depth: int
    ) -> Loop:
        fields(data, "a loop of the program", "do carry body", "index count")
        op = data["do"]
        if ("count" in data) != (op == "repeat") or ("index" in data) != (op != "visit"):
            raise FormatError(f"a loop {op} has a count or an index where there is none, or lacks it")
        if op == "visit" and inside is not None:
            raise FormatError("a visit in a visit")
        index = text_of(data.get("index", ""), "an index")
        if op == "repeat" and (not TURN.fullmatch(index) or index in turns or index in self.parameters):
            raise FormatError(f"{shown(index)} is no name of a turn, or is taken")
        count = self.scalar(data["count"], known, inside, turns) if op == "repeat" else None
        within = frozenset[str]() if op == "visit" else inside
        new: list[str] = []
        read: list[tuple[str, str, str, bool]] = []
        for item in list_of(data["carry"], "carry"):
            fields(item, "what a loop hands on", "name kind first next")
            kind = text_of(item["kind"], "a kind")
            first, _ = self.seen(item["first"], known, inside)
            if kind not in KINDS or (op == "visit" and kind != "server"):
                raise FormatError(f"a loop hands on a value of kind {shown(kind)}")
            if within is not None:
                kind = OF_CLIENTS.get(kind, kind)
            if first != kind and (first, kind) != ("server", "client"):
                raise FormatError(f"a loop makes a value of kind {kind} of one of kind {first}")
            name = self.new(item["name"], kind)
            new.append(name)
            read.append((name, item["first"], text_of(item["next"], "next"), first != kind))
        if op == "pass":
            new.append(self.new(index, "drawn" if inside is not None else "sample"))
        if op != "repeat" and len(read) != 1:
            raise FormatError(f"a loop {op} hands on one value")
        there = known | frozenset(new)
        before = set(self.taps)
        around = (*turns, index if op == "repeat" else f"{op} {len(turns)}")
        body = self.steps(data["body"], there, None if within is None else within | frozenset(new), around, depth + 1)
        after = there | frozenset(name for step in body for name in defined(step))
        carried = []
        for name, start, following, copied in read:
            if following not in after:
                raise FormatError(f"the value {shown(following)} that a loop hands on is not there")
            kind, later = self.kinds[name], self.kinds[following]
            outer = within is not None and following not in within and following in known
            later = OF_CLIENTS.get(later, later) if outer else later
            if later != kind and (later, kind) != ("server", "client"):
                raise FormatError(f"a loop makes a value of kind {later} of one of kind {kind}")
            if op != "repeat" and following in there:
                raise FormatError("what a turn gives is not made in it")
            carried.append(Carried(name, start, following, (copied, later != kind)))
        loop = Loop(op, index, count, tuple(carried), body)
        for label in self.taps.keys() - before:
            kind, loops = self.taps[label]
            self.taps[label] = (kind, (loop, *loops))
        return loop
