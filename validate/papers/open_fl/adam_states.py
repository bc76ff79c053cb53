"""States of Adam on one client that the open-fl claims are held against: played, mid-run, and after a communication."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.exact_adam import AdamClient, AdamRule, AdamState, mean_over_samples
from sim.problems import Quadratic, from_samples
from validate.description import number, of_problem, of_step

SLOW = ((0.9, 0.5), (0.6, 0.3))  # beta1^2 > beta2, of which the paper says nothing
RUNS, STEPS = 3, 12
BETAS = ((0.9, 0.999), (0.9, 0.99), (0.5, 0.9), (0.3, 0.5), (0.0, 0.9), (0.0, 0.01), (0.2, 0.1), (0.8, 0.7))
SEED = 20250407


@dataclass(frozen=True, eq=False)
class AdamScenario:
    """States of one client, from each of which the next sample is enumerated.

    Attributes:
        name: a few words.
        client: the client and Adam's numbers.
        states: arrays (B, d); a state's own past began at h = vhat = 0.
        sigma: a bound on every sampled gradient at the points x^0..x^k of all the states.
        index: k, shape (B,).
        communicated: whether iteration k was a communication.
        in_the_ball: whether gradients are bounded by sigma on the whole ball of Theorem 3's radius.
    """

    name: str
    client: AdamClient
    states: AdamState
    sigma: float
    index: np.ndarray
    communicated: bool = False
    in_the_ball: bool = False

    exact = False
    participation = None

    @property
    def problem(self) -> Quadratic:
        """The client's problem, with this client only."""
        return self.client.problem

    def description(self) -> str:
        """What it is, for a reader."""
        rule = self.client.rule
        method = f"{of_step(rule.step)}, beta {rule.beta1:g} {rule.beta2:g}, eps={number(rule.eps)}"
        return f"adam, {of_problem(self.problem)}, {method}"

    def traits(self) -> dict[str, float]:
        """See `validate.traits`: one client by its kind, and no start that would be the minimiser or not."""
        return {"dimensions": self.problem.dim}

    def stays_finite(self) -> bool:
        """Whether all states are finite."""
        return bool(np.isfinite(self.states.x).all())

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Theorem 3's parameters; r is ||x*||, the smallest that there is."""
        client, rule = self.client, self.client.rule
        return {
            "mu": client.strong_convexity,
            "L": client.smoothness,
            "eta": rule.step,
            "beta1": rule.beta1,
            "beta2": rule.beta2,
            "eps": rule.eps,
            "sigma": self.sigma,
            "d": float(client.problem.dim),
            "r": float(np.linalg.norm(client.minimiser)),
        }

    @cached_property
    def after(self) -> AdamState:
        """The next states, arrays (B, n, d)."""
        return self.client.next_states(self.states)

    def expected(self, values: np.ndarray) -> np.ndarray:
        """E[. | state] of a function of the next state: (B, n) -> (B,)."""
        return mean_over_samples(values)

    @cached_property
    def radius(self) -> float:
        """(5) at these parameters; nan where it has no real value."""
        from theory.catalog import claim

        value = claim("open-fl/theorem-3").bound(**{n: np.array([v]) for n, v in self.parameters.items()})
        return float(np.asarray(value)[0])

    def largest_squared_gradient(self, at: str) -> float | None:
        """A bound on ||g||^2 at the iterates, or on the ball of radius (5) about 0; None where there is none."""
        if at == "iterates":
            return self.sigma**2
        if at == "everywhere" or not math.isfinite(self.radius):
            return None
        return _on_the_ball(self.client, self.radius) ** 2


def scenarios(quick: bool = False) -> Iterator[AdamScenario]:
    """States of many clients in 1 to 5 dimensions: mid-run, after communications, where (5) exists, and in the region
    in which Theorem 3 can be applied on its ball."""
    yield from played(24 if quick else 160, SEED)
    yield from contracting(8 if quick else 60, SEED + 2)
    yield from in_region(6 if quick else 24, SEED + 1)
    yield from played(4 if quick else 16, SEED + 3, SLOW)
    yield from contracting(4 if quick else 16, SEED + 4, SLOW)


