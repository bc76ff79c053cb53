"""Derivations of what is true of FedAvg-SVRG: lines, for every number of clients, snapshots, inner steps and rounds.

The inner steps of a round are counted by t = hM+j, which texts here write out: h and j are the turns of the two loops.
D(t) = ||x_k - w_t||^2 is at most t*Y(t), where Y(t) = D(t)/max(1, t) grows by at most delta^2 ||v_t||^2 in a step.
"""

from __future__ import annotations

from theory.derivation import at, axiom, cases, combined, domain, induction, replaced, root, step, telescope, zero

# --- the order of (8) ------------------------------------------------------------------------------------------------

_ORDERS = ("1/(delta*K)", "delta**2", "delta")
_MAX = f"max({', '.join(_ORDERS)})"
BEST_RATE = (
    axiom("one", f"1/(delta*K) <= {_MAX}", "max", *_ORDERS),
    axiom("other", f"delta <= {_MAX}", "max", *_ORDERS),
    combined("squares", f"best**2 <= {_MAX}**2", f"one times delta; other times {_MAX}"),
    root("best", "squares", f"best <= {_MAX}"),
    domain("run", "1 <= K"),
    combined("square", "best**2 <= 1", "run times 1/K"),
    root("small", "square", "best <= 1"),
    combined("smaller", f"best**2 <= {_MAX}", "small times best; best"),
    combined("inverse", f"1/(best*K) <= {_MAX}", "best"),
    axiom("all", None, "bounds", "1/(best*K)", "best**2", "best", _MAX),
)

# --- a round: (A.19) to (A.22) ---------------------------------------------------------------------------------------

