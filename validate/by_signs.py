"""Is a sentence about numbers true wherever its relations hold? By signs of coefficients; sums over k by induction.

A sum of k = 0..K-1 is known by its first value and by what is added from K to K+1. Where both sides, divided by what
their sums share, have the relation at K = 1 and keep it from K to K+1, they have it at every K >= 1.
"""

from __future__ import annotations

from typing import Any

from theory.claim import Claim
from theory.domain import NONNEGATIVE, POSITIVE, Domain
from theory.formula import Apply, Name
from theory.inequality.averaged import Reader, Scalar, UnreadError
from theory.sentence import OVER, Expression, index_of, parts, text_of
from validate.by_multipliers import has_value, where_of
from validate.shown import Shown
from validate.signs import Region


class _Sums(Reader):
    """A claim about numbers: sums over k are symbols, and what is summed is kept.

    Attributes:
        sums: what is summed, by the sum's symbol.
    """

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        self.sums: dict[Any, Any] = {}

    def _scalar_over(self, e: Apply) -> Scalar:
        import sympy

        how, index = OVER[e.operation]
        if index != "k" or how not in ("sum", "mean") or (self.sums and self._inside):
            raise UnreadError(f"{text_of(e)} is no sum over k")
        term = self._expected(self.scalar, parts(e)[0]).number
        known = next((s for s, t in self.sums.items() if t == term), None)
        symbol = sympy.Dummy("sum") if known is None else known
        self.sums[symbol] = term
        return self._number(symbol / (sympy.Symbol("K") if how == "mean" else 1))

    def _named(self, name: str) -> Scalar:
        import sympy

        base, index = index_of(name)
        if index == "k" and self.indexed.get(base) == "k" and self._inside:
            return self._number(sympy.Symbol(base))  # any value of its domain, in every round anew
        return super()._named(name)


def by_signs(claim: Claim) -> Shown | None:
    """How the claim's sentence about numbers was shown; None where it was not.

    Raises:
        UnreadError, SentenceError: for a sentence that is not about numbers alone.
    """
    reader = _Sums(claim)
    gap = reader.stated().number
    relation = claim.sentence.relation
    hypotheses = (*claim.assuming, *claim.standing)
    where = where_of(reader, gap, *reader.sums.values())
    if not all(has_value(need, where) for need in reader.needs):
        return None
    if not reader.sums:
        shown, how = _related(gap, relation, where), {}
    else:
        shown, how = _by_induction(reader, gap, relation), {"induction": "K"}
    return Shown(hypotheses, text_of(claim.sentence.left), {"proof": how}) if shown else None


def _related(gap: Any, relation: str, where: Region) -> bool:
    """Whether left - right has the sign that the relation says."""
    import sympy

    if relation == "==":
        gap = sympy.together(gap)
        if gap.is_rational_function(*gap.free_symbols):
            return bool(sympy.cancel(gap) == 0)
        return bool(sympy.simplify(gap) == 0)
    gap = gap if relation in (">=", ">") else -gap
    return where.positive(gap) if relation in ("<", ">") else where.nonnegative(gap)


def _by_induction(reader: _Sums, gap: Any, relation: str) -> bool:
    """From K = 1 on, and from K to K+1."""
    import sympy

    if relation not in ("<=", ">=", "=="):
        return False
    K, k = sympy.Symbol("K"), sympy.Symbol("k")
    rest = gap.subs(dict.fromkeys(reader.sums, 0))
    shared: Any = None
    added: Any = 0
    powers: dict[Any, Any] = {}
    for symbol, term in reader.sums.items():
        slope = sympy.diff(gap, symbol)
        if slope.free_symbols & set(reader.sums):
            return False
        for piece in sympy.Add.make_args(sympy.expand(with_powers(slope * term, K, powers))):
            own, other = piece.as_independent(K, *powers.values(), as_Add=False)
            shared = other if shared is None else shared
            if sympy.simplify(other / shared) != 1:
                return False
            added += own
    if shared is None or rest.has(k):
        return False
    shared = shared.subs({symbol: base**K for base, symbol in powers.items()})
    rest = rest / shared
    first = added.subs(k, 0) + rest.subs(K, 1)
    step = added.subs(k, K) + rest.subs(K, K + 1) - rest
    first, step, over = (with_powers(e, K, powers) for e in (first, step, shared))
    free = set().union(*(e.free_symbols for e in (first, step, over)), *(base.free_symbols for base in powers))
    plain = where_of(reader, *free)
    domains: dict[str, Domain] = {
        str(s): POSITIVE if plain.positive(base) else NONNEGATIVE if plain.nonnegative(base) else Domain()
        for base, s in powers.items()
    }
    where = where_of(reader, *free, *powers.values(), domains=domains)
    if not where.positive(over) or not all(where.defined(e) for e in (first, step)):
        return False
    return _related(sympy.cancel(first), relation, where) and _related(sympy.cancel(step), relation, where)


def with_powers(expression: Any, index: Any, known: dict[Any, Any]) -> Any:
    """``b**(c*K + d)`` as ``b**d`` times a symbol of its own for ``b**K`` to the c-th; `known` keeps it, by b."""
    import sympy

    def put(power: Any) -> Any:
        base, exponent = power.as_base_exp()
        exponent = sympy.expand(exponent)
        slope = exponent.coeff(index, 1)
        rest = sympy.expand(exponent - slope * index)
        if not slope.is_Integer or rest.has(index) or base.has(index):
            return power
        return base**rest * known.setdefault(base, sympy.Symbol(f"({base})^{index}")) ** slope

    return expression.replace(lambda e: e.is_Pow and e.exp.has(index), put)


def about_numbers(claim: Claim, *sides: Expression) -> bool:
    """Whether a claim speaks of no vector, function or state at all."""
    from theory.sentence import FUNCTION_NAMES, At, everything, read

    if claim.of is not None or claim.vectors or claim.predicates:
        return False
    trees = [claim.sentence.left, claim.sentence.right, *claim.definitions.values(), *sides]
    return not any(
        isinstance(e, At)
        or (isinstance(e, Apply) and e.operation in FUNCTION_NAMES)
        or (isinstance(e, Name) and e.name == "fstar")
        or read(e, claim.vocabulary).shape == "vector"
        for tree in trees
        for e in everything(tree)
    )
