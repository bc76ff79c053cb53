"""Derivations as files for Rocq: their text always, and coqc's word on them where it is installed."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.derivation.export import derivations
from tests.rounds import chosen
from tests.shares import share
from theory import algorithm, claim
from theory.derivation import axiom, citation, combined, domain, lines, step
from theory.derivation.export import NotExportedError, kernels, rocq

SMALL = derivations.small()
LARGE = derivations.large()
coqc = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")


def compiled(folder: Path, text: str, name: str) -> kernels.Compiled:
    (folder / f"{name}.v").write_text(text, encoding="utf-8")
    return kernels.compiled(folder, f"{name}.v")


def accepted(folder: Path, text: str, name: str) -> kernels.Compiled:
    """What coqc says of a file, which it accepts without any axiom but those of the library's real numbers."""
    found = compiled(folder, text, name)
    assert found.accepted, found.errors
    assert set(found.axioms) <= kernels.KNOWN_AXIOMS
    return found


def statement(text: str) -> str:
    found = re.search(r"^Theorem .*?^Proof\.", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


@pytest.mark.parametrize(("one", "written"), [*SMALL, *LARGE], ids=lambda one: getattr(one, "id", ""))
def test_a_file_takes_nothing_for_granted(one, written):
    text = rocq.theorem(one, written)
    for word in ("Axiom", "Admitted", "admit", "Parameter", "Hypothesis", "Variable", "nra", "Unset", "Local"):
        assert not re.search(rf"\b{word}\b", text)
    assert one.statement in text.splitlines()[0]
    assert "LaTeX:" in text
    assert text.rstrip().endswith(f"Print Assumptions {rocq.identifier(one)}.")


def test_the_prelude_has_no_axiom():
    text = rocq.prelude()
    for word in ("Axiom", "Admitted", "admit", "Parameter", "Hypothesis", "Conjecture", "nra"):
        assert not re.search(rf"\b{word}\b", text)


def test_a_statement_says_what_the_claim_says():
    text = statement(rocq.theorem(*SMALL[1]))
    assert "norm2 (add a b) <= (1 + c) * norm2 a + (1 + 1 / c) * norm2 b." in text
    assert "(c_low : 0 < c)" in text
    assert "(V : space)" in text


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


END = (domain("d", "k <= K"), combined("all", None, "d"))


def test_a_free_k_goes_up_to_the_last_round():
    last = statement(rocq.theorem(claim("last", "k + 0*norm2(x[k]) <= K", of=descent, proof=END), END))
    assert "forall k : nat, (k <= K)%nat -> INR k + 0 * norm2 (x k) <= INR K." in last
    written = (domain("d", "k <= K"), axiom("all", None, "exponents", "q", "k", "K"))
    powers = claim("powers", "q**K <= q**k", assuming=("q <= 1",), proof=written)
    assert "forall k : nat, (k <= K)%nat -> q ^ K <= q ^ k." in statement(rocq.theorem(powers, written))
    alone = claim("alone", "k <= K", proof=(domain("all"),))
    assert "forall k : nat, (k <= K)%nat -> INR k <= INR K." in statement(rocq.theorem(alone, alone.proof))


def test_a_free_k_before_which_the_sentence_looks_ends_a_round_earlier():
    written = (domain("d", "k <= K - 1"), combined("all", None, "d"))
    one = claim("earlier", "k + 0*norm2(x[k+1]) <= K - 1", of=descent, proof=written)
    assert "forall k : nat, (k < K)%nat -> " in statement(rocq.theorem(one, written))
    said = claim("more", "k + 0*norm2(x[k]) <= K - 1", of=descent)
    with pytest.raises(NotExportedError, match="at k = K"):  # which is false there
        rocq.theorem(said, written)


def test_what_is_said_up_to_the_last_round_is_not_used_beyond_it():
    written = (
        domain("d", "k <= K"),
        {
            "name": "all",
            "by": "induction",
            "on": "k",
            "base": [combined("b", None, "d")],
            "step": [combined("s", None, "d")],
        },
    )
    with pytest.raises(NotExportedError):
        rocq.theorem(claim("inside", "k <= K", proof=written), written)
    written = (domain("d", "k <= K"), {"name": "all", "by": "at", "line": "d", "put": {"k": "k+1"}})
    with pytest.raises(NotExportedError, match="beyond K"):
        rocq.theorem(claim("beyond", "k + 1 <= K", proof=written), written)


def test_a_statement_with_draws_says_their_law():
    text = statement(rocq.theorem(*LARGE[0]))
    assert "(samples_dom : forall n, (n < N)%nat -> (1 <= samples n)%nat)" in text
    assert (
        "E Pr (fun w => phi (x t w) (drawn_1 t n w)) = E Pr (fun w => mean (samples n) (fun i => phi (x t w) i))"
        in text
    )
    assert "n <> m ->" in text
    assert "forall n i, (n < N)%nat -> (i < samples n)%nat -> convex (func n i)" in text
    assert "forall k : nat, ((S k) <= rounds)%nat ->" in text


def test_a_derivation_of_another_sentence_is_not_exported():
    one, written = SMALL[1]
    other = replace(one, statement="norm2(a + b) <= (1 + c)*norm2(a) + (1 + 1/c)*norm2(b) - norm2(a)")
    with pytest.raises(NotExportedError, match="do not add up"):
        rocq.theorem(other, written)


def test_a_citation_is_not_exported():
    one = SMALL[1][0]
    with pytest.raises(NotExportedError, match="the rule citation is not exported yet"):
        rocq.theorem(one, [citation("end", None, "a book")])


def test_names_that_mean_something_to_rocq_are_changed():
    one = claim("names", "S*E2 + forall <= S*E2 + forall + exists*norm2(fun)", vectors=("fun",))
    text = rocq.theorem(one, lines(one, [combined("end", squares={"fun": "exists"})]))
    assert "(S_ : nat)" in text
    assert "(exists_ : R)" in text
    assert "(fun_ : V)" in text


def test_names_of_a_claim_are_not_caught_by_a_quantifier():
    @algorithm
    def descent(w, x, *, t):
        return x - t * w.full_gradient(x)

    one = claim("caught", "norm2(x[k+1] - x[k]) == t**2*norm2(grad(f, x[k]))", of=descent)
    text = statement(rocq.theorem(one, [step("end")]))
    assert "(t_ : R)" in text
    assert "forall t, x (S t) = add (x t) (scal (- t_) (grad (x t)))" in text


def test_a_name_of_two_things_is_refused():
    one = claim("twice", "a*a_low >= 0 - 1")
    with pytest.raises(NotExportedError, match="a_low would be the name of two things"):
        rocq.theorem(one, lines(one, [combined("end")]))


def test_the_hypotheses_hold_together():
    for one, written in (SMALL[6], LARGE[0]):
        assert f"Example {rocq.identifier(one)}_satisfiable : exists" in rocq.theorem(one, written)


@algorithm(x="x0", s="x0")
def tossed(w, x, s, *, eta, p):
    """A coin, and clients that are chosen."""
    return x - eta * w.full_gradient(x), w.where(w.coin(p), x, s)


DRAWS = (
    (tossed, ("p <= 1",), "E(norm2(s[k+1] - xstar)) == p*E(norm2(x[k] - xstar)) + (1 - p)*E(norm2(s[k] - xstar))"),
    (tossed, ("p <= 1",), "E(f(s[k+1])) == p*E(f(x[k])) + (1 - p)*E(f(s[k]))"),
    (
        chosen,
        ("S <= N", "N >= 2"),
        "E(norm2(x[k+1] - x[k])) == eta**2*E(norm2(grad(f, x[k]))) "
        "+ eta**2*(N - S)/(S*(N - 1))*mean_n(E(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
    ),
)


@coqc
@pytest.mark.slow
@pytest.mark.parametrize(("of", "assuming", "text"), DRAWS, ids=["coin", "coin in a function", "chosen"])
def test_coqc_accepts_the_laws_of_draws(folder, of, assuming, text):
    one = claim("draws", text, of=of, assuming=assuming)
    found = compiled(folder, rocq.theorem(one, [step("end")]), f"draws_{DRAWS.index((of, assuming, text))}")
    assert found.accepted, found.errors


@pytest.mark.parametrize(("of", "assuming", "text"), DRAWS, ids=["coin", "coin in a function", "chosen"])
def test_another_expectation_is_not_exported(of, assuming, text):
    one = claim("draws", text.replace("== ", "== 2*", 1), of=of, assuming=assuming)
    with pytest.raises(NotExportedError, match="not what the round says"):
        rocq.theorem(one, [step("end")])


@coqc
@pytest.mark.parametrize(("one", "written"), share(SMALL, 6), ids=lambda one: getattr(one, "id", ""))
def test_coqc_accepts(folder, one, written):
    assert accepted(folder, rocq.theorem(one, written), rocq.identifier(one)).axioms


@coqc
@pytest.mark.slow
@pytest.mark.parametrize(("one", "written"), LARGE, ids=lambda one: getattr(one, "id", ""))
def test_coqc_accepts_expectations(folder, one, written):
    accepted(folder, rocq.theorem(one, written), rocq.identifier(one))


@coqc
@pytest.mark.parametrize(
    ("one", "written"),
    [pytest.param(*case, id=case[0].id, marks=[pytest.mark.slow] if n else []) for n, case in enumerate(SMALL)],
)
def test_coqc_rejects_when_the_right_side_is_moved(folder, one, written):
    text = rocq.theorem(one, written)
    conclusion = statement(text).removesuffix(".\nProof.").splitlines()[-1].strip()
    said = conclusion.rpartition("-> ")[2].removeprefix("forall k : nat, ")
    moved = text.replace(said, f"{said} - 1 / 1000")
    assert moved != text
    assert not compiled(folder, moved, f"moved_{rocq.identifier(one)}").accepted


@coqc
def test_coqc_rejects_without_a_hypothesis(folder):
    text = rocq.theorem(*SMALL[1])
    less = text.replace("    (c_low : 0 < c)\n", "").replace("    (c_low : 0 < c),", "    ,").replace(" c_low.", ".", 1)
    less = less.replace("(c : R)\n    ,", "(c : R),")
    assert "c_low :" not in less
    found = compiled(folder, less, "less")
    assert not found.accepted
    assert "No applicable tactic" in found.errors


@coqc
@pytest.mark.slow
def test_a_file_that_stands_alone_is_accepted(tmp_path):
    (tmp_path / "alone.v").write_text(rocq.alone(rocq.theorem(*SMALL[1])), encoding="utf-8")
    found = kernels.compiled(tmp_path, "alone.v")
    assert found.accepted, found.errors
