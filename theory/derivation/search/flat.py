"""The Polyak-Lojasiewicz inequality with a constant beyond that of smoothness: there f is constant.

``2*mu*(f(x) - fstar) <= norm2(grad(f, x)) <= 2*L*(f(x) - fstar)``, so that f(x) is fstar where L < mu. A rate whose
factor 1 - eta*mu may then be negative is shown in two cases.
"""

from __future__ import annotations

from dataclasses import replace

from theory import predicates as p
from theory.derivation.search.context import Context, Known, Line, at_most
from theory.derivation.search.induction import ONE, ZERO
from theory.derivation.search.instances import Instances
from theory.derivation.search.strategies import in_either_way, over_rounds
from theory.sentence import Expression, exchanged, parse_expression, parse_sentence, text_of

GAP = parse_expression("f(x0) - fstar")
LEAST: Line = {
    "name": "least",
    "sentence": "fstar <= f(x0)",
    "by": "assumption",
    "of": [],
    "schema": "infimum",
    "at": {"v": "x0"},
}


def beyond_smoothness(context: Context) -> list[Line] | None:
    """A rate of ``f(x[k]) - fstar`` under PL, in the cases ``mu <= L`` and ``L < mu``."""
    claim, instances = context.claim, Instances(context.claim)
    smooth, pl = (instances.of(kind, "f") for kind in (p.Smooth, p.PolyakLojasiewicz))
    if not context.first or claim.program is None or smooth is None or pl is None or "k" not in claim.free:
        return None
    L, mu = text_of(smooth[1].constants[0], 4), text_of(pl[1].constants[0], 4)
    usual = str(parse_sentence(f"{mu} <= {L}"))
    if any(one.sentence == usual for one in context.known):
        return None
    second = _constant(context, smooth[0], pl[0], L, mu)
    if second is None:
        return None
    known = [*context.known, Known(usual, usual, cost=0.2)]
    inside = replace(context, known=known, supposed=[*context.supposed, usual])
    first = in_either_way(inside, over_rounds)
    context.used = inside.used
    if first is None:
        return None
    return [
        {
            "name": claim.label,
            "sentence": claim.statement,
            "by": "cases",
            "on": usual,
            "first": [*first[:-1], {**first[-1], "name": "below", "sentence": claim.statement}],
            "second": second,
        }
    ]


def _constant(context: Context, smooth: str, pl: str, L: str, mu: str) -> list[Line] | None:
    """Lines that end with the claim where f is constant: its left side is 0, and so is what it has of the start."""
    claim, forms = context.claim, context.forms
    sides = at_most(claim)
    if sides is None:
        return None
    left, right = sides
    assert claim.program is not None
    now = f"{claim.program.state[0].name}[k]"
    value = f"E(f({now}))" if claim.program.random else f"f({now})"
    with_one, with_none = (_put(right, number) for number in (ONE, ZERO))
    try:
        factor = forms.simplified(f"({with_one}) - ({with_none})")
        if forms.expanded(f"{text_of(left)} - ({value} - fstar)"):
            return None
        if forms.expanded(f"{text_of(right)} - ({factor})*({text_of(GAP)}) - ({with_none})"):
            return None
        rest = forms.simplified(with_none)
    except ValueError:
        return None
    lines = [line for point in ("x0", now) for line in _is_least(point, smooth, pl, L, mu)]
    both = [
        {"line": "least", "times": f"(1 + {factor})**2/2"},
        {"line": "constant x0", "times": f"(1 + ({factor})**2)/2"},
    ]
    start = f"0 <= ({factor})*({text_of(GAP)})"
    last: Line = {
        "name": "beyond",
        "sentence": claim.statement,
        "by": "combination",
        "parts": [
            {"line": f"constant {now}", **({"over": ["E"]} if claim.program.random else {})},
            {"line": "the start"},
        ],
    }
    if rest != "0":
        last["squares"] = [{"of": "1", "times": rest}]
    return [
        *lines,
        LEAST,
        {"name": "the start", "sentence": start, "by": "combination", "parts": both},
        last,
    ]


def _put(right: Expression, number: Expression) -> str:
    """The right side with a number for what f is above its least value at the start."""
    inside: dict[Expression, Expression] = {GAP: number}
    return text_of(exchanged(right, inside.get))


def _is_least(x: str, smooth: str, pl: str, L: str, mu: str) -> list[Line]:
    """That f is least at a point."""
    y = f"{x} - grad(f, {x})/{L}"
    larger = f"{L}/({mu} - {L})"
    return [
        {
            "name": f"above {x}",
            "sentence": f"f({y}) <= f({x}) - norm2(grad(f, {x}))/(2*{L})",
            "by": "assumption",
            "of": [smooth],
            "schema": "above",
            "at": {"x": x, "y": y},
            "on": "f",
        },
        {
            "name": f"least after {x}",
            "sentence": f"fstar <= f({y})",
            "by": "assumption",
            "of": [],
            "schema": "infimum",
            "at": {"v": y},
        },
        {
            "name": f"pl {x}",
            "sentence": f"norm2(grad(f, {x})) >= 2*{mu}*(f({x}) - fstar)",
            "by": "assumption",
            "of": [pl],
            "schema": "pl",
            "at": {"v": x},
        },
        {
            "name": f"constant {x}",
            "sentence": f"f({x}) <= fstar",
            "by": "combination",
            "parts": [
                {"line": f"above {x}", "times": larger},
                {"line": f"least after {x}", "times": larger},
                {"line": f"pl {x}", "times": f"1/(2*({mu} - {L}))"},
            ],
        },
    ]
