"""Sentences as linear forms in products of inner products and values, with coefficients that are numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from theory.claim import Claim
from theory.derivation import spoken
from theory.derivation.atoms import Index
from theory.derivation.equalities import of_one_client
from theory.derivation.kernel import Kernel
from theory.derivation.polynomials import Atom, Monomial, Polynomial, Rational
from theory.derivation.quotients import Quotient, constant, monomial
from theory.derivation.reading import PLAIN, Place, Reader
from theory.derivation.schemas import named_points
from theory.derivation.search.atoms import deep, is_number, plain, vectors_in
from theory.derivation.search.field import Element, Field
from theory.formula import Apply, Name
from theory.program import Instruction
from theory.sentence import Expression, applied, everything_meant, parse_expression, parse_sentence, parts, text_of

Form: TypeAlias = dict[Monomial, Quotient]
"""By product of atoms that are no numbers: its coefficient. Of numbers alone the product is ``()``."""


class Forms:
    """The forms of a claim's sentences.

    Args:
        claim: which.
        put: what k, h or K stand for in the sentence that is to be shown, as formulas.
    """

    def __init__(self, claim: Claim, put: Mapping[str, str] | None = None) -> None:
        self.claim = claim
        sides = [claim.sentence.left, claim.sentence.right]
        sides += [s for r in claim.relations for s in (r.left, r.right)] + list(claim.definitions.values())
        self.trees = sides
        self.reader: Reader = Kernel(claim, ()).reader
        if self.reader.rounds is not None:
            self.reader.rounds.named = True
        self._kept: dict[Any, Form] = {}
        self._of_sentences: dict[Any, tuple[Form, Form]] = {}
        self._collapsed: dict[Monomial, Form] = {}
        self._steps: dict[Monomial, tuple[str, Form] | None] = {}

    one = constant(1)

    # --- reading ---

    def place(self, put: Mapping[str, str]) -> Place:
        """Where k, h and K stand for formulas."""
        values: dict[str, Any] = {name: self.reader.value(parse_expression(text)) for name, text in put.items()}
        return replace(PLAIN, **values)

    def expanded(self, text: str, over: Sequence[str] = (), put: Mapping[str, str] | None = None) -> Form:
        """A scalar under binders, the first outermost.

        Raises:
            ValueError: for what is not read.
        """
        return self._form(parse_expression(text), over, put or {})

    def gap(
        self, sentence: str, over: Sequence[str] = (), put: Mapping[str, str] | None = None, factor: str = ""
    ) -> Form:
        """Right - left (of ``>=`` left - right), times a factor, under binders."""
        tree = parse_sentence(sentence)
        left, right = (tree.right, tree.left) if tree.relation in (">=", ">") else (tree.left, tree.right)
        gap = applied("-", (right, left))
        return self._form(applied("*", (parse_expression(factor), gap)) if factor else gap, over, put or {})

    def of_sentence(
        self, sentence: str, over: tuple[str, ...], put: Mapping[str, str], factor: str, lean: bool
    ) -> tuple[Form, Form]:
        """As `gap`, and with states after a round as what they are made of, unless it is to be lean.

        Combinations of many sentences ask for the same ones: each is read once. The forms are not to be changed.
        """
        key = sentence, over, tuple(sorted(put.items())), factor, lean
        if key not in self._of_sentences:
            whole = self.gap(sentence, over, put, factor)
            self._of_sentences[key] = whole, whole if lean else self.unfolded(whole)
        return self._of_sentences[key]

    def _form(self, e: Expression, over: Sequence[str], put: Mapping[str, str]) -> Form:
        for b in reversed(over):
            e = applied(b, (e,))
        key = (e, tuple(sorted(put.items())))
        if key not in self._kept:
            place = self.place(put) if put else PLAIN
            self._kept[key] = split(self.reader.value(e, place))
        return dict(self._kept[key])

    # --- a round ---

    def unfolded(self, form: Form) -> Form:
        """With states at k+1, and taps, as what they are made of."""
        found: Form = {}
        for key, c in form.items():
            made = self.step(key)
            for other, e in ({key: self.one} if made is None else made[1]).items():
                total = found.get(other, constant(0)) + c * e
                found[other] = total
        return {k: c for k, c in found.items() if not c.zero}

    def step(self, key: Monomial) -> tuple[str, Form] | None:
        """For a product that has states after a round: the sentence that says what it is, and that as a form."""
        if key not in self._steps:
            self._steps[key] = self._stepped(key)
        return self._steps[key]

    def _stepped(self, key: Monomial) -> tuple[str, Form] | None:
        if self.reader.rounds is None or not any(_later(a) for a, _ in key):
            return None
        try:
            text = spoken.monomial(key)
            made = self.reader.value(parse_expression(text), replace(PLAIN, unfold=True))
            form = split(made)
            if form == {key: self.one} or _same(form, key):
                return None
            return f"{text} == {spoken.scalar(made)}", form
        except ValueError:
            return None

    def of_each_round(self, key: Monomial) -> tuple[str, list[str]] | None:
        """Of a sum over the rounds: the sentence that says what is summed, after a round; None of anything else."""
        e = parse_expression(spoken.monomial(key))
        averaged = isinstance(e, Apply) and e.operation == "E"
        e = parts(e)[0] if averaged else e
        if not isinstance(e, Apply) or e.operation != "sum_k":
            return None
        inside = applied("E", parts(e)) if averaged else parts(e)[0]
        made = self.reader.value(inside, replace(PLAIN, unfold=True))
        return f"{text_of(inside)} == {spoken.scalar(made)}", [e.operation]

    @cached_property
    def one_client(self) -> bool:
        """Whether the claim is about one client."""
        one = parse_sentence("N <= 1")
        return any(r in (one, parse_sentence("N == 1"), parse_sentence("1 >= N")) for r in self.claim.relations)

    def collapsed(self, form: Form) -> Form:
        """For one client: means over the clients are what they are of that one."""
        if not self.one_client:
            return form
        found: Form = {}
        for key, c in form.items():
            key_form = self._collapsed.get(key)
            if key_form is None:
                key_form = self._collapsed[key] = split(of_one_client(monomial(key), Index("n")))
            factor = split(of_one_client(c, Index("n"))).get((), constant(0))
            for other, e in key_form.items():
                found[other] = found.get(other, constant(0)) + factor * e
        return {k: c for k, c in found.items() if not c.zero}

    # --- numbers ---

    def number_atoms(self, form: Form) -> list[str]:
        """The texts of the numbers' atoms."""
        found: dict[str, None] = {}
        for c in form.values():
            for a in sorted(c.atoms):
                found.setdefault(self._text(a))
        return list(found)

    def _text(self, a: Atom) -> str:
        text = spoken.atom(a)
        self._atoms = getattr(self, "_atoms", {})
        self._atoms[text] = a
        return text

    def element(self, field: Field, c: Quotient) -> Element:
        """A number in a field; most are asked for again and again."""
        found = field.elements.get(c.text)
        if found is None:
            found = self._polynomial(field, c.over)
            for q, e in c.under.items():
                found = found / self._polynomial(field, dict(q)) ** e
            field.elements[c.text] = found
        return found

    def _polynomial(self, field: Field, over: Polynomial) -> Element:
        size = len(field.atoms)
        terms: dict[tuple[int, ...], Fraction] = {}
        for m, c in over.items():
            powers = [0] * size
            for a, e in m:
                powers[field.places[self._text(a)]] += e
            terms[tuple(powers)] = terms.get(tuple(powers), Fraction(0)) + c
        return field.polynomial(terms)

    def within(self, text: str) -> list[Quotient]:
        """What has to be at least 0 for an atom to be known not to be negative: the base of a power."""
        a = self._atoms.get(text)
        return [a.data[0]] if a is not None and a.kind in ("power", "real power") else []

    def inside(self, text: str) -> list[tuple[str, list[str]]]:
        """Of an atom that is a largest or a least: which, and of what."""
        a = self._atoms.get(text)
        return [(a.kind, [spoken.number(q) for q in a.data[0]])] if a is not None and a.kind in ("max", "min") else []

    def simplified(self, text: str) -> str:
        """A formula of numbers, as its normal form is written.

        Raises:
            ValueError: for what is not read.
        """
        return spoken.number(self.reader.value(parse_expression(text)))

    def squared(self, text: str) -> Quotient | None:
        """Of an atom that is a square root, or an absolute value: its square; None of any other."""
        a = self._atoms.get(text)
        if a is None or a.kind not in ("sqrt", "abs"):
            return None
        return a.data[0] if a.kind == "sqrt" else a.data[0] * a.data[0]

    def made_of(self, text: str) -> tuple[str, list[str]] | None:
        """Of an atom that is a function of numbers: which, and of what; None of a number with a name.

        A power is a "power" where its exponent is an integer, and a "real power" where it may not be one.
        """
        a = self._atoms.get(text)
        if a is None or a.kind not in ("sqrt", "abs", "exp", "log", "power", "real power", "max", "min"):
            return None
        return a.kind, [spoken.number(q) for q in (a.data[0] if a.kind in ("max", "min") else a.data)]

    def sign(self, text: str) -> int:
        """Of an atom: 1 where it is positive, 0 where it is at least 0, -1 where that is not known."""
        return self._sign(self._atoms[text])

    def _sign(self, a: Atom) -> int:
        if a.kind == "number":
            return 0
        if a.kind == "parameter":
            name = str(a.data[0])
            if name in ("N", "d", "K"):
                return 1
            domain = self.claim.domains.get(name)
            if domain is None or domain.lower is None or domain.lower < 0:
                return -1
            return 1 if domain.lower > 0 or domain.lower_open else 0
        if a.kind in ("exp", "samples"):
            return 1
        if a.kind in ("sqrt", "abs"):
            return (
                1 if a.kind == "sqrt" and plain(a.data[0]) and all(self._sign(x) == 1 for x in a.data[0].atoms) else 0
            )
        if a.kind in ("power", "real power", "max", "min"):
            inner = a.data[0] if a.kind in ("max", "min") else (a.data[0],)
            if all(plain(q) and all(self._sign(x) == 1 for x in q.atoms) for q in inner):
                return 1
            return 0
        return -1

    # --- vectors ---

    @property
    def has_minimiser(self) -> bool:
        """Whether there is xstar."""
        return "xstar" in self._named

    @property
    def has_own_minimisers(self) -> bool:
        """Whether there is xstar_n, and the claim speaks of it."""
        return "xstar_n" in self._named and self._speaks("xstar_n")

    @property
    def has_infimum(self) -> bool:
        """Whether f is bounded below."""
        return "fstar" in self._named

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(named_points(self.claim))

    def _speaks(self, name: str) -> bool:
        return any(
            isinstance(e, Name) and e.name == name
            for t in self.trees
            for e in everything_meant(t, self.claim.vocabulary)
        )

    def indexed(self, form: Form) -> list[str]:
        """The names of numbers that each client has one of."""
        found: dict[str, None] = {}
        for key in form:
            for a in deep(key):
                if a.kind == "parameter" and len(a.data) > 1 and spoken.kind_of(str(a.data[1])) == "n":
                    found.setdefault(str(a.data[0]))
        return list(found)

    def extremes(self, form: Form) -> list[tuple[str, str]]:
        """What the largest or least of which occurs, over which index, and its text."""
        found: dict[tuple[str, str], None] = {}
        for key in form:
            inner = [b for a, _ in key if a.kind == "E" for b, _ in a.data[0]]
            for a in (*(a for a, _ in key), *inner):
                if a.kind == "over all":
                    try:
                        found.setdefault((str(a.data[0]), spoken.number(a.data[-1])))
                    except spoken.UnspeakableError:
                        continue
        return list(found)

    def points(self, form: Form) -> list[str]:
        """Where functions are taken."""
        found: dict[str, None] = {}
        for key in form:
            for a in deep(key):
                if a.kind in ("grad", "value") and isinstance(a.data[1], Quotient):
                    try:
                        found.setdefault(spoken.vector(a.data[1]))
                    except ValueError:
                        continue
        return list(found)

    def states(self, form: Form) -> list[str]:
        """The states, taps and points that occur and are places, as texts."""
        found: dict[str, None] = {}
        for key in form:
            for a in vectors_in(key):
                if self.is_place(a):
                    found.setdefault(spoken.vector_atom(a))
        return list(found)

    def is_place(self, a: Atom) -> bool:
        """Whether a vector is one at which functions are taken, and not a difference of such, or a gradient."""
        return a.kind == "point" or (a.kind == "state" and str(a.data[0]) in self._places)

    @cached_property
    def _places(self) -> frozenset[str]:
        """The states that begin at x0, and the states and taps at which gradients are taken, or that are projected."""
        program = self.claim.program
        if program is None:
            return frozenset()
        found = {s.name for s in program.state if s.initial == "x0"}
        taken = {
            v for step in program.steps if isinstance(step, Instruction) and "gradient" in step.op for v in step.of[:1]
        }
        nearest = {s.to for s in program.steps if isinstance(s, Instruction) and s.op in ("prox", "project")}
        for step in program.steps:
            if isinstance(step, Instruction) and step.op == "tap" and step.of[0] in taken | nearest:
                found.add(step.label)
        return frozenset(found | {s.name for s, v in zip(program.state, program.inputs, strict=True) if v in taken})

    def vectors(self, forms: Iterable[Form]) -> list[tuple[str, frozenset[str], bool, str | None, str | None]]:
        """The vectors that occur: text, letters of its indices, whether it is a place, and a gradient's coarser ones
        (``grad(f, v)`` and ``grad(f_n, v)``, where the point has no such index)."""
        found: dict[str, Any] = {}
        keys = dict.fromkeys(key for form in forms for key in form)
        for a in dict.fromkeys(a for key in keys for a in vectors_in(key)):
            try:
                text = spoken.vector_atom(a)
            except ValueError:
                continue
            letters = frozenset(spoken.kind_of(x) for x in a.free if "#" in x or "!" in x)
            whole = client = None
            if a.kind == "grad" and isinstance(a.data[1], Quotient):
                own = frozenset(spoken.kind_of(x) for x in a.data[1].free)
                point = spoken.vector(a.data[1])
                whole = f"grad(f, {point})" if not own & {"n", "i"} else None
                client = f"grad(f_n, {point})" if "i" not in own else None
            known = found.get(text)
            if known is None or len(letters) > len(known[1]):
                found[text] = (text, letters, a.kind == "free" or self.is_place(a), whole, client)
        return list(found.values())


def split(q: Quotient) -> Form:
    """A scalar as a linear form."""
    found: dict[Monomial, dict[Monomial, Rational]] = {}
    for m, c in q.over.items():
        key = tuple((a, e) for a, e in m if not is_number(a))
        rest = tuple((a, e) for a, e in m if is_number(a))
        found.setdefault(key, {})[rest] = c
    return {key: Quotient(over, q.under) for key, over in found.items()}


def _later(a: Atom) -> bool:
    return any(x.kind == "state" for x in deep(a))


def _same(form: Form, key: Monomial) -> bool:
    return set(form) == {key} and form[key].number == 1
