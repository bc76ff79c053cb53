"""Rates from what other claims of the paper say of a round: summed, telescoped, carried over rounds, and no more."""

from dataclasses import replace
from typing import Any

import pytest

from tests.rounds import descent, sgd
from tests.shares import share
from theory import Paper, algorithm, claim
from theory.claim import Claim
from theory.derivation import NotProvedError, assumed, check, combined, step
from theory.derivation.search.searching import search
from validate.certificate import verify
from validate.certificate.derivation import derivation_certificate


@algorithm(x="x0", p="x0")
def heavy_ball(w, x, p, *, eta, beta):
    g = w.mean(w.gradient(x, w.sample()))
    return x - eta / (1 + beta) * g + beta / (1 + beta) * (x - p), x


SMOOTH = ("smooth(f, L)", "bounded_below(f)", "eta <= 1/L")
CONVEX = ("smooth(f_n, L)", "convex(f_n)", "bounded_variance(sigma2)", "eta <= 1/(2*L)")
CURVED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "bounded_variance(sigma2)", "eta <= 1/L")
HEAVY = (*CONVEX[:3], "eta <= 1/L")
MOVED = "E(norm2(x[k+1] + beta*(x[k+1] - x[k]) - xstar))"
HERE = "E(norm2(x[k] + beta*(x[k] - p[k]) - xstar))"
LEMMAS = {
    "descent": claim(
        "a", "f(x[k+1]) <= f(x[k]) - c*norm2(grad(f, x[k]))", of=descent, assuming=SMOOTH, where={"c": "eta/2"}
    ),
    "step": claim(
        "a",
        "E(norm2(x[k+1] - xstar)) <= E(norm2(x[k] - xstar)) - eta*(E(f(x[k])) - fstar) + eta**2*sigma2/N",
        of=sgd,
        assuming=CONVEX,
    ),
    "contraction": claim(
        "a",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + eta**2*sigma2/N",
        of=sgd,
        assuming=CURVED,
    ),
    "heavy": claim(
        "a",
        f"{MOVED} + 2*eta*(1 + beta)*(E(f(x[k])) - fstar)"
        f" <= {HERE} + 2*eta*beta*(E(f(p[k])) - fstar) + eta**2*sigma2/N",
        of=heavy_ball,
        assuming=HEAVY,
        proof=(
            step(
                "round",
                f"{MOVED} == {HERE} - 2*eta*E(dot(grad(f, x[k]), x[k] + beta*(x[k] - p[k]) - xstar))"
                " + eta**2*E(norm2(grad(f, x[k])))"
                " + eta**2/N*E(mean_n(mean_i(norm2(grad(f_ni, x[k]) - grad(f_n, x[k])))))",
            ),
            assumed("noise", None, ("bounded_variance(sigma2)",), "variance", v="x[k]"),
            assumed("past", None, ("convex(f_n)",), "convex", "f", x="x[k]", y="p[k]"),
            assumed("best", None, ("smooth(f_n, L)", "convex(f_n)"), "smooth convex", "f", x="xstar", y="x[k]"),
            assumed("least", None, (), "minimiser"),
            assumed("flat", None, (), "zero", v="grad(f, xstar) - 2*grad(f, x[k])"),
            combined(
                "all",
                None,
                "round; E mean_n: noise times eta**2/N; E: past times 2*eta*beta; E: best times 2*eta;"
                " least times 2*eta; E: flat times -eta/L",
                squares="E: grad(f, x[k]) times eta*(1/L - eta)",
            ),
        ),
    ),
}
GRADIENTS = "2*(f(x0) - fstar)/(eta*K)"
VALUES = "norm2(x0 - xstar)/(eta*K) + eta*sigma2/N"
BALL = "eta*sigma2/(mu*N)"
FOUND: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "mean": ("descent", f"mean_k(norm2(grad(f, x[k]))) <= {GRADIENTS}", SMOOTH),
    "least": ("descent", f"min_k(norm2(grad(f, x[k]))) <= {GRADIENTS}", SMOOTH),
    "of finer functions, shorter steps": (
        "descent",
        f"min_k(norm2(grad(f, x[k]))) <= {GRADIENTS}",
        ("smooth(f_n, L)", "bounded_below(f)", "eta <= 1/(2*L)"),
    ),
    "mean of gradients": ("descent", f"norm2(mean_k(grad(f, x[k]))) <= {GRADIENTS}", SMOOTH),
    "last": ("descent", "f(x[K]) <= f(x0)", SMOOTH),
    "mean iterate": ("step", f"E(f(mean_k(x[k]))) - fstar <= {VALUES}", CONVEX),
    "best iterate": ("step", f"min_k(E(f(x[k]))) - fstar <= {VALUES}", CONVEX),
    "best of each run": ("step", f"E(min_k(f(x[k]))) - fstar <= {VALUES}", CONVEX),
    "how far": ("step", "E(norm2(x[K] - xstar)) <= norm2(x0 - xstar) + K*eta**2*sigma2/N", CONVEX),
    "with a root of K": (
        "step",
        "mean_k(E(f(x[k]))) - fstar <= (norm2(x0 - xstar)/c + c*sigma2/N)/sqrt(K)",
        (*CONVEX, "eta == c/sqrt(K)"),
    ),
    "last of a contraction": (
        "contraction",
        f"E(norm2(x[K] - xstar)) <= (1 - eta*mu)**K*norm2(x0 - xstar) + {BALL}",
        CURVED,
    ),
    "last value": (
        "contraction",
        f"E(f(x[K])) - fstar <= L/2*((1 - eta*mu)**K*norm2(x0 - xstar) + {BALL})",
        CURVED,
    ),
    "longest steps": (
        "contraction",
        "E(norm2(x[K] - xstar)) <= (1 - mu/L)**K*norm2(x0 - xstar) + sigma2/(mu*L*N)",
        (*CURVED[:3], "eta == 1/L"),
    ),
    "rounds enough": (
        "contraction",
        f"E(norm2(x[K] - xstar)) <= q*norm2(x0 - xstar) + {BALL}",
        (*CURVED, "(1 - eta*mu)**K <= q"),
    ),
    "heavy ball": (
        "heavy",
        "mean_k(E(f(x[k]))) - fstar <= norm2(x0 - xstar)/(2*eta*K) + beta*(f(x0) - fstar)/K + eta*sigma2/(2*N)",
        HEAVY,
    ),
}
FALSE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "half": ("descent", "mean_k(norm2(grad(f, x[k]))) <= (f(x0) - fstar)/(eta*K)", SMOOTH),
    "longer steps": (
        "descent",
        f"min_k(norm2(grad(f, x[k]))) <= {GRADIENTS}",
        ("smooth(f, L)", "bounded_below(f)", "eta <= 3/L"),
    ),
    "a smaller ball": (
        "contraction",
        "E(norm2(x[K] - xstar)) <= (1 - eta*mu)**K*norm2(x0 - xstar) + eta*sigma2/(4*mu*N)",
        CURVED,
    ),
    "not convex": ("step", f"E(f(mean_k(x[k]))) - fstar <= {VALUES}", (CONVEX[0], *CONVEX[2:])),
    "no noise": (
        "heavy",
        "mean_k(E(f(x[k]))) - fstar <= norm2(x0 - xstar)/(2*eta*K) + beta*(f(x0) - fstar)/K",
        HEAVY,
    ),
}


