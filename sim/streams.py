"""Counter-based random streams: a draw is a function of what it is for, not of what was drawn before.

The contract, which every kernel in any language must reproduce bit for bit:

* The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
* key = (low 32 bits, high 32 bits) of the seed.
* counter = (run, client, round, purpose * 2^24 + block), all from 0; run counts from `first_run` on.
* Draw j of (run, client, round, purpose) is word j mod 4 of block j div 4.
* What happens with the chance p happens iff x < round(p 2^32), at least 1 (so p has a resolution of 2^-32, and p = 1 is
  always).
* Purpose `POPULATION` = 2 (`sim.population`): the client word is 0. Draw 0: one client leaves, never for p = 0. Draw 1:
  who leaves, number (x m) >> 32 of the m clients present in the order of their slots. Draw 2: one client joins, as draw
  0.
* Purpose `POOL` = 3: the round word is 0, the client word is the client's index in the pool. The pool's clients come in
  the order of their draws 0, ties to the smaller index.
* A uniform in [0, 1) is x 2^-32.

Programs (`sim.simulate`) draw under purposes of their own, the round word being k. The instructions that draw (sample,
noise, choose, coins, coin, keep) are numbered q = 0, 1, ... in the order in which they stand in the program, those
inside loops in their loop's place; instruction q has the purpose `PROGRAM` + q, PROGRAM = 16, so there may be 240.
Each time that it is executed in a round, turn after turn, it takes the next words of this purpose:

* sample of b with replacement: b words of the client's own stream, the client word being n; word j is the sample
  (x n) >> 32. Without replacement: as many words as the largest client has samples; a client with m samples takes the
  b smallest of its first m words, ties to the smaller sample.
* noise: d words of the client's own stream, d + 1 for an odd d. The pair (x, y) of words 2i and 2i + 1 makes
  r cos(t) and r sin(t), with r = sqrt(-2 log((x + 1/2) 2^-32)), t = 2 pi (y + 1/2) 2^-32: coordinates 2i and 2i + 1,
  times sqrt(sigma2/d).
* keep: d words of the client's own stream, or of the client word 0 for a server's value; the coordinates with the m
  smallest are kept, ties to the smaller coordinate.
* choose: N words of the client word 0. Without replacement the S clients with the smallest are chosen, ties to the
  smaller client; with replacement it takes S words instead, and word j chooses client (x N) >> 32.
* coins: N words of the client word 0; that of client n is 1 iff x < round(p_n 2^32), at least 1. coin: one word of it.
* Purpose `VISITS` = 6: each visit takes N words of the client word 0 and calls the clients in their order, ties to the
  smaller client.
* Purpose `PASSES` = 7: each pass takes as many words of each client's stream as the largest client has samples; a
  client with m samples goes through them in the order of its first m words, ties to the smaller sample.

Inside a visit there is one client at a time, and the client word is always 0: the turns tell the clients apart.

In an open population a client's own stream has its index in the pool for the client word, and a client draws from it
also what `choose` without replacement and `coins` take, one word each time. Ties go to the smaller slot. `choose` with
replacement takes S words of the client word 0, and word j chooses number (x m) >> 32 of the m that take part, in the
order of their slots.

So run r of a seed is the same in every batch, chunk, number of threads, and on every device.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

POPULATION = 2
POOL = 3
VISITS = 6
PASSES = 7
PROGRAM = 16
PURPOSES = 256

BLOCK_BITS = 24
WORDS = 4
LIMIT = 1 << 32

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_MASK = 0xFFFFFFFF
_ROUNDS = 10
_LAZY = 3  # rounds after which the counters, independent of each other at first, depend on all four words

# Elements (8 bytes each, six to a counter) of one pass: they stay in the second-level cache, and calls are amortised.
_PASS = 40_000


class Workspace:
    """Integers of one device and the buffers that successive calls of `philox` reuse; for one thread at a time."""

    def __init__(self, device: str | torch.device = "cpu", backend: str = "auto") -> None:
        """Args: device: where the integers live. backend: "numpy" (CPU only), "torch", or "auto" for the faster one."""
        if backend not in ("auto", "numpy", "torch"):
            raise ValueError(f"backend={backend!r} is not one of ('auto', 'numpy', 'torch')")
        self.numpy = str(device) == "cpu" if backend == "auto" else backend == "numpy"
        self.device = device
        self._buffers: Any = None
        self._size = 0
        self._schedules: dict[tuple[int, int], list[tuple[Any, Any]]] = {}
        if self.numpy:
            # unsigned shifts and products are the faster ones in numpy; both types hold the same integers
            self.shift: Any = np.right_shift
            self.xp: Any = np
        else:
            import torch

            self.shift = torch.bitwise_right_shift
            self.xp = torch

    def integers(self, values: Any) -> Any:
        """The values, below 2^32, as this back end's array."""
        array = np.asarray(values, dtype=np.uint64)
        if self.numpy:
            return array
        return self.xp.from_numpy(array.astype(np.int64)).to(self.device)

    def empty(self, shape: tuple[int, ...]) -> Any:
        """An uninitialised array of integers."""
        if self.numpy:
            return np.empty(shape, dtype=np.uint64)
        return self.xp.empty(shape, dtype=self.xp.int64, device=self.device)

    def buffers(self, shape: tuple[int, ...]) -> list[Any]:
        """Three arrays of this shape, the same memory at each call."""
        size = math.prod(shape)
        if self._size < size:
            self._buffers = self.empty((3, size))
            self._size = size
        return [self._buffers[i, :size].reshape(shape) for i in range(3)]

    def schedule(self, key: tuple[int, int]) -> list[tuple[Any, Any]]:
        """Multipliers and keys (2, 1, 1, 1, 1) of the rounds, in the order in which `philox` keeps the words."""
        if key not in self._schedules:
            rounds, (k0, k1) = [], key
            for i in range(_ROUNDS):
                # even rounds multiply (c0, c2) and make (c2, c0); odd rounds the other way round
                order = slice(None, None, -1 if i % 2 else 1)
                keys = (k1, k0)[order]
                rounds.append(
                    tuple(self.integers(np.reshape(pair, (2, 1, 1, 1, 1))) for pair in (_MULTIPLIERS[order], keys))
                )
                k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
            self._schedules[key] = rounds
        return self._schedules[key]

    def tensor(self, array: Any) -> torch.Tensor:
        """The array as an int64 tensor (the same memory)."""
        if self.numpy:
            import torch

            return torch.from_numpy(array.view(np.int64))
        return array


