"""The square of a sum over a loop's turns whose parts are 0 on average, each given the turns before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from theory.derivation.export.forms import Lines, block
from theory.derivation.export.names import Said
from theory.derivation.export.terms import ONE, ZERO, Bind, Ip, Nat, Term, VOp, name, nat_text, put, text_of

if TYPE_CHECKING:
    from theory.derivation.export.proof import Proof

ONE_TURN, OTHER_TURN = "h1", "h2"


def of_turns(derivation: Proof, goal: Said) -> Lines | None:
    """The script of ``E norm2 v == ...`` of a v that is a sum over turns: products of parts of different turns are 0 on
    average, so that its square is the sum of their squares. None for another sentence."""
    left = goal.left
    if goal.relation != "==" or not isinstance(left, Bind) or left.kind != "E" or not isinstance(left.body, Ip):
        return None
    whole = left.body
    if whole.left != whole.right:
        return None
    normal, w = derivation.unfolding, left.var
    vector, _ = normal.vector_alone(whole.left)
    split = _by_turn(vector)
    if split is None:
        return None
    turns, part = split
    total = Bind("vsum", turns, ONE_TURN, part)
    gap = VOp("sub", (whole.left, total))
    same = derivation.null(Said(Ip(gap, gap), "<=", ZERO), normal)
    other = put(part, {ONE_TURN: name(OTHER_TURN)})
    cross = Bind("E", left.bound, w, Ip(part, other))
    apart = derivation.zero(cross, derivation.with_turns(ONE_TURN, OTHER_TURN))
    squares = Bind("sum", turns, ONE_TURN, Bind("E", left.bound, w, Ip(part, part)))
    rest = derivation.equation(squares, goal.right, normal)
    if same is None or apart is None or rest is None:
        return None
    lt = derivation.normal.fresh("lt")
    function = f"(fun {ONE_TURN} {w} => {text_of(part)})"
    return [
        f"transitivity (E {left.bound} (fun {w} => norm2 {text_of(total, outer=9)})).",
        *block([f"apply E_ext; intros {w} {lt}. apply (f_equal norm2). apply vector_le.", *same]),
        f"transitivity ({text_of(squares)}).",
        *block([f"apply (uncorrelated {nat_text(turns)} {left.bound} {function}).",
                f"intros {ONE_TURN} {OTHER_TURN} sooner within.", *apart]),
        *rest,
    ]  # fmt: skip


def _summands(vector: Term) -> Iterator[Term]:
    if isinstance(vector, VOp) and vector.op == "add":
        yield from _summands(vector.args[0])
        yield from _summands(vector.args[1])
    else:
        yield vector


def _by_turn(vector: Term) -> tuple[Nat, Term] | None:
    """A vector in normal form as a sum over turns, and its part of turn h1; None where it is none."""
    found: Term | None = None
    ends = set()
    for one in _summands(vector):
        by: Term = ONE
        if isinstance(one, VOp) and one.op == "scal":
            by, one = one.args
        if not isinstance(one, Bind) or one.kind != "vsum" or not isinstance(one.bound, Nat):
            return None
        ends.add(one.bound)
        body = put(one.body, {one.var: name(ONE_TURN)})
        part = body if by == ONE else VOp("scal", (by, body))
        found = part if found is None else VOp("add", (found, part))
    return None if found is None or len(ends) != 1 else (ends.pop(), found)
