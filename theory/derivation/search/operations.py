"""What is so of the vectors that a program makes by operations, as lines: the candidates of a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from theory import predicates as p_
from theory.derivation import spoken
from theory.derivation.atoms import Index, atom
from theory.derivation.changes import renamed
from theory.derivation.equalities import of_one_client
from theory.derivation.polynomials import Atom
from theory.derivation.quotients import Quotient, constant
from theory.derivation.reading import PLAIN
from theory.derivation.rounds import OPERATIONS
from theory.derivation.search.atoms import deep
from theory.derivation.search.context import Known
from theory.derivation.search.forms import Form, Forms
from theory.derivation.search.instances import LEVEL, assumed, indices
from theory.derivation.terms import as_vector, linear, vector_parts
from theory.sentence import parse_expression, parse_sentence, text_of

_KINDS = ("projected", "proximal", "largest", "signs", "mixed")
_VECTORS = ("server", "client")
_COST = 0.5


@dataclass(frozen=True)
class Made:
    """A vector that an operation makes.

    Attributes:
        kind: of its atom.
        vector: its text, by the state or tap that has it.
        of: the text of what the operation is applied to.
        number: the text of its radius, step or number of coordinates; empty where it has none.
        alone: whether it is one client's, and there is but one.
    """

    kind: str
    vector: str
    of: str
    number: str
    alone: bool


class Operations:
    """The operations of a claim's program, and what is so of them.

    Args:
        forms: of the claim.
    """

    def __init__(self, forms: Forms) -> None:
        self.forms, self.claim = forms, forms.claim
        self._kept: dict[tuple[str, str], Made | None] = {}

    def made(self, form: Form) -> list[Made]:
        """The vectors that operations make in the rounds of a form, as far as states and taps tell them."""
        program = self.claim.program
        if program is None or not any(op in program.operations for op in OPERATIONS):
            return []
        found: dict[str, Made] = {}
        for t in self._rounds(form):
            texts = [f"{name}[{t}]" for name, (kind, loops) in program.taps.items() if kind in _VECTORS and not loops]
            states = [s.name for s in program.state if s.kind in _VECTORS and s.length is None]
            states.sort(key=lambda name, t=t: not self._speaks(form, name, t))  # type: ignore[misc]
            texts += [f"{name}[{t} + 1]" for name in states]
            for one in (self._of(text, t) for text in texts):
                if one is not None:
                    found.setdefault(f"{one.kind} {one.of} {one.number}", one)
        return list(found.values())

    def _speaks(self, form: Form, name: str, t: str) -> bool:
        """Whether a form speaks of a state after round t."""
        after = parse_expression(f"{name}[{t} + 1]")
        own = {a for m, _ in self.forms.reader.value(after) for a in deep(m)}
        return any(a in own for key in form for a in deep(key) if a.kind == "state")

    def _rounds(self, form: Form) -> list[str]:
        """The rounds of which a form speaks: before a state after one, and those of taps."""
        assert self.claim.program is not None
        found: dict[str, None] = {}
        for a in dict.fromkeys(a for key in form for a in deep(key) if a.kind == "state"):
            name, (t, *_) = a.data[:2]
            t = t if name in self.claim.program.taps else t - constant(1)
            if t.over.get((), 0) >= 0 and not any(c < 0 for c in t.over.values()):
                found.setdefault(spoken.number(t))
        return list(found)

    def _of(self, text: str, t: str) -> Made | None:
        if (text, t) not in self._kept:
            try:
                self._kept[text, t] = self._told(text, t)
            except ValueError:
                self._kept[text, t] = None
        return self._kept[text, t]

    def _told(self, text: str, t: str) -> Made | None:
        """The one vector that an operation makes of which a state or tap is a multiple and more."""
        rounds = self.forms.reader.rounds
        tree = parse_expression(text)
        named, rounds.named = rounds.named, False  # type: ignore[union-attr]
        try:
            whole = self.forms.reader.value(tree, replace(PLAIN, unfold=True))
        finally:
            rounds.named = named  # type: ignore[union-attr]
        alone = self.forms.one_client and not self._clients(text)
        q = of_one_client(whole, Index("n")) if alone else whole
        found: list[tuple[Atom, Quotient]] = []
        rest = q
        for m, c in q:
            prefix, factor, core = vector_parts(m)
            if core.kind in _KINDS:
                if prefix:
                    return None
                found.append((core, constant(c) * factor))
                rest = rest - constant(c) * factor * as_vector(core)
        if len(found) != 1 or q.under:
            return None
        core, share = found[0]
        data = [x for x in core.data if isinstance(x, Quotient)]
        if core.kind == "mixed":
            data = [renamed(data[0], {core.data[0]: core.data[-1]})]
        here = text
        if not rest.zero:
            here = f"{text} - ({self._spoken(rest, t)})"
        if share.number != 1:
            here = f"({here})/({spoken.number(share)})"
        numbers, of = data[:-1], self._spoken(data[-1], t)
        if alone and self._clients(of):
            return None
        return Made(core.kind, here, of, spoken.number(numbers[0]) if numbers else "", alone)

    def _spoken(self, v: Quotient, t: str) -> str:
        """A vector, its gradients at what the round makes a state of as those at the state."""
        for s in self.claim.program.state if self.claim.program is not None else ():
            if s.kind in _VECTORS and s.length is None:
                after = parse_expression(f"{s.name}[{t} + 1]")
                made, stays = (self.forms.reader.value(after, replace(PLAIN, unfold=u)) for u in (True, False))

                def there(a: Atom, made: Quotient = made, stays: Quotient = stays) -> Quotient:
                    moved = a.kind == "grad" and isinstance(a.data[1], Quotient) and a.data[1] == made
                    return as_vector(atom("grad", a.data[0], stays) if moved else a)

                v = linear(v, there)
        return spoken.vector(v)

    def _clients(self, text: str) -> frozenset[str]:
        """The indices of clients and samples that a vector has."""
        return indices(text, self.claim) & {"n", "i"}

    def facts(
        self, form: Form, given: Sequence[Known], points: Sequence[str], vectors: Sequence[str]
    ) -> Iterator[Known]:
        """Lines of what is so of these vectors.

        Args:
            form: which speaks of the rounds.
            given: lines at hand.
            points: where functions are taken.
            vectors: against which a gradient that is known is held.
        """
        for one in self.made(form):
            if one.kind == "projected":
                yield from self._projected(one, given)
            elif one.kind == "proximal":
                yield from self._proximal(one, points, vectors)
            elif one.kind == "mixed":
                yield from self._mixed(one, vectors)
            else:
                yield from self._compressed(one)

    def _line(
        self, what: str, one: Made, sentence: str, schema: str, *others: str, using: str = "", cost: float = _COST
    ) -> Known:
        line = {"by": "operation", "schema": schema, "of": [one.vector, one.of, *others]}
        if using:
            line["using"] = using
        return Known(f"{what} {', '.join([one.vector, *others])}", sentence, line, cost)

    def _projected(self, one: Made, given: Sequence[Known]) -> Iterator[Known]:
        """It is in the ball; no farther from 0 than before, nor from the minimiser, where that is in the ball."""

        def said(sentence: str, *of: str, after: str = "") -> Known:
            line = {"by": "axiom", "schema": "projection", "of": [one.vector, *of]}
            return Known(f"projection {', '.join([one.vector, *of[1:]])}", sentence, line, _COST, after=after)

        p, v, R = one.vector, one.of, one.number
        yield said(f"norm2({p}) <= ({R})**2")
        zero = f"{p} - ({p})"
        yield said(f"dot({p} - ({v}), {zero} - ({p})) >= 0", v, zero)
        inside = self._in_ball(R, given)
        if inside is not None:
            yield said(f"dot({p} - ({v}), xstar - ({p})) >= 0", v, "xstar", after=inside)

    def _in_ball(self, radius: str, given: Sequence[Known]) -> str | None:
        """The line that says that the minimiser is in the ball around 0; None where that is not assumed."""
        lengths, squares = (parse_sentence(t) for t in (f"norm(xstar) <= {radius}", f"norm2(xstar) <= ({radius})**2"))
        for one in given:
            said = parse_sentence(one.sentence)
            if said == squares or (said == lengths and one.line is None):
                return one.name if said == squares else f"{one.name} squared"
        return None

    def _proximal(self, one: Made, points: Sequence[str], vectors: Sequence[str]) -> Iterator[Known]:
        """Its function falls to it from every point, and grows from it as a convex function does."""
        F, allowed = ("f", set[str]()) if one.alone else ("f_n", {"n"})
        u, v, t = one.vector, one.of, one.number
        known = {type(a): (text, a) for text, a in assumed(self.claim) if one.alone or LEVEL.get(a.function, 0) >= 1}
        convex = known.get(p_.StronglyConvex) or known.get(p_.Convex)
        smooth = known.get(p_.Smooth)
        for y in dict.fromkeys([*points, v]):
            if y == u or self._clients(y) - allowed:
                continue
            falls = f"({t})*({F}({y}) - {F}({u}))"
            yield self._line(
                "nearest",
                one,
                f"2*{falls} + norm2({y} - ({v})) - norm2({u} - ({v})) >= 0",
                "proximal",
                y,
                cost=1.2 * _COST,
            )
            if convex is not None:
                more = "".join(f" + ({t})*{text_of(c, 4)}/2*norm2({y} - ({u}))" for c in convex[1].constants)
                yield self._line(
                    "nearest, convex",
                    one,
                    f"{falls} >= dot({v} - ({u}), {y} - ({u})){more}",
                    "proximal convex",
                    y,
                    using=convex[0],
                )
        if smooth is not None:
            grad = f"grad({F}, {u})"
            for z in dict.fromkeys([*vectors, u, v, grad]):
                if not self._clients(z) - allowed:
                    said = f"({t})*dot({grad}, {z}) == dot({v} - ({u}), {z})"
                    yield self._line("slope", one, said, "proximal smooth", z, using=smooth[0], cost=0.1)

    def _mixed(self, one: Made, vectors: Sequence[str]) -> Iterator[Known]:
        """The mean stays, and what clients are away from it shrinks."""
        p, v = one.vector, one.of
        for text in (text for text, a in assumed(self.claim) if isinstance(a, p_.Connected)):
            before, after = (f"mean_n(norm2({u} - mean_n({v})))" for u in (v, p))
            yield self._line("nearer", one, f"{after} <= rho**2*{before}", "mixed", using=text)
            for z in dict.fromkeys([*vectors, f"mean_n({p})", f"mean_n({v})"]):
                if not self._clients(z):
                    said = f"dot(mean_n({p}) - mean_n({v}), {z}) == 0"
                    yield self._line("the same mean", one, said, "mixed mean", z, using=text, cost=0.1)

    def _compressed(self, one: Made) -> Iterator[Known]:
        """Of the largest coordinates and of signs: the inner product with what they are made of, and the length."""
        p, v, m = one.vector, one.of, one.number
        if one.kind == "largest":
            yield self._line("the same", one, f"dot({p}, {v}) == norm2({p})", "largest", cost=0.1)
            yield self._line("length", one, f"d*norm2({p}) >= ({m})*norm2({v})", "largest")
        else:
            yield self._line("along", one, f"dot({p}, {v}) >= norm({v})", "signs")
            yield self._line("length", one, f"norm2({p}) <= d", "signs")
