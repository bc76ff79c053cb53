"""Derivations of what is true of PERM: lines, for every number of clients, turns and rounds."""

from __future__ import annotations

from typing import Any

from theory.derivation import at, axiom, cases, combined, domain, drawn, induction, power, root, step

Lines = tuple[dict[str, Any], ...]

# --- weights on the simplex ------------------------------------------------------------------------------------------


def level(name: str, weight: str, cost: str, curvature: str) -> dict[str, Any]:
    """No client's marginal cost is below the mean of all clients' by weight."""
    marginal = f"({cost} + 2*({curvature})*{weight})"
    return axiom(name, f"sum_n({weight}*{marginal}) <= {marginal}", "simplex", cost, curvature)


def solved(costs: str, weight: str) -> Lines:
    """That mean, at the weights b_n, less that at a_n."""
    below = f"-sum_n(a_n*({costs} + 2*({weight}/m_n)*a_n))"
    parts = ({"line": "level", "over": ["sum_n"], "times": "b_n"}, {"line": "sum_n(b_n) == 1", "times": below})
    return level("level", "a_n", costs, f"{weight}/m_n"), combined("all", None, parts)


def _moved_weights(z: str, a: str, zeta: str, b: str) -> Lines:
    """Weights that are best at costs z, and at zeta: they move less than kappa_g times as much as the costs."""
    costs, moved = "lam/m_n", f"({z} - {zeta})"
    return (
        level("of a", a, z, costs),
        level("of b", b, zeta, costs),
        axiom("all of a", f"sum_n({a}) == 1", "simplex", z, costs),
        axiom("all of b", f"sum_n({b}) == 1", "simplex", zeta, costs),
        axiom("largest", "m_n <= max_n(m_n)", "extreme", "m_n", over="max_n"),
        combined(
            "both", f"2*lam*sum_n(({a} - {b})**2/m_n) <= -sum_n({moved}*({a} - {b}))",
            f"sum_n: of a times {b}; sum_n: of b times {a}; all of b times -sum_n({a}*({z} + 2*({costs})*{a})); "
            f"all of a times -sum_n({b}*({zeta} + 2*({costs})*{b}))",
        ),
        combined(
            "lipschitz", f"sum_n(({a} - {b})**2) <= kappa_g**2*sum_n({moved}**2)",
            f"both times 2*kappa_g; sum_n: largest times 2*({a} - {b})**2/m_n", f"sum_n: {a} - {b} + kappa_g*{moved}",
        ),
    )  # fmt: skip


def _apart(x: str, y: str) -> str:
    """How the first client's gradient differs from client n's, at x more than at y."""
    grown = f"(grad(f_n, {x}) - grad(f_n, {y}))"
    return f"(first_n{grown} - {grown})"


def _near(name: str, x: str, y: str) -> Lines:
    """That is at most L ||x - y||, as both gradients are cocoercive."""
    grown = f"(grad(f_n, {x}) - grad(f_n, {y}))"
    return (
        combined(
            f"{name} cocoercive", f"norm2{grown} <= L*dot({grown}, {x} - {y})",
            f"smooth convex f_n ({x}, {y}) times L; smooth convex f_n ({y}, {x}) times L",
        ),
        combined(
            name, f"norm2({_apart(x, y)}) <= L**2*norm2({x} - {y})",
            f"{name} cocoercive times 2; first_n: {name} cocoercive times 2",
            f"first_n{grown} + {grown} - L*({x} - {y})",
        ),
    )  # fmt: skip


def _both_ways(apart: str, ends: str) -> Lines:
    """Cauchy's inequality, of which the square is a product of both."""
    return (axiom("less", None, "cauchy", apart, ends), axiom("more", None, "cauchy", f"-{apart}", ends))


START = "(first_n(grad(f_n, xstar)) - grad(f_n, xstar))"


def observed(x: str, a: str, zeta: str, b: str) -> Lines:
    """The observation of section 3.1: weights a at costs z_n, which are those at x, and b at zeta, those at w*."""
    dist2, apart = f"norm2({x} - xstar)", _apart(x, "xstar")
    ends = f"(2*{START} + {apart})"
    return (
        *_moved_weights("z_n", a, zeta, b),
        *_near("near", x, "xstar"),
        *_both_ways(apart, ends),
        combined(
            "moved", f"(z_n - {zeta})**2 <= L**2*{dist2}*(8*{zeta} + 16*L**2*{dist2})",
            f"less times norm({apart})*norm({ends}) + dot({apart}, {ends}); near times norm2({ends}) + 2*L**2*{dist2}",
            f"2*{START} - {apart} times L**2*{dist2}; 1 times 14*L**4*{dist2}**2",
        ),
        combined(
            "observation", f"sum_n(({a} - {b})**2) <= 4*L**2*kappa_g**2*sum_n(2*{zeta} + 4*L**2*{dist2})*{dist2}",
            "lipschitz; sum_n: moved times kappa_g**2",
        ),
    )  # fmt: skip


# --- local SGD: Lemmas 4 to 6 ----------------------------------------------------------------------------------------

