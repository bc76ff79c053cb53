"""A refutation worked out by hand: each step from the instance of its certificate to two sides that contradict it.

Every number comes from the claim itself, measured on that instance (`validate.on_instance`): its names, the terms of
its right side and both sides are sentences of the same language there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from theory.formula import Name
from theory.program import pseudo_code
from theory.sentence import (
    Vocabulary,
    everything_meant,
    index_of,
    parse_expression,
    parse_sentence,
    read,
    signed_terms,
    text_of,
)
from theory.typeset import latex_of, latex_of_assumption, latex_of_definitions, latex_of_sentence
from validate.both_sides import as_printed
from validate.certificate.exact_text import in_digits, is_long, typeset
from validate.instances.scalars import Schedule
from validate.instances.specs import instance_from, with_constants
from validate.on_instance import OnInstance, on_instance
from validate.play import Play
from validate.rounds import TooManyOutcomesError

if TYPE_CHECKING:
    from theory.claim import Claim

BREAKS = {"<=": ">", ">=": "<", "<": "≥", ">": "≤", "==": "≠"}
"""How the sides stand where a relation between them does not."""
MOST_ROUNDS = 4
"""Rounds of a run that are written out."""
LONGEST_RUN = 1000
"""Rounds; the names of a claim are not measured on a longer run, which nobody follows by hand."""
ABOUT = "≈ "
MOST_DIGITS = 17
"""Significant ones, of a float64."""
MOST_OUTCOMES = 8
"""States after a round that are written out."""
LONGEST = 24
"""Characters of an exact number; a longer one is rounded."""
DIGITS = 6
"""Significant ones of a rounded number."""
FAR_OUT = 10**5
"""Of a ball, the exponent of 2 beyond which its binary digits are not written out."""


class Formula(NamedTuple):
    """Mathematics within a step.

    Attributes:
        latex: to be typeset.
        text: as the claim writes it.
    """

    latex: str
    text: str


class Shown(NamedTuple):
    """A number or a vector within a step, as `shown` has it."""

    text: str


Step = tuple[str | Formula | Shown, ...]
"""A line of words, formulas and numbers."""


@dataclass(frozen=True)
class Worked:
    """A claim on the instance that breaks it.

    Attributes:
        program: its algorithm as pseudo-code; empty without one.
        steps: what is computed, in this order: that the hypotheses hold, the run, the claim's names, both sides.
        named: whether the steps have the claim's definitions.
    """

    program: str
    steps: tuple[Step, ...]
    named: bool


def worked(claim: Claim, certificate: Mapping[str, Any]) -> Worked:
    """The steps on the instance of a certificate; both sides alone where the run is too long to be followed."""
    program = "" if claim.program is None else pseudo_code(claim.program)
    try:
        if int(certificate.get("rounds") or 0) <= LONGEST_RUN:
            form, constants = with_constants(certificate, claim)
            found = on_instance(claim, instance_from(form, claim), constants)
            return Worked(program, tuple(_steps(found, certificate)), True)
    except (ValueError, KeyError, TooManyOutcomesError):
        pass
    return Worked(program, (_sides_of(certificate),), False)


def _steps(found: OnInstance, certificate: Mapping[str, Any]) -> Iterator[Step]:
    claim, words = found.claim, found.claim.vocabulary
    assumed = zip((*claim.assuming, *claim.standing), claim.assumptions, strict=False)
    formulas = {text: Formula(latex_of_assumption(one, words), text) for text, one in assumed}
    held = [formulas.get(text) or _relation(text, words) for text, true in found.hypotheses if true]
    if held:
        yield ("Every hypothesis holds: ", *_listed(held), *_with(found.drawn.constants), ".")
    yield from _run(found)
    at = {name: int(value) for name, value in certificate.get("at", {}).items()}
    definitions = latex_of_definitions(claim)
    for name, text in claim.where.items():
        value = value_of(found, name, at)
        whole = Formula(definitions[name], f"{name} = {text}")
        yield (whole, *(_of_each(found, name, at) if value is None else equals(value)), ".")
    sentence = claim.sentence
    left, right = (value_of(found, text_of(side), at) for side in (sentence.left, sentence.right))
    there = f" at {indexed(at)}" if at else ""
    if left is None or right is None:
        yield _sides_of(certificate)
        return
    for which, side, total in (("left", sentence.left, left), ("right", sentence.right, right)):
        parts = [(sign, part, value_of(found, text_of(part), at)) for sign, _, part in signed_terms(side)]
        sums: Step = ()
        if len(parts) > 1 and all(value is not None for _, _, value in parts):
            for _, part, value in parts:
                sums += (Formula(latex_of(part, words), text_of(part)), *equals(value), "; ")
            for place, (sign, _, value) in enumerate(parts):
                joint = f" {_sign(sign)} " if place else _sign(sign).replace("+", "")
                sums += (joint, Shown(_bracketed(shown(value).removeprefix(ABOUT))))
        yield (f"The {which} side{there}: ", *(sums + equals(total) if sums else (Shown(shown(total)),)), ".")
    yield from _compared(left, BREAKS[sentence.relation], right)


def _compared(left: Any, sign: str, right: Any) -> Iterator[Step]:
    """Both sides in the relation that refutes; where their difference is not seen at once, in decimals as well."""
    exact = [shown(value) for value in (left, right)]
    said: Step = ()
    if any("/" in text or text.startswith(ABOUT) for text in exact):
        for digits in range(DIGITS, MOST_DIGITS):
            decimals = [_decimal(value, digits) for value in (left, right)]
            if decimals[0] != decimals[1]:
                break
        if decimals[0] != decimals[1] and [text.removeprefix(ABOUT) for text in exact] != decimals:
            said = ("; in decimals ", Shown(decimals[0]), f" {sign} ", Shown(decimals[1]))
    first, second = (text.removeprefix(ABOUT) for text in exact)
    yield (Shown(first), f" {sign} ", Shown(second), *said, ".")


def indexed(at: Mapping[str, Any]) -> str:
    """Indices with their values; may be empty."""
    return ", ".join(f"{name} = {value}" for name, value in as_printed(at).items())


def _sign(sign: str) -> str:
    return sign.replace("-", "−")


def _relation(text: str, words: Vocabulary) -> Formula | str:
    """A relation between names; what is none stays as it is."""
    try:
        return Formula(latex_of_sentence(parse_sentence(text), words), text)
    except ValueError:
        return text


def _sides_of(certificate: Mapping[str, Any]) -> Step:
    """Both sides as the certificate has them."""
    left, right = (_side(certificate[name]) for name in ("left", "right"))
    return ("The left side is ", Shown(left), ", the right side is ", Shown(right), ".")


def _side(side: Any) -> str:
    if isinstance(side, Mapping):
        low, high = (shown(Fraction(side[end])) for end in ("lower", "upper"))
        return low if low == high else f"between {low} and {high}"
    return shown(Fraction(str(side)))


def _listed(parts: list[Formula | str]) -> Step:
    return tuple(piece for at, part in enumerate(parts) for piece in ((", ", part) if at else (part,)))


def _with(constants: Mapping[str, Any]) -> Step:
    said: list[Any] = []
    for constant, value in constants.items():
        rounds = value.values if isinstance(value, Schedule) else ()
        name = f"{constant}_k" if rounds else constant
        each = (f" for k = {', '.join(map(str, range(len(rounds))))}",) if rounds else ()
        said += [", " if said else " (with ", Formula(latex_of(Name(name)), name), *equals(rounds or value), *each]
    return (*said, ")") if said else ()


def _bracketed(text: str) -> str:
    """In brackets where it begins with a sign."""
    return f"({text})" if text.startswith("−") else text


def _run(found: OnInstance) -> Iterator[Step]:
    """The states that the rounds leave, where they are few."""
    instance, program = found.drawn.instance, found.claim.program
    if program is None or instance.problem is None:
        return
    name, words = program.state[0].name, found.claim.vocabulary
    try:
        play = Play(instance, limit=1000)
        for k in range(min(instance.rounds, MOST_ROUNDS) + 1):
            law: dict[Any, Fraction] = {}
            for chance, state in play.distribution(k):
                law[state[0]] = law.get(state[0], Fraction(0)) + chance
            text = f"{name}[{k}]"
            state_there = Formula(latex_of(parse_expression(text), words), text)
            if len(law) > MOST_OUTCOMES:
                yield (state_there, f" has {len(law)} values.")
                return
            values: Step = ()
            for x, p in law.items():
                chance_of = () if len(law) == 1 else (" with probability ", Shown(shown(p)))
                values += (*((", ", Shown(shown(x))) if values else equals(x)), *chance_of)
            yield (state_there, *values, ".")
    except (ValueError, TooManyOutcomesError):
        return


def value_of(found: OnInstance, text: str, at: Mapping[str, int]) -> Any:
    """The value of a formula of the claim on its instance, a Fraction or a ball; None where it has no single one."""
    values = [value for _, value in _values_of(found, text, at)]
    exact = [value for value in values if isinstance(value, Fraction)]
    if exact:
        return exact[0] if len(exact) == len(values) and len(set(exact)) == 1 else None
    return values[0] if len(values) == 1 else None


def _of_each(found: OnInstance, text: str, at: Mapping[str, int]) -> Step:
    """The values of few clients, where it has one each; nothing for another formula."""
    values = _values_of(found, text, at)
    clients = [as_printed(there).get("n") for there, _ in values]
    if not values or None in clients or len(set(clients)) != len(clients) or len(clients) > MOST_OUTCOMES:
        return ()
    return (*equals([value for _, value in values]), f" for n = {', '.join(map(str, clients))}")


def _values_of(found: OnInstance, text: str, at: Mapping[str, int]) -> list[tuple[Mapping[str, int], Any]]:
    """Those that a formula of the claim has on its instance at some indices, with all of these.

    Of what is drawn, outside of E, only those that it has in every outcome.
    """
    largest = _extreme_values(found, text, "<=", at)
    if not read(parse_expression(text), found.claim.vocabulary).random:
        return largest
    least = _extreme_values(found, text, ">=", at)
    return [pair for pair in largest if pair in least]


def _extreme_values(
    found: OnInstance, text: str, relation: str, at: Mapping[str, int]
) -> list[tuple[Mapping[str, int], Any]]:
    """Those in the outcome that breaks the relation of the formula to 0, or comes nearest to it."""
    domains = found.claim.parameters
    try:  # a domain is written for no name that a sentence does not use
        used = {name: domains[name] for name in domains if name in _names(found.claim, text)}
        asked = replace(found.claim, statement=f"{text} {relation} 0", parameters=used, proof=(), given=())
        rows = replace(found, claim=asked).measured.rows
    except (ValueError, KeyError, TypeError, TooManyOutcomesError):
        return []
    wanted = [row for row in rows if all(row.at.get(name, value) == value for name, value in at.items())]
    return [(row.at, row.left) for row in wanted if row.left is not None]


def _names(claim: Claim, text: str) -> set[str]:
    """The names in a formula of the claim, in its assumptions, and in the definitions that these use."""
    words, seen = claim.vocabulary, set()
    trees = [parse_expression(text), *(side for one in claim.relations for side in one.sides)]
    for tree in trees:
        for part in everything_meant(tree, words):
            if isinstance(part, Name):
                seen |= {part.name, index_of(part.name)[0]}
    return seen | {name for one in claim.predicates for name in one.binds}


def equals(value: Any) -> Step:
    """That something is a number or a vector: "= 1/3", "≈ 0.123457"."""
    text = shown(value)
    return (f" {ABOUT}", Shown(text.removeprefix(ABOUT))) if text.startswith(ABOUT) else (" = ", Shown(text))


def shown(value: Any) -> str:
    """A number or a vector: exact where that is short, else rounded, after "≈ "."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shown, value))})" if len(value) != 1 else shown(value[0])
    number, known = exactly(value)
    if known and isinstance(number, Fraction) and not is_long(number) and len(text := str(number)) <= LONGEST:
        return text.replace("-", "−")
    return f"{ABOUT}{_decimal(value, DIGITS)}"


def _in_digits(value: Any, digits: int) -> str:
    """The middle of a ball so large or so small that its binary digits are not to be written out."""
    middle, _, exponent = (int(part) for part in value.mid_rad_10exp(digits))
    with localcontext(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN):
        return str(+Decimal(f"{middle}e{exponent}"))


def exactly(value: Any) -> tuple[Any, bool]:
    """The middle of a ball as a Fraction, and whether it is the ball; another number as it is."""
    if not hasattr(value, "rad"):
        return value, True
    if value.mid() and abs(int(value.mid().man_exp()[1])) > FAR_OUT:
        return value, False
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent), bool(value.is_exact())


def _decimal(value: Any, digits: int) -> str:
    """A number or a ball, rounded."""
    if isinstance(value, tuple | list):
        return f"({', '.join(_decimal(one, digits) for one in value)})"
    if hasattr(value, "rad") and value.mid() and abs(int(value.mid().man_exp()[1])) > FAR_OUT:
        return typeset(_in_digits(value, digits))
    return typeset(in_digits(exactly(value)[0], digits))
