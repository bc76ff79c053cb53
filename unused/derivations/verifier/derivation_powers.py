"""Powers in derivations: written out, or atoms whose exponents are integers in names; else symbols."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

from .derivation_names import Names
from .derivation_places import Env
from .derivation_terms import ONE, UNIT, Atom, Mono, Poly
from .reading import Uncheckable
from .sentences import Node


class Powers(Names):
    """Powers as polynomials."""

    @abstractmethod
    def inner(self, tree: Node, env: Env) -> Poly:
        """What stands in a function that is not linear."""

    def power(self, tree: Node, env: Env) -> Poly:
        """b**e."""
        al = self.algebra
        exponent = self.value(tree.args[1], env)
        constant = exponent.get((), Fraction(0))
        if set(exponent) <= {()} and constant.denominator == 1:
            base = self.value(tree.args[0], env) if constant > 0 else self.inner(tree.args[0], env)
            if len(base) <= 1 and constant > 0 and not any(a.rand for m in base for a, _ in m):
                return self._one_term(base, int(constant))
            return al.power(base, int(constant))
        base = self.inner(tree.args[0], env)
        if base == UNIT:
            return base
        if set(exponent) <= {()} and constant.denominator == 2:
            return al.power(al.root(base), constant.numerator)
        if all(c.denominator == 1 and all(x > 0 and self.is_integer(a) for a, x in m) for m, c in exponent.items()):
            low = all(c >= 0 and self.counts(m) for m, c in exponent.items())
            self.asked += not low
            if low or self.signs.nonzero(tree.args[0], env):
                found = al.power(base, int(constant))
                for m, c in exponent.items():
                    if m:
                        found = al.mul(found, al.of(self.to_power(base, m), int(c)))
                return found
        return al.of(al.atom("power", al.frozen(base), al.frozen(exponent)))

    def counts(self, m: Mono) -> bool:
        """Whether integers, of which it is a product, are certainly at least 0."""
        lows = [self.least({((a, 1),): ONE}) for a, _ in m]
        return all(low is not None and low >= 0 for low in lows)

    def to_power(self, base: Poly, m: Mono) -> Atom:
        """A power whose exponent is a product of integers that are at least 0; (b**h)**k is b**(h*k)."""
        al = self.algebra
        ((only, c),) = base.items() if len(base) == 1 else (((), ONE),)
        if c == 1 and len(only) == 1 and only[0][1] == 1 and only[0][0].tag == "pow":
            inner, e = only[0][0].parts
            ((outer, _),) = (al.thawed(e) if e.tag == "P" else al.of(e)).items()
            base, (m, *_) = al.thawed(inner), al.factors((*outer, *m))
        one = len(m) == 1 and m[0][1] == 1
        return al.atom("pow", al.frozen(base), m[0][0] if one else al.frozen({m: ONE}))

    def _one_term(self, base: Poly, e: int) -> Poly:
        """A power of a number or a product, however large."""
        if e > 1000 and any(abs(c) != 1 for c in base.values()):
            raise Uncheckable(f"the power {e} is too large to be written out")
        found: Poly = {} if not base else UNIT
        for m, c in base.items():
            found = self.algebra.scale(self.algebra.factors([(a, x * e) for a, x in m]), c**e)
        return found