def beside(case: tuple[str, str, tuple[str, ...]], **more: Any) -> Claim:
    """The claim of a paper that has the lemma, too."""
    lemma, statement, assuming = case
    one = replace(LEMMAS[lemma])
    rate = claim("rate", statement, of=one.of, assuming=assuming, **more)
    return Paper("p", "A paper", "its authors", (one, rate)).claims[1]


@pytest.mark.parametrize("name", share(FOUND, 5, "mean of gradients", "last of a contraction"))
def test_it_follows_from_a_lemma(name: str) -> None:
    """Kernel and verifier accept it; for a claim that says more neither does. Units are those of a check."""
    one = beside(FOUND[name])
    found = search(one, 400)
    assert found.lines is not None, found.tried
    assert check(one, found.lines).claim == one.id
    assert verify(derivation_certificate(one, found.lines)).valid
    left, relation, right = one.statement.partition("<=")
    stronger = replace(one, statement=f"{left} {relation} ({right}) - 1")
    with pytest.raises(NotProvedError):
        check(stronger, found.lines)
    assert search(stronger, 100).lines is None


@pytest.mark.parametrize("name", share(["last of a contraction", "heavy ball", "best of each run"], 2))
def test_without_the_lemma_it_is_not_found(name: str) -> None:
    assert search(replace(beside(FOUND[name]), beside=()), 400).lines is None


@pytest.mark.parametrize("name", share(FALSE, 3, "longer steps", "not convex"))
def test_nothing_follows_that_is_false(name: str) -> None:
    assert search(beside(FALSE[name]), 400).lines is None


def test_a_lemma_about_other_numbers_is_not_used() -> None:
    """The lemma's claim is about steps up to 1/L; here L is what something else is bounded by."""
    one = beside(("descent", f"min_k(norm2(grad(f, x[k]))) <= {GRADIENTS}", ("bounded_below(f)", "eta <= 1/L")))
    assert search(one, 400).lines is None


def test_the_claims_beside_a_claim_are_those_of_its_paper() -> None:
    one = beside(FOUND["least"])
    assert [other.id for other in one.beside] == ["p/a"]
    assert one.beside[0].beside == (one,)
    assert one == replace(one, beside=())