_ROUND = "sum_h(sum_j(v[k, h, j]))"
_ALL = "sum_n(sum_h(sum_j(u[k, h, j])))"
_INNER = "sum_h(sum_j(E(dot(grad(f, x[k]), mean_n(grad(f_n, w[k, h, j]))))))"
_WEIGHTED = "sum_n(1/p_n*sum_h(sum_j(E(norm2(v[k, h, j])))))"
NEXT = step("next", "norm2(w[k, h + 1, 0] - w[k, h, M]) <= 0")
_GROWN, _EPOCH = "sum_j(w[k, h, j + 1] - w[k, h, j])", "delta*sum_j(v[k, h, j])"
_OUTER = "sum_h(w[k, h + 1, 0] - w[k, h, 0]) - w[k, S, 0] + w[k, 0, 0]"
UPDATE = (
    step("turn", "norm2(w[k, h, j + 1] - w[k, h, j] + delta*v[k, h, j]) <= 0"),
    NEXT,
    axiom("inner loop", f"norm2({_GROWN} - w[k, h, M] + w[k, h, 0]) <= 0", "telescope", "w[k, h, j]", over="sum_j"),
    replaced(
        "in steps", "turn", f"norm2(w[k, h, M] - w[k, h, 0] + {_EPOCH}) == norm2(w[k, h, M] - w[k, h, 0] - {_GROWN})",
    ),
    replaced(
        "handed on", "next",
        f"norm2(w[k, h + 1, 0] - w[k, h, 0] + {_EPOCH}) == norm2(w[k, h, M] - w[k, h, 0] + {_EPOCH})",
    ),
    combined("epoch", f"norm2(w[k, h + 1, 0] - w[k, h, 0] + {_EPOCH}) <= 0", "handed on; in steps; inner loop"),
    axiom("outer loop", f"norm2({_OUTER}) <= 0", "telescope", "w[k, h, 0]", over="sum_h"),
    replaced("in epochs", "epoch", f"norm2(w[k, S, 0] - w[k, 0, 0] + delta*{_ROUND}) == norm2({_OUTER})"),
    step("begins", "norm2(w[k, 0, 0] - x[k]) <= 0"),
    replaced(
        "from x", "begins",
        f"norm2(w[k, S, 0] - x[k] + delta*{_ROUND}) == norm2(w[k, S, 0] - w[k, 0, 0] + delta*{_ROUND})",
    ),
    combined("moves", f"norm2(w[k, S, 0] - x[k] + delta*{_ROUND}) <= 0", "from x; in epochs; outer loop"),
    step("server", f"norm2(x[k+1] - x[k] + delta/N*{_ALL}) <= 0", using=["moves"]),
)  # fmt: skip
DESCENT = (
    *UPDATE,
    step("unbiased", "E(dot(grad(f, x[k]), u[k, h, j])) == E(dot(grad(f, x[k]), grad(f_n, w[k, h, j])))"),
    replaced("length", "server", f"norm2(x[k+1] - x[k]) == delta**2/N**2*norm2({_ALL})"),
    replaced("along", "server", f"dot(grad(f, x[k]), x[k+1] - x[k]) == -delta/N*dot(grad(f, x[k]), {_ALL})"),
    combined(
        "descent",
        f"E(f(x[k+1])) <= E(f(x[k])) - delta*{_INNER} + delta**2*L/(2*N**2)*E(norm2({_ALL}))",
        "E: above f (x[k], x[k+1]); E: length times L/2; E: along; mean_n sum_h sum_j: unbiased times -delta",
    ),
)
DESCENT_AT_START = (*DESCENT, at("all", "descent", None, k="0"))
_SPREAD = (
    step("coin", "E(norm2(u[k, h, j])) == 1/p_n*E(norm2(v[k, h, j]))"),
    combined(
        "spread",
        f"E(norm2({_ALL})) <= N*S*M*{_WEIGHTED}",
        "sum_n sum_h sum_j: coin times N*S*M",
        "E sum_n sum_h sum_j: u[k, h, j] - mean_n(sum_h(sum_j(u[k, h, j])))/(S*M) times N*S*M",
    ),
)
SECOND_MOMENT = (
    *_SPREAD,
    at("first round", "spread", None, k="0"),
    combined("all", None, "first round times delta**2*L/(2*N**2)"),
)
_BY_SPREAD = {"descent": "1", "spread": "delta**2*L/(2*N**2)"}
TOTAL_DESCENT = (*DESCENT, *_SPREAD, combined("all", None, _BY_SPREAD))
ROUND_DESCENT = (
    *DESCENT, *_SPREAD,
    combined(
        "any round", f"E(f(x[k+1])) <= E(f(x[k])) - delta*{_INNER} + L*S*M*delta**2/(2*N)*{_WEIGHTED}", _BY_SPREAD,
    ),
    at("all", "any round", None, k="0"),
)  # fmt: skip

# --- drift: Lemma A.2, (A.23), (A.24), (7) and (8), corrected --------------------------------------------------------


def _t(h: str, j: str) -> str:
    return f"({h}*M + {j})" if j != "0" else f"({h}*M)"


def _d(h: str = "h", j: str = "j") -> str:
    return f"norm2(x[k] - w[k, {h}, {j}])"


def _y(h: str = "h", j: str = "j") -> str:
    return f"{_d(h, j)}/max(1, {_t(h, j)})"


def _grows(j: str, following: str) -> str:
    return f"{_y('h', following)} <= {_y('h', j)} + delta**2*norm2(v[k, h, {j}])"


def _by_young(h: str, j: str, t: str, lines: str) -> dict[str, object]:
    return combined(
        "grows",
        None,
        f"ahead {lines} times 1/({t} + 1); "
        f"more {lines} times {_d(h, j + ' + 1')}/(({t} + 1)*max(1, {t} + 1)); "
        f"at {lines} times {_d(h, j)}/({t}*max(1, {t}))",
        f"x[k] - w[k, {h}, {j}] - {t}*delta*v[k, {h}, {j}] times 1/({t}*({t} + 1))",
    )


