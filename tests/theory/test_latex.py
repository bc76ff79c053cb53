"""LaTeX to sentences: what is read is what was meant, what is open is asked, and no sign is passed over."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.shares import share
from tests.theory.trees import RANGES, WORDS, scalar, worth
from theory import Claim, algorithm, catalog
from theory.domain import POSITIVE
from theory.latex import (
    LatexError,
    Question,
    Read,
    Types,
    answers_in,
    claim_text,
    displays,
    file_of,
    labels_in,
    macros_in,
    put_together,
    read,
    same,
    types_of,
)
from theory.latex.tokens import BLANK, tokenise
from theory.papers.algorithms import fedavg, scaffold
from theory.sentence import Expression, Sentence, parse_sentence, replaced
from theory.typeset import latex_of, latex_of_claim, latex_of_sentence


@lru_cache
def claims() -> tuple[Claim, ...]:
    found = [*catalog.claims(), *(c for name in catalog.COLLECTIONS for c in catalog.claims(name))]
    return tuple(c for c in found if c.has_sentence)


def family(claim: Claim) -> str:
    return claim.paper if claim.paper in {c.paper for c in catalog.claims()} else "landmarks"


def outcome(latex: str, types: Types, meant: Sentence) -> str:
    try:
        found = read(latex, types)
    except LatexError:
        return "cannot"
    if found.unanswered:
        return "asks"
    (one,) = found.sentences
    sides = zip(one.sides, meant.sides, strict=True)
    equal = one.relation == meant.relation and all(same(a, b, types.beginnings) for a, b in sides)
    return "same" if equal else f"different: {one}, and not {meant}"


def expanded(claim: Claim) -> Sentence:
    """The sentence with its definitions put in: no name hides a formula."""
    left, right = (replaced(side, claim.definitions) for side in claim.sentence.sides)
    return Sentence(left, claim.sentence.relation, right)


# --- round trips -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", share(["all names", "definitions put in", "without the sentence's own", "the algorithm alone"], 3)
)
def test_no_claim_is_read_as_something_else_and_most_as_they_are(how: str) -> None:
    told: dict[str, Counter[str]] = {}
    for claim in claims():
        if how == "the algorithm alone" and claim.of is None:
            continue
        types = types_of(claim.of if how == "the algorithm alone" else claim, how != "without the sentence's own")
        meant = expanded(claim) if how == "definitions put in" else claim.sentence
        found = outcome(latex_of_sentence(meant, claim.vocabulary), types, meant)
        assert not found.startswith("different"), (claim.id, found)
        told.setdefault(family(claim), Counter())[found] += 1
    if how != "the algorithm alone":
        for name, counts in told.items():
            assert counts["same"] >= 0.8 * counts.total(), (name, counts)


def test_definitions_and_relations_of_claims() -> None:
    counts: Counter[str] = Counter()
    for claim in claims():
        types = types_of(claim)
        for relation in claim.relations:
            assert outcome(latex_of_sentence(relation, claim.vocabulary), types, relation) == "same"
        for tree in claim.definitions.values():
            try:
                found = read(latex_of(tree, claim.vocabulary), types)
            except LatexError:
                counts["cannot"] += 1
                continue
            assert found.unanswered or same(found.expression, tree, types.beginnings), found  # type: ignore[arg-type]
            counts["asks" if found.unanswered else "same"] += 1
    assert counts["same"] >= 0.9 * counts.total()


RANDOM = Types(
    WORDS, dict.fromkeys(("eta", "mu", "L", "p", "p_n", "G", "alpha", "lam"), POSITIVE), frozenset({"x"}), {}, told=True
)


@given(st.integers(0, 10**9))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_random_formulas_are_worth_what_was_meant(seed: int) -> None:
    tree = scalar(random.Random(seed), 5, "")
    found = read(latex_of(tree, WORDS), RANDOM)
    if found.unanswered:  # the power of an expectation, the reach of a sum
        assert all(about.startswith(("\\mathbb", "reach")) for about in found.unanswered)
        return
    assert found.expression is not None
    try:
        meant = worth(tree, {})
    except (OverflowError, ZeroDivisionError):
        return
    assert complex(worth(found.expression, {})) == pytest.approx(complex(meant), rel=1e-9)


# --- no sign is passed over ------------------------------------------------------------------------------------------

NEUTRAL = BLANK | {"+", "1", r"\text", r"\mathrm", r"\operatorname", ".", ",", r"\cdot", r"\times", "*", r"\\", "%"}
"""Signs that may stand somewhere without a change of what is said: layout, +a, 1a, a dot between factors, upright."""
_SIGNS = (
    r"\frac \sqrt { } ( ) ^ _ x 2 0 \eta \nabla f E \mathbb \| | \left \right \sum \max n k K ' * / - \bar \log \star "
    r"\top \in \forall < \leq = [ ] \langle \arg \min # ~ ; : \foo \def \begin \end \label \times \prod"
)
SIGNS = _SIGNS.split()


@given(st.integers(0, 10**9))
@settings(deadline=None, derandomize=True, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_a_sign_more_or_less_is_another_sentence_a_question_or_an_error(seed: int) -> None:
    rng = random.Random(seed)
    claim = rng.choice(claims())
    types = types_of(claim)
    tokens = [token.text for token in tokenise(latex_of_claim(claim))]
    (before,) = read(" ".join(tokens), types).sentences
    place = rng.randrange(len(tokens))
    sign = rng.choice([*SIGNS, *tokens]) if rng.random() < 0.7 else tokens.pop(place)
    if rng.random() < 0.7 or len(tokens) == 0:
        tokens.insert(place, sign)
    try:
        found = read(" ".join(tokens), types)
    except LatexError:
        return
    if (
        not found.unanswered
        and found.sentences
        and str(found.sentences[0]) == str(before)
        and len(found.sentences) == 1
    ):
        again = [token.text for token in tokenise(latex_of_claim(claim))]
        assert sign in NEUTRAL or again == tokens, (sign, place, claim.id)


@given(st.lists(st.sampled_from([*SIGNS, "1", ".", ",", r"\\", "&", "é", r"\,"]), max_size=25), st.booleans())
@settings(deadline=None, derandomize=True, max_examples=800)
def test_noise_is_never_a_traceback(tokens: list[str], told: bool) -> None:
    try:
        found = read(" ".join(tokens), fedavg if told else None)
    except LatexError:
        return
    assert found.unanswered or found.sentences or found.expression is not None


@pytest.mark.parametrize(
    "text", ["{" * 5000, r"\bar" * 5000, r"\frac" * 3000, r"\overset a" * 2000, "(" * 5000 + "1", "1+" * 9000]
)
def test_deep_and_long_texts_are_errors(text: str) -> None:
    with pytest.raises(LatexError):
        read(text)


def test_an_error_has_the_line_and_a_caret() -> None:
    with pytest.raises(LatexError, match=r"line 2, column 5: \\prod cannot be read here") as caught:
        read("a\n\\le \\prod_n 2", fedavg)
    assert str(caught.value).endswith("  \\le \\prod_n 2\n      ^")


# --- questions -------------------------------------------------------------------------------------------------------


@algorithm
def tapped(w, x, *, eta, H):  # type: ignore[no-untyped-def]
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y, w.sample())
    return w.mean(y)


OPEN: list[tuple[str, set[str]]] = [
    (r"\|x^{T}\| \le 1", {"index T"}),  # for every T, or at the end?
    (r"\|y_t^{k,h}\| \le 1", {"index t", "index k", "index h"}),  # whose letters are these?
    (r"\|y_{i,k}^{t}\| \le 1", {"index i", "index k", "index t"}),
    (r"\|\nabla f_i(x^k)\| \le 1", {"index i"}),  # a client, or a sample?
    (r"\mathbb{E}_k[\|x^{k+1}\|] \le 1", {r"\mathbb{E}_{k}"}),  # given the past?
    (r"\mathbb{E}[\|x^k\|]^2 \le 1", {r"\mathbb{E}[\|x^k\|]^2"}),
    (r"\eta \le 1/2H", {"slash in 1/2H"}),
    (r"\eta^{k} \le 1", {r"\eta^{k}"}),  # a schedule, or a power?
    (r"\beta(x^k) \le 1", {r"\beta"}),  # a product, or a call?
    (r"\eta \le e^{-k}", {"e"}),
    (r"w^\star \le 1", {r"w^{\star}"}),
    (r"\min_{t\in[K]} \|x^t\| \le 1", {r"range \min_{t\in[K]}"}),
    (r"\max_{k\in\mathcal{I}} \|x^k\| \le 1", {r"set \mathcal{I}"}),
    (r"\sum_k \|x^k\| + \|x^{k+1}\| \le 1", {r"reach of \sum_k \|x^k\|"}),
    (r"\|x^t\| \le 1, \forall t\in[K]", {"range t in [K]"}),
    (r"\|\nabla f_i(x^k)\| \le 1, \forall i\in\mathcal{S}", {r"range i in \mathcal{S}", "index i"}),
    (r"\|\mathbf{x}^k\| \le \|x^k\|", {"x in several styles"}),  # a vector and a coordinate of it?
    (r"\eta \le H \le 1", {r"chain \eta \le H \le 1"}),
]


@pytest.mark.parametrize(("latex", "about"), OPEN)
def test_what_has_two_readings_is_asked(latex: str, about: set[str]) -> None:
    found = read(latex, tapped)
    assert set(found.unanswered) == about
    assert not found.sentences


READINGS: list[tuple[str, Mapping[str, str], str]] = [
    (r"\|x^{T}\| \le 1", {"index T": "as K"}, "norm(x[K]) <= 1"),
    (r"\|x^{T}\| \le T", {"index T": "rounds"}, "norm(x[k]) <= k"),
    (r"\|y_h^{n,k}\| \le 1", {"index n": "rounds", "index k": "turns", "index h": "clients"}, "norm(y[k, h]) <= 1"),
    (r"\|\nabla f_i(x^k)\| \le 1", {"index i": "clients"}, "norm(grad(f_n, x[k])) <= 1"),
    (r"\mathbb{E}_k[\|x^{k+1}\|] \le 1", {r"\mathbb{E}_{k}": "all"}, "E(norm(x[k + 1])) <= 1"),
    (r"\mathbb{E}[\|x^k\|]^2 \le 1", {r"\mathbb{E}[\|x^k\|]^2": "outside"}, "E(norm(x[k]))**2 <= 1"),
    (r"\mathbb{E}[\|x^k\|]^2 \le 1", {r"\mathbb{E}[\|x^k\|]^2": "inside"}, "E(norm(x[k])**2) <= 1"),
    (r"\eta \le 1/2H", {"slash in 1/2H": "first"}, "eta <= 1/2*H"),
    (r"\eta^{k} \le 1", {r"\eta^{k}": "power"}, "eta**k <= 1"),
    (r"\eta \le e^{-k}", {"e": "euler"}, "eta <= exp(-k)"),
    (r"F(x^k)-F^* \le 1", {"F": "as f"}, "f(x[k]) - fstar <= 1"),
    (r"\beta(1-\eta) \le 1", {r"\beta": "positive"}, "beta*(1 - eta) <= 1"),
    (r"\|w^\star-z\| \le 1", {r"w^{\star}": "as xstar", "z": "vector"}, "norm(xstar - z) <= 1"),
    (r"\min_{t\in[K]} \|x^t\| \le 1", {r"range \min_{t\in[K]}": "1"}, "min_k(norm(x[k + 1])) <= 1"),
    (r"\max_{k\in\mathcal{I}} \|x^k\| \le 1", {r"set \mathcal{I}": "all"}, "max_k(norm(x[k])) <= 1"),
    (r"\frac1M\sum_{i=1}^M \eta \le 1", {"M": "as N"}, "mean_n(eta) <= 1"),
    (r"\|\bar{x}^k\| \le 1", {r"\bar{x}^{k}": "means mean_n(y[k, 0])"}, "norm(mean_n(y[k, 0])) <= 1"),
    (r"\lambda_t \le \|x^t\|", {"index t": "rounds", r"\lambda": "positive"}, "lam_k <= norm(x[k])"),
    (r"a_i \le \sum_{i=1}^N b_i", {"a": "real", "b": "positive"}, "a_n <= sum_n(bv_n)"),
    (r"\|x^t\| \le 1, \forall t\in[K]", {"range t in [K]": "all"}, "norm(x[k]) <= 1"),
    (r"\|\nabla f_i(x^k)\| \le 1, \forall i\in[N]", {}, "norm(grad(f_n, x[k])) <= 1"),
    (r"\|\mathbf{x}^k\| \le \|x^k\|", {"x in several styles": "same"}, "norm(x[k]) <= norm(x[k])"),
    (r"\|\bm{x}^k\| \le \|{\bf x}^k\|", {}, "norm(x[k]) <= norm(x[k])"),
    (r"\eta \le H < 2", {r"chain \eta \le H < 2": "ends"}, "eta < 2"),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "answers", "sentence"), READINGS)
def test_an_answer_decides(latex: str, answers: Mapping[str, str], sentence: str) -> None:
    found = read(latex, tapped, answers)
    assert not found.unanswered
    assert [str(one) for one in found.sentences] == [sentence]


NOTATION: list[tuple[str, str]] = [
    (r"\frac1N\sum_{i=1}^N\|\nabla f_i(x^t)\|^2 \le 1,\quad \forall t", "mean_n(norm2(grad(f_n, x[k]))) <= 1"),
    (r"\frac{1}{K}\sum_{t=0}^{K-1} f(x_t) \le f(x_0)", "mean_k(f(x[k])) <= f(x0)"),
    (r"\frac{1}{K}\sum_{t=1}^{K} f(x_t) \le f_*", "mean_k(f(x[k + 1])) <= fstar"),
    (r"\frac{1}{H}\sum_{h=0}^{H-1}\lVert y_n^{k,h}-x^{(k)}\rVert_2^2 \le 1", "1/H*sum_h(norm2(y[k, h] - x[k])) <= 1"),
    (r"\left\langle \nabla f(\mathbf{x}^k), \bm{x}^k \right\rangle \geq 0.5", "dot(grad(f, x[k]), x[k]) >= 1/2"),
    (r"(x^k)^\top (x^k-x_0) = \eta\cdot H", "dot(x[k], x[k] - x0) == eta*H"),
    (r"x^{k+1} = x^k-\eta\,\nabla f(x^k)", "norm2(x[k + 1] - (x[k] - eta*grad(f, x[k]))) <= 0"),
    (r"\mathbb{E}\|x^k\|^2 + \eta \overset{(a)}{\leq} \max\{1,\eta\}", "E(norm2(x[k])) + eta <= max(1, eta)"),
    (
        r"\underbrace{(\eta + \underbrace{H}_Q)}_{\text{a step}} \eta \le \overbrace{\eta^2}^{R}",
        "(eta + H)*eta <= eta**2",
    ),
    (r"-\eta x^{k\star} \le", ""),
    (r"\mathbb{E} f(x^k) - f^\star < \eta^{2}H", "E(f(x[k])) - fstar < eta**2*H"),
    (r"\bigl(1-\eta\bigr)^{k+1} > \tfrac12 \log(H)", "(1 - eta)**(k + 1) > 1/2*log(H)"),
]


@pytest.mark.parametrize(("latex", "sentence"), NOTATION)
def test_the_notation_of_the_field(latex: str, sentence: str) -> None:
    if not sentence:
        with pytest.raises(LatexError):
            read(latex, tapped)
        return
    found = read(latex, tapped)
    assert not found.unanswered, found.unanswered
    assert [str(one) for one in found.sentences] == [sentence]
    parse_sentence(sentence)


@pytest.mark.parametrize(
    ("latex", "why"),
    [
        (r"\sum_{h=0}^{H}\|y_n^{k,h}\| \le 1", "the language has a sum over all turns alone"),
        (r"\sum_{n=1}^{N}\sum_{i=1}^{N} \eta \le 1", "both go through the clients"),
        (r"\|x^k\|_\infty \le 1", r"\\infty cannot be read"),
        (r"\|x^k\|_1 \le 1", "the Euclidean norm alone"),
        (r"|x^k| \le 1", "the absolute value of a vector"),
        (r"x^k \le x^{k+1}", "an order between vectors"),
        (r"\mathbb{E}[\|x^{k+1}\| \mid x^k] \le 1", "no expectation given the past"),
        (r"\mathbb{E}[\|x^{k+1}\| | x^k] \le 1", "is expected"),
        (r"\|\nabla f_n(x^k;\xi)\| \le 1", "a function takes one point"),
        (r"f(x^k) \le O(1/K)", "hides a constant"),
        (r"f(x^k) \le 1 \text{ if } \eta > 2", "words 'if'"),
        (r"\eta \lesssim 1", r"\\lesssim cannot be read"),
        (r"y_n^k \le 1", "here stand 2"),
        (r"\mathbb*{E}[\eta] \le 1", "cannot be read"),
        (r"{a + b} c \le 1", "these braces are not set"),
        (r"\|\nabla f_n(x^k)\| \le 1, \forall n\in[2]", "a qualification is over"),
        (r"\left( \eta ) \le 1", "do not belong together"),
        (r"\min_{0\le k\le K-1} \eta \le 1", "the letter of an index is expected; below, an index is read alone"),
        (r"\sum_{1\le n\le N} \eta \le 1", r"from its first value to its last, _\{k=0\}\^\{K-1\}"),
        (r"\min_{k=0,\dots,K-1} \eta \le 1", r"} is expected, and here is ,; below, an index is read alone"),
        (r"\min_{k\le K-1} \eta \le 1", r"and here is \\le; below, an index is read alone, _\{k\}"),
        (r"\eta \le 1 \quad \forall 0\le k\le K-1", r"; for all is read of an index alone, \\forall k"),
        (r"\eta \le 1 \quad \forall k\le K-1", r"cannot be read here.*; for all is read of an index alone"),
    ],
)
def test_what_the_language_cannot_say_is_an_error(latex: str, why: str) -> None:
    with pytest.raises(LatexError, match=why):
        read(latex, tapped)


@pytest.mark.parametrize(
    ("latex", "sentence"),
    [
        (r"\min_{k} f(x^k) \le 1", "min_k(f(x[k])) <= 1"),
        (r"\min_{k=0}^{K-1} f(x^k) \le 1", "min_k(f(x[k])) <= 1"),
        (r"\min_{k \in [K]} f(x^k) \le 1", "min_k(f(x[k])) <= 1"),
        (r"\max_{k,n} f_n(x^k) \le 1", "max_k(max_n(f_n(x[k]))) <= 1"),
        (r"\max_{n=1}^{N} f_n(x^k) \le 1", "max_n(f_n(x[k])) <= 1"),
    ],
)
def test_the_ranges_that_a_message_names_are_read(latex: str, sentence: str) -> None:
    answers = {r"range \min_{k \in [K]}": "0"} if "[K]" in latex else {}
    assert [str(one) for one in read(latex, tapped, answers).sentences] == [sentence]


def test_a_clients_state_and_answers_that_are_none() -> None:
    (one,) = read(r"\frac{1}{N}\sum_{n=1}^{N} c_n^k = x^k", scaffold).sentences
    assert str(one) == "norm2(mean_n(c[k]) - x[k]) <= 0"
    with pytest.raises(LatexError, match="is none of: clients"):
        read(r"\nabla f_i(x^k) = x^k", scaffold, {"index i": "agents"})
    with pytest.raises(LatexError, match="there is no such name"):
        read(r"\beta \le 1", scaffold, {r"\beta": "as nix"})
    with pytest.raises(LatexError, match="the answer about"):
        read(r"\beta \le 1", scaffold, {r"\beta": "means 1 +"})


def test_without_a_program_everything_is_asked() -> None:
    found = read(r"\|x\|^2 \le L \sum_{i=1}^N a_i")
    assert set(found.unanswered) == {"x", "L", "N", "index i", "a"}
    answers = {"x": "vector", "L": "nonnegative", "N": "as N", "a": "positive"}
    found = read(r"\|x\|^2 \le L \sum_{i=1}^N a_i", answers=answers)
    assert [str(one) for one in found.sentences] == ["norm2(x) <= L*sum_n(a_n)"]
    assert claim_text("eq:one", found) == (
        'claim(\n    "eq-one",\n    "norm2(x) <= L*sum_n(a_n)",\n    vectors=("x",),\n'
        '    parameters={"L": NONNEGATIVE},\n    source="eq:one",\n)'
    )


def test_questions_as_a_file() -> None:
    asked = (Question(r"\eta_{l}", "what is it?", (("positive", "a number"),), 0), Question("it's", "what?", (), 0))
    text = file_of(asked, {r"\eta_{l}": "positive", "old": "kept"})
    assert answers_in(text) == {r"\eta_{l}": "positive", "old": "kept"}
    assert "#   positive: a number" in text
    for bad in ("= 1", "[a]\nanswer = 2", "a = 1"):
        with pytest.raises(ValueError, match="a file of questions"):
            answers_in(bad)


# --- macros and displays ---------------------------------------------------------------------------------------------

PAPER = r"""
\newcommand{\E}{\mathbb{E}}  \newcommand\sqn[2][x]{\left\|#1-#2\right\|^2}
\def\half{\frac12} \DeclareMathOperator*{\argmin}{arg\,min} \DeclarePairedDelimiter{\norm}{\lVert}{\rVert}
\begin{document}
% \begin{equation} 1 \le 2 \label{eq:none} \end{equation}
\begin{theorem}\label{thm:one} We have \[ \E \sqn[x^{k+1}]{x^\star} \le \half \norm*{x^0}. \] \end{theorem}
\begin{lemma} \label{lem:two} $$ \eta \le 1 $$ and \begin{equation*} \eta \le 2 \end{equation*} \end{lemma}
\begin{align}
f(x^k) &\le f(x^0) \label{eq:a} \\[2mm]
\eta &\le \frac{1}{H} \nonumber \\
  &\quad + 1 \label{eq:b} \\
  &\le 2
\end{align}
\begin{equation} \begin{aligned} \eta & \le 1 \\ & + H \end{aligned} \label{eq:c} \end{equation}
\end{document}
"""


def sentences(label: str, answers: Mapping[str, str] | None = None, display: int = 0) -> list[str]:
    one = displays(PAPER, label)[display]
    return [str(s) for s in read(PAPER, fedavg, answers, macros_in(PAPER), one.first, one.last).sentences]


def test_labels_and_what_they_name() -> None:
    assert labels_in(PAPER) == ("thm:one", "lem:two", "eq:a", "eq:b", "eq:c")
    assert sentences("thm:one") == ["E(norm2(x[k + 1] - xstar)) <= 1/2*norm(x0)"]
    assert len(displays(PAPER, "lem:two")) == 2
    assert sentences("lem:two", display=1) == ["eta <= 2"]
    assert sentences("eq:a") == ["f(x[k]) <= f(x0)"]
    (about,) = read(PAPER, fedavg, None, None, *_place("eq:b")).unanswered
    assert sentences("eq:b", {about: "steps"}) == ["eta <= 1/H + 1", "1/H + 1 <= 2"]
    assert sentences("eq:c") == ["eta <= 1 + H"]
    with pytest.raises(LatexError, match="the labels are: thm:one, lem:two"):
        displays(PAPER, "eq:none")
    with pytest.raises(LatexError, match="in another place, too"):
        displays(PAPER + PAPER, "eq:a")
    with pytest.raises(LatexError, match="has no display"):
        displays(r"\begin{theorem}\label{a} Words. \end{theorem}", "a")


def _place(label: str) -> tuple[int, int]:
    (one,) = displays(PAPER, label)
    return one.first, one.last


def test_files_that_are_taken_in() -> None:
    files = {"macros": r"\newcommand{\E}{E}", "loop": r"\input{loop}"}
    assert put_together(r"a \input{macros} % \input{b}", files.get) == r"a \newcommand{\E}{E} % \input{b}"
    assert put_together(r"\include{nix}", files.get) == r"\include{nix}"
    assert put_together(r"\input{loop}", files.get) == r"\input{loop}"


@pytest.mark.parametrize("macro", [r"\newcommand{\a}{\a}", r"\def\a{\b\b}\def\b{\a\a}", r"\newcommand{\a}[1]{#1}"])
def test_macros_that_do_not_end_and_lack_an_argument(macro: str) -> None:
    with pytest.raises(LatexError, match=r"\\[ab] (?:is a macro|takes 1)|macros make"):
        read(r"1 \le \a", macros=macros_in(macro))


def everything(found: Read) -> Iterator[Expression]:
    for sentence in found.sentences:
        yield from sentence.sides


def test_the_same_up_to_order_and_no_further() -> None:
    def equal(one: str, other: str) -> bool:
        left, right = (parse_sentence(f"{text} <= 0").left for text in (one, other))
        return same(left, right)

    assert equal("a*b - c", "-c + b*a")
    assert equal("2*a/(3*b)", "a*2/3/b")
    assert equal("mean_n(a_n)", "sum_n(a_n)/N")
    assert equal("norm(x0)**2", "norm2(x0)")
    assert equal("-(a + b)", "-a - b")
    for one, other in (
        ("a*(b + c)", "a*b + a*c"), ("a + a", "2*a"), ("a/b", "b/a"), ("a - b", "b - a"), ("a**b", "b**a"),
        ("E(a)", "a"), ("sum_n(a_n)", "sum_k(a_n)"), ("0*a", "0*b"), ("a/0", "0"), ("max_n(a_n)", "sum_n(a_n)"),
    ):  # fmt: skip
        assert not equal(one, other), (one, other)
    assert re.fullmatch(r"[a-z]", next(iter(RANGES)))