Y, LOCAL_MEAN, NEXT = "y[k, h]", "mean_n(y[k, h])", "mean_n(y[k, h+1])"
HERE, GRADIENTS_HERE = f"({LOCAL_MEAN})", f"mean_n(grad(f_n, {Y}))"
APART_HERE = f"grad(f_n, {Y}) - grad(f_n, {LOCAL_MEAN})"
NOISE_HERE = f"mean_n(mean_i(E(norm2(grad(f_ni, {Y}) - grad(f_n, {Y})))))"
DISTANCE, SPREAD = f"E(norm2({LOCAL_MEAN} - xstar))", f"mean_n(E(norm2({Y} - {LOCAL_MEAN})))"


def local_step(sentence: str | None = None) -> Lines:
    """Lemma 4: a turn takes the mean nearer to w*."""
    turn = f"E(norm2({HERE} - xstar - gamma*{GRADIENTS_HERE})) + gamma**2/N*{NOISE_HERE}"
    return (
        step("turn", f"E(norm2({NEXT} - xstar)) == {turn}"),
        combined(
            "one step", sentence,
            f"turn; E mean_n: variance ({Y}) times gamma**2/N; "
            f"E mean_n: strongly_convex f_n ({Y}, xstar) times 2*gamma; "
            f"E mean_n: above f_n ({Y}, {LOCAL_MEAN}) times 2*gamma; "
            f"E mean_n: lipschitz-gradient f_n ({Y}, {LOCAL_MEAN}) times 2*gamma**2; "
            f"E: above f ({LOCAL_MEAN}, {HERE} - grad(f, {LOCAL_MEAN})/L) times 4*gamma**2*L; "
            f"E: infimum ({HERE} - grad(f, {LOCAL_MEAN})/L) times 4*gamma**2*L; minimiser times 4*gamma**2*L",
            f"E mean_n: {Y} - {LOCAL_MEAN} times mu*gamma; "
            f"E mean_n: {APART_HERE} - mean_n({APART_HERE}) times 2*gamma**2; "
            f"E: mean_n({APART_HERE}) - grad(f, {LOCAL_MEAN}) times gamma**2",
        ),
    )  # fmt: skip


def drifted(sentence: str | None = None) -> Lines:
    """Lemma 5: V_h = (1/N) sum E||y_n - y||^2 grows by 1 + 1/(2H) and by b; (1 - h/(2H)) V_h <= h b."""
    moved, rest = f"({Y} - gamma*grad(f, {Y}))", f"(grad(f_n, {Y}) - grad(f, {Y}))"
    ahead, whole = f"({LOCAL_MEAN} - gamma*grad(f, {LOCAL_MEAN}))", f"({Y} - gamma*grad(f_n, {Y}))"
    b, more = "(gamma**2*delta2 + (1 + 2*H)*gamma**2*zeta)", "(1 + 1/(2*H))"
    after, one = SPREAD.replace("h]", "h+1]"), f"norm2{rest}"
    law = f"quantile(max_n({one}), 1)"
    return (
        axiom("clients", f"{one} <= max_n({one})", "extreme", one, over="max_n"),
        axiom("outcomes", f"max_n({one}) <= {law}", "quantile", f"max_n({one})"),
        axiom("turns", f"{law} <= max_h({law})", "extreme", law, over="max_h"),
        axiom("rounds", f"max_h({law}) <= zeta", "extreme", f"max_h({law})", over="max_k"),
        combined("apart", f"{one} <= zeta", "clients; outcomes; turns; rounds"),
        combined("not negative", "0 <= zeta", "apart", rest),
        step("noisy", f"{after} == mean_n(E(norm2({whole} - mean_n{whole}))) + gamma**2*(N - 1)/N*{NOISE_HERE}"),
        combined(
            "drift turn", f"{after} <= {more}*{SPREAD} + {b}",
            f"noisy; E mean_n: variance ({Y}) times gamma**2*(N - 1)/N; E mean_n: apart times (1 + 2*H)*gamma**2; "
            f"E mean_n: smooth convex f ({Y}, {LOCAL_MEAN}) times 2*gamma*{more}; "
            f"E mean_n: smooth convex f ({LOCAL_MEAN}, {Y}) times 2*gamma*{more}",
            f"E mean_n: {moved} - mean_n{moved} + 2*H*gamma*({rest} - mean_n{rest}) times 1/(2*H); "
            f"E: mean_n{rest} times (1 + 2*H)*gamma**2; E: mean_n{moved} - {ahead} times {more}; "
            f"E mean_n: grad(f, {Y}) - grad(f, {LOCAL_MEAN}) times {more}*gamma*(2/L - gamma); "
            "1 times gamma**2*delta2/N",
        ),
        domain("before", "h <= H - 1"),
        domain("some turn", "0 < H"),
        combined("inside", "h <= H", "before", "1"),
        combined("not beyond", "h + 1 <= 2*H", "before; some turn"),
        combined("half way", "h < 2*H", "before; some turn", "1"),
        induction(
            "growth", f"(1 - h/(2*H))*{SPREAD} <= h*{b}", [step("begin")],
            [
                combined(
                    "go on", None, "IH; drift turn times 1 - (h + 1)/(2*H)",
                    f"E mean_n: {Y} - {LOCAL_MEAN} times (h + 1)/(2*H)**2; 1 times (h + 1)/(2*H)*{b}",
                ),
            ],
            on="h",
        ),
        combined(
            "drift", sentence, "growth times 1/(1 - h/(2*H))",
            "1 times H*gamma**2*delta2*(5*(H - h) + H)/(2*H - h) + 2*H*gamma**2*zeta*(5*H*(H - h) + H*(H - 1) + (H "
            "- h))/(2*H - h)",
        ),
    )  # fmt: skip


