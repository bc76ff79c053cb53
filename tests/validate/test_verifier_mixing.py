"""Certificates of kind "mixing": valid ones, every number changed, rubbish; what is played, by brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.papers.perm.mixing_refutations import REFUTED, made

from tests.rationals import rationals
from tests.validate.tampering import at_path, edit, json_values, other_numbers, same_number, strings, verdict
from theory import claim
from theory.mixing import exact_projected_gradient, exact_weights
from validate import certificate, verifier
from validate.report.words import described
from validate.verifier.formulas import Uncheckable, evaluate, lookup, parse
from validate.verifier.mixing import Instance, left_side, solve
from validate.verifier.vectors import Vector

F = Fraction
MADE = {label: made(claim(f"perm/{label}")) for label in REFUTED}
ORDERS = ("theorem-1", "lemma-14", "lemma-15")


@pytest.mark.parametrize("label", MADE)
def test_valid_certificates(label: str) -> None:
    report = verifier.verify(MADE[label])
    assert report.valid, report.lines
    assert certificate.differences(MADE[label], claim(f"perm/{label}")) == ()
    assert "clients without noise" in described(MADE[label])


# --- what is played --------------------------------------------------------------------------------------------------

fractions_ = rationals(0, 5, 6)
sizes = st.integers(1, 30).map(F)


@given(st.lists(st.tuples(fractions_, sizes), min_size=1, max_size=6), rationals(F(1, 50), 40, 50))
@settings(max_examples=80, deadline=None)
def test_program_2(pairs: list[tuple[Fraction, Fraction]], lam: Fraction) -> None:
    """Against the other exact solver, and no step along an edge of the simplex makes it smaller."""
    z, n = [p[0] for p in pairs], [p[1] for p in pairs]
    a = solve(z, n, lam)
    assert a == exact_weights(z, n, lam).weights
    slopes = [z_j + 2 * lam * x / n_j for x, z_j, n_j in zip(a, z, n, strict=True)]
    assert all(x == 0 or slopes[i] <= slope for i, x in enumerate(a) for slope in slopes)


def test_a_run_and_its_weights_in_floats() -> None:
    i = Instance((F(1), F(3)), (F(1), F(-2)), (F(2), F(7)), F(9), 1, F(2), F(1, 5), 2, 3, 4)
    h, b, n = (np.array([float(x) for x in values]) for values in (i.h, i.b, i.n))
    w, points = 2.0, [2.0]
    for _ in range(3):
        local = np.array([w, w])
        for _ in range(2):
            local = local - 0.2 * (h * local - b)
        w = float(local.mean())
        points.append(w)
    assert [float(x) for x in i.path()] == pytest.approx(points)
    assert i.minimiser == F(-1, 4)

    def best(w: float) -> np.ndarray:
        """On a fine grid of the edge between the two clients."""
        t = np.linspace(0, 1, 400_001)
        z = (h[1] * w - b[1] - (h[0] * w - b[0])) ** 2  # of client 0; 0 of client 1
        cost = t * z + 9 * (t**2 / n[0] + (1 - t) ** 2 / n[1])
        return np.array([t[cost.argmin()], 1 - t[cost.argmin()]])

    change = float(np.sqrt(((best(points[-1]) - best(-0.25)) ** 2).sum()))
    assert math.sqrt(float(left_side(i, "squared_weight_change"))) == pytest.approx(change, abs=1e-5)
    z = [(float(h[1] * w - b[1]) - float(h[0] * w - b[0])) ** 2, 0.0]
    a = np.array([0.5, 0.5])
    for _ in range(4):
        v = a - 2 / 18 * (np.array(z) + 18 * a / n)
        low, high = -100.0, 100.0  # the nearest point of the simplex, by bisection
        for _ in range(100):
            t = (low + high) / 2
            low, high = (t, high) if np.maximum(v - t, 0).sum() > 1 else (low, t)
        a = np.maximum(v - low, 0)
    assert float(left_side(i, "weight_error")) == pytest.approx(((a - best(-0.25)) ** 2).sum(), abs=1e-5)
    assert left_side(i, "weight_end") == left_side(i, "weight_error")
    assert float(left_side(i, "weight_descent_error")) == pytest.approx(((a - best(w)) ** 2).sum(), abs=1e-5)


def test_the_descent_goes_on_from_the_weights_of_the_round_before() -> None:
    i = Instance((F(1), F(2)), (F(0), F(1)), (F(1), F(4)), F(2), 0, F(3), F(1, 4), 1, 2, 1)
    w = i.path()
    a0 = [F(1, 2), F(1, 2)]
    a1 = exact_projected_gradient(i.z(w[1]), i.n, i.lam, 1, a0)[-1]
    a2 = exact_projected_gradient(i.z(w[2]), i.n, i.lam, 1, a1)[-1]
    assert left_side(i, "weight_step") == sum((x - y) ** 2 for x, y in zip(a2, a1, strict=True))


# --- formulas --------------------------------------------------------------------------------------------------------


def value(formula: str) -> Any:
    look = lookup({"n": Vector([F(1), F(3)]), "z": Vector([F(2), F(1, 2)]), "x": F(2), "m": Vector([F(1)])})
    return evaluate(parse(formula, "f"), look, True)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("sum(n*z)", F(7, 2)),
        ("sum(2*z + 4*x**2*n - 1)", F(67)),
        ("amax(n)/(2*x)", F(3, 4)),
        ("amin(x/n)", F(2, 3)),
        ("sum((n-z)**2/n)", F(1) + F(25, 12)),
        ("sum(x-n)", F(0)),
        ("amax(-n)", F(-1)),
    ],
)
def test_vectors(formula: str, expected: Fraction) -> None:
    assert value(formula) == expected


@pytest.mark.parametrize(
    "formula", ["sum(x)", "n + m", "n**m", "n**(1/2)", "n**(-1)", "min(n, x)", "sqrt(n)", "n + sqrt(x)", "amax(n/0)"]
)
def test_what_vectors_cannot_do(formula: str) -> None:
    with pytest.raises((Uncheckable, verifier.FormatError)):
        value(formula)


# --- tampering -------------------------------------------------------------------------------------------------------

PLAYED = ("functions", "n", "lam", "client", "start", "step", "local_steps", "rounds", "weight_steps")
# what the left side does not depend on
IDLE = {
    **dict.fromkeys(ORDERS, ("client",)),  # two clients of one n, which may be exchanged
    "lemma-3": ("step", "local_steps", "weight_steps"),
    "theorem-1-alpha-rate": ("start", "step", "local_steps", "client", "rounds"),
    "lemma-14-alpha-rate": ("start", "step", "local_steps", "client", "rounds"),
}


@pytest.mark.parametrize("label", MADE)
def test_no_number_can_be_changed(label: str) -> None:
    original = MADE[label]
    for path, text in strings(original):
        if path[0] not in (*PLAYED, "parameters", "left_value", "right_value") or path[0] in IDLE.get(label, ()):
            continue
        if path[0] == "functions" and label.endswith("alpha-rate"):
            continue  # gradients that differ: tested below
        for other in other_numbers(str(text)):
            if same_number(other, str(text)):
                continue
            changed: Any = int(other) if isinstance(text, int) and other.lstrip("-").isdigit() else other
            if label in ORDERS and path == ("start",) and same_number(other, str(-F(text))):
                continue  # a mirror image
            assert verdict(edit(original, path, changed)) in ("invalid", "malformed"), (path, other)


@pytest.mark.parametrize(
    ("label", "path", "change", "says"),
    [
        ("lemma-3", ("parameters", "L"), "3/2", "parameter L = 3/2 >= 2"),
        ("lemma-3", ("parameters", "zeta"), ["0", "1"], "parameter zeta is the instance's vector"),
        ("lemma-3", ("parameters", "dist2"), ["1"], "parameter dist2 is the instance's vector"),
        ("lemma-3", ("parameters", "more"), "1", "parameter more cannot be checked"),
        ("lemma-3", ("functions", 0, "h"), "-1", "0 < mu = -1"),
        ("lemma-3", ("right",), "kappa_g*dissimilarity*L*dist2*1000", "not certainly"),
        ("lemma-3", ("right",), "dist2/0", "divides by zero"),
        ("lemma-3", ("hypotheses", 0, "assumption"), "Convex", "is unknown here"),
        ("theorem-1", ("n",), ["1", "2"], "all n_j are equal"),
        ("theorem-1", ("functions", 0, "b"), "1", "zbar_i(w*)"),
        ("theorem-1", ("functions", 0, "h"), "2", "it is positive"),
        ("theorem-1", ("ratio",), "1", "0 <= ratio = 1 < 1"),
        ("theorem-1", ("weight_steps",), 5, "not certainly"),
        ("lemma-14", ("coefficient",), "7", "right_value"),
        ("lemma-15", ("ratio",), "1-kappa_modulus", "0 <= ratio = -1 < 1"),
        ("theorem-1-alpha-rate", ("functions", 1, "b"), "1/10", "left_value"),
    ],
)
def test_what_is_wrong_is_named(label: str, path: tuple[Any, ...], change: Any, says: str) -> None:
    report = verifier.verify(edit(MADE[label], path, change))
    assert not report.valid
    assert any(line.startswith("FAIL") and says in line for line in report.lines), report.lines


def test_hypotheses_in_words_are_left_to_the_reader() -> None:
    lines = verifier.verify(MADE["theorem-1"]).lines
    assert any("step size is left to the reader" in line for line in lines)


def test_an_order_needs_a_left_side_that_stays() -> None:
    """Started at w* nothing moves, and for the descent's own error no order is checked."""
    still = edit(edit(MADE["lemma-15"], ("start",), "0"), ("left_value",), "0")
    report = verifier.verify(still)
    assert any(line.startswith("FAIL") and "it is positive" in line for line in report.lines)
    assert verdict(edit(MADE["lemma-15"], ("left", "quantity"), "weight_descent_error")) == "malformed"


