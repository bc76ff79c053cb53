"""The inner loops of ridge logistic regression in an open system, in the Python that numba compiles.

numba is imported by `compiled` alone, which compiles the functions in `EXACT` operation by operation, and those in
`SUMS` with sums in an order that suits the processor's vectors. Shapes: N clients in the pool, n samples, d
coordinates, R runs, S slots, K rounds. Samples are taken in blocks of `BLOCK`, so that a block's features are still in
the first-level cache when its gradient is added up.

Signed margin of sample j: u_j = y_j w.x_j; log-loss log(1 + exp(-u)); gradient -y x / (1 + exp(u)).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from sim.streams import _MULTIPLIERS, _WEYL, BLOCK_BITS, SAMPLING, WORDS

BLOCK = 16  # samples: four at a time, and whole vectors of exponentials
GROUP = 4  # models whose losses are computed together
FACTORS = 4 * 512  # of at most 2 each, in the four products of `log_losses`: far from overflow

_M0, _M1 = (np.uint64(m) for m in _MULTIPLIERS)
_W0, _W1 = (np.uint64(w) for w in _WEYL)
_MASK, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_SAMPLING = np.uint64(SAMPLING << BLOCK_BITS)

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has 21 trailing zero bits
_SHIFT = 6755399441055744.0  # 1.5 2^52: what is added to it is rounded to an integer, which its lowest bits show
_SMALLEST = -708.0  # exp is a normal number from here on


def exponential(x: float) -> float:
    """exp(x) for x <= 0, to 1 ulp; below -708, exp(-708). Without branches or calls, so that loops become vectors.

    x = n log 2 + r with |r| <= log(2)/2; the Taylor polynomial of degree 13 has a relative error below 5e-18.
    """
    x = _SMALLEST if x < _SMALLEST else x
    shifted = x * _LOG2_E + _SHIFT
    n = shifted - _SHIFT
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    p = 1 / 6227020800
    p = p * r + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)  # 2^n
    return p * power


def coefficients(z: Any, y: Any, scale: float, c: Any) -> None:
    """c_j = -scale y_j / (1 + exp(u_j)) for a whole block, u_j = y_j z_j. All (BLOCK,), with junk where unused."""
    for j in range(BLOCK):
        u = y[j] * z[j]
        e = exponential(-abs(u))
        c[j] = -scale * y[j] * (e if u >= 0 else 1.0) / (1.0 + e)


def log_losses(z: Any, y: Any, e: Any) -> float:
    """sum_j log(1 + exp(-u_j)), u_j = y_j z_j. z, y (n,); e: n rounded up to a multiple of four, zero beyond n.

    It is the sum of max(-u_j, 0) + log(1 + e_j), e_j = exp(-|u_j|), and the sum of the logarithms is that of a product,
    of which p = prod (1 + e_j) - 1 is kept: all its terms are positive, so nothing cancels. In four lanes, for the
    processor does not wait for one product before it begins the next.
    """
    result = 0.0
    for j in range(len(y)):
        u = y[j] * z[j]
        e[j] = exponential(-abs(u))
        result += -u if u < 0 else 0.0
    for begin in range(0, len(e), FACTORS):
        p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0
        for j in range(begin, min(begin + FACTORS, len(e)), 4):
            p0 = p0 + (e[j] + p0 * e[j])
            p1 = p1 + (e[j + 1] + p1 * e[j + 1])
            p2 = p2 + (e[j + 2] + p2 * e[j + 2])
            p3 = p3 + (e[j + 3] + p3 * e[j + 3])
        result += (np.log1p(p0) + np.log1p(p1)) + (np.log1p(p2) + np.log1p(p3))
    return result


def margins(x: Any, rows: Any, first: int, count: int, w: Any, z: Any) -> None:
    """z_j = x[rows[first + j]].w for j < count <= BLOCK. x (n, d), w (d,)."""
    j = 0
    while j + 4 <= count:
        x0, x1 = x[rows[first + j]], x[rows[first + j + 1]]
        x2, x3 = x[rows[first + j + 2]], x[rows[first + j + 3]]
        z0, z1, z2, z3 = 0.0, 0.0, 0.0, 0.0
        for i in range(len(w)):
            z0 += x0[i] * w[i]
            z1 += x1[i] * w[i]
            z2 += x2[i] * w[i]
            z3 += x3[i] * w[i]
        z[j], z[j + 1], z[j + 2], z[j + 3] = z0, z1, z2, z3
        j += 4
    while j < count:
        x0 = x[rows[first + j]]
        z0 = 0.0
        for i in range(len(w)):
            z0 += x0[i] * w[i]
        z[j] = z0
        j += 1


def add_rows(x: Any, rows: Any, first: int, count: int, c: Any, g: Any) -> None:
    """g += sum_j c_j x[rows[first + j]] over j < count <= BLOCK."""
    j = 0
    while j + 4 <= count:
        x0, x1 = x[rows[first + j]], x[rows[first + j + 1]]
        x2, x3 = x[rows[first + j + 2]], x[rows[first + j + 3]]
        c0, c1, c2, c3 = c[j], c[j + 1], c[j + 2], c[j + 3]
        for i in range(len(g)):
            g[i] += (c0 * x0[i] + c1 * x1[i]) + (c2 * x2[i] + c3 * x3[i])
        j += 4
    while j < count:
        x0, c0 = x[rows[first + j]], c[j]
        for i in range(len(g)):
            g[i] += c0 * x0[i]
        j += 1


def group_margins(x: Any, w0: Any, w1: Any, w2: Any, w3: Any, z: Any) -> None:
    """z[m, j] = x[j].w_m for four models. x (n, d), w_m (d,), z (4, n rounded up to a multiple of four)."""
    end = len(x) - 1
    for j in range(0, len(x), 4):
        x0, x1, x2, x3 = x[j], x[min(j + 1, end)], x[min(j + 2, end)], x[min(j + 3, end)]
        a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
        b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
        c0, c1, c2, c3 = 0.0, 0.0, 0.0, 0.0
        e0, e1, e2, e3 = 0.0, 0.0, 0.0, 0.0
        for i in range(len(w0)):
            a0 += x0[i] * w0[i]
            a1 += x0[i] * w1[i]
            a2 += x0[i] * w2[i]
            a3 += x0[i] * w3[i]
            b0 += x1[i] * w0[i]
            b1 += x1[i] * w1[i]
            b2 += x1[i] * w2[i]
            b3 += x1[i] * w3[i]
            c0 += x2[i] * w0[i]
            c1 += x2[i] * w1[i]
            c2 += x2[i] * w2[i]
            c3 += x2[i] * w3[i]
            e0 += x3[i] * w0[i]
            e1 += x3[i] * w1[i]
            e2 += x3[i] * w2[i]
            e3 += x3[i] * w3[i]
        z[0, j], z[1, j], z[2, j], z[3, j] = a0, a1, a2, a3
        z[0, j + 1], z[1, j + 1], z[2, j + 1], z[3, j + 1] = b0, b1, b2, b3
        z[0, j + 2], z[1, j + 2], z[2, j + 2], z[3, j + 2] = c0, c1, c2, c3
        z[0, j + 3], z[1, j + 3], z[2, j + 3], z[3, j + 3] = e0, e1, e2, e3


def squared_norm(w: Any) -> float:
    """||w||^2."""
    result = 0.0
    for i in range(len(w)):
        result += w[i] * w[i]
    return result


def draw(run: Any, client: Any, round: Any, key: Any, samples: Any, rows: Any) -> None:
    """The samples of a client's round, index (x n) >> 32, one for each entry of rows (a multiple of four entries).

    Philox4x32-10 by the contract in `sim.streams`, purpose SAMPLING.
    """
    for block in range(len(rows) // WORDS):
        c0, c1, c2, c3 = run, client, round, _SAMPLING + np.uint64(block)
        k0, k1 = key
        for _ in range(10):
            p0, p1 = c0 * _M0, c2 * _M1
            c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ k0, p1 & _MASK, (p0 >> _32) ^ c3 ^ k1, p0 & _MASK
            k0, k1 = (k0 + _W0) & _MASK, (k1 + _W1) & _MASK
        rows[WORDS * block] = np.int64((c0 * samples) >> _32)
        rows[WORDS * block + 1] = np.int64((c1 * samples) >> _32)
        rows[WORDS * block + 2] = np.int64((c2 * samples) >> _32)
        rows[WORDS * block + 3] = np.int64((c3 * samples) >> _32)


def gradient(x: Any, y: Any, ridge: float, rows: Any, first: int, count: int, w: Any, g: Any, block: Any) -> None:
    """g = ridge w + the mean gradient of the log-loss on the samples rows[first:first + count]; `block` (3, BLOCK)."""
    z, labels, c = block[0], block[1], block[2]
    for i in range(len(w)):
        g[i] = ridge * w[i]
    for begin in range(first, first + count, BLOCK):
        size = min(BLOCK, first + count - begin)
        margins(x, rows, begin, size, w, z)
        for j in range(size):
            labels[j] = y[rows[begin + j]]
        coefficients(z, labels, 1.0 / count, c)
        add_rows(x, rows, begin, size, c, g)


def sgd_step(w: Any, g: Any, step: float) -> None:
    """w -= step g."""
    for i in range(len(w)):
        w[i] -= step * g[i]


def adam_step(w: Any, g: Any, h: Any, vhat: Any, step: float, beta1: float, beta2: float, eps: float) -> None:
    """`sim.algorithms.LocalAdam`'s step. All (d,)."""
    for i in range(len(w)):
        h[i] = beta1 * h[i] + (1 - beta1) * g[i]
        v = beta2 * vhat[i] + (1 - beta2) * (g[i] * g[i])
        vhat[i] = vhat[i] if v <= vhat[i] else v
        w[i] -= step * h[i] / np.sqrt(eps + vhat[i])


