"""A claim and its hypotheses as a cone program whose entries are of similar size.

The number 1 becomes a value z >= 0, so that everything is linear and the constant of a condition is one more function
value. Vectors, values and conditions are measured in units that are powers of two, so that L = 10^6 does no harm to the
solver; the change of units is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from theory.inequality.vectors import Condition, Form, Space

UNITS_FROM = 4  # exponents of two, below which the given units are kept (short numbers stay short)


@dataclass(frozen=True)
class Homogeneous:
    """A claim and its hypotheses, homogenised and scaled.

    Attributes:
        space: the space with one more value, the last one, z.
        claim: form that is claimed to be <= 0.
        conditions: the p hypotheses, then ``-z <= 0``.
        inhomogeneous: whether any constant occurs at all.
        vector_units: (n,) old vector i = unit * new vector i.
        value_units: (m + 1,) the same for the values and the number 1.
        form_units: (p + 2,) old form = unit * new form, for the claim, the hypotheses and ``-z``.
    """

    space: Space
    claim: Form
    conditions: tuple[Condition, ...]
    inhomogeneous: bool
    vector_units: tuple[Fraction, ...]
    value_units: tuple[Fraction, ...]
    form_units: tuple[Fraction, ...]

    def old_multipliers(self, multipliers: Sequence[Fraction]) -> list[Fraction]:
        """Multipliers of the hypotheses as given, (p + 1,)."""
        first, *others = self.form_units
        return [y * first / unit for y, unit in zip(multipliers, others, strict=True)]

    def new_multipliers(self, multipliers: Sequence[Fraction]) -> list[Fraction]:
        """The inverse of `old_multipliers`."""
        first, *others = self.form_units
        return [y * unit / first for y, unit in zip(multipliers, others, strict=True)]

    def old_point(self, gram: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A Gram matrix (n, n) and values (m + 1,) in the given units."""
        units = np.array([float(u) for u in self.vector_units])
        return gram * np.outer(units, units), values * np.array([float(u) for u in self.value_units])


def homogeneous(claim: Form, given: Sequence[Condition]) -> Homogeneous:
    """The claim ``claim <= 0`` and its hypotheses, homogenised and scaled."""
    name = "1"
    while name in claim.space.values:
        name += "'"
    space = Space(claim.space.vectors, (*claim.space.values, name))
    last = len(claim.space.values)
    forms = [_lifted(space, f, last) for f in (claim, *[c.form for c in given])]
    forms.append(-space.value(name))
    vectors, values = units(space, forms)
    scaled, sizes = [], []
    for form in forms:
        gram = {(i, j): c * vectors[i] * vectors[j] for (i, j), c in form.gram.items()}
        numbers = {j: c * values[j] for j, c in form.values.items()}
        largest = max([abs(float(c)) for c in (*gram.values(), *numbers.values())], default=1.0)
        size = _power(np.log2(largest)) if abs(np.log2(largest)) >= UNITS_FROM else Fraction(1)
        scaled.append(Form(space, gram, numbers) / size)
        sizes.append(size)
    conditions = [Condition(c.name, f, c.relation) for c, f in zip(given, scaled[1:], strict=False)]
    conditions.append(Condition("one", scaled[-1], "<="))
    inhomogeneous = any(f.constant for f in (claim, *[c.form for c in given]))
    return Homogeneous(space, scaled[0], tuple(conditions), inhomogeneous, tuple(vectors), tuple(values), tuple(sizes))


def units(space: Space, forms: Sequence[Form]) -> tuple[list[Fraction], list[Fraction]]:
    """Powers of two for vectors and values that make the entries of each form as equal as they can be.

    Least squares on the logarithms of the entries, each form up to a factor of its own.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.linalg import lsqr

    n, m = len(space.vectors), len(space.values)
    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    logs: list[float] = []
    for r, form in enumerate(forms):
        places = [((i, j), c) for (i, j), c in form.gram.items()] + [((n + j,), c) for j, c in form.values.items()]
        for unknowns, c in places:
            for column in unknowns:
                rows.append(len(logs))
                columns.append(column)
                entries.append(1.0)
            rows.append(len(logs))
            columns.append(n + m + r)
            entries.append(-1.0)
            logs.append(-float(np.log2(abs(float(c)))))
    if not logs:
        return [Fraction(1)] * n, [Fraction(1)] * m
    system = coo_matrix((entries, (rows, columns)), shape=(len(logs), n + m + len(forms))).tocsr()
    exponents = lsqr(system, np.array(logs), damp=1e-3)[0][: n + m]
    exponents = exponents - np.median(exponents)  # a common factor changes nothing but the look
    if np.abs(exponents).max(initial=0) < UNITS_FROM:
        exponents = np.zeros(n + m)
    powers = [_power(e) for e in exponents.tolist()]
    return powers[:n], powers[n:]


def _lifted(space: Space, form: Form, last: int) -> Form:
    values = dict(form.values)
    if form.constant:
        values[last] = form.constant
    return Form(space, form.gram, values)


def _power(exponent: float) -> Fraction:
    return Fraction(2) ** round(exponent)
