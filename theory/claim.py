"""A claim as its author writes it: a sentence, its algorithm, its assumptions. It says what it means.

    NOISE_BALL = claim(
        "noise-ball",
        "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*sigma2/(mu*N)",
        of=parallel_sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    )

Nothing else is known of it: what it speaks of, what can be measured, searched and proved is read off these texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from theory.domain import COUNT, NAMED, POSITIVE, Domain
from theory.for_every import ForEvery, assumption
from theory.formula import Apply, Name, names_in
from theory.predicates import Connected, Direction, Predicate
from theory.program import NAME, TAKEN, Algorithm, Loop, Program, flat
from theory.sentence import (
    COORDINATE,
    INTEGERS,
    SPECIAL,
    TURNS,
    At,
    Expression,
    Sentence,
    SentenceError,
    Vocabulary,
    check_turns,
    everything,
    index_of,
    parse_expression,
    parse_sentence,
    read,
    replaced,
    respaced,
    text_of,
)

RHO = "rho"
"""The second eigenvalue of a matrix that is connected."""
LABEL = re.compile(r"[a-z0-9][a-z0-9.-]*\Z")
"""Names of papers."""

Kind = Literal["theorem", "lemma", "proposition", "corollary", "remark", "equation", "definition"]
KINDS: tuple[Kind, ...] = ("theorem", "lemma", "proposition", "corollary", "remark", "equation", "definition")
Sureness = Literal["", "read", "transcribed", "secondary", "memory"]
SURENESS: tuple[Sureness, ...] = ("", "read", "transcribed", "secondary", "memory")
_READ: ContextVar[bool] = ContextVar("read", default=True)
_WRITTEN: ContextVar[list[Claim] | None] = ContextVar("written", default=None)


@contextmanager
def unread() -> Iterator[None]:
    """Claims written within are not read before something is asked of them: for files whose claims the tests read.

    To list the claims that come with fedproof would else take the time in which all their sentences are read.
    """
    before = _READ.set(False)
    try:
        yield
    finally:
        _READ.reset(before)


@contextmanager
def written() -> Iterator[list[Claim]]:
    """The claims that `claim` writes within, in their order: a file may leave it to its reader to gather them."""
    found: list[Claim] = []
    before = _WRITTEN.set(found)
    try:
        yield found
    finally:
        _WRITTEN.reset(before)


def _listed(text: str, name: str) -> tuple[str, ...]:
    """What a text lists that was given for a tuple of names, or of assumptions, between commas; else the text."""
    if name in ("vectors", "rests_on"):
        return tuple(text.replace(",", " ").split())
    if name not in ("assuming", "standing") or ":" in text:  # of "for every x, y: ..." the comma is no end
        return (text,)
    pieces, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            pieces.append("")
        else:
            pieces[-1] += letter
    return tuple(piece.strip() for piece in pieces if piece.strip())


@dataclass(frozen=True)
class Claim:
    """A sentence with its algorithm, assumptions and source, as printed.

    Attributes:
        label: the second part of its id.
        statement: the sentence as text, ``left relation right``; empty for what a paper claims and no sentence says
            (``title`` and ``remarks`` have the words), of which nothing can be measured or proved.
        of: the algorithm it speaks of; None for a claim about functions and vectors, or about numbers alone.
        assuming: relations between parameters, and assumptions (`theory.predicates`), as text.
        where: definitions, names to formulas.
        vectors: free vectors (``"x"``; ``"a_n"``: N of them, N free).
        standing: more of `assuming`, which the paper fixes elsewhere for this result.
        parameters: domains of parameters that are not simply positive (or counts, for the names of integers), and of
            definitions that the bound takes as numbers. Those of K, N and d, sizes of an instance, become relations.
        over: a condition on x, where assumptions are only asked there.
        printed: names under which the paper prints parameters, to what they are here: ``{"R": "K", "T": "k"}``. The
            bound takes and shows them so; of one a client, ``{"a": "a_n"}``, it takes a vector.
        in_words: names that no formula defines, to what they are in words: an infimum over all estimators, a constant
            that O(.) hides. Such a claim is evaluated, and its hypotheses are held together; it is neither supported
            nor refuted.
        kind, title, equation, source, remarks: for a reader.
        sure: how its text is known: the paper was `read`, a third party `transcribed` it, it is another's account
            (`secondary`), or from `memory`; empty for a paper of the catalogue, which was read.
        amends: label of the printed claim that this one repairs.
        rests_on: labels of claims of its paper, or ids of others', from which the paper has it: for a reader.
        proof: its derivation, or None.
        given: instances written by hand, as data; tried last, and evidence from them says so.
        paper: the first part of its id; `Paper` sets it.
        beside: the other claims of its paper, whose derivations may be lines of one for it; `Paper` sets it.
    """

    label: str
    statement: str
    of: Algorithm | None = None
    assuming: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    vectors: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    parameters: Mapping[str, Domain] = field(default_factory=dict)
    over: str = ""
    printed: Mapping[str, str] = field(default_factory=dict)
    in_words: Mapping[str, str] = field(default_factory=dict)
    kind: Kind = "theorem"
    title: str = ""
    equation: str = ""
    source: str = ""
    remarks: tuple[str, ...] = ()
    sure: Sureness = ""
    amends: str | None = None
    rests_on: tuple[str, ...] = ()
    proof: Any = None
    given: tuple[Mapping[str, Any], ...] = ()
    paper: str = ""
    beside: tuple[Claim, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("assuming", "vectors", "standing", "remarks", "rests_on", "given"):
            value = getattr(self, name)
            if isinstance(value, str):
                several = _listed(value, name) or (value,)
                raise SentenceError(
                    f"claim {self.label!r}: {name}={value!r} is text; write a tuple of texts, {several!r}"
                )
            object.__setattr__(self, name, tuple(value))
        for name in ("where", "parameters", "printed", "in_words"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if self.of is not None and not isinstance(self.of, Algorithm):
            raise SentenceError(
                f"claim {self.label!r}: of={self.of!r} is no algorithm; decorate the function with @algorithm"
            )
        for name, domain in self.parameters.items():
            if not isinstance(domain, Domain):
                raise SentenceError(
                    f"claim {self.label!r}: parameters has {name}={domain!r}, which is no domain; it is to be one of "
                    f"theory's {', '.join(NAMED)}, or theory.Domain(lower, upper, lower_open=..., upper_open=..., "
                    "integer=...)"
                )
        self._sizes_as_relations()
        if self.kind not in KINDS:
            raise SentenceError(f"claim {self.label!r}: kind={self.kind!r} is none of {', '.join(KINDS)}")
        if self.sure not in SURENESS:
            raise SentenceError(f"claim {self.label!r}: sure={self.sure!r} is none of {', '.join(SURENESS[1:])}")
        if _READ.get():
            self.read()

    def read(self) -> None:
        """Read all of its texts, which a claim does as soon as it is written (but see `unread`).

        Raises:
            SentenceError: for text that says nothing, naming the claim and the piece.
        """
        try:
            self._check()
        except ValueError as error:
            raise type(error)(f"claim {self.label!r}: {error}") from None

    def __hash__(self) -> int:
        return hash((self.paper, self.label, self.statement, self.assuming))

    # what it says

    @property
    def id(self) -> str:
        """``paper/label``."""
        return f"{self.paper or 'unpublished'}/{self.label}"

    @property
    def amended(self) -> str | None:
        """The id of the printed claim that this one repairs, or None."""
        if self.amends is None or self.amends.startswith(f"{self.paper}/"):
            return self.amends
        return f"{self.paper or 'unpublished'}/{self.amends}"

    @property
    def bases(self) -> tuple[str, ...]:
        """The ids of the claims that it rests on."""
        here = {other.label: other.id for other in self.beside}
        return tuple(here.get(name, name) for name in self.rests_on)

    @cached_property
    def sentence(self) -> Sentence:
        """The statement's tree.

        Raises:
            SentenceError: where no sentence says what is claimed.
        """
        if not self.has_sentence:
            raise SentenceError(f"{self.id} is claimed in words that no sentence says: {self.title}")
        return parse_sentence(self.statement)

    @cached_property
    def spelling(self) -> str:
        """The statement in one spacing, from which what is drawn for it begins: a verdict is not to hang on a space."""
        return respaced(self.statement)

    @property
    def has_sentence(self) -> bool:
        """Whether a sentence says it, and not its title and remarks alone; see `in_words` for names in one."""
        return bool(self.statement)

    def definitions_in(self, trees: Iterable[Expression]) -> set[str]:
        """The names of the definitions that some trees speak of, through others as well."""
        found: set[str] = set()
        left = list(trees)
        while left:
            for part in everything(left.pop()):
                if isinstance(part, Name) and part.name in self.where and part.name not in found:
                    found.add(part.name)
                    left.append(parse_expression(self.where[part.name]))
        return found

    @cached_property
    def definitions(self) -> Mapping[str, Expression]:
        """The definitions' trees, each with those that it speaks of put into it, and after these, in whatever order.

        Raises:
            SentenceError: where one speaks of itself.
        """
        trees = {name: parse_expression(text) for name, text in self.where.items()}
        found: dict[str, Expression] = {}

        def add(name: str, within: tuple[str, ...] = ()) -> None:
            if name in within:
                way = [*within[within.index(name) :], name]
                through = "".join(f", through {other}" for other in way[1:-1])
                raise SentenceError(f"the definition of {name} speaks of {name}{through}")
            for part in everything(trees[name]):
                if isinstance(part, Name) and part.name in trees and part.name not in found:
                    add(part.name, (*within, name))
            found[name] = replaced(trees[name], found)

        for name in trees:
            if name not in found:
                add(name)
        return MappingProxyType(found)

    @property
    def program(self) -> Program | None:
        """What its algorithm does in a round."""
        return None if self.of is None else self.of.program

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the names in its sentences mean."""
        states: dict[str, str] = {}
        taps: dict[str, tuple[str, int]] = {}
        if self.of is not None:
            states = {s.name: s.kind for s in self.of.state}
            taps = dict(self.of.program.taps)
        numbers = () if self.of is None else self.of.parameters
        return Vocabulary(states, taps, self.vectors, self.definitions, numbers)

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        """Its assumptions on functions, sampling and networks, the standing ones last."""
        return tuple(one for one in self.assumptions if isinstance(one, Predicate))

    @cached_property
    def relations(self) -> tuple[Sentence, ...]:
        """Its relations between parameters, the standing ones last."""
        return tuple(one for one in self.assumptions if isinstance(one, Sentence))

    @cached_property
    def assumptions(self) -> tuple[Predicate | Sentence, ...]:
        """Everything that it assumes, in its order, the standing ones last."""
        found: list[Predicate | Sentence] = []
        for text in (*self.assuming, *self.standing):
            one = assumption(text)
            found.append(one.within(self.where, self.parameters) if isinstance(one, ForEvery) else one)
        return tuple(found)

    @cached_property
    def constants(self) -> Mapping[str, Direction]:
        """The names that its assumptions bind, with the direction in which they may be wrong.

        A name of two assumptions is one number: ``exact`` where they point different ways, as L of ``smooth(f, L)`` and
        ``strongly_convex(f, L)``.
        """
        found: dict[str, Direction] = {}
        for one in self.predicates:
            for name, direction in ((index_of(bound)[0], way) for bound, way in one.binds.items()):
                if found.setdefault(name, direction) != direction:
                    found[name] = "exact"
        return MappingProxyType(found)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Its parameters as it writes them (``eta``, ``p_n``, ``L``), the algorithm's first."""
        written = dict.fromkeys(self.of.parameters if self.of is not None else ())
        sides = [*self.sentence.sides] if self.has_sentence else []
        sides += [side for relation in self.relations for side in relation.sides]
        for one in self.predicates:
            written |= dict.fromkeys(sorted(one.binds))
            sides += one.constants
        for side in (*sides, *self.definitions.values()):
            for part in everything(side):
                if isinstance(part, Name) and self._is_parameter(part.name):
                    written.setdefault(part.name, None)
        bases = {index_of(name)[0] for name in written if index_of(name)[1]}
        for name in list(written):  # alpha_j and alpha_h are the same numbers
            base, index = index_of(name)
            if index == "h" and f"{base}_j" in written:
                del written[name]
        return tuple(name for name in written if name not in bases and name not in self.definitions)

    def _is_parameter(self, name: str) -> bool:
        known = name in SPECIAL and name != "K"
        return not (known or name in self.definitions or name in self.vocabulary.free_vectors)

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """The domain of each parameter, by its name without an index."""
        found = {}
        ranges = {name: domain for one in self.predicates for name, domain in one.ranges.items()}
        for symbol in self.symbols:
            name = index_of(symbol)[0]
            usual = ranges.get(name, COUNT if name in INTEGERS or name in self._in_indices else POSITIVE)
            found[name] = self.parameters.get(symbol, self.parameters.get(name, usual))
        return MappingProxyType(found)

    @cached_property
    def _in_indices(self) -> frozenset[str]:
        """The names in indices, as T in ``x[T]``, that are none of the algorithm's: they are of integers."""
        relations = [side for relation in self.relations for side in relation.sides]
        sides = [*(self.sentence.sides if self.has_sentence else ()), *relations, *self.definitions.values()]
        indices = [i for side in sides for e in everything(side) if isinstance(e, At) for i in e.indices]
        own = () if self.of is None else self.of.parameters
        return frozenset(part.name for i in indices for part in everything(i) if isinstance(part, Name)) - set(own)

    @cached_property
    def by_round(self) -> frozenset[str]:
        """The names, without index, of which it has one number a round."""
        return frozenset(base for base, index in map(index_of, self.symbols) if index == "k")

    @cached_property
    def paper_names(self) -> Mapping[str, str]:
        """`printed` the other way round: the paper's names, by those that numbers have here."""
        return MappingProxyType({here: name for name, here in self.printed.items()})

    @cached_property
    def free(self) -> frozenset[str]:
        """Indices for all of whose values it is claimed."""
        sides = self.sentence.sides if self.has_sentence else ()
        return frozenset().union(*(read(side, self.vocabulary).free for side in sides))

    # its right side in numbers

    @property
    def has_bound(self) -> bool:
        """Every sentence has a right side that can be evaluated."""
        return self.has_sentence

    def bound(self, **values: Any) -> Any:
        """The right side as float64; arrays broadcast. `theory.calculator` says which numbers it takes."""
        from theory import calculator, evaluate

        return evaluate.bound(*calculator.in_numbers(self, values))

    def terms(self, **values: Any) -> dict[str, Any]:
        """Each definition by numbers as float64."""
        from theory import calculator, evaluate

        return evaluate.terms(*calculator.in_numbers(self, values))

    def enclose(self, **values: Any) -> Any:
        """A ball that contains the exact right side. See `theory.evaluate.enclose`."""
        from theory import calculator, evaluate

        return evaluate.enclose(*calculator.in_numbers(self, values))

    def violated(self, **values: Any) -> tuple[str, ...]:
        """Names of the hypotheses that are false at these values."""
        from theory import calculator, evaluate

        return evaluate.violated(*calculator.in_numbers(self, values))

    def _sizes_as_relations(self) -> None:
        """Domains of K, N and d are kept as relations: these are no parameters, but sizes of an instance."""
        found = []
        for name in ("K", "N", "d"):
            domain = self.parameters.get(name, COUNT)
            if domain.lower is not None and (domain.lower, domain.lower_open) > (1, False):
                found.append(f"{name} {'>' if domain.lower_open else '>='} {Fraction(domain.lower)}")
            if domain.upper is not None:
                found.append(f"{name} {'<' if domain.upper_open else '<='} {Fraction(domain.upper)}")
        object.__setattr__(self, "assuming", (*self.assuming, *(text for text in found if text not in self.assuming)))
        left = {name: domain for name, domain in self.parameters.items() if name not in ("K", "N", "d")}
        object.__setattr__(self, "parameters", MappingProxyType(left))

    def _check_indices(self) -> None:
        """An index that stands as a number where nothing else has it is a parameter whose name is taken."""
        sides = [*self.sentence.sides] if self.has_sentence else []
        sides += [side for relation in self.relations for side in relation.sides]
        counted = {"n": "the clients", "i": "a client's samples"}
        if self.of is None:
            counted |= dict.fromkeys(TURNS, "turns of loops")
        for name, what in counted.items():
            one = {name: parse_expression("1")}
            free, besides = (
                any(name in read(side, self.vocabulary).free for side in some)
                for some in (sides, [replaced(side, one) for side in sides])
            )
            if free and not besides:
                why = f"{name} numbers {what}, and nothing else here has this index"
                raise SentenceError(f"{why}: a parameter has another name ({TAKEN})")

    def _check_constants(self) -> None:
        """A constant of assumptions is one number, or one a client, and then no other number has its name."""
        sides = [*self.sentence.sides] if self.has_sentence else []
        sides += [side for relation in self.relations for side in relation.sides]
        sides += [*self.definitions.values(), *(c for one in self.predicates for c in one.constants)]
        written = {part.name for side in sides for part in everything(side) if isinstance(part, Name)}
        self._check_eigenvalue(written)
        for one in self.predicates:
            for name in one.binds:
                base, index = index_of(name)
                if {name, base} & self.where.keys():
                    raise SentenceError(
                        f"{one.text}: where defines {base}, which is what this assumption says of it: write what it "
                        f"stands for in its place, or assume {base} == ..."
                    )
                if index not in ("", "n"):
                    said = f"a constant is one number, or one a client as {base}_n, not {name}"
                    raise SentenceError(f"{one.text}: {said}")
                if index and base in written:
                    raise SentenceError(
                        f"{base} and {name} stand for the same numbers, one a client: give one of them another name, "
                        f"as {base}max"
                    )

    def _check_eigenvalue(self, written: set[str]) -> None:
        """rho is the second eigenvalue of one matrix where that is connected, and nothing else."""
        networks = [one for one in self.predicates if isinstance(one, Connected)]
        if not networks:
            return
        spoken = sorted(name for name in written if index_of(name)[0] == RHO)
        others = [
            one.text for one in self.predicates if one not in networks and any(index_of(n)[0] == RHO for n in one.binds)
        ]
        if others:
            raise SentenceError(f"{others[0]}: {RHO} is the second eigenvalue of a matrix, by {networks[0].text}")
        if [name for name in spoken if name != RHO]:
            raise SentenceError(f"{spoken[-1]}: {RHO} is one number, the second eigenvalue of {networks[0].matrix}")
        if spoken and len(networks) > 1:
            said = " and ".join(one.text for one in networks)
            raise SentenceError(f"{RHO} is the second eigenvalue of one matrix, and the claim has {said}")

    def _check(self) -> None:
        if not self.label or self.label[:1] == "/":
            raise SentenceError("a claim has a label")
        for name in self.where:
            if not NAME.match(name) or name in SPECIAL:
                raise SentenceError(f"where defines {name!r}, which means something else")
        trees = [side for s in self.relations for side in s.sides]
        trees += [constant for one in self.predicates for constant in one.constants]
        trees += [] if self.of is None else [parse_expression(state.initial) for state in self.of.state]
        trees += [*self.sentence.sides] if self.has_sentence else []
        for tree in (*trees, *self.definitions.values()):
            if any(isinstance(part, Apply) and part.operation == COORDINATE for part in everything(tree)):
                raise SentenceError(f"{text_of(tree)}: {COORDINATE} is said in the lines of derivations only")
        words = self.vocabulary
        for name in () if self.of is None else sorted(self.where.keys() & set(self.of.parameters)):
            raise SentenceError(f"where defines {name}, a parameter of the algorithm: assume {name} == ... instead")
        clash = sorted(set(words.states) & set(words.taps) | set(self.where) & (set(words.states) | set(words.taps)))
        if clash:
            raise SentenceError(f"{clash[0]!r} means two things: a state, a tap, a definition have names of their own")
        for vector in self.vectors:
            if not NAME.match(vector) or vector in SPECIAL or vector in words.states:
                raise SentenceError(f"the free vector {vector!r} has a name that means something else")
        for name, tree in self.definitions.items():
            if any(isinstance(p, At) for p in everything(tree)) and self.of is None:
                raise SentenceError(f"{name} speaks of states, and the claim has no algorithm (of=...)")
            read(tree, words)
        if not self.has_sentence and not (self.title and self.remarks):
            raise SentenceError("a claim that no sentence says has a title, and remarks with its words")
        for side in self.sentence.sides if self.has_sentence else ():
            if read(side, words).shape != "scalar":
                raise SentenceError(f"{text_of(side)} is a vector: equal vectors are written norm2(u - v) <= 0")
        for relation in self.relations:
            for side in relation.sides:
                if read(side, words).shape != "scalar":
                    raise SentenceError(f"{relation}: {text_of(side)} is a vector")
        for one in self.predicates:
            if isinstance(one, ForEvery):
                one.check(words)
            for constant in one.constants:
                if read(constant, words).shape != "scalar":
                    raise SentenceError(f"{one.text}: {text_of(constant)} is a vector")
        self._check_indices()
        self._check_constants()
        for tree in (*trees, *self.definitions.values()):
            check_turns(tree, words)
        _ = self.constants
        if self.over:
            parse_sentence(self.over)
        known = {*self.symbols, *self.definitions, *self.free, "N", "d", "K"}
        for name, stands in self.printed.items():
            if not NAME.match(name) or stands not in known:
                raise SentenceError(f"printed has {name!r}: {stands!r}, which the claim does not use")
        for name in self.in_words:
            if name not in self.symbols:
                raise SentenceError(f"in_words has {name!r}, which the claim does not use as a number")
        taken = sorted(set(self.parameters) & set(SPECIAL) - set(self.domains))
        if taken:
            raise SentenceError(f"the name {taken[0]!r} means something else than a parameter ({TAKEN})")
        unknown = sorted(set(self.parameters) - set(self.domains) - set(self.symbols) - set(self.where))
        if unknown:
            raise SentenceError(
                f"parameters has {unknown[0]!r}, which the claim does not use; it has {', '.join(self.symbols)}"
            )
        if self.of is not None:
            weights = self.of.program.weights
            for symbol in self.symbols:
                name, index = index_of(symbol)
                if not index or name not in self.of.parameters:
                    continue
                if (index in TURNS) != (name in weights) or index not in ("n", "k", *TURNS):
                    raise SentenceError(
                        f"{symbol}: a parameter of the algorithm has one value, one a client or one a round, and the "
                        "weights of remembered vectors one for each of them"
                    )
            self._one_for_all()

    def _one_for_all(self) -> None:
        """Parameters of the algorithm have no index, and what is one number for all there is none a client here."""
        assert self.of is not None
        for name in self.of.parameters:
            base, index = index_of(name)
            if index in ("n", "k"):
                raise SentenceError(
                    f"the algorithm {self.of.name} has a parameter {name}: call it {base} there; claims say {name} of "
                    f"one number a {'client' if index == 'n' else 'round'}"
                )
        of_clients = {base: symbol for symbol in self.symbols for base, index in (index_of(symbol),) if index == "n"}
        for step in self.of.program.steps:
            if isinstance(step, Loop):
                one, instead = step.count, "w.before(h, ...) says which clients go on"
            elif step.op == "coin":
                one, instead = step.numbers[0], "w.coins(...) is one for each client"
            else:
                continue
            if one is None:
                continue
            for name in sorted(names_in(one) & of_clients.keys()):
                kind = "repeat" if isinstance(step, Loop) else step.op
                raise SentenceError(
                    f"{of_clients[name]} is one number a client, and w.{kind}({text_of(one)}) takes one for all: "
                    f"{instead}"
                )
        visits = [step for step in self.of.program.steps if isinstance(step, Loop) and step.op == "visit"]
        of_one = {id(inner) for visit in visits for inner in flat(visit.body)}  # where a client's number is a number
        for inner in self.of.program.steps:
            if isinstance(inner, Loop) or inner.op != "linear" or inner.kind != "server" or id(inner) in of_one:
                continue
            for name in sorted({name for f in inner.numbers for name in names_in(f)} & of_clients.keys()):
                raise SentenceError(
                    f"{of_clients[name]} is one number a client, and in line {inner.line} of {self.of.name} it stands "
                    "with one vector for all: what it goes with has to be inside of the mean or sum over clients"
                )


