"""The device code of `quadratic_triton`: one program takes a block of runs, a run a lane, through many rounds.

A point of d coordinates is a tuple of d vectors, one number a lane, so that all loops over coordinates are unrolled and
a run's model, its sum and its local model stay in registers; of a run's state only the models that are recorded are
written to memory. Nothing is shared between lanes: a run's arithmetic is the same in every block and chunk.

The words are those of `sim.streams`: `tl.philox` takes the key's low half from the seed's lower 32 bits and the
counter's four words in the order (run, client, round, block), which is the contract's.

Importing this module imports triton, which decides at that moment whether TRITON_INTERPRET is set.
"""

from __future__ import annotations

import triton
import triton.language as tl

from sim.streams import BLOCK_BITS, PARTICIPATION, SAMPLING

_PARTICIPATION = tl.constexpr(PARTICIPATION << BLOCK_BITS)
_SAMPLING = tl.constexpr(SAMPLING << BLOCK_BITS)


@triton.jit
def _word(i, w0, w1, w2, w3):
    """Word i of a block."""
    return tl.where(i == 0, w0, tl.where(i == 1, w1, tl.where(i == 2, w2, w3)))


@triton.jit
def _load(vectors, lane, live, runs, D: tl.constexpr):
    """The point of each lane from vectors (d, R)."""
    point: tl.tuple = ()
    for i in tl.static_range(D):
        point += (tl.load(vectors + i * runs + lane, mask=live, other=0.0),)
    return point


@triton.jit
def _store(vectors, point, lane, live, runs, D: tl.constexpr):
    """Write the point of each lane to vectors (d, R)."""
    for i in tl.static_range(D):
        tl.store(vectors + i * runs + lane, point[i], mask=live)


@triton.jit
def _plus(x, y, D: tl.constexpr):
    """x + y."""
    point: tl.tuple = ()
    for i in tl.static_range(D):
        point += (x[i] + y[i],)
    return point


@triton.jit
def _full_gradient(hessian, linear, w, scale, D: tl.constexpr):
    """scale (H w - b) for H (d, d) and b (d), the same in all lanes."""
    point: tl.tuple = ()
    for i in tl.static_range(D):
        component = w[0] * tl.load(hessian + i * D) - tl.load(linear + i)
        for j in tl.static_range(1, D):
            component += w[j] * tl.load(hessian + (i * D + j))
        point += (component * scale,)
    return point


@triton.jit
def _add_sample(
    curvature,
    slope,
    pick,
    x,
    scale,
    out,
    D: tl.constexpr,
    FEATURES: tl.constexpr,
    CHANGE: tl.constexpr,
):
    """out + scale (H_i x - b_i), or with CHANGE out + scale H_i x, i = pick, which differs between lanes."""
    point: tl.tuple = ()
    if FEATURES:  # H = 2qq', b = 2qy
        row = curvature + pick * D
        q: tl.tuple = ()
        for i in tl.static_range(D):
            q += (tl.load(row + i),)
        factor = q[0] * x[0]
        for i in tl.static_range(1, D):
            factor += q[i] * x[i]
        if not CHANGE:
            factor -= tl.load(slope + pick)
        factor = factor * (2 * scale)
        for i in tl.static_range(D):
            point += (out[i] + factor * q[i],)
    else:
        for i in tl.static_range(D):
            row = curvature + pick * (D * D) + i * D
            component = tl.load(row) * x[0]
            for j in tl.static_range(1, D):
                component += tl.load(row + j) * x[j]
            if not CHANGE:
                component -= tl.load(slope + pick * D + i)
            point += (out[i] + component * scale,)
    return point