def last_local(projected: bool = False) -> Lines:
    """Lemma 6: V' <= (1 - mu gamma) V + c over the turns of a round, and over rounds, which projections do not harm."""
    end = "mean_n(y[k, H])"
    after = f"E(norm2(x[k+1] - xstar)) <= E(norm2({end} - xstar))"
    of_spread = "(gamma*L + 2*gamma**2*L**2)"
    rest = f"({of_spread}/(mu*gamma)*spread + gamma*delta2/(mu*N))"
    q, far = "(1 - mu*gamma)", "E(norm2(x[k] - xstar))"
    loss = f"(2*gamma - 4*gamma**2*L)*(E(f({LOCAL_MEAN})) - f(xstar))"
    return (
        combined("no longer", "gamma <= 2/L", "gamma <= 1/(2*L)", "1 times 3/(2*L)"),
        *drifted(f"{SPREAD} <= spread"),
        *local_step(f"E(norm2({NEXT} - xstar)) <= {q}*{DISTANCE} - {loss} + {of_spread}*{SPREAD} + gamma**2*delta2/N"),
        combined("slow", "mu*gamma <= 1", "curvature f times gamma; gamma <= 1/(2*L) times L", "1 times 1/2"),
        combined(
            "one turn", f"E(norm2({NEXT} - xstar)) <= {q}*{DISTANCE} + {of_spread}*spread + gamma**2*delta2/N",
            f"one step; drift times {of_spread}; E: infimum ({LOCAL_MEAN}) times 2*gamma*(1 - 2*L*gamma); "
            "minimiser times 2*gamma*(1 - 2*L*gamma)",
        ),
        induction(
            "of a round", f"{DISTANCE} - {rest} <= {q}**h*({far} - {rest})", [step("at first")],
            [combined("next turn", None, f"one turn; IH times {q}")], on="h",
        ),
        at("last turn", "of a round", h="H"),
        *(nearer(end, after) if projected else (step("end", after.replace("<=", "==")),)),
        induction(
            "of the run", f"{far} - {rest} <= {q}**(k*H)*(dist0 - {rest})", [combined("first round")],
            [combined("next round", None, f"end; last turn; IH times {q}**H")],
        ),
        at("last round", "of the run", k="K"),
        combined(
            "error of w", "E(norm2(x[K] - xstar)) <= w_error" if projected else None, "last round",
            f"1 times {q}**(K*H)*{rest}",
        ),
    )  # fmt: skip


def nearer(before: str, sentence: str) -> Lines:
    """The projected vector is as near to w*, which is in the ball."""
    return (
        axiom("angle", f"dot({before} - x[k+1], xstar - x[k+1]) <= 0", "projection", "x[k+1]", before, "xstar"),
        combined("end", sentence, "E: angle times 2", f"E: {before} - x[k+1]"),
    )


def in_ball() -> Lines:
    """Iterates stay in the ball, whose diameter is 2r."""
    return (
        induction(
            "ball", "norm2(x[k]) <= r**2", [combined("start in it", None, "norm2(x0) <= r**2")],
            [axiom("stays in it", None, "projection", "x[k+1]")],
        ),
        combined(
            "diameter", "norm2(x[k] - xstar) <= 4*r**2", "ball times 2; norm2(xstar) <= r**2 times 2", "x[k] + xstar"
        ),
    )  # fmt: skip


def last_minibatch() -> Lines:
    """Mini-batch SGD: V' <= (1 - mu gamma) V + gamma^2 delta^2/M, V_0 <= (2r)^2; needs `diameter`."""
    far, floor, q = "E(norm2(x[k] - xstar))", "gamma*delta2/(mu*M)", "(1 - mu*gamma)"
    ahead = "x[k] - gamma*grad(f, x[k])"
    noise = "gamma**2/(M*N)*mean_n(mean_i(E(norm2(grad(f_ni, x[k]) - grad(f_n, x[k])))))"
    return (
        combined("slow", "mu*gamma <= 1", "mu <= L times gamma; gamma <= 1/L times L"),
        *nearer("moved[k]", "E(norm2(x[k+1] - xstar)) <= E(norm2(moved[k] - xstar))"),
        step("length", f"E(norm2(moved[k] - xstar)) == E(norm2({ahead} - xstar)) + {noise}"),
        combined(
            "round", f"E(norm2(x[k+1] - xstar)) <= {q}*{far} + gamma**2*delta2/M",
            "end; length; E mean_n: variance (x[k]) times gamma**2/(M*N); "
            "E: strongly_convex f (x[k], xstar) times 2*gamma; "
            "E: above f (x[k], x[k] - grad(f, x[k])/L) times 2*gamma; "
            "E: infimum (x[k] - grad(f, x[k])/L) times 2*gamma; minimiser times 2*gamma",
            "E: grad(f, x[k]) times gamma*(1/L - gamma); 1 times gamma**2*delta2*(N - 1)/(M*N)",
        ),
        at("at first", "diameter", k="0"),
        induction(
            "of the run", f"{far} - {floor} <= {q}**k*(4*r**2 - {floor})", [combined("first round", None, "at first")],
            [combined("next round", None, f"round; IH times {q}")],
        ),
        combined("error of w", f"{far} <= {q}**k*4*r**2 + {floor}", "of the run", f"1 times {q}**k*{floor}"),
    )  # fmt: skip


