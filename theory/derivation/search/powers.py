"""What is so of powers with exponents that may be no integers, as ``K**(-eps)`` and ``K**(1/3)``.

A power is compared with those whose exponent is next to it: another one in the sentence, or one that is an integer,
or a half of one. Products of powers of one number are powers of it, where that says something of such.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from math import ceil, floor, lcm

from theory.derivation.search.context import Context, Known
from theory.derivation.search.settings import worth
from theory.formula import Apply
from theory.sentence import parse_expression, parts, replaced, text_of

_SETTINGS = 24
_MOST = 8
"""Powers of which lines are made, those that others are made of among them."""
_COST = 0.4


def of_real_powers(context: Context, some: Sequence[Sequence[str]], roots: Collection[str]) -> Iterator[Known]:
    """Lines to be about powers in a sentence.

    Args:
        context: of the claim.
        some: base and exponent of each.
        roots: numbers whose square roots are in it, too: of others no half of an integer is an exponent.
    """
    powers, apart = [(base, exponent) for base, exponent in some], set[str]()
    for base, exponent in powers:  # what they are products of joins them
        for line, pieces in _taken_apart(context, base, exponent):
            yield line
            powers += [one for one in pieces if one not in powers][: _MOST - len(powers)]
            apart.add(base)
    bases = [base for base in dict.fromkeys(base for base, _ in powers) if _always(context, base, 0, strict=True)]
    for base in (base for base in bases if base not in apart):
        own = [e for b, e in powers if b == base]
        for one in own:
            for other in dict.fromkeys([*(e for e in own if e != one), *_next_to(context, one, 1 + (base in roots))]):
                yield from _ordered(context, base, one, other)
        numbers = [e for e in own if _number(e) is not None]
        yield from _of_one_root(base, numbers)
        for one, other in combinations_with_replacement(own, 2):
            total = context.forms.simplified(f"({one}) + ({other})")
            if not {one, other} <= set(numbers) and (total in own or _number(total) is not None):
                both = f"({base})**({one})*({base})**({other})"
                yield _line("power sum", f"({base})**({total}) == {both}", base, one, other)


def _of_one_root(base: str, exponents: Sequence[str]) -> Iterator[Known]:
    """Powers of one number with fractions as exponents, and the number itself, as powers of one root of it."""
    degree = lcm(*(Fraction(e).denominator for e in exponents))
    root = str(Fraction(1, degree))
    for e in dict.fromkeys([*exponents, "1"]) if exponents else ():
        times = int(Fraction(e) * degree)
        if e != root:
            yield _line("power power", f"(({base})**({root}))**({times}) == ({base})**({e})", base, root, str(times))


def _taken_apart(context: Context, base: str, e: str) -> Iterator[tuple[Known, list[tuple[str, str]]]]:
    """A power of a product, or of one part in so many, by powers of what these are made of; with those."""
    tree = parse_expression(base)
    if not isinstance(tree, Apply) or tree.operation not in ("*", "/") or not _always(context, base, 0, strict=True):
        return
    one, other = map(text_of, parts(tree))
    if tree.operation == "/":
        if one == "1":
            less = context.forms.simplified(f"-({e})")
            said = f"(({other})**(-1))**({e}) == ({other})**({less})"
            yield _line("power power", said, other, "-1", e), [(other, less)]
            return
        other = f"1/({other})"
    if all(_always(context, x, 0, strict=True) for x in (one, other)):
        said = f"(({one})*({other}))**({e}) == ({one})**({e})*({other})**({e})"
        yield _line("power product", said, one, other, e), [(one, e), (context.forms.simplified(other), e)]


def _ordered(context: Context, base: str, one: str, other: str) -> Iterator[Known]:
    """That a power is at most another one, where base and exponents say so."""
    for low, high in permutations((one, other)):
        if not _always(context, f"({high}) - ({low})", 0):
            continue
        if _always(context, base, 1):
            yield _line("exponents", f"({base})**({low}) <= ({base})**({high})", base, low, high)
        elif _always(context, f"1 - ({base})", 0):
            yield _line("exponents", f"({base})**({high}) <= ({base})**({low})", base, low, high)
        return


def _next_to(context: Context, exponent: str, below: int) -> list[str]:
    """The integers, over 1 or 2, on both sides of what does not change in an exponent; that, if it is one."""
    constant = context.forms.expanded(exponent).get((), None)
    if constant is None:
        return ["0"]
    fixed = below * Fraction(constant.over.get((), 0))
    return [str(Fraction(end, below)) for end in sorted({floor(fixed), ceil(fixed)})]


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except ValueError:
        return None


def _always(context: Context, text: str, least: int, strict: bool = False) -> bool:
    """Whether a number is at least so large wherever it is tried: the kernel asks for more."""
    tree = replaced(parse_expression(text), context.claim.definitions)
    for at in context.settings(_SETTINGS, (), context.supposed):
        try:
            value = worth(tree, at)
        except ValueError:
            continue
        if value < least - 1e-12 or (strict and value <= least):
            return False
    return True


def _line(schema: str, said: str, *of: str) -> Known:
    return Known(said, said, {"by": "axiom", "schema": schema, "of": list(of)}, _COST)
