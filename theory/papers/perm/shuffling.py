"""Algorithms 1 and 4, the tools: unrolled updates, products of matrices."""

from __future__ import annotations

from theory.claim import Claim, Hypothesis, Quantity, Step
from theory.papers.perm.words import (
    A1,
    L,
    a_step,
    b_step,
    high,
    low,
    result,
)

UPDATE = Quantity("unrolled_update", "w^{t+1}, in terms of w^0 and the noise", r"w^{t+1}")
EPOCH_UPDATE = Quantity("epoch_update", "v^{r+1} before the projection, in terms of v^r", r"v^{r+1}")
SUM_OF_PRODUCTS = Quantity("sum_of_products", "sum_j A_j B_j", r"\sum_{j=1}^NA_jB_j")
PRODUCT_DISTANCE = Quantity(
    "product_distance",
    "||prod_{t=l}^h (I - a A_t) - prod_{t=l}^h (I - b B_t)|| (b = 0: the first product against I)",
    r"\Vert\prod_{t=l}^h(I-aA_t)-\prod_{t=l}^h(I-bB_t)\Vert",
)

_UP = r"w^0-(\sum_{\tau=0}^t\prod_{t'=t}^{\tau+1}(I-\alpha N\eta H_{t'}))\eta\alpha N\nabla f(w^0)"
_NOISE = r"-\sum_{\tau=0}^t\prod_{t'=t}^{\tau+1}(I-\alpha N\eta H_{t'})\eta\alpha N\delta^"
# two steps on a scalar quadratic with second derivative h, noise d0 and d1, c = eta alpha N
_TWO_STEPS = "w0 - c*g - c*d0 - c*(g - h*c*(g+d0)) - c*d1"
_PROP_1_PRINTED = "w0 - ((1-c*h)+1)*c*g - ((1-c*h)+1)*c*d1"
_PROP_1_TRUE = "w0 - ((1-c*h)+1)*c*g - ((1-c*h)*c*d0 + c*d1)"
_EPOCH = r"v^r-\sum_{j=1}^N\prod_{j'=N}^{j+1}(I-Q_{j'}H_{j'})(Q_j\nabla f_{\sigma(j)}(v^r)%s\delta_j)"
# two clients: v + moves of the first, then of the second
_TWO_CLIENTS = "v - q1*g1 - e1 - q2*(g2 - h2*(q1*g1+e1)) - e2"
_LEMMA_7_PRINTED = "v - (1-q2*h2)*(q1*g1-e1) - (q2*g2-e2)"
_LEMMA_7_TRUE = "v - (1-q2*h2)*(q1*g1+e1) - (q2*g2+e2)"


def _identity(label: str, left: str, right: str, identity: tuple[str, str], note: str) -> tuple[Step, ...]:
    return (Step(label, left, "=", right, "identity", note, identity=identity),)


