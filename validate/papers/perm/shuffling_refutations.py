"""Exact instances that break the printed claims about shuffling, and their certificates.

The left sides are computed here, in Fractions, with the code of `shuffling_epochs`; the right sides come from the
claim. A certificate is written only if the stand-alone verifier, which has code of its own, finds the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate import certificate
from validate.papers.perm.shuffling_epochs import Epoch, norm, quantile
from validate.papers.perm.shuffling_scenarios import epoch
from validate.verdict import Evidence

Found = tuple[list[Evidence], Path | None]
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Broken:
    """An epoch on which a claim fails.

    Attributes:
        epoch: in Fractions, one dimension.
        note: what it shows, for the reader.
        p: failure probability, for a claim that has one.
        last: n of a partial sum, N' of a part of the epoch.
        L: a Lipschitz constant above the largest curvature.
        suffix: of the certificate's name, for a second one about the same claim.
    """

    epoch: Epoch
    note: str
    p: Fraction | None = None
    last: int | None = None
    L: Fraction | None = None
    suffix: str = ""


def alike(h: Any, b: Any, K: int, R: int, step: Any, start: Any, width: Any, spread: Any = 0) -> Epoch:
    """Clients of equal weights."""
    N = len(h)
    return epoch("", h, b, [Fraction(1, N)] * N, step, K, R, start, width, spread)


_EQUAL = alike([1, 1], [0, 0], 1, 100, Fraction(1, 800), 1, 1)  # gradient 1 of both clients
_FIRST = Broken(_EQUAL, "The sum from 0 to n = 0 has one term, and the bound is 0, whatever p is.", Fraction(1, 20), 0)
_OPPOSITE = alike([Fraction(1, 2000)] * 2, [1, -1], 1, 1, 250, 0, Fraction(1, 10))
_SMALL_L = "At p = 1/2: the bound has L^4 where its derivation gives L^2, so it is too small by L^2 = 1/4000000."
_PARTS = Broken(
    alike([1, 1, 1], [1, 1, -2], 1, 1, Fraction(1, 12), 0, Fraction(1, 10)),
    "The weighted gradients add up to 0, and so does log(1/p) as p tends to 1; every single client moves the model.",
    1 - Fraction(1, 10**6),
    2,
)
_CANCELLING = Broken(
    alike([1, 2], [-1, 1], 2, 1, Fraction(1, 32), 0, 1),
    "The weighted gradients add up to 0, and so does log(1/p) as p tends to 1; the moves do not cancel.",
    1 - Fraction(1, 10**9),
)
BROKEN: dict[str, tuple[Broken, ...]] = {
    "lemma-10": (
        _FIRST,
        Broken(_EQUAL, "All clients: the sum is 1 in both orders.", Fraction(99, 100), 1, suffix=".all-clients"),
    ),
    "lemma-10/unnormalised": (
        _FIRST,
        Broken(_EQUAL, "All clients: the sum is 1 in both orders.", Fraction(999, 1000), 1, suffix=".all-clients"),
    ),
    "lemma-11a": (_CANCELLING,),
    "lemma-11a/unnormalised": (_CANCELLING,),
    "lemma-11b": (_PARTS,),
    "lemma-11b/unnormalised": (_PARTS,),
    "lemma-12": (Broken(_OPPOSITE, _SMALL_L, HALF),),
    "lemma-12/unnormalised": (Broken(_OPPOSITE, _SMALL_L, HALF),),
    "theorem-2-step/unnormalised": (
        Broken(
            alike([Fraction(1, 1000)], [0], 1, 1, Fraction(1, 4), 1, 2),
            "One client, so there is nothing to shuffle, and p = 1/100: T1 has -36 e^6 s^4 L^4 with the wrong sign, "
            "so that the right side is negative. (L = 1 is a Lipschitz constant, not the least one; in two dimensions, "
            "where f has the curvatures 1/1000 and 1, it is.)",
            Fraction(1, 100),
            L=Fraction(1),
        ),
        Broken(
            alike([1, 1], [1, -1], 1, 1, Fraction(1, 8), 0, Fraction(1, 8)),
            "From v* the epoch moves, in both orders, and the right side tends to 0 with log(1/p).",
            1 - Fraction(1, 10**9),
            suffix=".at-the-optimum",
        ),
    ),
}


def left_side(claim: Claim, broken: Broken) -> Fraction:
    """The (1-p)-quantile of the claim's quantity over the orders; its mean, for a claim without p."""
    e, last = broken.epoch, broken.last
    values = []
    for order in e.orders:
        match claim.quantity.name:
            case "partial_sum":
                assert last is not None
                values.append(e.partial_sums(order)[last])
            case "epoch_part":
                assert last is not None
                values.append(e.parts(order)[last - 2])
            case "epoch_bias_sum":
                values.append(e.bias())
            case "epoch_cross":
                values.append(e.cross(order))
            case "epoch_noise":
                sums = e.noise_sums(order)
                assert sums is not None
                values.append(sum(abs(sums)) / len(sums))
            case "next_model_squared_distance":
                values.append(e.next_distance(order))
            case name:
                raise ValueError(f"quantity={name!r} is none that is measured on an epoch")
    if broken.p is not None:
        return Fraction(quantile(values, broken.p))
    return sum(values, Fraction(0)) / len(values)


def parameters_of(claim: Claim, broken: Broken) -> dict[str, Fraction]:
    """The claim's parameters on the epoch, and L, G and R where its hypotheses need them."""
    e = broken.epoch
    assert e.best is not None
    away, total = e.start - e.best, norm(e.weighted_gradient)
    known = {
        "eta": e.step, "N": e.clients, "K": e.local_steps, "R": e.epochs, "G": e.G, "mu": e.mu,
        "L": e.L if broken.L is None else broken.L, "p": broken.p, "n": broken.last, "delta": e.spread,
        "delta2": e.spread**2, "grad_sum": total, "grad_phi": total / e.clients, "V": away @ away,
        "gap": e.cost(e.start) - e.cost(e.best),
    }  # fmt: skip
    wanted = {p.name for p in claim.parameters} | {"L", "R", "G"}
    return {name: Fraction(value) for name, value in known.items() if name in wanted and value is not None}


