"""What kernels stand on, in Triton: points, numbers, memory. Its functions become part of every kernel's text.

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
