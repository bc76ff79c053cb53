"""Certificates of the kinds "permutations", "unrolled" and "products": valid ones, every number changed, rubbish."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st
from validate.papers.perm.shuffling_epochs import Epoch, quantile
from validate.papers.perm.shuffling_refutations import (
    BROKEN,
    Broken,
    alike,
    epoch_certificate,
    left_side,
    unrolled_certificate,
)
from validate.papers.perm.shuffling_scenarios import epoch, scalar_epochs

from tests.rationals import rationals
from tests.validate.tampering import at_path, edit, json_values, other_numbers, same_number, strings, verdict
from theory.claim import Claim
from theory.papers.perm import PAPER
from validate import certificate, verifier
from validate.report.words import described
from validate.verifier import FormatError, permutations, products
from validate.verifier import epoch as played
from validate.verifier.intervals import Interval, OutsideDomain, exponential, logarithm

F = Fraction
CLAIMS = {c.label: c for c in PAPER}
PERMUTATIONS = {
    f"{label}{broken.suffix}": (CLAIMS[label], epoch_certificate(CLAIMS[label], broken))
    for label, several in BROKEN.items()
    for broken in several
}
UNROLLED = {label: (CLAIMS[label], unrolled_certificate(CLAIMS[label])) for label in ("proposition-1", "lemma-7")}


def leaning() -> dict[str, Any]:
    """Two clients, two steps each, in which every number matters; both sides of Lemma 7 written out afresh."""
    h, b, alpha, eta, start = [F(1), F(2)], [F(1, 3), F(-1)], [F(1, 3), F(2, 3)], F(1, 5), F(2)
    noise = [[F(1), F(-1, 2)], [F(1, 4), F(3)]]
    c = [eta * a * 2 for a in alpha]
    v = start
    for j in (0, 1):
        for d in noise[j]:
            v -= c[j] * (h[j] * v - b[j] + d)
    once = [1 - x * y for x, y in zip(c, h, strict=True)]
    moves = [x * (1 + y) for x, y in zip(c, once, strict=True)]
    deltas = [x * (y * d[0] + d[1]) for x, y, d in zip(c, once, noise, strict=True)]
    first, second = (q * (k * start - s) - d for q, k, s, d in zip(moves, h, b, deltas, strict=True))
    right = start - once[1] ** 2 * first - second
    clients = [{"h": x, "b": y} for x, y in zip(h, b, strict=True)]
    return certificate.unrolled_certificate(CLAIMS["lemma-7"], clients, alpha, eta, 2, start, noise, v, right)


def two_factors() -> dict[str, Any]:
    """(I - 2A)^2 = diag(9, 1) for A = diag(-1, 1)."""
    parameters = {"a": 2, "b": 0, "L": 1, "l": 0, "h": 1}
    right = F(CLAIMS["proposition-2"].enclose(**parameters).lower)
    return certificate.products_certificate(CLAIMS["proposition-2"], [[[-1, 0], [0, 1]]] * 2, parameters, 8, right)


def turned() -> dict[str, Any]:
    """Two factors each, of the plane, not commuting; a norm that is irrational."""
    A = [[[F(-1), F(0)], [F(0), F(-1, 2)]], [[F(-1, 2), F(1, 2)], [F(1, 2), F(-1, 2)]]]
    B = [[[F(1, 2), F(0)], [F(0), F(1, 3)]]] * 2
    parameters: dict[str, Any] = {"a": 3, "b": F(1, 2), "L": 1, "l": 2, "h": 3}
    one = np.eye(2)
    factors = [(one - c * np.array(m, dtype=float)) for c, ms in ((3, A), (0.5, B)) for m in ms]
    left = np.linalg.norm(factors[0] @ factors[1] - factors[2] @ factors[3], 2)
    right = F(CLAIMS["proposition-2"].enclose(**parameters).lower)
    return certificate.products_certificate(CLAIMS["proposition-2"], A, parameters, float(left), right, B=B)


UNROLLED["leaning"] = (CLAIMS["lemma-7"], leaning())
PRODUCTS = {"two": (CLAIMS["proposition-2"], two_factors()), "turned": (CLAIMS["proposition-2"], turned())}
# Lemma 13 without the step that the proof of Lemma 11 fixes, made up: a long one amplifies the noise
ANY_STEP = replace(CLAIMS["lemma-13"], standing=())
NOISE = {"noise": (ANY_STEP, epoch_certificate(ANY_STEP, Broken(alike([1], [0], 3, 1, 10, 0, 1, 1), "")))}
ALL = {**PERMUTATIONS, **UNROLLED, **PRODUCTS, **NOISE}
KEPT = ("format", "kind", "claim", "statement", "hypotheses", "right", "definitions", "note", "relation")


@pytest.mark.parametrize("name", ALL)
def test_valid_certificates(name: str) -> None:
    claim, made = ALL[name]
    report = verifier.verify(made)
    assert report.valid, report.lines
    assert certificate.differences(made, claim) == ()
    assert described(made)


@pytest.mark.parametrize("name", ["lemma-10.all-clients", "lemma-12", "lemma-7"])
def test_no_printed_value_can_be_changed(name: str) -> None:
    original = ALL[name][1]
    for field in ("left_value", "right_value"):
        for other in other_numbers(original[field]):
            if not same_number(other, original[field]):
                assert verdict(edit(original, (field,), other)) in ("invalid", "malformed"), (field, other)


@pytest.mark.parametrize("name", ["lemma-10.all-clients", "lemma-11a", "lemma-11b"])
def test_a_changed_number_never_yields_a_false_refutation(name: str) -> None:
    """Whatever number of the instance is changed: it is refused, or the certificate is true all the same."""
    claim, original = ALL[name]
    for path, text in strings(original):
        if path[0] in (*KEPT, "left_value", "right_value") or path[-1] == "quantity":
            continue
        for other in other_numbers(str(text))[:3]:
            changed = edit(original, path, int(other) if isinstance(text, int) and other.isdigit() else other)
            if verdict(changed) == "valid":
                assert still_true(claim, changed), (path, other)


@pytest.mark.parametrize("name", ["leaning", "turned"])
def test_no_number_can_be_changed(name: str) -> None:
    original = ALL[name][1]
    for path, text in strings(original):
        if path[0] in (*KEPT, "left_value", "right_value") or path[-1] == "quantity":
            continue
        for other in other_numbers(str(text))[:3]:
            if not same_number(other, str(text)):
                assert verdict(edit(original, path, other)) in ("invalid", "malformed"), (path, other)


def still_true(claim: Claim, made: dict[str, Any]) -> bool:
    """By the code of the measurements."""
    clients = made["clients"]
    e = epoch(
        "",
        [F(c["h"]) for c in clients],
        [F(c["b"]) for c in clients],
        [F(a) for a in made["alpha"]],
        F(made["step"]),
        made["local_steps"],
        1,
        F(made["start"]),
        1,
        F(made["noise"]),
    )
    p = F(made["parameters"]["p"])
    last = made["left"].get("last", int(made["parameters"].get("n", 0)))
    own = {q.name: F(made["parameters"][q.name]) for q in claim.parameters}
    left = left_side(claim, Broken(e, "", p, last))
    return bool(left == F(made["left_value"]) and float(left) > claim.bound(**{k: float(v) for k, v in own.items()}))


@pytest.mark.parametrize(
    ("name", "path", "value", "says"),
    [
        ("lemma-11a", ("parameters", "p"), "1", "p = 1 is in (0, 1)"),
        ("lemma-11a", ("parameters", "eta"), "1/200", "eta = 1/200 is 1/32"),
        ("lemma-11a", ("parameters", "R"), "101", "eta <= 1/(4NKRL), R = 101"),
        ("lemma-11a", ("parameters", "R"), "1/2", "R = 1/2 is a number of epochs"),
        ("lemma-11a", ("parameters", "G"), "1", "G = 1 >= 3"),
        ("lemma-11a", ("parameters", "L"), "1/2", "L = 1/2 >= 2"),
        ("lemma-11a", ("parameters", "grad_phi"), "1", "grad_phi = 1 is 0"),
        ("lemma-11a", ("parameters", "mu"), "2", "mu = 2 is in (0, 1]"),
        ("lemma-11a", ("parameters", "zeta"), "2", "parameter zeta cannot be checked"),
        ("lemma-11a", ("alpha", 0), "1/3", "the weights are a point of the simplex"),
        ("lemma-11a", ("start",), "3", "v^r = 3 lies in W"),
        ("lemma-11a", ("hypotheses", 2, "constant"), "D", "unknown here"),
        ("lemma-11a", ("hypotheses", 3, "name"), "something", "cannot be checked"),
        ("lemma-11a", ("right",), "gradient_term + 10*deviation_term", "exceeds the right side"),
        ("lemma-11a", ("right",), "log(-1)", "the logarithm of a number that may not be positive"),
        ("noise", ("noise",), "2", "delta = 1 >= 2"),
        ("noise", ("parameters", "L"), "1/2", "L = 1/2 >= 1"),
        ("theorem-2-step/unnormalised", ("parameters", "V"), "2", "V = 2 is 1"),
        ("theorem-2-step/unnormalised", ("parameters", "gap"), "0", "gap = 0 is 1/2000"),
        ("two", ("parameters", "h"), "2", "there are h - l + 1 = 3 matrices"),
        ("two", ("parameters", "L"), "1/2", "-L I <= A_t <= L I"),
        ("lemma-7", ("noise", 0, 0), "0", "left_value is 0"),
    ],
)
def test_what_is_wrong_is_named(name: str, path: tuple[Any, ...], value: Any, says: str) -> None:
    report = verifier.verify(edit(ALL[name][1], path, value))
    assert not report.valid
    assert any(line.startswith("FAIL") and says in line for line in report.lines), report.lines


def test_a_bound_that_holds_is_not_refuted() -> None:
    """The repairs on the same epochs: nothing but the last line fails."""
    for label in ("lemma-11a", "lemma-12"):
        for broken in BROKEN[label]:
            report = verifier.verify(epoch_certificate(CLAIMS[f"{label}/corrected"], broken))
            failed = [line for line in report.lines if line.startswith("FAIL")]
            assert len(failed) == 1, report.lines
            assert "for 0 of 2 orders" in failed[0]


def test_too_few_orders_refute_nothing() -> None:
    """Gradients 1, 1, -2: one of three orders of the first client exceeds the bound; p = 1/3 allows it."""
    claim, made = ALL["lemma-11b"]
    e = alike([1, 1, 1], [F(-1, 1000), F(-1, 1000), -5], 1, 1, F(1, 12), 0, F(1, 10))
    chances = {}
    for p in (F(1, 3), F(33, 100)):
        broken = Broken(e, "", p, 2)
        own = {"eta": F(1, 12), "N": 3, "K": 1, "G": e.G, "p": p, "grad_phi": e.weighted_gradient[0] / 3}
        report = verifier.verify(
            {**epoch_certificate(claim, broken), "right": "eta*(1 + 0*G)", "right_value": "0.08333333333"}
        )
        assert own["G"] > 5
        chances[p] = report
    assert not chances[F(1, 3)].valid
    assert "for 2 of 6 orders, p = 1/3" in chances[F(1, 3)].lines[-1]
    assert chances[F(33, 100)].valid, chances[F(33, 100)].lines
    assert made["left"] == {"quantity": "epoch_part", "last": 2}


@pytest.mark.parametrize("name", ["lemma-11b", "lemma-7", "turned"])
def test_no_field_can_be_left_out_or_added(name: str) -> None:
    original = ALL[name][1]
    for field in original:
        if field not in ("note", "definitions"):
            without = {k: v for k, v in original.items() if k != field}
            assert verdict(without) == "malformed", field
    assert verdict({**original, "more": "1"}) == "malformed"


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("lemma-11b", ("clients",), []),
        ("lemma-11b", ("clients",), [{"h": "1", "b": "0"}] * 7),
        ("lemma-11b", ("clients", 0, "h"), "0"),
        ("lemma-11b", ("alpha",), ["1"]),
        ("lemma-11b", ("alpha",), ["0", "0", "0"]),
        ("lemma-11b", ("alpha", 0), "-1/3"),
        ("lemma-11b", ("step",), "0"),
        ("lemma-11b", ("local_steps",), 65),
        ("lemma-11b", ("start",), "1/" + "7" * 3900),
        ("lemma-11b", ("domain",), ["1", "0"]),
        ("lemma-11b", ("domain",), ["0"]),
        ("lemma-11b", ("left",), {"quantity": "epoch_part"}),
        ("lemma-11b", ("left", "last"), 3),
        ("lemma-11b", ("left", "quantity"), "epoch_cross"),
        ("lemma-11b", ("relation",), ">="),
        ("lemma-10", ("parameters", "n"), "2"),
        ("noise", ("local_steps",), 20),
        ("lemma-7", ("noise",), [["1"], []]),
        ("lemma-7", ("left", "quantity"), "unrolled_update"),
        ("lemma-7", ("left", "quantity"), "partial_sum"),
        ("two", ("A", 0), [["1", "2"], ["1", "1"]]),
        ("two", ("A", 0), [["1"] * 3] * 3),
        ("two", ("A", 0), [["1"]]),
        ("two", ("A",), []),
        ("two", ("parameters", "b"), "1"),
        ("two", ("left", "quantity"), "distance"),
    ],
)
def test_malformed_fields(name: str, path: tuple[Any, ...], value: Any) -> None:
    assert verdict(edit(ALL[name][1], path, value)) == "malformed"


RUBBISH = [
    (name, path)
    for name in ("lemma-11b", "lemma-7", "turned")
    for path in sorted({p[:cut] for p, _ in strings(ALL[name][1]) for cut in range(1, len(p) + 1)}, key=repr)
]


@given(st.sampled_from(RUBBISH), json_values)
@settings(max_examples=120, deadline=None)
def test_rubbish_never_raises(place: tuple[str, tuple[Any, ...]], value: Any) -> None:
    name, path = place
    outcome = verdict(edit(ALL[name][1], path, value))
    if path[0].endswith("_value") or path[0] in ("kind", "format"):
        assert outcome != "valid" or same_number(str(value), str(at_path(ALL[name][1], path))) or path[0] == "kind"


# --- against the code of the measurements ----------------------------------------------------------------------------


@pytest.mark.parametrize("e", [e for e in scalar_epochs(30) if e.clients <= 4], ids=lambda e: e.name)
def test_both_codes_agree_on_every_order(e: Epoch) -> None:
    own = played.Epoch(
        tuple(e.hessian[:, 0, 0]), tuple(e.linear[:, 0]), tuple(e.alpha), e.step, e.local_steps, e.start[0]
    )
    low, high = e.start[0] - e.width, e.start[0] + e.width
    last = e.clients - 1
    at = permutations.Setting(own, low, high, e.spread, last)
    assert at.largest_gradient() == e.G
    assert own.minimiser(low, high) == e.best[0]  # type: ignore[index]
    assert own.cost(F(1, 3)) == e.cost(np.array([F(1, 3)]))
    for order in e.orders:
        assert permutations.partial_sum(at, order) == e.partial_sums(order)[last]
        assert permutations.epoch_bias_sum(at, order) == e.bias()
        assert permutations.epoch_cross(at, order) == e.cross(order)
        if last >= 2:
            assert permutations.epoch_part(at, order) == e.parts(order)[last - 2]
        if e.spread == 0 or e.clients * e.local_steps <= 4:
            assert permutations.next_model_squared_distance(at, order) == e.next_distance(order)
            sums = e.noise_sums(order)
            if sums is not None:
                assert permutations.epoch_noise(at, order) == abs(sums).sum() / F(len(sums))


@given(st.lists(rationals(-3, 3, 20), min_size=4, max_size=4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_norms_of_matrices(entries: list[Fraction], line: bool) -> None:
    m = ((entries[0],),) if line else ((entries[0], entries[1]), (entries[2], entries[3]))
    found = products.norm(m)
    low, high = found.ends if isinstance(found, Interval) else (found, found)
    exact = np.linalg.norm(np.array([[float(x) for x in row] for row in m]), 2)
    assert float(low) - 1e-9 <= exact <= float(high) + 1e-9
    assert high - low < F(1, 10**30)


def test_the_quantile_is_that_of_the_definition() -> None:
    """For every p, by the verifier's rule and by the measurements' one."""
    values = [F(n) for n in (3, 1, 4, 1, 5, 9)]
    for p in [F(k, 12) for k in range(1, 12)]:
        allowed = p * 6
        assert min(v for v in values if sum(o > v for o in values) <= allowed) == quantile(values, p)


# --- exponentials and logarithms -------------------------------------------------------------------------------------


def contains(found: Interval, ball: arb) -> bool:
    """Whether the interval meets the ball, and is not wider than a few hundred units."""
    low, high = (arb(int(end)) / arb(2) ** 320 for end in (found.low, found.high))
    return bool(low <= ball.upper()) and bool(ball.lower() <= high)


@given(st.fractions(-200, 200, max_denominator=10**6))
@example(F(0))
@example(F(1, 2))
@example(F(-1, 10**9))
@settings(max_examples=60, deadline=None)
def test_exponentials_are_enclosed(x: Fraction) -> None:
    with precision():
        exact = (arb(x.numerator) / x.denominator).exp()
        found = exponential(x)
        assert contains(found, exact)
        assert found.high - found.low <= max(2**16, (found.high >> 300) + 2**16)


@given(st.fractions(F(1, 10**12), 10**12, max_denominator=10**12))
@example(F(1))
@example(F(1, 2))
@example(F(999999999, 10**9))
@settings(max_examples=40, deadline=None)
def test_logarithms_are_enclosed(y: Fraction) -> None:
    with precision():
        assert contains(logarithm(y), (arb(y.numerator) / y.denominator).log())
    low, high = logarithm(y).ends
    assert high - low < F(1, 10**60)


@given(st.fractions(F(1, 100), 100, max_denominator=1000), st.fractions(0, 1, max_denominator=100))
@settings(max_examples=30, deadline=None)
def test_intervals_are_mapped_to_intervals(y: Fraction, width: Fraction) -> None:
    wide = Interval(Interval.of(y).low, Interval.of(y + width).high)
    for inside in (y, y + width / 3, y + width):
        for function in (exponential, logarithm):
            narrow, all_of_it = function(inside), function(wide)
            assert all_of_it.low <= narrow.high
            assert narrow.low <= all_of_it.high
            assert all_of_it.low - 2**10 <= narrow.low
            assert narrow.high <= all_of_it.high + 2**10


def test_what_has_no_value_is_refused() -> None:
    for bad in (F(0), F(-1), Interval.of(0), Interval(-1, 1)):
        with pytest.raises(OutsideDomain):
            logarithm(bad)
    for large in (F(10**5), F(-(10**5)), F(300)):
        with pytest.raises(FormatError):
            exponential(large)
    assert exponential(F(-9_999)).low == 0


class precision:
    """400 bits for the balls."""

    def __enter__(self) -> None:
        self.before, ctx.prec = ctx.prec, 400

    def __exit__(self, *of: object) -> None:
        ctx.prec = self.before


def test_all_orders_are_played() -> None:
    """Three clients: six orders, of which the part of the epoch takes three values twice."""
    e = alike([1, 1, 1], [-1, -2, -4], 1, 1, F(1, 12), 0, 1)
    own = played.Epoch((F(1),) * 3, (F(-1), F(-2), F(-4)), (F(1, 3),) * 3, F(1, 12), 1, F(0))
    at = permutations.Setting(own, F(-1), F(1), F(0), 2)
    found = sorted(permutations.epoch_part(at, order) for order in itertools.permutations(range(3)))
    assert found == [F(1, 12)] * 2 + [F(1, 6)] * 2 + [F(1, 3)] * 2
    assert found == sorted(e.parts(order)[0] for order in e.orders)
