"""Ways to a claim: as it stands, by induction over rounds, over the length of a run, from a start that never moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from typing import Any

from theory.claim import Claim
from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line
from theory.derivation.search.forms import Forms
from theory.derivation.search.induction import ONE, ZERO, induction
from theory.derivation.search.numbers import shown
from theory.derivation.search.settings import worth
from theory.derivation.search.summed import over_all_rounds
from theory.formula import Apply, Name, Number
from theory.formula import text_of as formula_text
from theory.program import loops_around
from theory.sentence import (
    At,
    Expression,
    Sentence,
    applied,
    everything,
    exchanged,
    parse_expression,
    parse_sentence,
    parts,
    replaced,
    text_of,
)

_MOST_TERMS = 3
"""Of a right side, beside those of the start: of them, any may be carried on."""
Strategy = Callable[[Context], "list[Line] | None"]


def as_it_stands(context: Context) -> list[Line] | None:
    """The sentence as one combination."""
    if _from_start(context.claim) and not _of_taps(context.claim):
        return None
    return combine(context, context.claim.statement, context.claim.label)


def by_step(context: Context) -> list[Line] | None:
    """An equation that is what the algorithm does, its draws taken exactly."""
    claim = context.claim
    if claim.program is None or claim.sentence.relation != "==" or not context.plain:
        return None
    return [{"name": claim.label, "sentence": claim.statement, "by": "step"}]


def by_squares(context: Context) -> list[Line] | None:
    """``norm(v) <= c``, or ``sqrt(e) <= c``, from their squares."""
    said = context.claim.sentence
    low, high = (said.left, said.right) if said.relation == "<=" else (said.right, said.left)
    if said.relation not in ("<=", ">=") or not isinstance(low, Apply) or low.operation not in ("norm", "sqrt"):
        return None
    square = applied("norm2", parts(low)) if low.operation == "norm" else parts(low)[0]
    sentence = str(Sentence(square, "<=", applied("**", (high, Number(Fraction(2))))))
    if "k" in context.claim.free and _from_start(context.claim):
        carried = replace(context.claim, statement=sentence, label="squares", proof=None)
        lines = over_rounds(replace(context, claim=carried, forms=Forms(carried)))
        lines = None if lines is None else [*lines[:-1], {**lines[-1], "sentence": sentence}]
    else:
        lines = combine(context, sentence, "squares")
    if lines is None:
        return None
    root: Line = {"name": context.claim.label, "sentence": context.claim.statement, "by": "root", "line": "squares"}
    return [*bases(context, high), *lines, root]


def bases(context: Context, e: Expression) -> list[Line]:
    """Lines that say of the powers in a number that their bases are not negative, as far as that is found."""
    lines, inside = list[Line](), replace(context, signs=True)
    for part in dict.fromkeys(everything(replaced(e, context.claim.definitions))):
        if isinstance(part, Apply) and part.operation == "**" and not isinstance(parts(part)[1], Number):
            lines += shown(inside, f"0 <= {text_of(parts(part)[0])}", inside.name("base")) or []
    context.used = inside.used
    return lines


def over_rounds(context: Context) -> list[Line] | None:
    """Induction over k: the sentence itself is what is carried on."""
    claim = context.claim
    if "k" not in claim.free or (claim.of is not None and not _from_start(claim)):
        return None
    return induction(context, claim.statement, claim.label, "k", 0)


def over_length(context: Context) -> list[Line] | None:
    """Induction over K of a sum; for a mean over k, of a sentence with what is left at the end taken away."""
    claim = context.claim
    if "k" in claim.free or not sums(claim):
        return None
    at_the_end = any(isinstance(p, At) and p.indices == (Name("K"),) for p in everything(claim.sentence.left))
    found = induction(context, claim.statement, claim.label, "K", 1) if claim.of is None or at_the_end else None
    if found is not None:
        return found
    speaks_of_K = any(_speaks_of(side, "K") for one in claim.relations for side in one.sides)
    for stronger in _with_potential(claim) if not speaks_of_K else ():
        lines = induction(context, stronger, "potential", "K", 1)
        if lines is None:
            continue
        last = combine(context, claim.statement, claim.label, [Known("potential", stronger)])
        if last is not None:
            return [*lines, *last]
    return over_all_rounds(context)


def through_potential(context: Context) -> list[Line] | None:
    """What the right side is of the start, of x[k]: it is carried over the rounds, and bounds the left side."""
    claim = context.claim
    if claim.program is None or "k" not in claim.free:
        return None
    left, right = claim.sentence.left, claim.sentence.right
    if claim.sentence.relation in (">=", ">"):
        left, right = right, left
    terms = operands(replaced(right, claim.definitions), "+")
    start, rest = [t for t in terms if _speaks_of(t, "x0")], [t for t in terms if not _speaks_of(t, "x0")]
    if len(start) != 1 or len(rest) > _MOST_TERMS:
        return None
    factors = operands(start[0], "*")
    constant = joined([f for f in factors if not _speaks_of(f, "x0") and not _speaks_of(f, "k")], "*")
    state = At(claim.program.state[0].name, (Name("k"),))
    now = replaced(joined([f for f in factors if _speaks_of(f, "x0")], "*"), {"x0": state})
    if claim.program.random:
        now = applied("E", (now,))
    if not context.forms.expanded(f"({text_of(left)}) - ({text_of(constant)})*({text_of(now)})"):
        return None  # then it is the sentence itself that is carried over the rounds
    for n in range(len(rest), -1, -1):
        for some in combinations(rest, n):
            bound = (
                joined([*start, *some], "+")
                if constant == ONE
                else applied("/", (joined([*start, *some], "+"), constant))
            )
            sentence = str(Sentence(now, "<=", bound))
            last = in_either_way(context, combine, claim.statement, claim.label, [Known("potential", sentence)])
            if last is not None:
                lines = in_either_way(context, induction, sentence, "potential", "k", 0)
                if lines is not None:
                    return [*lines, *last]
    return None


def in_either_way(context: Context, way: Callable[..., list[Line] | None], *of: Any) -> list[Line] | None:
    """Lines by what each assumption says by itself, or else by all that they say."""
    for plain in (True, False):
        one = replace(context, plain=plain)
        lines = way(one, *of)
        context.used = one.used
        if lines is not None:
            return lines
    return None


def operands(e: Expression, operation: str) -> list[Expression]:
    """What is added up, or multiplied."""
    if isinstance(e, Apply) and e.operation == operation:
        return [t for a in parts(e) for t in operands(a, operation)]
    return [e]


def joined(some: Sequence[Expression], operation: str) -> Expression:
    """Their sum, or product."""
    return reduce(lambda a, b: applied(operation, (a, b)), some) if some else ONE


def _speaks_of(e: Expression, name: str) -> bool:
    return any(isinstance(p, Name) and p.name == name for p in everything(e))


def still(context: Context) -> list[Line] | None:
    """A run that begins where nothing moves: every state stays at its value there."""
    claim = context.claim
    program = claim.program
    zero = claim.sentence.relation == "<=" and claim.sentence.right == ZERO
    if program is None or not zero or "k" not in claim.free:
        return None
    sentences = [
        (f"{s.name} stays", _distance(claim, s.name, s.kind, f"{s.name}[{{k}}]", s.initial)) for s in program.state
    ]
    taps = [(name, kind, loops) for name, (kind, loops) in program.taps.items() if kind in ("server", "client")]
    ih = [Known(f"IH {i + 1}" if len(sentences) > 1 else "IH", s.format(k="k")) for i, (_, s) in enumerate(sentences)]
    base: list[Line] = []
    step: list[Line] = []
    given = list(ih)
    for name, kind, loops in taps:
        around = loops_around(program.body, name) or ()
        if loops != 1 or around[0].count is None:
            continue
        sentence = _distance(claim, name, kind, f"{name}[k, h]", "x0")
        lines = induction(context, sentence, f"{name} stays", "h", 0, given)
        if lines is None:
            return None
        step += lines
        given.append(Known(f"{name} stays", sentence, put={"h": formula_text(around[0].count)}))
    for label, sentence in sentences:
        first = combine(context, sentence.format(k="0"), f"{label} at first")
        next_ = combine(context, sentence.format(k="k+1"), f"{label} on", given)
        if first is None or next_ is None:
            return None
        base += first
        step += next_
    own = next((i for i, (_, s) in enumerate(sentences) if parse_sentence(s.format(k="k")) == claim.sentence), None)
    line: Line = {
        "name": "all stay", "sentence": sentences[own or 0][1].format(k="k"), "by": "induction", "on": "k", "from": 0,
        "sentences": [s.format(k="k") for _, s in sentences], "base": base, "step": step,
    }  # fmt: skip
    if own is not None:
        return [{**line, "name": claim.label}]
    last = combine(context, claim.statement, claim.label, [Known("all stay", line["sentence"])])
    return None if last is None else [line, *last]


def by_cases(context: Context) -> list[Line] | None:
    """The sentence in two cases, by which of two numbers is the larger one, and stands for the largest."""
    claim = context.claim
    sides = [replaced(side, claim.definitions) for side in (claim.sentence.left, claim.sentence.right)]
    for e in dict.fromkeys(e for side in sides for e in everything(side)):
        if not isinstance(e, Apply) or e.operation not in ("max", "min") or len(parts(e)) != 2:
            continue
        for factor in _of_unknown_sign(context, e):
            found = _in_cases(context, e, factor)
            if found is not None:
                return found
    return None


def _in_cases(context: Context, e: Apply, factor: str) -> list[Line] | None:
    claim = context.claim
    both: list[list[Line]] = []
    for text in (str(parse_sentence(t)) for t in (f"0 <= {factor}", f"{factor} <= 0")):
        own = [*context.known, Known(text, text, cost=0.2)]
        inside = Context(claim, context.forms, context.work, context.settings, own, [text], context.used)
        for one in parts(e):
            sides = [replaced(s, claim.definitions) for s in (claim.sentence.left, claim.sentence.right)]
            case: dict[Expression, Expression] = {e: one}
            left, right = (exchanged(side, case.get) for side in sides)
            name = inside.name("case")
            first = combine(inside, str(Sentence(left, claim.sentence.relation, right)), name)
            if first is None:
                continue
            known = Known(name, str(Sentence(left, claim.sentence.relation, right)))
            last = combine(inside, claim.statement, inside.name("in the case"), [known], bare=True)
            if last is not None:
                both.append([*first, *last])
                break
        else:
            return None
        context.used = inside.used
    line: Line = {
        "name": claim.label,
        "sentence": claim.statement,
        "by": "cases",
        "on": str(parse_sentence(f"0 <= {factor}")),
    }
    return [{**line, "first": both[0], "second": both[1]}]


def _of_unknown_sign(context: Context, e: Apply) -> list[str]:
    """The factors, of both signs, of the difference of the two numbers of which the largest or the least is meant."""
    from theory.derivation.search.field import Field

    forms = context.forms
    one, other = map(text_of, parts(e))
    try:
        gap = forms.expanded(f"{one} - ({other})")
    except ValueError:
        return []
    if set(gap) != {()}:
        return []
    field = Field(tuple(forms.number_atoms(gap)))
    found = []
    for f, n in field.factors(forms.element(field, gap[()]).numer)[1]:
        text = field.sum_text(f)
        signs = {worth(parse_expression(text), at) > 0 for at in context.settings(20)}
        if n % 2 and len(f) > 1 and len(signs) == 2:
            found.append(text)
    return found


def _distance(claim: Claim, name: str, kind: str, at: str, initial: str) -> str:
    fixed = replaced(parse_expression(initial), {"x0": Name("xstar")})
    inner = at if fixed == ZERO else f"{at} - {text_of(fixed, 2)}"
    text = f"norm2({inner})"
    text = f"E({text})"
    return f"mean_n({text}) <= 0" if kind == "client" else f"{text} <= 0"


def _from_start(claim: Claim) -> bool:
    """Whether the sentence holds a state against the start, any number of rounds before."""
    if claim.of is None:
        return False
    sides = [replaced(s, claim.definitions) for s in (claim.sentence.left, claim.sentence.right)]
    rounds = {text_of(e.indices[0]) for s in sides for e in everything(s) if isinstance(e, At)}
    return ("k" in claim.free and "k + 1" not in rounds and any(text == "k" for text in rounds)) or sums(claim)


def _of_taps(claim: Claim) -> bool:
    """Whether it speaks of what happens within a round."""
    sides = [replaced(s, claim.definitions) for s in (claim.sentence.left, claim.sentence.right)]
    spoken = [e.name for s in sides for e in everything(s) if isinstance(e, At)]
    return claim.program is not None and any(name in claim.program.taps for name in spoken)


def sums(claim: Claim) -> bool:
    return any(
        isinstance(e, Apply) and e.operation in ("sum_k", "mean_k")
        for side in (claim.sentence.left, claim.sentence.right)
        for e in everything(replaced(side, claim.definitions))
    )


def _with_potential(claim: Claim) -> Iterator[str]:
    """``mean_k(X) <= R`` as ``sum_k(X) <= K*R - (what of it is of the start, at the end of the run)``."""
    sentence = claim.sentence
    left, right = sentence.left, replaced(sentence.right, claim.definitions)
    if sentence.relation in (">=", ">"):
        left, right = right, left
    random = claim.program is not None and claim.program.random

    def of_start(e: Expression) -> bool:
        asks = isinstance(e, Apply) and e.operation in ("f", "norm2")
        return asks and any(isinstance(p, Name) and p.name == "x0" for p in everything(e))

    def ended(e: Expression) -> Expression | None:
        if not of_start(e):
            return None
        state = claim.program.state[0].name if claim.program is not None else "x"
        moved = replaced(e, {"x0": At(state, (Name("K"),))})
        return applied("E", (moved,)) if random else moved

    def gone(e: Expression) -> Expression | None:
        if not of_start(e):
            return None
        return Name("fstar") if isinstance(e, Apply) and e.operation == "f" else ZERO

    if not isinstance(left, Apply) or left.operation not in ("mean_k", "sum_k"):
        return
    total = applied("sum_k", parts(left)) if left.operation == "mean_k" else left
    times: Callable[[Expression], Expression] = (
        (lambda e: applied("*", (Name("K"), e))) if left.operation == "mean_k" else (lambda e: e)
    )

    def averaged(e: Expression) -> Expression | None:
        return applied("mean_k", parts(e)) if isinstance(e, Apply) and e.operation == "max_k" else None

    for bound in dict.fromkeys((right, exchanged(right, averaged))):  # of the rounds so far, not of all
        whole, last, rest = times(bound), times(exchanged(bound, ended)), times(exchanged(bound, gone))
        if last != whole:
            yield f"{text_of(total)} <= {text_of(whole)} - {text_of(last, 2)} + {text_of(rest, 2)}"