PROPOSITION_1 = result(
    "proposition-1",
    "proposition",
    "local steps, unrolled",
    "Proposition 1",
    "w^{t+1} = w^0 - (sum_tau prod_{t'=t}^{tau+1} (I - a N eta H_t')) eta a N grad f(w^0) - sum_tau "
    "prod_{t'=t}^{tau+1} (I - a N eta H_t') eta a N delta^t, 0 <= t <= K-1.",
    UPDATE.latex + "=" + _UP + _NOISE + "t",
    UPDATE,
    "Proposition 1, appendix B.3",
    relation="=",
    hypotheses=A1[:2],
    steps=_identity(
        "two steps",
        r"w^2",
        _UP + _NOISE + "t",
        (_TWO_STEPS, _PROP_1_PRINTED),
        "t = 1, a scalar quadratic: delta^t is printed for delta^tau, so the noise of the first step is lost",
    ),
    remarks=(
        "delta^t stands for delta^tau in the last sum.",
        "H_t is the mean Hessian between w^0 and w^t (a symmetric matrix with mu I <= H <= L I; the mean value theorem "
        "that is named does not hold for vector fields). It depends on the noise of the steps before.",
    ),
)
PROPOSITION_1_CORRECTED = result(
    "proposition-1/corrected",
    "proposition",
    "local steps, unrolled",
    "Proposition 1, corrected",
    "The same with delta^tau in the last sum.",
    UPDATE.latex + "=" + _UP + _NOISE + r"\tau",
    UPDATE,
    "repair of Proposition 1",
    relation="=",
    hypotheses=A1[:2],
    steps=_identity(
        "two steps", r"w^2", _UP + _NOISE + r"\tau", (_TWO_STEPS, _PROP_1_TRUE), "t = 1, a scalar quadratic"
    ),
    amends="proposition-1",
    derivation="w^{t+1}-w^0 = (I - c H_t)(w^t-w^0) - c grad f(w^0) - c delta^t, c = eta a N, unrolled from w^0.",
)
LEMMA_7 = result(
    "lemma-7",
    "lemma",
    "an epoch, unrolled",
    "Lemma 7",
    "v^{r+1} = v^r - sum_j prod_{j'=N}^{j+1} (I - Q_j' H_j') (Q_j grad f_s(j)(v^r) - delta_j), Q_j = (sum_{tau<K} "
    "prod_{t'=K-1}^{tau+1} (I - eta a_s(j) N H_t')) eta a_s(j) N.",
    EPOCH_UPDATE.latex + "=" + _EPOCH % "-",
    EPOCH_UPDATE,
    "Lemma 7, appendix B.3; Q_j again in (11)",
    relation="=",
    hypotheses=A1[:2],
    steps=_identity(
        "two clients",
        r"v^{r+1}",
        _EPOCH % "-",
        (_TWO_CLIENTS, _LEMMA_7_PRINTED),
        "scalar quadratics: the noise has the wrong sign",
    ),
    remarks=(
        "The sign of delta_j is wrong, harmlessly for a bound; its proof has the right one.",
        "delta_j's products run from t' = t, which is not bound there (K-1), with delta^t for delta^tau; (11) has an "
        "N' that nothing defines, for N; the clients are 0..N-1 in the algorithm and 1..N here; section C writes "
        "products from N-1.",
        "v^{r+1} is what the epoch leaves before the projection.",
    ),
)
LEMMA_7_CORRECTED = result(
    "lemma-7/corrected",
    "lemma",
    "an epoch, unrolled",
    "Lemma 7, corrected",
    "The same with Q_j grad f_s(j)(v^r) + delta_j, before the projection.",
    EPOCH_UPDATE.latex + "=" + _EPOCH % "+",
    EPOCH_UPDATE,
    "repair of Lemma 7",
    relation="=",
    hypotheses=A1[:2],
    steps=_identity("two clients", r"v^{r+1}", _EPOCH % "+", (_TWO_CLIENTS, _LEMMA_7_TRUE), "scalar quadratics"),
    amends="lemma-7",
    derivation="v^{j+1}-v^r = (I - Q_j H_j)(v^j-v^r) - Q_j grad f_s(j)(v^r) - delta_j, unrolled from v^r.",
)
_PARTS = r"A_N\sum_{j=1}^NB_j-\sum_{n=1}^{N-1}(A_{n+1}-A_n)\sum_{j=1}^nB_j"
LEMMA_8 = result(
    "lemma-8",
    "lemma",
    "summation by parts",
    "Lemma 8",
    "sum_{j=1}^N A_j B_j = A_N sum_{j=1}^N B_j - sum_{n=1}^{N-1} (A_{n+1}-A_n) sum_{j<=n} B_j.",
    SUM_OF_PRODUCTS.latex + "=" + _PARTS,
    SUM_OF_PRODUCTS,
    "Lemma 8, appendix B.3",
    relation="=",
    steps=_identity(
        "three terms",
        SUM_OF_PRODUCTS.latex,
        _PARTS,
        ("a1*b1+a2*b2+a3*b3", "a3*(b1+b2+b3) - (a2-a1)*b1 - (a3-a2)*(b1+b2)"),
        "linear in every A_j and B_j, so that it holds for matrices in this order",
    ),
)

LONGEST = 12  # terms of Proposition 2's sum that are written out


def _expansion(factor: str) -> str:
    """sum_{m=1}^{h-l} (e (h-l)/m)^m factor^m for h-l <= LONGEST; min(1, max(0, h-l-m+1)) is 1 for m <= h-l, else 0."""
    return " + ".join(f"min(1, max(0, h-l-{m - 1}))*(exp(1)*(h-l)/{m}*{factor})**{m}" for m in range(1, LONGEST + 1))


