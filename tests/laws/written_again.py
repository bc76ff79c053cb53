"""Claims of the catalogue written again by a reader: a paper in a file of one's own, with names of its own.

Nothing here is imported from the papers. `OF` says which claim of the catalogue each one is; it is read by the test of
the law, and by nothing else.
"""

from __future__ import annotations

from typing import Any

from validate.own import claim, parameters

from theory import Claim, Convex, Hypothesis, Paper, Parameter, Quantity, Smooth, StronglyConvex, UnbiasedSampling
from theory.claim import FunctionAt, Given, Recursion, VectorSentence
from theory.domain import NONNEGATIVE, OPEN_UNIT, POSITIVE, REAL, Domain

NAMES = parameters(
    h="step", m="strong_convexity", ell="smoothness", each="sample_smoothness", who="clients", tau="local_steps",
    turns="rounds", t="round", snaps="snapshots", inner="inner_steps", far="start_distance", above="start_gap",
    now="distance", dice="noise_at_minimiser", worst="largest_noise", apart="largest_dissimilarity",
    moment="largest_second_moment", rare="mean_inverse_participation",
)  # fmt: skip

LIPSCHITZ = Hypothesis("gradients", "each f_n has an ell-Lipschitz gradient", assumption=Smooth("ell"))
EACH = Hypothesis("sampled gradients", "each sample's gradient is Lipschitz", assumption=Smooth("each", "sample"))
BOWLS = Hypothesis("convex", "each sample's function is convex", assumption=Convex("sample"))
ALL_CONVEX = Hypothesis("convex", "each client's function is convex", assumption=Convex("client"))
CURVED = Hypothesis("curvature", "each f_n is m-strongly convex", assumption=StronglyConvex("m"))
ORDER = Hypothesis("order", "m <= ell", relation="m <= ell")
ALONE = Hypothesis("alone", "there is one of them", relation="who <= 1")
TOGETHER = Hypothesis("together", "they average after each step", relation="tau <= 1")
FAIR = Hypothesis("fair draws", "samples are drawn uniformly", assumption=UnbiasedSampling())
STILL = Hypothesis("still", "the gradients are exact", relation="worst <= 0")


def short(limit: str, sign: str = "<=") -> Hypothesis:
    return Hypothesis("short steps", f"h {sign} {limit}", relation=f"h {sign} {limit}")


def measured(label: str, left: str, right: str, *assumed: Hypothesis, **rest: Any) -> Claim:
    return claim(f"again/{label}", "as the name says", left, right, parameters=NAMES, hypotheses=assumed, **rest)


def last_iterate(label: str, apart: str) -> Claim:
    spread = f"(3*tau*h**2*worst + 6*tau**2*h**2*{apart})"
    right = f"(1-m*h)**(t*tau)*far + (h*ell + 2*h**2*ell**2)/(m*h)*{spread} + h*worst/(m*who)"
    return measured(label, "squared_distance", right, LIPSCHITZ, CURVED, ORDER, short("1/(2*ell)"))


SVRG = {"algorithm": "fedavg-svrg", "participation": "independent"}
START, NOISE = "2*above/(h*turns*snaps*inner)", "h*ell*snaps*inner*moment*rare"

