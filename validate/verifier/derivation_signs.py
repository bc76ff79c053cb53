"""Which expressions of a derivation are certainly nonnegative, positive, integers; and what its lines divide by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from .derivation_normal import Env, Normal
from .derivation_terms import Poly
from .programs import CHOICES
from .reading import Uncheckable
from .sentences import OVER, Node, everything, index_of
from .shapes import COUNTS
from .stated import steps_of
from .steps import Loop, Step

DEEPEST = 60
TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "==": "=="}


@dataclass(frozen=True, eq=False)
class Fact:
    """A sentence that is true, with what it hangs on.

    Attributes:
        difference: right - left, at least 0 (`strict`: more; `equal`: 0); `shape`: that without its content.
        fixed: indices at which alone it is known, by the number of the induction or case that fixes them: no other may
            be put in their place, and no mean taken over them.
        bound: of k, whether it is known for k <= K - 1 only (1), k <= K (2), or some such k (3), as hypotheses are.
        open: whether it is known only where something with a free index is not 0, as in the claim.
    """

    name: str
    left: Node
    relation: str
    right: Node
    env: Env
    difference: Poly
    shape: Poly
    fixed: frozenset[tuple[str, int]] = frozenset()
    bound: int = 0
    open: bool = False

    @property
    def strict(self) -> bool:
        return self.relation in ("<", ">")

    @property
    def equal(self) -> bool:
        return self.relation == "=="

    @property
    def held(self) -> frozenset[str]:
        """The indices at which it is fixed."""
        return frozenset(index for index, _ in self.fixed)


class Used:
    """What the line that is being checked hangs on."""

    def __init__(self) -> None:
        self.fixed: frozenset[tuple[str, int]] = frozenset()
        self.bound = 0
        self.open = False

    def add(self, fact: Fact) -> None:
        """The line uses this."""
        self.merge(fact)

    def merge(self, other: Fact | Used) -> None:
        """What hangs on the line hangs on this too."""
        self.fixed |= other.fixed
        self.open |= other.open
        order = (0, 3, 2, 1)  # what is known for fewest k counts
        self.bound = max(self.bound, other.bound, key=order.index)


class Signs:
    """Judges signs by the form of an expression, and by the lines that are in scope.

    Attributes:
        facts: these lines. used: what is told of each that is used. under: indices over which is summed.
    """

    def __init__(self, normal: Normal) -> None:
        self.normal, self.algebra, self.claimed = normal, normal.algebra, normal.claimed
        self.facts: list[Fact] = []
        self.used = Used()
        self.under: frozenset[str] = frozenset()
        self.divisors: dict[frozenset[object], bool] = {}
        self.arguments: set[tuple[str, frozenset[object]]] = set()
        program = self.claimed.program
        steps = [] if program is None else list(steps_of(program.body))
        self.odd = {s.label for s in steps if isinstance(s, Step) and s.op in ("mix", "combine")} | {"rho"}
        self.odd |= {a.matrix for a in self.claimed.assumptions}
        self.known = list(self._domains(steps))

    # parameters

    def _domains(self, steps: Iterable[Step | Loop]) -> Iterable[tuple[str, str, object]]:
        """(name, relation, name or number) that the operations of the program say."""
        for s in steps:
            if isinstance(s, Loop):
                if s.op == "repeat" and s.count is not None and s.count.tree.op == "name":
                    yield s.count.tree.name, ">=", 1
                continue
            if s.op not in ("keep", "choose", "coin", "coins", "sample", "top"):
                continue
            tree = s.numbers[0].tree
            if tree.op != "name" or not s.numbers[0].fixed:
                continue
            if s.op in ("coin", "coins"):
                yield tree.name, "<=", 1
                yield tree.name, ">", 0
                continue
            yield tree.name, ">=", 1
            if s.op in ("keep", "top"):
                yield tree.name, "<=", "d"
            if s.op == "choose" and s.op in CHOICES and not s.replace:
                yield tree.name, "<=", "N"

    def ends(self, name: str) -> tuple[Fraction | None, bool, Fraction | None, bool]:
        """The domain of a parameter or an index: lower end, whether it is open, upper end, whether it is open."""
        base = index_of(name)[0]
        if name in ("k", "h"):
            return Fraction(0), False, None, False
        if name in ("N", "d", "K"):
            return Fraction(1), False, None, False
        if base in self.odd:
            return None, False, None, False
        low: Fraction | None = Fraction(0)
        high: Fraction | None = None
        low_open, high_open = True, False
        domain = self.claimed.domains.get(base, self.claimed.domains.get(name))
        if domain is not None:
            low, low_open, high, high_open = (domain[x] for x in ("lower", "lower_open", "upper", "upper_open"))
        elif base in COUNTS:
            low, low_open = Fraction(1), False
        for who, relation, what in self.known:
            if who == base and isinstance(what, int):
                if relation == "<=" and (high is None or high > what):
                    high, high_open = Fraction(what), False
                if relation in (">", ">=") and (low is None or low < what):
                    low, low_open = Fraction(what), relation == ">"
        return low, low_open, high, high_open

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
        return self._by_form(tree, env, strict, side, depth + 1) or self._by_line(tree, env, strict, side)

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
        if op in ("norm2", "norm", "sqrt"):
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
        if name in ("n", "i", "j", "fstar") or name in self.claimed.words.vectors:
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
        if index == "j" or (strict and index in ("k", "h")):
            return False
        within, before = env, self.under
        if index in ("n", "i"):
            within = env.with_names(**{index: index})
        elif index:
            within = env.with_nums(**{index: self.normal.start.nums[index]})
        self.under = before | frozenset(index)
        try:
            return self._sign(tree.args[0], within, strict, side, depth)
        finally:
            self.under = before

    def _by_line(self, tree: Node, env: Env, strict: bool, side: int) -> bool:
        """Whether a line says it: its difference is a positive multiple."""
        if not self.facts:
            return False
        try:
            found = self.algebra.primitive(self.algebra.scale(self.normal.value(tree, env), side))
        except Uncheckable:
            return False
        if not found:
            return not strict
        turned = self.algebra.scale(found, -1)
        for fact in reversed(self.facts):
            if self.under & fact.held or (self.under and (fact.bound or fact.open)) or (strict and not fact.strict):
                continue
            if fact.shape == found or (fact.equal and fact.shape == turned):
                self.used.add(fact)
                return True
        return False

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

    # what is divided by

    def key(self, p: Poly) -> frozenset[object]:
        """A polynomial up to a factor: two have the same key only if one is a rational multiple of the other."""
        found = self.algebra.primitive(p)
        if found and found[min(found, key=str)] < 0:
            found = self.algebra.scale(found, -1)
        return frozenset(found.items())

    def grant(self, tree: Node, env: Env) -> None:
        """Where the claim divides by 0, or has the root of a negative number, it says nothing: proofs may do so too."""
        for node, within, under in self.parts(tree, env, frozenset()):
            if node.op in ("/", "**"):
                for divisor in self._factors(node.args[1] if node.op == "/" else node.args[0]):
                    self._grant(divisor, within, under)
            elif node.op in ("sqrt", "log"):
                p = self.normal.value(node.args[0], within)
                if not any(a.rand or a.frees for m in p for a, _ in m):
                    self.arguments.add((node.op, frozenset(p.items())))

    def _grant(self, divisor: Node, env: Env, under: frozenset[str]) -> None:
        p = self.normal.value(divisor, env)
        frees = frozenset[str]().union(*(a.frees for m in p for a, _ in m))
        if p and not any(a.rand for m in p for a, _ in m) and not frees & under:
            key = self.key(p)
            self.divisors[key] = self.divisors.get(key, True) and bool(frees)

    def _factors(self, tree: Node) -> Iterable[Node]:
        yield tree
        if tree.op in ("*", "/"):
            yield from self._factors(tree.args[0])
        if tree.op == "*":
            yield from self._factors(tree.args[1])
        if tree.op == "neg" or (tree.op == "**" and tree.args[1].op == "number" and tree.args[1].value):
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
            if node.op in OVER:
                index = OVER[node.op][1]
                if index in "ni":
                    within = within.with_names(**{index: index})
                elif index in "kh":
                    within = within.with_nums(**{index: self.normal.start.nums[index]})
                around = around | {index}
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
                return {"/": "a divisor", "**": "the base of a power", "sqrt": "a root's argument"}.get(
                    node.op, "a logarithm's argument"
                )
        return ""

    def _defined(self, node: Node, env: Env) -> bool:
        if node.op == "/":
            return self.divides(node.args[1], env)
        if node.op == "**":
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
        found = self.divisors.get(self.key(p)) if p else None
        if found is None:
            return False
        frees = frozenset[str]().union(*(a.frees for m in p for a, _ in m))
        if found and frees & self.under:
            return False
        self.used.open |= found
        return True


def names_of(tree: Node) -> set[str]:
    """All names in a tree."""
    return {node.name for node in everything(tree) if node.op in ("name", "at")}
