"""Derivations of what is true of local Adam: lines, for every dimension, round, and function of the classes.

`coordinate(v)` is any coordinate of a vector, so that most lines are about numbers: with h = u[k] and vhat = v[k], in
each coordinate, s = 1/sqrt(vhat + eps) falls from round to round (`less`), x[k] - z[k] is -eta*h*s (`moved`), h**2 is
at most a multiple of vhat (`small`), and vhat at most sigma**2 (`top`).
"""

from __future__ import annotations

from typing import Any

from theory.derivation import assumed, at, axiom, combined, induction, mean, power, root, step
from theory.derivation.writing import drawn

Lines = tuple[dict[str, Any], ...]


def each(v: str) -> str:
    """Any coordinate of a vector."""
    return f"coordinate({v})"


ROOT, ROOT_EPS = "sqrt(eps + sigma**2)", "sqrt(eps)"
LENGTH = "eta**2*d/((1 - beta2)*(1 - beta1**2/beta2))"
C, B = "eta*beta1/(1 - beta1)", "eta*sigma**2/(1 - beta1)"


def worth(x: str, z: str, q: str, s: str, c: str = "c", b: str = "b") -> str:
    """What a state is worth: the Lyapunov function."""
    return f"f_n({x}) - f_n(xstar_n) - {c}*dot(grad(f_n, {z}), {q}) + {b}*dot(one[k], {s})"


NOW, AFTER = worth("x[k]", "z[k]", "q[k]", "s[k]", C, B), worth("x[k+1]", "x[k]", "p[k]", "t[k]", C, B)
G, OLD_G = "grad(f_n, x[k])", "grad(f_n, z[k])"
U, NEXT_U, V, NEXT_V = each("u[k]"), each("u[k+1]"), each("v[k]"), each("v[k+1]")
R, NEXT_R = f"sqrt({V} + eps)", f"sqrt({NEXT_V} + eps)"
DRAWN = each("g[k]")
MEANT = f"beta2*{V} + (1 - beta2)*{DRAWN}**2"
LARGER = f"max({V}, {MEANT})"
STEP, OLD_STEP = f"({each('x[k+1]')} - {each('x[k]')})", f"({each('x[k]')} - {each('z[k]')})"

# --- vhat and what is made of it ---

GROWS: Lines = (
    axiom("more", f"{V} <= max({V}, {NEXT_V})", "max", V, NEXT_V),
    step("larger", f"max({V}, {NEXT_V}) == {NEXT_V}"),
    combined("grows", f"{V} <= {NEXT_V}", "larger; more"),
    induction("v", f"{V} >= 0", [combined("v first")], [combined("v next", None, "IH; grows")]),
    at("v then", "v", f"{NEXT_V} >= 0", k="k + 1"),
    step("grown", f"{NEXT_V} == {LARGER}"),
    step("recalled", f"{NEXT_U} == beta1*{U} + (1 - beta1)*{DRAWN}"),
    step("one", f"{each('one[k]')} == 1"),
    step("s", f"{each('s[k]')} == 1/{R}"),
    step("t", f"{each('t[k]')} == 1/{NEXT_R}"),
    step("q", f"{each('q[k]')} == {U}/{R}"),
    step("p", f"{each('p[k]')} == {NEXT_U}/{NEXT_R}"),
    root("wide", "v", f"{ROOT_EPS} <= {R}"),
    root("wide then", "v then", f"{ROOT_EPS} <= {NEXT_R}"),
)
MOVED: Lines = (
    induction("moved", f"{OLD_STEP} == -eta*{U}/{R}", [combined("moved first")], [step("moved next")]),
    step("moves", f"{STEP} == -eta*{NEXT_U}/{NEXT_R}"),
)

# --- gradients of norm at most sigma ---

