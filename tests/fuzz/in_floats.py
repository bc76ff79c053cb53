"""Certificates whose left sides are confirmed in floats: products of matrices, and Adam."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from tests.fuzz.recomputed import CLOSE, balls, ends, is_rounded, numbers
from tests.fuzz.statements import Certificate

F = Fraction


def products(c: Certificate) -> bool:
    """The distance of the products in floats."""
    given, names = numbers(c["parameters"]), ("A", "B")
    one = np.eye(len(c["A"][0]))
    factors = {}
    for name, step in zip(names, ("a", "b"), strict=True):
        matrices = [np.array([[float(F(v)) for v in row] for row in matrix]) for matrix in c[name]]
        assert all(np.abs(np.linalg.eigvalsh(m)).max() <= float(given["L"]) * (1 + CLOSE) for m in matrices)
        whole = one
        for matrix in matrices:
            whole = whole @ (one - float(given[step]) * matrix)
        factors[name] = whole
    left = np.linalg.norm(factors["A"] - factors["B"], 2)
    right = ends(balls(c["right"], given, c.get("definitions")))
    assert left > float(right[0]) * (1 - CLOSE)
    return True


def adam(c: Certificate) -> bool:
    """The run in floats, with the left side as printed to nine digits."""
    eta, beta1, beta2, eps = (float(F(c["algorithm"][name])) for name in ("eta", "beta1", "beta2", "eps"))
    h, a = ([float(F(client[name])) for client in c["clients"]] for name in ("h", "a"))
    sigma, n = float(F(c["parameters"]["sigma"])), int(c["client"])
    x, m, v = [float(F(c["start"]))] * len(h), [0.0] * len(h), [0.0] * len(h)

    def walk(i: int) -> None:
        g = h[i] * (x[i] - a[i])
        assert abs(g) <= sigma * (1 + CLOSE)
        m[i] = beta1 * m[i] + (1 - beta1) * g
        v[i] = max(v[i], beta2 * v[i] + (1 - beta2) * g * g)
        x[i] -= eta * m[i] / (eps + v[i]) ** 0.5

    for _, i in product(range(int(c["local_steps"])), range(len(h))):
        walk(i)
    before = x[n]
    chosen = [int(i) for i in c["selected"]]
    now = sum(x[i] for i in chosen) / len(chosen)
    b, momentum = eta * sigma**2 / (1 - beta1), eta * beta1 / (1 - beta1)

    def energy(at: float, previous: float) -> float:
        root = (eps + v[n]) ** 0.5
        return h[n] / 2 * (at - a[n]) ** 2 + b / root - momentum * h[n] * (previous - a[n]) * m[n] / root

    scaled = m[n] / (eps + v[n]) ** 0.5
    names = {
        "lyapunov": energy(now, before),
        "A_previous": -h[n] * (before - a[n]) * scaled,
        "I1": -beta1 * h[n] * (now - a[n]) * scaled,
        "squared_step": (now - before) ** 2,
    }
    x[n] = now
    walk(n)
    names["lyapunov_next"] = energy(x[n], now)
    left = names[c["left"]["quantity"]]
    assert is_rounded(c["left_value"], F(left), CLOSE)
    known = {**numbers(c["algorithm"]), "d": F(1), **numbers(c["parameters"]), **{k: F(y) for k, y in names.items()}}
    right = ends(balls(c["right"], known, c.get("definitions")))[0]
    assert is_rounded(c["right_value"], right, CLOSE)
    assert F(left) > right - F(CLOSE) * max(abs(right), F(left))
    return True