GROWTH = (
    step(
        "ahead",
        f"{_d('h', 'j + 1')} == {_d()} + 2*delta*dot(x[k] - w[k, h, j], v[k, h, j]) + delta**2*norm2(v[k, h, j])",
    ),
    step("start", f"{_d('0', '0')} == 0"),
    step("first step", f"{_d('0', '1')} == delta**2*norm2(v[k, 0, 0])"),
    domain("turns", "M >= 1"),
    combined("later h", "1 <= (h + 1)*M", "turns", "1 times h*M"),
    combined("later j", "1 <= h*M + j + 1", squares="1 times h*M + j"),
    axiom("at h", "max(1, (h + 1)*M) <= (h + 1)*M", "bounds", "1", "(h + 1)*M", "(h + 1)*M"),
    axiom("at j", "max(1, h*M + j + 1) <= h*M + j + 1", "bounds", "1", "h*M + j + 1", "h*M + j + 1"),
    axiom("more", "h*M + j + 1 <= max(1, h*M + j + 1)", "max", "1", "h*M + j + 1"),
    at("ahead h", "ahead", None, h="h + 1", j="0"),
    at("ahead j", "ahead", None, j="j + 1"),
    at("more h", "more", None, h="h + 1", j="0"),
    at("more j", "more", None, j="j + 1"),
    induction(
        "grow", _grows("j", "(j + 1)"), on="j",
        base=[
            induction(
                "at 0", _grows("0", "1"), on="h",
                base=[combined("first", None, "first step", "x[k] - w[k, 0, 0] times 1/max(1, 0)")],
                step=[_by_young("(h + 1)", "0", "((h + 1)*M)", "h")],
            ),
            combined("begun", None, "at 0"),
        ],
        step=[_by_young("h", "(j + 1)", "(h*M + j + 1)", "j")],
    ),
    induction(
        "flat", f"{_d()} <= (h*M + j)*({_y()})", on="j",
        base=[
            induction(
                "flat at 0", f"{_d('h', '0')} <= h*M*({_y('h', '0')})", on="h",
                base=[combined("first", None, "start")],
                step=[combined("later", None, f"at h times {_d('(h + 1)', '0')}/max(1, (h + 1)*M)")],
            ),
            combined("begun", None, "flat at 0"),
        ],
        step=[combined("later", None, f"at j times {_d('h', 'j + 1')}/max(1, h*M + j + 1)")],
    ),
)  # fmt: skip


def _inner_product(h: str, j: str, over: str = "") -> tuple[dict[str, str], dict[str, str]]:
    """-<a, b> = (||a - b||^2 - ||a||^2 - ||b||^2)/2, where ||a - b||^2 is at most L^2 mean_n(D): all but the latter."""
    b, of_n = f"mean_n(grad(f_n, w[k, {h}, {j}]))", f"grad(f_n, x[k]) - grad(f_n, w[k, {h}, {j}])"
    return (
        {f"E {over}mean_n: lipschitz-gradient f_n (x[k], w[k, {h}, {j}])": "delta/2"},
        {f"E {over}: {b}": "delta/2", f"E {over}mean_n: {of_n} - (grad(f, x[k]) - {b})": "delta/2"},
    )


def _until(end: str, index: str) -> str:
    return f"max(0, min(1, {end} - {index}))"