BY_ITERATES: Lines = (
    axiom(
        "largest", "norm(grad(f_ni, x[k])) <= max_i(norm(grad(f_ni, x[k])))", "extreme", "norm(grad(f_ni, x[k]))",
        over="max_i",
    ),
    combined("sample", "norm(grad(f_ni, x[k])) <= sigma", "largest; max_i(norm(grad(f_ni, x[k]))) <= sigma"),
    power("squared", "sample", "2", "norm2(grad(f_ni, x[k])) <= sigma**2"),
)  # fmt: skip
ON_BALL: Lines = (
    axiom("highest", "norm(x[k]) <= max_k(norm(x[k]))", "extreme", "norm(x[k])", over="max_k"),
    combined("inside", "norm(x[k]) <= R", "highest; max_k(norm(x[k])) <= R"),
    assumed(
        "squared", "norm2(grad(f_ni, x[k])) <= sigma**2", ["bounded_gradients(f_ni, sigma, R)"], "bounded on ball",
        v="x[k]",
    ),
)  # fmt: skip
GRADIENT = combined("gradient", f"norm2({G}) <= sigma**2", "mean_i: squared", f"mean_i: grad(f_ni, x[k]) - {G}")
BOUNDED: Lines = (
    GRADIENT,
    drawn("drawn", "squared", "norm2(g[k]) <= sigma**2"),
    induction(
        "u", "norm2(u[k]) <= sigma**2", [combined("u first", None, (), "sigma")],
        [
            combined(
                "u next", None,
                "IH times beta1; drawn times 1 - beta1; "
                f"coordinates: recalled times {NEXT_U} + beta1*{U} + (1 - beta1)*{DRAWN}",
                "u[k] - g[k] times beta1*(1 - beta1)",
            ),
        ],
    ),
    at("u then", "u", "norm2(u[k+1]) <= sigma**2", k="k + 1"),
)  # fmt: skip
PAST: Lines = (
    at("begins", "gradient", "norm2(grad(f_n, x[0])) <= sigma**2", k="0"),
    induction(
        "past", f"norm2({OLD_G}) <= sigma**2", [combined("past first", None, "begins")],
        [step("same", f"norm2(grad(f_n, z[k+1])) == norm2({G})"), combined("past next", None, "same; gradient")],
    ),
)  # fmt: skip
TOP: Lines = (
    axiom("drawn in each", None, "coordinate", "g[k]"),
    induction(
        "top", f"{V} <= sigma**2", [combined("top first", None, (), "sigma")],
        [
            combined(
                "top meant", f"{MEANT} <= sigma**2",
                "IH times beta2; drawn in each times 1 - beta2; drawn times 1 - beta2",
            ),
            axiom("top of both", f"{LARGER} <= sigma**2", "bounds", V, MEANT, "sigma**2"),
            combined("top next", None, "grown; top of both"),
        ],
    ),
    root("tall", "top", f"{R} <= {ROOT}"),
    at("top then", "top", f"{NEXT_V} <= sigma**2", k="k + 1"),
    root("tall then", "top then", f"{NEXT_R} <= {ROOT}"),
)  # fmt: skip


def product(name: str, sign: str, g: str, q: str, u: str, r: str, then: str, g_line: str) -> Lines:
    """sign*dot(g, q) <= sigma**2/sqrt(eps), where q is u/r."""
    line, wide, moment = q[0], f"wide{then}", f"u{then}"
    return (
        combined(
            f"{name} in each", f"{sign}{each(g)}*{each(q)} <= ({each(g)}**2 + {u}**2)/(2*{ROOT_EPS})",
            f"{line} times {sign}{each(g)}; {wide} times ({each(g)}**2 + {u}**2)/(2*{ROOT_EPS}*{r})",
            f"{each(g)} {'+' if sign else '-'} {u} times 1/(2*{r})",
        ),
        combined(
            name, f"{sign}dot({g}, {q}) <= sigma**2/{ROOT_EPS}",
            f"coordinates: {name} in each; {g_line} times 1/(2*{ROOT_EPS}); {moment} times 1/(2*{ROOT_EPS})",
        ),
    )  # fmt: skip


