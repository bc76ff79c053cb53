"""What names of a derivation are, and which numbers are integers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .derivation_places import Env
from .derivation_ranges import Ranges, shifted
from .derivation_replacing import Algebra
from .derivation_terms import Atom, Poly
from .reading import Uncheckable, shown
from .sentences import POINTS, Node, everything, index_of, names_in
from .shapes import COUNTS
from .stated import Claimed, steps_of
from .steps import Step

if TYPE_CHECKING:
    from .derivation_defined import Defined


class Names(Ranges):
    """Names as polynomials.

    Attributes:
        may: which of xstar, xstar_n, fstar there are in every instance.
        signs: what is known of these. start: the indices as they are written.
        weights: of remembered vectors.
        kept: values of trees outside of rounds that hang on no line. asked: how often lines were asked.
    """

    def __init__(self, claimed: Claimed, may: frozenset[str], algebra: Algebra) -> None:
        self.claimed, self.may, self.algebra = claimed, may, algebra
        self.signs: Defined
        self.kept: dict[tuple[int, Hashable], Poly] = {}
        self.asked = 0
        self.shapes: dict[Hashable, int] = {}
        self.numbers: dict[Node, int] = {}
        trees = [claimed.sentence.left, claimed.sentence.right, *claimed.words.definitions.values()]
        trees += [side for r in claimed.relations for side in (r.left, r.right)]
        trees += [c for a in claimed.assumptions for c in a.constants]
        spoken = {name for tree in trees for name in names_in(tree)}
        self.indexed = {base: index for base, index in map(index_of, sorted(spoken)) if index}
        own = set() if claimed.program is None else set(claimed.program.parameters)
        K = algebra.of(algebra.atom("p", "K"))
        self.start = Env(nums={name: algebra.of(algebra.var(name)) for name in "khj"} | {"K": K})
        steps = [] if claimed.program is None else list(steps_of(claimed.program.body))
        self.shifted = shifted(claimed.program)
        self.weights = {s.label for s in steps if isinstance(s, Step) and s.op == "combine"}
        of_vectors = {f"{label}_{index}" for label in self.weights for index in "hj"}
        self.symbols = spoken | own | of_vectors | {"N", "d", "rho"}

    def number(self, tree: Node) -> int:
        """A number that trees have in common that are the same."""
        found = self.numbers.get(tree)
        if found is None:
            shape = tree.op, tree.name, tree.value, *map(self.number, tree.args)
            found = self.numbers[tree] = self.shapes.setdefault(shape, len(self.shapes))
        return found

    # names

    def name(self, name: str, env: Env) -> Poly:
        """What a name is."""
        if name in env.given:
            found = env.given[name]
            return self.algebra.renamed(found, {"n": env.names["n"]}) if name.endswith("_n") else found
        if name in self.claimed.words.definitions and name not in env.nums:
            return self.value(self.claimed.words.definitions[name], env)
        if name in ("k", "h", "j", "K"):
            return env.nums[name]
        of, var = self.algebra.of, self.algebra.var
        if name in ("n", "i"):
            return of(var(env.names[name]))
        if name in self.claimed.words.vectors:
            index = (var(env.names["n"]),) if name.endswith("_n") else ()
            return of(self.algebra.atom("vec", name, *index, vec=True))
        if name in POINTS or name == "fstar":
            if name not in self.may and name != "x0":
                raise Uncheckable(f"{name} is not in the claim, and nothing assumed says that there is one")
            if name == "fstar":
                return of(self.algebra.atom("fstar"))
            index = (var(env.names["n"]),) if name == "xstar_n" else ()
            return of(self.algebra.atom("point", name, *index, vec=True))
        return self.parameter(name, env)

    def parameter(self, name: str, env: Env) -> Poly:
        """A parameter, with its index."""
        base, index = index_of(name)
        if name not in self.symbols:
            raise Uncheckable(f"{shown(name)} is no name of the claim")
        if not index and base in self.indexed:
            raise Uncheckable(f"{name} is written with and without an index")
        if (base in self.weights) != (index in ("h", "j")):
            raise Uncheckable(f"{shown(name)}: remembered vectors have weights with an index h or j, and nothing else")
        places: list[Any] = []
        for letter in index:
            places.append(
                self.algebra.var(env.names[letter]) if letter in "ni" else self.algebra.frozen(env.nums[letter])
            )
        return self.algebra.of(self.algebra.atom("p", base, *places))

    def is_integer(self, atom: Atom) -> bool:
        """Whether an atom is an integer: an index, or such a parameter."""
        if atom.tag == "v":
            return True
        if atom.tag != "p":
            return False
        domain = self.claimed.domains.get(atom.parts[0])
        return atom.parts[0] in COUNTS if domain is None else bool(domain["integer"])

    def least(self, p: Poly) -> Fraction | None:
        """A lower bound of a linear form in integers, from k, h >= 0 and N, K, H, ... >= 1."""
        bound = Fraction(0)
        for m, c in p.items():
            if not m:
                bound += c
                continue
            ((a, e), *more) = m
            low: Fraction | None = Fraction(a.tag != "v")
            domain = self.claimed.domains.get(a.parts[0]) if a.tag == "p" else None
            if domain is not None:
                low = domain["lower"]
            if more or e != 1 or c < 0 or not self.is_integer(a) or low is None:
                return None
            bound += c * low
        return bound

    def certainly(self, p: Poly, least: int = 0) -> bool:
        """Whether a linear form in integers is certainly at least that, by its form or by a line."""
        low = self.least(p)
        if low is not None and low >= least:
            return True
        self.asked += 1
        return self.signs.of_lines(self.algebra.sub(p, {(): Fraction(least)}), False)

    def counting(self, p: Poly) -> bool:
        """Whether it is the index of a round or a turn: one name and a number; less than it only of a parameter."""
        names = [m for m in p if m]
        if not self.integer_form(p) or len(names) > 1 or any(p[m] != 1 for m in names):
            return False
        low = self.least(p)
        if low is not None and low >= 0:
            return True
        return any(m[0][0].tag == "p" for m in names) and self.certainly(p)

    def integer_form(self, p: Poly) -> bool:
        """Whether it is a linear form in integers with integer coefficients."""
        return all(
            c.denominator == 1 and (not m or (len(m) == 1 and m[0][1] == 1 and self.is_integer(m[0][0])))
            for m, c in p.items()
        )

    def of_claim(self, op: str) -> Iterator[Node]:
        """The parts of the claim's sentence and relations that are such an operation, definitions unfolded."""
        left = [side for s in (self.claimed.sentence, *self.claimed.relations) for side in (s.left, s.right)]
        seen: set[str] = set()
        while left:
            for node in everything(left.pop()):
                if node.op == op:
                    yield node
                if node.op == "name" and node.name in self.claimed.words.definitions and node.name not in seen:
                    seen.add(node.name)
                    left.append(self.claimed.words.definitions[node.name])