# --- norms: Lemma 10, Proposition 3 ----------------------------------------------------------------------------------


def _long(name: str, left: str, right: str) -> Lines:
    """A round makes one vector of the other, so both are as long."""
    return step(f"{name} 2", f"norm2({left}) == norm2({right})"), root(
        name, f"{name} 2", f"norm({left}) == norm({right})"
    )


def _times(name: str, left: str, by: str, right: str) -> Lines:
    """One vector is so many times as long as another."""
    squared = combined(f"{name} 2", f"norm2{left} == ({by})**2*norm2({right})")
    return squared, root(name, f"{name} 2", f"norm{left} == {by}*norm({right})")


def _largest(gradient: str = "grad(f_n, x0)") -> dict[str, Any]:
    return axiom("largest", f"norm({gradient}) <= G", "extreme", f"norm({gradient})", over="max_n")


def _chosen(of: str, length: str) -> Lines:
    """The sum over the clients that are chosen is no longer than that of all lengths."""
    return (
        step("chosen or not", f"norm2(part[0]) == dot(part[0], {of})"),
        combined("shorter", f"norm2(part[0]) <= norm2({of})", "chosen or not times 2", f"part[0] - {of}"),
        root("of each", "shorter", f"norm(part[0]) <= {length}"),
        _largest(),
        *_long("sum", "x[1]", "sum_n(part[0])"),
        axiom("triangle", None, "triangle", "part[0]", over="sum_n"),
    )


def part_of_weights() -> Lines:
    """Lemma 10: what is chosen of a sum with weights is no longer than the longest."""
    each = "sum; triangle; sum_n: of each; sum_n: largest times alpha_n; sum_n(alpha_n) == 1 times G"
    return (*_chosen("alpha_n*grad(f_n, x0)", "alpha_n*norm(grad(f_n, x0))"), combined("all", None, each))


def _growth(bent: str, added: str) -> Lines:
    """||s'|| <= (1 + eta N L) ||s|| + c ||v|| in a turn, c = eta alpha N, so ||s|| <= c h (1 + eta N L)^h ||v||."""
    s, c, b = "s[k, h]", "eta*alpha_n*N", "(1 + eta*N*L)"
    moved, more, less = f"({s} - {c}*{bent})", f"({c}*{added})", f"(-{c}*{bent})"
    return (
        root("bent", "bent 2", f"norm({bent}) <= L*norm({s})"),
        *_long("made", "s[k, h+1]", f"{moved} + {more}"),
        axiom("added", None, "triangle", moved, more),
        axiom("less", None, "triangle", s, less),
        *_times("scaled", more, c, added),
        *_times("turned", less, c, bent),
        combined(
            "turn", f"norm(s[k, h+1]) <= {b}*norm({s}) + {c}*norm({added})",
            f"made; added; less; scaled; turned; bent times {c}; alpha_n <= 1 times eta*N*L*norm({s})",
        ),
        combined("one", f"1 <= {b}", (), "1 times eta*N*L"),
        power("more", "one", "h + 1", f"1 <= {b}**(h + 1)"),
        induction(
            "growth", f"norm({s}) <= {c}*h*{b}**h*norm({added})", [step("begin")],
            [combined("go on", None, f"turn; IH times {b}; more times {c}*norm({added})")], on="h",
        ),
        at("last turn", "growth", k="0", h="H"),
    )  # fmt: skip


BENT = "(grad(f_n, s[k, h]) - grad(f_n, s[k, h] - s[k, h]))"


def _growth_to_gradients() -> Lines:
    """That, where Hessians are those of the clients, and what is added is their gradients."""
    s = "s[k, h]"
    return (
        axiom("own weight", "alpha_n <= sum_n(alpha_n)", "part", "alpha_n", over="sum_n"),
        combined("alpha_n <= 1", "alpha_n <= 1", "own weight; sum_n(alpha_n) == 1"),
        combined("bent 2", f"norm2{BENT} <= L**2*norm2({s})", f"lipschitz-gradient f_n ({s}, {s} - {s})"),
        *_growth(BENT, "grad(f_n, x[k])"),
    )


def _bent(name: str, bent: str, v: str) -> dict[str, Any]:
    """A sample's Hessian times v is at most L times as long."""
    return drawn(name, f"lipschitz-gradient f_ni ({v}, {v} - {v})", f"norm2({bent}) <= L**2*norm2({v})")