_SUM_2 = r"\sum_{m=1}^{h-l}(\frac{e(h-l)}{m})^m(%sL)^m"
_ORDER = Hypothesis("order of the indices", "l <= h", relation="l <= h")
PROPOSITION_2 = result(
    "proposition-2",
    "proposition",
    "products of matrices near the identity",
    "Proposition 2",
    "For A_t <= L I, B_t <= L I: ||prod_{t=l}^h (I - a A_t) - I|| <= sum_{m=1}^{h-l} (e(h-l)/m)^m (aL)^m, and for the "
    "difference of two such products the same sums with a and with b, added (b = 0 gives the first statement).",
    PRODUCT_DISTANCE.latex + r"\leq" + _SUM_2 % "a" + "+" + _SUM_2 % "b",
    PRODUCT_DISTANCE,
    "Proposition 2, appendix B.3",
    parameters=(a_step, b_step, L, low, high),
    hypotheses=(_ORDER,),
    definitions={
        "expansion_a": _expansion("a*L"),
        "expansion_b": _expansion("b*L"),
        "written_out": f"max(1, 1 - sqrt({LONGEST}-(h-l)))",
    },
    relation="<=",
    right="written_out*(expansion_a + expansion_b)",
    steps=(
        Step(
            "one factor",
            r"\Vert(I-aA_l)-I\Vert",
            "<=",
            "0",
            "inequality",
            "h = l: one factor, and the sum is empty",
            identity=("a*L", "0"),
        ),
        Step(
            "two factors",
            r"(1+aL)^2-1",
            "=",
            r"\sum_{m=1}^{h-l+1}\binom{h-l+1}{m}(aL)^m",
            "identity",
            "h = l+1: h-l+1 = 2 factors, so m goes up to 2, not to h-l = 1",
            identity=("(1+a*L)**2 - 1", "2*a*L + a**2*L**2"),
        ),
    ),
    remarks=(
        "A product from l to h has h-l+1 factors; with h-l the bound is false for h = l.",
        "A_t <= L I does not bound A_t from below; the proof uses ||A_t|| <= L.",
        f"The sums are written out for h - l <= {LONGEST}, where written_out is 1; beyond, the formula has no value.",
    ),
)
PROPOSITION_2_CORRECTED = result(
    "proposition-2/corrected",
    "proposition",
    "products of matrices near the identity",
    "Proposition 2, corrected",
    "For ||A_t|| <= L, ||B_t|| <= L: the first distance is at most (1+aL)^{h-l+1} - 1, the second at most "
    "(1+aL)^{h-l+1} - 1 + (1+bL)^{h-l+1} - 1.",
    PRODUCT_DISTANCE.latex + r"\leq(1+aL)^{h-l+1}-1+(1+bL)^{h-l+1}-1",
    PRODUCT_DISTANCE,
    "repair of Proposition 2",
    parameters=(a_step, b_step, L, low, high),
    hypotheses=(_ORDER, Hypothesis("norms", "||A_t|| <= L and ||B_t|| <= L")),
    definitions={"expansion_a": "(1+a*L)**(h-l+1) - 1", "expansion_b": "(1+b*L)**(h-l+1) - 1"},
    relation="<=",
    right="expansion_a + expansion_b",
    steps=(
        Step(
            "three factors",
            r"(1+aL)^3-1",
            "=",
            r"3aL+3a^2L^2+a^3L^3",
            "identity",
            "the norm of the sum over non-empty subsets of the factors, term by term",
            identity=("(1+a*L)**3 - 1", "3*a*L + 3*a**2*L**2 + a**3*L**3"),
        ),
    ),
    amends="proposition-2",
    derivation=(
        "Expand the product: a sum over the non-empty subsets S of its d = h-l+1 factors of terms of norm at most "
        "(aL)^|S|, that is (1+aL)^d - 1, attained by A_t = -L I. (It is at most sum_{m=1}^d (e d/m)^m (aL)^m.)"
    ),
)
CLAIMS: tuple[Claim, ...] = (
    PROPOSITION_1,
    PROPOSITION_1_CORRECTED,
    LEMMA_7,
    LEMMA_7_CORRECTED,
    LEMMA_8,
    PROPOSITION_2,
    PROPOSITION_2_CORRECTED,
)
