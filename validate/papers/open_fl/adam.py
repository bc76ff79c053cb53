"""How open-fl's claims about Adam are measured: on states of one client, by enumerating the next sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from theory.claim import Claim
from validate.bounds import Cases
from validate.papers.open_fl import adam_states
from validate.papers.open_fl.adam_special import special_evidence
from validate.papers.open_fl.adam_states import AdamScenario
from validate.verdict import Evidence


def scenarios(quick: bool = False) -> Iterator[AdamScenario]:
    """States of Adam; see `adam_states.scenarios`."""
    yield from adam_states.scenarios(quick)


def special(claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
    """Evidence that is particular to a claim, and the path of a certificate when it refutes the claim."""
    return special_evidence(claim, out)


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on the states of a scenario, or None when it does not speak of them."""
    label = claim.label.removesuffix("/with-moment-factors")
    measure = _MEASURES.get(label)
    if measure is None or not isinstance(scenario, AdamScenario):
        return None
    if scenario.communicated and label not in _ANYWHERE:
        return None
    if not scenario.communicated and claim.label.endswith("/after-communication"):
        return None
    return measure(_Measured(claim, scenario))


class _Measured:
    """One scenario's numbers, under the names that the claims use; arrays (B,)."""

    def __init__(self, claim: Claim, scenario: AdamScenario) -> None:
        self.claim, self.scenario = claim, scenario
        self.client, self.state, self.after = scenario.client, scenario.states, scenario.after
        self.given: dict[str, Any] = dict(scenario.parameters)
        eta, beta1, sigma = (self.given[name] for name in ("eta", "beta1", "sigma"))
        self.b, self.c = eta * sigma**2 / (1 - beta1), eta * beta1 / (1 - beta1)

    def mean(self, values: np.ndarray) -> np.ndarray:
        return self.scenario.expected(values)

    # what the claims speak of

    @property
    def squared_distance(self) -> np.ndarray:
        return _square(self.state.x - self.client.minimiser)

    @property
    def next_squared_distance(self) -> np.ndarray:
        return self.mean(_square(self.after.x - self.client.minimiser))

    @property
    def next_squared_norm(self) -> np.ndarray:
        return self.mean(_square(self.after.x))

    @property
    def lyapunov(self) -> np.ndarray:
        return self.client.lyapunov(self.state, self.b, self.c)

    @property
    def lyapunov_next(self) -> np.ndarray:
        return self.mean(self.client.lyapunov(self.after, self.b, self.c))

    @property
    def A_previous(self) -> np.ndarray:
        return self.client.descent(self.state)

    @property
    def expected_descent(self) -> np.ndarray:
        return self.mean(self.client.descent(self.after))

    @property
    def squared_step(self) -> np.ndarray:
        return _square(self.state.x - self.state.previous)

    @property
    def weighted_gradient(self) -> np.ndarray:
        return self.client.weighted_gradient(self.state)

    @property
    def inverse_root_drop(self) -> np.ndarray:
        drop = self.client.inverse_roots(self.state) - self.mean(self.client.inverse_roots(self.after))
        return np.maximum(drop, 0)

    def parts(self) -> dict[str, np.ndarray]:
        return dict(zip(("I1", "I2", "I3"), self.client.parts(self.state), strict=True))

    def cases(self, left: np.ndarray, *names: str, keep: np.ndarray | None = None, **more: Any) -> Cases | None:
        """The cases that `keep` leaves; `names` are properties of this class, or parameters of Theorem 3."""
        kept = np.ones(len(left), dtype=bool) if keep is None else keep
        if not kept.any():
            return None
        values = {n: self.given[n] if n in self.given else getattr(self, n) for n in names} | more
        parameters = {n: v[kept] if np.ndim(v) else v for n, v in values.items()}
        return Cases(left[kept], parameters, {"k": self.scenario.index[kept]})

    def of_claim(self, left: np.ndarray, **more: Any) -> Cases | None:
        """The cases of all states, with every parameter of the claim."""
        return self.cases(left, *(p.name for p in self.claim.parameters if p.name not in more), **more)


def _square(vectors: np.ndarray) -> np.ndarray:
    return np.asarray((vectors * vectors).sum(axis=-1))


def _theorem(m: _Measured) -> Cases | None:
    """States in the ball of the claim's own radius."""
    parameters = {p.name: m.given[p.name] for p in m.claim.parameters}
    radius = float(np.asarray(m.claim.bound(**{n: np.array([v]) for n, v in parameters.items()}))[0])
    if not np.isfinite(radius) or (m.claim.label.endswith("on-the-ball") and not m.scenario.in_the_ball):
        return None
    inside = _square(m.state.x) <= radius**2
    return m.cases(np.sqrt(m.next_squared_norm), *parameters, keep=inside)