def copy(source: Any, target: Any) -> None:
    """target = source, both (d,). (A slice's assignment would compile numba's message for shapes that differ: 5 s.)"""
    for i in range(len(source)):
        target[i] = source[i]


def advance(data: Any, presence: Any, key: Any, constants: Any, steps: Any, span: Any, state: Any, path: Any) -> None:
    """Take some runs through some rounds.

    Args:
        data: features (N, n, d), labels (N, n), ridge.
        presence: clients (K+1, R, S), uploads (K, R, S), number of the first run (uint64).
        key: two words (uint64).
        constants: local steps, batch (0: full), whether Adam, whether it is reset; beta1, beta2, eps.
        steps: (K,) step sizes.
        span: first round, last round + 1, first run, last run + 1.
        state: theta (R, d), h and vhat (R, S, d); updated.
        path: (B, R, d), receives theta after each of these rounds.
    """
    features, labels, ridge = data
    clients, uploads, first_run = presence
    local_steps, batch, adam, reset, beta1, beta2, eps = constants
    first_round, last_round, first, last = span
    theta, all_h, all_vhat = state
    samples, dim, slots = features.shape[1], features.shape[2], clients.shape[2]
    count = samples if batch == 0 else batch
    rows = np.empty(samples if batch == 0 else (local_steps * batch + WORDS - 1) // WORDS * WORDS, np.int64)
    for j in range(len(rows)):
        rows[j] = j
    block = np.zeros((3, BLOCK))
    w, g, mean = np.empty(dim), np.empty(dim), np.empty(dim)
    h, vhat = g, g
    for r in range(first, last):
        for k in range(first_round, last_round):
            uploaded = 0
            for i in range(dim):
                mean[i] = 0.0
            for s in range(slots):
                client = clients[k, r, s]
                if adam and client >= 0:
                    h, vhat = all_h[r, s], all_vhat[r, s]
                    if reset or k == 0 or clients[k - 1, r, s] != client:
                        for i in range(dim):
                            h[i] = 0.0
                            vhat[i] = 0.0
                stays = client >= 0 and clients[k + 1, r, s] == client
                if not (uploads[k, r, s] or (adam and not reset and stays)):
                    continue
                x, y = features[client], labels[client]
                if batch > 0:
                    number = first_run + np.uint64(r)
                    draw(number, np.uint64(client), np.uint64(k), key, np.uint64(samples), rows)
                copy(theta[r], w)
                for m in range(local_steps):
                    gradient(x, y, ridge, rows, m * batch, count, w, g, block)
                    if adam:
                        adam_step(w, g, h, vhat, steps[k], beta1, beta2, eps)
                    else:
                        sgd_step(w, g, steps[k])
                if uploads[k, r, s]:
                    uploaded += 1
                    for i in range(dim):
                        mean[i] += w[i]
            if uploaded > 0:
                for i in range(dim):
                    theta[r, i] = mean[i] / uploaded
            copy(theta[r], path[k - first_round, r])


def losses(data: Any, clients: Any, first_round: int, span: Any, models: Any, result: Any) -> None:
    """The mean of f_n(models[b, r]) over the clients present in round first_round + b; nan where there are none.

    A client's rounds are taken `GROUP` at a time: its features are read once for all of them.

    Args:
        data: features (N, n, d), labels (N, n), ridge.
        clients: (K+1, R, S).
        first_round: round of models[0].
        span: first run, last run + 1.
        models: (B, R, d).
        result: (B, R), receives the means of these runs.
    """
    features, labels, ridge = data
    first, last = span
    samples, slots, count = features.shape[1], clients.shape[2], len(models)
    width = (samples + 3) // 4 * 4
    z, e = np.empty((GROUP, width)), np.zeros(width)
    present = np.empty(count, np.int64)
    for r in range(first, last):
        for b in range(count):
            result[b, r] = 0.0
            present[b] = 0
        for s in range(slots):
            b = 0
            while b < count:
                client, size = clients[first_round + b, r, s], 1
                while size < GROUP and b + size < count and clients[first_round + b + size, r, s] == client:
                    size += 1
                if client >= 0:
                    x, y, end = features[client], labels[client], b + size - 1
                    w0, w1 = models[b, r], models[min(b + 1, end), r]
                    w2, w3 = models[min(b + 2, end), r], models[min(b + 3, end), r]
                    group_margins(x, w0, w1, w2, w3, z)
                    for m in range(size):
                        result[b + m, r] += 0.5 * ridge * squared_norm(models[b + m, r])
                        result[b + m, r] += log_losses(z[m], y, e) / samples
                        present[b + m] += 1
                b += size
        for b in range(count):
            result[b, r] = result[b, r] / present[b] if present[b] > 0 else np.nan


EXACT: tuple[Callable[..., Any], ...] = (exponential, coefficients, draw, sgd_step, adam_step, copy)
SUMS: tuple[Callable[..., Any], ...] = (margins, group_margins, add_rows, log_losses, squared_norm, gradient)


@lru_cache(maxsize=1)
def compiled() -> tuple[Callable[..., None], Callable[..., None]]:
    """`advance` and `losses` as machine code: read from numba's cache on disk, or compiled (seconds) and kept there.

    The types are fixed here, so that an array that happens to be read-only does not make numba compile once more.

    Raises:
        ImportError: when numba is missing.
    """
    from numba import njit, types
    from numba.extending import register_jitable

    def array(kind: Any, axes: int, readonly: bool = True) -> Any:
        return types.Array(kind, axes, "C", readonly=readonly)

    for function in EXACT:
        register_jitable(fastmath={"contract"}, error_model="numpy")(function)
    for function in SUMS:
        # sums may be reordered, once and for all when they are compiled; nan and inf keep their meaning
        register_jitable(fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")(function)
    real, integer, word, yes = types.float64, types.int64, types.uint64, types.boolean
    data = types.Tuple((array(real, 3), array(real, 2), real))
    clients = array(types.int32, 3)
    presence = types.Tuple((clients, array(yes, 3), word))
    constants = types.Tuple((integer, integer, yes, yes, real, real, real))
    state = types.Tuple((array(real, 2, False), array(real, 3, False), array(real, 3, False)))
    path = array(real, 3, False)
    span = types.UniTuple(integer, 4)
    first = types.void(data, presence, types.UniTuple(word, 2), constants, array(real, 1), span, state, path)
    second = types.void(data, clients, integer, types.UniTuple(integer, 2), array(real, 3), array(real, 2, False))
    entries = ((advance, first), (losses, second))
    try:
        made = [njit(signature, nogil=True, cache=True, error_model="numpy")(entry) for entry, signature in entries]
    except RuntimeError:  # there is no directory that the cache could be written to
        made = [njit(signature, nogil=True, error_model="numpy")(entry) for entry, signature in entries]
    return made[0], made[1]
