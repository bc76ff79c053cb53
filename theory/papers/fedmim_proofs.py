"""Derivations of what is true of FedMIM: lines, for every number of clients, turns, lags and rounds.

They are written with the names that the paper's claims define (P, M, rho, u, ...); `spelled` puts in what they stand
for where a claim does not. Drift is mean_n(E||x_{i,h} - x_t||^2); c_j is sum_{s>=j} alpha_s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from theory.derivation import at, axiom, cases, combined, domain, induction, mean, power, single, step, telescope, zero

Lines = list[dict[str, Any]]


def tail(j: str) -> str:
    """c_j."""
    return f"sum_h(max(0, min(1, h + 1 - {j}))*alpha_h)"


def u(k: str) -> str:
    """u_t, (15)."""
    return f"(x[{k}] - H/A*sum_j({tail('j')}*past[{k}, j]))"


LENGTH = "sum_j(0*alpha_j + 1)"
LARGEST = "max_k(E(norm2(moved[k])))"
MEANINGS = {
    "rho": "sum_j(beta_j)", "J": LENGTH, "P": "(rho*beta_j + H**2*J*(1 - A)**2/A**2)",
    "M": "(alpha_j + 4*A*L**2*eta_l**2*P)", "lags": "sum_j(6*H**2*M + P)", "delta_sq": "E(norm2(past[k, j]))",
    "grad_u2": "E(norm2(grad(f, u)))", "u": u("k"), "u_next": u("k+1"), "C": LARGEST,
}  # fmt: skip
_NAMES = re.compile(rf"\b({'|'.join(MEANINGS)})\b(?!\()")


def spelled(defined: Mapping[str, str], lines: Any) -> Any:
    """Lines, each of a name once, with what a claim does not define in full."""
    if isinstance(lines, str):
        while (now := _NAMES.sub(lambda m: m[0] if m[0] in defined else MEANINGS[m[0]], lines)) != lines:
            lines = now
        return lines
    if isinstance(lines, Mapping):
        kept = ("name", "by", "schema", "using")
        return {
            key: value if key in kept or (key == "line" and "(" not in value) else spelled(defined, value)
            for key, value in lines.items()
        }
    if not isinstance(lines, Sequence):
        return lines
    if lines and all(isinstance(one, Mapping) and "by" in one for one in lines):
        lines = list({one["name"]: one for one in lines}.values())
    return [spelled(defined, one) for one in lines]


def derivation(defined: Mapping[str, str], lines: Lines) -> Lines:
    """Lines that end with the sentence of a claim, whatever the last of them is called elsewhere."""
    *before, last = spelled(defined, lines)
    return [*before, {key: value for key, value in last.items() if key != "sentence"}]


REMAINDER = "A == 1 - sum_j(alpha_j)"
SHIFT = "sum_j(alpha_j*past[k, j])"
AHEAD = "sum_j(beta_j*past[k, j])"

# --- the recursion ---------------------------------------------------------------------------------------------------

INCREMENT = f"past[k+1, 0] - A*eta_l*moved[k] - {SHIFT}"
RECURSION: Lines = [
    axiom(
        "turns", "norm2(sum_h(z[k, h+1] - z[k, h]) - (z[k, H] - z[k, 0])) <= 0", "telescope", "z[k, h]", over="sum_h"
    ),
    step("recursion", f"norm2({INCREMENT}) <= 0", using=["turns"]),
]
GIVEN: Lines = [
    domain("weights", "alpha_j >= 0"),
    axiom("tail", f"{tail('j')} - {tail('(j + 1)')} == alpha_j", "tail", "alpha_h"),
    axiom("whole", f"{tail('0')} == sum_j(alpha_j)", "tail", "alpha_h"),
]
NEW, MOVE = "past[k+1, 0] - (x[k] - x[k+1])/H", "u_next - u + H*eta_l*moved[k]"
LAST = f"past[k+1, {LENGTH}]"
SHIFTED = (
    f"sum_j({tail('(j + 1)')}*past[k+1, j+1] - {tail('j')}*past[k+1, j])"
    f" - ({tail(f'({LENGTH})')}*{LAST} - {tail('0')}*past[k+1, 0])"
)
LEMMA_5: Lines = [
    *RECURSION,
    *GIVEN,
    axiom("nothing", f"{tail(f'({LENGTH})')} == 0", "tail", "alpha_h"),
    step("new", f"norm2({NEW}) <= 0"),
    axiom("shifted", f"norm2({SHIFTED}) <= 0", "telescope", f"{tail('j')}*past[k+1, j]", over="sum_j"),
    zero("recursion by it", "recursion", INCREMENT, MOVE),
    zero("new by it", "new", NEW, MOVE),
    zero("shifted by it", "shifted", SHIFTED, MOVE),
    combined(
        "moves",
        f"norm2({MOVE}) <= 0",
        "recursion by it times -H/A; new by it times H; shifted by it times H/A; "
        f"sum_j: tail times H/A*dot(past[k, j], {MOVE}); whole times -H/A*dot(past[k+1, 0], {MOVE}); "
        f"nothing times H/A*dot({LAST}, {MOVE}); {REMAINDER} times -H/A*dot(past[k+1, 0], {MOVE})",
    ),
]
JENSEN = axiom("jensen", None, "jensen", *("alpha_j", "past[k, j]"), over="sum_j")
EQ_21: Lines = [
    *RECURSION,
    zero("increment", "recursion", INCREMENT, f"past[k+1, 0] + A*eta_l*moved[k] + {SHIFT}"),
    JENSEN,
    combined(
        "(21)",
        "E(norm2(past[k+1, 0])) <= A*E(norm2(eta_l*moved[k])) + sum_j(alpha_j*E(norm2(past[k, j])))",
        f"E: increment; E: jensen; {REMAINDER} times A*E(norm2(eta_l*moved[k])) + sum_j(alpha_j*E(norm2(past[k, j])))",
        "sum_j E: eta_l*moved[k] - past[k, j] times A*alpha_j",
    ),
]
BELOW = "E(norm2(past[k, j])) <= eta_l**2*C"
BOUNDED: Lines = [
    *EQ_21,
    axiom("largest", "E(norm2(moved[k])) <= C", "extreme", "E(norm2(moved[k]))", over="max_k"),
    combined("at least 0", "0 <= C", (), "1 times C"),
    induction(
        "bounded",
        BELOW,
        [combined(name, "0 <= eta_l**2*C", "at least 0 times eta_l**2") for name in ("none", "none yet")],
        [
            induction(
                "next",
                "E(norm2(past[k+1, j])) <= eta_l**2*C",
                [
                    combined(
                        "newest",
                        None,
                        f"(21); largest times A*eta_l**2; sum_j: IH 1 times alpha_j; {REMAINDER} times eta_l**2*C",
                    )
                ],
                [combined("older", None, "IH 1")],
                on="j",
            ),
            combined("again", None, "next"),
        ],
        sentences=[BELOW, BELOW],
    ),
]
LEMMA_6: Lines = [
    *BOUNDED,
    at("newer", "bounded", j="0"),
    mean("no more", "recursion", "E", f"E(norm2({INCREMENT})) <= 0"),
    axiom("both", None, "bounds", f"eta_l**2*C + E(norm2({INCREMENT}))", "E(norm2(past[k, 0]))", "eta_l**2*C"),
]

# --- a client's gradients: Lemma 7 -----------------------------------------------------------------------------------

GRADIENT = "grad(f_n, y[k, h])"
GRADIENTS = f"mean_n(E(norm2({GRADIENT})))"
DRIFT = "mean_n(E(norm2(z[k, h] - x[k])))"
LAGGING: Lines = [
    *GIVEN,
    induction(
        "less", f"{tail('j')} <= 1 - A", [combined("all of it", None, f"whole; {REMAINDER}")],
        [combined("less yet", None, "IH; tail times -1; weights")], on="j",
    ),
    power("squares", "less", "2", f"({tail('j')})**2 <= (1 - A)**2"),
    axiom("inertia", None, "jensen", "beta_j", "past[k, j]", over="sum_j"),
    axiom("behind", None, "jensen", *("1 + 0*alpha_j", f"{tail('j')}*past[k, j]"), over="sum_j"),
    combined(
        "distance", "norm2(x[k] - u) <= H**2*J*(1 - A)**2/A**2*sum_j(norm2(past[k, j]))",
        "behind times H**2/A**2; sum_j: squares times H**2/A**2*J*norm2(past[k, j])",
    ),
    step("ahead", f"norm2(y[k, h] - z[k, h]) == norm2({AHEAD})"),
]  # fmt: skip
POINTS = [f"grad(f_n, {v})" for v in ("y[k, h]", "z[k, h]", "x[k]", "u")]
PIECES = [f"({one} - {other})" for one, other in pairwise(POINTS)]


def moved_by(times: int, over: str = "mean_n E") -> dict[str, str]:
    """What moves a client's gradient from y2 to u, so many times."""
    steps = zip(("y[k, h]", "z[k, h]", "x[k]"), ("z[k, h]", "x[k]", "u"), strict=True)
    parts = {f"{over}: lipschitz-gradient f_n ({one}, {other})": f"{times}" for one, other in steps}
    return {
        **parts,
        f"{over}: ahead": f"{times}*L**2",
        **{f"E: {one}": f"{times}*L**2" for one in ("inertia", "distance")},
    }


