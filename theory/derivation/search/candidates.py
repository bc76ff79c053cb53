"""What may be used to show a sentence: lines at hand, instances of assumptions, and squares."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from theory.derivation.search.context import CHOICE, Context, Known, Raw
from theory.derivation.search.field import Field
from theory.derivation.search.forms import Form
from theory.derivation.search.instances import Instance, Instances, indices
from theory.derivation.search.settings import compiled
from theory.derivation.spoken import averaged
from theory.formula import Apply, Name, Number
from theory.sentence import (
    Expression,
    applied,
    everything,
    everything_meant,
    exchanged,
    index_of,
    parse_expression,
    parse_sentence,
    parts,
    read,
    replaced,
    text_of,
)

_SETTINGS = 6
_MOST_PARTS = 3


class Candidates:
    """What may be used to show a sentence of a claim.

    Args:
        context: of the claim.
        sentence: which.
        name: of its line.
        given: lines at hand beside those that are always known.
        stage: how far candidates are looked for.
        put: what k, h or K stand for in it.
        bare: whether to do without what is assumed of functions.

    Attributes:
        stated: right - left as a form.
        goal: the same after a round. told: with what lines at hand say.
        problem: why there are none; None where they are read.
    """

    field: Field
    problem: str | None

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
        self.problem = None
        self.choices: list[Known] = []
        try:
            self.stated = self.forms.gap(sentence, put=put)
            self.goal = self._unfolded(self.stated)
            self.points = self._points()
        except ValueError as error:
            self.problem, self.points = str(error), []

    def said(self) -> list[str]:
        """The sentences that may be used, to tell whether another stage has others."""
        return [] if self.problem is not None else [one.sentence for one in self._candidates()]

    def _unfolded(self, form: Form) -> Form:
        return dict(form) if self.context.lean else self.forms.unfolded(form)

    def _candidates(self) -> Iterator[Instance | Known]:
        yield from (one for one in self.given if not one.aside)
        if self.context.only:
            return
        some, points = self.instances, self.points
        if self.context.lean and not self.bare:
            yield from some.at_means(points)
        elif self.claim.predicates and not self.bare:
            within = [x for x in points if x == "xstar" or "k" in indices(x, self.claim)]
            yield from some.pairs(within if self.context.summed else points, self.stage >= 1, self.context.plain)
        if self.claim.predicates and not self.bare:
            yield from some.singles(points, self.forms.has_infimum)
        if self.forms.has_minimiser and not self.bare:
            yield from some.least()
            if "xstar" in points:
                yield from some.zeros(self._whole_vectors(), self._client_vectors())
        if self.forms.has_own_minimisers and not self.bare:
            yield from some.own_minimisers(self._whole_vectors(), points)
        for over, text in self.forms.extremes(self.stated):
            sentence = f"{text} <= {over}({text})" if over.startswith("max") else f"{over}({text}) <= {text}"
            line = {"by": "axiom", "schema": "extreme", "of": [text], "over": over}
            self.choices.append(Known(sentence, sentence, line, 0.4))
            yield self.choices[-1]
            for weight in self._weights_of(text) if over.endswith("_n") else ():
                self.choices.append(Known(sentence, sentence, line, 0.4, over=("sum_n",), factor=weight))
                yield self.choices[-1]
        if self.context.lean and not self.equation:
            yield from self._of_means()
        yield from self._of_parts()
        yield from self._of_numbers()
        made = self.context.operations.facts(self.told, self.given, points, self._whole_vectors())
        for known in made:
            self.choices.append(known)
            yield known
        for a in self.forms.number_atoms(self.goal):
            for op, of in self.forms.inside(a):
                for one in of:
                    sentence = f"{one} <= {a}" if op == "max" else f"{a} <= {one}"
                    line = {"by": "axiom", "schema": op, "of": of}
                    self.choices.append(Known(sentence, sentence, line, CHOICE))
                    yield self.choices[-1]

    def _weights_of(self, text: str) -> list[str]:
        """The numbers of clients that a text is multiplied by, where all are added up."""
        one, found = parse_expression(text), dict[str, None]()
        for side in (self.tree.left, self.tree.right):
            for e in everything(replaced(side, self.claim.definitions)):
                product = parts(e)[0] if isinstance(e, Apply) and e.operation in ("sum_n", "mean_n") else None
                inside = [] if not isinstance(product, Apply) else [*map(_as_dot, parts(product))]
                if not isinstance(product, Apply) or one not in inside:
                    continue
                others = [factor for factor, meant in zip(parts(product), inside, strict=True) if meant != one]
                if product.operation == "*":
                    found[text_of(others[0] if others else one)] = None
                elif product.operation == "**" and others == [Number(Fraction(2))]:
                    found[text] = None
        return [*found][:_MOST_PARTS]

    def _of_parts(self) -> Iterator[Known]:
        """That what is so of one client is at most the sum over all."""
        if "n" not in self.free or self.equation:
            return
        words = self.claim.vocabulary
        sides = [replaced(side, self.claim.definitions) for side in (self.tree.left, self.tree.right)]
        some = dict.fromkeys(e for side in sides for e in everything(side) if isinstance(e, Apply))
        for e in [e for e in some if e.operation == "norm2" and "n" in read(e, words).free][:_MOST_PARTS]:
            text = text_of(e)
            sentence = f"{text} <= sum_n({text})"
            line = {"by": "axiom", "schema": "part", "of": [text], "over": "sum_n"}
            self.choices.append(Known(sentence, sentence, line, 0.5))
            yield self.choices[-1]

    def _of_numbers(self) -> Iterator[Known]:
        """That the square of a mean over clients is at most the mean of the squares, of numbers that they have."""
        if self.equation:
            return
        words = self.claim.vocabulary
        told = [self.tree, *(parse_sentence(known.sentence) for known in self.given)]
        sides = [replaced(side, self.claim.definitions) for one in told for side in (one.left, one.right)]
        every = (part for side in sides for part in everything(side) if isinstance(part, Name))
        some = dict.fromkeys(e for e in every if index_of(e.name)[1] == "n" and read(e, words).shape == "scalar")
        for one in [*some][:_MOST_PARTS]:
            text = text_of(one)
            apart = {f"mean_n({text})": f"mean_n({text})**2 <= mean_n(({text})**2)"}
            for relation in told[1:]:
                for side, other in (relation.sides, relation.sides[::-1]):
                    if side in (applied("mean_n", (one,)), applied("sum_n", (one,))) and not read(other, words).free:
                        all_ = f"({text_of(other)})" + "/N" * (side != applied("mean_n", (one,)))
                        apart[all_] = f"2*{all_}*mean_n({text}) - ({all_})**2 <= mean_n(({text})**2)"
            for mean, sentence in apart.items():
                line = {"by": "combination", "squares": [{"of": f"{text} - {mean}", "over": ["mean_n"]}]}
                self.choices.append(Known(sentence, sentence, line, 0.5))
                yield self.choices[-1]

    def _of_means(self) -> Iterator[Known]:
        """That the square of a mean over the rounds is at most the mean of the squares."""
        sides = [replaced(side, self.claim.definitions) for side in (self.tree.left, self.tree.right)]
        for e in dict.fromkeys(e for side in sides for e in everything(side)):
            if not isinstance(e, Apply) or e.operation != "norm2":
                continue
            for mean in dict.fromkeys(m for m in everything(e) if isinstance(m, Apply) and m.operation == "mean_k"):
                inside: dict[Expression, Expression] = {mean: parts(mean)[0]}
                inner = exchanged(parts(e)[0], inside.get)
                if read(inner, self.claim.vocabulary).free - self.free != {"k"}:
                    continue
                one, all_ = text_of(inner), text_of(parts(e)[0])
                sentence = f"norm2({all_}) <= mean_k(norm2({one}))"
                line = {"by": "combination", "squares": [{"of": f"{one} - ({all_})", "over": ["mean_k"]}]}
                self.choices.append(Known(sentence, sentence, line, 0.5))
                yield self.choices[-1]

    def _points(self) -> list[str]:
        """Where functions are taken, and what the claim compares with; from stage 2 on, steps along gradients too."""
        forms = self.forms
        found = dict.fromkeys(forms.points(self.goal))
        self.told = dict(self.goal)
        for known in self.given:
            try:
                said = forms.gap(known.sentence)
            except ValueError:
                continue
            found |= dict.fromkeys(forms.points(said))
            self.told |= said
        if not self.instances.predicates:
            return list(found)
        found |= dict.fromkeys(forms.states(self.goal))
        made = self.context.operations.made(self.told)
        for one in made:
            said = forms.expanded(f"norm2({one.of}) + norm2({one.vector})")
            found |= dict.fromkeys([*forms.points(said), *forms.states(said)])
            if one.kind == "proximal":
                found.setdefault(one.vector)
        if set(found) <= {"xstar"}:
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

    def _whole_vectors(self) -> list[str]:
        """The server's vectors, and weighted sums of the clients', as texts."""
        found = []
        for text, letters, _, whole, _ in self.forms.vectors([self.goal]):
            weights = self._weights() if letters == {"n"} else []
            found += [f"sum_n({w}*{text})" for w in weights] or [averaged(text, letters, frozenset(), whole)]
        free = [x for x in self.points if not indices(x, self.claim) - self.free]
        return list(dict.fromkeys([*found, *free]))

    def _client_vectors(self) -> list[str]:
        """The clients' vectors, as texts."""
        return [text for text, letters, *_ in self.forms.vectors([self.goal]) if letters == {"n"}]

    def _weights(self) -> list[str]:
        """Numbers of the clients that occur, and are not negative."""
        symbols = {index_of(s)[0]: s for s in self.claim.symbols if index_of(s)[1] == "n"}
        names = [n for n in self.forms.indexed(self.goal) if n in symbols]
        domains = self.claim.domains
        return [symbols[n] for n in names if (low := domains[n].lower) is not None and low >= 0]

    def _read(self, one: Instance | Known) -> Raw | None:
        """What a sentence comes to under binders; None for what is not read."""
        try:
            sentence = parse_sentence(one.sentence)
            sides = [read(s, self.claim.vocabulary) for s in (sentence.left, sentence.right)]
            loose = frozenset().union(*(s.free for s in sides)) - self.free
            put = (one.put or {}) if isinstance(one, Known) else {}
            loose -= set(put)
            over = [f"sum_{i}" for i in ("k", "h") if i in loose]
            if any(s.random for s in sides) and self.averaged:
                over.append("E")
            over += [f"mean_{i}" for i in ("n", "i") if i in loose]
            factor = ""
            if isinstance(one, Known) and one.over is not None:
                over, factor = list(one.over), one.factor
            whole, form = self.forms.of_sentence(one.sentence, tuple(over), put, factor, self.context.lean)
        except ValueError:
            return None
        name = one.name if isinstance(one, Known) else one.words
        return Raw(name, one, one.cost, sentence.relation == "==", tuple(over), whole, form, factor)

    def _multiplied(self, raw: Sequence[Raw]) -> list[Raw]:
        """Equations without vectors, as that weights have the sum 1, times inner products, or largest numbers."""
        found = list(self._scaled(raw)) if self.bare else []
        for r in raw:
            if not r.free or set(r.whole) <= {()} or r.over or any(True for _ in self.forms.vectors([r.whole])):
                continue
            tree = parse_sentence(r.of.sentence)
            gap = f"({text_of(tree.right)} - ({text_of(tree.left)}))"
            pairs = itertools.combinations_with_replacement(self._whole_vectors(), 2)
            factors = [f"norm2({a})" if a == b else f"dot({a}, {b})" for a, b in pairs]
            factors += [f"{over}({text})" for over, text in self.forms.extremes(self.stated)]
            for factor in factors:
                try:
                    whole = self.forms.expanded(f"{factor}*{gap}")
                    found.append(Raw(f"{r.words} times {factor}", r.of, r.cost, True, (), whole, whole, factor))
                except ValueError:
                    continue
        return found

    def _scaled(self, raw: Sequence[Raw]) -> Iterator[Raw]:
        """What is known of a largest or a least number, times what the sentence multiplies by numbers."""
        some = [
            r for r in raw if isinstance(r.of, Known) and set(r.form) <= {()} and not r.free and r.of.cost == CHOICE
        ]
        if not some:
            return
        for factor in dict.fromkeys(self._sizes()):
            for r in some:
                tree = parse_sentence(r.of.sentence)
                try:
                    whole = self.forms.expanded(f"{factor}*({text_of(tree.right)} - ({text_of(tree.left)}))")
                    form = self._unfolded(whole)
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

    def _settings(self) -> list[tuple[float, ...]]:
        """Values of the atoms; where some are largest or least numbers, with each of their arguments as the one."""
        try:
            atoms = [self._in_floats(a) for a in self.field.atoms]
            choices = [[self._in_floats(x) for x in of] for a in self.field.atoms for _, of in self.forms.inside(a)]
        except ValueError:
            return []
        found: list[tuple[float, ...]] = []
        others: list[tuple[float, ...]] = []
        seen: dict[tuple[int, ...], int] = {}
        many = 8 * _SETTINGS if choices else _SETTINGS
        for values in self.context.settings(many, sorted(self.free), self.context.supposed):
            try:
                one = tuple(atom(values) for atom in atoms)
                which = tuple(int(np.argmax([argument(values) for argument in of])) for of in choices)
            except ValueError:
                continue
            seen[which] = seen.get(which, 0) + 1
            (found if seen[which] <= 2 or not choices else others).append(one)
        return [*found, *others][: max(_SETTINGS, min(len(found), 2 * _SETTINGS))]

    @property
    def _can_hold(self) -> bool:
        """Whether numbers are known that satisfy the hypotheses; without any, nothing is tried."""
        return bool(self.context.settings(_SETTINGS, sorted(self.free), self.context.supposed))

    def _in_floats(self, atom: str) -> Callable[[Mapping[str, float]], float]:
        return compiled(replaced(parse_expression(atom), self.claim.definitions))

    def _blocks(self, others: Sequence[Form]) -> Iterator[Any]:
        """Blocks of vectors: means, what clients are away from them, what samples are away from their client's."""
        yield ("1",), (), "1", {(0, 0): {(): self.forms.one}}
        around = ("E",) if self.averaged else ()
        if self.context.only:
            return
        every = self.forms.vectors([self.goal, *others])
        if self.context.summed:
            yield from self._blocks_of([v for v in every if "k" in v[1] or v[0] == "xstar"], ("sum_k", *around), "k")
            every = [v for v in every if "k" not in v[1]]
        yield from self._blocks_of(every, around)

    def _blocks_of(self, every: Sequence[Any], around: tuple[str, ...], summed: str = "") -> Iterator[Any]:
        """Blocks of some vectors under what all squares are taken over."""
        whole: dict[str, bool] = {}
        clients: dict[str, None] = {}
        samples: dict[str, None] = {}
        weights = self._weights()
        weighted: dict[str, list[str]] = {w: [] for w in weights}
        for text, letters, place, of_all, of_client in every:
            if letters - set(summed) & {"k", "h"}:
                continue
            letters = letters - set(summed)
            place = place and (text in self.points or text in ("xstar", "x0") or "[" in text)
            if letters == {"n"} and weights:
                for w in weights:
                    whole.setdefault(f"sum_n({w}*{text})", False)
                    weighted[w].append(f"{text} - sum_n({w}*{text})")
                continue
            if self.free & {"n", "i"} & indices(text, self.claim):  # of one client, and not in a mean
                whole.setdefault(text, place)
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
        if base is not None and any(t in self.claim.vectors and not place for t, place in whole.items()):
            vectors.append(base)  # of free vectors nobody knows whether they are places
        elif base is not None and any(_is_length(side, base) for one in self.claim.relations for side in one.sides):
            vectors.append(base)
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
            return self._unfolded(forms.expanded(f"{weight}*dot({a}, {b})", over))

        if forms.one_client:  # what clients differ in is nothing
            vectors = tuple(v for v in vectors if forms.collapsed(product(v, v)))
        entries = {
            (a, b): product(vectors[a], vectors[b])
            for a, b in itertools.combinations_with_replacement(range(len(vectors)), 2)
        }
        return vectors, over, weight, entries


def _is_length(e: Expression, v: str) -> bool:
    """Whether it is the length of a vector, or its square: then it matters where 0 is."""
    return isinstance(e, Apply) and e.operation in ("norm", "norm2") and text_of(parts(e)[0]) == v


def _as_dot(e: Expression) -> Expression:
    """A squared length as an inner product; anything else as it is."""
    return applied("dot", parts(e) * 2) if isinstance(e, Apply) and e.operation == "norm2" else e