_T, _BEFORE = "(s*M + m)", "max(0, min(1, s*M + m - h*M - j))"
_STEP_OF_Y, _STEP_AT_S = f"({_y('h', '(j + 1)')} - {_y()})", f"({_y('s', '(j + 1)')} - {_y('s')})"
_PARTS, _SQUARES = _inner_product("s", "m")
DRIFT = (
    *GROWTH, NEXT,
    combined("s inside", "s <= S", "s <= S - 1", "1"),
    combined("m inside", "m <= M", "m <= M - 1", "1"),
    telescope("inside s", _y("s"), "sum_j", "M", "m"),
    telescope("up to s", _y("h", "0"), "sum_h", "S", "s"),
    telescope("in steps", _y(), "sum_j", "M"),
    replaced("handed on", "next", f"{_y('(h + 1)', '0')} == {_y('h', 'M')}"),
    axiom(
        "pairs",
        f"sum_h(sum_j({_BEFORE}*{_STEP_OF_Y})) == sum_h({_until('s', 'h')}*sum_j({_STEP_OF_Y})) "
        f"+ sum_j({_until('m', 'j')}*{_STEP_AT_S})",
        "lexicographic", _STEP_OF_Y, "s", "m",
    ),
    at("flat there", "flat", None, h="s", j="m"),
    combined(
        "drift", f"{_d('s', 'm')} <= delta**2*{_T}*sum_h(sum_j({_BEFORE}*norm2(v[k, h, j])))",
        f"flat there; inside s times -{_T}; up to s times -{_T}; pairs times -{_T}; start times {_T}/max(1, 0); "
        f"sum_h: in steps times -{_T}*{_until('s', 'h')}; sum_h: handed on times {_T}*{_until('s', 'h')}; "
        f"sum_h sum_j: grow times {_T}*{_BEFORE}",
    ),
    combined("all", None, {**_PARTS, "E mean_n: drift": "delta*L**2/2"}, _SQUARES),
)  # fmt: skip


def _p(h: str = "h", j: str = "j") -> str:
    """The sum of r over r = t..T-1, T = SM, times Y(t): it is 0 at t = 0 (where Y is) and at T."""
    return f"(S*M*(S*M - 1) - {_t(h, j)}*({_t(h, j)} - 1))/2*({_y(h, j)})"


_W = "(S*M*(S*M - 1) - (h*M + j)*(h*M + j + 1))/2"
_SINCE = f"sum_n(sum_h(sum_j({_W}*E(norm2(v[k, h, j])))))"
_GRADIENT = "E(norm2(grad(f, x[k])))"
_PARTS_OF_ALL, _SQUARES_OF_ALL = _inner_product("h", "j", "sum_h sum_j ")
_PER_STEP = "2/(delta*K*S*M)"
INSIDE = (
    domain("h inside", "h <= S - 1"),
    domain("j inside", "j <= M - 1"),
    combined("inside", "h*M + j + 1 <= S*M", "h inside times M; j inside"),
    combined("weight", f"0 <= {_W}", "inside times (S*M + h*M + j)/2"),
)
ALL_DRIFT = (
    *GROWTH, *INSIDE,
    telescope("by j", _p(), "sum_j", "M"),
    telescope("by h", _p("h", "0"), "sum_h", "S"),
    replaced("weighed", "next", f"{_p('(h + 1)', '0')} == {_p('h', 'M')}"),
    combined(
        "all drift", f"sum_h(sum_j({_d()})) <= delta**2*sum_h(sum_j({_W}*norm2(v[k, h, j])))",
        f"sum_h sum_j: flat; sum_h sum_j: grow times {_W}; sum_h: by j times -1; sum_h: weighed; by h times -1; "
        "start times S*M*(S*M - 1)/(2*max(1, 0))",
    ),
)  # fmt: skip
_BOTH = (*DESCENT, *_SPREAD, *ALL_DRIFT)
_BY_DRIFT = {**_BY_SPREAD, **_PARTS_OF_ALL, "E mean_n: all drift": "delta*L**2/2"}
ROUND = (*_BOTH, combined("all", None, _BY_DRIFT, _SQUARES_OF_ALL))
ROUNDS = (
    *_BOTH,
    combined(
        "one round",
        f"E(f(x[k+1])) <= E(f(x[k])) + delta**3*L**2/(2*N)*{_SINCE} - delta*S*M/2*{_GRADIENT} "
        f"+ L*S*M*delta**2/(2*N)*{_WEIGHTED}",
        _BY_DRIFT,
        _SQUARES_OF_ALL,
    ),
    telescope("falls", "E(f(x[k]))", "sum_k", "K"),
)
_SUMMED = {"sum_k: one round": _PER_STEP, "falls": f"-{_PER_STEP}"}
_TO_INFIMUM = {**_SUMMED, "E: infimum f (x[K])": _PER_STEP}
SUM_OF_ROUNDS = (*ROUNDS, combined("all", None, _SUMMED))
BOUND_7 = (*ROUNDS, combined("all", None, _TO_INFIMUM))