def apart(vectors: Sequence[str], over: Sequence[str]) -> Lines:
    """||a + b + ...||^2 is at most as many times ||a||^2 + ||b||^2 + ..., by these squares."""
    return [{"of": f"{one} - {other}", "over": list(over)} for one, other in combinations(vectors, 2)]


LEMMA_7: Lines = [
    *LAGGING,
    combined(
        "lemma 7",
        f"{GRADIENTS} <= 4*L**2*{DRIFT} + 4*L**2*sum_j(P*delta_sq) + 4*G**2 + 4*B**2*grad_u2",
        {**moved_by(4), "E: dissimilar (u)": "4"},
        apart([*PIECES, POINTS[-1]], ("mean_n", "E")),
    ),
]

# --- the drift: (25), (26), Lemma 8. s is m, or H --------------------------------------------------------------------

SMALL: Lines = [
    combined("turn by turn", "4*L*H*sqrt(A)*eta_l <= 1", "eta_l <= 1/(4*L*H*sqrt(A)) times 4*L*H*sqrt(A)"),
    power("size", "turn by turn", "2", "16*L**2*H**2*A*eta_l**2 <= 1"),
]
"""By the step size of Lemma 8."""
SMALLER: Lines = [
    combined("short", "H*L*eta_l <= 3/16", "eta_l <= 3/(16*H*L) times H*L"),
    power("shorter", "short", "2", "(H*L*eta_l)**2 <= (3/16)**2"),
    combined("size", "16*L**2*H**2*A*eta_l**2 <= 1", "shorter times 16*A", "1 times 1 - 9/16*A"),
]
"""By the step size of the theorems."""
LAST_TURNS: Lines = [
    power("sizes", "m <= H", "2", "m**2 <= H**2"),
    combined("factor", "8*m*A*L**2*eta_l**2 <= 1/(2*m)", "size times 1/(2*m); sizes times 8*A*L**2*eta_l**2/m"),
]
ALL_TURNS: Lines = [combined("factor", "8*H*A*L**2*eta_l**2 <= 1/(2*H)", "size times 1/(2*H)")]
AFTER = step("after", "norm2(after[k, h] - x[k]) == norm2(z[k, h+1] - x[k])")
PULL = f"({SHIFT} + A*eta_l*{GRADIENT})"


