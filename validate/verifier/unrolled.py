"""Kind "unrolled": a printed formula for the iterates of shuffling local SGD does not give the iterates.

The epoch is that of `epoch`, in the order of the listed clients; `noise` is what the sampled gradients are off by, one
list a client with one number a local step. Without projection. The formulas, written out for scalar quadratics:

    unrolled_update  Proposition 1, for one client and t = K-1, c = eta alpha N:
                     w^{t+1} = w^0 - sum_tau (1-ch)^(t-tau) c f'(w^0) - sum_tau (1-ch)^(t-tau) c d^t
    epoch_update     Lemma 7:
                     v' = v - sum_j (prod_{j'>j} (1 - Q_j' h_j')) (Q_j f_j'(v) - delta_j),
                     delta_j = sum_tau (1 - c_j h_j)^(K-1-tau) c_j d_j^tau

Checked, in exact fractions: the printed values are those of the play (left) and of the formula (right), they differ,
and the hypotheses hold (h_j > 0 is asked for anyway).

What remains for the reader: these are the paper's formulas. In Lemma 7 delta_j is read with d^tau in its sum, where
d^t is printed, so that the sign in front of it is what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .checks import Checks, Report
from .conditions import HEAD, Condition, check_conditions, introduce
from .epoch import FIELDS, Epoch, read_epoch
from .formulas import lookup
from .reading import FormatError, fields, list_of, number, shown, text_of

Noise = Sequence[Sequence[Fraction]]


def proposition_1(epoch: Epoch, noise: Noise) -> Fraction:
    """w^K as printed: the noise of the last step stands in the place of all."""
    c, ((*_, last),) = epoch.rate(0), noise
    left = [(1 - c * epoch.h[0]) ** t for t in range(epoch.local_steps)]
    return epoch.start - sum(left) * c * (epoch.gradient(0, epoch.start) + last)


def lemma_7(epoch: Epoch, noise: Noise) -> Fraction:
    """v^{r+1} as printed."""
    total, after = Fraction(0), Fraction(1)
    for j in reversed(range(epoch.clients)):
        c = epoch.rate(j)
        delta = sum((c * (1 - c * epoch.h[j]) ** t * d for t, d in enumerate(reversed(noise[j]))), Fraction(0))
        total += after * (epoch.move(j) * epoch.gradient(j, epoch.start) - delta)
        after *= epoch.factor(j)
    return epoch.start - total


FORMULAS = {"unrolled_update": proposition_1, "epoch_update": lemma_7}


def verify_unrolled(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    fields(data, "the certificate", HEAD + FIELDS + " noise left left_value right_value", "note")
    epoch = read_epoch(data)
    quantity = text_of(fields(data["left"], "left", "quantity")["quantity"], "quantity")
    if quantity not in FORMULAS:
        raise FormatError(f"quantity={shown(quantity)} is none of {list(FORMULAS)}")
    noise = [[number(d, "noise") for d in list_of(own, "noise")] for own in list_of(data["noise"], "noise")]
    if [len(own) for own in noise] != [epoch.local_steps] * epoch.clients:
        raise FormatError("noise does not have one number a client and local step")
    if quantity == "unrolled_update" and epoch.clients != 1:
        raise FormatError(f"unrolled_update is about one client, not {epoch.clients}")

    checks = Checks()
    introduce(data)
    known = {
        "Smooth": Condition("L", True, "every f_j has a curvature, h_j"),
        "StronglyConvex": Condition("mu", min(epoch.h) > 0, "every h_j is positive"),
    }
    check_conditions(checks, data["hypotheses"], known, lookup({}))
    left, right = epoch.play(range(epoch.clients), noise), FORMULAS[quantity](epoch, noise)
    checks.equal("left_value", data["left_value"], left)
    checks.equal("right_value", data["right_value"], right)
    checks.check(left != right, f"{shown(left)} = {shown(right)} is {'true' if left == right else 'false'}")
    return Report(checks.valid, tuple(checks.lines))
