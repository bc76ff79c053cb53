"""What is asked on a ball says nothing outside it: instances whose samples differ more there.

In one dimension every sample of a client appears twice, one of them with a part more and the other with that part less,
so that the clients' functions, and all that is true of them, stay. The part has a constant derivative on the ball, as
large as what is asked there allows, and a larger one from beside the ball on. The run starts at an end of the ball.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.predicates import Stable, base_of
from validate import satisfied
from validate.instances.candidates import candidate_of, realised
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.pool import Drawn

F = Fraction
SHARES = tuple(F(k, 16) for k in (15, 14, 12, 10, 8, 6, 4, 2))
"""Of the derivative that takes the middle of the ball to its end in a step: what is tried for the part."""
MUCH = 4
"""How many times as large as that the part's derivative is outside."""
BESIDE = F(1, 16)
"""Share of the radius within which it grows."""


def rougher(claim: Claim, one: Drawn) -> Drawn | None:
    """An instance of the claim whose samples differ more outside the ball of which `stable` speaks; None without one.

    Args:
        claim: the claim.
        one: an instance of it.
    """
    asked = next((p for p in claim.predicates if isinstance(p, Stable) and p.function == "f_ni"), None)
    problem = one.instance.problem
    if asked is None or problem is None or problem.dim != 1:
        return None
    step, radius = (_number(one, constant) for constant in asked.constants)
    if step is None or radius is None or step <= 0 or radius <= 0:
        return None
    candidate = candidate_of(one)
    functions = candidate.pieces or tuple(
        tuple(Piecewise((), (h[0, 0],), b[0]) for h, b in zip(hs, bs, strict=True))
        for hs, bs in zip(candidate.hessian, candidate.linear, strict=True)
    )
    for share in SHARES:
        part = _part(share * radius / step, MUCH * radius / step, radius)
        noisy = tuple(tuple(g for f in own for g in (f.plus(part), f.plus(part, F(-1)))) for own in functions)
        if satisfied.true(asked, Pieces(noisy), [step, radius]) is not True:
            continue
        end = radius if candidate.start[0] >= 0 else -radius
        start = np.array([end], dtype=object)
        rounds = max(2, candidate.rounds)
        rough = replace(candidate, hessian=None, linear=None, functions=noisy, start=start, rounds=rounds)
        return realised(claim, rough)
    return None


def _number(one: Drawn, constant: Any) -> Fraction | None:
    """The value of a constant that is a name; None of others, and of what is no fraction."""
    base = base_of(constant)
    value = None if base is None or base[1] != 1 else one.values.get(base[0])
    return value if isinstance(value, Fraction) else None


def _part(inside: Fraction, outside: Fraction, radius: Fraction) -> Piecewise:
    """The function of derivative `inside` on the ball and `outside` a little away from it."""
    width = BESIDE * radius
    slope = (outside - inside) / width
    knots = (-radius - width, -radius, radius, radius + width)
    return Piecewise(knots, (F(0), -slope, F(0), slope, F(0)), -inside)