@pytest.mark.parametrize(
    ("label", "path", "change"),
    [
        ("lemma-3", ("n",), ["1"]),
        ("lemma-3", ("n",), ["1", "0"]),
        ("lemma-3", ("functions",), []),
        ("lemma-3", ("lam",), "0"),
        ("lemma-3", ("client",), 2),
        ("lemma-3", ("weight_steps",), 2001),
        ("lemma-3", ("rounds",), -1),
        ("lemma-3", ("relation",), ">="),
        ("lemma-3", ("right",), "n"),
        ("lemma-3", ("left", "quantity"), "drift"),
        ("lemma-3", ("parameters",), ["1"]),
        ("lemma-14", ("rounds",), 1),
        ("lemma-14", ("ratio",), "n"),
        ("lemma-14", ("coefficient",), "f(1)"),
        ("theorem-1", ("left_value",), "x"),
    ],
)
def test_malformed_fields(label: str, path: tuple[Any, ...], change: Any) -> None:
    assert verdict(edit(MADE[label], path, change)) == "malformed"


def test_no_field_can_be_left_out_or_added() -> None:
    for original in MADE.values():
        for field in original:
            if field not in ("note", "definitions"):
                assert verdict({k: v for k, v in original.items() if k != field}) == "malformed", field
        assert verdict({**original, "more": "1"}) == "malformed"
    both = {**MADE["theorem-1"], "right": "0", "relation": "<="}
    assert verdict(both) == "malformed"


