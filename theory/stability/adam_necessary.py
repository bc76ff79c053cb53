"""Proofs, by machine, of what Theorem 3 of the paper on open federated learning needs before it can be applied at all.

Notation as in `theory.stability.adam_region`; D = 1 - kappa + kappa tau = 1 - kappa C1 > 0, w = sqrt(theta), r = 0 (R
grows with r where C1 >= 0). Each lemma writes D (rho - bound) as a sum of terms that are never negative, one of them
positive, so that rho > bound, and the bound is at least 1 outside the conclusion. sympy puts the domains in (tau =
1/(1+p), w = 1/(1+z), beta1 = q/(1+q), ...: every free number is then any number >= 0) and looks at the signs of all
coefficients. `theory.feasible` is asked too, as an independent check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theory.domain import AT_LEAST_ONE, COUNT, OPEN_UNIT, POSITIVE, PROBABILITY, Domain
from theory.feasible import Feasibility, Limits, feasible_relations

if TYPE_CHECKING:
    import sympy

DIVISOR = "1 - kappa + kappa*tau"
# D rho; the ratio itself is this over D
SCALED_RATIO = "tau**2*kappa*d*G/(4*(1-w**2)) + tau/(1-beta1)*((d + tau*d*beta1 + beta1*(2-tau))/w - d)"
GROWTH = "(1+beta1)/((1-beta1)*(1-beta2)*(1-beta1**2/beta2))"
SQUARE = "kappa*d*G/4*(tau - 2/(d*G))**2"  # non-negative as it stands; the other terms are by their coefficients
FROM_THIRD = "1/3 + 2/3*q/(1+q)"  # every number in [1/3, 1)
FEW_BOXES = 64  # a proof by z3 is not confirmed by more
BELOW_ONE = Domain(0, 1, upper_open=True)


@dataclass(frozen=True)
class Lemma:
    """D rho > D bound, as an identity with terms that are never negative, and what rho <= 1 then implies.

    Attributes:
        name: a few words.
        scaled_bound: D times the lower bound on rho, as an ASCII formula.
        terms: what D rho exceeds it by, as ASCII formulas; each is non-negative, their sum is positive.
        conclusion: what rho <= 1 implies.
        excess: what is non-negative outside the conclusion, so that rho > 1 there.
        outside: for each name in `excess`, a formula that takes every value outside the conclusion, in names that may
            be anything in [0, inf), or (0, inf) where they are divided by.
        room: the same for `theory.feasible`: a consequence of rho <= 1, and what the conclusion excludes; nothing
            satisfies them all.
        domains: of the names in `room`.
        definitions: of names in `room`.
        any_tau: whether it holds for tau > 1 too, where C1 < 0.
        identities: further ones that the conclusion uses.
    """

    name: str
    scaled_bound: str
    terms: tuple[str, ...]
    conclusion: str
    excess: str
    outside: Mapping[str, str]
    room: tuple[tuple[str, str], ...]
    domains: Mapping[str, Domain]
    definitions: Mapping[str, str] = field(default_factory=dict)
    any_tau: bool = False
    identities: tuple[tuple[str, str], ...] = ()


MOMENTUM = Lemma(
    "beta1 < 1/3",
    f"({DIVISOR})*2*beta1/(1-beta1)",
    (
        "tau**2*kappa*d*G/(4*(1-w**2))",
        "tau*d*(1/w-1)/(1-beta1)",
        "tau**2*beta1*(d-1)/(w*(1-beta1))",
        "2*beta1*tau*(1/w-1)/(1-beta1)",
        "2*beta1*(kappa-1)*(1-tau)/(1-beta1)",
    ),
    "rho > 2 beta1/(1-beta1), so rho <= 1 implies beta1 < 1/3",
    "2*beta1/(1-beta1) - 1",
    {"beta1": FROM_THIRD},
    (("rho <= 1", "D*2*beta1/(1-beta1) < D"), ("outside", "beta1 >= 1/3")),
    {"beta1": BELOW_ONE, "D": PROBABILITY},
)
CONDITION = Lemma(
    "kappa < d G/(d G - 1)",
    f"{DIVISOR} - (1 - kappa + kappa/(d*G))",
    (
        SQUARE,
        "tau**2*kappa*d*G*w**2/(4*(1-w**2))",
        "tau/(1-beta1)*(d*(1/w-1) + (tau*beta1*(d-1) + 2*beta1)/w)",
    ),
    "D (rho - 1) > kappa - 1 - kappa/(d G), so rho <= 1 implies kappa (d G - 1) < d G",
    "kappa - 1 - kappa/m",  # m = d G > 1
    {"kappa": "(1+g)/g + a", "m": "1+g"},
    (("rho <= 1", "1 - kappa + kappa/m > 0"), ("outside", "kappa*(m-1) >= m")),
    {"kappa": AT_LEAST_ONE, "m": Domain(1, None, lower_open=True)},
)
NEGATIVE_CONTRACTION = Lemma(
    "beta1 < 1/3 where C1 <= 0",
    f"({DIVISOR})*tau*d*G/4",
    (
        "tau*d*G/4*(kappa-1)",
        "tau**2*kappa*d*G*w**2/(4*(1-w**2))",
        "tau/(1-beta1)*(d*(1/w-1) + (tau*beta1*(d-1) + 2*beta1)/w)",
    ),
    "rho > tau d G/4, so rho <= 1 with tau >= 1 implies d G < 4, and beta1 >= 1/3 makes G >= 9/2",
    "tau*d*(1+beta1)/(1-beta1)**3/4 - 1",
    {"tau": "1+p", "d": "1+e", "beta1": FROM_THIRD},
    (
        ("rho <= 1", "tau*d*G < 4"),
        ("C1 <= 0", "tau >= 1"),
        ("factors", "beta1**2 < beta2"),
        ("outside", "beta1 >= 1/3"),
    ),
    {"tau": POSITIVE, "d": COUNT, "beta1": BELOW_ONE, "beta2": OPEN_UNIT},
    {"G": GROWTH},
    any_tau=True,
    # so G >= (1+beta1)/(1-beta1)^3
    identities=(("(1-beta1)**2 - (1-beta2)*(1-beta1**2/beta2)", "(beta2-beta1)**2/beta2"),),
)
LEMMAS = (MOMENTUM, CONDITION, NEGATIVE_CONTRACTION)


@dataclass(frozen=True)
class Proof:
    """What the checks of a lemma found.

    Attributes:
        lemma: the lemma.
        identity: whether the terms add up, by algebra.
        signs: whether no term can be negative and their sum is positive, by the signs of coefficients.
        concludes: whether the bound is at least 1 outside the conclusion, likewise.
        emptiness: the same by `theory.feasible`; undecided where z3 is not installed.
    """

    lemma: Lemma
    identity: bool
    signs: bool
    concludes: bool
    emptiness: Feasibility

    @property
    def holds(self) -> bool:
        """Whether the lemma and its conclusion are proved."""
        return self.identity and self.signs and self.concludes and self.emptiness.outcome != "feasible"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "lemma": self.lemma.name,
            "conclusion": self.lemma.conclusion,
            "terms": list(self.lemma.terms),
            "identity": self.identity,
            "signs": self.signs,
            "concludes": self.concludes,
            "emptiness": self.emptiness.to_json(),
        }


def prove(lemma: Lemma) -> Proof:
    """Check a lemma and what is concluded from it."""
    import sympy

    terms = {text: _sympy(text) for text in lemma.terms}
    gap = _sympy(SCALED_RATIO) - _sympy(lemma.scaled_bound) - sum(terms.values())
    rest = [_in_domains(term, lemma.any_tau) for text, term in terms.items() if text != SQUARE]
    signs = all(map(_never_negative, rest)) and any(map(_positive, rest))
    known = [sympy.simplify(_sympy(left) - _sympy(right)) == 0 for left, right in lemma.identities]
    outside = {sympy.Symbol(name): _sympy(text) for name, text in lemma.outside.items()}
    excess = sympy.cancel(sympy.together(_sympy(lemma.excess).subs(outside, simultaneous=True)))
    return Proof(
        lemma,
        identity=bool(sympy.simplify(gap) == 0),
        signs=signs,
        concludes=all(known) and _never_negative(excess),
        emptiness=_decided(lemma.room, lemma.domains, lemma.definitions),
    )


def empty_at(beta1: str, beta2: str) -> Feasibility:
    """Whether Theorem 3 can be applied at given factors, for some kappa >= 1, d >= 1, tau > 0 and theta at all.

    C1 >= 0 is not asked for here: tau may exceed 1.

    Args:
        beta1, beta2: rational numbers as text, such as ``"9/10"``.

    Returns:
        From `theory.feasible`, over the full inequality rho <= 1, not over a consequence of it.

    Raises:
        ValueError: numbers outside 0 <= beta1, beta1^2 < beta2 < 1.
    """
    one, two = Fraction(beta1), Fraction(beta2)
    if not (0 <= one < 1 and one**2 < two < 1):
        raise ValueError(f"beta1={beta1}, beta2={beta2} is outside 0 <= beta1, beta1^2 < beta2 < 1")
    domains = {"kappa": AT_LEAST_ONE, "tau": POSITIVE, "w": OPEN_UNIT, "d": COUNT}
    definitions = {"beta1": str(one), "beta2": str(two), "G": GROWTH}
    relations = [("a radius exists", f"{DIVISOR} > 0"), ("bounded on the ball", f"{SCALED_RATIO} <= {DIVISOR}")]
    return _decided(relations, domains, definitions)


def _decided(
    relations: Sequence[tuple[str, str]], domains: Mapping[str, Domain], definitions: Mapping[str, str]
) -> Feasibility:
    """By z3 with few boxes, and by branch and bound where that does not tell."""
    found = feasible_relations(relations, domains, definitions, limits=Limits(boxes=FEW_BOXES))
    return found if found.outcome != "undecided" else feasible_relations(relations, domains, definitions)


def _sympy(text: str) -> sympy.Expr:
    import sympy

    from theory.expression import names_in, parse, to_sympy

    formula = parse(text)
    return to_sympy(formula, {name: sympy.Symbol(name) for name in names_in(formula)})


def _in_domains(term: sympy.Expr, any_tau: bool) -> sympy.Expr:
    """The term with every name written by numbers that may be anything in [0, inf), z and tau anything in (0, inf)."""
    import sympy

    p, z, q, a, e, g = sympy.symbols("p z q a e g")
    domains = {"w": 1 / (1 + z), "beta1": q / (1 + q), "kappa": 1 + a, "d": 1 + e, "G": 1 + g}
    if not any_tau:
        domains["tau"] = 1 / (1 + p)
    return sympy.cancel(sympy.together(term.subs({sympy.Symbol(name): to for name, to in domains.items()})))


def _never_negative(term: sympy.Expr) -> bool:
    """Whether numerator and denominator have no negative coefficient once the domains are put in."""
    import sympy

    for part in sympy.fraction(term):
        names = sorted(part.free_symbols, key=str)
        coefficients = sympy.Poly(part, *names).coeffs() if names else [part]
        if any(c < 0 for c in coefficients):
            return False
    return True


def _positive(term: sympy.Expr) -> bool:
    """Whether a term that is never negative cannot vanish: it does not where only z and tau are not 0."""
    import sympy

    numerator = sympy.fraction(term)[0]
    return bool(numerator.subs({s: 0 for s in numerator.free_symbols if str(s) not in ("z", "tau")}) != 0)