def added(s: str) -> str:
    """What a turn adds to the drift."""
    return f"(2*{s}*sum_j(M*delta_sq) + 8*A*{s}*eta_l**2*(G**2 + B**2*grad_u2) + A**2*eta_l**2*sigma2)"


def grows(s: str) -> Lines:
    """One turn's drift, with Young's inequality at 1/(2s - 1)."""
    return [
        *LEMMA_7,
        step(
            "turn",
            f"E(norm2(z[k, h+1] - x[k])) == E(norm2(z[k, h] - x[k] - {PULL}))"
            f" + A**2*eta_l**2*E(mean_i(norm2(grad(f_ni, y[k, h]) - {GRADIENT})))",
        ),
        JENSEN,
        combined(
            "mixed",
            f"norm2({PULL}) <= A*eta_l**2*norm2({GRADIENT}) + sum_j(alpha_j*norm2(past[k, j]))",
            f"jensen; {REMAINDER} times A*eta_l**2*norm2({GRADIENT}) + sum_j(alpha_j*norm2(past[k, j]))",
            f"sum_j: eta_l*{GRADIENT} - past[k, j] times A*alpha_j",
        ),
        combined(
            "grows",
            f"mean_n(E(norm2(z[k, h+1] - x[k]))) <= (1 + 1/(2*{s} - 1) + 8*{s}*A*L**2*eta_l**2)*{DRIFT} + {added(s)}",
            f"mean_n: turn; mean_n E: mixed times 2*{s}; lemma 7 times 2*{s}*A*eta_l**2; "
            "mean_n E: variance (y[k, h]) times A**2*eta_l**2",
            f"mean_n E: z[k, h] - x[k] + (2*{s} - 1)*{PULL} times 1/(2*{s} - 1)",
        ),
    ]


