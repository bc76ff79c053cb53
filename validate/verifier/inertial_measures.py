"""What can be computed from rounds of FedMIM that were played: the tables QUANTITIES and PARAMETERS.

The index t is a round from 0, n a client from 0, and k that of x_{n,k}: 0 to K where a distance from x_t is asked for,
0 to K-1 where a gradient at y_{n,k} is, for k counts the local steps that were taken before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from .formulas import Uncheckable
from .inertial_rounds import Instance, Play, Run, pair, product_of, slope
from .measures import constant
from .quadratic_rounds import average
from .reading import FormatError, bits

Value = Fraction | tuple[Fraction, ...]
VECTORS = ("alpha", "beta", "delta_sq")  # parameters with one entry a lag
MOST_WEIGHT_BITS = 20_000


@dataclass(frozen=True)
class Context:
    """What a quantity or a parameter is computed from."""

    run: Run
    index: Mapping[str, int]
    given: Mapping[str, Value]  # the certificate's parameters
    quantity: str

    @property
    def instance(self) -> Instance:
        return self.run.instance

    def at(self, name: str, low: int, high: int) -> int:
        """The certificate's index of that name, in low..high."""
        if name not in self.index:
            raise Uncheckable(f"needs the index {name}")
        if not low <= self.index[name] <= high:
            raise Uncheckable(f"the index {name}={self.index[name]} is outside {low}..{high}")
        return self.index[name]

    @property
    def t(self) -> int:
        return self.at("t", 0, self.instance.rounds - 1)

    @property
    def n(self) -> int:
        return self.at("n", 0, self.instance.N - 1)

    @property
    def point(self) -> int:
        """k of a gradient at y_{n,k}."""
        return self.at("k", 0, self.instance.K - 1)

    @property
    def now(self) -> Play:
        return self.run.rounds[self.t]

    @property
    def step(self) -> Fraction:
        """eta_l."""
        return constant(self.instance.step)

    def scalar(self, name: str) -> Fraction:
        """A parameter of the certificate."""
        value = self.given.get(name)
        if not isinstance(value, Fraction):
            raise Uncheckable(f"needs the parameter {name}")
        return value


def squared_gradient(c: Context, t: int) -> Fraction:
    """E||grad f(u_t)||^2."""
    gradient = slope(c.instance.curvature, c.instance.linear, c.instance.u)
    return product_of(gradient, gradient, c.run.states[t])


def cost(c: Context, t: int) -> Fraction:
    """E f(u_t)."""
    u, one, P = c.instance.u, c.instance.form(1, 0), c.run.states[t]
    return c.instance.curvature / 2 * product_of(u, u, P) - c.instance.linear * product_of(u, one, P)


def squared_increment(c: Context, t: int, lag: int = 0) -> Fraction:
    """E||delta_{t-lag}||^2."""
    return c.run.states[t][2 + lag][2 + lag]


def displaced(c: Context, n: int, k: int) -> Fraction:
    """E||x_{n,k} - x_t||^2."""
    return pair(c.now.displaced[n][k], c.run.states[c.t])


def mean_displaced(c: Context, k: int) -> Fraction:
    """The same, averaged over the clients."""
    return average([displaced(c, n, k) for n in range(c.instance.N)])


def gradient(c: Context, n: int) -> Fraction:
    """E||grad f_n(y_{n,k})||^2."""
    return pair(c.now.gradients[n][c.point], c.run.states[c.t])


def mean_gradient(c: Context) -> Fraction:
    """The same, averaged over the clients."""
    return average([gradient(c, n) for n in range(c.instance.N)])


def gradient_of_mean(c: Context) -> Fraction:
    """E||(1/N) sum_n grad f_n(y_{n,k})||^2; given the state the clients are independent."""
    P, clients = c.run.states[c.t], range(c.instance.N)
    forms = [c.now.expected[n][c.point] for n in clients]
    total = sum((gradient(c, n) - product_of(forms[n], forms[n], P) for n in clients), Fraction(0))
    whole = tuple(sum(entries, Fraction(0)) for entries in zip(*forms, strict=True))
    return (total + product_of(whole, whole, P)) / c.instance.N**2


def selected(c: Context, k: int) -> Fraction:
    """E||(1/S) sum over those who take part of grad f_n(y_{n,k})||^2."""
    return pair(c.now.selected[k], c.run.states[c.t])


def sampled(c: Context, t: int) -> Fraction:
    """E||(1/(SK)) sum over those who take part and k of g_{n,k}||^2."""
    return pair(c.run.rounds[t].sampled, c.run.states[t])


def of_output(c: Context) -> Fraction:
    """E||grad f(u_t)||^2, averaged over t < T with weights p^-t, p = 1 - mu eta lam, eta = K eta_l."""
    p = 1 - c.scalar("mu") * c.instance.K * c.step * c.scalar("lam")
    if not 0 < p < 1:
        raise Uncheckable("1 - mu eta lam is not in (0, 1)")
    if c.instance.rounds * bits(p) > MOST_WEIGHT_BITS:
        raise FormatError("the weights of the rounds are too long")
    last = c.instance.rounds - 1
    weights = [p ** (last - t) for t in range(last + 1)]
    sums = sum((w * squared_gradient(c, t) for t, w in enumerate(weights)), Fraction(0))
    return sums / sum(weights, Fraction(0))