# (8): the sum of W is that of t^2


def _sum_of_w(t: str) -> str:
    return f"(S*M*(S*M - 1)*{t}/2 - ({t} - 1)*{t}*({t} + 1)/6)"


_V2 = "E(norm2(v[k, h, j]))"
_EXTREMES = [_V2]
for _over in ("max_j", "max_h", "max_n", "max_k"):
    _EXTREMES.append(f"{_over}({_EXTREMES[-1]})")
_OVER_ALL, _FACTOR = ["sum_k", "sum_n", "sum_h", "sum_j"], "delta**2*L**2/(S*M)"
_TAP, _TAP_0 = "0*norm2(v[k, h, j])", "0*norm2(v[k, h, 0])"
BOUNDED = (
    *(
        axiom(f"largest {over}", f"{one} <= {more}", "extreme", one, over=over)
        for over, one, more in zip(("max_j", "max_h", "max_n", "max_k"), _EXTREMES, _EXTREMES[1:], strict=False)
    ),
    combined("bounded", f"{_V2} <= G2", {f"largest {over}": "1" for over in ("max_j", "max_h", "max_n", "max_k")}),
)
COUNT = (
    telescope("count j", f"{_sum_of_w('(h*M + j)')} + {_TAP}", "sum_j", "M"),
    telescope("count h", f"{_sum_of_w('(h*M)')} + {_TAP_0}", "sum_h", "S"),
)
BOUND_8 = (
    *ROUNDS, *BOUNDED, *COUNT,
    combined(
        "all", None,
        f"sum_k: one round times {_PER_STEP}; falls times -{_PER_STEP}; E: infimum f (x[K]) times {_PER_STEP}; "
        f"{' '.join(_OVER_ALL)}: bounded times {_FACTOR}/(K*N)*{_W}; "
        f"{' '.join(_OVER_ALL)}: bounded times delta*L/(K*N)/p_n; sum_h: count j times {_FACTOR}*G2; "
        f"count h times {_FACTOR}*G2",
    ),
)  # fmt: skip

# (8) with half of its first term. A step loses delta <grad f(x_k), grad f(x_k) - mean_n(grad f_n(w_t))>, which is at
# most delta^2 L t G2: both the gradient and v are bounded by G2, and w_t is at most delta t sqrt(G2) away.