def heavy(name: str, s: str, r: str, then: str = "") -> Lines:
    """dot(one, s) >= d/sqrt(eps + sigma**2), where s is 1/r."""
    return (
        combined(f"{name} in each", f"{each(s)} >= 1/{ROOT}", f"{s[0]} times -1; tall{then} times 1/({r}*{ROOT})"),
        combined(
            name, f"dot(one[k], {s}) >= d/{ROOT}", f"coordinates: {name} in each; coordinates: one times -{each(s)}"
        ),
    )


LIGHT: Lines = (
    combined("light in each", f"{each('s[k]')} <= 1/{ROOT_EPS}", f"s; wide times 1/({R}*{ROOT_EPS})"),
    combined(
        "light",
        f"dot(one[k], s[k]) <= d/{ROOT_EPS}",
        f"coordinates: light in each; coordinates: one times {each('s[k]')}",
    ),
)

# --- (15), (16), (21) to (24), and the length of a step ---

EQ15: Lines = (
    *GROWS, *BY_ITERATES, *BOUNDED, *TOP, *PAST,
    *product("inner", "", OLD_G, "q[k]", U, R, "", "past"),
    *heavy("heavy", "s[k]", R),
    combined(
        "all", None,
        f"strongly_convex f_n (xstar_n, x[k]) times 2/mu; zero n (x[k] - xstar_n) times -2/mu; inner times 2/mu*{C}; "
        f"heavy times 2/mu*{B}",
    ),
)  # fmt: skip
INNER: Lines = (*PAST, *product("inner", "-", OLD_G, "q[k]", U, R, "", "past"), *LIGHT)
EQ16: Lines = (
    *GROWS, *BY_ITERATES, *BOUNDED, *INNER,
    combined(
        "all", None,
        f"above f_n (xstar_n, x[k]) times 2/L; zero n (x[k] - xstar_n) times 2/L; inner times 2/L*{C}; "
        f"light times 2/L*{B}",
    ),
)  # fmt: skip


def in_three_parts(name: str, sentence: str | None = None) -> Lines:
    """(21)."""
    return (
        step("mixed", f"{each('kept[k]')} == beta1*{each('q[k]')} + (1 - beta1)*{each('sampled[k]')}"),
        combined(name, sentence, f"E coordinates: mixed times -{each(G)}"),
    )


def momentum(name: str, sentence: str | None = None) -> Lines:
    """(22)."""
    return (
        combined("against", f"{OLD_STEP} == -eta*{each('q[k]')}", "moved; q times eta"),
        combined(
            name,
            sentence,
            f"coordinates: against times -beta1/eta*({each(G)} - {each(OLD_G)}); "
            "above f_n (x[k], z[k]) times beta1/eta; above f_n (z[k], x[k]) times beta1/eta",
        ),
    )


DROP = f"({each('s[k]')} - {each('t[k]')})"


def scaling(name: str, sentence: str | None = None) -> Lines:
    """(24)."""
    bounds = ("gradient in each", "momentum in each", "gradient", "u then")
    return (
        root("wider", "grows", f"{R} <= {NEXT_R}"),
        combined("less", f"{each('t[k]')} <= {each('s[k]')}", f"s times -1; t; wider times 1/({R}*{NEXT_R})"),
        step("scaled", f"{each('p[k]')} - {each('kept[k]')} == -{DROP}*{NEXT_U}"),
        axiom("gradient in each", None, "coordinate", G),
        axiom("momentum in each", None, "coordinate", "u[k+1]"),
        combined(
            name,
            sentence,
            {
                "E coordinates: scaled": f"-{each(G)}",
                "E coordinates: one": f"-sigma**2*{DROP}",
                **{f"E coordinates: {one}": f"{DROP}/2" for one in bounds},
            },
            f"E coordinates: {each(G)} - {NEXT_U} times {DROP}/2",
        ),
    )


