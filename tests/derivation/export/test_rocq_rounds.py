"""What rounds of algorithms become in Rocq: loops, taps, batches, earlier draws; and what is refused."""

import shutil

import pytest

from tests.derivation.export.test_rocq import accepted, compiled, statement
from tests.rounds import compressed as sparse
from tests.shares import share
from theory import algorithm, claim
from theory.derivation import combined, induction, lines, root, step
from theory.derivation.export import NotExportedError, rocq
from theory.derivation.writing import axiom

coqc = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")


@algorithm
def local_steps(w, x, *, eta, H):
    """Local steps of every client, and their mean."""
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        g = w.gradient(y, w.sample())
        w.tap("g", g)
        y = y - eta * g
    return w.mean(y)


@algorithm
def exact_steps(w, x, *, eta, H):
    """The same without noise, at the server."""
    y = x
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.full_gradient(y)
    return y


@algorithm
def batches(w, x, *, eta, b):
    """A batch of every client."""
    g = w.mean(w.gradient(x, w.sample(b)))
    w.tap("g", g)
    return x - eta * g


@algorithm
def sometimes(w, x, *, eta, p):
    """A stochastic gradient, with a chance."""
    return w.where(w.coin(p), x - eta * w.mean(w.gradient(x, w.sample())), x)


def moved(by: str) -> str:
    return f"E(norm2(y[k, h+1] - y[k, h])) == {by}eta**2*mean_i(E(norm2(grad(f_ni, y[k, h]))))"


SPREAD = "mean_n(mean_i(norm2(grad(f_ni, x0) - grad(f_n, x0))))"
ACCEPTED = {
    "a turn of a loop": (local_steps, (), moved(""), [step("end")]),
    "a tap of a turn": (local_steps, (), "norm2(y[k, h+1] - y[k, h] + eta*g[k, h]) == 0", [step("end")]),
    "the end of a loop": (
        local_steps,
        (),
        "norm2(x[k+1] - x[k]) >= 0",
        [combined("end", squares={"x[k+1] - x[k]": "1"})],
    ),
    "a batch": (batches, (), f"E(norm2(g[0] - grad(f, x0))) == {SPREAD}/(N*b)", [step("end")]),
    "a coin and a sample": (
        sometimes,
        ("p <= 1",),
        "E(dot(x[k+1] - x[k], x0)) == -p*eta*E(dot(grad(f, x[k]), x0))",
        [step("end")],
    ),
    "kept coordinates": (
        sparse,
        ("m <= d",),
        "E(norm2(x[k+1] - x[k])) == eta**2*E(norm2(grad(f, x[k]))) "
        "+ eta**2/N*(d/m - 1)*mean_n(E(norm2(grad(f_n, x[k]))))",
        [step("end")],
    ),
    "turns that telescope": (
        exact_steps,
        (),
        "sum_h(norm2(y[k, h+1]) - norm2(y[k, h])) == norm2(x[k+1]) - norm2(x[k])",
        [
            axiom(
                "turns",
                "sum_h(norm2(y[k, h+1]) - norm2(y[k, h])) == norm2(y[k, H]) - norm2(y[k, 0])",
                "telescope",
                "norm2(y[k, h])",
                over="sum_h",
            ),
            step("first", "norm2(y[k, 0]) == norm2(x[k])"),
            step("last", "norm2(x[k+1]) == norm2(y[k, H])"),
            combined("end", None, {"turns": "1", "first": "-1", "last": "-1"}),
        ],
    ),
    "an induction over turns": (
        exact_steps,
        (),
        "norm2(y[k, h] - x[k]) >= 0",
        [
            induction(
                "all",
                "norm2(y[k, h] - x[k]) >= 0",
                [combined("base", None, squares={"y[k, 0] - x[k]": "1"})],
                [combined("next", None, squares={"y[k, h+1] - x[k]": "1"})],
                on="h",
            ),
            combined("end", None, {"all": "1"}),
        ],
    ),
}