def philox(counter: tuple[Any, Any, Any, Any], key: tuple[int, int], work: Workspace) -> tuple[Any, Any, Any, Any]:
    """Philox4x32-10 of counters that broadcast against each other.

    A round is (c0, c1, c2, c3) -> (hi(p1) ^ c1 ^ k0, lo(p1), hi(p0) ^ c3 ^ k1, lo(p0)) with p0 = c0 M0, p1 = c2 M1. The
    two words that are multiplied are kept in one array, in the order (c0, c2) before an even round and (c2, c0) before
    an odd one, so that one operation serves both; lo(p) is the product itself, with upper bits that are masked only
    after it has been xored.

    The upper 32 bits of the second and the fourth result are NOT zero: mask them (`_MASK`). All four are in the
    workspace and are overwritten by the next call.

    Args:
        counter: four arrays of `Workspace.integers`, each with 4 axes, whose shapes broadcast.
        key: two 32-bit words.
        work: buffers; its back end computes.

    Returns:
        The four words, each of the common shape.

    Source: Salmon et al. (2011), the reference implementation Random123; checked against its known answers.
    """
    xp, shift = work.xp, work.shift
    schedule = work.schedule(key)
    first, low1, second, low3 = counter  # before an even round: c0, c1, c2, c3; before an odd one: c2, c3, c0, c1
    shape = tuple(np.broadcast_shapes(*(tuple(c.shape) for c in counter)))
    state, products, spare = work.buffers((2, *shape))
    for i in range(_LAZY):
        # these arrays are small: at first the counter's words vary along one axis each, after three rounds along all
        (m0, m1), (k0, k1) = schedule[i]
        p0, p1 = first * m0, second * m1
        h0, h1 = shift(p0, 32) ^ k0, shift(p1, 32) ^ k1
        if i < _LAZY - 1:
            first, low1, second, low3 = (h0 ^ low3) & _MASK, p0, (h1 ^ low1) & _MASK, p1
    xp.bitwise_xor(h0, low3, out=state[0])
    xp.bitwise_xor(h1, low1, out=state[1])
    xp.bitwise_and(state, _MASK, out=state)
    lows = (p0, p1)
    for multipliers, keys in schedule[_LAZY:]:
        xp.multiply(state, multipliers, out=products)
        shift(products, 32, out=state)
        xp.bitwise_xor(state[0], lows[1], out=state[0])
        xp.bitwise_xor(state[1], lows[0], out=state[1])
        xp.bitwise_xor(state, keys, out=state)
        xp.bitwise_and(state, _MASK, out=state)
        lows = products
        products, spare = spare, products
    return state[0], lows[0], state[1], lows[1]