EQ_25: Lines = [
    *SMALL, *LAST_TURNS,
    *grows("m"),
    AFTER,
    at("now", "after", h="m - 1"),
    at("before", "after", h="m - 2"),
    at("grown", "grows", h="m - 1"),
    combined(
        "rate", "8*m*A*L**2*eta_l**2 <= 1/(m - 1) - 1/(2*m - 1)", "factor",
        "1 times (3*m - 1)/(2*m*(2*m - 1))/(m - 1)",
    ),
    combined(
        "(25)", None,
        "mean_n E: now; mean_n E: before times -(1 + 1/(m - 1)); grown; rate times mean_n(E(norm2(z[k, m-1] - x[k])))",
    ),
]  # fmt: skip


def unrolled(s: str) -> Lines:
    """The drift after h turns, times b^2h for b = 1 - 1/(2s): at most c (1 - b^2h), and b^s >= 1/2 by Bernoulli."""
    b, c = f"((2*{s} - 1)/(2*{s}))", f"(2*{s} - 1)**2/(4*{s} - 1)*{added(s)}"
    return [
        *grows(s),
        combined(
            "rate", f"8*{s}*A*L**2*eta_l**2 <= 2*{s}/(2*{s} - 1)**2", "factor",
            f"1 times (4*{s} - 1)/(2*{s}*(2*{s} - 1)**2)",
        ),
        step("start", "norm2(z[k, 0] - x[k]) == 0"),
        induction(
            "drift so far", f"{DRIFT}*{b}**(2*h) <= {c}*(1 - {b}**(2*h))", [combined("none", None, "mean_n E: start")],
            [combined("more", None, f"grows times {b}**(2*h + 2); IH; rate times {b}**(2*h + 2)*{DRIFT}")], on="h",
        ),
        combined("base", f"1/(2*{s}) <= 1", (), f"1 times (2*{s} - 1)/(2*{s})"),
        axiom("half", f"(1 + -1/(2*{s}))**{s} >= 1 + {s}*(-1/(2*{s}))", "bernoulli", f"-1/(2*{s})", s),
        power("quarter", "half", "2", f"1/4 <= {b}**(2*{s})"),
    ]  # fmt: skip


EQ_26: Lines = [
    *SMALL,
    *LAST_TURNS,
    *unrolled("m"),
    AFTER,
    at("now", "after", h="m - 1"),
    at("end", "drift so far", h="m"),
    combined(
        "(26)",
        None,
        "mean_n E: now; end times ((2*m - 1)/(2*m))**(-2*m); "
        f"quarter times 4*(2*m - 1)**2/(4*m - 1)*{added('m')}*((2*m - 1)/(2*m))**(-2*m)",
        f"1 times 3*(3*m - 1)/(4*m - 1)*{added('m')}",
    ),
]
B_H, C_H = "((2*H - 1)/(2*H))", f"(2*H - 1)**2/(4*H - 1)*{added('H')}"
ROUND: Lines = [*ALL_TURNS, *unrolled("H"), telescope("geometric", f"{B_H}**(-2*h) + 0*norm2(z[k, h])", "sum_h", "H")]
LEMMA_8: Lines = [
    *SMALL, *ROUND, AFTER,
    at("later", "drift so far", h="h + 1"),
    combined(
        "lemma 8", None,
        f"mean_h mean_n E: after; mean_h: later times {B_H}**(-2*h - 2); geometric times {C_H}*4*H/(4*H - 1); "
        f"quarter times 4*{C_H}*{B_H}**(-2*H)*4*H/(4*H - 1)",
        f"1 times {added('H')}*((H - 1)*(16*H**2 + 20*H + 19) + 18)/(4*H - 1)**2",
    ),
]  # fmt: skip
EQ_26_H = "(3*A**2*H*eta_l**2*sigma2 + 6*H**2*sum_j(M*delta_sq) + 24*A*H**2*eta_l**2*(G**2 + B**2*grad_u2))"
DRIFTING: Lines = [
    *ROUND,
    combined(
        "drift",
        f"mean_h({DRIFT}) <= {EQ_26_H}",
        f"mean_h: drift so far times {B_H}**(-2*h); geometric times {C_H}/H*(2*H - 1)**2/(4*H - 1); "
        f"quarter times 4*{C_H}*{B_H}**(-2*H)/H*(2*H - 1)**2/(4*H - 1)",
        f"1 times {added('H')}/(H*(4*H - 1)**2)*(27 + 121*(H - 1) + 191*(H - 1)**2 + 116*(H - 1)**3 + 16*(H - 1)**4)",
    ),
]

