"""Stability of open federated learning, by Sun, Fernando, Chen and Shahrampour: every numbered result as printed.

x^k is x[k]; h^k, vhat^k and x^{k-1} of Adam (3) are u[k], v[k] and z[k]. With D^k = (eps I + Vhat^k)^(-1/2), of a round
k: s[k] and t[k] are the diagonals of D^k and D^{k+1}, q[k] is D^k h^k, p[k] is D^{k+1} h^{k+1}; kept[k], sampled[k] and
exact[k] are D^k of h^{k+1}, of the sampled gradient and of grad f_n(x^k); one[k] is the vector of ones.

An open system is said with clients that are there throughout: one that joins takes the next average, as all do, and one
that has left is selected no more. What the paper says of a generic f, its section III-B says of any client.
"""

from dataclasses import replace

from theory.claim import Paper, claim
from theory.derivation import assumed, averaged, axiom, cases, combined, domain, induction, power, root, step, zero
from theory.domain import NONNEGATIVE, REAL, Domain
from theory.papers import open_fl_proofs as proofs
from theory.papers.open_fl_proofs import LENGTH, ROOT, worth
from theory.program import algorithm

# --- algorithms ------------------------------------------------------------------------------------------------------


@algorithm
def sgd(w, x, *, eta):
    """(2), of a generic f: a step against the mean of a sampled gradient of each client."""
    g = w.mean(w.gradient(x, w.sample()))
    w.tap("g", g)
    return x - eta * g


@algorithm(x="each x0")
def local_sgd(w, x, *, eta):
    """(2), at every client."""
    return x - eta * w.gradient(x, w.sample())


@algorithm(x="each x0")
def open_sgd(w, x, *, eta, p, S):
    """Algorithm 1: with chance p an iteration is local; else S clients are averaged, and all take it, new ones too."""
    return w.where(w.coin(p), x - eta * w.gradient(x, w.sample()), w.each(w.average(x, w.choose(S))))


@algorithm(x="each grad(f_n, x0)")
def iteration(w, x, *, eta, p, local):
    """An iteration from models that differ (gradients of any functions): with chance `local` a local one, else (4)."""
    return w.where(w.coin(local), x - eta * w.gradient(x, w.sample()), w.each(w.average(x, w.coins(p))))


@algorithm
def average(w, x, *, p):
    """(4), of random models (sampled gradients of any functions) and weights that are independent of them."""
    return w.average(w.gradient(x, w.sample()), w.coins(p))


@algorithm
def average_by_norm(w, x):
    """(4), of random models, each with its norm as its weight."""
    y = w.gradient(x, w.sample())
    return w.average(y, w.norm(y))


@algorithm
def rounds_of_sgd(w, x, *, eta, H, b):
    """Algorithm 1 by rounds: H steps (2) of everybody who takes part, with minibatches, and the mean (4)."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample(b))
    return w.mean(y)


@algorithm
def rounds_of_whole_sgd(w, x, *, eta, H):
    """The same with the gradients of all samples."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y)
    return w.mean(y)


def adam_step(w, x, u, v, eta, beta1, beta2, eps, g=None):
    """(3): the next x, h and vhat, and D^{k+1}."""
    g = w.gradient(x, w.sample()) if g is None else g
    u = beta1 * u + (1 - beta1) * g
    v = w.larger(v, beta2 * v + (1 - beta2) * w.times(g, g))
    t = w.over(w.ones(), w.sqrt(v + eps * w.ones()))
    return x - eta * w.times(t, u), u, v, t, g


@algorithm(x="each x0", u="each 0", v="each 0", z="each x0")
def adam(w, x, u, v, z, *, eta, beta1, beta2, eps):
    """(3), at every client; z is the iterate before."""
    s = w.over(w.ones(), w.sqrt(v + eps * w.ones()))
    new, u_new, v_new, t, g = adam_step(w, x, u, v, eta, beta1, beta2, eps)
    w.tap("g", g)
    w.tap("one", w.ones())
    w.tap("s", s)
    w.tap("t", t)
    w.tap("q", w.times(s, u))
    w.tap("p", w.times(t, u_new))
    w.tap("kept", w.times(s, u_new))
    w.tap("sampled", w.times(s, g))
    w.tap("exact", w.times(s, w.gradient(x)))
    return new, u_new, v_new, x


@algorithm(x="x0", u="each 0", v="each 0")
def rounds_of_adam(w, x, u, v, *, eta, H, b, beta1, beta2, eps):
    """Algorithm 1 by rounds with Adam, whose h and vhat are a client's own and outlast communications."""
    y = w.each(x)
    for _ in w.repeat(H):
        y, u, v, _, _ = adam_step(w, y, u, v, eta, beta1, beta2, eps, w.gradient(y, w.sample(b)))
    return w.mean(y), u, v


@algorithm(x="x0", u="each 0", v="each 0")
def rounds_of_whole_adam(w, x, u, v, *, eta, H, beta1, beta2, eps):
    """The same with the gradients of all samples."""
    y = w.each(x)
    for _ in w.repeat(H):
        y, u, v, _, _ = adam_step(w, y, u, v, eta, beta1, beta2, eps, w.gradient(y))
    return w.mean(y), u, v


@algorithm(x="each x0", u="each 0", v="each 0")
def open_adam(w, x, u, v, *, eta, beta1, beta2, eps, p, S):
    """Algorithm 1 with Adam: with chance p an iteration is local; else S clients are averaged, and all take it."""
    local = w.coin(p)
    new, u_new, v_new, _, _ = adam_step(w, x, u, v, eta, beta1, beta2, eps)
    mean = w.each(w.average(x, w.choose(S)))
    return w.where(local, new, mean), w.where(local, u_new, u), w.where(local, v_new, v)


@algorithm(x="each x0", u="each 0", v="each 0")
def adam_around(w, x, u, v, *, eta, beta1, beta2, eps, weight, H):
    """H local steps of Adam, the weighted average y[k] of the clients, and the local step after it, to e[k]."""
    for _ in w.repeat(H):
        w.tap("l", x)
        x, u, v, _, _ = adam_step(w, x, u, v, eta, beta1, beta2, eps)
    y = w.each(w.average(x, weight))
    s = w.over(w.ones(), w.sqrt(v + eps * w.ones()))
    new, u_new, v_new, t, _ = adam_step(w, y, u, v, eta, beta1, beta2, eps)
    w.tap("one", w.ones())
    w.tap("z", x)
    w.tap("y", y)
    w.tap("e", new)
    w.tap("s", s)
    w.tap("t", t)
    w.tap("q", w.times(s, u))
    w.tap("p", w.times(t, u_new))
    return new, u_new, v_new


# --- SGD -------------------------------------------------------------------------------------------------------------