def turned_by() -> Lines:
    """Proposition 3: with another sample in every turn."""
    s = "s[k, h]"
    return (
        _bent("bent 2", "bent[k, h]", s),
        *_growth("bent[k, h]", "x[k]"),
        *_long("end", "q[1]", "s[0, H]"),
        combined("all", None, "end times 1/norm(x0); last turn times 1/norm(x0)"),
    )  # fmt: skip


def _exponential(z: str, short: str) -> Lines:
    """(1 + eta N L)^H <= exp(H z), as eta N L <= z."""
    return (
        axiom("tangent", None, "exp", z),
        combined("below", f"1 + eta*N*L <= exp({z})", f"tangent; {short}"),
        power("to H", "below", "H", f"(1 + eta*N*L)**H <= exp({z})**H"),
        axiom("one more", None, "exp sum", f"h*({z})", z),
        induction(
            "powers", f"exp({z})**h == exp(h*({z}))", [combined("none")],
            [combined("next", None, f"IH times exp({z}); one more times -1")], on="h",
        ),
        at("all powers", "powers", h="H"),
    )  # fmt: skip


def part_of_epoch() -> Lines:
    """Lemma 11 (b): each ||Q_n grad f_n|| <= eta alpha_n N H (1 + eta N L)^H G, and (1 + eta N L)^H <= e."""
    b, last = "(1 + eta*N*L)", "s[0, H]"
    return (
        *_growth_to_gradients(),
        *_chosen(last, f"norm({last})"),
        combined(
            "by G", f"norm(x[1]) <= eta*N*H*{b}**H*G",
            f"sum; triangle; sum_n: of each; sum_n: last turn; sum_n: largest times eta*alpha_n*N*H*{b}**H; "
            f"sum_n(alpha_n) == 1 times eta*N*H*{b}**H*G",
        ),
        *_exponential("1/H", "eta*N*H*L <= 1 times 1/H"),
        combined("all", None, "by G; to H times eta*N*H*G; all powers times eta*N*H*G"),
    )  # fmt: skip


def near_a_step() -> Lines:
    """Lemma 11 (a): ||Q_n grad f_n - c H grad f_n|| <= c H ((1 + eta N L)^H - 1) G, which is at most c H e_R G."""
    s, g, b, c, start = "s[k, h]", "grad(f_n, x[k])", "(1 + eta*N*L)", "eta*alpha_n*N", "grad(f_n, x0)"
    off, less, gone = f"({s} - {c}*h*{g})", f"(-{c}*{BENT})", f"(s[0, H] - {c}*H*{start})"
    away = f"x[1] - eta*N*H*sum_n(alpha_n*{start})"
    return (
        *_growth_to_gradients(),
        *_long("off", f"s[k, h+1] - {c}*(h + 1)*{g}", f"{off} + {less}"),
        axiom("off and less", None, "triangle", off, less),
        induction(
            "error", f"norm{off} <= {c}*h*({b}**h - 1)*norm({g})", [step("no error")],
            [
                combined(
                    "more error", None,
                    f"IH; off; off and less; turned; bent times {c}; growth times {c}*L; "
                    f"alpha_n <= 1 times eta*N*L*{c}*h*{b}**h*norm({g}); more times {c}*norm({g})",
                )
            ],
            on="h",
        ),
        at("last error", "error", k="0", h="H"),
        _largest(),
        *_long("sum", away, f"sum_n{gone}"),
        axiom("triangle", None, "triangle", gone, over="sum_n"),
        power("one to H", "one", "H", f"1 <= {b}**H"),
        combined(
            "by G", f"norm({away}) <= eta*N*H*({b}**H - 1)*G",
            f"sum; triangle; sum_n: last error; sum_n: largest times {c}*H*({b}**H - 1); "
            f"sum_n(alpha_n) == 1 times eta*N*H*({b}**H - 1)*G",
        ),
        *_exponential("1/(4*R*H)", "eta <= 1/(4*N*H*R*L) times N*L"),
        axiom("inverse", None, "exp", "-1/(4*R)"),
        axiom("one is", None, "exp sum", "1/(4*R)", "-1/(4*R)"),
        domain("a round", "1 <= R"),
        domain("< 4", "256/81 < 4"),
        combined(
            "at most", "(4*R - 1)*exp(1/(4*R)) <= 4*R", "one is times -4*R; inverse times 4*R*exp(1/(4*R))",
        ),
        axiom("quarter", None, "exp", "-1/4"),
        axiom("quarters", None, "exp sum", "1/4", "-1/4"),
        combined("small", "exp(1/4) <= 4/3", "quarters times -4/3; quarter times 4/3*exp(1/4)"),
        axiom("halves", None, "exp sum", "1/2", "1/2"),
        axiom("half", None, "exp sum", "1/4", "1/4"),
        power("fourth", "small", "4", "exp(1/4)**4 <= (4/3)**4"),
        combined("e < 4", "exp(1) < 4*R", "halves; half times exp(1/2) + exp(1/4)**2; fourth; a round times 4; < 4"),
        axiom("e > 1", None, "exp", "1"),
        combined(
            "e_R", f"{b}**H - 1 <= e_R",
            "to H; all powers; at most times 1/(4*R - 1); e > 1 times 4*R/((4*R - 1)*(4*R - exp(1)))",
            "1 times 4*R/((4*R - 1)*(4*R - exp(1)))",
        ),
        combined("by e_R", f"norm({away}) <= eta*N*H*e_R*G", "by G; e_R times eta*N*H*G"),
        power("all", "by e_R", "2"),
    )  # fmt: skip


