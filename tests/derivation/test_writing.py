"""Lines that are written shortly are the data that kernel and verifier read."""

import pytest

from tests.derivation.both import check
from tests.rounds import descent
from theory import claim
from theory.derivation import axiom, combined, telescope

PARTS = {"round": "1", "E mean_n: smooth convex f_n (x[k], xstar)": "2*eta", "three times": "a*(b + c)"}
SUM = "sum_k(norm2(x[k+1] - x0) - norm2(x[k] - x0)) == norm2(x[K] - x0)"


def test_parts_as_text_are_those_of_a_mapping() -> None:
    text = "round; E mean_n: smooth convex f_n (x[k], xstar) times 2*eta; three times times a*(b + c)"
    assert combined("all", None, text, "1 times L/2") == combined("all", None, PARTS, {"1": "L/2"})


def test_a_number_telescopes() -> None:
    lines = (telescope("moves", "norm2(x[k] - x0)", "sum_k", "K"), combined("all", None, "moves"))
    check(claim("telescopes", SUM, of=descent, proof=lines))


def test_a_number_telescopes_up_to_a_turn() -> None:
    line = telescope("moves", "E(norm2(y[k, h]))", "sum_h", "H", "m")
    grown = "E(norm2(y[k, h + 1])) - (E(norm2(y[k, h])))"
    assert line["sentence"] == f"sum_h(max(0, min(1, m - h))*({grown})) == E(norm2(y[k, m])) - (E(norm2(y[k, 0])))"
    assert line["of"] == ["E(norm2(y[k, h]))", "m"]


@pytest.mark.parametrize(
    ("sentence", "schema", "of", "over"),
    [
        ("dot(a - b, a) <= norm(a - b)*norm(a)", "cauchy", ("a - b", "a"), ""),
        ("norm(a - b + a) <= norm(a - b) + norm(a)", "triangle", ("a - b", "a"), ""),
        ("norm(sum_n(a_n - a)) <= sum_n(norm(a_n - a))", "triangle", ("a_n - a",), "sum_n"),
        ("norm2(mean_n(c*(a_n - a))) <= mean_n(c)*mean_n(c*norm2(a_n - a))", "jensen", ("c", "a_n - a"), "mean_n"),
        ("exp(c - d) >= 1 + c - d", "exp", ("c - d",), ""),
        ("exp(c - d - c) == exp(c - d)*exp(-c)", "exp sum", ("c - d", "-c"), ""),
    ],
)
def test_an_axiom_says_what_it_says(sentence: str, schema: str, of: tuple[str, ...], over: str) -> None:
    said = claim("said", sentence, vectors=("a", "b", "a_n"))
    check(said, (axiom("as it says", None, schema, *of, over=over), combined("all", None, "as it says")))