NO_LESS = dict.fromkeys(("R", "r", "sigma", "R2"), NONNEGATIVE)
A1, A1_N = (("smooth(f, L)", "strongly_convex(f, mu)"), ("smooth(f_n, L)", "strongly_convex(f_n, mu)"))
A2, A2_N = "norm(xstar) <= r", "norm(xstar_n) <= r"
A3, STEP = "bounded_variance(sigma**2)", "eta <= 1/L"
KAPPA = {"kappa": "L/mu"}
GIVEN = "Given x^k: a statement about one step from any point, here the first."


def about_sgd(label, statement, assuming=(), **fields):
    fields = {"parameters": {n: d for n, d in NO_LESS.items() if n in ("r", "sigma")}, **fields}
    return claim(label, statement, of=sgd, assuming=assuming, **fields)


def domains(*names):
    return {name: NO_LESS[name] for name in names}


HERE = "grad(f_n, x0)"
SOMEBODY, NOBODY = "(1 - (1 - p)**N)", "(1 - p)**N"
CHANCE = (
    domain("p", "p <= 1"),
    combined("less", "1 - p <= 1", (), "1 times p"),
    power("chance", "less", "N", f"{NOBODY} <= 1"),
)
ONE_STEP_STAYS = (
    step("round", "E(norm2(x[1])) == mean_i(norm2(x0 - eta*grad(f_ni, x0)))"),
    combined("all", None, "round; stable f_ni (x0)"),
)
SYSTEM_STAYS = (
    *CHANCE,
    domain("local", "local <= 1"),
    averaged(
        "round",
        f"E(norm2(x[1])) <= local*mean_i(norm2({HERE} - eta*grad(f_ni, {HERE})))"
        f" + (1 - local)*{SOMEBODY}*mean_n(norm2({HERE}))",
    ),
    power("inside", f"norm({HERE}) <= R", "2", f"norm2({HERE}) <= R**2"),
    combined(
        "all",
        None,
        f"round; stable f_ni ({HERE}) times local; mean_n: inside times (1 - local)*{SOMEBODY}",
        f"R times (1 - local)*{NOBODY}",
    ),
)
MOMENT = "mean_i(norm2(grad(f_ni, x0)))"
MOMENTS_STAY = (
    *CHANCE,
    averaged("round", f"E(norm2(x[1])) <= {SOMEBODY}*mean_n({MOMENT})"),
    combined("all", None, f"round; mean_n: {MOMENT} <= R2 times {SOMEBODY}", f"1 times {NOBODY}*R2"),
)
DEFINITION = (
    claim(
        "definition-1", "E(norm2(x[1])) <= R**2", of=local_sgd, assuming=("stable(f_ni, eta, R)", "norm(x0) <= R"),
        parameters=domains("R"), proof=ONE_STEP_STAYS, kind="definition", equation="Definition 1", title="stability",
        source="Definition 1, Section II-C",
        remarks=(
            "The definition, for SGD: `stable` says it of every point of the ball, the sentence of one.",
            "It speaks of one step from a known point of the ball.",
            "For one function with one noise it is not monotone in R: gradients without noise in B(0,1) and with noise "
            "outside can be stable at R = 1 and at no R slightly above.",
        ),
    ),
    claim(
        "definition-1/for-all-time", "E(norm2(x[k])) <= R**2", of=local_sgd,
        assuming=(*A1_N, A2_N, A3, STEP, "stable(f_ni, eta, R)", "norm(x0) <= R"),
        parameters=domains("R", "r", "sigma"), kind="proposition", equation="Definition 1",
        title="a stable optimiser stays in the ball in mean square",
        source="a reading of Definition 1 and of Section III-A",
        remarks=(
            "Reads 'the system has stability on both local update iterations and communication iterations' (the proof "
            "of Proposition 1) as a bound that holds from then on, as the word stability and the figures suggest.",
            "After one step only E||x^k||^2 <= R^2 is known, x^k itself may be outside, and Definition 1 says nothing "
            "there.",
            "For R >= sqrt((kappa+1)/2 (r^2+sigma^2/L^2)) it is theorem-2/corrected-2.",
        ),
    ),
    claim(
        "proposition-1", "E(norm2(x[1])) <= R**2", of=iteration,
        assuming=(*A1_N, A2_N, "stable(f_ni, eta, R)", "norm(grad(f_n, x0)) <= R"), parameters=domains("R", "r"),
        proof=SYSTEM_STAYS, kind="proposition", equation="Proposition 1, (4)",
        title="stable clients make a stable system", source="Proposition 1 and (4), Section III-A",
        remarks=(
            "The weights need be non-negative with a positive sum, no more: neither i.i.d. nor independent of the "
            "iterates, as every ||x_i|| <= R surely. A client that joins and takes the average is covered.",
            "Nobody selected: (4) is 0/0, with probability (1-p)^N for Bernoulli(p) draws; the paper has at least one "
            "eligible client. Here the average is 0 then, and keeping the old model would keep the ball as well.",
            "One R has to do for all clients. Definition 1 gives each some R, and is not monotone in R, so a common "
            "one is a hypothesis (for SGD on a class it exists: the largest of the clients' radii).",
            "It is a statement about one iteration, from points in the ball.",
        ),
    ),
    claim(
        "proposition-1/second-moments", "E(norm2(x[1])) <= R2", of=average,
        assuming=("mean_i(norm2(grad(f_ni, x0))) <= R2",), parameters=domains("R2"), proof=MOMENTS_STAY,
        kind="proposition", equation="Proposition 1, (4)",
        title="averaging with second moments and independent weights",
        source="a reading of Proposition 1, Section III-A",
        remarks=(
            "Reads (4) where it is used: after random local steps the second moments are bounded, the points are not.",
        ),
    ),
    claim(
        "proposition-1/dependent-weights", "E(norm2(x[1])) <= R2", of=average_by_norm,
        assuming=("mean_i(norm2(grad(f_ni, x0))) <= R2",), parameters=domains("R2"), kind="proposition",
        equation="Proposition 1, (4)", title="averaging with second moments and any weights",
        source="a reading of Proposition 1, Section III-A",
        remarks=(
            "Reads (4) without the independence of weights and iterates, which the proof does not name ('the selection "
            "is independent of client number'); one way in which they may depend.",
        ),
    ),
)  # fmt: skip