def near_identity() -> Lines:
    """Proposition 2: ||x[k] - x0|| <= ((1 + aL)^k - 1) ||x0||, and the same of y."""
    sides = [line for x, tap, a in (("x", "one", "a"), ("y", "other", "b")) for line in _grown(x, tap, a)]
    return (
        *sides,
        axiom("both", None, "triangle", "x[K] - x0", "x0 - y[K]"),
        combined(
            "all", None,
            "both times 1/norm(x0); x end times 1/norm(x0); y end times 1/norm(x0); "
            "x grown; y grown",
        ),
    )  # fmt: skip


def _grown(x: str, tap: str, a: str) -> Lines:
    here, bent, q = f"{x}[k]", f"{tap}[k]", f"(1 + {a}*L)"
    taken = f"(-{a}*mean_n({bent}))"
    return (
        _bent(f"{x} bent 2", bent, here),
        root(f"{x} bent", f"{x} bent 2", f"norm({bent}) <= L*norm({here})"),
        axiom(f"{x} mean", None, "triangle", bent, over="mean_n"),
        *_long(f"{x} made", f"{x}[k+1] - x0", f"({here} - x0) + {taken}"),
        axiom(f"{x} taken", None, "triangle", f"{here} - x0", taken),
        *_times(f"{x} turned", taken, a, f"mean_n({bent})"),
        axiom(f"{x} away", None, "triangle", f"{here} - x0", "x0"),
        combined(
            f"{x} turn", f"norm({x}[k+1] - x0) <= {q}*norm({here} - x0) + {a}*L*norm(x0)",
            f"{x} made; {x} taken; {x} turned; {x} mean times {a}; mean_n: {x} bent times {a}; {x} away times {a}*L",
        ),
        induction(
            f"{x} run", f"norm({here} - x0) <= ({q}**k - 1)*norm(x0)", [combined(f"{x} begin")],
            [combined(f"{x} go on", None, f"{x} turn; IH times {q}")],
        ),
        at(f"{x} end", f"{x} run", k="K"),
        axiom(f"{x} grown", f"{q}**K <= {q}**(last - l + 1)", "exponents", q, "K", "last + 1 - l"),
    )  # fmt: skip


# --- gradient steps on the weights: the rate, Theorem 1, Lemma 15 ----------------------------------------------------

RHO, ONCE, TWICE = "(1 - min_n(m_n)/max_n(m_n))", "max(0, 1 - abs(T_a - 1))", "max(0, 1 - abs(T_a - 2))"
BOTH = f"({ONCE} + {TWICE})"


def taken(one: str, two: str) -> str:
    """One or the other, as T_a says."""
    return f"({ONCE}*{one} + {TWICE}*{two})/{BOTH}"


def _none(j: int) -> Lines:
    """max(0, 1 - |T_a - j|) is 0 where T_a is larger than j."""
    one = f"1 - abs(T_a - {j})"
    return (
        axiom(f"far {j}", f"T_a - {j} <= abs(T_a - {j})", "abs", f"T_a - {j}"),
        combined(f"off {j}", f"{one} <= 0", f"far {j}; {j} + 1 <= T_a"),
        axiom(f"none {j}", f"max(0, {one}) <= 0", "bounds", "0", one, "0"),
    )


def _rate() -> Lines:
    """What RHO is, and that it stands to the power of twice as many steps as are taken."""
    whole = f"{RHO}**(2*T_a)"
    goal = f"{ONCE}*{RHO}**2 + {TWICE}*{RHO}**4 <= {BOTH}*{whole}"
    square, fourth = (axiom(f"to {e}", f"{RHO}**{e} <= {whole}", "exponents", RHO, "2*T_a", e) for e in "24")
    low = combined("low", "T_a <= 2", "T_a <= 1", "1")
    one = combined("just one", None, f"to 2 times {ONCE}; to 4 times {TWICE}")
    two = combined("two steps", None, f"none 1 times {RHO}**2; to 4 times {TWICE}", f"1 times {ONCE}*{whole}")
    rest = combined("no step", None, f"none 1 times {RHO}**2; none 2 times {RHO}**4", f"1 times {BOTH}*{whole}")
    more = cases("more steps", goal, "T_a <= 2", [fourth, two], [*_none(2), rest])
    return (
        axiom("most", "m_n <= max_n(m_n)", "extreme", "m_n", over="max_n"),
        axiom("fewest", "m_n >= min_n(m_n)", "extreme", "m_n", over="min_n"),
        combined("by RHO", f"1 - min_n(m_n)/m_n <= {RHO}", "most times min_n(m_n)/(m_n*max_n(m_n))"),
        power("squares", "by RHO", "2", f"(1 - min_n(m_n)/m_n)**2 <= {RHO}**2"),
        combined("fewest and most", "min_n(m_n) <= max_n(m_n)", "mean_n: most; mean_n: fewest"),
        combined("at least 0", f"0 <= {RHO}", "fewest and most times 1/max_n(m_n)"),
        combined("at most 1", f"{RHO} <= 1", (), "1 times min_n(m_n)/max_n(m_n)"),
        cases("steps", goal, "T_a <= 1", [low, square, fourth, one], [*_none(1), more]),
    )


