"""Kind "products": a bound on ||prod_{t=l}^h (I - a A_t) - prod_{t=l}^h (I - b B_t)|| fails.

The matrices A_l .. A_h and B_l .. B_h are symmetric, of one or two dimensions; with b = 0 the second product is I, and
B may be left out. The first index of a product stands on the left.

Checked: the parameters a, b, L, l, h; -L I <= A_t, B_t <= L I, as symmetric matrices (Proposition 2 asks for the
second half only, its proof for both); the hypotheses; the printed values; and the left side, an interval where it is
irrational, exceeds the right side with certainty.

What remains for the reader: the statement and the formula are those of the paper.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .checks import Checks, Report, check_rounded
from .conditions import HEAD, check_conditions, introduce
from .formulas import evaluate, lookup, parse
from .intervals import Interval, Number, certainly, root
from .reading import FormatError, fields, limit_length, list_of, number, read_numbers, shown, text_of

MOST_FACTORS = 40
QUANTITY = "product_distance"

Matrix = tuple[tuple[Fraction, ...], ...]


def verify_products(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    own = " A B parameters left relation right left_value right_value"
    fields(data, "the certificate", HEAD + own, "definitions note")
    given = read_numbers(data["parameters"], "parameters")
    if sorted(given) != sorted(("a", "b", "L", "l", "h")):
        raise FormatError("parameters are not a, b, L, l and h")
    quantity = text_of(fields(data["left"], "left", "quantity")["quantity"], "quantity")
    if quantity != QUANTITY or data["relation"] != "<=":
        raise FormatError(f"the quantity is not {QUANTITY}, or the relation not <=")
    first, second = read_matrices(data["A"], "A"), read_matrices(data["B"], "B")
    shapes = {len(m) for m in (*first, *second)}
    if len(shapes) != 1 or len(second) not in ((0, len(first)) if given["b"] == 0 else (len(first),)):
        raise FormatError("A and B differ in length or dimension")

    checks = Checks()
    introduce(data)
    low, high, L = given["l"], given["h"], given["L"]
    whole = low.denominator == high.denominator == 1 and 0 <= low <= high and len(first) == high - low + 1
    checks.check(whole, f"there are h - l + 1 = {shown(high - low + 1)} matrices")
    checks.check(L > 0 and given["a"] >= 0 and given["b"] >= 0, "L > 0, a >= 0, b >= 0")
    for name, matrices in (("A", first), ("B", second)):
        bounded = all(nonnegative(combined(L, m, sign)) for m in matrices for sign in (-1, 1))
        checks.check(bounded, f"-L I <= {name}_t <= L I for every t")
    look = lookup(given, data.get("definitions"), roots=True)
    check_conditions(checks, data["hypotheses"], {}, look)
    right = checks.attempt("the right side", evaluate, parse(data["right"], "right"), look, True)
    if right is None or not checks.valid:
        return Report(False, tuple(checks.lines))
    size = shapes.pop()
    left = norm(difference(product(first, given["a"], size), product(second, given["b"], size)))
    check_rounded(checks, "left_value", data["left_value"], Interval.of(left))
    check_rounded(checks, "right_value", data["right_value"], Interval.of(right))
    checks.check(certainly(right, "<", left), f"{shown(left)} > {shown(right)} with certainty")
    return Report(checks.valid, tuple(checks.lines))


def read_matrices(data: Any, name: str) -> list[Matrix]:
    """Symmetric matrices of one or two dimensions."""
    found = []
    for item in list_of(data, name):
        rows = tuple(tuple(number(x, f"an entry of {name}") for x in list_of(row, name)) for row in list_of(item, name))
        if len(rows) not in (1, 2) or {len(row) for row in rows} != {len(rows)}:
            raise FormatError(f"{name} holds what is no matrix of one or two dimensions")
        if rows != tuple(zip(*rows, strict=True)):
            raise FormatError(f"{name} holds a matrix that is not symmetric")
        found.append(rows)
    if len(found) > MOST_FACTORS:
        raise FormatError(f"{name} holds more than {MOST_FACTORS} matrices")
    limit_length(x for m in found for row in m for x in row)
    return found


def identity(size: int) -> Matrix:
    return tuple(tuple(Fraction(int(i == j)) for j in range(size)) for i in range(size))


def combined(L: Fraction, m: Matrix, sign: int) -> Matrix:
    """L I + sign M."""
    return tuple(
        tuple(L * one + sign * x for one, x in zip(ones, row, strict=True))
        for ones, row in zip(identity(len(m)), m, strict=True)
    )


def nonnegative(m: Matrix) -> bool:
    """Whether a symmetric matrix is positive semidefinite: its trace and its determinant are not negative."""
    if len(m) == 1:
        return m[0][0] >= 0
    return m[0][0] + m[1][1] >= 0 and m[0][0] * m[1][1] - m[0][1] * m[1][0] >= 0


def product(matrices: list[Matrix], factor: Fraction, size: int) -> Matrix:
    """prod (I - factor M_t), the first on the left."""
    result = identity(size)
    for m in matrices:
        step = combined(Fraction(1), tuple(tuple(factor * x for x in row) for row in m), -1)
        columns = list(zip(*step, strict=True))
        result = tuple(
            tuple(sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in columns)
            for row in result
        )
    return result


def difference(one: Matrix, other: Matrix) -> Matrix:
    return tuple(tuple(x - y for x, y in zip(*rows, strict=True)) for rows in zip(one, other, strict=True))


def norm(m: Matrix) -> Number:
    """The largest singular value: its square is the larger root of x^2 - |M|^2 x + det(M)^2."""
    if len(m) == 1:
        return abs(m[0][0])
    total = sum((x * x for row in m for x in row), Fraction(0))
    determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0]
    gap = root(total**2 - 4 * determinant**2)
    return root((total + gap) / 2)
