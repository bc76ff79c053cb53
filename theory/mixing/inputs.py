"""What the functions of this package accept, checked once, with the argument's name in the error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def finite(name: str, given: ArrayLike, dimensions: int | None = None) -> FloatArray:
    """An array of finite float64, not empty, with so many `dimensions` (any number of them, at least one, for None).

    Raises:
        ValueError: it is no such array.
    """
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "iufb":
            array = array.astype(object)
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} is not an array of real numbers: {error}") from error
    if array.ndim != dimensions if dimensions is not None else array.ndim == 0:
        wanted = "at least one dimension" if dimensions is None else f"{dimensions} dimension{'s' * (dimensions > 1)}"
        raise ValueError(f"{name} has shape {array.shape}; {wanted} needed")
    if array.size == 0:
        raise ValueError(f"{name} is empty: shape {array.shape}")
    outside = ~np.isfinite(array)
    if outside.any():
        where = tuple(int(i) for i in np.argwhere(outside)[0])
        raise ValueError(f"{name}[{', '.join(map(str, where))}]={array[where]} is not finite")
    return array


def sizes(n: ArrayLike, clients: int) -> FloatArray:
    """The numbers of samples, shape (N,): positive and finite, with a finite sum. They need not be whole numbers.

    Raises:
        ValueError: they are not, or not one for each of the `clients`.
    """
    array = finite("n", n, 1)
    if len(array) != clients:
        raise ValueError(f"n has {len(array)} entries; one for each of the {clients} clients is needed")
    if not (array > 0).all():
        where = int(np.argmin(array > 0))
        raise ValueError(f"n[{where}]={array[where]:g} is outside (0, inf)")
    with np.errstate(over="ignore"):
        spread = float(array.sum() / array.min())
    if not math.isfinite(spread):
        raise ValueError(f"n: the ratio of {array.max():g} and {array.min():g} is beyond float64")
    return array


def positive(name: str, given: Any) -> float:
    """A positive finite number.

    Raises:
        ValueError: it is none.
    """
    try:
        value = float(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}={given!r} is not a real number") from error
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name}={value:g} is outside (0, inf)")
    return value


def index(name: str, given: Any, length: int) -> int:
    """An index in 0..length-1.

    Raises:
        ValueError: it is none.
    """
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 0 <= given < length:
        raise ValueError(f"{name}={given!r} is outside 0..{length - 1}")
    return int(given)
