"""Loops inside loops in Rocq, vectors that lines say are equal, and lines that are said of turns in the run only."""

import shutil

import pytest

from tests.derivation.export.test_rocq import accepted, compiled, statement
from tests.shares import share
from theory import algorithm, claim
from theory.derivation import at, axiom, combined, domain, induction, lines, replaced, step
from theory.derivation.export import NotExportedError, rocq
from theory.domain import COUNT, INDEX, PROBABILITY

coqc = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")


@algorithm
def snapshots(w, x, *, eta, p, S, M):
    """Corrected steps from snapshots, and an average of the clients that a coin keeps."""
    active, base = w.coins(p), w.each(x)
    for _ in w.repeat(S):
        full, y = w.gradient(base), base
        for _ in w.repeat(M):
            w.tap("y", y)
            g = w.gradient(y, w.sample()) - w.gradient(base) + full
            w.tap("g", g)
            w.tap("u", active / p * g)
            y = y - eta * g
        base = y
    return x + w.mean(active / p * (base - x))


@algorithm
def thrice(w, x, *, eta, H):
    """Loops inside loops inside loops."""
    y = x
    for _ in w.repeat(H):
        for _ in w.repeat(H):
            for _ in w.repeat(H):
                y = y - eta * w.full_gradient(y)
    return y


NEXT = step("next", "norm2(y[k, h + 1, 0] - y[k, h, M]) <= 0")
TURN = step("turn", "norm2(y[k, h, j + 1] - y[k, h, j] + eta*g[k, h, j]) <= 0")
GROWN = "sum_j(y[k, h, j + 1] - y[k, h, j])"
EPOCH = [
    TURN,
    NEXT,
    axiom("inner", f"norm2({GROWN} - y[k, h, M] + y[k, h, 0]) <= 0", "telescope", "y[k, h, j]", over="sum_j"),
    replaced(
        "steps",
        "turn",
        f"norm2(y[k, h, M] - y[k, h, 0] + eta*sum_j(g[k, h, j])) == norm2(y[k, h, M] - y[k, h, 0] - {GROWN})",
    ),
    replaced(
        "handed on",
        "next",
        "norm2(y[k, h + 1, 0] - y[k, h, 0] + eta*sum_j(g[k, h, j]))"
        " == norm2(y[k, h, M] - y[k, h, 0] + eta*sum_j(g[k, h, j]))",
    ),
    combined("all", None, {"handed on": "1", "steps": "1", "inner": "1"}),
]
MOVED = "E(norm2(g[k, h, j])) == mean_i(E(norm2(grad(f_ni, y[k, h, j]))))"
ACCEPTED = {
    "what a snapshot hands on": ("norm2(y[k, h + 1, 0] - y[k, h, 0] + eta*sum_j(g[k, h, j])) <= 0", EPOCH),
    "a sample of an inner turn": (MOVED, [step("all", None)]),
    "a coin that the loops never read": ("E(norm2(u[k, h, j])) == 1/p_n*E(norm2(g[k, h, j]))", [step("all", None)]),
    "a start": ("norm2(y[k, 0, 0] - x[k]) <= 0", [step("all", None)]),
    "clients apart": (
        "E(norm2(mean_n(y[k, h, j + 1]))) == E(norm2(mean_n(y[k, h, j] - eta*grad(f_n, y[k, h, j]))))"
        " + eta**2/N*mean_n(mean_i(E(norm2(grad(f_ni, y[k, h, j]) - grad(f_n, y[k, h, j])))))",
        [step("all", None)],
    ),
    "an equality that a round uses": (
        "norm2(x[k+1] - x[k] - mean_n(u[k, 0, 0])*0 - (x[k+1] - x[k])) <= 0",
        [step("first", "norm2(y[k, 0, 0] - x[k]) <= 0"), step("all", None, using=["first"])],
    ),
    "inductions over both turns": (
        "norm2(y[k, h, j]) >= 0",
        [
            induction(
                "each",
                "norm2(y[k, h, j]) >= 0",
                [
                    induction(
                        "outer",
                        "norm2(y[k, h, 0]) >= 0",
                        [combined("a", None, squares={"y[k, 0, 0]": "1"})],
                        [combined("b", None, squares={"y[k, h + 1, 0]": "1"})],
                    )
                    | {"on": "h"},
                    combined("begun", None, {"outer": "1"}),
                ],
                [combined("c", None, squares={"y[k, h, j + 1]": "1"})],
                on="j",
            ),
            combined("all", None, {"each": "1"}),
        ],
    ),
    "pairs of turns in order": (
        "sum_h(sum_j(max(0, min(1, s*M + m - h*M - j))*norm2(g[k, h, j])))"
        " == sum_h(max(0, min(1, s - h))*sum_j(norm2(g[k, h, j]))) + sum_j(max(0, min(1, m - j))*norm2(g[k, s, j]))",
        [axiom("all", None, "lexicographic", "norm2(g[k, h, j])", "s", "m")],
    ),
    "turns of the run": (
        "sum_h(sum_j((S*M - h*M - j - 1)*norm2(g[k, h, j]))) >= 0",
        [
            domain("h inside", "h <= S - 1"),
            domain("j inside", "j <= M - 1"),
            combined("inside", "h*M + j + 1 <= S*M", {"h inside": "M", "j inside": "1"}),
            combined("all", None, [{"line": "inside", "over": ["sum_h", "sum_j"], "times": "norm2(g[k, h, j])"}]),
        ],
    ),
}  # fmt: skip


