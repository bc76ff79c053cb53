"""What holds of all numbers and vectors, in Rocq: coqc accepts it, and nothing more."""

import shutil

import pytest

from tests.derivation.export.test_rocq import accepted, compiled
from tests.shares import share
from theory import claim
from theory.derivation import at, combined, lines
from theory.derivation.export import NotExportedError, rocq
from theory.derivation.writing import axiom
from theory.domain import COUNT, POSITIVE, Domain

coqc = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")
UNIT = Domain(0, 1)
POWERS = {"parameters": {"m": COUNT, "q": UNIT}}


def last(schema: str, *of: str, over: str = ""):
    return [axiom("all", None, schema, *of, over=over)]


AXIOMS = {
    "max": ("b <= max(a, b, c)", last("max", "a", "b", "c"), {}),
    "min": ("min(a, b, c) <= c", last("min", "a", "b", "c"), {}),
    "bounds": ("max(a, a + b) <= a + b + c", last("bounds", "a", "a + b", "a + b + c"), {}),
    "bounds below": ("min(a + b, 2*a) >= a", last("bounds", "a + b", "2*a", "a"), {}),
    "bounds over": ("max_n(q_n) <= 1", last("bounds", "q_n", "1", over="max_n"), {"parameters": {"q": UNIT}}),
    "part": ("a_n <= sum_n(a_n)", last("part", "a_n", over="sum_n"), {}),
    "jensen": (
        "norm2(sum_n(a_n*v_n)) <= sum_n(a_n)*sum_n(a_n*norm2(v_n))",
        last("jensen", "a_n", "v_n", over="sum_n"),
        {"vectors": ("v_n",)},
    ),
    "jensen of means": (
        "norm2(mean_n(a_n*v_n)) <= mean_n(a_n)*mean_n(a_n*norm2(v_n))",
        last("jensen", "a_n", "v_n", over="mean_n"),
        {"vectors": ("v_n",)},
    ),
    "triangle": (
        "norm(sum_n(v_n)) <= sum_n(norm(v_n))",
        last("triangle", "v_n", over="sum_n"),
        {"vectors": ("v_n",)},
    ),
    "bernoulli": ("1 + m*a <= (1 + a)**m", last("bernoulli", "a", "m"), {"parameters": {"m": COUNT}}),
    "exponents": (
        "(1 + a)**m <= (1 + a)**(m + 2)",
        last("exponents", "1 + a", "m", "m + 2"),
        {"parameters": {"m": COUNT}},
    ),
    "exponents that shrink": ("q**(m + 1) <= q**m", last("exponents", "q", "m", "m + 1"), POWERS),
    "exp sum": ("exp(a + b) == exp(a)*exp(b)", last("exp sum", "a", "b"), {}),
    "log": ("log(a) <= a - 1", last("log", "a"), {}),
    "inverses that telescope": (
        "sum_k(a**(-2*(k + 1)) - a**(-2*k)) == a**(-2*K) - 1",
        last("telescope", "a**(-2*k)", over="sum_k"),
        {"parameters": {"a": POSITIVE}},
    ),
    "square": ("(a - b)*(a - b) >= 0", last("square", "a - b"), {}),
    "a maximum of numbers": ("max(1, 0)*a <= max(2, 3)*a", [combined("all", squares={"1": "2*a"})], {}),
}  # fmt: skip
WRONG = {
    "max": ("c <= max(a, b)", last("max", "a", "b"), {}),
    "bounds": ("max(a, b) <= a", last("bounds", "a", "b", "a"), {}),
    "bounds over": ("max_n(a_n) <= mean_n(a_n)", last("bounds", "a_n", "mean_n(a_n)", over="max_n"), {}),
    "part": ("a_n - b <= sum_n(a_n - b)", last("part", "a_n - b", over="sum_n"), {}),
    "jensen": (
        "norm2(sum_n((a_n - b)*v_n)) <= sum_n(a_n - b)*sum_n((a_n - b)*norm2(v_n))",
        last("jensen", "a_n - b", "v_n", over="sum_n"),
        {"vectors": ("v_n",)},
    ),
    "bernoulli": ("1 - m*a <= (1 - a)**m", last("bernoulli", "-a", "m"), {"parameters": {"m": COUNT}}),
    "exponents": ("q**m <= q**(m + 1)", last("exponents", "q", "m", "m + 1"), POWERS),
    "inverses that telescope": (
        "sum_k(a**(-2*(k + 1)) - a**(-2*k)) == a**(-2*K)",
        last("telescope", "a**(-2*k)", over="sum_k"),
        {"parameters": {"a": POSITIVE}},
    ),
    "log": ("log(a) <= a - 2", last("log", "a"), {}),
}  # fmt: skip


@coqc
@pytest.mark.parametrize("which", share(AXIOMS, 9))
def test_coqc_accepts_axioms(folder, which):
    text, written, more = AXIOMS[which]
    one = claim("axioms", text, **more)
    accepted(folder, rocq.theorem(one, lines(one, written)), f"axioms_{list(AXIOMS).index(which)}")


@pytest.mark.parametrize("which", WRONG)
def test_what_no_axiom_says_is_not_exported(which):
    text, written, more = WRONG[which]
    one = claim("axioms", text, **more)
    with pytest.raises(NotExportedError, match=r"not what its axiom|is not negative is not exported"):
        rocq.theorem(one, lines(one, written))


@coqc
def test_coqc_accepts_a_line_whose_exponents_are_written_otherwise(folder):
    one = claim("exponents", "a**(2*(k + 1)) <= c", assuming=("a**(2*k) <= c",), parameters={"a": POSITIVE})
    text = rocq.theorem(one, lines(one, [at("all", "a**(2*k) <= c", k="k + 1")]))
    assert "forall k : nat, a ^ (2 * k + 2)%nat <= c." in text
    found = compiled(folder, text, "exponents_otherwise")
    assert found.accepted, found.errors


def test_a_proof_that_is_too_large_is_not_written(monkeypatch):
    text, written, more = AXIOMS["square"]
    one = claim("axioms", text, **more)
    file = rocq.theorem(one, lines(one, written))
    monkeypatch.setattr(rocq, "LARGEST", len(file))
    assert rocq.theorem(one, lines(one, written)) == file
    monkeypatch.setattr(rocq, "LARGEST", len(file) - 1)
    with pytest.raises(NotExportedError, match=r"more than \S+ million characters"):
        rocq.theorem(one, lines(one, written))