def drift_before(c: Context) -> Fraction:
    """The mean of E||x_{n,k} - x_t||^2 over the clients; of the step before where the claim is a recursion for it."""
    K = c.instance.K
    return mean_displaced(c, c.at("k", 1, K) - 1 if c.quantity == "mean_drift" else c.at("k", 0, K))


def relation_six(instance: Instance, G: Fraction, B: Fraction) -> bool:
    """Whether (1/N) sum f_n'(x)^2 <= G^2 + B^2 f'(x)^2 at every x: a quadratic polynomial that is never negative."""
    h, b = [c.curvature for c in instance.clients], [c.linear for c in instance.clients]
    products = [(x * x, x * y, y * y) for x, y in zip(h, b, strict=True)]
    hh, hb, bb = (average(values) for values in zip(*products, strict=True))
    top = B**2 * instance.curvature**2 - hh
    middle = 2 * (hb - B**2 * instance.curvature * instance.linear)
    bottom = G**2 + B**2 * instance.linear**2 - bb
    if top == 0:
        return middle == 0 and bottom >= 0
    return top > 0 and middle**2 <= 4 * top * bottom


def polyak_lojasiewicz(instance: Instance, mu: Fraction) -> bool:
    """Whether f'(x)^2/2 >= mu (f(x) - f_*) at every x, mu > 0."""
    return mu > 0 and instance.bounded_below and (instance.curvature == 0 or mu <= instance.curvature)


QUANTITIES: dict[str, Callable[[Context], Fraction]] = {
    "min_squared_gradient": lambda c: min(squared_gradient(c, t) for t in range(c.instance.rounds)),
    "output_squared_gradient": of_output,
    "squared_gradient": lambda c: squared_gradient(c, c.t),
    "client_squared_gradient": lambda c: gradient(c, c.n),
    "mean_client_squared_gradient": mean_gradient,
    "selected_gradient_squared": lambda c: selected(c, c.point),
    "average_gradient_squared": lambda c: sampled(c, c.t),
    "client_drift": lambda c: average([mean_displaced(c, k) for k in range(1, c.instance.K + 1)]),
    "one_client_drift": lambda c: displaced(c, c.n, c.at("k", 0, c.instance.K)),
    "mean_drift": lambda c: mean_displaced(c, c.at("k", 0, c.instance.K)),
    "next_delta_squared": lambda c: squared_increment(c, c.t + 1),
    "descent": lambda c: cost(c, c.t + 1) - cost(c, c.t),
}

# name -> (how the printed value must stand to the computed one, the computation)
PARAMETERS: dict[str, tuple[str, Callable[[Context], Value]]] = {
    "alpha": ("=", lambda c: c.instance.alpha),
    "beta": ("=", lambda c: c.instance.beta),
    "delta_sq": ("=", lambda c: tuple(squared_increment(c, c.t, j) for j in range(c.instance.J))),
    "A": ("=", lambda c: c.instance.A),
    "rho": ("=", lambda c: sum(c.instance.beta, Fraction(0))),
    "J": ("=", lambda c: Fraction(c.instance.J)),
    "K": ("=", lambda c: Fraction(c.instance.K)),
    "S": ("=", lambda c: Fraction(c.instance.S)),
    "N": ("=", lambda c: Fraction(c.instance.N)),
    "T": ("=", lambda c: Fraction(c.instance.rounds)),
    "k": ("=", lambda c: Fraction(c.at("k", 1, c.instance.K))),
    "eta_l": ("=", lambda c: c.step),
    "f0_gap": ("=", lambda c: cost(c, 0) - c.instance.minimum),
    "gap": ("=", lambda c: cost(c, c.t) - c.instance.minimum),
    "next_gap": ("=", lambda c: cost(c, c.t + 1) - c.instance.minimum),
    "grad_u2": ("=", lambda c: squared_gradient(c, c.t)),
    "dtilde_sq": ("=", lambda c: c.instance.step[c.t] ** 2 * sampled(c, c.t)),
    "x_sq": ("=", lambda c: displaced(c, c.n, c.at("k", 1, c.instance.K) - 1)),
    "drift": ("=", drift_before),
    "gradients_sq": ("=", mean_gradient),
    "mean_sq": ("=", gradient_of_mean),
    "selected_sq": ("=", lambda c: average([selected(c, k) for k in range(c.instance.K)])),
    "L": (">=", lambda c: max(abs(client.curvature) for client in c.instance.clients)),
    "sigma2": (">=", lambda c: c.instance.variance),
    "C": (">=", lambda c: max(sampled(c, t) for t in range(c.instance.rounds))),
}