# the gradient at x0 and at xstar, where it is 0; the mean of a sampled gradient, its square, and one step
CURVED = (
    combined(
        "curved",
        "(mu + L)*dot(x0 - xstar, grad(f, x0)) >= norm2(grad(f, x0)) + mu*L*norm2(x0 - xstar)",
        "smooth strongly_convex f (x0, xstar) times 1/2; smooth strongly_convex f (xstar, x0) times 1/2; "
        "zero f ((mu + L)*(x0 - xstar) + grad(f, xstar) - 2*grad(f, x0)) times -1",
    ),
)
SEEN = (
    *CURVED,
    axiom("cauchy", None, "cauchy", "-xstar", "grad(f, x0)"),
    combined(
        "seen",
        "dot(x0, grad(f, x0)) >= (norm2(grad(f, x0)) + mu*L*norm2(x0 - xstar))/(mu + L) - r*norm(grad(f, x0))",
        f"curved times 1/(mu + L); cauchy; {A2} times norm(grad(f, x0))",
    ),
)
FROM_ORIGIN = (
    step("product", "E(dot(x0, g[0])) == dot(x0, grad(f, x0))"),
    *SEEN,
    combined("all", None, "product times -1; seen"),
)
NOISY = (
    step("moment", "E(norm2(g[0])) == norm2(grad(f, x0)) + mean_n(mean_i(norm2(grad(f_ni, x0) - grad(f_n, x0))))/N"),
    combined(
        "noise", "E(norm2(g[0])) <= sigma**2 + norm2(grad(f, x0))", "moment; mean_n: variance (x0) times 1/N",
        "sigma times (N - 1)/N",
    ),
    step("round", "E(norm2(x[1])) == norm2(x0) - 2*eta*dot(x0, grad(f, x0)) + eta**2*E(norm2(g[0]))"),
)  # fmt: skip
LONGEST = (  # at eta = 1/L
    *SEEN,
    *NOISY,
    combined(
        "longest",
        "norm2(x0) - 2/L*dot(x0, grad(f, x0)) + E(norm2(g[0]))/L**2 <= norm2(x0) + 2*r/L*norm(grad(f, x0))"
        " - (L - mu)/(L + mu)*norm2(grad(f, x0))/L**2 - 2*mu/(L + mu)*norm2(x0 - xstar) + sigma**2/L**2",
        "seen times 2/L; noise times 1/L**2",
    ),
)
AT_LONGEST = {"round": "1", "eta == 1/L": "(eta + 1/L)*E(norm2(g[0])) - 2*dot(x0, grad(f, x0))"}
BY_GRADIENT = (*LONGEST, combined("all", None, {**AT_LONGEST, "longest": "1"}))


def by_norms(m):
    """One step of length 1/L by the norms of x0 and xstar, for m <= mu and 3*m <= L of which `curved` speaks."""
    more_than_m = f"((L - 3*{m}) + 2*{m})"  # L - m
    return combined(
        "by norms",
        "norm2(x0) - 2/L*dot(x0, grad(f, x0)) + E(norm2(g[0]))/L**2"
        f" <= norm2(x0) + 2*r**2 - (norm(x0) - norm(xstar))**2*{m}/L + sigma**2/L**2",
        {
            "curved" if m == "mu" else "less curved": f"2/(L*({m} + L))", "cauchy": "2/L", A2: "2/L*norm(grad(f, x0))",
            "noise": "1/L**2", "apart": f"2*{m}/L",
        },
        f"r - (L - {m})/(L + {m})*norm(grad(f, x0))/L times (L + {m})/{more_than_m}; "
        f"r times (L - 3*{m})/{more_than_m}; x0 - xstar times {m}*{more_than_m}/(L*(L + {m}))",
    )  # fmt: skip


APART = axiom("apart", None, "cauchy", "x0", "xstar")
BY_NORMS = (*SEEN, *NOISY, APART, by_norms("mu"), combined("all", None, {**AT_LONGEST, "by norms": "1"}))
FAR, TWICE = "sqrt(max(3, kappa))*sqrt(2*r**2 + sigma**2/L**2)", "(2*r**2 + sigma**2/L**2)"


def kept(m, larger):
    """The ball of theorem-2 is kept, where L/m <= max(3, L/mu)."""
    return (
        by_norms(m),
        combined(
            "longest stays", f"norm2(x0) + 2*r**2 - (norm(x0) - norm(xstar))**2*{m}/L + sigma**2/L**2 <= R**2",
            f"{larger} times {m}/L*{TWICE}; "
            f"norm(x0) <= R times ((L - 3*{m}) + 2*{m})/L*(R + norm(x0)) + {m}/L*(r + norm(xstar)); "
            f"{A2} times {m}/L*(({FAR} - r) + norm(x0) + (r - norm(xstar)))",
        ),
        combined(
            "stays", None, "round; by norms times eta*L; longest stays times eta*L; inside times 1 - eta*L",
            "E: g[0] times eta*(1 - eta*L)/L",
        ),
    )  # fmt: skip


STAYS = (
    *SEEN, *NOISY, APART,
    power("inside", "norm(x0) <= R", "2", "norm2(x0) <= R**2"),
    axiom("three", "3 <= max(3, kappa)", "max", "3", "kappa"),
    axiom("condition", "kappa <= max(3, kappa)", "max", "3", "kappa"),
    combined("far squared", f"r**2 <= max(3, kappa)*{TWICE}", f"three times {TWICE}", "r times 5; sigma times 3/L**2"),
    root("far", "far squared", f"r <= {FAR}"),
    cases(
        "squares", "E(norm2(x[1])) <= R**2", "L <= 3*mu",
        [
            combined(
                "slope", "dot(x0 - xstar, grad(f, x0)) <= L*norm2(x0 - xstar)",
                "above f (x0, xstar); above f (xstar, x0); zero f (x0 - xstar)",
            ),
            combined(
                "less curved",
                "(L/3 + L)*dot(x0 - xstar, grad(f, x0)) >= norm2(grad(f, x0)) + L/3*L*norm2(x0 - xstar)",
                "curved; slope times mu - L/3",
            ),
            *kept("(L/3)", "three"),
        ],
        [*kept("mu", "condition")],
    ),
    root("all", "squares"),
)  # fmt: skip


def contracting(f, x, xstar):
    """A step of length 1/L without noise: norm2(x - grad/L) <= (L - mu)/(L + mu)*norm2(x) + norm2(xstar)."""
    g, away = f"grad({f}, {x})", f"({x} - {xstar})"
    between, rest = f"((L - mu)/(2*L)*{x} + (L + mu)/(2*L)*{xstar})", f"({g} - (L + mu)/2*{away})"
    at_minimiser = "zero" if f == "f" else "zero n"
    return (
        combined(
            "curved", f"(mu + L)*dot({x} - {xstar}, {g}) >= norm2({g}) + mu*L*norm2({x} - {xstar})",
            f"smooth strongly_convex {f} ({x}, {xstar}) times 1/2; "
            f"smooth strongly_convex {f} ({xstar}, {x}) times 1/2; "
            f"{at_minimiser} ((mu + L)*{away} + grad({f}, {xstar}) - 2*{g}) times -1",
        ),
        assumed("curvature", "mu <= L", (f"smooth({f}, L)", f"strongly_convex({f}, mu)"), "curvature"),
        cases(
            "moved", f"norm2({x} - {g}/L) <= (L - mu)/(L + mu)*norm2({x}) + norm2({xstar})", "L <= mu",
            [
                combined("none", f"norm2({rest}) <= 0", f"curved; L <= mu times (L - mu)/4*norm2({away})"),
                zero("nothing", "none", rest, f"({rest}/L**2 - 2*{between}/L)"),
                combined(
                    "on the line", None, "nothing",
                    f"{away} times (L - mu)*(L + mu)/(4*L**2); {x} times (L - mu)**2/(2*L*(L + mu)); "
                    f"{xstar} times (L - mu)/(2*L)",
                ),
            ],
            [
                combined(
                    "in the plane", None, "curved times 2/(L*(L - mu))",
                    f"{rest}/L + (L - mu)/(L + mu)*{between} times (L + mu)/(L - mu)",
                ),
            ],
        ),
    )  # fmt: skip


