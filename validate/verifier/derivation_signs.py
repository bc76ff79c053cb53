"""Which expressions of a derivation are certainly nonnegative, positive, integers; and what its lines divide by."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from .derivation_facts import Fact, Used
from .derivation_normal import Normal
from .derivation_places import Env
from .derivation_terms import Atom, Mono, Poly
from .programs import CHOICES
from .reading import Uncheckable
from .sentences import OVER, Node, index_of
from .shapes import COUNTS
from .stated import steps_of
from .steps import Loop, Step

DEEPEST = 60


class Signs:
    """Judges signs by the form of an expression, and by the lines that are in scope.

    Attributes:
        facts: these lines. used: what is told of each that is used. under: indices over which is summed.
    """

    def __init__(self, normal: Normal) -> None:
        self.normal, self.algebra, self.claimed = normal, normal.algebra, normal.claimed
        self.facts: list[Fact] = []
        self.plains: dict[Fact, Poly] = {}
        self.used = Used()
        self.under: frozenset[str] = frozenset()
        program = self.claimed.program
        steps = [] if program is None else list(steps_of(program.body))
        self.odd = {s.label for s in steps if isinstance(s, Step) and s.op == "mix"} | {"rho"}
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
        if name in ("k", "h", "j"):
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
        elif base in self.normal.weights:
            low_open = False
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

    def of_terms(self, p: Poly, strict: bool) -> bool:
        """Whether all terms are at least 0 (one more), or it is a parameter times a number and a number."""
        signs = [(c > 0) - (c < 0) if not m else self.of_mono(m) * ((c > 0) - (c < 0)) for m, c in p.items()]
        weak = [self.of_mono(m, False) * ((c > 0) - (c < 0)) for m, c in p.items()]
        if all(x > 0 for x in weak) and (not strict or any(x > 0 for x in signs)):
            return True
        linear = {m: c for m, c in p.items() if m}
        if len(linear) != 1 or len(p) != 2:
            return False
        ((m, c),) = linear.items()
        a, e = m[0]
        if len(m) != 1 or e != 1 or a.tag not in ("p", "v") or (a.tag == "v" and a.parts[0] not in ("k", "h", "j")):
            return False
        low, low_open, high, high_open = self.ends(a.parts[0])
        end, is_open = (low, low_open) if c > 0 else (high, high_open)
        if end is None:
            return False
        value = c * end + p[()]
        return value > 0 or (value == 0 and (is_open or not strict))

    def of_mono(self, m: Mono, strict: bool = True) -> int:
        """1 or -1 for a product that is certainly more or less than 0 (at least, at most), else 0."""
        sign = 1
        for a, e in m:
            if e % 2 == 0 and not strict:
                continue
            own = self.of_atom(a, strict)
            if own == 0 and e % 2 == 0 and e > 0:
                return 0
            if own == 0:
                return 0
            sign *= own if e % 2 else 1
        return sign

    def of_atom(self, a: Atom, strict: bool) -> int:
        """1 for an atom that is certainly more than 0 (at least 0), -1 for one that is less (at most), else 0."""
        self.algebra.spend(1)
        if a.tag == "p":
            low, low_open, high, high_open = self.ends(a.parts[0])
            if low is not None and (low > 0 or (low == 0 and (low_open or not strict))):
                return 1
            return -1 if high is not None and (high < 0 or (high == 0 and (high_open or not strict))) else 0
        if a.tag == "count" or a.tag == "exp":
            return 1
        if a.tag == "inv":
            inside = self.algebra.thawed(a.parts[0])
            if self.of_terms(inside, True):
                return 1
            return -1 if self.of_terms(self.algebra.scale(inside, -1), True) else 0
        if a.tag == "pow":
            return 1 if self.of_terms(self.algebra.thawed(a.parts[0]), strict) else 0
        if strict:
            return 0
        if a.tag in ("sqrt", "abs", "weight") or (a.tag == "dot" and a.parts[0] is a.parts[1]):
            return 1
        if a.tag == "v":
            return 1 if a.parts[0][0] in "khj" else 0
        if a.tag in ("B", "E"):
            return self.of_mono(a.parts[-1], False)
        return 0

    def of_lines(self, p: Poly, strict: bool) -> bool:
        """Whether a line says it."""
        found, plain = self.algebra.primitive(p), self.plain(p)
        for fact in reversed(self.facts):
            if self.under & fact.held or (self.under and fact.open) or (strict and not fact.strict):
                continue
            if any(
                fact.reach.get(index, 0) > 1 or f"{index}!" in self.under for index in fact.reach.keys() & self.under
            ):
                continue
            if fact.shape == found or self.plain_of(fact) == plain:
                self.used.add(fact)
                return True
            if fact.equal and self.algebra.scale(self.plain_of(fact), -1) == plain:
                self.used.add(fact)
                return True
        return False

    def plain_of(self, fact: Fact) -> Poly:
        """The plain form of a line's difference."""
        if fact not in self.plains:
            self.plains[fact] = self.plain(fact.difference)
        return self.plains[fact]

    def plain(self, p: Poly) -> Poly:
        """Without denominators that are certainly not 0, and without positive parameters that all terms share."""
        al = self.algebra
        for inv in sorted({a for m in p for a, _ in m if a.tag == "inv"}, key=lambda a: a.text):
            sign = self.of_atom(inv, True)
            if sign:
                most = max(dict(m).get(inv, 0) for m in p)
                p = al.scale(al.cleared(p, inv, most), sign**most)
        common: list[tuple[Atom, int]] = []
        for a in sorted({a for m in p for a, _ in m if a.tag == "p"}, key=lambda a: a.text):
            least = min(dict(m).get(a, 0) for m in p)
            if least and self.of_atom(a, True) == 1:
                common.append((a, -least))
        return al.primitive(al.mul(p, al.factors(common)) if common else p)

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