@triton.jit
def _reduced_variance_steps(
    w,
    hessian,
    again,
    linear,
    curvature,
    slope,
    step,
    snapshots,
    inner,
    seed,
    run,
    client,
    round,
    count,
    D: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """S snapshots of M steps of variance-reduced local steps, as sim/algorithms writes them."""
    w0, w1, w2, w3 = run, run, run, run
    for s in range(snapshots):
        first = _full_gradient(hessian + s * again, linear, w, -step, D)
        move = first
        for m in range(1, inner):
            j = s * (inner - 1) + m - 1
            if j % 4 == 0:
                w0, w1, w2, w3 = tl.philox(seed, run, client, round, j // 4 + _SAMPLING)
            pick = tl.umulhi(_word(j % 4, w0, w1, w2, w3), count).to(tl.int64)
            move = _add_sample(curvature, slope, pick, move, -step, _plus(move, first, D), D, FEATURES, True)
        w = _plus(w, move, D)
    return w


@triton.jit
def _plain_steps(
    w,
    curvature,
    slope,
    step,
    steps,
    batch,
    seed,
    run,
    client,
    round,
    count,
    D: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """Local steps of FedAvg, each along the mean gradient of a fresh minibatch."""
    scale = -step / batch
    w0, w1, w2, w3 = run, run, run, run
    for m in range(steps):
        following = w
        for b in range(batch):
            j = m * batch + b
            if j % 4 == 0:
                w0, w1, w2, w3 = tl.philox(seed, run, client, round, j // 4 + _SAMPLING)
            pick = tl.umulhi(_word(j % 4, w0, w1, w2, w3), count).to(tl.int64)
            following = _add_sample(curvature, slope, pick, w, scale, following, D, FEATURES, False)
        w = following
    return w


@triton.jit(
    do_not_specialize=["first_round", "last_round", "runs", "clients", "samples", "row", "outer", "inner", "again"]
)
def advance(
    path,  # (T, d, R) written: the models after each of these T rounds
    theta,  # (d, R) the models before the first of them
    stream,  # (2) int64, the seed's 64 bits and the number of the first run
    first_round,
    last_round,
    runs,  # R
    clients,  # N
    samples,  # n, of the client that has most
    counts,  # (N) int64, each client's samples
    hessian,  # (N, d, d) of f_n
    linear,  # (N, d)
    curvature,  # features (N, n, d), or Hessians (N, n, d, d)
    slope,  # targets (N, n), or linear terms (N, n, d)
    steps,  # (K)
    thresholds,  # (K or 1, N) int64: present iff the word is below
    scale,  # (K or 1, N) the weights of those present
    row,  # from one round's thresholds to the next one's: N or 0
    outer,  # snapshots, or local steps
    inner,  # inner steps, or samples of a minibatch
    again,  # 0, which the compiler does not know: large Hessians are then read again for each snapshot, not kept
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    FEATURES: tl.constexpr,
    REDUCES_VARIANCE: tl.constexpr,
    DIVIDES: tl.constexpr,  # whether the sum is divided by the number of those present
):
    """Take a block of runs through these rounds; an empty round keeps the model."""
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = lane < runs
    seed = tl.load(stream)
    run = (tl.load(stream + 1) + lane).to(tl.uint32)
    far = tl.full((), 1, tl.int64)  # times this, an offset has 64 bits
    rows = far * samples
    x = _load(theta, lane, live, runs, D)
    for k in range(first_round, last_round):
        step = tl.load(steps + k)
        total: tl.tuple = ()
        for _ in tl.static_range(D):
            total += (tl.zeros([BLOCK], x[0].dtype),)
        number = tl.zeros([BLOCK], tl.int32)
        for block in range((clients + 3) // 4):
            w0, w1, w2, w3 = tl.philox(seed, run, 0, k, block + _PARTICIPATION)
            for c in range(4 * block, tl.minimum(4 * block + 4, clients)):
                at = far * k * row + c
                word = _word(c - 4 * block, w0, w1, w2, w3)
                present = word.to(tl.int64) < tl.load(thresholds + at)
                count = tl.load(counts + c).to(tl.uint32)
                if FEATURES:
                    bent, bias = curvature + rows * c * D, slope + rows * c
                else:
                    bent, bias = curvature + rows * c * (D * D), slope + rows * c * D
                if REDUCES_VARIANCE:
                    w = _reduced_variance_steps(
                        x,
                        hessian + c * D * D,
                        again if D > 6 else 0,
                        linear + c * D,
                        bent,
                        bias,
                        step,
                        outer,
                        inner,
                        seed,
                        run,
                        c,
                        k,
                        count,
                        D,
                        FEATURES,
                    )
                else:
                    w = _plain_steps(x, bent, bias, step, outer, inner, seed, run, c, k, count, D, FEATURES)
                weight = tl.load(scale + at)
                added: tl.tuple = ()
                for i in tl.static_range(D):
                    # a choice, not a product: what overflows at an absent client changes nothing
                    added += (total[i] + tl.where(present, weight * (w[i] - x[i]), 0.0),)
                total = added
                number += present.to(tl.int32)
        share = 1.0
        if DIVIDES:
            share = 1.0 / tl.maximum(number, 1).to(x[0].dtype)
        moved: tl.tuple = ()
        for i in tl.static_range(D):
            moved += (x[i] + total[i] * share,)
        x = moved
        _store(path + far * (k - first_round) * (runs * D), x, lane, live, runs, D)