LEAST_RADIUS = (
    *contracting("f", "x0", "xstar"),
    *NOISY,
    power("inside", "norm(x0) <= R", "2", "norm2(x0) <= R**2"),
    power("near", A2, "2", "norm2(xstar) <= r**2"),
    combined(
        "longest", "norm2(x0 - grad(f, x0)/L) + sigma**2/L**2 <= R**2", "moved; inside times (L - mu)/(L + mu); near",
    ),
    combined(
        "squares", "E(norm2(x[1])) <= R**2", "round; inside times 1 - eta*L; longest times eta*L; noise times eta**2",
        "grad(f, x0) times eta*(1 - eta*L)/L; sigma times eta*(1 - eta*L)/L",
    ),
    root("all", "squares"),
)  # fmt: skip

NOW_SQUARE, LOCAL = "E(norm2(x[k]))", "E(mean_i(norm2(x[k] - eta*grad(f_ni, x[k]))))"


def for_all_time(*local, rate):
    """An open system, from the last line, a bound on a local step, and the rate of contraction in it."""
    return (
        domain("p", "p <= 1"),
        averaged("round", f"E(norm2(x[k+1])) <= p*{LOCAL} + (1 - p)*mean_n({NOW_SQUARE})"),
        power("inside", "norm(x0) <= R", "2", "norm2(x0) <= R**2"),
        power("near", A2_N, "2", "norm2(xstar_n) <= r**2"),
        *local,
        induction(
            "squares",
            f"{NOW_SQUARE} <= R**2",
            [combined("start", None, "inside")],
            [combined("next", None, f"round; local times p; IH times p*({rate}); mean_n: IH times 1 - p")],
        ),
        root("all", "squares"),
    )


SHORT = "1 - eta*L + eta*L*(L - mu)/(L + mu)"
AT_MOST = "eta*(1 - eta*L)/L"
STAYS_FOR_ALL_TIME = for_all_time(
    *contracting("f_n", "x[k]", "xstar_n"),
    combined(
        "local",
        f"{LOCAL} <= ({SHORT})*{NOW_SQUARE} + eta*L*(r**2 + sigma**2/L**2)",
        "E: variance (x[k]) times eta**2; E: moved times eta*L; near times eta*L",
        f"E: grad(f_n, x[k]) times {AT_MOST}; sigma times {AT_MOST}",
    ),
    rate=SHORT,
)
AWAY, BETWEEN = "(x[k] - xstar_n)", "((1 - eta*A)*x[k] + eta*A*xstar_n)"
LEFT = f"(grad(f_n, x[k]) - A*{AWAY})"
AT_STEP_SIZE = for_all_time(
    *contracting("f_n", "x[k]", "xstar_n")[:2],
    combined("room", "A - eta*mu*L >= 0", (), "1 times A*(1 - eta*A); L - mu times eta/4"),
    cases(
        "moved",
        "norm2(x[k] - eta*grad(f_n, x[k])) <= (A - eta*mu*L)*(norm2(x[k])/A + eta/(1 - eta*A)*norm2(xstar_n))",
        "L <= mu",
        [
            combined("none", f"norm2({LEFT}) <= 0", f"curved; L <= mu times (L - mu)/4*norm2({AWAY})"),
            zero("nothing", "none", LEFT, f"(2*eta*{BETWEEN} - eta**2*{LEFT})"),
            combined(
                "on the line",
                None,
                "nothing times -1",
                f"{AWAY} times (1 - eta*A)*eta*A; x[k] times eta*(L - mu)**2/(4*A); "
                "xstar_n times eta**2*(L - mu)**2/(4*(1 - eta*A))",
            ),
        ],
        [
            combined(
                "in the plane",
                None,
                "curved times 4*eta*(A - eta*mu*L)/(L - mu)**2",
                f"{BETWEEN} + 4*(1 - eta*A)*A/(L - mu)**2*{LEFT} times eta*(L - mu)**2/(4*(1 - eta*A)*A)",
            )
        ],
    ),
    combined(
        "local",
        f"{LOCAL} <= (A - eta*mu*L)*({NOW_SQUARE}/A + eta/(1 - eta*A)*r**2) + eta**2*sigma**2",
        "E: moved; E: variance (x[k]) times eta**2; near times eta*(A - eta*mu*L)/(1 - eta*A)",
    ),
    rate="(A - eta*mu*L)/A",
)

ONE_STEP = (*A1, A2, A3, STEP)
FULL = "sqrt((kappa + 1)/2*(r**2 + sigma**2/L**2))"


def radius(label, R, *, more=(), where=(), title, source, remarks, of=sgd, **fields):
    """A radius of stability: one step of SGD on f, or all time of an open system."""
    one = of is sgd
    statement = "sqrt(E(norm2(x[1]))) <= R" if one else "sqrt(E(norm2(x[k]))) <= R"
    assumed = ONE_STEP if one else (*A1_N, A2_N, A3, STEP)
    return claim(
        label, statement, of=of, assuming=(*assumed, *more, "norm(x0) <= R"), where={**(where or KAPPA), "R": R},
        parameters=domains("r", "sigma"), equation="Theorem 2", title=title, source=source, remarks=remarks, **fields,
    )  # fmt: skip