def _sufficient(m: _Measured) -> Cases | None:
    """R = (5), and 3/2 of it, where (17) holds; states in B(0, R)."""
    from theory.catalog import claim as find

    terms = find("open-fl/theorem-3").terms(**{n: np.array([v]) for n, v in m.given.items()})
    values = {n: float(np.asarray(v)[0]) for n, v in terms.items()}
    if not (values["one_minus_kappa_C1"] > 0 and 0 <= values["C1"] < 1 and m.given["beta1"] ** 2 < m.given["beta2"]):
        return None
    offset = 2 / m.given["mu"] * (values["C2"] + values["C3"] + values["C1"] * values["C4"])
    radius = m.scenario.radius
    # the condition holds with equality at (5), so rounding has to be left room
    for factor in (1 + 1e-9, 1.5):
        inside = _square(m.state.x) <= (factor * radius) ** 2
        found = m.cases(
            m.next_squared_norm,
            "r",
            keep=inside,
            kappa=values["kappa"],
            C1=values["C1"],
            offset=offset,
            R=factor * radius,
        )
        if found is not None:
            return found
    return None


def _every_sample(m: _Measured) -> Cases:
    """(20) for each sample; the cost's increase without cancellation, f(y)-f(x) = <(grad f(x) + grad f(y))/2, y-x>."""
    apart = m.after.x - m.state.x[:, None, :]
    middle = (m.client.gradient(m.state.x)[:, None, :] + m.client.gradient(m.after.x)) / 2
    index = np.broadcast_to(m.scenario.index[:, None], apart.shape[:2])
    parameters = {
        "L": m.given["L"],
        "eta": m.given["eta"],
        "next_squared_step": _square(apart).reshape(-1),
        "expected_descent": m.client.descent(m.after).reshape(-1),
    }
    return Cases((middle * apart).sum(axis=-1).reshape(-1), parameters, {"k": index.reshape(-1)})


def _step_length(m: _Measured) -> Cases:
    """For each sample."""
    squares = _square(m.after.x - m.state.x[:, None, :])
    index = np.broadcast_to(m.scenario.index[:, None], squares.shape)
    parameters = {p.name: m.given[p.name] for p in m.claim.parameters}
    return Cases(squares.reshape(-1), parameters, {"k": index.reshape(-1)})


def _increase(m: _Measured) -> Cases | None:
    """(25) for the paper's b and c, and for others of the same units."""
    found = []
    for b, c in ((m.b, m.c), (0.0, 2 * m.given["eta"]), (3 * m.b, 0.0)):
        before, after = m.client.lyapunov(m.state, b, c), m.client.lyapunov(m.after, b, c)
        # Differences, as both sides are small beside the Lyapunov function itself.
        found.append(m.of_claim(m.mean(after - before[:, None]), b=b, c=c))
    kept = [one for one in found if one is not None]
    sizes = [len(one) for one in kept]
    parameters = {
        name: np.concatenate(
            [np.broadcast_to(one.parameters[name], (size,)) for one, size in zip(kept, sizes, strict=True)]
        )
        for name in kept[0].parameters
    }
    index = {"k": np.concatenate([one.index["k"] for one in kept])}
    return Cases(np.concatenate([one.left for one in kept]), parameters, index)


Measure = Callable[[_Measured], "Cases | None"]
_LEMMA: Measure = lambda m: m.of_claim(m.lyapunov_next)  # noqa: E731

_MEASURES: dict[str, Measure] = {
    "theorem-3": _theorem,
    "theorem-3/on-the-ball": _theorem,
    "theorem-3/corrected": _theorem,
    "lemma-5": _LEMMA,
    "lemma-5/after-communication": _LEMMA,
    "eq15": lambda m: m.of_claim(m.squared_distance),
    "eq16": lambda m: m.of_claim(m.squared_distance),
    "eq17": lambda m: m.of_claim(m.next_squared_distance),
    "eq18": _sufficient,
    "eq20": _every_sample,
    "eq21": lambda m: m.cases(m.expected_descent, **m.parts()),
    "eq22": lambda m: m.of_claim(m.parts()["I1"]),
    "eq22/after-communication": lambda m: m.of_claim(m.parts()["I1"]),
    "eq23": lambda m: m.of_claim(m.parts()["I2"]),
    "eq24": lambda m: m.of_claim(m.parts()["I3"]),
    "eq25/step-length": _step_length,
    "eq25": _increase,
    "eq26": _LEMMA,
}
# Claims that speak of the step after a communication as well, or only of it.
_ANYWHERE = frozenset(
    {
        "theorem-3/corrected",
        "lemma-5/after-communication",
        "eq22/after-communication",
        "eq15",
        "eq16",
        "eq20",
        "eq21",
        "eq23",
        "eq24",
    }
)