# --- the selected clients: (29) to (31), Lemma 9 ---------------------------------------------------------------------

MEAN_SQ = f"E(norm2(mean_n({GRADIENT})))"
NOISE: Lines = [
    step(
        "noise",
        "E(norm2(moved[k] - mean_h(chosen[k, h])))"
        f" == mean_h(mean_n(E(mean_i(norm2(grad(f_ni, y[k, h]) - {GRADIENT})))))/(H*S)",
    ),
    combined(
        "(29)",
        "E(norm2(moved[k])) <= 2*mean_h(E(norm2(chosen[k, h]))) + 2*sigma2/(H*S)",
        "noise times 2; mean_h mean_n E: variance (y[k, h]) times 2/(H*S)",
        "E: moved[k] - 2*mean_h(chosen[k, h]); mean_h E: chosen[k, h] - mean_h(chosen[k, h]) times 2",
    ),
]
CHOSEN: Lines = [
    domain("some", "S <= N"),
    cases(
        "(30)", f"E(norm2(chosen[k, h])) <= {MEAN_SQ} + {GRADIENTS}/S", "N <= 1",
        [
            single("one", f"E(norm2(chosen[k, h])) == {GRADIENTS}/S", unfold=True),
            combined("alone", None, "one", f"E: mean_n({GRADIENT})"),
        ],
        [
            step(
                "exact",
                f"E(norm2(chosen[k, h])) == (S - 1)*N/(S*(N - 1))*{MEAN_SQ} + (N - S)/(S*(N - 1))*{GRADIENTS}",
            ),
            combined(
                "several", None, "exact",
                f"E: mean_n({GRADIENT}) times (N - S)/(S*(N - 1)); mean_n E: {GRADIENT} times (S - 1)/(S*(N - 1))",
            ),
        ],
    ),
]  # fmt: skip
EQ_31: Lines = [
    *LEMMA_7, *CHOSEN,
    combined(
        "mean gradient", f"{MEAN_SQ} <= 4*L**2*{DRIFT} + 4*L**2*sum_j(P*delta_sq) + 4*grad_u2", moved_by(4),
        [
            *({"of": f"{v} - mean_n({v})", "over": ["mean_n", "E"], "times": "4"} for v in PIECES),
            *apart([*(f"mean_n({v})" for v in PIECES), "grad(f, u)"], ("E",)),
        ],
    ),
    combined(
        "(31)",
        f"E(norm2(chosen[k, h])) <= 8*L**2*{DRIFT} + 8*L**2*sum_j(P*delta_sq) + 4*G**2/S + 4*(B**2 + 1)*grad_u2",
        "(30); mean gradient; lemma 7 times 1/S",
        "mean_n E: z[k, h] - x[k] times 4*L**2*(S - 1)/S; sum_j E: past[k, j] times 4*L**2*P*(S - 1)/S; "
        "E: grad(f, u) times 4*B**2*(S - 1)/S",
    ),
]  # fmt: skip
AVERAGED: Lines = [
    *DRIFTING, *EQ_31, *NOISE,
    combined(
        "lemma 9",
        "E(norm2(moved[k])) <= 16*L**2*sum_j((6*H**2*M + P)*delta_sq) + 8*G**2/S + 2*sigma2/(H*S)"
        " + 48*H*L**2*A**2*eta_l**2*sigma2 + 384*A*L**2*H**2*eta_l**2*G**2 + (32*B**2 + 8)*grad_u2",
        "(29); mean_h: (31) times 2; drift times 16*L**2; size times 24*B**2*grad_u2",
    ),
]  # fmt: skip
LEMMA_9: Lines = [*SMALL, *AVERAGED]

# --- a round's descent: (33), (34), (37) -----------------------------------------------------------------------------