THEOREM_2 = (
    radius(
        "theorem-2", "r + sqrt(max(3, kappa))*sqrt(2*r**2 + sigma**2/L**2)", proof=STAYS,
        title="radius of stability of SGD", source="Theorem 2, Section III-B; proof in Section VI-A",
        remarks=("The printed proof shows one step.", GIVEN),
    ),
    radius(
        "theorem-2/corrected", FULL, proof=LEAST_RADIUS, title="the least radius of stability of SGD",
        source="repair of Theorem 2", amends="theorem-2",
        remarks=(
            "||x - grad f(x)/L||^2 <= (kappa-1)/(kappa+1) ||x||^2 + ||x*||^2 for every x; with the noise the right "
            "side is at most R^2 for ||x|| <= R exactly from its fixed point on. Equality at H with the eigenvalues mu "
            "and L in the plane of x and x*, at the angle of theory.stability.worst_cosine. Lemma 4 for shorter steps.",
            "At eta = 1/L, in two or more dimensions, no smaller R is possible while sigma^2 <= (2 kappa + 1) L^2 r^2. "
            "Beyond, and always in one dimension, the worst x and x* are parallel and the least radius solves ((1-a)R "
            "+ a r)^2 + eta^2 sigma^2 = R^2 with a = eta mu: theory.stability.exact_radius.",
            GIVEN,
        ),
    ),
    radius(
        "theorem-2/corrected-2", FULL, of=open_sgd, proof=STAYS_FOR_ALL_TIME,
        title="one radius for the whole open system and all time", source="repair of Theorem 2 with Proposition 1",
        amends="theorem-2",
        remarks=(
            "The bound of theorem-2/corrected is affine in ||x||^2, so it holds in expectation from any random "
            "iterate, and its fixed point is kept for ever; averages keep it by proposition-1/second-moments.",
            "In two or more dimensions the exact one-step radius, smaller when sigma^2 > (2 kappa+1) L^2 r^2, is kept "
            "for ever as well: the squared worst step is concave in R^2.",
        ),
    ),
    radius(
        "theorem-2/corrected-3", "sqrt(A*(A - eta*mu*L)/((1 - eta*A)*mu*L)*r**2 + eta*A/(mu*L)*sigma**2)", of=open_sgd,
        more=("eta*(mu + L) < 2",), where={"A": "(L + mu)/2"}, proof=AT_STEP_SIZE,
        title="the radius at a given step size", source="repair of Theorem 2", amends="theorem-2",
        remarks=(
            "||x - eta grad f(x)||^2 <= c(1+q) ||x||^2 + (1-c)(1+q) ||x*||^2, by Young's inequality on p - eta e, with "
            "c = 1 - eta(L+mu)/2, s = eta(L-mu)/2, q = s^2/(c(1-c)), p = cx + (1-c)x*, e = g - (L+mu)(x-x*)/2; the "
            "fixed point of what the noise adds. It increases with eta, to theorem-2/corrected-2 at eta = 1/L.",
            "eta (mu + L) < 2 excludes kappa = 1 with eta = 1/L, where the formula is 0/0.",
        ),
    ),
)  # fmt: skip

GRADIENT_NORM = {"gradient_norm": "norm(grad(f, x0))"}
DISTANCE = {"distance2": "norm2(x0 - xstar)"}
BOTH = "gradient_norm**2/L/(1 + 1/kappa) + mu*distance2/(1 + 1/kappa)"
ITERATE = {"iterate_norm": "norm(x0)"}


def equation(number, statement, assuming, where, **fields):
    fields = {"equation": f"({number})", "source": f"({number}), Section VI-A", "kind": "equation", **fields}
    return about_sgd(f"eq{number}", statement, assuming, where=where, remarks=(GIVEN,), **fields)


SECTION_VI_A = (
    claim(
        "lemma-4", "norm(x - eta*D) <= R", vectors=("x", "D"),
        assuming=("norm(x) <= R", "norm(x - D/L) <= R", "eta*L <= 1"), parameters=domains("R"), kind="lemma",
        equation="Lemma 4", title="shorter steps stay in the ball", source="Lemma 4, Section VI-A",
    ),
    equation(
        6, f"E(dot(x0 - xstar, g[0])) >= {BOTH}", A1, {**KAPPA, **GRADIENT_NORM, **DISTANCE},
        title="strong convexity and smoothness at once", parameters={},
    ),
    equation(
        7, f"E(dot(x0, g[0])) >= {BOTH} - r*gradient_norm", (*A1, A2), {**KAPPA, **GRADIENT_NORM, **DISTANCE},
        proof=FROM_ORIGIN, title="the same, seen from the origin", parameters=domains("r"),
    ),
    equation(
        8, "E(norm2(x[1])) == iterate_norm**2 - 2/L*iterate_product + sampled_gradient2/L**2", ("eta == 1/L",),
        {**ITERATE, "iterate_product": "E(dot(x0, g[0]))", "sampled_gradient2": "E(norm2(g[0]))"},
        title="one step, multiplied out", parameters={},
    ),
    equation(
        9, "E(norm2(g[0])) <= sigma**2 + gradient_norm**2", (A3,), GRADIENT_NORM,
        title="the second moment of a sampled gradient", parameters=domains("sigma"),
    ),
    equation(
        10,
        "E(norm2(x[1])) <= iterate_norm**2 + 2*r/L*gradient_norm - (1 - 1/kappa)/(1 + 1/kappa)*gradient_norm**2/L**2"
        " - 2*mu/(L*(1 + 1/kappa))*distance2 + sigma**2/L**2",
        (*A1, A2, A3, "eta == 1/L"), {**KAPPA, **ITERATE, **GRADIENT_NORM, **DISTANCE}, proof=BY_GRADIENT,
        title="one step, by the gradient's norm",
    ),
    equation(
        11, "E(norm2(x[1])) <= iterate_norm**2 + 2*r**2 - (iterate_norm - minimiser_norm)**2/kappa + sigma**2/L**2",
        (*A1, A2, A3, "eta == 1/L", "kappa >= 3"), {**KAPPA, **ITERATE, "minimiser_norm": "norm(xstar)"},
        proof=BY_NORMS, title="one step, by the norms of x and x*",
    ),
)  # fmt: skip

# --- Adam ------------------------------------------------------------------------------------------------------------

CONSTANTS = {
    "kappa": "L/mu",
    "C1": f"1 - 2*mu*eta/{ROOT}",
    "C2": f"2*mu*eta**2*sigma**2*d/(sqrt(eps)*{ROOT})*(1 + beta1)/(1 - beta1) + (L/2 + L*beta1/(1 - beta1))*{LENGTH}",
    "C3": f"eta*beta1/(1 - beta1)*sigma**2/sqrt(eps) - eta*sigma**2/(1 - beta1)*d/{ROOT}",
    "C4": "eta*beta1/(1 - beta1)*sigma**2/sqrt(eps) + eta*sigma**2/(1 - beta1)*d/sqrt(eps)",
    "C5": "(1 + kappa*C1)/(1 - kappa*C1)",
    "one_minus_kappa_C1": "1 - kappa*C1",
}
RADIUS = {"R": "C5*r + sqrt((1 + 3*kappa*C1)/one_minus_kappa_C1**2*r**2 + 2*(C2 + C3 + C1*C4)/(mu - L*C1))"}
BELOW_ONE = Domain(0, 1, upper_open=True)
FACTORS = {"beta1": BELOW_ONE, "beta2": BELOW_ONE, "sigma": NONNEGATIVE}
DOMAINS = {**FACTORS, "r": NONNEGATIVE}
A4 = "max_i(norm(grad(f_ni, x[k]))) <= sigma"
EXISTS, MOMENTS = "one_minus_kappa_C1 > 0", "beta1**2 < beta2"
C1_POSITIVE, C2_POSITIVE = "C1 > 0", "C2 > 0"
FIRST = "The states are those of Adam's own start, h^0 = 0 and vhat^0 = 0; E is over all draws up to the step."


