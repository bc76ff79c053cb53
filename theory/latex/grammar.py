"""Tokens as a tree of signs: a parser that goes down the grammar, and takes every token or names the one it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from theory.latex.cursor import WORDS
from theory.latex.operators import FOR_ALL, STARS, Operators
from theory.latex.surface import (
    Bracket,
    Chain,
    Digits,
    Expected,
    Function,
    Mark,
    Node,
    Over,
    Product,
    Quotient,
    Root,
    Sum,
    Symbol,
)
from theory.latex.tokens import LatexError, Token, without_layout

DEEPEST = 60
RELATIONS = {
    "=": "==", ":=": "==", r"\coloneqq": "==", r"\triangleq": "==", "<": "<", r"\lt": "<", ">": ">", r"\gt": ">",
    **dict.fromkeys((r"\le", r"\leq", r"\leqslant"), "<="), **dict.fromkeys((r"\ge", r"\geq", r"\geqslant"), ">="),
}  # fmt: skip
_PAIRS = {"(": ")", "[": "]", r"\{": r"\}", "|": "|", r"\|": r"\|", r"\langle": r"\rangle"}
_KINDS = {"(": "(", "[": "[", r"\{": "{", "|": "|", r"\|": "||", r"\langle": "<"}
_CLOSING = frozenset({")", "]", r"\}", r"\rangle", "}", ",", ";", "+", "-", r"\forall", "."}) | set(RELATIONS)
_OVER = {r"\sum": "sum", r"\max": "max", r"\min": "min"}
_FUNCTIONS = {r"\log": "log", r"\ln": "log", r"\exp": "exp"}
_LETTERED = (r"\mathbb", r"\mathbf", r"\mathrm")
_FRACTIONS = frozenset({r"\frac", r"\tfrac", r"\dfrac"})
_MANY = frozenset({"forall", "foreach", "forevery", "forany"})


def parsed(tokens: Sequence[Token], text: str) -> Chain:
    """The sides of a display, and the relations between them.

    Raises:
        LatexError: for the first token that cannot be read, and what was expected there.
    """
    try:
        return _Parser(without_layout(tokens, text), text).chain()
    except RecursionError:
        raise LatexError("this is nested too deeply", text, tokens[0].at if tokens else 0) from None


class _Parser(Operators):
    # --- the grammar ---

    def chain(self) -> Chain:
        sides, relations = [self.sum()], []
        while (relation := self.relation()) is not None:
            relations.append(relation)
            sides.append(self.sum())
        for_all: list[tuple[Symbol, Node | None]] = []
        while self.here in (",", ";", ".") or self.here in (r"\forall", *WORDS):
            if self.here in (",", ";", "."):
                self.at += 1
            elif self.here == r"\forall" or self.many():
                if self.here == r"\forall":
                    self.at += 1
                for_all += self.qualification()
        if self.at < len(self.tokens):
            read = FOR_ALL if for_all else ""
            raise self.refuse(f"{self.here} cannot be read here: a sign, a factor or a relation is expected{read}")
        return Chain(tuple(sides), tuple(relations), tuple(for_all))

    def relation(self) -> str | None:
        here = self.here
        if here in (r"\overset", r"\stackrel"):  # \overset{(a)}{\leq}: the note above says why, not what
            self.at += 1
            self.skipped()
            braced = self.here == "{"
            self.at += braced
            found = self.relation()
            if found is None:
                raise self.refuse("below a note a relation is expected")
            if braced:
                self.expect("}")
            return found
        if here == ":" and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].text == "=":
            self.at += 2
            return "=="
        if here not in RELATIONS:
            return None
        self.at += 1
        if self.here == "=" and here in "<>":
            raise self.refuse("<= is written \\leq")
        return RELATIONS[here]

    def many(self) -> bool:
        begin = self.at
        word, _ = self.word()
        if word in _MANY:
            return True
        raise self.refuse(f"the words {word!r} cannot be read; a sentence has no conditions", self.tokens[begin].at)

    def qualification(self) -> list[tuple[Symbol, Node | None]]:
        r"""``\forall i \in [N]``."""
        letters = [self.letter(FOR_ALL)]
        while self.here == ",":
            self.at += 1
            letters.append(self.letter(FOR_ALL))
        within: Node | None = None
        if self.here == r"\in":
            self.at += 1
            within = self.set_of()
        return [(letter, within) for letter in letters]

    def sum(self) -> Node:
        self.deep += 1
        if self.deep > DEEPEST:
            raise self.refuse("this is nested too deeply")
        at, terms = self.place, []
        sign = 1
        if self.here in ("+", "-"):
            sign = -1 if self.here == "-" else 1
            self.at += 1
        terms.append((sign, self.product()))
        while self.here in ("+", "-"):
            sign = -1 if self.here == "-" else 1
            self.at += 1
            terms.append((sign, self.product()))
        self.deep -= 1
        return terms[0][1] if len(terms) == 1 and terms[0][0] == 1 else Sum(tuple(terms), at)

    def ended(self) -> bool:
        """Whether a product ends here."""
        here = self.here
        if not here or here in _CLOSING or here in (r"\overset", r"\stackrel", ":", r"\mid"):
            return True
        if here in WORDS:
            return self.word_ahead() in _MANY
        if here in ("|", r"\|"):  # without \\left and \\right a bar closes what such a bar has opened
            side = self.tokens[self.at].side
            return side == "close" or (not side and self.bars[-1] == here)
        return False

    def product(self) -> Node:
        at, factors = self.place, list[Node]()
        while not self.ended() or (self.here in ("|", r"\|") and not self.tokens[self.at].side and not factors):
            if self.here in (r"\cdot", r"\times", "*", r"\ast", "/"):
                if not factors or isinstance(factors[-1], Mark):
                    raise self.refuse("a factor is expected")
                factors.append(Mark("over" if self.here == "/" else "dot", self.place))
                self.at += 1
                continue
            found = self.factor()
            factors += found.factors if isinstance(found, Product) else (found,)
        if not factors or isinstance(factors[-1], Mark):
            what = self.here or "the end"
            raise self.refuse(f"a number, a symbol or a bracket is expected, and here is {what}")
        return factors[0] if len(factors) == 1 else Product(tuple(factors), at, self.place)

    def factor(self) -> Node:
        here, at = self.here, self.place
        if here in _OVER and self.following() != r"\{" and (here == r"\sum" or self.following() in ("_", r"\limits")):
            self.at += 1
            return self.over(_OVER[here], at)
        if here == r"\arg" and self.following() == r"\min":
            self.at += 2
            return self.least(at)
        if here in (r"\max", r"\min"):
            self.at += 1
            if self.here not in (r"\{", "("):
                raise self.refuse("an index below, or arguments in brackets are expected")
            inner = self.bracket()
            assert isinstance(inner, Bracket)
            if inner.above or inner.below:
                raise self.refuse("a power of this stands outside of parentheses", at)
            return Function(here[1:], inner.items, True, at, self.place)
        if here == r"\operatorname" and self.word_ahead() == "quantile":
            return self.quantile(at)
        if here == r"\operatorname" and self.word_ahead() == "argmin":
            self.word()
            return self.least(at)
        if here == r"\operatorname" and self.word_ahead() in ("mean", "max", "min", "E"):
            word, _ = self.word()
            return self.expected(at) if word == "E" else self.over(word, at)
        if here in _LETTERED and self.word_ahead() == "E":
            self.word()
            return self.expected(at)
        if here == "{" and self.following() in _LETTERED:  # {\\mathbb{E}}, as some macros leave it
            self.at += 1
            if self.word_ahead() == "E" and [t.text for t in self.tokens[self.at + 1 : self.at + 5]] == [*"{E}}"]:
                self.at += 5
                return self.expected(at)
            self.at -= 1
        if here in _FUNCTIONS:
            self.at += 1
            return self.function(_FUNCTIONS[here], at)
        return self.atom()

    def atom(self) -> Node:
        here, at = self.here, self.place
        if here.isdigit():
            return self.number()
        if here in _FRACTIONS:
            self.at += 1
            top, bottom = self.argument(), self.argument()
            if self.here in ("^", "_"):
                raise self.refuse("a power of a fraction stands outside of parentheses")
            return Quotient(top, bottom, at)
        if here == r"\sqrt":
            self.at += 1
            if self.here == "[":
                raise self.refuse("a root of another degree is written as a power")
            inner = self.argument()
            if self.here in ("^", "_"):
                return self.scripted(Bracket("(", (Root(inner, at),), (), (), at, self.place))
            return Root(inner, at)
        if here == r"\nabla":
            self.at += 1
            if self.here in ("_", "^"):
                raise self.refuse("the gradient is that of the whole, without an index or a power")
            inner = self.atom()
            if not isinstance(inner, Symbol) or inner.gradient:
                raise self.refuse("after \\nabla the name of a function is expected", at)
            return replace(inner, gradient=True)
        if here in _PAIRS:
            return self.bracket()
        if here == "{":
            return self.braces()
        return self.scripted(self.symbol())

    def number(self) -> Node:
        at, digits = self.place, ""
        while self.here.isdigit() or (
            self.here == "." and "." not in digits and self.following().isdigit() and digits.isdigit()
        ):
            digits += self.here
            self.at += 1
        if not digits.isascii() or len(digits) > 400 or (digits[0] == "0" and digits[1:2] not in ("", ".")):
            raise self.refuse("a number of at most 400 digits is expected, without a 0 before it", at)
        found = Digits(Fraction(digits), at)
        if self.here in ("^", "_"):
            return self.scripted(Bracket("(", (found,), (), (), at, self.place))
        return found

    def argument(self) -> Node:
        """One token, or what is in braces."""
        if self.here != "{":
            return self.single()
        self.at += 1
        self.bars.append("{")
        found = self.sum()
        self.bars.pop()
        self.expect("}")
        return found

    def single(self) -> Node:
        """One token, as LaTeX takes it where there are no braces."""
        here, at = self.here, self.place
        if here.isdigit():
            self.at += 1
            if not here.isascii():
                raise self.refuse("a number is expected", at)
            return Digits(Fraction(here), at)
        if here in STARS:
            self.at += 1
            return Mark("star", at)
        if here in (r"\top", r"\intercal", r"\prime"):
            self.at += 1
            return Mark("prime" if here == r"\prime" else "top", at)
        if not here or here in _CLOSING or here in ("^", "_"):
            raise self.refuse(f"an argument is expected, and here is {here or 'the end'}")
        if here in _FRACTIONS or here == r"\sqrt":
            return self.atom()
        if here in _PAIRS:
            raise self.refuse("an argument in braces is expected")
        return self.symbol()

    def braces(self) -> Node:
        r"""``{\mathbf x}``: braces that are not set, around one thing or factors."""
        at, alone = self.place, self.at == 0 or self.tokens[self.at - 1].text in (*_PAIRS, "{", *RELATIONS)
        self.expect("{")
        self.bars.append("{")
        found = self.sum()
        self.bars.pop()
        self.expect("}")
        loose = found.factors[-1] if isinstance(found, Product) else found
        open_ended = isinstance(loose, Over) or (isinstance(loose, Expected | Function) and not loose.bracketed)
        alone = alone and self.ended() and self.here not in ("+", "-", "^", "_")
        if (isinstance(found, Sum) and not alone) or (open_ended and not self.ended()):
            raise self.refuse(
                "these braces are not set, and what they hold together cannot be seen: write \\left( \\right)", at
            )
        if self.here not in ("^", "_"):
            return found
        if isinstance(found, Symbol):  # {\\eta_{l}}_{n}: what stands below goes on
            below, above = self.scripts((), found.above)
            return replace(found, below=found.below + below, above=above, end=self.place)
        if isinstance(found, Bracket):
            return self.scripted(found)
        raise self.refuse("a power of what is in braces: write parentheses")

    def bracket(self, scripts: bool = True) -> Node:
        opened = self.tokens[self.at]
        closing = _PAIRS[opened.text]
        self.at += 1
        if opened.side == "close":
            raise self.refuse(f"{opened.text} closes nothing", opened.at)
        self.bars.append(opened.side or opened.text)
        items = [self.sum()]
        while self.here in (",", ";"):
            if self.here == ";":
                raise self.refuse("a function takes one point, and nothing after a semicolon")
            self.at += 1
            items.append(self.sum())
        self.bars.pop()
        side = self.tokens[self.at].side if self.here else ""
        if self.here == closing and {opened.side, side} not in ({""}, {"open", "close"}):
            raise self.refuse(
                f"\\left and \\right do not belong together: {opened.text} of "
                f"{LatexError('', self.text, opened.at).place}"
            )
        if self.here != closing:
            if self.here in ("|", r"\mid"):
                raise self.refuse("a condition cannot be read: the language has no expectation given the past")
            what = self.here or "the end"
            raise self.refuse(
                f"{closing} is expected, which closes {opened.text} of {LatexError('', self.text, opened.at).place}, "
                f"and here is {what}"
            )
        self.at += 1
        found = Bracket(_KINDS[opened.text], tuple(items), (), (), opened.at, self.place)
        ahead = [t.text for t in self.tokens[self.at : self.at + 6]]
        if opened.text == "[" and ahead[:2] == ["_", "{"] and ahead[3:] == ["=", "1", "}"]:  # [...]_{n=1}
            self.at += 2
            first = Over("first", (self.letter(),), None, None, None, found, opened.at, self.place)
            self.at += 3
            return Bracket("(", (first,), (), (), opened.at, self.place)
        return self.scripted(found) if scripts else found
