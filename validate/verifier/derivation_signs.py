"""Which expressions of a derivation are certainly nonnegative, positive, integers; and what its lines divide by."""

from __future__ import annotations

from .derivation_domains import Domains
from .derivation_facts import Fact, Used
from .derivation_normal import Normal
from .derivation_places import Env
from .derivation_terms import Poly
from .reading import Uncheckable
from .sentences import OVER, Node, index_of
from .shapes import COUNTS

DEEPEST = 60


class Signs(Domains):
    """Judges signs by the form of an expression, and by the lines that are in scope.

    Attributes:
        facts: these lines. used: what is told of each that is used. under: indices over which is summed.
        keys: what lines say is nonnegative. said: all of that.
    """

    def __init__(self, normal: Normal) -> None:
        super().__init__(normal)
        self.facts: list[Fact] = []
        self.keys: dict[Fact, tuple[frozenset[object], ...]] = {}
        self.said: set[frozenset[object]] = set()
        self.used = Used()
        self.under: frozenset[str] = frozenset()

    # signs

    def pos(self, tree: Node, env: Env, depth: int = 0) -> bool:
        """Whether it is certainly more than 0."""
        return self._sign(tree, env, True, 1, depth)

    def nonneg(self, tree: Node, env: Env, depth: int = 0) -> bool:
        """Whether it is certainly at least 0."""
        return self._sign(tree, env, False, 1, depth)

    def nonzero(self, tree: Node, env: Env, depth: int = 0) -> bool:
        """Whether it is certainly not 0."""
        return self._sign(tree, env, True, 1, depth) or self._sign(tree, env, True, -1, depth)

    def _sign(self, tree: Node, env: Env, strict: bool, side: int, depth: int) -> bool:
        """Whether side*tree is more than 0, or, where `strict` is false, at least 0."""
        if depth > DEEPEST:
            return False
        self.algebra.spend(2)
        return self._by_form(tree, env, strict, side, depth + 1) or self._by_normal_form(tree, env, strict, side)

    def _by_form(self, tree: Node, env: Env, strict: bool, side: int, depth: int) -> bool:
        op, args = tree.op, tree.args

        def sign(part: Node, strict: bool, side: int) -> bool:
            return self._sign(part, env, strict, side, depth)

        if op == "number":
            return tree.value * side > 0 or (not strict and tree.value == 0)
        if op == "name":
            return self._name(tree.name, env, strict, side, depth)
        if op in ("+", "-"):
            other = side if op == "+" else -side
            if not (sign(args[0], False, side) and sign(args[1], False, other)):
                return False
            return not strict or sign(args[0], True, side) or sign(args[1], True, other)
        if op == "neg":
            return sign(args[0], strict, -side)
        if op in ("*", "/"):
            return any(sign(args[0], strict, s) and sign(args[1], strict and op == "*", s * side) for s in (1, -1))
        if op == "**":
            return self._power(tree, env, strict, side, depth)
        if side < 0:
            if op in ("min", "max"):
                some = any if op == "min" else all
                return some(sign(a, strict, side) for a in args)
            return self._under(tree, env, strict, side, depth) if op in OVER or op == "E" else False
        if op in ("norm2", "norm", "sqrt", "simplex_n"):
            return not strict or (op == "sqrt" and sign(args[0], True, 1))
        if op == "abs":
            return not strict or sign(args[0], True, 1) or sign(args[0], True, -1)
        if op == "exp":
            return True
        if op in ("max", "min"):
            some = any if op == "max" else all
            return some(sign(a, strict, 1) for a in args)
        return self._under(tree, env, strict, side, depth) if op in OVER or op == "E" else False

    def _name(self, name: str, env: Env, strict: bool, side: int, depth: int) -> bool:
        if name in env.trees:
            tree, outer = env.trees[name]
            return self._sign(tree, outer, strict, side, depth)
        if name in env.given:
            return False
        definitions = self.claimed.words.definitions
        if name in definitions:
            return self._sign(definitions[name], env, strict, side, depth)
        if name in ("n", "i", "fstar") or name in self.claimed.words.vectors:
            return False
        if name in env.nums:
            low = self.normal.least(env.nums[name])
            return side > 0 and low is not None and (low > 0 or (low == 0 and not strict))
        low, low_open, high, high_open = self.ends(name)
        if side > 0:
            return low is not None and (low > 0 or (low == 0 and (low_open or not strict)))
        return high is not None and (high < 0 or (high == 0 and (high_open or not strict)))

    def _power(self, tree: Node, env: Env, strict: bool, side: int, depth: int) -> bool:
        base, exponent = tree.args
        even = exponent.op == "number" and exponent.value.denominator == 1 and exponent.value % 2 == 0
        if side < 0:
            odd = exponent.op == "number" and exponent.value.denominator == 1 and not even and exponent.value > 0
            return odd and self._sign(base, env, strict, -1, depth)
        if even:
            return not strict or self._sign(base, env, True, 1, depth) or self._sign(base, env, True, -1, depth)
        return self._sign(base, env, strict, 1, depth)

    def _under(self, tree: Node, env: Env, strict: bool, side: int, depth: int) -> bool:
        """E, and what is taken over an index: for every value of it."""
        index = "" if tree.op == "E" else OVER[tree.op][1]
        if strict and index in ("k", "h", "j"):
            return False
        return self.everywhere(tree.args[0], env, index, strict, side, depth)

    def everywhere(self, tree: Node, env: Env, index: str, strict: bool = False, side: int = 1, depth: int = 0) -> bool:
        """Whether its sign is such for every value of an index."""
        within, before = env, self.under
        if index in ("n", "i"):
            within = env.with_names(**{index: index})
        elif index:
            within = env.with_nums(**{index: self.normal.start.nums[index]})
        self.under = before | self.around(index, tree, env)
        try:
            return self._sign(tree, within, strict, side, depth)
        finally:
            self.under = before

    def around(self, index: str, tree: Node, env: Env) -> frozenset[str]:
        """The index of a mean, sum, max or min; and that it goes over what lines about it may not be about."""
        if index not in ("h", "j"):
            return frozenset(index)
        try:
            own = self.normal.range_of(index, tree, env) == self.normal.own_range(index)
        except Uncheckable:
            own = False
        return frozenset({index} if own else {index, f"{index}!"})

    def _by_normal_form(self, tree: Node, env: Env, strict: bool, side: int) -> bool:
        """Whether its terms say it, or a line does: that its difference is a positive multiple."""
        try:
            p = self.algebra.scale(self.normal.value(tree, env), side)
        except Uncheckable:
            return False
        if not p:
            return not strict
        return self.of_terms(p, strict) or self.of_lines(p, strict)

    def of_lines(self, p: Poly, strict: bool) -> bool:
        """Whether a line says it."""
        for fact in self.facts:
            if fact not in self.keys:
                self.keys_of(fact)
        found, plain = frozenset(self.algebra.primitive(p).items()), frozenset(self.plain(p).items())
        for fact in reversed(self.facts) if found in self.said or plain in self.said else ():
            keys = self.keys[fact]
            if keys[0] != found and plain not in keys[1:]:
                continue
            if self.under & fact.held or (strict and not fact.strict):
                continue
            if any(
                fact.reach.get(index, 0) > 1 or f"{index}!" in self.under for index in fact.reach.keys() & self.under
            ):
                continue
            self.used.add(fact)
            return True
        return False

    def keys_of(self, fact: Fact) -> None:
        """What a line says is nonnegative: without its content, in its plain form; of an equation the negative, too."""
        plain = self.plain(fact.difference)
        found = fact.shape, plain, *([self.algebra.scale(plain, -1)] if fact.equal else [])
        self.keys[fact] = tuple(frozenset(p.items()) for p in found)
        self.said.update(self.keys[fact])

    def integer(self, tree: Node, env: Env) -> bool:
        """Whether it is certainly an integer."""
        op = tree.op
        if op == "number":
            return tree.value.denominator == 1
        if op == "name":
            name = tree.name
            if name in env.trees:
                return self.integer(*env.trees[name])
            if name in self.claimed.words.definitions:
                return self.integer(self.claimed.words.definitions[name], env)
            if name in env.nums:
                return self.normal.integer_form(env.nums[name])
            domain = self.claimed.domains.get(index_of(name)[0])
            if name in env.given or index_of(name)[0] in self.odd:
                return False
            return name in COUNTS if domain is None else bool(domain["integer"])
        return op in ("+", "-", "*", "neg") and all(self.integer(a, env) for a in tree.args)
