"""The draws of `sim.streams` in Triton, word for word; read as `sim.gpu.points` is.

A stream between two draws is ``words`` (the four of a block of Philox), ``at`` (the number of the next word), ``first``
(of the first one that was taken), ``source`` (what the counter says besides) and ``key``; who takes a word goes on with
the words and the number that are handed back. Keys are words with the number of their client, sample or visit in the
lower 31 bits, so that no two are the same.
"""

# mypy: ignore-errors
# ruff: noqa: RUF005 (Triton has no unpacking)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import triton.language as tl

    from sim.gpu.points import scaled

    D: Any = None


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


def sort(keys, count, lanes):
    """Ascending, by Batcher's merges of odd and even places: which are compared does not depend on the keys."""
    for level in range(31):
        sorted_ = tl.cast(1, tl.int64) << level
        if sorted_ < count:
            for halving in range(level + 1):
                apart = sorted_ >> halving
                for j in range(apart & (sorted_ - 1), count - apart, 2 * apart):
                    for i in range(j, tl.minimum(j + apart, count - apart)):
                        if i >> (level + 1) == (i + apart) >> (level + 1):
                            a = tl.load(keys + i * lanes[1] + lanes[0])
                            b = tl.load(keys + (i + apart) * lanes[1] + lanes[0])
                            tl.store(keys + i * lanes[1] + lanes[0], tl.minimum(a, b))
                            tl.store(keys + (i + apart) * lanes[1] + lanes[0], tl.maximum(a, b))


def ordered(picks, keys, samples, count, number, lanes, words, at, first, source, key):
    """Write the first samples in the order of their words: all are sorted, or a few looked for one after another."""
    words, at = write_keys(keys, samples, count, lanes, words, at, first, source, key)
    if number * 8 >= samples:
        sort(keys, samples, lanes)
        for b in range(number):
            store_pick(picks, b, lanes, position(tl.load(keys + b * lanes[1] + lanes[0])))
    else:
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
