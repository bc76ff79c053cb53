"""What kernels stand on, in Triton: points, memory, draws. Its functions become part of every kernel's text.

A point is a tuple of d vectors, one a coordinate; lane r of each belongs to run r of the block. ``lanes`` is (lane,
stride): where a block's runs are in global memory, and how many there are. These functions are never called from
Python: `sim.gpu.loading` reads this file, and makes of each a function of Triton. What is fused is written so
(`tl.fma`), for the compiler is told to fuse nothing.
"""

# mypy: ignore-errors
# ruff: noqa: RUF005 (Triton has no unpacking)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import triton.language as tl

    D: Any = None


def same(value):
    return value


# --- arithmetic of points


def scaled(v, c):
    found = ()
    for i in tl.static_range(D):
        found = found + (v[i] * c,)
    return found


def plus(a, b):
    found = ()
    for i in tl.static_range(D):
        found = found + (a[i] + b[i],)
    return found


def minus(a, b):
    found = ()
    for i in tl.static_range(D):
        found = found + (a[i] - b[i],)
    return found


def negative(a):
    found = ()
    for i in tl.static_range(D):
        found = found + (-a[i],)
    return found


def plus_scaled(total, v, c):
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.fma(v[i], c, total[i]),)
    return found


def dot(a, b):
    total = a[0] * b[0]
    for i in tl.static_range(1, D):
        total = tl.fma(a[i], b[i], total)
    return total


def choice(condition, a, b):
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.where(condition != 0, a[i], b[i]),)
    return found


def norm(v):
    total = v[0] * v[0]
    for i in tl.static_range(1, D):
        total = total + v[i] * v[i]
    return tl.sqrt(total)


def product(a, b):
    found = ()
    for i in tl.static_range(D):
        found = found + (a[i] * b[i],)
    return found


def quotient(a, b):
    found = ()
    for i in tl.static_range(D):
        found = found + (a[i] / b[i],)
    return found


def larger_of(a, b):
    found = ()
    for i in tl.static_range(D):  # nan where either is
        found = found + (tl.where((a[i] != a[i]) | (a[i] > b[i]), a[i], b[i]),)
    return found


def root_of(a):
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.sqrt(a[i]),)
    return found


def sign_of(a):
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.where(a[i] > 0, 1.0, 0.0).to(tl.float64) - tl.where(a[i] < 0, 1.0, 0.0).to(tl.float64),)
    return found


def everywhere(value):
    found = ()
    for _i in tl.static_range(D):
        found = found + (value,)
    return found


def into_ball(v, radius):
    size = norm(v)
    factor = radius / size
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.where(size > radius, v[i] * factor, v[i]),)
    return found


def divided(v, number):
    found = ()
    for i in tl.static_range(D):
        found = found + (v[i] / number,)
    return found


def share(total, number):  # 0 where the number is
    some = number != 0
    factor = tl.where(some, number, 1.0)
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.where(some, total[i] / factor, 0.0),)
    return found


def plus_some(total, v, present):
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.where(present, total[i] + v[i], total[i]),)
    return found


def either(a, b):
    return a | b


def some_of(present):
    """Whether a client takes part in any run of the block."""
    return tl.reduce(tl.cast(present, tl.int32), 0, either) > 0


def counted_some(total, number, present):
    return tl.where(present, total + number, total)


# --- of numbers


def square_root(a):
    return tl.sqrt(a)


def logarithm(a):
    return tl.log(a)


def exponential_of(a):
    return tl.exp(a)


def absolute(a):
    return tl.abs(a)


def least(a, b):
    return tl.where((a != a) | (a < b), a, b)


def most(a, b):
    return tl.where((a != a) | (a > b), a, b)


def below(a, b):
    return tl.cast(a < b, tl.float64)


# --- memory, of whose values number `index` is meant


def load(m, index, lanes):
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.load(m + (index * D + i) * lanes[1] + lanes[0]),)
    return found


def load_number(m, index, lanes):
    return tl.load(m + index * lanes[1] + lanes[0])


def store(m, index, lanes, v):
    for i in tl.static_range(D):
        tl.store(m + (index * D + i) * lanes[1] + lanes[0], v[i])


def store_number(m, index, lanes, value):
    tl.store(m + index * lanes[1] + lanes[0], value)


def store_some(m, index, lanes, v, present):
    for i in tl.static_range(D):
        tl.store(m + (index * D + i) * lanes[1] + lanes[0], v[i], mask=present)


def store_number_some(m, index, lanes, value, present):
    tl.store(m + index * lanes[1] + lanes[0], value, mask=present)


# --- draws, as `sim.streams` numbers them


def counter(run, client, k, purpose):
    client_ = tl.cast(client, tl.uint32)
    round_ = tl.cast(k, tl.uint32)
    return (run, client_, round_, purpose)


def no_words(run):
    none = run & 0
    return (none, none, none, none)


def philox(source, block, key):
    none = source[0] & 0
    c0 = source[0]
    c1 = none | source[1]
    c2 = none | source[2]
    c3 = none | tl.cast(block + source[3] * 16777216, tl.uint32)
    k0 = none | key[0]
    k1 = none | key[1]
    for _i in tl.static_range(10):
        high0 = tl.umulhi(c0, 0xD2511F53)
        high1 = tl.umulhi(c2, 0xCD9E8D57)
        low0 = c0 * 0xD2511F53
        low1 = c2 * 0xCD9E8D57
        c0 = high1 ^ c1 ^ k0
        c1 = low1
        c2 = high0 ^ c3 ^ k1
        c3 = low0
        k0 = k0 + 0x9E3779B9
        k1 = k1 + 0xBB67AE85
    return (c0, c1, c2, c3)


