"""Signs of terms of derivations by the domains of parameters alone: what is so of them is so in every line."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from .derivation_atoms import Atom, Mono, Number, Poly, by_number
from .derivation_normal import Normal
from .programs import CHOICES
from .sentences import index_of
from .shapes import COUNTS
from .stated import steps_of
from .steps import Loop, Step

Ends = tuple[Fraction | None, bool, Fraction | None, bool]


class Domains:
    """Judges terms by their atoms, and these by the domains of parameters.

    Attributes:
        odd: names whose domain is not read. known: what the operations of the program say of numbers.
    """

    def __init__(self, normal: Normal) -> None:
        self.normal, self.algebra, self.claimed = normal, normal.algebra, normal.claimed
        program = self.claimed.program
        steps = [] if program is None else list(steps_of(program.body))
        self.odd = {s.label for s in steps if isinstance(s, Step) and s.op == "mix"}
        self.odd |= {a.matrix for a in self.claimed.assumptions if a.matrix}
        self.of_a_network = any(a.name == "connected" for a in self.claimed.assumptions)
        if self.odd:
            self.odd.add("rho")
        self.known = list(self._domains(steps))
        self.domains: dict[str, Ends] = {}
        self.of_atoms: dict[tuple[Atom, bool], int] = {}
        self.plainer: dict[frozenset[tuple[Mono, Number]], Poly] = {}

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

    def ends(self, name: str) -> Ends:
        """The domain of a parameter or an index: lower end, whether it is open, upper end, whether it is open."""
        found = self.domains.get(name)
        if found is None:
            found = self.domains[name] = self._ends(name)
        return found

    def _ends(self, name: str) -> Ends:
        base = index_of(name)[0]
        if name in ("k", "h", "j"):
            return Fraction(0), False, None, False
        if name in ("N", "d", "K"):
            return Fraction(1), False, None, False
        if base == "rho" and self.of_a_network:
            return Fraction(0), False, Fraction(1), True
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

    # terms

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
        found = self.of_atoms.get((a, strict))
        if found is None:
            self.algebra.spend(1)
            found = self.of_atoms[a, strict] = self._of_atom(a, strict)
        return found

    def _of_atom(self, a: Atom, strict: bool) -> int:
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

    def plain(self, p: Poly) -> Poly:
        """Without denominators that are certainly not 0, and without positive parameters that all terms share."""
        key = frozenset(p.items())
        found = self.plainer.get(key)
        if found is None:
            found = self.plainer[key] = self._plainest(p)
        return found

    def _plainest(self, p: Poly) -> Poly:
        al = self.algebra
        for inv in sorted({a for m in p for a, _ in m if a.tag == "inv"}, key=by_number):
            sign = self.of_atom(inv, True)
            if sign:
                most = max(dict(m).get(inv, 0) for m in p)
                p = al.scale(al.cleared(p, inv, most), sign**most)
        common: list[tuple[Atom, int]] = []
        for a in sorted({a for m in p for a, _ in m if a.tag == "p"}, key=by_number):
            least = min(dict(m).get(a, 0) for m in p)
            if least and self.of_atom(a, True) == 1:
                common.append((a, -least))
        return al.primitive(al.mul(p, al.factors(common)) if common else p)