_LAG = "grad(f, x[k]) - mean_n(grad(f_n, w[k, h, j]))"
_PER_ROUND = "1/(delta*K*S*M)"
_SHARPEST = (
    *DESCENT, *_SPREAD, *GROWTH, *BOUNDED,
    replaced("passed on", "next", f"{_y('(h + 1)', '0')} == {_y('h', 'M')}"),
    induction(
        "grown inside", f"E({_y()}) <= E({_y('h', '0')}) + delta**2*j*G2", on="j",
        base=[combined("begun")], step=[combined("one more", None, "IH; E: grow; bounded times delta**2")],
    ),
    at("whole epoch", "grown inside", None, j="M"),
    induction(
        "grown before", f"E({_y('h', '0')}) <= delta**2*h*M*G2", on="h",
        base=[combined("nothing yet", None, "E: start times 1/max(1, 0)")],
        step=[combined("next epoch", None, "IH; whole epoch; E: passed on")],
    ),
    combined(
        "far", f"E({_d()}) <= delta**2*(h*M + j)**2*G2",
        "E: flat; grown inside times h*M + j; grown before times h*M + j",
    ),
    step("first gradient", "E(norm2(v[k, 0, 0])) == E(norm2(grad(f_n, x[k])))"),
    at("first bound", "bounded", None, h="0", j="0"),
    combined(
        "steep", f"{_GRADIENT} <= G2", "mean_n: first gradient times -1; mean_n: first bound",
        "E mean_n: grad(f_n, x[k]) - grad(f, x[k])",
    ),
    combined(
        "apart", f"E(norm2({_LAG})) <= delta**2*L**2*(h*M + j)**2*G2",
        "E mean_n: lipschitz-gradient f_n (x[k], w[k, h, j]); mean_n: far times L**2",
        f"E mean_n: grad(f_n, x[k]) - grad(f_n, w[k, h, j]) - ({_LAG})",
    ),
    cases(
        "lag", f"E(dot(grad(f, x[k]), {_LAG})) <= delta*L*(h*M + j)*G2", "h*M + j <= 0",
        [
            combined("nowhere", f"E(norm2({_LAG})) <= 0", "apart; h*M + j <= 0 times delta**2*L**2*(h*M + j)*G2"),
            zero("no angle", "nowhere", _LAG, "grad(f, x[k])", "E"),
            combined("at once", None, "no angle", "1 times delta*L*(h*M + j)*G2"),
        ],
        [
            combined(
                "later", None, "apart times 1/(2*delta*L*(h*M + j)); steep times delta*L*(h*M + j)/2",
                f"E: delta*L*(h*M + j)*grad(f, x[k]) - ({_LAG}) times 1/(2*delta*L*(h*M + j))",
            ),
        ],
    ),
    telescope("turns by j", f"(h*M + j)*(h*M + j - 1)/2 + {_TAP}", "sum_j", "M"),
    telescope("turns by h", f"h*M*(h*M - 1)/2 + {_TAP_0}", "sum_h", "S"),
    combined(
        "round",
        f"E(f(x[k+1])) <= E(f(x[k])) - delta*S*M*{_GRADIENT} + delta**2*L*S*M*G2*(S*M - 1 + S*M*mean_inv_p)/2",
        {
            **_BY_SPREAD, "mean_n sum_h sum_j: bounded": "delta**2*L*S*M/2/p_n", "sum_h sum_j: lag": "delta",
            "turns by j": "delta**2*L*S*G2", "turns by h": "delta**2*L*G2",
        },
    ),
    telescope("falls", "E(f(x[k]))", "sum_k", "K"),
)  # fmt: skip
_ROUNDS_SUMMED = f"sum_k: round times {_PER_ROUND}; falls times -{_PER_ROUND}; E: infimum f (x[K]) times {_PER_ROUND}"
SHARPEST = (*_SHARPEST, combined("all", None, _ROUNDS_SUMMED))
_HALVED = (
    *_SHARPEST,
    domain("chance", "p_n <= 1"),
    combined("chances", "1 <= 1/p_n", "chance times 1/p_n"),
    combined(
        "halved", "mean_k(E(norm2(grad(f, x[k])))) <= f0_gap/(delta*K*S*M) + delta*L*S*M*G2*mean_inv_p",
        f"{_ROUNDS_SUMMED}; mean_n: chances times delta*L*S*M*G2/2", "1 times delta*L*G2/2",
    ),
)  # fmt: skip
WITHOUT_DRIFT = (*_HALVED, combined("all", None, f"halved; infimum f (x0) times {_PER_ROUND}"))
BOUND_8_AS_PRINTED = (
    *_HALVED, combined("all", None, f"halved; infimum f (x0) times {_PER_ROUND}", "delta*L*(M - 1) times G2")
)  # fmt: skip

# --- Lemma V.1, corrected: Johnson and Zhang's recursion in the first epoch ------------------------------------------

_GAP, _GAP_0 = "(E(f_n(w[k, 0, j])) - f_n(xstar_n))", "(E(f_n(x[k])) - f_n(xstar_n))"
_ESTIMATE = "grad(f_ni, w[k, 0, j]) - grad(f_ni, x[k]) + grad(f_n, x[k])"


