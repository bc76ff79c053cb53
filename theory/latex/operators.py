"""What has an index or an argument: sums, expectations, minimisers, functions; and what stands above and below."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from theory.latex.cursor import Cursor
from theory.latex.surface import Bracket, Expected, Function, Least, Mark, Node, Over, Symbol

STARS = frozenset({"*", r"\star", r"\ast"})


BELOW = (
    r"; below, an index is read alone, _{k} or _{n,i}, from its first value to its last, _{k=0}^{K-1} or _{n=1}^{N}, "
    r"or in a set, _{k \in [K]}"
)
FOR_ALL = r"; for all is read of an index alone, \forall k or \forall n, k, or in a set, \forall k \in [K]"


class Operators(Cursor, ABC):
    """The part of the grammar that names what it takes; the rest is `theory.latex.grammar`."""

    @abstractmethod
    def sum(self) -> Node: ...

    @abstractmethod
    def product(self) -> Node: ...

    @abstractmethod
    def atom(self) -> Node: ...

    @abstractmethod
    def single(self) -> Node: ...

    @abstractmethod
    def bracket(self, scripts: bool = True) -> Node: ...

    @abstractmethod
    def ended(self) -> bool: ...

    def letter(self, read: str = "") -> Symbol:
        """The letter of an index; what else stands there is refused, and told what is read there."""
        at = self.place
        found = None if self.ended() else self.atom()
        if not isinstance(found, Symbol) or found.below or found.above or found.gradient:
            raise self.refuse(f"the letter of an index is expected{read}", at)
        return found

    def set_of(self) -> Node:
        """``[M]``, or the name of a set."""
        at = self.place
        found = self.bracket() if self.here == "[" else self.atom() if not self.ended() else None
        one = isinstance(found, Bracket) and found.kind == "[" and len(found.items) == 1 and not found.below
        if found is None or not (one or isinstance(found, Symbol)):
            raise self.refuse("a set is expected: [N], of the numbers up to N, or a name", at)
        return found

    def over(self, how: str, at: int) -> Over:
        """What stands after the sign of a sum."""
        start: Node | None = None
        stop: Node | None = None
        within: Node | None = None
        letters: tuple[Symbol, ...] = ()
        while self.here in ("_", "^"):
            low = self.here == "_"
            if (letters if low else stop) or (low and start):
                raise self.refuse(f"a second {self.here}")
            self.at += 1
            braced = self.here == "{"
            self.at += braced
            if not low:
                stop = self.sum() if braced else self.single()
            else:
                listed = [self.letter(BELOW)]
                while self.here == ",":
                    self.at += 1
                    listed.append(self.letter(BELOW))
                letters = tuple(listed)
                if self.here == "=":
                    self.at += 1
                    start = self.sum()
                elif self.here == r"\in":
                    self.at += 1
                    within = self.set_of()
            if braced and self.here != "}":
                raise self.refuse(f"}} is expected, and here is {self.here or 'the end'}{BELOW if low else ''}")
            self.at += braced
        if not letters:
            raise self.refuse("below, the index is expected, such as _{n=1}", at)
        body = self.product()
        return Over(how, letters, start, stop, within, body, at, self.place)

    def expected(self, at: int) -> Node:
        below, above = self.scripts()
        if self.here in ("[", "(", r"\{"):
            inner = self.bracket(scripts=False)
            assert isinstance(inner, Bracket)
            if len(inner.items) != 1:
                raise self.refuse("an expectation is of one thing", inner.at)
            more_below, more_above = self.scripts()
            if more_below or (above and more_above):
                raise self.refuse("an index of an expectation stands before its bracket", inner.at)
            return Expected(below, above or more_above, inner.items[0], True, at, self.place)
        if above:
            raise self.refuse("a power of an expectation stands after its brackets", at)
        return Expected(below, (), self.product(), False, at, self.place)

    def least(self, at: int) -> Least:
        r"""``\arg\min_{\|v\| \leq R} ...``, or with a letter alone below; to the next sign."""
        variable: Symbol | None = None
        radius: Node | None = None
        within: Node | None = None
        if self.here == "_":
            self.at += 1
            braced = self.here == "{"
            self.at += braced
            if braced and self.here == r"\|":
                self.at += 1
                variable = self.letter()
                self.expect(r"\|")
                self.expect(r"\le", r"\leq", r"\leqslant")
                radius = self.sum()
            else:
                variable = self.letter()
                if self.here == r"\in":
                    self.at += 1
                    within = self.set_of()
            if braced:
                self.expect("}")
        return Least(variable, radius, within, self.product(), at, self.place)

    def quantile(self, at: int) -> Node:
        self.word()
        below, above = self.scripts()
        if len(below) != 1 or above or self.here != "(":
            raise self.refuse("a quantile is \\operatorname{quantile}_{q}(...)", at)
        inner = self.bracket(scripts=False)
        assert isinstance(inner, Bracket)
        return Function("quantile", (*inner.items, *below), True, at, self.place)

    def function(self, name: str, at: int) -> Node:
        if self.here in ("^", "_"):
            raise self.refuse(f"a power or an index of {name} itself cannot be read; write it around its brackets")
        if self.here in ("(", r"\{", "["):
            inner = self.bracket(scripts=False)
            assert isinstance(inner, Bracket)
            if self.here in ("^", "_"):
                raise self.refuse(
                    f"is this a power of {name}, or of what it is of? write parentheses around {name}(...)"
                )
            return Function(name, inner.items, True, at, self.place)
        return Function(name, (self.product(),), False, at, self.place)

    def scripted(self, node: Symbol | Bracket) -> Node:
        """With what stands above and below."""
        below, above = self.scripts(node.below, node.above)
        return replace(node, below=below, above=above, end=self.place)

    def scripts(
        self, below: tuple[Node, ...] = (), above: tuple[Node, ...] = ()
    ) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        while self.here in ("_", "^", "'"):
            here = self.here
            self.at += 1
            if here == "'":
                if above:
                    raise self.refuse("a prime after something that stands above", self.tokens[self.at - 1].at)
                above = (Mark("prime", self.tokens[self.at - 1].at),)
                continue
            if below if here == "_" else above:
                raise self.refuse(f"a second {here}", self.tokens[self.at - 1].at)
            found = self.script()
            if here == "_":
                below = found
            else:
                above = found
        return below, above

    def script(self) -> tuple[Node, ...]:
        if self.here != "{":
            return (self.single(),)
        self.at += 1
        self.bars.append("{")
        found = [self.entry()]
        while self.here == ",":
            self.at += 1
            found.append(self.entry())
        self.bars.pop()
        self.expect("}")
        if len(found) == 1 and isinstance(found[0], Bracket) and found[0].kind == "(":
            inner = found[0]
            if not inner.below and not inner.above:
                return inner.items
        return tuple(found)

    def entry(self) -> Node:
        if self.here in (*STARS, r"\top", r"\intercal", r"\prime") and self.following() in ("}", ","):
            return self.single()
        if self.here == "{" and self.following() in STARS:
            self.at += 1
            found = self.single()
            self.expect("}")
            return found
        return self.sum()
