"""One sentence from what is assumed and what is known: a combination, found and written as lines."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from theory.derivation.quotients import ZERO
from theory.derivation.search.candidates import Candidates
from theory.derivation.search.context import Context, Known, Line, Raw
from theory.derivation.search.elimination import solutions
from theory.derivation.search.field import Element, Field
from theory.derivation.search.forms import Form
from theory.derivation.search.multipliers import find
from theory.derivation.search.problem import Answer, Block, Multiple, Problem
from theory.derivation.search.signs import Fact, Signs
from theory.derivation.spoken import monomial, number
from theory.formula import Apply, Name
from theory.sentence import At, Expression, parse_expression, parse_sentence, text_of

BESIDE_TIED = tuple(map(Fraction, ("1", "2", "1/2")))
"""By which a multiplier is multiplied beside powers of the number that a parameter is times others."""


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


class _Combination(Candidates):
    """A combination that ends with a sentence."""

    def lines(self) -> list[Line] | None:
        tried = self.context.work.tried
        if self.problem is not None:
            tried.append(f"{self.sentence}: {self.problem}")
            return None
        if not self.goal and (self.equation or not self._divides()):
            return self._identity()
        if not self._can_hold:
            tried.append("no numbers among those that are tried satisfy the hypotheses")
            return None
        raw = [made for made in map(self._read, self._candidates()) if made is not None]
        raw += self._multiplied(raw)
        self.raw_blocks = blocks = [] if self.equation else list(self._blocks([r.form for r in raw]))
        self.numbers = [r for r in raw if isinstance(r.of, Known) and not (r.over or r.factor) and set(r.form) <= {()}]
        self.numbers.sort(key=lambda r: r.cost)
        forms = [self.goal, self.stated, *(r.form for r in raw), *(r.whole for r in raw)]
        forms += [e for b in blocks for e in b[3].values()]
        if self.forms.one_client:
            forms += [self.forms.collapsed(f) for f in forms]
        atoms = dict.fromkeys(a for f in forms for a in self.forms.number_atoms(f))
        left = list(atoms)
        while left:  # powers within powers, roots within roots
            a = left.pop(0)
            inner = [*self.forms.within(a), *([self.forms.squared(a)] if self.context.signs else [])]
            for q in inner:
                new = [] if q is None else [b for b in self.forms.number_atoms({(): q}) if b not in atoms]
                atoms |= dict.fromkeys(new)
                left += new
        self.field = field_ = Field(tuple(atoms))
        self.put_for_squares, self.ties = [], []
        self.places = self._settings()
        if not self.places:
            tried.append("no numbers among those that are tried satisfy the hypotheses")
            return None

        self.ties = self._ties_of_roots()
        self.put_for_squares = self._of_roots()
        self.ties = self._ties()

        def element(form: Form) -> dict[Any, Element]:
            some = self.forms.collapsed(form)
            found = {key: self._tied(self.forms.element(field_, c)) for key, c in some.items()}
            return {key: c for key, c in found.items() if c}

        self.facts = []
        self.signs = self._signs()
        self.facts = [fact for r in self.numbers if (fact := self._fact(r)) is not None]
        self.signs = self._signs()
        multiples = [Multiple(r.words, r, element(r.form), r.free, r.cost) for r in raw]
        squares = tuple(
            Block(vectors, over, {at: element(e) for at, e in entries.items()}, weight)
            for vectors, over, weight, entries in blocks
        )
        choices = frozenset(i for i, a in enumerate(field_.atoms) if self.forms.inside(a))
        problem = Problem(
            field_, element(self.goal), tuple(multiples), squares, tuple(self.places), choices, self._numbers_tied()
        )
        if self.bare:
            answer = self._from_one(problem)
        elif self.equation:
            answer = self._equation(problem)
        else:
            answer = self._sign(problem) if self.strict or set(problem.goal) <= {()} else None
            if answer is None and self.context.signs:
                return None
            answer = answer or find(problem, self.signs.nonnegative, self.signs.divides, self.context.work)
            answer = answer or (None if self.strict else self._sign(problem))
        return None if answer is None else self._written(answer, problem)

    def _divides(self) -> bool:
        """Whether something that is made of numbers stands below a line in what a round makes of the sentence."""
        steps = filter(None, map(self.forms.step, self.stated))
        return any(len(p) > 1 for _, form in steps for c in form.values() for p in c.under)

    def _squares(self) -> dict[str, Element]:
        """Of each root the number of which it is one, where all that stands in it is spoken of."""
        found, forms = {}, self.forms
        for a in self.field.atoms:
            inside = forms.squared(a) if a.startswith("sqrt(") else None
            if inside is not None and set(forms.number_atoms({(): inside})) <= self.field.places.keys():
                found[a] = forms.element(self.field, inside)
        return found

    def _ties_of_roots(self) -> list[tuple[Raw, int, Element, int]]:
        """Roots that are positive multiples of others, as ``sqrt(N/K)`` is of ``sqrt(N*K)``; see `_ties`."""
        found: list[tuple[Raw, int, Element, int]] = []
        field, forms = self.field, self.forms
        squared = self._squares()
        positive = {at for at, a in enumerate(field.atoms) if forms.sign(a) == 1}
        for root, other in itertools.combinations(squared, 2):
            if any(at == field.places[root] for _, at, _, _ in found):
                continue
            ratio = field.root(squared[root] / squared[other])
            if (
                ratio is None
                or not {i for p in (ratio.numer, ratio.denom) for m in p for i, n in enumerate(m) if n} <= positive
            ):
                continue
            value = field.atom(other) * ratio
            said = f"{root} == {field.text(value, self.places)}"
            squares = f"{root}**2 == ({field.text(value, self.places)})**2"
            before = Known(f"squares of {root}", squares, {"by": "combination", "parts": []}, aside=True)
            line = Known(f"{root} by {other}", said, {"by": "root", "line": before.name}, after=before.name)
            self.choices += [before, line]
            whole = forms.gap(said)
            found.append((Raw(line.name, line, line.cost, True, (), whole, whole), field.places[root], value, -1))
        return found

    def _ties(self) -> list[tuple[Raw, int, Element, int]]:
        """Equations that say what a parameter, or a power, is: the line, the place, its value, its sign in the gap."""
        found: list[tuple[Raw, int, Element, int]] = list(self.ties)
        for r in self.numbers:
            if not r.free:
                continue
            tree = parse_sentence(r.of.sentence)
            for side, sign in ((tree.left, -1), (tree.right, 1)):
                at = self._place_of(side)
                if at is None:
                    continue
                gen = self.field.inner.gens[at]
                value = gen - self._without_squares(self.forms.element(self.field, r.form[()]) * sign)
                if any(self._has(e, at) for e in (value, self._tied_by(value, found))):
                    continue
                found.append((r, at, value, sign))
                break
        return found

    def _numbers_tied(self) -> tuple[Fraction, ...]:
        """By what multipliers are multiplied where a parameter is a number times others: of 1/L**2, L == 10*mu."""
        found: dict[Fraction, None] = {}
        for _, _, value, _ in self.ties:
            above, below = ([c for _, c in p.terms()] for p in (value.numer, value.denom))
            if len(above) == len(below) == 1:
                c = above[0] / below[0]
                ratio = Fraction(int(c.numerator), int(c.denominator))
                powers = (ratio**n for n in (-1, 1, -2, 2) if 0 < ratio != 1)
                found |= dict.fromkeys(c * power for power in powers for c in BESIDE_TIED)
        return tuple(found)

    def _place_of(self, side: Expression) -> int | None:
        """Of a parameter, or a power, that stands alone."""
        if isinstance(side, Name):
            return self.field.places.get(side.name)
        if isinstance(side, Apply) and side.operation == "**":
            return self.field.places.get(self.forms.simplified(text_of(side)))
        return None

    def _tied(self, e: Element) -> Element:
        return self._without_squares(self._tied_by(self._without_squares(e), self.ties))

    def _without_squares(self, e: Element) -> Element:
        """With the square of a root for a parameter of which there is a root, so that the two are not independent."""
        for root in self.field.atoms:
            name = root.removeprefix("sqrt(").removesuffix(")")
            at = self.field.places.get(name) if name != root and name.isidentifier() else None
            if at is not None and any(m[at] for p in (e.numer, e.denom) for m in p):
                e = self.field.put(e, at, self.field.atom(root) ** 2)
        for at, value in self.put_for_squares:
            if any(m[at] for p in (e.numer, e.denom) for m in p):
                e = self.field.put(e, at, value)
        return e

    def _of_roots(self) -> list[tuple[int, Element]]:
        """Of each root of a product, as ``sqrt(D/(s*K))``, what one parameter in it is by the others and the root."""
        found: list[tuple[int, Element]] = []
        for root, inside in self._squares().items():
            tied = any(at == self.field.places[root] for _, at, _, _ in self.ties)
            if tied or root.removeprefix("sqrt(").removesuffix(")").isidentifier():
                continue
            e = self._without_squares(inside)
            square = self.field.atom(root) ** 2
            for at, name in enumerate(self.field.atoms):
                above, below = ({m[at] for m in p} for p in (e.numer, e.denom))
                if not name.isidentifier() or (above, below) not in (({1}, {0}), ({0}, {1})):
                    continue
                gen = self.field.inner.gens[at]
                value = gen * square / e if above == {1} else gen * e / square
                found.append((at, value))
                self.put_for_squares = found
                break
        return found

    def _tied_by(self, e: Element, ties: Sequence[tuple[Raw, int, Element, int]]) -> Element:
        for _ in ties:  # what is put in may have what is tied, too
            for _, at, value, _ in ties:
                if self._has(e, at):
                    e = self.field.put(e, at, value)
        return e

    @staticmethod
    def _has(e: Element, at: int) -> bool:
        """Whether an atom occurs in an element."""
        return any(m[at] for p in (e.numer, e.denom) for m in p)

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
        whole = self._without_squares(self.forms.element(self.field, r.form.get((), ZERO)))
        gap = self._tied(whole)
        if not gap:
            return None
        strict = tree.relation in ("<", ">")
        if gap != whole:
            text = self.field.text(gap, self.places)
            put_in = self._tie_parts({(): gap - whole})
            line = {"by": "combination", "parts": [{"line": r.of.name}, *put_in]}
            said = Known(f"{r.of.name}, put in", f"0 {'<' if strict else '<='} {text}", line, after=r.of.name)
            self.choices.append(said)
            return Fact(said.name, gap, text, strict)
        text = text_of(right) if left == parse_expression("0") else f"{text_of(right)} - {text_of(left, 2)}"
        return Fact(r.of.name, gap, text, strict)

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
            wide=self.context.signs,
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

    def _sign(self, problem: Problem) -> Answer | None:
        """Of numbers: right minus left is not negative, or is positive, by what is known of signs."""
        if not problem.goal and not self.strict:  # by equations between parameters
            return Answer({}, ())
        if set(problem.goal) != {()}:
            return None
        gap = problem.goal[()]
        if not (self.signs.is_positive(gap) if self.strict else self.signs.nonnegative(gap)):
            return None
        own = next(b for b, block in enumerate(problem.blocks) if block.vectors == ("1",))
        return Answer({}, ((own, gap, {0: problem.field.number(1)}),))

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
            if not (self.strict and self.signs.is_positive(factor)):
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
            if self.strict and square["of"] == "1" and not block.over:
                parts_.append({"line": self._positive(lines), "times": f"{_bracket(square['times'])}/N"})
            else:
                squares.append(square)
            for (i, j), form in self.raw_blocks[b][3].items():
                if i in vector and j in vector:
                    share = factor * vector[i] * vector[j] * (1 if i == j else 2)
                    product = f"{block.weight}*dot({block.vectors[i]}, {block.vectors[j]})"
                    take(rest, share, form)
                    if block.vectors != ("1",):
                        take(total, share, forms.expanded(product, block.over))
        for key, c in total.items():
            step = forms.step(key) if c else None
            if step is not None:
                name = self.context.name("step")
                said, rounds = forms.of_each_round(key) or (step[0], [])
                for e in step[1].values():  # what is below a line there is not 0
                    self.signs.divides(forms.element(field_, e))
                lines.append({"name": name, "sentence": said, "by": "step"})
                part: dict[str, Any] = {"line": name, "times": field_.text(-c, self.places)}
                parts_.append({**part, "over": rounds} if rounds else part)
        parts_ += self._tie_parts(rest)
        if self.forms.one_client and (left := {key: c for key, c in rest.items() if c}):
            name = self.context.name("one client")
            text = self._combined(left)
            lines.append({"name": name, "sentence": f"{text} == 0", "by": "single"})
            parts_.append({"line": name, "times": "-1"})
        last = self._last(by="combination", parts=parts_)
        if squares:
            last["squares"] = squares
        return [*self._needed([*lines, *self.signs.lines, last]), *self.signs.lines, *lines, last]

    @property
    def strict(self) -> bool:
        """Whether the sentence is a strict inequality, so that a part of it has to be one."""
        return parse_sentence(self.sentence).relation in ("<", ">")

    def _positive(self, lines: list[Line]) -> str:
        """The line that there are clients, so that what is positive is so as a multiple of it."""
        line = {"name": "N > 0", "sentence": "N > 0", "by": "domain"}
        if line not in lines:
            lines.append(line)
        return str(line["name"])

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
        left = {key: one for key, c in rest.items() if (one := self._without_squares(c))}
        for r, at, value, sign in self.ties * len(self.ties):
            gen = self.field.inner.gens[at]
            pieces = []
            for key, c in list(left.items()):
                put = self.field.put(c, at, value) if self._has(c, at) else c
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
        used |= self.signs.used | {name for name in known if gaps.get(name, "?") in texts}
        for one in reversed(list(known.values())):  # what a line rests on stands before it
            if one.name in used:
                used |= _resting_on(one)
        return [
            {"name": one.name, "sentence": one.sentence, **(one.line or {})}
            for one in known.values()
            if one.name in used
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


def _resting_on(one: Known) -> set[str]:
    """The lines that its line names."""
    line = one.line or {}
    return {one.after, str(line.get("line", "")), *(str(part["line"]) for part in line.get("parts", ()))}


def _bracket(text: str) -> str:
    tree = parse_expression(text)
    plain = isinstance(tree, Name | At) or (
        isinstance(tree, Apply)
        and (tree.operation.isidentifier() or tree.operation.startswith("grad "))
        and tree.operation != "neg"
    )
    return text if plain else f"({text})"