MEASURED = (
    last_iterate("printed-with-a-square-too-many", "apart**2"),
    last_iterate("mended", "apart"),
    measured(
        "batches", "squared_distance", "2/m*(1-m*h)**t*above + 2*h*worst/(m**2*who)",
        LIPSCHITZ, CURVED, ORDER, TOGETHER, short("1/ell"),
    ),
    measured(
        "batches-gradient", "squared_gradient_norm", "2*ell*(1-m*h)**t*above + 2*h*(ell/m)*worst/who",
        LIPSCHITZ, CURVED, ORDER, TOGETHER, short("1/ell"),
    ),
    measured(
        "substituted", "mean_squared_gradient_norm", f"{START} + h**2*ell**2*(inner-1)**2*moment + {NOISE}",
        LIPSCHITZ, **SVRG,
    ),
    measured("substituted-without-drift", "mean_squared_gradient_norm", f"{START} + {NOISE}", LIPSCHITZ, **SVRG),
    measured(
        "noise-ball", "squared_distance", "(1-h*m)**t*far + 2*h*dice/m",
        EACH, BOWLS, CURVED, ALONE, TOGETHER, short("1/(2*each)"),
    ),
    measured(
        "one-step", "next_distance", "(1-h*m)*now + 2*h**2*dice",
        EACH, BOWLS, CURVED, ALONE, TOGETHER, FAIR, short("1/(2*each)"),
        sentence=VectorSentence(
            ("v", "drawn", "mean", "there"),
            {"next_distance": "norm2(v - h*drawn)", "now": "norm2(v)", "dice": "norm2(there)"},
            ("here", "least"),
            (
                FunctionAt("F_i", {"v": ("v", "drawn", "here"), "0": ("0", "there", "least")}, "sample"),
                FunctionAt("F", {"v": ("v", "mean", "here"), "0": ("0", "0", "least")}),
            ),
            (
                Given("at v", (FAIR,), "dot(drawn - mean, v) == 0"),
                Given("at 0", (FAIR,), "dot(there, v) == 0"),
            ),
            {
                "F_i smooth convex(v,0)": "4*each*h**2",
                "at 0": "-4*each*h**2",
                "F strongly convex(0,v)": "2*h",
                "at v": "-2*h",
                "F strongly convex(v,0)": "2*h*(1 - 2*each*h)",
            },
        ),
    ),
    measured(
        "downhill", "suboptimality", "(1-h*m)**t*above",
        LIPSCHITZ, CURVED, ORDER, ALONE, TOGETHER, STILL, short("1/ell"),
    ),
    measured(
        "downhill-slowly", "suboptimality", "ell*far/(4*t*ell*h+2)",
        LIPSCHITZ, ALL_CONVEX, ALONE, TOGETHER, STILL, short("1/ell"),
    ),
    measured(
        "small-gradients", "mean_squared_gradient_norm", "above/(turns*h*(1-ell*h/2))",
        LIPSCHITZ, ALONE, TOGETHER, STILL, short("2/ell", "<"),
    ),
    measured(
        "small-gradients-with-noise", "mean_squared_gradient_norm", "2*above/(h*turns) + h*ell*worst",
        LIPSCHITZ, ALONE, TOGETHER, short("1/ell"),
    ),
    measured(
        "average-iterate", "mean_suboptimality", "far/(2*h*(1-2*h*each)*turns) + h*dice/(1-2*h*each)",
        EACH, BOWLS, ALONE, TOGETHER, short("1/(2*each)", "<"),
    ),
    measured(
        "local-steps", "squared_distance",
        "(1-h*m)**(t*tau)*far + h*moment/(m*who) + 2*h**2*ell*(tau-1)**2*moment/m",
        LIPSCHITZ, CURVED, ORDER, short("1/(2*ell)"),
    ),
)  # fmt: skip

SHIFT = Hypothesis("full step", "the step is one over the modulus")
U, W = Parameter("u", NONNEGATIVE, "||x||^2"), Parameter("w", NONNEGATIVE, "||y||^2")
PLAIN_M, PLAIN_ELL = Parameter("m", POSITIVE, "curvature"), Parameter("ell", POSITIVE, "modulus of the gradient")


def plain(label: str, quantity: Quantity, right: str, *names: Parameter, relation: str = "<=", **rest: Any) -> Claim:
    """A claim about numbers or vectors, which needs no run."""
    return Claim(
        id=f"again/{label}",
        kind="lemma",
        title=label,
        equation=label,
        statement=f"{quantity.name} {relation} {right}",
        latex="",
        quantity=quantity,
        source="",
        parameters=names,
        relation=relation,
        right=right,
        **rest,
    )