@dataclass(frozen=True)
class Paper:
    """A paper and its claims, in the paper's order.

    Attributes:
        name: the first part of its claims' ids.
        title: of the paper.
        authors: of the paper.
        claims: each with a label of its own; a claim that amends another one comes with that one. They are this paper's
            from then on.
        experiments: the module that redraws its experiments (`validate.experiments`), by its name; empty for none.
        family: of methods, under which a collection shows it; empty for a paper that is in none.
        rests_on: by a claim's label, the labels of those from which the paper has it, with spaces between: the skeleton
            of its proofs in one place, for claims that do not say it themselves.
    """

    name: str
    title: str
    authors: str
    claims: tuple[Claim, ...]
    experiments: str = ""
    family: str = ""
    rests_on: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "claims", tuple(self.claims))
        for c in self.claims:
            if not isinstance(c, Claim):
                raise ValueError(f"paper {self.name!r}: {c!r} is no claim; `theory.claim` writes one")
            if not c.paper:
                object.__setattr__(c, "paper", self.name)
        ids = [c.id for c in self.claims]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"paper {self.name!r}: the ids {twice} are used twice")
        for c in self.claims:
            if c.paper != self.name:
                raise ValueError(f"claim {c.id!r} does not belong to paper {self.name!r}")
            if c.amended is not None and c.amended not in ids:
                raise ValueError(f"claim {c.id!r} amends {c.amends!r}, which the paper does not have")
            object.__setattr__(c, "beside", tuple(other for other in self.claims if other is not c))
            object.__setattr__(c, "rests_on", (*c.rests_on, *self.rests_on.get(c.label, "").split()))
        labels = {c.label for c in self.claims}
        named = {name for label, bases in self.rests_on.items() for name in (label, *bases.split())}
        if unknown := sorted(named - labels):
            raise ValueError(f"paper {self.name!r}: rests_on has {unknown[0]!r}, which is no label of the paper")

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)


def claim(label: str, statement: str | None = None, /, **fields_: Any) -> Any:
    """A claim: its label, its sentence, and by name what else `Claim` has.

    With an id alone it is the catalogue's claim of that id, as `theory.catalog.claim` gives it.

    Raises:
        SentenceError: for text that says nothing, naming the claim and the piece.
        TypeError: for a field that a claim does not have.
        ValueError: for an id that is not known.
    """
    if statement is None and not fields_:
        from theory import catalog

        return catalog.claim(label)
    if statement is None and not {"title", "remarks"} <= set(fields_):
        raise SentenceError(f"claim {label!r}: it has no sentence")
    known = {f.name for f in fields(Claim)}
    unknown = sorted(set(fields_) - known)
    if unknown:
        raise TypeError(f"claim {label!r}: {unknown[0]}= is no field of a claim; there are {', '.join(sorted(known))}")
    made = Claim(label, statement or "", **fields_)
    gathered = _WRITTEN.get()
    if gathered is not None:
        gathered.append(made)
    return made