def ahead(before: str, costs: str) -> str:
    """The costs of which a gradient step of length n_min/(2 lam) on g_i is the projection onto the simplex."""
    return f"-2*({before} - min_n(m_n)/(2*lam)*({costs} + 2*lam*({before})/m_n))"


def _descent(name: str, before: str, after: str, best: str, z: str, of: str) -> Lines:
    """A gradient step, projected: sum (after - best)^2 <= RHO^2 sum (before - best)^2."""
    length, shrink, cost = "min_n(m_n)/(2*lam)", "(1 - min_n(m_n)/m_n)", ahead(before, z)
    return (
        level(f"{name} level", after, cost, "1"),
        axiom(f"{name} sum", f"sum_n({after}) == 1", "simplex", cost, "1"),
        combined(
            f"{name} both", f"sum_n(({after} - {best})**2) <= sum_n({shrink}*({before} - {best})*({after} - {best}))",
            f"sum_n: {name} level times {best}/2; sum_n: {of} level times {after}*{length}; "
            f"{of} sum times -sum_n({after}*({cost} + 2*{after}))/2; "
            f"{name} sum times -{length}*sum_n({best}*({z} + 2*lam*{best}/m_n))",
        ),
        combined(
            f"{name} half", f"sum_n(({after} - {best})**2) <= sum_n(({shrink}*({before} - {best}))**2)",
            f"{name} both times 2", f"sum_n: {shrink}*({before} - {best}) - ({after} - {best})",
        ),
        combined(
            name, f"sum_n(({after} - {best})**2) <= {RHO}**2*sum_n(({before} - {best})**2)",
            f"{name} half; sum_n: squares times ({before} - {best})**2",
        ),
    )  # fmt: skip


def _of_simplex(name: str, weight: str, z: str, curvature: str) -> Lines:
    """Weights sum to 1, are at most 1, and so are their squares together."""
    return (
        axiom(f"{name} sum", f"sum_n({weight}) == 1", "simplex", z, curvature),
        axiom(f"{name} part", f"{weight} <= sum_n({weight})", "part", weight, over="sum_n"),
        combined(f"{name} no more", f"{weight} <= 1", f"{name} part; {name} sum"),
        combined(f"{name} squares", f"sum_n({weight}**2) <= 1", f"sum_n: {name} no more times {weight}; {name} sum"),
    )


def descended_to(best: str, z: str = "z_n") -> Lines:
    """After one or two steps from the uniform weights, whose squared distance to the best ones is at most 2."""
    one, two = (f"sum_n(({name}_n - {best})**2)" for name in ("done", "dtwo"))
    return (
        *_rate(),
        level("best level", best, z, "lam/m_n"),
        *_of_simplex("best", best, z, "lam/m_n"),
        *_descent("once", "1/N", "done_n", best, z, "best"),
        *_descent("twice", "done_n", "dtwo_n", best, z, "best"),
        combined(
            "descent", f"{taken(one, two)} <= {RHO}**(2*T_a)*sum_n((1/N - {best})**2)",
            f"steps times sum_n((1/N - {best})**2)/{BOTH}; once times {ONCE}/{BOTH} + {TWICE}/{BOTH}*{RHO}**2; "
            f"twice times {TWICE}/{BOTH}",
        ),
        combined("start", f"sum_n((1/N - {best})**2) <= 2", "best squares; best sum times -2/N", "1 times 1 + 1/N"),
    )  # fmt: skip


def estimated(x: str) -> Lines:
    """The weights after one or two steps at x, and those that are best at w*; needs `error of w` and `diameter`."""
    best, dist2 = "simplex_n(z_n, lam/m_n)", f"norm2({x} - xstar)"
    zeta = f"norm2{START}"
    error = taken("sum_n((done_n - a_n)**2)", "sum_n((dtwo_n - a_n)**2)")
    own = f"8*L**2*kappa_g**2*sum_n(2*({zeta}) + 4*L**2*{dist2})*{dist2}"
    return (
        at("apart from w*", "diameter", k=x[2:-1]),
        *observed(x, best, zeta, "a_n"),
        *descended_to(best),
        combined(
            "outcome", f"{error} <= 4*{RHO}**(2*T_a) + {own}",
            f"descent times 2; start times 2*{RHO}**(2*T_a); observation times 2",
            f"sum_n: done_n - 2*{best} + a_n times {ONCE}/{BOTH}; sum_n: dtwo_n - 2*{best} + a_n times {TWICE}/{BOTH}",
        ),
        combined(
            "all", None,
            f"E: outcome; E: apart from w* times 32*N*kappa_g**2*L**4*{dist2}; "
            "error of w times 16*L**2*kappa_g**2*N*(zbar + 8*L**2*r**2)",
        ),
    )  # fmt: skip


