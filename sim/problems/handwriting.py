"""scikit-learn's small images of handwritten digits as a federated softmax regression."""

from __future__ import annotations

import numpy as np

from sim.arguments import integer
from sim.problems.softmax import RidgeSoftmax

IMAGES = 1797
CLASSES = 10


def digits(clients: int, samples: int, ridge: float, seed: int) -> RidgeSoftmax:
    """Ten classes, 64 features: images of 8 x 8 pixels with grey values in [0, 1], without an intercept.

    The images come with scikit-learn (extra `data`; the test part of "Optical Recognition of Handwritten Digits" of the
    UCI repository): 1797 of them. They are dealt at random: every client has different images as long as
    clients*samples <= 1797; where more are needed, each sample is an image drawn uniformly with replacement.

    Args:
        clients: N >= 1.
        samples: n >= 1, of each client.
        ridge: lambda in (0, inf).
        seed: non-negative integer; the problem is a function of the arguments (PCG64).

    Raises:
        ValueError: an argument outside its domain.
        ImportError: when scikit-learn is not installed.
    """
    clients, samples = integer("clients", clients, 1), integer("samples", samples, 1)
    random = np.random.Generator(np.random.PCG64(integer("seed", seed, 0)))
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    if images.shape != (IMAGES, 64):
        raise ValueError(f"scikit-learn's digits have shape {images.shape}, not {(IMAGES, 64)}")
    wanted = clients * samples
    chosen = random.permutation(IMAGES)[:wanted] if wanted <= IMAGES else random.integers(0, IMAGES, wanted)
    return RidgeSoftmax(
        (images[chosen] / 16).reshape(clients, samples, 64), labels[chosen].reshape(clients, samples), CLASSES, ridge
    )
