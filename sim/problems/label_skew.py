"""Synthetic classification whose clients hold the classes in different proportions: label skew of a prescribed size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import integer, real
from sim.problems.softmax import RidgeSoftmax

Array = NDArray[Any]

# What is drawn, each from a stream of its own: nothing else changes when one of them does.
_MEANS, _LABELS, _FEATURES, _TEST = range(4)


def dirichlet_label_skew(
    clients: int,
    samples: int,
    classes: int,
    inputs: int,
    concentration: float | None,
    ridge: float,
    seed: int,
    *,
    separation: float = 3.0,
    decay: float = 0.0,
) -> RidgeSoftmax:
    """Softmax regression on clients whose class proportions are Dirichlet.

    Client n draws its proportions q_n from the symmetric Dirichlet distribution with the given concentration, and then
    its n labels independently from q_n. A sample of class c has the features S^(1/2) (m_c + z) and a last one, which is
    1 (the intercept), with z standard normal and S = diag(k^-decay), k = 1..inputs. The class means m_c are normal,
    moved to the centre 0, and scaled so that the root mean square of ||m_c - m_e|| over pairs of classes is
    `separation`: a distance in standard deviations, whatever S is.

    Source: Hsu, Qi, Brown, "Measuring the Effects of Non-Identical Data Distribution for Federated Visual
    Classification" (2019), for the proportions; here every client draws its own samples instead of taking them out of
    one pool, so that all have the same number.

    Args:
        clients: N >= 1.
        samples: n >= 1, of each client.
        classes: C >= 2.
        inputs: random features, >= 1; the problem has one more.
        concentration: in (0, inf), small for a strong skew; None for equal proportions (the limit of large ones).
        ridge: in (0, inf).
        seed: non-negative integer; the data are a function of the arguments (PCG64). The class means do not depend on
            `clients`, `samples`, `concentration` and `ridge`, and z not on the labels.
        separation: in (0, inf).
        decay: of the variances.

    Raises:
        ValueError: an argument outside its domain.
    """
    clients, samples = integer("clients", clients, 1), integer("samples", samples, 1)
    means, spread = _classes(classes, inputs, seed, separation, decay)
    random = _stream(seed, _LABELS)
    if concentration is None:
        proportions = np.full((clients, len(means)), 1 / len(means))
    else:
        proportions = _dirichlet(random, _positive("concentration", concentration), clients, len(means))
    ends = np.cumsum(proportions, axis=1)[:, None, :-1]
    labels = np.sum(random.random((clients, samples, 1)) >= ends, axis=2)
    noise = _stream(seed, _FEATURES).standard_normal((clients, samples, inputs))
    return RidgeSoftmax(_features(means, spread, labels, noise), labels, len(means), ridge)


def balanced_test_set(
    samples: int,
    classes: int,
    inputs: int,
    ridge: float,
    seed: int,
    *,
    separation: float = 3.0,
    decay: float = 0.0,
) -> RidgeSoftmax:
    """New samples of the classes of `dirichlet_label_skew`, equally many of each, as one client.

    Args:
        samples: of each class, >= 1; in the order of the classes.
        classes, inputs, ridge, seed, separation, decay: as given there.

    Raises:
        ValueError: an argument outside its domain.
    """
    samples = integer("samples", samples, 1)
    means, spread = _classes(classes, inputs, seed, separation, decay)
    labels = np.repeat(np.arange(len(means)), samples)[None, :]
    noise = _stream(seed, _TEST).standard_normal((1, labels.size, inputs))
    return RidgeSoftmax(_features(means, spread, labels, noise), labels, len(means), ridge)


def _classes(classes: int, inputs: int, seed: int, separation: float, decay: float) -> tuple[Array, Array]:
    """The class means m_c (C, inputs), in standard deviations, and the standard deviations (inputs,)."""
    classes, inputs = integer("classes", classes, 2), integer("inputs", inputs, 1)
    distance = _positive("separation", separation)
    spread = np.arange(1.0, inputs + 1) ** (-real("decay", decay, "(-inf, inf)") / 2)
    means = _stream(seed, _MEANS).standard_normal((classes, inputs))
    means -= means.mean(axis=0)
    # the mean of ||m_c - m_e||^2 over pairs c != e is 2/(C-1) sum ||m_c||^2, the m_c being centred
    means *= distance / np.sqrt(2 * np.sum(means**2) / (classes - 1))
    return means, spread


def _features(means: Array, spread: Array, labels: Array, noise: Array) -> Array:
    """(N, n, inputs + 1)."""
    values = spread * (means[labels] + noise)
    return np.concatenate([values, np.ones((*labels.shape, 1))], axis=2)


def _dirichlet(random: np.random.Generator, concentration: float, clients: int, classes: int) -> Array:
    """(N, C), also where the concentration is so small that every gamma variable behind it underflows.

    Gamma(a) is Gamma(a + 1) U^(1/a): a times its logarithm is always finite.
    """
    logs = concentration * np.log(random.standard_gamma(concentration + 1, (clients, classes)))
    logs += np.log1p(-random.random((clients, classes)))
    with np.errstate(over="ignore"):
        powers = np.exp((logs - logs.max(axis=1, keepdims=True)) / concentration)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _stream(seed: int, purpose: int) -> np.random.Generator:
    sequence = np.random.SeedSequence(integer("seed", seed, 0), spawn_key=(purpose,))
    return np.random.Generator(np.random.PCG64(sequence))


def _positive(name: str, value: Any) -> float:
    number = real(name, value, "(0, inf)")
    if number <= 0:
        raise ValueError(f"{name}={value} is outside (0, inf)")
    return number