def some(*names):
    return {name: CONSTANTS[name] for name in names}


NOW, AFTER = worth("x[k]", "z[k]", "q[k]", "s[k]"), worth("x[k+1]", "x[k]", "p[k]", "t[k]")
CHOICE = {"c": "eta*beta1/(1 - beta1)", "b": "eta*sigma**2/(1 - beta1)"}
LYAPUNOV = {**CHOICE, "lyapunov": f"E({NOW})"}


def with_factors(one, remarks=(), proof=None):
    """With what Lemma 8 of [21], which (25) cites, needs of the factors of the moments."""
    return replace(
        one,
        label=f"{one.label}/with-moment-factors",
        title=f"{one.title}, beta1^2 < beta2",
        assuming=(*one.assuming, MOMENTS),
        remarks=(*remarks, FIRST),
        proof=proof,
        given=(),
    )


# just above C1 = C2 = 0, where beta1^2 > beta2 makes a term of C2 negative; f_n(x) = (x - r)^2/2
SMALL_CONSTANTS = {
    "algorithm": "open-fl/adam",
    "parameters": {"eta": "1077/2000", "beta1": "9/10", "beta2": "2497/10000", "eps": 1},
    "problem": {"clients": [[{"h": 1, "a": "273/1250"}]]}, "start": "23/1250", "rounds": 8,
    "constants": {"L": 1, "mu": 1, "sigma": "2/5", "r": "273/1250"},
}  # fmt: skip
THEOREM_3 = claim(
    "theorem-3", "sqrt(E(norm2(x[K]))) <= R", of=adam, assuming=(*A1_N, A2_N, STEP, A4, EXISTS, "norm(x[K-1]) <= R"),
    standing=(C1_POSITIVE, C2_POSITIVE), where={**CONSTANTS, **RADIUS}, parameters=DOMAINS, equation="(5)",
    given=(SMALL_CONSTANTS,), title="radius of stability of local Adam",
    source="section III-C, Theorem 3; proof in section VI-B; constants in (12)",
    remarks=(
        "Assumption 4 is printed for the iterates. Read so, it alone gives ||x^k - x*|| <= sigma/mu: "
        "theorem-3/corrected has a radius that needs neither (5) nor its conditions. Other readings are everywhere "
        "(theorem-3/everywhere) and on the ball (theorem-3/on-the-ball).",
        "With C1 < 0 the square root in (5) may have no real value; the proof multiplies (16) by C1, so it needs C1 >= "
        "0, which Lemma 5 says.",
        "(25) needs beta1^2 < beta2, which is stated nowhere: theorem-3/with-moment-factors.",
        "The proof is about two local steps in a row.", FIRST,
    ),
)  # fmt: skip
BALL_GRADIENTS = "bounded_gradients(f_ni, sigma, R)"
ON_THE_BALL = replace(
    THEOREM_3,
    label="theorem-3/on-the-ball",
    title="the same, gradients bounded on the ball of radius R",
    assuming=(*A1_N, A2_N, STEP, BALL_GRADIENTS, "mu*R <= sigma", "beta1 < 1/3", EXISTS, MOMENTS,
              "max_k(norm(x[k])) <= R"),
    proof=proofs.THEOREM_3_ON_BALL, given=(),
    remarks=(
        "A reading of Assumption 4: Definition 1 speaks of every x^k in B(0,R), so the bound is needed on that ball.",
        "mu R <= sigma follows: the ball has a point at a distance of at least R from x*. With (5) it implies beta1 < "
        "1/3 and kappa < d G/(d G - 1), G = (1+beta1)/((1-beta1)(1-beta2)(1-beta1^2/beta2)): theory.stability"
        ".adam_region says why.",
        FIRST,
    ),
)  # fmt: skip
THEOREM_3_CLAIMS = (
    THEOREM_3,
    with_factors(
        THEOREM_3,
        ("The theorem with what (25) needs of the factors of the moments; the printed constants hide it in C2.",),
        proofs.THEOREM_3,
    ),
    replace(
        THEOREM_3, label="theorem-3/everywhere", title="the same, gradients bounded everywhere",
        assuming=(*A1_N, A2_N, STEP, "bounded_gradients(f_ni, sigma)", EXISTS, MOMENTS, "norm(x[K-1]) <= R"),
        given=(),
        remarks=(
            "A reading of Assumption 4, which does not say what 'bounded' ranges over; it is the usual meaning in the "
            "works that it refers to.",
            FIRST,
        ),
    ),
    ON_THE_BALL,
    replace(
        ON_THE_BALL, label="theorem-3/papers-settings", title="the same, at the factors of the paper's experiments",
        assuming=(*ON_THE_BALL.assuming, "beta1 == 9/10", "beta2 == 999/1000"), proof=None,
        remarks=("theorem-3/on-the-ball at beta1 = 0.9 and beta2 = 0.999 of section IV-A.", FIRST),
    ),
    claim(
        "theorem-3/corrected", "sqrt(E(norm2(x[k]))) <= r + sigma/mu + eta*sigma/sqrt(eps)", of=open_adam,
        assuming=("strongly_convex(f_n, mu)", A2_N, A4), parameters=DOMAINS, proof=proofs.FROM_BOUNDED_GRADIENTS,
        equation="Theorem 3", title="radius of stability of local Adam, from bounded gradients",
        source="repair of Theorem 3", amends="theorem-3",
        remarks=(
            "mu ||x^k - x*|| <= ||grad f(x^k)|| <= sigma; h^{k+1} is a convex combination of h^0 and sampled "
            "gradients, so ||h^{k+1}|| <= sigma, and the step is at most eta ||h^{k+1}||/sqrt(eps). Nothing relates "
            "x^k to x^{k-1}, so a communication does no harm, and averages keep the bound.",
            "It holds for every iterate, not only from the ball to the ball; no C1, no condition on kappa or eta.",
            FIRST,
        ),
    ),
)  # fmt: skip

LEMMA_5 = claim(
    "lemma-5", f"E({AFTER}) <= C1*lyapunov + C2", of=adam, assuming=(*A1_N, STEP, A4, C1_POSITIVE, C2_POSITIVE),
    where={**some("C1", "C2"), **LYAPUNOV}, parameters=FACTORS, kind="lemma", equation="(14)",
    title="contraction of the Lyapunov function of Adam", source="section VI-B, Lemma 5; proof in section VI-C",
    remarks=(
        "The proof does not use the step size, nor C1 > 0.",
        "(25) needs beta1^2 < beta2, which C2 > 0 does not imply: lemma-5/with-moment-factors.", FIRST,
    ),
)  # fmt: skip
AROUND = {
    "now": worth("y[0]", "z[0]", "q[0]", "s[0]").replace("[k]", "[0]"),
    "after": worth("e[0]", "y[0]", "p[0]", "t[0]").replace("[k]", "[0]"),
}
A4_AROUND = tuple(f"max_i(norm(grad(f_ni, {point}))) <= sigma" for point in ("l[0, h]", "z[0]", "y[0]", "e[0]"))
WEIGHTS, SELECTED = {"weight": NONNEGATIVE}, "sum_n(weight_n) > 0"
AFTER_STEP = (
    "x^k is the average that the server has sent, x^{k-1} the client's own iterate before it; h^k = h^{k-1} and vhat^k "
    "= vhat^{k-1}, and the step to x^{k+1} is local. The weights of the average are weight_n, 0 for a client that is "
    "not selected; the clients began with Adam's own start."
)