FACTOR = "(1 - beta1)**2*beta2/((1 - beta2)*(beta2 - beta1**2))"
SMALL: Lines = (
    axiom("meant", f"{MEANT} <= {LARGER}", "max", V, MEANT),
    combined("later", f"{MEANT} <= {NEXT_V}", "meant; grown times -1"),
    induction(
        "small", f"{U}**2 <= {FACTOR}*{V}", [combined("small first")],
        [
            combined(
                "small next", None,
                f"later times {FACTOR}; IH times beta2; recalled times {NEXT_U} + beta1*{U} + (1 - beta1)*{DRAWN}",
                f"{U} - beta1*(1 - beta1)/(beta2 - beta1**2)*{DRAWN} times beta2 - beta1**2",
            ),
        ],
    ),
    at("small then", "small", f"{NEXT_U}**2 <= {FACTOR}*{NEXT_V}", k="k + 1"),
)  # fmt: skip


def length(name: str, line: str, moved: str, u: str, v: str, small: str, sentence: str | None = None) -> Lines:
    """The squared length of a step, in each coordinate and in all."""
    left = "beta1*(2 - beta1)*beta2/((1 - beta2)*(beta2 - beta1**2))"
    return (
        combined(
            f"{name} in each",
            f"{moved}**2 <= eta**2/((1 - beta2)*(1 - beta1**2/beta2))",
            f"{line} times {moved} - eta*{u}/sqrt({v} + eps); {small} times eta**2/({v} + eps)",
            f"1 times eta**2*{FACTOR}*eps/({v} + eps) + eta**2*{left}",
        ),
        combined(name, sentence, f"coordinates: {name} in each"),
    )


EQ21: Lines = in_three_parts("all")
EQ22: Lines = (*GROWS, *MOVED, *momentum("all"))
EQ24: Lines = (*GROWS, *BY_ITERATES, *BOUNDED, *scaling("all"))
STEP_LENGTH: Lines = (*GROWS, *MOVED, *SMALL, *length("all", "moves", STEP, NEXT_U, NEXT_V, "small then"))

# --- (25), (26), Lemma 5, (17), Theorem 3 ---


def one_step(bounded: Lines) -> Lines:
    """What (25) is made of."""
    return (
        *GROWS, *bounded, *BOUNDED, *MOVED, *SMALL,
        *in_three_parts(
            "parts",
            f"-E(dot({G}, p[k])) == -beta1*E(dot({G}, q[k])) - (1 - beta1)*E(dot({G}, sampled[k]))"
            f" - E(dot({G}, p[k] - kept[k]))",
        ),
        *momentum("first", f"-beta1*dot({G}, q[k]) <= -beta1*dot({OLD_G}, q[k]) + beta1*L/eta*norm2(x[k] - z[k])"),
        step("second", f"E(dot({G}, sampled[k])) == E(dot({G}, exact[k]))"),
        *scaling("third", f"-E(dot({G}, p[k] - kept[k])) <= sigma**2*E(dot(one[k], s[k]) - dot(one[k], t[k]))"),
        *length("long", "moves", STEP, NEXT_U, NEXT_V, "small then", f"norm2(x[k+1] - x[k]) <= {LENGTH}"),
        *length("before", "moved", OLD_STEP, U, V, "small", f"norm2(x[k] - z[k]) <= {LENGTH}"),
        combined("along", f"{STEP} == -eta*{each('p[k]')}", "moves; p times eta"),
        combined(
            "descent", f"f_n(x[k+1]) - f_n(x[k]) <= -eta*dot({G}, p[k]) + L/2*norm2(x[k+1] - x[k])",
            f"above f_n (x[k], x[k+1]); coordinates: along times {each(G)}",
        ),
    )  # fmt: skip


def by_parts(c: str) -> dict[str, str]:
    """How (25) is combined."""
    both = f"(eta + {c})"
    return {
        "E: descent": "1",
        "E: long": "L/2",
        "parts": both,
        "E: first": both,
        "E: before": f"{both}*beta1*L/eta",
        "second": f"-{both}*(1 - beta1)",
        "third": both,
    }