def epoch_certificate(claim: Claim, broken: Broken) -> certificate.Certificate:
    """The certificate that the claim fails on an epoch."""
    e, parameters = broken.epoch, parameters_of(claim, broken)
    own = {p.name: parameters[p.name] for p in claim.parameters}
    domain = (e.start[0] - e.width, e.start[0] + e.width)
    return certificate.permutations_certificate(
        claim,
        [{"h": Fraction(h[0, 0]), "b": Fraction(b[0])} for h, b in zip(e.hessian, e.linear, strict=True)],
        [Fraction(a) for a in e.alpha],
        e.step,
        e.local_steps,
        Fraction(e.start[0]),
        domain,
        parameters,
        left_side(claim, broken),
        Fraction(claim.enclose(**own).lower),
        noise=e.spread,
        last=broken.last if claim.quantity.name == "epoch_part" else None,
        note=broken.note,
    )


def refute(claim: Claim, out: Path) -> Found:
    """Evidence against a claim about an epoch, with its certificates; the path is that of the first."""
    evidence, first = [], None
    for broken in BROKEN.get(claim.label, ()):
        made = epoch_certificate(claim, broken)
        path = certificate.write(made, out / "certificates", claim.id.replace("/", ".") + broken.suffix)
        evidence.append(_refuted(made, f"{in_words(broken)}. {broken.note}"))
        first = first or path
    return evidence, first


def in_words(broken: Broken) -> str:
    """The epoch in a few words."""
    e = broken.epoch
    clients = ", ".join(f"{h[0, 0]} v - ({b[0]})" for h, b in zip(e.hessian, e.linear, strict=True))
    chance = "" if broken.p is None else f", p = {float(broken.p):.10g}"
    return f"gradients {clients}; K = {e.local_steps}, eta = {e.step}, v^r = {e.start[0]}{chance}"


def _refuted(made: certificate.Certificate, text: str) -> Evidence:
    left, right = float(Fraction(made["left_value"])), float(Fraction(made["right_value"]))
    sides = f"left side {left:.6g}, right side {right:.6g}"
    ratio = left / right if right > 0 else None
    return Evidence("certificate", "refuted", f"{text} {sides}; the stand-alone verifier agrees", tightness=ratio)


# --- identities and products -----------------------------------------------------------------------------------------


def unrolled_certificate(claim: Claim) -> certificate.Certificate:
    """Two noisy steps on v^2/2 (Proposition 1), or two clients with v^2/2, the first with noise (Lemma 7)."""
    one = claim.label == "proposition-1"
    clients: list[dict[str, Any]] = [{"h": 1, "b": 0}] * (1 if one else 2)
    noise: list[list[Any]] = [[1, 0]] if one else [[2], [0]]
    alpha = [Fraction(1, len(clients))] * len(clients)
    e = epoch("", [1] * len(clients), [0] * len(clients), alpha, HALF, len(noise[0]), 1, 0, 1)
    draws = [d for own in reversed(noise) for d in reversed(own)]
    turns = zip(e.noise_factors(tuple(range(len(clients)))), draws, strict=True)
    left = -sum((m[0, 0] * d for m, d in turns), Fraction(0))
    right = Fraction(0) if one else -left  # the noise of the last step in place of all; the other sign
    return certificate.unrolled_certificate(
        claim, clients, alpha, HALF, len(noise[0]), 0, noise, left, right,
        note="delta^t, which is 0 here, stands for delta^tau." if one else "The noise has the wrong sign.",
    )  # fmt: skip


def refute_identity(claim: Claim, out: Path) -> Found:
    """Evidence against Proposition 1 or Lemma 7 as printed."""
    made = unrolled_certificate(claim)
    path = certificate.write(made, out / "certificates")
    what = "two steps of one client on v^2/2 from 0" if claim.label == "proposition-1" else "two clients with v^2/2"
    text = f"{what}, c = 1/2, noise in the first step: the iterate is {made['left_value']}, the formula gives "
    text += f"{made['right_value']}; the stand-alone verifier agrees"
    return [Evidence("certificate", "refuted", text)], path


def refute_products(claim: Claim, out: Path) -> Found:
    """Evidence against Proposition 2: one factor, and, in the plane, two."""
    parameters: dict[str, Any] = {"a": 1, "b": 0, "L": 1, "l": 0, "h": 0}
    single = certificate.products_certificate(
        claim, [[[1]]], parameters, 1, 0, note="h = l: one factor, and the sum over m from 1 to h-l = 0 is empty."
    )
    path = certificate.write(single, out / "certificates")
    two = {**parameters, "h": 1, "a": 2}
    matrices = [[[-1, 0], [0, 1]]] * 2  # (I - 2A)^2 = diag(9, 1)
    right = Fraction(claim.enclose(**two).lower)
    double = certificate.products_certificate(
        claim, matrices, two, 8, right, note="h = l+1: two factors, and the sum has one term."
    )
    certificate.write(double, out / "certificates", "perm.proposition-2.two-factors")
    text = (
        "one factor 1 - 1: distance 1, right side 0, as the product from l to h has h-l+1 factors; two factors "
        f"I - 2A with A = diag(-1, 1): distance 8, right side {float(right):.6g}; the stand-alone verifier agrees"
    )
    return [Evidence("certificate", "refuted", text, tightness=float(8 / right))], path