BOTH_WALK = {  # without noise, f_n(x) = h_n (x - a_n)^2/2
    "algorithm": "open-fl/adam_around",
    "parameters": {"eta": "1/40", "beta1": "3/10", "beta2": "3/10", "eps": 4, "weight": [0, 1], "H": 48},
    "problem": {"clients": [[{"h": 1, "a": -1}], [{"h": "1/10", "a": -50}]]},
    "start": 0,
    "rounds": 1,
    "constants": {"L": 1, "mu": "1/10", "sigma": 5},
}
LEMMA_5_CLAIMS = (
    LEMMA_5,
    with_factors(LEMMA_5, LEMMA_5.remarks[: 1], proofs.LEMMA_5),
    claim(
        "lemma-5/after-communication", f"E({AROUND['after']}) <= C1*lyapunov + C2", of=adam_around,
        assuming=(*A1_N, STEP, *A4_AROUND, C1_POSITIVE, C2_POSITIVE, MOMENTS), standing=(SELECTED,),
        where={**some("C1", "C2"), **CHOICE, "lyapunov": f"E({AROUND['now']})"}, parameters={**FACTORS, **WEIGHTS},
        given=(BOTH_WALK,), kind="lemma", equation="(14)",
        title="contraction of the Lyapunov function of Adam, beta1^2 < beta2, at the local step after a communication",
        source="a reading of Lemma 5, section VI-B",
        remarks=(
            "A reading of Lemma 5: it is stated for every k, and Algorithm 1 mixes local iterations and "
            f"communications. {AFTER_STEP}",
        ),
    ),
)  # fmt: skip

# --- the lines of the two proofs -------------------------------------------------------------------------------------

PROOF_3, PROOF_5 = "section VI-B, proof of Theorem 3", "section VI-C, proof of Lemma 5"
GRADIENT = "grad(f_n, x[k])"
A_PREVIOUS, SQUARED_STEP = "-dot(grad(f_n, z[k]), q[k])", "norm2(x[k] - z[k])"
DROP = "dot(one[k], s[k]) - dot(one[k], t[k])"
WEIGHTED = {"weighted_gradient": f"E(dot({GRADIENT}, exact[k]))"}
PARTS = {
    "I1": f"-beta1*E(dot({GRADIENT}, q[k]))",
    "I2": f"-(1 - beta1)*E(dot({GRADIENT}, sampled[k]))",
    "I3": f"-E(dot({GRADIENT}, p[k] - kept[k]))",
}


def line(label, statement, assuming=(), **fields):
    number = label.split("/")[0].removeprefix("eq")
    source = PROOF_3 if int(number) < 20 else PROOF_5
    fields = {"of": adam, "parameters": FACTORS, "remarks": (FIRST,), **fields}
    fields["parameters"] = dict(fields["parameters"])
    return claim(label, statement, assuming=assuming, kind="equation", equation=f"({number})", source=source, **fields)