def take(words, at, first, source, key):
    """The next word, the four around it, and the number of the one after it."""
    if (at % 4 == 0) | (at == first):
        words = philox(source, at // 4, key)
    place = at % 4
    low = tl.where(place == 0, words[0], words[1])
    high = tl.where(place == 2, words[2], words[3])
    return tl.where(place < 2, low, high), words, at + 1


def sample_of(word, count):
    return tl.umulhi(word, tl.cast(count, tl.uint32)).to(tl.int64)


def pick(picks, index, lanes):
    return tl.load(picks + index * lanes[1] + lanes[0])


def store_pick(picks, index, lanes, value):
    tl.store(picks + index * lanes[1] + lanes[0], value)


def write_keys(keys, words_taken, count, lanes, words, at, first, source, key):
    """Words as keys that order them, ties to the smaller number; those from `count` on come last."""
    for c in range(words_taken):
        word, words, at = take(words, at, first, source, key)
        one = (word.to(tl.int64) << 31) | c
        tl.store(keys + c * lanes[1] + lanes[0], tl.where(c < count, one, 0x7FFFFFFFFFFFFFFF))
    return words, at


def next_key(keys, count, last, lanes):
    """The smallest key above the last one."""
    found = (last & 0) | 0x7FFFFFFFFFFFFFFF
    for c in range(count):
        one = tl.load(keys + c * lanes[1] + lanes[0])
        found = tl.where((one > last) & (one < found), one, found)
    return found


def position(one):
    return one & 0x7FFFFFFF


def ordered(picks, keys, samples, count, number, lanes, words, at, first, source, key):
    words, at = write_keys(keys, samples, count, lanes, words, at, first, source, key)
    last = (lanes[0] & 0) - 1
    for b in range(number):
        last = next_key(keys, samples, last, lanes)
        store_pick(picks, b, lanes, position(last))
    return words, at


def chosen(m, keys, clients, size, lanes, at, source, key):
    """Write who is among the `size` clients with the smallest words."""
    write_keys(keys, clients, clients, lanes, no_words(source[0]), at, at, source, key)
    last = (lanes[0] & 0) - 1
    for _s in range(size):
        last = next_key(keys, clients, last, lanes)
    for c in range(clients):
        one = tl.load(keys + c * lanes[1] + lanes[0])
        tl.store(m + c * lanes[1] + lanes[0], tl.cast(one <= last, tl.float64))


def chosen_often(m, clients, size, lanes, first, source, key):
    """Write how often each client is among `size` drawn with replacement."""
    none = tl.cast(lanes[0] & 0, tl.float64)
    for c in range(clients):
        tl.store(m + c * lanes[1] + lanes[0], none)
    words = no_words(source[0])
    at = first
    for _s in range(size):
        word, words, at = take(words, at, first, source, key)
        place = m + sample_of(word, clients) * lanes[1] + lanes[0]
        tl.store(place, tl.load(place) + 1.0)


def flip(threshold, first, source, key):
    word, _words, _at = take(no_words(source[0]), first, first, source, key)
    return tl.cast(word.to(tl.int64) < tl.load(threshold), tl.float64)


def tossed(m, thresholds, clients, lanes, first, source, key):
    """Write which clients' coins show heads, and say how many."""
    total = tl.cast(lanes[0] & 0, tl.float64)
    words = no_words(source[0])
    at = first
    for c in range(clients):
        word, words, at = take(words, at, first, source, key)
        one = tl.cast(word.to(tl.int64) < tl.load(thresholds + c), tl.float64)
        tl.store(m + c * lanes[1] + lanes[0], one)
        total = total + one
    return total


def uniform(word):
    return (word.to(tl.float64) + 0.5) * 2.3283064365386963e-10


def normal(words, at, first, source, key):
    found = ()
    for i in tl.static_range(0, D, 2):
        x, words, at = take(words, at, first, source, key)
        y, words, at = take(words, at, first, source, key)
        radius = tl.sqrt(tl.log(uniform(x)) * -2.0)
        angle = uniform(y) * 6.283185307179586
        found = found + (radius * tl.cos(angle),)
        if i + 1 < D:
            found = found + (radius * tl.sin(angle),)
    return found, words, at


def first_of(v, keys, number):
    """v where fewer than `number` coordinates come before this one, ties to the smaller coordinate; else 0."""
    found = ()
    for i in tl.static_range(D):
        before = tl.cast(keys[i] != keys[i], tl.int64)
        for j in tl.static_range(D):
            if j < i:
                before = before + tl.cast(keys[j] <= keys[i], tl.int64)
            if j > i:
                before = before + tl.cast(keys[j] < keys[i], tl.int64)
        found = found + (tl.where(before < number, v[i], 0.0),)
    return found


def kept(v, number, words, at, first, source, key):
    keys = ()
    for _i in tl.static_range(D):
        word, words, at = take(words, at, first, source, key)
        keys = keys + (word,)
    return scaled(first_of(v, keys, number), D / tl.cast(number, tl.float64)), words, at


def largest(v, number):
    keys = ()
    for i in tl.static_range(D):
        keys = keys + (-tl.abs(v[i]),)
    return first_of(v, keys, number)
