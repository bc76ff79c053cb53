"""Instances on which lines about Adam fail, most at the local step after a communication, and their certificates.

Two clients without noise in one dimension, f_i(x) = h_i/2 (x - a_i)^2. Lemma 5: both walk left from 0, client 0
towards its minimiser -1, client 1 faster; when the server selects client 1 alone, client 0 finds itself near its
minimiser, with the momentum of gradients that it no longer has. Then c A^{k-1} < 0, of the order of eta, leaves the
Lyapunov function, and C2, of the order of eta^2, does not make up for it. (22): an average between two clients moves
x^k by less than the step that h^k would take, so that ||x^k - x^{k-1}||^2 is too small.

(25) and (26) are true for beta1^2 < beta2; with beta1^2 > beta2 their bound on the squared step is negative, and a
local step without a communication breaks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import numpy as np

from sim.exact_adam import AdamClient, AdamRule, AdamState
from sim.problems import scalar
from theory.claim import Claim
from validate.verdict import Evidence


@dataclass(frozen=True)
class Instance:
    """Clients that start together, take local steps, and are given the average of some of them.

    Attributes:
        eta, beta1, beta2, eps: of Adam.
        curvatures, minimisers: h_i and a_i.
        local_steps: before the communication; the start is 0.
        selected: clients that are averaged; nobody where there is no communication.
        client: at which the claim is tested.
        sigma: a bound on every client's gradients where it goes.
    """

    eta: Fraction
    beta1: Fraction
    beta2: Fraction
    eps: Fraction
    curvatures: tuple[Fraction, ...]
    minimisers: tuple[Fraction, ...]
    local_steps: int
    selected: tuple[int, ...]
    sigma: Fraction
    client: int = 0

    @property
    def parameters(self) -> dict[str, Fraction]:
        """Those of Theorem 3, exact."""
        return {
            "mu": min(self.curvatures),
            "L": max(self.curvatures),
            "eta": self.eta,
            "beta1": self.beta1,
            "beta2": self.beta2,
            "eps": self.eps,
            "sigma": self.sigma,
            "d": Fraction(1),
        }

    @property
    def weights(self) -> dict[str, Fraction]:
        """b and c of (13), exact."""
        return {
            "b": self.eta * self.sigma**2 / (1 - self.beta1),
            "c": self.eta * self.beta1 / (1 - self.beta1),
        }


_SLOW = Instance(  # C1 = 1 - 1/sqrt(5) and C2 > 0, as Lemma 5 says
    eta=Fraction(1, 2),
    beta1=Fraction(9, 10),
    beta2=Fraction(1, 10),
    eps=Fraction(4),
    curvatures=(Fraction(1),),
    minimisers=(Fraction(-1),),
    local_steps=1,
    selected=(),
    sigma=Fraction(1),
)
INSTANCES: Mapping[str, Instance] = MappingProxyType(
    {
        "eq25": _SLOW,
        "eq26": _SLOW,
        "lemma-5/after-communication": Instance(
            eta=Fraction(1, 40),
            beta1=Fraction(3, 10),
            beta2=Fraction(3, 10),
            eps=Fraction(4),
            curvatures=(Fraction(1), Fraction(1, 10)),
            minimisers=(Fraction(-1), Fraction(-50)),
            local_steps=48,
            selected=(1,),
            sigma=Fraction(5),
        ),
        "eq22/after-communication": Instance(
            eta=Fraction(1, 2),
            beta1=Fraction(1, 2),
            beta2=Fraction(1, 2),
            eps=Fraction(1),
            curvatures=(Fraction(1), Fraction(1)),
            minimisers=(Fraction(-1), Fraction(-2)),
            local_steps=1,
            selected=(0, 1),
            sigma=Fraction(2),
        ),
    }
)


@dataclass(frozen=True)
class Played:
    """Both sides in floats, with the numbers behind them.

    Attributes:
        left, right: of the claim.
        values: the names that the claim's right side uses and the run gives values to.
        largest_gradient: of any client where it goes.
    """

    left: float
    right: float
    values: Mapping[str, float]
    largest_gradient: float


def play(claim: Claim, instance: Instance) -> Played:
    """Play the instance by `sim.exact_adam` and measure both sides of the claim."""
    rule = AdamRule(*(float(x) for x in (instance.eta, instance.beta1, instance.beta2, instance.eps)))
    clients = [
        AdamClient(scalar([[float(h)]], [[float(a)]]), rule)
        for h, a in zip(instance.curvatures, instance.minimisers, strict=True)
    ]
    runs = [client.play([0.0], instance.local_steps) for client in clients]
    tested = clients[instance.client]
    now = runs[instance.client].at(0, -1)
    everybody: list[np.ndarray] = []  # what all clients get
    if instance.selected:
        everybody.append(np.mean([runs[i].x[0, -1] for i in instance.selected], axis=0))
        now = now.moved_to(everybody[0])
    after = tested.next_states(now).at(0)
    pairs = zip(clients, runs, strict=True)
    visited = [client.largest_gradient(np.vstack([run.x[0], *everybody])) for client, run in pairs]
    values = _values(tested, now, after, float(instance.sigma))
    left = values.pop(claim.quantity.name)
    given = {name: float(value) for name, value in instance.parameters.items()} | values
    right = claim.bound(**{p.name: given[p.name] for p in claim.parameters})
    return Played(left, float(right), values, max(*visited, tested.largest_gradient(after.x)))


def _values(client: AdamClient, now: AdamState, after: AdamState, sigma: float) -> dict[str, float]:
    rule = client.rule
    b, c = rule.step * sigma**2 / (1 - rule.beta1), rule.step * rule.beta1 / (1 - rule.beta1)
    lyapunov, lyapunov_next = (float(client.lyapunov(state, b, c)) for state in (now, after))
    return {
        "b": b,
        "c": c,
        "lyapunov": lyapunov,
        "lyapunov_next": lyapunov_next,
        "lyapunov_increase": lyapunov_next - lyapunov,
        "weighted_gradient": float(client.weighted_gradient(now)),
        "inverse_root_drop": float(client.inverse_roots(now) - client.inverse_roots(after)),
        "A_previous": float(client.descent(now)),
        "I1": float(client.parts(now)[0]),
        "squared_step": float(((now.x - now.previous) ** 2).sum()),
    }


def certificate(claim: Claim) -> dict[str, object]:
    """The certificate of the claim's instance, of kind ``"open-adam"``.

    Raises:
        ValueError: when there is no instance for the claim.
    """
    from validate.certificate import open_adam_certificate

    instance = INSTANCES.get(claim.label)
    if instance is None:
        raise ValueError(f"claim={claim.id!r} is none of {sorted(INSTANCES)}")
    found, own = play(claim, instance), {p.name for p in claim.parameters}
    pairs = zip(instance.curvatures, instance.minimisers, strict=True)
    return open_adam_certificate(
        claim,
        {name: instance.parameters[name] for name in ("eta", "beta1", "beta2", "eps")},
        [{"h": h, "a": a} for h, a in pairs],
        0,
        instance.local_steps,
        instance.selected,
        instance.client,
        instance.parameters | {name: value for name, value in instance.weights.items() if name in own},
        found.left,
        found.right,
        silent=True,  # of a reading: a printed claim has none
    )


def refutation(claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
    """The certificate, written where the stand-alone verifier accepts it; else a break without one."""
    from validate.certificate import write

    instance, found = INSTANCES[claim.label], play(claim, INSTANCES[claim.label])
    count, steps = len(instance.curvatures), instance.local_steps
    detail = (
        f"{count} client{'s' * (count > 1)} without noise, {steps} local step{'s' * (steps > 1)} from 0"
        + (f", the server averages the clients {', '.join(map(str, instance.selected))}" if instance.selected else "")
        + (f", beta1={instance.beta1}, beta2={instance.beta2}" if not instance.selected else "")
        + f": at the next local step of client {instance.client} the left side is {found.left:.8g}, the right side "
        f"{found.right:.8g}"
    )
    data = {"left": f"{found.left:.12g}", "right": f"{found.right:.12g}"}
    try:
        path = write(certificate(claim), out / "certificates")
    except ValueError as error:
        return [Evidence("exact", "fails", f"{detail}; no certificate: {error}", data=data)], None
    ratio = found.left / found.right if found.right > 0 else None
    return [
        Evidence("certificate", "refuted", f"{detail}; the stand-alone verifier agrees", tightness=ratio, data=data)
    ], path