OFF = f"({POINTS[0]} - {POINTS[-1]})"
MOVING: Lines = [
    *SMALLER, *DRIFTING, *LEMMA_5,
    zero("first order", "moves", MOVE, "grad(f, u)"),
    zero("second order", "moves", MOVE, "u_next - u - H*eta_l*moved[k]"),
    step("cross", f"E(dot(grad(f, u), moved[k])) == E(dot(grad(f, u), mean_h(mean_n({GRADIENT}))))"),
    combined(
        "off", f"E(norm2(grad(f, u) - mean_n({GRADIENT}))) <= 3*L**2*{DRIFT} + 3*L**2*sum_j(P*delta_sq)", moved_by(3),
        [{"of": f"{OFF} - mean_n({OFF})", "over": ["mean_n", "E"]}, *apart(PIECES, ("mean_n", "E"))],
    ),
    combined(
        "round",
        f"E(f(u_next)) - E(f(u)) <= H*eta_l*(mean_h(E(norm2(grad(f, u) - mean_n({GRADIENT})))) - grad_u2"
        f" - mean_h({MEAN_SQ}))/2 + L/2*H**2*eta_l**2*E(norm2(moved[k]))",
        "E: above f (u, u_next); E: first order; E: second order times L/2; cross times -H*eta_l",
    ),
]  # fmt: skip
KEPT_MEAN: Lines = [
    *MOVING,
    *CHOSEN,
    *NOISE,
    combined(
        "mean kept",
        "E(f(u_next)) - E(f(u)) <= H*eta_l*(-grad_u2/2 + eta_l*L*sigma2/S + 4*H*eta_l*L/S*(G**2 + B**2*grad_u2)"
        f" + (4*H*eta_l*L/S + 3/2)*L**2*({EQ_26_H} + sum_j(P*delta_sq)))",
        "round; (29) times L/2*H**2*eta_l**2; mean_h: (30) times L*H**2*eta_l**2; "
        "mean_h: lemma 7 times L*H**2*eta_l**2/S; mean_h: off times H*eta_l/2; "
        f"drift times (4*H*eta_l*L/S + 3/2)*L**2*H*eta_l; short times H*eta_l*mean_h({MEAN_SQ})",
        f"mean_h E: mean_n({GRADIENT}) times H*eta_l*5/16",
    ),
]
LARGEST_LAMBDA = "(1/2 - 8*H*eta_l*L*B**2/S - 36*eta_l**2*A*H**2*B**2*L**2)"
NOISY, UNLIKE, INERT = ("eta_l**2*H*A**2*L**2*sigma2", "eta_l**2*A*H**2*L**2*G**2", "eta_l**2*L**2*lags*C")
ROUNDED = f"(eta_l*L*sigma2/S + 4*eta_l*H*L*G**2/S + 3*{INERT} + 9*{NOISY} + 72*{UNLIKE})"
CURVED = "4*H*eta_l*L*B**2/S*grad_u2"
DESCENT: Lines = [
    *KEPT_MEAN, *BOUNDED,
    combined("curved", "4*H*eta_l*L/S <= 3/4", "short times 4/S", "1 times 3/4*(S - 1)/S"),
    combined(
        "descent", f"E(f(u_next)) - E(f(u)) <= H*eta_l*({ROUNDED} - {LARGEST_LAMBDA}*grad_u2)",
        "mean kept; sum_j: bounded times H*eta_l*(4*H*eta_l*L/S + 3/2)*L**2*(6*H**2*M + P); "
        f"curved times H*eta_l*(3*{NOISY} + 24*{UNLIKE} + {INERT}); shorter times H*eta_l*{CURVED}*24*A",
        f"1 times H*eta_l*(9/4*{NOISY} + 18*{UNLIKE} + 3/4*{INERT} + {CURVED}*(1 - 27/32*A))",
    ),
]  # fmt: skip
SPARE = "8*H*eta_l*L*B**2*(S - 1)/S"
LOWER = {
    "": f"24*H*eta_l*L*B**2 + {SPARE}",
    "corrected": f"4*H*eta_l*L + 8*H*eta_l*L*B**2 + {SPARE}",
    "corrected-2": "0",
}
"""By how much limits for lambda are lower than the largest."""


def largest(limit: str) -> Lines:
    """eq33's lambda, with one of the limits."""
    return [*DESCENT, combined("lambda", None, "descent times 1/(H*eta_l)/grad_u2", f"1 times {LOWER[limit]}")]