def test_the_constructor_refuses_what_does_not_fit() -> None:
    data = MADE["lemma-15"]
    instance = {key: data[key] for key in PLAYED}
    with pytest.raises(ValueError, match="no right side only"):
        certificate.mixing_certificate(claim("perm/lemma-15"), instance, {}, F(1), F(0))
    with pytest.raises(ValueError, match="no right side only"):
        certificate.mixing_certificate(claim("perm/lemma-3"), instance, {}, F(1), F(0), coefficient="1", ratio="1/2")
    with pytest.raises(ValueError, match="not exact"):
        certificate.mixing_certificate(
            claim("perm/lemma-15"), {**instance, "lam": 0.1}, {}, F(1), F(0), coefficient="1", ratio="1/2"
        )


PATHS = [
    (label, path)
    for label in ("lemma-3", "lemma-14")
    for path in sorted({path[:cut] for path, _ in strings(MADE[label]) for cut in range(1, len(path) + 1)}, key=repr)
]


@given(st.sampled_from(PATHS), json_values)
@settings(max_examples=200, deadline=None)
def test_rubbish_never_raises(where: tuple[str, tuple[Any, ...]], change: Any) -> None:
    label, path = where
    outcome = verdict(edit(MADE[label], path, change))
    idle = (*IDLE.get(label, ()), "parameters", "claim", "statement", "hypotheses", "note", "definitions", "left")
    if path[0] not in idle and path[0] not in ("coefficient", "ratio", "right", "step"):
        old = at_path(MADE[label], path)
        assert outcome != "valid" or same_number(str(change), str(old))