def said(which: str):
    text, written = ACCEPTED[which]
    more = {"assuming": ("s <= S - 1", "m <= M - 1")} if "s*M" in text else {}
    parameters = {"M": COUNT, "p": PROBABILITY} | ({"s": INDEX, "m": INDEX} if more else {})
    one = claim("nested", text, of=snapshots, parameters=parameters, **more)
    return one, lines(one, written)


@coqc
@pytest.mark.parametrize("which", share(ACCEPTED, 9))
def test_coqc_accepts_loops_inside_loops(folder, which):
    text = rocq.theorem(*said(which))
    accepted(folder, text, f"nested_{list(ACCEPTED).index(which)}")
    assert "_satisfiable : exists" in text  # and coqc has accepted that the hypotheses hold together


@coqc
def test_coqc_rejects_the_same_proof_of_more(folder):
    text = rocq.theorem(*said("what a snapshot hands on"))
    moved = text.replace("norm2 (add (sub (y k (S h)", "1 / 1000 + norm2 (add (sub (y k (S h)", 1)
    assert moved != text
    assert not compiled(folder, moved, "more").accepted


def test_a_statement_says_what_both_loops_do():
    text = statement(rocq.theorem(*said("a start")))
    assert "y t 0%nat 0%nat n w = x t w)" in text
    assert "(h < S_)%nat -> forall n, (n < N)%nat -> forall w, (w < outcomes Pr)%nat -> y t (S h) 0%nat n w = " in text
    assert "y t h M n w)" in text
    assert "(h < S_)%nat -> forall j, (j < M)%nat -> forall n, (n < N)%nat -> " in text
    assert "(y t S_ 0%nat n1 w)" in text
    assert "phi (x t w) (fun h j n => y t h j n w) (drawn_1 t n w)" in text


@pytest.mark.parametrize(
    ("text", "written", "why"),
    [
        (MOVED.replace("== ", "== 2*"), [step("all", None)], "not what the round says"),
        ("E(norm2(u[k, h, j])) == E(norm2(g[k, h, j]))", [step("all", None)], "not what the round says"),
        (
            "norm2(y[k, h, M]) == norm2(y[k, h, 0])",
            [NEXT, replaced("all", "next", None)],
            "is not what next make it",
        ),
        (
            "norm2(y[k, h + 1, 0]) == norm2(x[k])",
            [step("bound", "norm2(y[k, 0, 0]) == norm2(x[k])"), replaced("all", "bound", None)],
            "does not say that two vectors are equal",
        ),
    ],
)
def test_what_is_not_so_of_loops_is_not_exported(text, written, why):
    one = claim("nested", text, of=snapshots, parameters={"M": COUNT, "p": PROBABILITY})
    with pytest.raises(NotExportedError, match=why):
        rocq.theorem(one, lines(one, written))


def test_three_loops_are_named():
    one = claim("thrice", "norm2(x[k+1]) >= 0", of=thrice)
    with pytest.raises(NotExportedError, match="a loop inside two loops"):
        rocq.theorem(one, lines(one, [combined("all", squares={"x[k+1]": "1"})]))


@coqc
def test_a_line_of_turns_in_the_run_is_no_line_of_all_turns(folder):
    one = claim("inside", "h + 1 <= S - 1 + 0*norm2(y[k, h, 0])", of=snapshots, parameters={"M": COUNT})
    written = [domain("h inside", "h <= S - 1"), at("later", "h inside", "h + 1 <= S - 1", h="h + 1")]
    text = rocq.theorem(one, lines(one, [*written, combined("all", None, {"later": "1"})]))
    assert not compiled(folder, text, "inside").accepted