class Streams:
    """The draws of some runs of a seed. Shapes: R runs, N clients, T rounds, J draws."""

    def __init__(
        self,
        seed: int,
        runs: NDArray[Any],
        *,
        device: str | torch.device = "cpu",
        backend: str = "auto",
    ) -> None:
        """Streams of these runs.

        Args:
            seed: an integer in [0, 2^64).
            runs: (R,) numbers of the runs, in [0, 2^32).
            device: where the draws are wanted.
            backend: "numpy", "torch" or "auto"; the integers are the same.

        Raises:
            ValueError: for a seed, run or back end outside its domain.
        """
        self.key = seed_key(seed)
        runs = np.asarray(runs)
        if runs.ndim != 1 or runs.size == 0 or runs.dtype.kind not in "iu":
            raise ValueError(f"runs={runs!r} is not a non-empty vector of integers")
        if runs.min() < 0 or runs.max() >= LIMIT:
            raise ValueError(f"runs={runs.min()}..{runs.max()} is outside [0, 2^32)")
        self.work = Workspace(device, backend)
        self.runs = self.work.integers(runs)

    def words(
        self,
        purpose: int,
        clients: NDArray[Any],
        rounds: range,
        draws: int,
        columns: Any = None,
        scale: Any = None,
        out: Any = None,
        first: int = 0,
    ) -> torch.Tensor:
        """(T, J, N, R) int64, draws first..first+J-1 of these clients in these rounds: uniform on 0..2^32-1.

        Args:
            purpose: in [0, 256).
            clients: (N,) values of the counter's client word, in [0, 2^32), or (T, N, R), others in each round and run.
            rounds: T consecutive rounds, in [0, 2^32).
            draws: J >= 0, below 2^26.
            columns: positions in `runs` to restrict the draws to; all by default.
            scale: (N, 1) or (T, 1, N, R) numbers of samples, as `Workspace.integers`: then each x becomes (x n) >> 32.
            out: an array of `Workspace.empty` to write to; a new one by default.
            first: number of the first draw, a multiple of 4; first + J is at most 2^26.

        Raises:
            ValueError: for a purpose, a round or a number of draws outside its domain.
        """
        if not 0 <= purpose < PURPOSES:
            raise ValueError(f"purpose={purpose} is outside [0, 255]")
        if first % WORDS or first < 0:
            raise ValueError(f"first={first} is outside the multiples of 4")
        if draws < 0 or first + draws > WORDS << BLOCK_BITS:
            raise ValueError(f"draws={draws} from {first} on are outside [0, 2^26]")
        if len(rounds) and (rounds[0] < 0 or rounds[-1] >= LIMIT):
            raise ValueError(f"rounds={rounds} is outside [0, 2^32)")
        work, xp = self.work, self.work.xp
        runs = self.runs if columns is None else self.runs[columns]
        clients = np.asarray(clients)
        width, count = int(runs.shape[0]), clients.shape[-2] if clients.ndim == 3 else len(clients)
        result = work.empty((len(rounds), draws, count, width)) if out is None else out
        blocks = -(-draws // WORDS)
        c0 = runs.reshape(1, 1, 1, width)
        c1 = work.integers(clients[:, None] if clients.ndim == 3 else clients.reshape(1, 1, count, 1))
        c2 = work.integers(np.asarray(rounds, dtype=np.int64).reshape(-1, 1, 1, 1))
        group = max(1, _PASS // (len(rounds) * count * width))
        for begin in range(0, blocks, group):
            end = min(blocks, begin + group)
            numbers = np.arange(begin, end).reshape(1, -1, 1, 1) + first // WORDS
            c3 = work.integers(numbers + (purpose << BLOCK_BITS))
            found = philox((c0, c1, c2, c3), self.key, work)
            for i, word in enumerate(found):
                target = result[:, WORDS * begin + i : WORDS * end : WORDS]
                part = word[:, : target.shape[1]]
                if i % 2:
                    xp.bitwise_and(part, _MASK, out=target)
                elif scale is None:
                    target[...] = part
                if scale is not None:
                    xp.multiply(target if i % 2 else part, scale, out=target)
        if scale is not None:
            work.shift(result, 32, out=result)
        return work.tensor(result)


def seed_key(seed: int) -> tuple[int, int]:
    """The key of a seed.

    Raises:
        ValueError: unless the seed is an integer in [0, 2^64).
    """
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise ValueError(f"seed={seed!r} is not an integer in [0, 2^64)")
    value = seed.__index__()
    if not 0 <= value < 1 << 64:
        raise ValueError(f"seed={value} is outside [0, 2^64)")
    return value & _MASK, value >> 32


def thresholds(p: Any) -> NDArray[np.int64]:
    """round(p 2^32), at least 1: a client is present iff its word is below.

    Args:
        p: probabilities in (0, 1], floats or Fractions, any shape.
    """
    p = np.asarray(p)
    values = [min(LIMIT, max(1, round(q * LIMIT))) for q in p.ravel().tolist()]
    return np.array(values, dtype=np.int64).reshape(p.shape)