EQ25: Lines = (*one_step(BY_ITERATES), combined("all", None, by_parts("c")))


def contracts(bounded: Lines, name: str, sentence: str | None = None) -> Lines:
    """Lemma 5."""
    slope = f"2*mu*eta/{ROOT}"
    return (
        *one_step(bounded),
        combined(
            "falls", f"E({AFTER}) <= E({NOW}) + (L/2 + L*beta1/(1 - beta1))*{LENGTH} - eta*E(dot({G}, exact[k]))",
            by_parts(C),
        ),
        *TOP, *INNER,
        step("exact", f"{each('exact[k]')} == {each(G)}/{R}"),
        combined(
            "weighted in each", f"{each(G)}*{each('exact[k]')} >= {each(G)}**2/{ROOT}",
            f"exact times -{each(G)}; tall times {each(G)}**2/({R}*{ROOT})",
        ),
        combined("weighted", f"dot({G}, exact[k]) >= norm2({G})/{ROOT}", "coordinates: weighted in each"),
        combined(
            "steep", f"norm2({G}) >= 2*mu*(f_n(x[k]) - f_n(xstar_n))",
            "strongly_convex f_n (x[k], xstar_n) times 2*mu", f"{G} - mu*(x[k] - xstar_n)",
        ),
        combined(
            name, sentence,
            f"falls; E: weighted times eta; E: steep times eta/{ROOT}; E: inner times {slope}*{C}; "
            f"E: light times {slope}*{B}",
            f"1 times {slope}*{B}*beta1*(d - 1)/{ROOT_EPS}",
        ),
    )  # fmt: skip


LEMMA_5: Lines = contracts(BY_ITERATES, "all")


def distance(bounded: Lines, name: str, sentence: str | None = None) -> Lines:
    """(17)."""
    return (
        *contracts(bounded, "lemma", f"E({AFTER}) <= C1*E({NOW}) + C2"),
        *product("inner then", "", G, "p[k]", NEXT_U, NEXT_R, " then", "gradient"),
        *heavy("heavy then", "t[k]", NEXT_R, " then"),
        combined(
            "near",
            f"norm2(x[k+1] - xstar_n) <= 2/mu*({AFTER} + C3)",
            "strongly_convex f_n (xstar_n, x[k+1]) times 2/mu; zero n (x[k+1] - xstar_n) times -2/mu; "
            f"inner then times 2/mu*{C}; heavy then times 2/mu*{B}",
        ),
        combined(
            "far",
            f"{NOW} <= L/2*norm2(x[k] - xstar_n) + C4",
            f"above f_n (xstar_n, x[k]); zero n (x[k] - xstar_n); inner times {C}; light times {B}",
        ),
        combined(name, sentence, "E: near; lemma times 2/mu; E: far times 2/mu*C1"),
    )


EQ17: Lines = distance(BY_ITERATES, "all")
OFFSET, NEAR = "2/mu*(C2 + C3 + C1*C4)", "norm(xstar_n) <= r"
LARGEST = "sqrt((1 + 3*kappa*C1)/one_minus_kappa_C1**2*r**2 + 2*(C2 + C3 + C1*C4)/(mu - L*C1))"
SAME = f"max(0, {LARGEST})"  # which is not multiplied out
RADIUS = f"(C5*r + {SAME})"
MEAN = "E(x[K])"