def with_lambda(limit: str) -> Lines:
    """A lambda that is below one of the limits."""
    return [*DESCENT, combined("lambda", f"lam <= {LARGEST_LAMBDA}", "lam < lam_max", f"1 times {LOWER[limit]}")]


EQ_34: Lines = [
    *SMALLER,
    combined(
        "(34)",
        "lags <= 6*(1 - A)*H**2 + (27/32*A + 1)*(rho**2 + H**2*J**2*(1 - A)**2/A**2)",
        f"shorter times 24*A*(rho**2 + H**2*J**2*(1 - A)**2/A**2); {REMAINDER} times 6*H**2",
    ),
]
POLYAK = {"descent": "1", "lambda": "H*eta_l*grad_u2", "E: pl (u)": "H*eta_l*lam/2"}
EQ_37: Lines = [*with_lambda(""), combined("(37)", None, POLYAK)]

# --- the theorems ----------------------------------------------------------------------------------------------------


def first(limit: str, body: bool) -> Lines:
    """Theorem IV.1: (33)(d), summed over the rounds; in the body the last term has a factor K^2."""
    start, end = u("0"), u("K")
    return [
        *with_lambda(limit),
        *EQ_34,
        axiom("least", "grad_u2 >= min_k(grad_u2)", "extreme", "grad_u2", over="min_k"),
        axiom(
            "sum", f"sum_k(E(f(u_next)) - E(f(u))) == E(f({end})) - E(f({start}))", "telescope", "E(f(u))", over="sum_k"
        ),
        combined(
            "theorem",
            None,
            "mean_k: least; mean_k: descent times 1/(H*eta_l*lam); mean_k: lambda times grad_u2/lam; "
            f"sum times -1/(K*H*eta_l*lam); E: infimum ({end}) times 1/(K*H*eta_l*lam); "
            "(34) times 3*eta_l**2*L**2*C/lam",
            {"1": "3*eta_l**2*L**2*(H - 1)*(H + 1)*V*C/lam"} if body else (),
        ),
    ]


RATE, LEFT = "mu*H*eta_l*lam", "(1 - mu*H*eta_l*lam)"
ALL_ROUNDS = "mu*eta_l*lam*H*K"
DECAY: Lines = [
    axiom("one round", f"exp(-{RATE}) >= 1 + -{RATE}", "exp", f"-{RATE}"),
    induction(
        "decay", f"{LEFT}**k <= exp(-{RATE}*k)", [combined("at first", None)],
        [
            axiom("one more", None, "exp sum", f"-{RATE}*k", f"-{RATE}"),
            combined("decays", None, f"IH times {LEFT}; one round times exp(-{RATE}*k); one more times -1"),
        ],
    ),
    at("decayed", "decay", k="K"),
    axiom("grown", f"exp({ALL_ROUNDS}) >= 1 + {ALL_ROUNDS}", "exp", ALL_ROUNDS),
    axiom("product", None, "exp sum", *(ALL_ROUNDS, f"-{ALL_ROUNDS}")),
    combined("long", f"1 <= {ALL_ROUNDS}", "eta_l >= 1/(mu*lam*H*K) times mu*lam*H*K"),
    combined(
        "little left", f"2*exp(-{ALL_ROUNDS}) <= 1",
        f"grown times exp(-{ALL_ROUNDS}); long times exp(-{ALL_ROUNDS}); product times -1",
    ),
]  # fmt: skip
"""What is left after all rounds is at most half, and at most exp(-mu eta lambda T)."""
PART: Lines = [
    domain("less than one", "3/16*lam < 1"),
    combined("part", f"{RATE} < 1", "less than one; short times lam; mu <= L times H*eta_l*lam"),
]