def weights_of_epochs() -> Lines:
    """Lemma 14: 3 (error at x[k+1]) + 3 (how the best weights move) + 3 (error at x[k])."""
    now, new, old = "simplex_n(z_n, lam/m_n)", "x[k+1]", "x[k]"
    then, middle = "simplex_n(y_n, lam/m_n)", f"simplex_n({ahead('dtwo_n', 'z_n')}, 1)"
    apart, first, last = _apart(new, old), _apart(old, "xstar"), _apart(new, "xstar")
    ends, step2 = f"(2*{START} + {first} + {last})", f"norm2({new} - {old})"
    one, two, by = f"{ONCE}/{BOTH}", f"{TWICE}/{BOTH}", f"{RHO}**2"

    def between(weight: str, other: str) -> str:
        return f"sum_n(({weight} - {other})**2)"

    def close(weight: str, of: str) -> dict[str, Any]:
        return combined(
            f"from {of}", f"{between(weight, now)} <= 2", f"{of} squares; now squares",
            f"1 times 2*sum_n({weight}*{now})",
        )  # fmt: skip

    return (
        *in_ball(),
        at("next diameter", "diameter", k="k + 1"),
        *_moved_weights("z_n", now, "y_n", then),
        *_near("near", new, old), *_near("near old", old, "xstar"), *_near("near new", new, "xstar"),
        *_both_ways(apart, ends),
        combined(
            "ends", f"norm2({ends}) <= 8*norm2{START} + 32*L**2*r**2",
            "near old times 4; near new times 4; diameter times 4*L**2; next diameter times 4*L**2",
            f"2*{START} - {first} - {last}; {first} - {last} times 2",
        ),
        combined(
            "moved", f"(z_n - y_n)**2 <= L**2*{step2}*(8*norm2{START} + 32*L**2*r**2)",
            f"less times norm({apart})*norm({ends}) + dot({apart}, {ends}); near times norm2({ends}); "
            f"ends times L**2*{step2}",
        ),
        combined(
            "best", f"{between(now, then)} <= 8*kappa_g**2*L**2*N*(zbar + 4*L**2*r**2)*{step2}",
            "lipschitz; sum_n: moved times kappa_g**2",
        ),
        *descended_to(then, "y_n"),
        level("now level", now, "z_n", "lam/m_n"),
        *_of_simplex("now", now, "z_n", "lam/m_n"),
        *_of_simplex("one", "done_n", ahead("1/N", "y_n"), "1"),
        *_of_simplex("two", "dtwo_n", ahead("done_n", "y_n"), "1"),
        *_descent("e once", "done_n", "eone_n", now, "z_n", "now"),
        *_descent("e half", "dtwo_n", middle, now, "z_n", "now"),
        *_descent("e twice", middle, "etwo_n", now, "z_n", "now"),
        close("done_n", "one"),
        close("dtwo_n", "two"),
        combined(
            "outcome",
            f"{taken(between('eone_n', 'done_n'), between('etwo_n', 'dtwo_n'))}"
            f" <= 12*{RHO}**(2*T_a) + 3*{between(now, then)}",
            f"steps times 6/{BOTH}; e once times 3*{one}; from one times 3*{one}*{by}; descent times 3; "
            f"start times 3*{RHO}**(2*T_a); e twice times 3*{two}; e half times 3*{two}*{by}; "
            f"from two times 3*{two}*{by}**2",
            {
                f"sum_n: {a} - {b}": share
                for e, d, share in (("eone_n", "done_n", one), ("etwo_n", "dtwo_n", two))
                for a, b in (
                    (f"({e} - {now})", f"({now} - {then})"),
                    (f"({now} - {then})", f"({then} - {d})"),
                    (f"({e} - {now})", f"({then} - {d})"),
                )
            },
        ),
        *last_minibatch(),
        axiom("step angle", f"dot(moved[k] - {new}, {old} - {new}) <= 0", "projection", new, "moved[k]", old),
        step(
            "step length",
            f"E(norm2(moved[k] - {old})) == gamma**2*E(norm2(grad(f, {old})))"
            f" + gamma**2/(M*N)*mean_n(mean_i(E(norm2(grad(f_ni, {old}) - grad(f_n, {old})))))",
        ),
        combined(
            "step", f"E({step2}) <= gamma**2*(L**2*E(norm2({old} - xstar)) + delta2/M)",
            "E: step angle times 2; step length; E mean_n: variance (x[k]) times gamma**2/(M*N); "
            f"E: lipschitz-gradient f ({old}, xstar) times gamma**2; "
            f"E: zero f (grad(f, {old})) times 2*gamma**2; zero f (grad(f, xstar)) times -gamma**2",
            f"E: moved[k] - {new}; 1 times gamma**2*delta2*(N - 1)/(M*N)",
        ),
        combined(
            "all", None,
            "E: outcome; E: best times 3; step times 24*kappa_g**2*L**2*N*(zbar + 4*L**2*r**2); "
            "error of w times 24*kappa_g**2*L**4*N*(zbar + 4*L**2*r**2)*gamma**2",
        ),
    )  # fmt: skip