def played(count: int, seed: int, betas: Sequence[tuple[float, float]] = BETAS) -> Iterator[AdamScenario]:
    """Random clients; each as a run from a fresh start, and put elsewhere by a communication."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        beta1, beta2 = betas[i % len(betas)]
        client = AdamClient(
            random_problem(rng),
            AdamRule(
                step=float(10 ** rng.uniform(-3, 0)), beta1=beta1, beta2=beta2, eps=float(10 ** rng.uniform(-4, 2))
            ),
        )
        client = _shorter(client)
        start = client.minimiser + rng.normal(size=(RUNS, client.problem.dim)) * 10 ** rng.uniform(-2, 1)
        run = client.play(start, STEPS, seed=seed + i)
        yield _scenario(f"Adam {i}", client, run)
        moved = run.moved_to(run.x + rng.normal(size=run.x.shape) * 10 ** rng.uniform(-3, 0.5))
        yield _scenario(f"Adam {i}, after a communication", client, moved, communicated=True)


def contracting(count: int, seed: int, betas: Sequence[tuple[float, float]] = BETAS) -> Iterator[AdamScenario]:
    """Clients with 1 - kappa C1 > 0 and 0 <= C1 < 1, so that (5) exists; gradients are bounded along the run only.

    eps is large beside sigma^2, and s = sqrt(eps + sigma^2) <= 2/(kappa tau), which eta <= 1/L asks for.
    """
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        beta1, beta2 = betas[int(rng.integers(len(betas)))]
        problem = random_problem(rng, decades=float(rng.choice([0.0, 0.05, 0.3])))
        plain = AdamClient(problem, AdamRule(1.0, beta1, beta2, 1.0))
        mu, kappa = plain.strong_convexity, plain.smoothness / plain.strong_convexity
        tau = 1 - float(rng.uniform()) / kappa  # between (kappa-1)/kappa and 1
        start = plain.minimiser + rng.normal(size=(RUNS, problem.dim)) * 10 ** rng.uniform(-2, 1)
        sigma = 1.05 * plain.largest_gradient(np.vstack([start, plain.minimiser[None]]))
        theta = float(rng.uniform(0.05, 0.95))
        shrink = min(1.0, 2 / (kappa * tau) / (sigma / math.sqrt(1 - theta)))  # f times this keeps eta <= 1/L
        client = AdamClient(
            from_samples([list(shrink * problem.hessian[0])], [list(shrink * problem.linear[0])]),
            AdamRule(
                step=tau * sigma / math.sqrt(1 - theta) / (2 * mu),
                beta1=beta1,
                beta2=beta2,
                eps=(shrink * sigma) ** 2 * theta / (1 - theta),
            ),
        )
        scenario = _scenario(f"Adam {made}, contracting", client, client.play(start, STEPS, seed=seed + made))
        if math.isfinite(scenario.radius):
            yield scenario
            made += 1


def in_region(count: int, seed: int) -> Iterator[AdamScenario]:
    """Clients at which Theorem 3 can be applied, and all sampled gradients are at most sigma on its ball.

    The ball is B(0, R) with R of (5) at that sigma, and the states are of runs that begin in it and stay in it.
    """
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        found = _feasible_client(rng, mu=(1.0, 0.25, 4.0)[made % 3])
        if found is None:
            continue
        client, sigma, radius = found
        runs = client.play(_in_ball(rng, 8 * RUNS, client.problem.dim, radius), STEPS, seed=seed + made)
        inside = (np.linalg.norm(runs.x, axis=-1) <= radius).all(axis=1)
        if not inside.any():
            continue
        yield _scenario(f"Adam {made}, in the region", client, runs.at(inside), sigma=sigma, in_the_ball=True)
        made += 1


def random_problem(rng: np.random.Generator, decades: float = 2.0) -> Quadratic:
    """One client with 1 to 4 samples in 1 to 5 dimensions; f is strongly convex, single samples need not be convex.

    The curvatures of f spread over that many decades about 1.
    """
    dim, samples = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    hessian = turn @ np.diag(10 ** (decades * rng.uniform(-0.5, 0.5, dim))) @ turn.T
    spread = rng.normal(size=(samples, dim, dim)) * rng.choice([0.0, 0.3])
    spread = (spread + spread.transpose(0, 2, 1)) / 2
    linears = rng.normal(size=(samples, dim)) * 10 ** rng.uniform(-1, 1)
    return from_samples([[(m + m.T) / 2 for m in hessian + spread - spread.mean(axis=0)]], [list(linears)])


def _shorter(client: AdamClient) -> AdamClient:
    """The client with its step brought down to 1/L."""
    rule = client.rule
    step = min(rule.step, (1 - 1e-12) / client.smoothness)
    return AdamClient(client.problem, AdamRule(step, rule.beta1, rule.beta2, rule.eps))


def _scenario(
    name: str, client: AdamClient, runs: AdamState, *, sigma: float | None = None, **more: bool
) -> AdamScenario:
    """The states of runs (R, K+1, d) from k = 1 on, flat; k = 0 has no x^{-1}."""
    least = max(client.largest_gradient(runs.x), client.largest_gradient(runs.previous))
    index = np.broadcast_to(np.arange(runs.x.shape[1]), runs.x.shape[:2])[:, 1:].reshape(-1)
    dim = runs.x.shape[-1]
    flat = AdamState(*(getattr(runs, f)[:, 1:].reshape(-1, dim) for f in ("x", "h", "vhat", "previous")))
    return AdamScenario(name, client, flat, least if sigma is None else sigma, index, **more)


def _in_ball(rng: np.random.Generator, count: int, dim: int, radius: float) -> np.ndarray:
    """Points of B(0, radius), (count, dim); a third of them on its sphere."""
    points = rng.normal(size=(count, dim))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    lengths = np.where(np.arange(count) % 3 == 0, 1.0, rng.uniform(size=count) ** (1 / dim))
    return points * (radius * lengths)[:, None]


def _on_the_ball(client: AdamClient, radius: float) -> float:
    """max over the samples of ||H_i|| R + ||b_i||, which bounds every sampled gradient on B(0, R)."""
    hessians, linears = client.problem.hessian[0], client.problem.linear[0]
    return float((np.linalg.norm(hessians, 2, axis=(1, 2)) * radius + np.linalg.norm(linears, axis=1)).max())


def _feasible_client(rng: np.random.Generator, mu: float) -> tuple[AdamClient, float, float] | None:
    """A client of strong convexity mu, sigma, and the radius at that sigma, or None if this draw has none.

    All is scaled by s = sqrt(eps + sigma^2) <= 2/(kappa tau), which eta <= 1/L asks for.
    """
    from theory.stability.adam_region import largest_condition_number, required_ratio

    dim = int(rng.integers(1, 4))
    beta1 = float(rng.choice([0.0, 0.0, rng.uniform(0, 0.3)]))
    beta2 = float(beta1**2 + (1 - beta1**2) * rng.uniform(0.02, 0.9))
    top = float(largest_condition_number(beta1, beta2, dim))
    kappa = 1.0 if dim == 1 else 1 + 0.5 * float(rng.uniform()) * (top - 1)
    tau, theta = float(10 ** rng.uniform(-2.5, 0)), float(rng.uniform(0.3, 0.98))
    if not required_ratio(kappa, beta1, beta2, dim, tau, theta) < 0.9:
        return None
    size = float(rng.uniform(0.1, 1.0)) * 2 / (kappa * tau)
    sigma, eps = size * math.sqrt(1 - theta), size**2 * theta
    rule = AdamRule(step=tau * size / (2 * mu), beta1=beta1, beta2=beta2, eps=eps)
    turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    curvatures = np.linspace(mu, kappa * mu, dim)
    hessian = turn @ np.diag(curvatures) @ turn.T
    hessian = (hessian + hessian.T) / 2
    noise, centre = rng.normal(size=dim), rng.normal(size=dim)
    share = float(rng.uniform(0.2, 1.0))
    for shrink in (1.0, 0.5, 0.1, 0.01, 0.0):
        # two samples, whose gradients differ by a constant; noise and ||x*|| as large as the ball leaves room for
        away = shrink * share * sigma * noise / np.linalg.norm(noise)
        aim = hessian @ (shrink * 0.1 * sigma * centre / np.linalg.norm(centre))
        client = AdamClient(from_samples([[hessian, hessian]], [[aim + away, aim - away]]), rule)
        trial = AdamScenario("", client, client.start(np.zeros((1, dim))), sigma, np.zeros(1, dtype=int))
        if math.isfinite(trial.radius) and _on_the_ball(client, trial.radius) <= sigma:
            return client, sigma, trial.radius
    return None