def second(limit: str, body: bool) -> Lines:
    """Theorem IV.2: (38), its rounds weighted with (1 - mu eta lambda)^-t; likewise."""
    start, end, weight = u("0"), u("K"), f"{LEFT}**(-k)"
    total = f"sum_k({weight})"
    each = f"2*{LEFT}/(H*eta_l*lam)/{total}"
    return [
        *with_lambda(limit),
        *EQ_34,
        *(PART if limit else []),
        *DECAY,
        combined(
            "(38)",
            f"E(f(u_next)) - fstar + H*eta_l*lam/2*grad_u2 <= {LEFT}*(E(f(u)) - fstar) + H*eta_l*{ROUNDED}",
            POLYAK,
        ),
        axiom(
            "weighted",
            f"sum_k({LEFT}**(-(k + 1))*(E(f(u_next)) - fstar) - {weight}*(E(f(u)) - fstar))"
            f" == {LEFT}**(-K)*(E(f({end})) - fstar) - (E(f({start})) - fstar)",
            "telescope",
            f"{weight}*(E(f(u)) - fstar)",
            over="sum_k",
        ),
        telescope("weights grow", weight, "sum_k", "K"),
        combined("beginning", "fstar <= f(x0)", "infimum (x0)"),
        domain("unit", "0 < 1"),
        combined("each counts", f"0 < {weight}", f"unit times {weight}"),
        combined("all count", f"0 < {total}", "sum_k: each counts"),
        combined(
            "theorem",
            None,
            f"sum_k: (38) times 2/(H*eta_l*lam)*{weight}/{total}; weighted times -{each}; "
            f"E: infimum ({end}) times {each}*{LEFT}**(-K); weights grow times -2*f0_gap*exp(-{ALL_ROUNDS})*{each}; "
            f"decayed times 2*f0_gap*{LEFT}**(-K)*{each}; little left times f0_gap*{each}; "
            "(34) times 6*eta_l**2*L**2*C/lam",
            {"1": "6*eta_l**2*L**2*(H - 1)*(H + 1)*V*C/lam"} if body else (),
        ),
    ]


ALL_MOVED, NEWEST = "sum_k(E(norm2(moved[k])))", "sum_k(E(norm2(past[k, 0])))"
OLDER = "E(norm2(past[{}, j + 1]))"
WITHOUT_C: Lines = [
    *MOVING, *AVERAGED,
    combined(
        "mean dropped",
        f"E(f(u_next)) - E(f(u)) <= H*eta_l*(3/2*L**2*({EQ_26_H} + sum_j(P*delta_sq)) - grad_u2/2)"
        " + L/2*H**2*eta_l**2*E(norm2(moved[k]))",
        "round; mean_h: off times H*eta_l/2; drift times 3/2*L**2*H*eta_l",
        f"mean_h E: mean_n({GRADIENT}) times H*eta_l/2",
    ),
    *EQ_21, *EQ_34,
    induction(
        "older ones", f"sum_k(E(norm2(past[k, j]))) <= {NEWEST}", [combined("the newest", None)],
        [
            telescope("one back", OLDER.format("k"), "sum_k", "K"),
            combined("one older", None, "IH; one back times -1", "E: past[K, j + 1]"),
        ],
        on="j",
    ),
    telescope("newer ones", "E(norm2(past[k, 0]))", "sum_k", "K"),
    combined(
        "increments", f"A*{NEWEST} <= A*eta_l**2*{ALL_MOVED}",
        f"sum_k: (21); sum_j: older ones times alpha_j; {REMAINDER} times {NEWEST}; newer ones times -1",
        "E: past[K, 0]",
    ),
    combined("all increments", f"{NEWEST} <= eta_l**2*{ALL_MOVED}", "increments times 1/A"),
    combined(
        "all lags", f"sum_k(sum_j((6*H**2*M + P)*delta_sq)) <= V*eta_l**2*{ALL_MOVED}",
        f"sum_j: older ones times 6*H**2*M + P; all increments times lags; (34) times eta_l**2*{ALL_MOVED}",
    ),
    combined(
        "all moves", f"{ALL_MOVED} <= 2*K*R + 2*(32*B**2 + 8)*sum_k(grad_u2)",
        f"sum_k: lemma 9 times 2; all lags times 32*L**2; 32*L**2*eta_l**2*V <= 1 times {ALL_MOVED}",
    ),
    axiom("least", "grad_u2 >= min_k(grad_u2)", "extreme", "grad_u2", over="min_k"),
    axiom(
        "sum", f"sum_k(E(f(u_next)) - E(f(u))) == E(f({u('K')})) - E(f({u('0')}))", "telescope", "E(f(u))",
        over="sum_k",
    ),
    combined(
        "theorem", None,
        "mean_k: least; mean_k: mean dropped times 1/(H*eta_l*lam); lam < lam_max times mean_k(grad_u2)/lam; "
        f"sum times -1/(K*H*eta_l*lam); E: infimum ({u('K')}) times 1/(K*H*eta_l*lam); "
        "all lags times 3/2*L**2/(K*lam); all moves times curved/(2*K*lam)",
    ),
]  # fmt: skip
"""Theorem IV.1 without C: increments summed over the rounds are those of the average gradients."""