@pytest.mark.parametrize("which", ["a turn of a loop", "a tap of a turn", "a batch", "turns that telescope"])
def test_the_hypotheses_of_loops_and_taps_hold_together(which):
    of, assuming, text, written = ACCEPTED[which]
    one = claim("rounds", text, of=of, assuming=assuming)
    assert f"Example {rocq.identifier(one)}_satisfiable : exists" in rocq.theorem(one, lines(one, written))


@coqc
@pytest.mark.parametrize("which", share(ACCEPTED, 8))
def test_coqc_accepts_rounds(folder, which):
    of, assuming, text, written = ACCEPTED[which]
    one = claim("rounds", text, of=of, assuming=assuming)
    accepted(folder, rocq.theorem(one, lines(one, written)), f"rounds_{list(ACCEPTED).index(which)}")


def test_a_statement_with_a_loop_says_what_its_turns_are():
    one = claim("loop", moved(""), of=local_steps)
    text = statement(rocq.theorem(one, [step("end")]))
    assert "(H_dom : (1 <= H)%nat)" in text
    assert "(y_first : forall t, (t < rounds)%nat -> forall n, (n < N)%nat -> " in text
    assert "y t 0%nat n w = x t w)" in text
    assert "(h < H)%nat -> forall n, (n < N)%nat -> forall w, (w < outcomes Pr)%nat -> y t (S h) n w = " in text
    assert "x (S t) w = vmean N (fun n1 => y t H n1 w))" in text
    assert "phi (x t w) (fun n => y t h n w) (drawn_" in text
    assert "((S k) <= rounds)%nat -> ((S h) < H)%nat ->" in text


def test_a_statement_with_kept_coordinates_says_what_they_are():
    one = claim("kept", "norm2(x[k+1]) >= 0", of=sparse)
    text = statement(rocq.theorem(one, lines(one, [combined("end", squares={"x[k+1]": "1"})])))
    assert "(basis_all : forall v, vsum d (fun co => scal (ip v (basis co)) (basis co)) = v)" in text
    assert "(basis_one : forall co, (co < d)%nat -> ip (basis co) (basis co) = 1)" in text
    assert "scal (INR d / INR m_) (vsum d (fun c1 => scal (drawn_2 t n1 c1 w * ip (grad n1 (x t w)) (basis c1))" in text
    assert "E Pr (fun w => INR m_ / INR d * phi (x t w) 1 + (1 - INR m_ / INR d) * phi (x t w) 0)" in text


def test_a_law_is_given_what_is_drawn_before():
    one = claim("coin", "E(dot(x[k+1] - x[k], x0)) == -p*eta*E(dot(grad(f, x[k]), x0))", of=sometimes)
    text = statement(rocq.theorem(one, [step("end")]))
    first, second = sorted({word for word in text.split() if word.startswith("(drawn_") and len(word) < 10})[:2]
    laws = [line for line in text.splitlines() if "_law : forall" in line]
    assert sum(first[1:] in line.split("_law", 1)[1] and second[1:] in line.split("_law", 1)[1] for line in laws) == 1


@pytest.mark.parametrize(
    ("of", "text", "why"),
    [
        (local_steps, moved("2*"), "not what the round says"),
        (local_steps, moved("").replace("mean_i(", "(").replace("f_ni", "f_n"), "is left"),
        (local_steps, "E(dot(y[k, h+1], g[k, h])) == E(dot(y[k, h+1], grad(f_n, y[k, h])))", "what the round says"),
        (local_steps, "E(dot(y[k, h], g[k, h+1])) == E(dot(y[k, h], grad(f_n, y[k, h+1])))", "two values of a draw"),
        (batches, f"E(norm2(g[0] - grad(f, x0))) == {SPREAD}/N", "not what the round says"),
        (sparse, "E(norm2(x[k+1] - x[k])) == eta**2*E(norm2(grad(f, x[k])))", "not what the round says"),
        (batches, "E(norm2(x[k-1])) == E(norm2(x[k-1]))", "may be negative"),
    ],
)  # fmt: skip
def test_what_is_not_so_is_not_exported(of, text, why):
    one = claim("rounds", text, of=of)
    with pytest.raises(NotExportedError, match=why):
        rocq.theorem(one, [step("end")])


