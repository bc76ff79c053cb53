"""The set W of claims about local SGD on a bounded domain: the smallest interval in which the run takes place.

W is spanned by the start, the minimiser of f, and every point that a client's local iterate can reach. So nothing is
ever projected, and W does not bind at the minimiser. What is bounded on W is bounded at all iterates, and conversely.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .formulas import Uncheckable
from .quadratic_rounds import Client, Instance, average
from .reading import FormatError, bits

MAX_POINT_BITS = 20_000

Ends = tuple[Fraction, Fraction]


def minimiser(instance: Instance) -> Fraction:
    """Of f."""
    if instance.curvature <= 0:
        raise Uncheckable("f has no unique minimiser")
    return instance.linear / instance.curvature


def everybody(instance: Instance) -> None:
    """Refuses what is not local SGD of all clients in every round."""
    if instance.algorithm != "local-sgd" or any(p != 1 for client in instance.clients for p in client.p):
        raise Uncheckable("it is defined for local SGD in which everybody takes part")


def domain(instance: Instance) -> Ends:
    """W. A step is an affine map of w for each sample, so the ends of what is reached come from ends."""
    everybody(instance)
    best = minimiser(instance)
    now = (instance.theta0, instance.theta0)
    seen = [instance.theta0, best]
    for step in instance.step:
        arrived = []
        for client in instance.clients:
            ends = now
            for _ in range(instance.M):
                pairs = zip(client.h, client.a, strict=True)
                points = [w - step * h * (w - a) for h, a in pairs for w in ends]
                ends = (min(points), max(points))
                if max(map(bits, ends)) > MAX_POINT_BITS:
                    raise FormatError("the instance's fractions grow too long to be checked")
                seen += ends
            arrived.append(ends)
        now = (average([low for low, _ in arrived]), average([high for _, high in arrived]))
        seen += now
    return min(seen), max(seen)


def variance(client: Client, w: Fraction) -> Fraction:
    """Of the gradient of a sample at w."""
    gradients = [h * (w - a) for h, a in zip(client.h, client.a, strict=True)]
    middle = average(gradients)
    return average([(g - middle) ** 2 for g in gradients])


def largest_variance(instance: Instance) -> Fraction:
    """On W, over all clients; a convex function of w, so it is largest at an end."""
    return max(variance(client, w) for w in domain(instance) for client in instance.clients)


def largest_dissimilarity(instance: Instance) -> Fraction:
    """The supremum over W of max_n (f_n' - f')^2; at an end, likewise."""

    def apart(client: Client, w: Fraction) -> Fraction:
        return (client.curvature * w - client.linear) - (instance.curvature * w - instance.linear)

    return max(apart(client, w) ** 2 for w in domain(instance) for client in instance.clients)


def copies(clients: Sequence[Client]) -> bool:
    """Whether all clients have the same samples, so that one step of everybody is one step on a mini-batch."""
    first = sorted(zip(clients[0].h, clients[0].a, strict=True))
    return all(sorted(zip(client.h, client.a, strict=True)) == first for client in clients)
