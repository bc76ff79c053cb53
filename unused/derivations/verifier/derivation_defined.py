"""What lines of derivations divide by, and take roots and logarithms of: in its domain, or in the claim too."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from .derivation_atoms import frees_of
from .derivation_normal import Normal
from .derivation_places import Env
from .derivation_signs import Signs
from .derivation_terms import Poly
from .sentences import ALL_CLIENTS, OVER, Node

UNDEFINED = {
    "/": "a divisor", "**": "the base of a power", "sqrt": "a root's argument", "log": "a logarithm's argument",
    "simplex_n": "a curvature of weights on the simplex",
}  # fmt: skip


class Defined(Signs):
    """Signs, and whether expressions are defined.

    Attributes:
        divisors: what the claim divides by that is one number. arguments: of its roots and logarithms.
        at_the_end: divisors that hang on an index or the length of the run: those of the claim in its own line, which
            is the last; `ending`: whether that is meant.
        powers: base and exponent of those that may have no value: one that has none says nothing of other exponents.
    """

    def __init__(self, normal: Normal) -> None:
        super().__init__(normal)
        self.divisors: set[frozenset[object]] = set()
        self.at_the_end: set[frozenset[object]] = set()
        self.ending = False
        self.arguments: set[tuple[str, frozenset[object]]] = set()
        self.powers: set[tuple[frozenset[object], frozenset[object]]] = set()

    # what is divided by

    def key(self, p: Poly) -> frozenset[object]:
        """A polynomial up to a factor: two have the same key only if one is a rational multiple of the other."""
        found = self.algebra.primitive(p)
        if found and self.algebra.sign(found) < 0:
            found = self.algebra.scale(found, -1)
        return frozenset(found.items())

    def grant(self, tree: Node, env: Env) -> None:
        """Where the claim divides by 0, or has the root of a negative number, it says nothing: proofs may do so too."""
        for node, within, under in self.parts(tree, env, frozenset()):
            if node.op == "/":  # whatever is divided by it
                for divisor in self._factors(node.args[1]):
                    self._grant(divisor, within, under)
            elif node.op == "simplex_n" or self.of_run(node, within):
                continue
            elif node.op == "**":
                sides = [self.normal.value(a, within) for a in node.args]
                if not any(a.rand or a.frees for p in sides for m in p for a, _ in m):
                    self.powers.add(self._whole_power(node, within))
                exponent = self.normal.value(node.args[1], within)
                number = exponent.get((), Fraction(0)) if set(exponent) <= {()} else Fraction(0)
                if number < 0 and number.denominator == 1:
                    self._grant(node.args[0], within, under)
            else:
                p = self.normal.value(node.args[0], within)
                if not any(a.rand or a.frees for m in p for a, _ in m):
                    self.arguments.add((node.op, frozenset(p.items())))

    def _whole_power(self, node: Node, env: Env) -> tuple[frozenset[object], frozenset[object]]:
        base, exponent = (self.normal.value(a, env) for a in node.args)
        return frozenset(base.items()), frozenset(exponent.items())

    def of_run(self, tree: Node, env: Env) -> bool:
        """Whether it hangs on the length of the run, which is another one in other lines."""
        left, seen = [tree], set[str]()
        while left:
            node = left.pop()
            if (node.op in ("name", "at") and node.name == "K") or (node.op in OVER and OVER[node.op][1] == "k"):
                return True
            if node.op == "name" and node.name not in seen:
                seen.add(node.name)
                inner = env.trees[node.name][0] if node.name in env.trees else None
                inner = inner or self.claimed.words.definitions.get(node.name)
                left += [] if inner is None else [inner]
            left += node.args
        return False

    def _grant(self, divisor: Node, env: Env, under: frozenset[str]) -> None:
        p = self.normal.value(divisor, env)
        frees = frees_of(p)
        if p and not any(a.rand for m in p for a, _ in m) and not frees & under:
            (self.at_the_end if frees or self.of_run(divisor, env) else self.divisors).add(self.key(p))

    def _factors(self, tree: Node) -> Iterable[Node]:
        yield tree
        if tree.op in ("*", "/"):
            yield from self._factors(tree.args[0])
        if tree.op == "*":
            yield from self._factors(tree.args[1])
        if tree.op == "neg" or (tree.op == "**" and tree.args[1].op == "number" and tree.args[1].value > 0):
            yield from self._factors(tree.args[0])

    def parts(self, tree: Node, env: Env, under: frozenset[str]) -> Iterable[tuple[Node, Env, frozenset[str]]]:
        """All parts of a tree that may be undefined, definitions unfolded, each with the indices around it."""
        left = [(tree, env, under)]
        while left:
            node, within, around = left.pop()
            self.algebra.spend(1)
            if node.op == "name":
                if node.name in within.trees:
                    inside, outer = within.trees[node.name]
                    left.append((inside, outer, around))
                elif node.name in self.claimed.words.definitions and node.name not in within.given:
                    left.append((self.claimed.words.definitions[node.name], within, around))
                continue
            if node.op in ("/", "sqrt", "log") or (node.op == "**" and not self._plain(node.args[1], within)):
                yield node, within, around
            if node.op in OVER or node.op in ALL_CLIENTS:
                index = OVER[node.op][1] if node.op in OVER else "n"
                if index in "ni":
                    within = within.with_names(**{index: index})
                elif index in "khj":
                    within = within.with_nums(**{index: self.normal.start.nums[index]})
                around = around | self.around(index, node.args[0], within)
                if node.op == "simplex_n":
                    yield node, within, around
            left += [(a, within, around) for a in node.args]

    def _plain(self, exponent: Node, env: Env) -> bool:
        """Whether a power is defined whatever its base is: a nonnegative integer."""
        return self.integer(exponent, env) and self.nonneg(exponent, env)

    def undefined(self, tree: Node, env: Env) -> str:
        """A part of the tree that may be undefined, in words; nothing where all is defined."""
        for node, within, around in self.parts(tree, env, frozenset()):
            before, self.under = self.under, around
            try:
                good = self._defined(node, within)
            finally:
                self.under = before
            if not good:
                return UNDEFINED[node.op]
        return ""

    def _defined(self, node: Node, env: Env) -> bool:
        if node.op == "simplex_n":
            return self.pos(node.args[1], env)
        if node.op == "/":
            return self.divides(node.args[1], env)
        if node.op == "**":
            if self._whole_power(node, env) in self.powers:
                return True
            if self.integer(node.args[1], env):
                return self.divides(node.args[0], env)
            if self.nonneg(node.args[1], env) and self.nonneg(node.args[0], env):
                return True
            return self.pos(node.args[0], env)
        if (self.nonneg if node.op == "sqrt" else self.pos)(node.args[0], env):
            return True
        return (node.op, frozenset(self.normal.value(node.args[0], env).items())) in self.arguments

    def divides(self, tree: Node, env: Env) -> bool:
        """Whether the tree is not 0, or the claim divides by it too."""
        if self.nonzero(tree, env):
            return True
        if tree.op == "*":
            return all(self.divides(a, env) for a in tree.args)
        if tree.op in ("/", "neg") or (tree.op == "**" and tree.args[1].op == "number"):
            return self.divides(tree.args[0], env)
        p = self.normal.value(tree, env)
        if not p or self.key(p) in self.divisors:
            return bool(p)
        frees = frees_of(p)
        if not self.ending or self.key(p) not in self.at_the_end or frees & self.under:
            return False
        self.used.open |= bool(frees)
        return True