@pytest.mark.parametrize(
    ("of", "text", "why"),
    [
        (lambda w, x, *, m: w.mean(w.top(w.gradient(x), m)), "norm2(x[k+1]) >= 0", "has top"),
        (lambda w, x, *, b: w.mean(w.gradient(x, w.sample(b, replace=False))), "norm2(x[k+1]) >= 0", "without repl"),
        (lambda w, x, *, S: w.average(w.gradient(x), w.choose(S, replace=True)), "norm2(x[k+1]) >= 0", "with repl"),
    ],
)  # fmt: skip
def test_an_operation_that_is_not_read_is_named(of, text, why):
    of.__name__ = "unread"
    one = claim("unread", text, of=algorithm(of))
    with pytest.raises(NotExportedError, match=why):
        rocq.theorem(one, lines(one, [combined("end", squares={"x[k+1]": "1"})]))


NUMBERS = {
    "a root of an equation": (
        "sqrt(a/c) == sqrt(a*c)/c",
        [
            combined("squares", "a/c == a*c/c**2"),
            root("roots", "squares", "sqrt(a/c) == sqrt(a*c)/c"),
            combined("end", parts={"roots": "1"}),
        ],
    ),
    "a norm and its square": ("norm(u - v)**2 == norm2(v - u)", [combined("end")]),
    "a power that goes down": (
        "sum_k(q**(K - 1 - k)) == (1 - q**K)/(1 - q)",
        [induction("all", None, [combined("start")], [combined("next", parts={"IH": "q"})], on="K")],
    ),
    "the largest": ("s_k <= max_k(s_k)", [axiom("end", None, "extreme", "s_k", over="max_k")]),
}  # fmt: skip


@coqc
@pytest.mark.parametrize("which", share((word for word in NUMBERS if word != "the largest"), 3))
def test_coqc_accepts_roots_and_powers(folder, which):
    text, written = NUMBERS[which]
    vectors = ("u", "v") if "norm" in text else ()
    one = claim("numbers", text, vectors=vectors, assuming=("q < 1",) if "q" in text.replace("sqrt", "") else ())
    found = compiled(folder, rocq.theorem(one, lines(one, written)), f"numbers_{list(NUMBERS).index(which)}")
    assert found.accepted, found.errors


def test_a_power_that_may_end_at_0_is_not_exported():
    one = claim("down", "q**(H - b) >= 0")
    with pytest.raises(NotExportedError, match="exponent is a difference"):
        rocq.theorem(one, lines(one, [combined("end", squares={"1": "q**(H - b)"})]))


@coqc
@pytest.mark.parametrize(
    ("one", "two", "fine"),
    [
        ("(Fm (Fa (Fv 1) (Fv 2)) (Fs (Fv 1) (Fv 2)))", "(Fs (Fp (Fv 1) 2) (Fp (Fv 2) 2))", True),
        ("(Fm (Fa (Fv 1) (Fv 2)) (Fs (Fv 1) (Fv 2)))", "(Fs (Fp (Fv 1) 2) (Fp (Fv 2) 3))", False),
        ("(Fa (Fq 1 3) (Fi 6))", "(Fq 1 2)", True),
        ("(Fa (Fq 1 3) (Fi 6))", "(Fq 1 3)", False),
    ],
)
def test_rocq_computes_with_polynomials(folder, one, two, fine):
    text = (
        "Require Import Reals Fedproof.\nOpen Scope R_scope.\n"
        f"Goal forall a b : R, Poly.value (a :: b :: nil)%list {one} = Poly.value (a :: b :: nil)%list {two}.\n"
        f"Proof. intros a b. refine (Poly.equation (a :: b :: nil)%list nil {one} {two} nil I I _). "
        "vm_cast_no_check (eq_refl true). Qed.\n"
    )
    assert compiled(folder, text, "polynomials").accepted == fine