def _variance(sentence: str | None) -> tuple[dict[str, object], ...]:
    return (
        step("sampled", f"E(norm2(v[k, 0, j])) == mean_i(E(norm2({_ESTIMATE})))"),
        combined(
            "variance",
            sentence,
            "sampled; E mean_i: smooth convex f_ni (w[k, 0, j], xstar_n) times 4*L; "
            "E mean_i: smooth convex f_ni (x[k], xstar_n) times 4*L; E: zero n (w[k, 0, j] - xstar_n) times -4*L; "
            "E: zero n (x[k] - xstar_n) times -4*L; E: zero n (grad(f_n, x[k])) times 4",
            "E mean_i: grad(f_ni, w[k, 0, j]) + grad(f_ni, x[k]) - 2*grad(f_ni, xstar_n) - grad(f_n, x[k]); "
            "E: grad(f_n, x[k]) times 2",
        ),
    )


def _far(j: str) -> str:
    return f"E(norm2(w[k, 0, {j}] - xstar_n))"


VARIANCE = _variance(None)
NEARER = (
    *_variance(f"E(norm2(v[k, 0, j])) <= 4*L*({_GAP} + {_GAP_0})"),
    step(
        "inner step",
        f"{_far('j + 1')} == {_far('j')} - 2*delta*E(dot(grad(f_n, w[k, 0, j]), w[k, 0, j] - xstar_n)) "
        "+ delta**2*E(norm2(v[k, 0, j]))",
    ),
    combined(
        "nearer",
        f"{_far('j + 1')} <= {_far('j')} - 2*delta*(1 - 2*L*delta)*{_GAP} + 4*L*delta**2*{_GAP_0}",
        "inner step; variance times delta**2; E: convex f_n (w[k, 0, j], xstar_n) times 2*delta",
    ),
    combined("room", "2*L*delta < 1", "delta < 1/(2*L) times 2*L"),
    step("first", "norm2(w[k, 0, 0] - xstar_n) == norm2(x[k] - xstar_n)"),
)
_RATE = "1/(2*delta*(1 - 2*L*delta))"


def _from_start(factor: str) -> dict[str, str]:
    """||x - x*||^2 is at most 2/mu times the gap."""
    return {
        "E: first": factor,
        "E: strongly_convex f_n (xstar_n, x[k])": f"2/mu*{factor}",
        "E: zero n (x[k] - xstar_n)": f"-2/mu*{factor}",
    }


ONE_SNAPSHOT = (
    *NEARER,
    telescope("travelled", _far("j"), "sum_j", "M"),
    combined(
        "all", None, {"mean_j: nearer": _RATE, "travelled": f"-{_RATE}/M", **_from_start(f"{_RATE}/M")},
        f"E: w[k, 0, M] - xstar_n times {_RATE}/M",
    ),
)  # fmt: skip
LARGEST_GAP = (
    axiom("of n", f"{_GAP_0} <= max_n({_GAP_0})", "extreme", _GAP_0, over="max_n"),
    axiom("of k", f"max_n({_GAP_0}) <= max_k(max_n({_GAP_0}))", "extreme", f"max_n({_GAP_0})", over="max_k"),
    combined("largest gap", f"{_GAP_0} <= D", "of n; of k"),
)
FIRST_STEPS = (
    *NEARER,
    telescope("travelled", _far("j"), "sum_j", "M", "m"),
    telescope("count", "j + 0*norm2(v[k, 0, j])", "sum_j", "M", "m"),
    *LARGEST_GAP,
    combined(
        "all", None,
        {
            "sum_j: variance": _until("m", "j"), "sum_j: nearer": f"4*L*{_RATE}*{_until('m', 'j')}",
            "travelled": f"-4*L*{_RATE}", **_from_start(f"4*L*{_RATE}"),
            "count": f"4*L*(1 + 4*L*delta**2*{_RATE})*{_GAP_0}",
            "largest gap": "4*L*(m + distance_term + variance_term)",
        },
        f"E: w[k, 0, m] - xstar_n times 4*L*{_RATE}",
    ),
)  # fmt: skip

# (14), corrected: (7) with one snapshot, the drift of its steps weighed as there