BY_ALGEBRA = (
    plain(
        "geometric",
        Quantity("so_far", "sum over j < n of q^j", "s", recursion=Recursion("n", 0, "0", "so_far + q**n")),
        "(1-q**n)/(1-q)",
        Parameter("q", OPEN_UNIT, "ratio"), Parameter("n", Domain(1, None, integer=True), "terms"), relation="=",
    ),
    plain(
        "product", Quantity("p", "<x, y>", "p"), "s/2*u + w/(2*s)", Parameter("s", POSITIVE, "any"), U, W,
        sentence=VectorSentence(
            ("x", "y"), {"p": "dot(x, y)", "u": "norm2(x)", "w": "norm2(y)"}, multipliers={}
        ),
    ),
    plain(
        "both-moduli", Quantity("p", "<x - x*, grad f(x)>", "p"), "slope**2/ell/(1+m/ell) + m*u/(1+m/ell)",
        PLAIN_M, PLAIN_ELL, Parameter("slope", NONNEGATIVE, "||grad f(x)||"), U, relation=">=",
        hypotheses=(CURVED, LIPSCHITZ, ORDER),
        sentence=VectorSentence(
            ("v", "r"), {"p": "dot(v, r)", "slope": "norm(r)", "u": "norm2(v)"}, ("here", "least"),
            (FunctionAt("F", {"here": ("v", "r", "here"), "least": ("0", "0", "least")}),),
            multipliers=dict.fromkeys(
                ("F smooth strongly convex(here,least)", "F smooth strongly convex(least,here)"), "1/(m + ell)"
            ),
        ),
    ),
    plain(
        "moved", Quantity("moved", "||next||^2", "q"), "size**2 - 2/ell*p + u/ell**2",
        PLAIN_ELL, Parameter("size", NONNEGATIVE, "||x||"), Parameter("p", REAL, "<x, r>"), U, relation="=",
        hypotheses=(SHIFT,),
        sentence=VectorSentence(
            ("v", "r", "after"),
            {"moved": "norm2(after)", "size": "norm(v)", "p": "dot(v, r)", "u": "norm2(r)"},
            given=(Given("as defined", (SHIFT,), "norm2(after) == norm2(v - r/ell)"),),
            multipliers={"as defined": "1"},
        ),
    ),
    plain(
        "terms",
        Quantity(
            "total", "the bound, before it is sorted by terms", "t",
            formula="above/(g*low*n*r) + ((g*ell*v/s + 4*g*n*ell*y**2/s + 9*g**2*a**2*n*ell**2*v"
            " + 72*g**2*a*n**2*ell**2*y**2 + 3*g**2*ell**2*n**2*(6*(1-a)*n**2 + (27/32*a + 1)*(b**2 +"
            " n**2*j**2*(1-a)**2/a**2))*c)/low)",
        ),
        "first + noise + differences + drift + drifting_apart + inertia",
        *(Parameter(name, POSITIVE, name) for name in ("above", "g", "low", "n", "r", "ell", "s")),
        *(Parameter(name, NONNEGATIVE, name) for name in ("v", "y", "b", "j", "c")),
        Parameter("a", Domain(0, 1, lower_open=True), "rest of the weights"),
        relation="=",
        definitions={
            "first": "above/(g*low*n*r)",
            "noise": "g*ell*v/(low*s)",
            "differences": "4*g*n*ell*y**2/(low*s)",
            "drift": "9*g**2*a**2*n*ell**2*v/low",
            "drifting_apart": "72*g**2*a*n**2*ell**2*y**2/low",
            "inertia": "3*g**2*ell**2*n**2*(6*(1-a)*n**2 + (27/32*a + 1)*(b**2 + n**2*j**2*(1-a)**2/a**2))*c/low",
        },
    ),
    plain(
        "load",
        Quantity("load", "what a step carries", "q", formula="32*n*g*ell*y**2 + 36*g**2*a*n**2*ell**2*y**2"),
        "1/2",
        Parameter("n", Domain(1, None, integer=True), "turns"), Parameter("g", POSITIVE, "step"), PLAIN_ELL,
        Parameter("a", Domain(0, 1, lower_open=True), "rest of the weights"), Parameter("y", NONNEGATIVE, "apart"),
        relation="<",
        hypotheses=(Hypothesis("short steps", "g <= 3/(16 n ell)", relation="g <= 3/(16*n*ell)"),),
    ),
)  # fmt: skip
PAPER = Paper("again", "Claims of others, written again", "a reader", (*MEASURED, *BY_ALGEBRA))