def in_the_ball(bounded: Lines, here: Lines) -> Lines:
    """Theorem 3, with `inside`: norm(x[K-1]) <= R."""
    within, apart = f"{RADIUS} + r + norm(x[K-1]) + norm(xstar_n)", f"norm2({MEAN} - xstar_n)"
    return (
        *distance(bounded, "distance", f"E(norm2(x[k+1] - xstar_n)) <= L/mu*C1*E(norm2(x[k] - xstar_n)) + {OFFSET}"),
        at("end", "distance", f"E(norm2(x[K] - xstar_n)) <= L/mu*C1*E(norm2(x[K-1] - xstar_n)) + {OFFSET}", k="K - 1"),
        axiom("low", f"{LARGEST} <= {SAME}", "max", "0", LARGEST),
        axiom("high", f"{SAME} <= {LARGEST}", "bounds", "0", LARGEST, LARGEST),
        power("low squared", "low", "2", f"{LARGEST}**2 <= {SAME}**2"),
        *here,
        axiom("cauchy", None, "cauchy", "-x[K-1]", "xstar_n"),
        combined(
            "away", f"norm2(x[K-1] - xstar_n) <= ({RADIUS} + r)**2",
            f"cauchy times 2; last times {within}; {NEAR} times {within}",
        ),
        combined(
            "radius", f"kappa*C1*({RADIUS} + r)**2 + {OFFSET} <= {RADIUS}**2 - 2*r*{RADIUS}",
            "low squared times one_minus_kappa_C1",
        ),
        combined("room", f"r <= {RADIUS}", (), f"1 times 2*kappa*C1/one_minus_kappa_C1*r + {SAME}"),
        combined(
            "spread", f"E(norm2(x[K] - xstar_n)) <= {RADIUS}**2 - 2*r*{RADIUS}", "end; E: away times kappa*C1; radius",
        ),
        combined("mean", f"{apart} <= ({RADIUS} - r)**2", "spread", f"E: x[K] - {MEAN}; r"),
        root("close", "mean", f"norm({MEAN} - xstar_n) <= {RADIUS} - r"),
        axiom("towards", None, "cauchy", f"{MEAN} - xstar_n", "xstar_n"),
        combined(
            "squares", f"E(norm2(x[K])) <= {RADIUS}**2",
            f"spread; towards times 2; close times 2*norm(xstar_n); {NEAR} times 2*{RADIUS} + norm(xstar_n)",
            "1 times r*norm(xstar_n)",
        ),
        root("roots", "squares", f"sqrt(E(norm2(x[K]))) <= {RADIUS}"),
        combined("all", None, "roots; high"),
    )  # fmt: skip


LAST = f"norm(x[K-1]) <= {RADIUS}"
THEOREM_3: Lines = in_the_ball(BY_ITERATES, (combined("last", LAST, "norm(x[K-1]) <= R; low"),))
THEOREM_3_ON_BALL: Lines = in_the_ball(
    ON_BALL, (at("last inside", "inside", "norm(x[K-1]) <= R", k="K - 1"), combined("last", LAST, "last inside; low"))
)
FROM_BOUNDED_GRADIENTS: Lines = (
    *BY_ITERATES, GRADIENT,
    combined(
        "steep", f"mu**2*norm2(x[k] - xstar_n) <= norm2({G})",
        "strongly_convex f_n (x[k], xstar_n) times 2*mu; strongly_convex f_n (xstar_n, x[k]) times 2*mu; "
        "zero n (x[k] - xstar_n) times -2*mu",
        f"{G} - mu*(x[k] - xstar_n)",
    ),
    combined("squares", "norm2(x[k] - xstar_n) <= (sigma/mu)**2", "steep times 1/mu**2; gradient times 1/mu**2"),
    root("near", "squares", "norm(x[k] - xstar_n) <= sigma/mu"),
    axiom("triangle", None, "triangle", "x[k] - xstar_n", "xstar_n"),
    combined(
        "here", f"norm(x[k]) <= r + sigma/mu + eta*sigma/{ROOT_EPS}", f"triangle; near; {NEAR}",
        f"1 times eta*sigma/{ROOT_EPS}",
    ),
    power("here squared", "here", "2", f"norm2(x[k]) <= (r + sigma/mu + eta*sigma/{ROOT_EPS})**2"),
    mean("mean", "here squared", "E", f"E(norm2(x[k])) <= (r + sigma/mu + eta*sigma/{ROOT_EPS})**2"),
    root("all", "mean"),
)  # fmt: skip
