"""What the search finds unaided, that it finds nothing for what is false, and what its pieces compute."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.language import compression, lsvrg, noise_ball, proxskip, vectors
from tests.rounds import descent
from tests.shares import share
from theory import algorithm
from theory.catalog import claim as known
from theory.claim import Claim, claim
from theory.derivation import NotProvedError, check
from theory.derivation.reading import PLAIN, Reader
from theory.derivation.search.conic import Floats, solve
from theory.derivation.search.elimination import solutions, squares
from theory.derivation.search.field import Field
from theory.derivation.search.forms import Forms
from theory.derivation.search.searching import search
from theory.derivation.search.settings import holds, relations, settings
from theory.derivation.search.signs import Fact, Signs
from theory.sentence import parse_expression
from validate.certificate import verify
from validate.certificate.derivation import derivation_certificate


@algorithm
def noisy(w, x, *, eta, sigma2):
    return x - eta * (w.full_gradient(x) + w.mean(w.noise(sigma2)))


FLAT = "E(norm2(grad(f, x[k]))) <= 2*L*(1 - eta*mu)**k*(f(x0) - fstar) + eta*L**2*sigma2/mu"
CURVED_EACH = ("smooth(f_n, L)", "strongly_convex(f_n, mu)")
CURVED = ("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L")
APART = "f(v) + norm2(u - v) + norm2(u - w) >= f(w) + dot(grad(f, w), v - w) + (mu + 1)/2*norm2(v - w)"
NEARER = "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)"
FOUND = {
    "nearer": claim("nearer", NEARER, of=descent, assuming=("smooth(f, L)", "convex(f)", "eta <= 2/L")),
    "strict": claim("strict", "delta < delta + mu"),
    "strict sum": claim("strict-sum", "a < b", assuming=("a < c", "c <= b")),
    "strict square": claim("square", "norm2(a) < 2*norm2(a) + c", vectors=("a",)),
    "one-step": noise_ball.ONE_STEP,
    "noise-ball": noise_ball.NOISE_BALL,
    "proxskip": proxskip.THEOREM,
    "compression": compression.BALL,
    "jensen": vectors.JENSEN,
    "young": vectors.YOUNG,
    "cocoercive": vectors.COCOERCIVE,
    "geometric": vectors.GEOMETRIC,
    "weights": known("textbook/jensen-expectation"),
    "gradient-bound": known("textbook/gradient-bound"),
    "average-gradient": known("textbook/average-gradient"),
    "participation-variance": known("textbook/participation-variance"),
    "minibatch-sgd": known("textbook/minibatch-sgd"),
    "lemma-4": known("open-fl/lemma-4"),
    "a potential": claim("flat", FLAT, of=noisy, assuming=CURVED),
    "no place": claim("apart", APART, vectors=("u", "v", "w"), assuming=("strongly_convex(f, mu)",)),
    "a step": known("open-fl/eq23"),
}
LONG = ("noise-ball", "proxskip", "minibatch-sgd")
FALSE = {
    "too far": claim("far", NEARER, of=descent, assuming=("smooth(f, L)", "convex(f)", "eta <= 3/L")),
    "a potential too small": claim("flat", FLAT.replace("eta*L**2", "eta*L**2/4"), of=noisy, assuming=CURVED),
    "no place, too far": claim(
        "apart", APART.replace("(mu + 1)", "(mu + 2)"), vectors=("u", "v", "w"), assuming=("strongly_convex(f, mu)",)
    ),
    "a step too short": replace(known("open-fl/eq23"), statement="I2 == -beta1*weighted_gradient"),
    "not strict": claim("not", "norm2(a) < 2*norm2(a)", vectors=("a",)),
    "not strict sum": claim("not-sum", "a < b", assuming=("a <= c", "c <= b")),
    "wrong-way": vectors.WRONG_WAY,
    "without-convexity": vectors.WITHOUT_CONVEXITY,
    "lost-factor": noise_ball.LOST_FACTOR,
    "no-spread": compression.NO_SPREAD,
    "proxskip/too-fast": proxskip.TOO_FAST,
    "lsvrg/too-fast": lsvrg.TOO_FAST,
}


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.slow] if x in LONG else []) for x in FOUND])
def test_it_is_found(name: str) -> None:
    """The kernel accepts what is found, and so does the stand-alone verifier; for a stronger claim neither does."""
    one = FOUND[name]
    found = search(one)
    assert found.lines is not None, found.tried
    assert check(one, found.lines).claim == one.id
    assert verify(derivation_certificate(one, found.lines)).valid
    for stronger in moved(one):
        with pytest.raises(NotProvedError):
            check(stronger, found.lines)


def moved(one: Claim) -> list[Claim]:
    """The claim with another right side."""
    left, relation, right = one.statement.partition(one.sentence.relation)
    worse = f"({right}) - 1" if relation != ">=" else f"({right}) + 1"
    return [replace(one, statement=f"{left} {relation} {worse}", proof=None)]


@pytest.mark.parametrize("name", share(FALSE, 2, "without-convexity", "no-spread"))
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    found = search(FALSE[name], 600)
    assert found.lines is None
    assert found.tried


def test_the_limit_of_work_is_kept() -> None:
    for found in (search(noise_ball.ONE_STEP, 2), search(noise_ball.ONE_STEP, until=0.0)):
        assert found.lines is None
        assert "the limit of work is reached" in found.tried[-1]


def test_a_claim_with_parameters_that_are_tied() -> None:
    """eta is 1/L: what is put in for it is made up for by multiples of that equation."""
    one = claim(
        "tied",
        "f(x - eta*grad(f, x)) <= f(x) - norm2(grad(f, x))/(2*L)",
        vectors=("x",),
        assuming=("smooth(f, L)", "eta == 1/L"),
    )
    found = search(one)
    assert found.lines is not None, found.tried
    assert any(part["line"] == "eta == 1/L" for part in found.lines[-1]["parts"])


def test_programs_in_floats() -> None:
    """x >= 0 and a square: t/2*a^2 + b^2/(2t) - ab is one, at t = 2."""
    square = np.zeros((3, 2, 2))
    square[0, 0, 0] = square[2, 1, 1] = 1.0
    square[1, 0, 1] = square[1, 1, 0] = 1.0
    goal = np.array([1.0, -1.0, 0.25])
    found = solve(Floats(goal, np.zeros((3, 0)), np.zeros(0, bool), (square,)), [])
    assert found is not None
    assert np.allclose(found.matrices[0], [[1.0, -0.5], [-0.5, 0.25]], atol=1e-5)
    goal[1] = -1.1
    assert solve(Floats(goal, np.zeros((3, 0)), np.zeros(0, bool), (square,)), []) is None


def test_linear_equations_over_a_field() -> None:
    field = Field(("a", "b"))
    a, b = field.atom("a"), field.atom("b")
    one = field.number(1)
    found = solutions([({"x": a, "y": one}, b), ({"x": one, "y": -one}, field.number(0))], ["x", "y", "z"])
    assert found is not None
    assert found.free == ("z",)
    assert found.values["x"][0] == b / (a + 1) == found.values["y"][0]
    assert solutions([({"x": a}, b), ({"x": a}, b + 1)], ["x"]) is None


def test_squares_are_the_matrix() -> None:
    field = Field(("c",))
    c, one = field.atom("c"), field.number(1)
    matrix = [[c, -one, one], [-one, 2 / c, -1 / c], [one, -1 / c, 3 / c]]
    found = squares(matrix, lambda e: field.value(e, [0.7]) >= 0, lambda _: True, field.inner.zero)
    assert found is not None
    for i in range(3):
        for j in range(3):
            assert sum((f * v.get(i, 0) * v.get(j, 0) for f, v in found), field.inner.zero) == matrix[i][j]
    assert squares([[-c]], lambda e: field.value(e, [0.7]) >= 0, lambda _: True, field.inner.zero) is None


def test_signs_are_products_of_facts() -> None:
    """2*g*L - m - g^2*L^2 >= 0 where m <= g*mu, g <= 1/L and mu <= L; the line says of what it is made."""
    field = Field(("m", "g", "mu", "L"))
    m, g, mu, L = map(field.atom, field.atoms)
    facts = [
        Fact("least", g * mu - m, "g*mu - m", False),
        Fact("step", 1 / L - g, "1/L - g", False),
        Fact("curvature", L - mu, "L - mu", False),
    ]
    at = [(0.05, 0.5, 0.2, 1.0), (0.1, 0.4, 0.3, 2.0)]
    signs = Signs(field, list(facts), [True] * 4, at, lambda: "sign")
    wanted = 2 * g * L - m - g**2 * L**2
    assert signs.nonnegative(wanted)
    (line,) = signs.lines
    gaps = {fact.line: fact.gap for fact in facts}
    total = field.inner.zero
    for part in line["parts"]:
        total = total + gaps[part["line"]] * element(field, part["times"])
    for square in line.get("squares", ()):
        total = total + element(field, square["times"])
    assert total == wanted
    assert not signs.nonnegative(g * mu - m - 1)
    assert not Signs(field, facts[:1], [True] * 4, at, lambda: "sign").nonnegative(wanted)


def element(field: Field, text: str) -> Any:
    names = dict(zip(field.atoms, field.inner.gens, strict=True))
    return field.inner.one * eval(text, {"__builtins__": {}}, names)  # what the test itself has made


@pytest.mark.parametrize(
    "one", [noise_ball.ONE_STEP, compression.BALL, proxskip.THEOREM, lsvrg.THEOREM], ids=lambda c: c.id
)
def test_settings_satisfy_the_hypotheses(one: Claim) -> None:
    found = settings(one, 8)
    assert len(found) == 8
    for values in found:
        assert all(holds(between, values) for between in relations(one))


@pytest.mark.parametrize(
    "text",
    [
        "E(norm2(x[k+1] - xstar))",
        "mean_n(mean_i(E(norm2(grad(f_ni, x[k]) - grad(f_n, xstar)))))",
        "norm2(mean_n(grad(f_n, x[k]))) + eta*sigma2/(mu*N)",
        "E(dot(grad(f, x[k]), x[k] - x0)) - f(x0)/(1 - eta*mu)**2",
    ],
)
def test_a_normal_form_in_words_has_that_normal_form(text: str) -> None:
    from theory.derivation import spoken

    reader: Reader = Forms(noise_ball.ONE_STEP).reader
    value = reader.value(parse_expression(text), PLAIN)
    assert (reader.value(parse_expression(spoken.scalar(value)), PLAIN) - value).zero


def test_an_element_in_words() -> None:
    field = Field(("eta", "L"))
    eta, L = map(field.atom, field.atoms)
    text = field.text(eta * (1 - 2 * eta * L) / L, [(0.1, 1.0)])
    assert element(field, text) == eta * (1 - 2 * eta * L) / L
    assert field.exact(eta / L, [Fraction(1, 3), Fraction(2)]) == Fraction(1, 6)


def test_of_all_products_that_a_multiplier_may_be_only_those_are_made_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between 0 and no end lie tens of thousands, of which the first twelve are tried."""

    @algorithm(v="each x0")
    def pulled(w: Any, v: Any, *, eta: Any, lam: Any, p: Any) -> Any:
        pull = v - eta * lam / p * (v - w.mean(v))
        return w.where(w.coin(p), pull, v - eta / (1 - p) * w.gradient(v))

    one = claim(
        "pulled",
        "E(mean_n(norm2(v[k+1] - xstar))) <= (1 - eta*mu)*E(mean_n(norm2(v[k] - xstar)))",
        of=pulled,
        assuming=(*CURVED_EACH, "same_minimiser(f_n)", "p < 1", "eta <= (1 - p)/L", "eta <= p/lam"),
    )
    made: list[Any] = []
    number = Field.number
    monkeypatch.setattr(Field, "number", lambda self, c: made.append(c) or number(self, c))
    search(one)
    assert len(made) < 2000