_W_1, _MOMENT = "(M*(M - 1) - j*(j + 1))/2", "E(norm2(v[k, 0, j]))"
_BETA, _GAMMA = "1/(mu*delta*(1 - 2*L*delta))", "2*L*delta/(1 - 2*L*delta)"
_GRADIENTS = "mean_k(E(norm2(grad(f, x[k]))))"


ONE_DRIFT = (
    *NEARER,
    combined("gap", f"0 <= {_GAP_0}", "E: minimiser n (x[k])"),
    *LARGEST_GAP,
    telescope("travelled", _far("j"), "sum_j", "M"),
    combined(
        "noise", f"sum_j({_MOMENT}) <= 4*L*M*(1 + alpha)*{_GAP_0}",
        {
            "sum_j: variance": "1", "sum_j: nearer": f"4*L*{_RATE}", "travelled": f"-4*L*{_RATE}",
            **_from_start(f"4*L*{_RATE}"),
        },
        f"E: w[k, 0, M] - xstar_n times 4*L*{_RATE}",
    ),
    telescope("weighed travel", f"(M*(M - 1) - j*(j - 1))/2*{_far('j')}", "sum_j", "M"),
    telescope("weights", f"(M*(M - 1)*j/2 - (j - 1)*j*(j + 1)/6) + 0*{_MOMENT}", "sum_j", "M"),
    combined("weight of one", f"0 <= {_W_1}", "j inside times (M + j)/2"),
    induction(
        "integers", "0 <= j*(j - 1)", on="j", base=[combined("none", None)],
        step=[combined("one more", None, squares="1 times (j + 1)*j")],
    ),
    at("two", "integers", "0 <= (M - 1)*(M - 2)", j="M - 1"),
    combined(
        "weighed drift", f"sum_j({_W_1}*{_MOMENT}) <= 2*L*M*(M - 1)**2*(1 + 2*alpha)*{_GAP_0}",
        {
            "sum_j: variance": _W_1, "sum_j: nearer": f"4*L*{_RATE}*{_W_1}", "weighed travel": f"-4*L*{_RATE}",
            "weights": f"4*L*(1 + 4*L*delta**2*{_RATE})*{_GAP_0}", **_from_start(f"4*L*{_RATE}*M*(M - 1)/2"),
            "two": f"2*L*{_GAP_0}*(M/3 + 4*M/3*{_GAMMA} + {_BETA})", "turns": f"2*L*{_GAP_0}*{_GAMMA}*M",
        },
        f"sum_j E: w[k, 0, j] - xstar_n times 4*L*{_RATE}*j",
    ),
)  # fmt: skip
FLOOR = (
    *ROUNDS,
    *ONE_DRIFT,
    combined(
        "seven",
        f"{_GRADIENTS} <= 2*f0_gap/(delta*K*S*M) + delta**2*L**2/(K*S*M*N)*sum_k({_SINCE}) "
        f"+ delta*L/(K*N)*sum_k({_WEIGHTED})",
        _TO_INFIMUM,
    ),
    {
        "name": "one snapshot",
        "by": "single",
        "of": "S",
        "sentence": f"2*f0_gap/(delta*K*S*M) + delta**2*L**2/(K*S*M*N)*sum_k({_SINCE}) "
        f"+ delta*L/(K*N)*sum_k({_WEIGHTED}) == 2*f0_gap/(delta*K*M) "
        f"+ delta**2*L**2/(K*M*N)*sum_k(sum_n(sum_j({_W_1}*{_MOMENT}))) "
        f"+ delta*L/(K*N)*sum_k(sum_n(1/p_n*sum_j({_MOMENT})))",
    },
    combined(
        "all",
        None,
        "seven; one snapshot; sum_k sum_n: weighed drift times delta**2*L**2/(K*M*N); "
        "sum_k sum_n: noise times delta*L/(K*N)/p_n; "
        "sum_k sum_n: largest gap times (2*delta**2*L**3*(M - 1)**2*(1 + 2*alpha) + 4*delta*L**2*M*(1 + "
        "alpha)/p_n)/(K*N)",
    ),
)
