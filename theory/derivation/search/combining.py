"""One sentence from what is assumed and what is known: a combination, found and written as lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.derivation.quotients import ZERO
from theory.derivation.search.elimination import solutions
from theory.derivation.search.field import Element, Field
from theory.derivation.search.forms import Form, Forms
from theory.derivation.search.instances import Instance, Instances, indices
from theory.derivation.search.multipliers import Answer, Block, Multiple, Problem, Work, find
from theory.derivation.search.settings import settings, worth
from theory.derivation.search.signs import Fact, Signs
from theory.derivation.search.spoken import averaged, monomial, number
from theory.formula import Apply, Name
from theory.sentence import At, everything_meant, index_of, parse_expression, parse_sentence, parts, read, text_of

Line = dict[str, Any]
_SETTINGS = 6
_CHOICE = 0.41


@dataclass(frozen=True)
class Known:
    """A line at hand, or a hypothesis, by its name.

    Attributes:
        name: of the line.
        sentence: what it says.
        line: its fields, where it has yet to be written before it is used.
        cost: how little it is liked.
        put: what its k, h or K stand for where it is used.
    """

    name: str
    sentence: str
    line: Mapping[str, Any] | None = None
    cost: float = 0.5
    put: Mapping[str, str] | None = None


@dataclass
class Context:
    """A claim that is to be derived.

    Attributes:
        claim: which.
        forms: its normal forms.
        work: how much may be done.
        known: lines and hypotheses that any combination may use.
        supposed: relations between numbers that a case supposes.
        used: how many names were given.
        stage: how far candidates are looked for: 0 the conditions of interpolation, 1 what follows from them too,
            2 at steps along gradients too.
    """

    claim: Claim
    forms: Forms
    work: Work
    known: list[Known] = field(default_factory=list)
    supposed: list[str] = field(default_factory=list)
    used: int = 0
    stage: int = 2

    def name(self, stem: str) -> str:
        """A name for a line that no other has."""
        self.used += 1
        return f"{stem} {self.used}"


@dataclass(frozen=True)
class Raw:
    """A line that may be used, times `factor`; what it says as a form, bound by `over`: as written, after a round."""

    words: str
    of: Any
    cost: float
    free: bool
    over: tuple[str, ...]
    whole: Form
    form: Form
    factor: str = ""


def combine(
    context: Context,
    sentence: str,
    name: str,
    given: Sequence[Known] = (),
    put: Mapping[str, str] | None = None,
    stages: Sequence[int] = (0, 1, 2),
    bare: bool = False,
) -> list[Line] | None:
    """Lines that end with a sentence, by combinations of what is assumed, known and given; None where none is found.

    Args:
        context: of the claim.
        sentence: which.
        name: of the last line.
        given: lines at hand beside those that are always known.
        put: what k, h or K stand for in the sentence, as formulas; the last line then does not write it.
        stages: how far points are looked for; see `_Combination._points`.
        bare: whether to do without what is assumed of functions, and with products of what is known of numbers.
    """
    before: tuple[str, ...] | None = None
    for stage in stages:
        if stage > context.stage:
            break
        one = _Combination(context, sentence, name, given, stage, put or {}, bare)
        seen = tuple(one.said())
        if seen == before:
            continue
        before = seen
        lines = one.lines()
        if lines is not None:
            return lines
    return None


class _Combination:
    def __init__(
        self,
        context: Context,
        sentence: str,
        name: str,
        given: Sequence[Known],
        stage: int,
        put: Mapping[str, str],
        bare: bool,
    ) -> None:
        self.context, self.claim, self.forms = context, context.claim, context.forms
        self.sentence, self.name, self.stage, self.put, self.bare = sentence, name, stage, put, bare
        self.given = [*context.known, *given]
        self.tree = parse_sentence(sentence)
        sides = [self.tree.left, self.tree.right]
        words = self.claim.vocabulary
        self.averaged = any(
            isinstance(e, Apply) and e.operation == "E" for s in sides for e in everything_meant(s, words)
        )
        self.free = frozenset().union(*(read(s, words).free for s in sides)) - set(put)
        self.equation = self.tree.relation == "=="
        self.instances = Instances(self.claim)
        self.problem: str | None = None
        self.choices: list[Known] = []
        try:
            self.stated = self.forms.gap(sentence, put=put)
            self.goal = self.forms.unfolded(self.stated)
            self.points = self._points()
        except ValueError as error:
            self.problem, self.points = str(error), []

    # --- the problem ---

    def said(self) -> list[str]:
        """The sentences that may be used, to tell whether another stage has others."""
        return [] if self.problem is not None else [one.sentence for one in self._candidates()]

    def lines(self) -> list[Line] | None:
        tried = self.context.work.tried
        if self.problem is not None:
            tried.append(f"{self.sentence}: {self.problem}")
            return None
        if not self.goal:
            return self._identity()
        raw = [made for made in map(self._read, self._candidates()) if made is not None]
        raw += self._multiplied(raw)
        self.raw_blocks = blocks = [] if self.equation else list(self._blocks([r.form for r in raw]))
        self.numbers = [r for r in raw if isinstance(r.of, Known) and not r.over and set(r.form) <= {()}]
        self.numbers.sort(key=lambda r: r.cost)
        forms = [self.goal, self.stated, *(r.form for r in raw), *(r.whole for r in raw)]
        forms += [e for b in blocks for e in b[3].values()]
        if self.forms.one_client:
            forms += [self.forms.collapsed(f) for f in forms]
        atoms = dict.fromkeys(a for f in forms for a in self.forms.number_atoms(f))
        for a in list(atoms):
            for q in self.forms.within(a):
                atoms |= dict.fromkeys(self.forms.number_atoms({(): q}))
        self.field = field_ = Field(tuple(atoms))
        self.places = self._settings()
        if not self.places:
            tried.append("no numbers among those that are tried satisfy the hypotheses")
            return None

        self.ties = self._ties()

        def element(form: Form) -> dict[Any, Element]:
            some = self.forms.collapsed(form)
            found = {key: self._tied(self.forms.element(field_, c)) for key, c in some.items()}
            return {key: c for key, c in found.items() if c}

        self.facts = [fact for r in self.numbers if (fact := self._fact(r)) is not None]
        self.signs = self._signs()
        multiples = [Multiple(r.words, r, element(r.form), r.free, r.cost) for r in raw]
        squares = tuple(
            Block(vectors, over, {at: element(e) for at, e in entries.items()}, weight)
            for vectors, over, weight, entries in blocks
        )
        choices = frozenset(i for i, a in enumerate(field_.atoms) if self.forms.inside(a))
        problem = Problem(field_, element(self.goal), tuple(multiples), squares, tuple(self.places), choices)
        if self.bare:
            answer = self._from_one(problem)
        elif self.equation:
            answer = self._equation(problem)
        else:
            answer = find(problem, self.signs.nonnegative, self.signs.divides, self.context.work)
        return None if answer is None else self._written(answer, problem)

    def _multiplied(self, raw: Sequence[Raw]) -> list[Raw]:
        """Equations without vectors, as that weights have the sum 1, times inner products."""
        found = list(self._scaled(raw)) if self.bare else []
        for r in raw:
            if not r.free or set(r.whole) <= {()} or r.over or any(True for _ in self.forms.vectors([r.whole])):
                continue
            tree = parse_sentence(r.of.sentence)
            gap = f"({text_of(tree.right)} - ({text_of(tree.left)}))"
            vectors = self._whole_vectors()
            for a, b in itertools.combinations_with_replacement(vectors, 2):
                factor = f"norm2({a})" if a == b else f"dot({a}, {b})"
                try:
                    whole = self.forms.expanded(f"{factor}*{gap}")
                    found.append(Raw(f"{r.words} times {factor}", r.of, r.cost, True, (), whole, whole, factor))
                except ValueError:
                    continue
        return found

    def _scaled(self, raw: Sequence[Raw]) -> Iterator[Raw]:
        """What is known of a largest or a least number, times what the sentence multiplies by numbers."""
        some = [
            r for r in raw if isinstance(r.of, Known) and set(r.form) <= {()} and not r.free and r.of.cost == _CHOICE
        ]
        if not some:
            return
        for factor in dict.fromkeys(self._sizes()):
            for r in some:
                tree = parse_sentence(r.of.sentence)
                try:
                    whole = self.forms.expanded(f"{factor}*({text_of(tree.right)} - ({text_of(tree.left)}))")
                    form = self.forms.unfolded(whole)
                except ValueError:
                    continue
                yield Raw(f"({r.words}) times {factor}", r.of, 0.02, False, (), whole, form, factor)

    def _sizes(self) -> Iterator[str]:
        """The squares, and means of squares, in the sentence."""

        def of(e: Any) -> Iterator[Any]:
            if isinstance(e, Name) and e.name in self.claim.definitions:
                yield from of(self.claim.definitions[e.name])
            elif isinstance(e, Apply):
                inner = e
                while inner.operation in ("E", "mean_n", "mean_i", "sum_n") and isinstance(parts(inner)[0], Apply):
                    inner = parts(inner)[0]  # type: ignore[assignment]
                if inner.operation == "norm2":
                    yield e
                else:
                    for a in parts(e):
                        yield from of(a)

        for side in (self.tree.left, self.tree.right):
            for e in of(side):
                if not read(e, self.claim.vocabulary).free - self.free:
                    yield text_of(e)

    def _ties(self) -> list[tuple[Raw, int, Element, int]]:
        """Equations that say what a parameter is: the line, its place, its value, the sign it has in right - left."""
        found: list[tuple[Raw, int, Element, int]] = []
        for r in self.numbers:
            if not r.free:
                continue
            tree = parse_sentence(r.of.sentence)
            for side, sign in ((tree.left, -1), (tree.right, 1)):
                if not isinstance(side, Name) or side.name not in self.field.atoms:
                    continue
                at = self.field.places[side.name]
                gen = self.field.inner.gens[at]
                value = gen - self._tied_by(self.forms.element(self.field, r.form[()]) * sign, found)
                if any(m[at] for p in (value.numer, value.denom) for m in p):
                    continue
                found = [(o, i, self._tied_by(v, [(r, at, value, sign)]), s) for o, i, v, s in found]
                found.append((r, at, value, sign))
                break
        return found

    def _tied(self, e: Element) -> Element:
        return self._tied_by(e, self.ties)

    def _tied_by(self, e: Element, ties: Sequence[tuple[Raw, int, Element, int]]) -> Element:
        for _, at, value, _ in ties:
            if any(m[at] for p in (e.numer, e.denom) for m in p):
                e = self.field.put(e, at, value)
        return e

    def _last(self, **rest: Any) -> Line:
        """The last line; what cannot be written, as a sum of K + 1 terms, is left to the rule around it."""
        line: Line = {"name": self.name}
        if not self.put:
            line["sentence"] = self.sentence
        return {**line, **rest}

    def _identity(self) -> list[Line]:
        """Both sides are the same, perhaps after a round."""
        if self.equation and self.stated:
            return [self._last(by="step")]
        lines, parts_ = [], []
        for key, c in self.stated.items():
            step = self.forms.step(key)
            if step is not None:
                name = self.context.name("step")
                lines.append({"name": name, "sentence": step[0], "by": "step"})
                parts_.append({"line": name, "times": number(-c)})
        return [*lines, self._last(by="combination", parts=parts_)]

    def _fact(self, r: Raw) -> Fact | None:
        tree = parse_sentence(r.of.sentence)
        if tree.relation == "==":
            return None
        left, right = (tree.right, tree.left) if tree.relation in (">=", ">") else (tree.left, tree.right)
        gap = self._tied(self.forms.element(self.field, r.form.get((), ZERO)))
        if not gap:
            return None
        text = text_of(right) if left == parse_expression("0") else f"{text_of(right)} - {text_of(left, 2)}"
        return Fact(r.of.name, gap, text, tree.relation in ("<", ">"))

    def _signs(self) -> Signs:
        forms, atoms = self.forms, self.field.atoms
        inner = {
            i: [forms.element(self.field, q) for q in forms.within(a)] for i, a in enumerate(atoms) if forms.within(a)
        }
        return Signs(
            self.field,
            list(self.facts),
            [forms.sign(a) == 1 for a in atoms],
            self.places,
            lambda: self.context.name("sign"),
            frozenset(i for i, a in enumerate(atoms) if forms.sign(a) < 0),
            inner=inner,
            spend=self.context.work.spend,
        )

    def _equation(self, problem: Problem) -> Answer | None:
        """Of an equation: only equations, and no squares."""
        free = [j for j, m in enumerate(problem.multiples) if m.free]
        keys = {key for terms in (problem.goal, *(problem.multiples[j].terms for j in free)) for key in terms}
        zero = problem.field.inner.zero
        equations = [
            (
                {j: problem.multiples[j].terms[key] for j in free if key in problem.multiples[j].terms},
                problem.goal.get(key, zero),
            )
            for key in keys
        ]
        found = solutions(equations, free)
        if found is None:
            self.context.work.tried.append("the equation is no combination of equations at hand")
            return None
        return Answer({j: v[0] for j, v in found.values.items() if v[0]}, ())

    def _from_one(self, problem: Problem) -> Answer | None:
        """The last line that was given, as it is, and a multiple of what is known of numbers."""
        own = next(j for j, m in enumerate(problem.multiples) if m.name == self.given[-1].name)
        zero = problem.field.inner.zero
        for j, m in enumerate(problem.multiples):
            if not m.line.factor:
                continue
            keys = {*m.terms, *problem.multiples[own].terms, *problem.goal}
            equations = [
                (
                    {j: m.terms[key]} if key in m.terms else {},
                    problem.goal.get(key, zero) - problem.multiples[own].terms.get(key, zero),
                )
                for key in keys
            ]
            found = solutions(equations, [j])
            if found is not None and self.signs.nonnegative(found.values[j][0]):
                return Answer({own: problem.field.number(1), j: found.values[j][0]}, ())
        return None

    def _points(self) -> list[str]:
        """Where functions are taken, and what the claim compares with; from stage 2 on, steps along gradients too."""
        forms = self.forms
        found = dict.fromkeys(forms.points(self.goal))
        for known in self.given:
            try:
                found |= dict.fromkeys(forms.points(forms.gap(known.sentence)))
            except ValueError:
                continue
        if not self.instances.predicates:
            return list(found)
        found |= dict.fromkeys(forms.states(self.goal))
        if not found:
            found |= dict.fromkeys(self.claim.vectors)
        if forms.has_minimiser:
            found.setdefault("xstar")
        smooth = next((one for _, one in self.instances.predicates if one.name == "smooth"), None)
        if self.stage >= 2 and smooth is not None:
            L, F = text_of(smooth.constants[0], 4), smooth.function
            here = [x for x in found if x != "xstar" and "grad" not in x]
            for x in here:
                found.setdefault(f"{x} - grad({F}, {x})/{L}")
            for x, y in itertools.permutations(here, 2):
                found.setdefault(f"{x} - (grad({F}, {x}) - grad({F}, {y}))/{L}")
        return list(found)

    def _candidates(self) -> Iterator[Instance | Known]:
        yield from self.given
        some, points = self.instances, self.points
        if self.claim.predicates and not self.bare:
            yield from some.pairs(points, self.stage >= 1)
            yield from some.singles(points, self.forms.has_infimum)
        if self.forms.has_minimiser and not self.bare:
            yield from some.least()
            if "xstar" in points:
                yield from some.zeros(self._whole_vectors())
        if self.forms.has_own_minimisers and not self.bare:
            yield from some.own_minimisers(self._whole_vectors(), points)
        for over, text in self.forms.extremes(self.stated):
            sentence = f"{text} <= {over}({text})" if over.startswith("max") else f"{over}({text}) <= {text}"
            line = {"by": "axiom", "schema": "extreme", "of": [text], "over": over}
            self.choices.append(Known(sentence, sentence, line, 0.4))
            yield self.choices[-1]
        for a in self.forms.number_atoms(self.goal):
            for op, of in self.forms.inside(a):
                for one in of:
                    sentence = f"{one} <= {a}" if op == "max" else f"{a} <= {one}"
                    line = {"by": "axiom", "schema": op, "of": of}
                    self.choices.append(Known(sentence, sentence, line, _CHOICE))
                    yield self.choices[-1]

    def _whole_vectors(self) -> list[str]:
        """The server's vectors, and weighted sums of the clients', as texts."""
        found = []
        for text, letters, _, whole, _ in self.forms.vectors([self.goal]):
            weights = self._weights() if letters == {"n"} else []
            found += [f"sum_n({w}*{text})" for w in weights] or [averaged(text, letters, frozenset(), whole)]
        free = [x for x in self.points if not indices(x, self.claim) - self.free]
        return list(dict.fromkeys([*found, *free]))

    def _weights(self) -> list[str]:
        """Numbers of the clients that occur, and are not negative."""
        symbols = {index_of(s)[0]: s for s in self.claim.symbols if index_of(s)[1] == "n"}
        names = [n for n in self.forms.indexed(self.goal) if n in symbols]
        domains = self.claim.domains
        return [symbols[n] for n in names if (low := domains[n].lower) is not None and low >= 0]

    def _read(self, one: Instance | Known) -> Raw | None:
        forms, words = self.forms, self.claim.vocabulary
        try:
            sentence = parse_sentence(one.sentence)
            sides = [read(s, words) for s in (sentence.left, sentence.right)]
            loose = frozenset().union(*(s.free for s in sides)) - self.free
            put = (one.put or {}) if isinstance(one, Known) else {}
            loose -= set(put)
            over = [f"sum_{i}" for i in ("k", "h") if i in loose]
            if any(s.random for s in sides) and self.averaged:
                over.append("E")
            over += [f"mean_{i}" for i in ("n", "i") if i in loose]
            whole = forms.gap(one.sentence, over, put)
            form = forms.unfolded(whole)
        except ValueError:
            return None
        name = one.name if isinstance(one, Known) else one.words
        return Raw(name, one, one.cost, sentence.relation == "==", tuple(over), whole, form)

    def _settings(self) -> list[tuple[float, ...]]:
        """Values of the atoms; where some are largest or least numbers, with each of their arguments as the one."""
        more = [parse_sentence(text) for text in self.context.supposed]
        trees = [parse_expression(a) for a in self.field.atoms]
        choices = [[parse_expression(x) for x in of] for a in self.field.atoms for _, of in self.forms.inside(a)]
        found: list[tuple[float, ...]] = []
        others: list[tuple[float, ...]] = []
        seen: dict[tuple[int, ...], int] = {}
        many = 8 * _SETTINGS if choices else _SETTINGS
        for values in settings(self.claim, many, more=sorted(self.free), supposed=more):
            try:
                one = tuple(worth(t, values, self.claim.definitions) for t in trees)
                which = tuple(int(np.argmax([worth(t, values, self.claim.definitions) for t in of])) for of in choices)
            except ValueError:
                continue
            seen[which] = seen.get(which, 0) + 1
            (found if seen[which] <= 2 or not choices else others).append(one)
        return [*found, *others][: max(_SETTINGS, min(len(found), 2 * _SETTINGS))]

    # --- squares ---

    def _blocks(self, others: Sequence[Form]) -> Iterator[Any]:
        """Blocks of vectors: means, what clients are away from them, what samples are away from their client's."""
        yield ("1",), (), "1", {(0, 0): {(): self.forms.one}}
        around = ("E",) if self.averaged else ()
        every = self.forms.vectors([self.goal, *others])
        whole: dict[str, bool] = {}
        clients: dict[str, None] = {}
        samples: dict[str, None] = {}
        weights = self._weights()
        weighted: dict[str, list[str]] = {w: [] for w in weights}
        for text, letters, place, of_all, of_client in every:
            if letters & {"k", "h"}:
                continue
            place = place and (text in self.points or text in ("xstar", "x0") or "[" in text)
            if letters == {"n"} and weights:
                for w in weights:
                    whole.setdefault(f"sum_n({w}*{text})", False)
                    weighted[w].append(f"{text} - sum_n({w}*{text})")
                continue
            mean = averaged(text, letters, frozenset(), of_all)
            if mean != "grad(f, xstar)":
                whole.setdefault(mean, place)
            if "n" in letters:
                client = averaged(text, letters - {"n"}, frozenset(), of_client if "i" in letters else None)
                clients.setdefault(client if mean == "grad(f, xstar)" else f"{client} - {mean}")
                if "i" in letters:
                    samples.setdefault(f"{text} - {client}")
            elif "i" in letters:
                samples.setdefault(f"{text} - {mean}")
        base = self._base([t for t, place in whole.items() if place])
        vectors = [t if not place or base is None else f"{t} - {base}" for t, place in whole.items() if t != base]
        for some, over in ((vectors, ()), (list(clients), ("mean_n",)), (list(samples), ("mean_n", "mean_i"))):
            if some:
                bound = tuple(b for b in over if b[-1] not in self.free)
                yield self._block(tuple(some), (*around, *bound))

        for w, some in weighted.items():
            if some:
                yield self._block(tuple(some), (*around, "sum_n"), w)

    def _base(self, places: Sequence[str]) -> str | None:
        """A place from which the others are seen; None where the origin is one."""
        if not (self.claim.predicates or self.claim.of):
            return None
        if "xstar" in places:
            return "xstar"
        return places[-1] if places and self.claim.predicates else None

    def _block(self, vectors: tuple[str, ...], over: tuple[str, ...], weight: str = "1") -> Any:
        forms = self.forms

        def product(a: str, b: str) -> Form:
            return forms.unfolded(forms.expanded(f"{weight}*dot({a}, {b})", over))

        if forms.one_client:  # what clients differ in is nothing
            vectors = tuple(v for v in vectors if forms.collapsed(product(v, v)))
        entries = {
            (a, b): product(vectors[a], vectors[b])
            for a, b in itertools.combinations_with_replacement(range(len(vectors)), 2)
        }
        return vectors, over, weight, entries

    # --- writing ---

    def _written(self, answer: Answer, problem: Problem) -> list[Line]:
        lines: list[Line] = []
        parts_: list[dict[str, Any]] = []
        forms, field_ = self.forms, self.field
        self.signs = self._signs()  # those lines only that are needed
        total = {key: forms.element(field_, c) for key, c in self.stated.items()}  # as written
        rest = {key: forms.element(field_, c) for key, c in self.goal.items()}  # after a round

        def take(sum_: dict[Any, Element], y: Element, form: Form) -> None:
            for key, c in form.items():
                sum_[key] = sum_.get(key, 0) - y * forms.element(field_, c)

        zeros: dict[tuple[Any, ...], list[tuple[str, Element, Raw]]] = {}
        for j, y in answer.multipliers.items():
            r: Raw = problem.multiples[j].line
            take(total, y, r.whole)
            take(rest, y, r.form)
            if not isinstance(r.of, Known) and r.of.line["schema"] in ("zero", "zero n"):
                at = (r.of.line["schema"], tuple(r.of.line["of"]), r.of.line.get("on"), r.over)
                zeros.setdefault(at, []).append((r.of.line["at"]["v"], y, r))
                continue
            if isinstance(r.of, Known):
                name = r.of.name
            else:
                name = self.context.name(str(r.of.line["schema"]))
                lines.append({"name": name, "sentence": r.of.sentence, **r.of.line})
            parts_.append(self._part(name, r, y))
        for some in zeros.values():
            one = some[0][2].of
            v = self._sum([t for t, _, _ in some], {i: y for i, (_, y, _) in enumerate(some)})
            name = self.context.name("zero")
            function = one.sentence.split("(")[2].split(",")[0]
            point = "xstar_n" if one.line["schema"] == "zero n" else "xstar"
            sentence = f"dot(grad({function}, {point}), {v}) == 0"
            lines.append({"name": name, "sentence": sentence, **one.line, "at": {"v": v}})
            over = some[0][2].over
            parts_.append({"line": name, "over": list(over)} if over else {"line": name})
        squares = []
        for b, factor, vector in answer.squares:
            block = problem.blocks[b]
            self.signs.nonnegative(factor)
            square: dict[str, Any] = {"of": self._sum(block.vectors, vector)}
            for e in vector.values():
                self.signs.divides(e)
            if block.over:
                square["over"] = list(block.over)
            times = self.signs.text(factor)
            square["times"] = (
                times if block.weight == "1" else f"{block.weight}*{times}" if times != "1" else block.weight
            )
            squares.append(square)
            for (i, j), form in self.raw_blocks[b][3].items():
                if i in vector and j in vector:
                    take(rest, factor * vector[i] * vector[j] * (1 if i == j else 2), form)
        for key, c in total.items():
            step = forms.step(key) if c else None
            if step is not None:
                name = self.context.name("step")
                lines.append({"name": name, "sentence": step[0], "by": "step"})
                parts_.append({"line": name, "times": field_.text(-c, self.places)})
        parts_ += self._tie_parts(rest)
        if self.forms.one_client and (left := {key: c for key, c in rest.items() if c}):
            name = self.context.name("one client")
            text = self._combined(left)
            lines.append({"name": name, "sentence": f"{text} == 0", "by": "single"})
            parts_.append({"line": name, "times": "-1"})
        last = self._last(by="combination", parts=parts_)
        if squares:
            last["squares"] = squares
        return [*self._needed([*lines, *self.signs.lines, last]), *lines, *self.signs.lines, last]

    def _combined(self, form: Mapping[Any, Element]) -> str:
        pieces: list[str] = []
        for key, c in form.items():
            text = self.field.text(c, self.places)
            negative, text = text.startswith("-"), text.removeprefix("-")
            piece = text if key == () else monomial(key) if text == "1" else f"({text})*{monomial(key)}"
            pieces.append(f"- {piece}" if negative else f"+ {piece}" if pieces else piece)
        return " ".join(pieces).replace("- ", "-", 1) if pieces and pieces[0][0] == "-" else " ".join(pieces)

    def _part(self, name: str, r: Raw, y: Element) -> dict[str, Any]:
        part: dict[str, Any] = {"line": name}
        if isinstance(r.of, Known) and r.of.put:
            part["put"] = dict(r.of.put)
        if r.over:
            part["over"] = list(r.over)
        if not r.free:
            self.signs.nonnegative(y)
        self.signs.divides(y)
        text = self.signs.text(y)
        if r.factor:
            text = r.factor if text == "1" else f"{text}*{r.factor}"
        if text != "1":
            part["times"] = text
        return part

    def _tie_parts(self, rest: dict[Any, Element]) -> list[dict[str, Any]]:
        """Multiples of equations between parameters that make up for what was put in; `rest` is what is left then."""
        found = []
        left = {key: c for key, c in rest.items() if c}
        for r, at, value, sign in self.ties:
            gen = self.field.inner.gens[at]
            pieces = []
            for key, c in list(left.items()):
                put = self._tied_by(c, [(r, at, value, sign)])
                quotient = (c - put) / (gen - value)
                left[key] = put
                rest[key] = put
                if quotient:
                    self.signs.divides(quotient)
                    text = self.field.text(quotient * sign, self.places)
                    pieces.append(text if key == () else f"({text})*{monomial(key)}")
            if pieces:
                found.append({"line": r.of.name, "times": " + ".join(pieces)})
        return found

    def _needed(self, lines: Sequence[Line]) -> list[Line]:
        """What is known and has yet to be written, as far as it is used."""
        used = {part["line"] for line in lines for part in line.get("parts", ())}
        texts = " ".join(
            str(p.get("times", "")) for line in lines for p in (*line.get("parts", ()), *line.get("squares", ()))
        )
        gaps = {fact.line: fact.text for fact in self.facts}
        known = {one.name: one for one in [*self.given, *self.choices] if one.line is not None}
        return [
            {"name": one.name, "sentence": one.sentence, **(one.line or {})}
            for one in known.values()
            if one.name in used or one.name in self.signs.used or gaps.get(one.name, "?") in texts
        ]

    def _sum(self, vectors: Sequence[str], coefficients: Mapping[int, Element]) -> str:
        pieces: list[str] = []
        for i, e in sorted(coefficients.items()):
            text = self.field.text(e, self.places)
            negative = text.startswith("-")
            text = text.removeprefix("-")
            v = _bracket(vectors[i]) if text != "1" or negative or pieces else vectors[i]
            piece = v if text == "1" else f"{text}*{v}" if "/" not in text else f"({text})*{v}"
            pieces.append(("-" if negative else "") + piece if not pieces else f" {'-' if negative else '+'} {piece}")
        return "".join(pieces)


def _bracket(text: str) -> str:
    tree = parse_expression(text)
    plain = isinstance(tree, Name | At) or (
        isinstance(tree, Apply)
        and (tree.operation.isidentifier() or tree.operation.startswith("grad "))
        and tree.operation != "neg"
    )
    return text if plain else f"({text})"