ONLY_BETA = {"beta1": BELOW_ONE, "beta2": BELOW_ONE}
EQ17 = line(
    "eq17",
    "E(norm2(x[k+1] - xstar_n)) <= L/mu*C1*squared_distance + 2/mu*(C2 + C3 + C1*C4)",
    (*A1_N, A4),
    standing=(C1_POSITIVE, C2_POSITIVE),
    where={**some("C1", "C2", "C3", "C4"), "squared_distance": "E(norm2(x[k] - xstar_n))"},
    title="one step of the distance",
)
EQ22 = line(
    "eq22",
    "I1 <= beta1*A_previous + beta1*L/eta*squared_step",
    ("smooth(f_n, L)",),
    where={"I1": f"-beta1*dot({GRADIENT}, q[k])", "A_previous": A_PREVIOUS, "squared_step": SQUARED_STEP},
    parameters=ONLY_BETA,
    proof=proofs.EQ22,
    title="the first part: momentum",
)
EQ25 = line(
    "eq25",
    f"E({AFTER}) - E({NOW}) <= L/2*{LENGTH} - c*A_previous - b*inverse_root_drop + (eta + c)*(beta1*A_previous"
    f" + beta1*L/eta*{LENGTH} - (1 - beta1)*weighted_gradient + sigma**2*inverse_root_drop)",
    ("smooth(f_n, L)", A4),
    where={"A_previous": f"E({A_PREVIOUS})", **WEIGHTED, "inverse_root_drop": f"E({DROP})"},
    parameters={**FACTORS, "b": NONNEGATIVE, "c": NONNEGATIVE},
    title="one step of the Lyapunov function, for any b and c",
)
EQ26 = line(
    "eq26",
    f"E({AFTER}) <= lyapunov + (L/2 + (eta + c)*beta1*L/eta)*{LENGTH} - (eta + c)*(1 - beta1)*weighted_gradient",
    ("smooth(f_n, L)", A4),
    where={**LYAPUNOV, **WEIGHTED},
    title="one step of the Lyapunov function, with the paper's b and c",
    remarks=("The first line of the chain (26), whose last is (14), lemma-5.", FIRST),
)
ENOUGH = (
    "mean_n(norm2(y_n)) <= kappa*C1*norm2(x - s) + offset",
    "norm(x) <= R",
    "norm(s) <= r",
    "kappa*C1*(R + r)**2 + offset <= R**2 - 2*r*R",
)
WITHIN = "R + r + norm(x) + norm(s)"
SUFFICIENT = (
    cases(
        "room", "r <= R", "2*r <= R", [combined("twice", None, "2*r <= R", "1 times r")],
        [
            combined("none", "offset <= 0", f"{ENOUGH[3]}; R <= 2*r times R", "R + r times kappa*C1"),
            combined("so", None, "none times r/offset", "1 times R"),
        ],
    ),
    axiom("cauchy", None, "cauchy", "-x", "s"),
    combined(
        "away", "norm2(x - s) <= (R + r)**2",
        f"cauchy times 2; {ENOUGH[1]} times {WITHIN}; {ENOUGH[2]} times {WITHIN}",
    ),
    combined("spread", "mean_n(norm2(y_n)) <= R**2 - 2*r*R", f"{ENOUGH[0]}; away times kappa*C1; {ENOUGH[3]}"),
    combined("moved", "norm2(mean_n(y_n)) <= (R - r)**2", "spread", "mean_n: y_n - mean_n(y_n); r"),
    root("near", "moved", "norm(mean_n(y_n)) <= R - r"),
    axiom("towards", None, "cauchy", "mean_n(y_n)", "s"),
    combined(
        "all", None, f"spread; towards times 2; near times 2*norm(s); {ENOUGH[2]} times 2*R + norm(s)",
        "1 times r*norm(s)",
    ),
)  # fmt: skip
OFFSET = "2*(C2 + C3 + C1*C4)/mu"
UNDER = f"(1 + a)**2*r**2 + (1 - a)*(a*r**2 + {OFFSET})"
UNDER_19 = "(1 + 3*L/mu*C1)/(1 - L/mu*C1)**2*r**2 + 2*(C2 + C3 + C1*C4)/(mu - L*C1)"
LINES = (
    line(
        "eq15", "norm2(x[k] - xstar_n) <= 2/mu*(lyapunov + C3)", ("strongly_convex(f_n, mu)", A4),
        where={**some("C3"), **CHOICE, "lyapunov": NOW}, proof=proofs.EQ15,
        title="the distance from above by the Lyapunov function",
    ),
    line(
        "eq16", "norm2(x[k] - xstar_n) >= 2/L*(lyapunov - C4)", ("smooth(f_n, L)", A4),
        where={**some("C4"), **CHOICE, "lyapunov": NOW}, proof=proofs.EQ16,
        title="the distance from below by the Lyapunov function",
    ),
    EQ17,
    with_factors(EQ17, proof=proofs.EQ17),
    line(
        "eq18", "mean_n(norm2(y_n + s)) <= R**2", ENOUGH, of=None, vectors=("x", "s", "y_n"),
        parameters={"kappa": Domain(1, None), "C1": BELOW_ONE, "r": NONNEGATIVE, "R": NONNEGATIVE}, proof=SUFFICIENT,
        title="a sufficient condition on the radius",
        remarks=("s is x*, and y_n the values of x^{k+1} - x*, one as likely as the other: the mean is E given x^k.",),
    ),
    line(
        "eq19", f"R == (1 + L/mu*C1)/(1 - L/mu*C1)*r + sqrt({UNDER_19})", ("mu <= L", "L*C1 < mu"), of=None,
        standing=("C2 + C3 + C1*C4 >= 0",), where={"a": "L/mu*C1", "R": f"((1 + a)*r + sqrt({UNDER}))/(1 - a)"},
        parameters={"C1": BELOW_ONE, "C2": REAL, "C3": REAL, "C4": REAL, "r": NONNEGATIVE},
        proof=(
            combined("squares", f"{UNDER_19} == ({UNDER})/(1 - a)**2"),
            root("roots", "squares", f"sqrt({UNDER_19}) == sqrt({UNDER})/(1 - a)"),
            combined("all", None, "roots times -1"),
        ),
        title="the radius of Theorem 3",
        remarks=(
            "Left: the larger root in R of (18), which is (1-a) R^2 - 2(1+a) r R - (a r^2 + (2/mu)(C2+C3+C1 C4)) >= 0 "
            "with a = kappa C1, by the formula for quadratic equations. Right: as printed.",
        ),
    ),
    line(
        "eq20", "f(x - eta*q) - f(x) <= L/2*next_squared_step + eta*expected_descent", ("smooth(f, L)",), of=None,
        vectors=("x", "q"), where={"next_squared_step": "norm2(eta*q)", "expected_descent": "-dot(grad(f, x), q)"},
        parameters={}, title="one step of the cost",
        remarks=("x is x^k, q is D^{k+1} h^{k+1}, and so x - eta q is x^{k+1}.",),
    ),
    line(
        "eq21", f"-E(dot({GRADIENT}, p[k])) == I1 + I2 + I3", where=PARTS, parameters=ONLY_BETA, proof=proofs.EQ21,
        title="A^k in three parts",
    ),
    EQ22,
    claim(
        "eq22/after-communication", "I1 <= beta1*A_previous + beta1*L/eta*squared_step", of=adam_around,
        assuming=("smooth(f_n, L)",), standing=(SELECTED,),
        where={
            "I1": "-beta1*dot(grad(f_n, y[0]), q[0])", "A_previous": "-dot(grad(f_n, z[0]), q[0])",
            "squared_step": "norm2(y[0] - z[0])",
        },
        parameters={**ONLY_BETA, **WEIGHTS}, kind="equation", equation="(22)",
        title="the first part: momentum, at the local step after a communication",
        source="a reading of (22), section VI-C",
        remarks=(f"A reading of (22), which is stated for every k. {AFTER_STEP}",),
    ),
    line(
        "eq23", "I2 == -(1 - beta1)*weighted_gradient", where={"I2": PARTS["I2"], **WEIGHTED}, parameters=ONLY_BETA,
        title="the second part: the gradient",
    ),
    line(
        "eq24", "I3 <= sigma**2*inverse_root_drop", (A4,),
        where={"I3": PARTS["I3"], "inverse_root_drop": f"E({DROP})"}, proof=proofs.EQ24,
        title="the third part: the scaling",
    ),
    line(
        "eq25/step-length", f"norm2(x[k+1] - x[k]) <= {LENGTH}", (MOMENTS,), parameters=ONLY_BETA,
        proof=proofs.STEP_LENGTH, title="the step length that (25) cites",
        remarks=(
            "Lemma 8 of [21], as (25) uses it. By Cauchy-Schwarz: h^{k+1} = (1-beta1) sum_j beta1^{k-j} g_j, "
            "vhat^{k+1} >= (1-beta2) sum_j beta2^{k-j} g_j^2, so h^2/(eps+vhat) <= (1-beta1)^2/((1-beta2)(1-beta1^2/"
            "beta2)) in each coordinate; (1-beta1)^2 is left out.",
        ),
    ),
    EQ25,
    with_factors(EQ25, proof=proofs.EQ25),
    EQ26,
    with_factors(EQ26, EQ26.remarks[: 1], proofs.EQ25),
)  # fmt: skip

# From which lines the paper has its results, as its proofs cite them.
RESTS_ON = {
    "eq7": "eq6", "eq10": "eq7 eq8 eq9", "eq11": "eq10", "theorem-2": "lemma-4 eq11",
    "eq25": "eq20 eq21 eq22 eq23 eq24", "eq26": "eq25", "lemma-5": "eq26",
    "eq17": "lemma-5 eq15 eq16", "eq18": "eq17", "eq19": "eq18", "theorem-3": "eq19",
}  # fmt: skip

PAPER = Paper(
    name="open-fl",
    title="On the Stability Analysis of Open Federated Learning Systems",
    authors="Youbang Sun, Heshan Fernando, Tianyi Chen, Shahin Shahrampour",
    claims=(*DEFINITION, *THEOREM_2, *SECTION_VI_A, *THEOREM_3_CLAIMS, *LEMMA_5_CLAIMS, *LINES),
    experiments="examples.open_fl",
    rests_on=RESTS_ON,
)
