"""Theorems about parallel SGD with a power too many, a bound that is attained, and sides without a value."""

from theory import Paper, algorithm, claim


@algorithm
def parallel_sgd(w, x, *, delta):
    return x - delta * w.mean(w.gradient(x, w.sample()))


@algorithm
def local_sgd(w, x, *, delta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - delta * w.gradient(y, w.sample())
    return w.mean(y)


SMOOTH = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f_n, mu)")
ASSUMED = (*SMOOTH, "delta <= 1/(2*L)")
QUIET = (*ASSUMED, "noise <= 0")
WHERE = {
    "R2": "norm2(x0 - xstar)",
    "noise": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))",
    "zeta2": "mean_n(norm2(grad(f_n, xstar)))",
    "G2": "max_k(E(mean_n(mean_i(norm2(grad(f_ni, x[k]))))))",
}
DISTANCE, GAP, SLOPE = "E(norm2(x[k] - xstar))", "E(f(x[k]) - fstar)", "E(norm2(grad(f, x[k])))"
LOCAL = "(1 - delta*mu)**(H*k)*R2"


def made(label, left, right, of=parallel_sgd, assuming=ASSUMED):
    texts = (right, *assuming)
    where = {name: text for name, text in WHERE.items() if any(name in t for t in texts)}
    return claim(label, f"{left} <= {right}", of=of, assuming=assuming, where=where)


BALL = "2*delta*noise/mu"
WRONG = (
    made("start-squared", DISTANCE, f"(1 - delta*mu)**k*R2**2 + {BALL}"),
    made("noise-squared", DISTANCE, "(1 - delta*mu)**k*R2 + 2*delta*noise**2/mu"),
    made("step-squared", DISTANCE, "(1 - delta*mu)**k*R2 + 2*delta**2*noise/mu"),
    made("mu-squared", DISTANCE, f"(1 - delta*mu**2)**k*R2 + {BALL}"),
    made("moment-squared", DISTANCE, "(1 - delta*mu)**k*R2 + delta*G2**2/mu"),
    made("smoothness-squared", GAP, "L**2/2*(1 - delta*mu)**k*R2 + L**2*delta*noise/mu"),
    made("smoothness-once", SLOPE, "L*R2 + L*delta*noise"),
    made("several-steps", DISTANCE, f"(1 - delta*mu)**k*R2**2 + {BALL} + 100*H**2*delta*zeta2/mu**2", of=local_sgd),
    made("drift", DISTANCE, f"{LOCAL} + delta**2*H*zeta2/mu**2", of=local_sgd,
         assuming=(*SMOOTH, "delta*L*H <= 1", "noise <= 0")),
    made("quarter", DISTANCE, "R2/4"),
    made("too-fast-behind-a-factor", DISTANCE, "1000*(1 - delta*mu)**(3*k)*R2", assuming=QUIET),
    made("shaved", DISTANCE, "(1 - 1/2**40)*(1 - delta*mu)**(2*k)*R2", assuming=(*QUIET, "mu == L")),
    made("largest-curvature", DISTANCE, "(1 - delta*L)**(2*k)*R2", assuming=QUIET),
)  # fmt: skip
ATTAINED = made("attained", DISTANCE, "(1 - delta*mu)**(2*k)*R2", assuming=(*QUIET, "mu == L"))
UNDEFINED = (
    made("root", DISTANCE, f"R2 + {BALL} + sqrt(1 - L)"),
    made("pole", DISTANCE, f"R2 + {BALL} + 1/(1 - L)**2"),
    made("pole-at-one-round", "mean_k(E(norm2(grad(f, x[k]))))", f"L**2*(R2 + {BALL}) + 1/(K - 1)**2"),
)
DEFINED = (
    made("power", DISTANCE, f"2**k*(R2 + {BALL})"),
    made("largest", DISTANCE, f"max(R2, 1) + {BALL}"),
    made("size", DISTANCE, f"abs(R2 - 1/2) + 1 + {BALL}"),
    made("overflow", DISTANCE, f"exp(10**4*(1 + R2)) + {BALL}"),
)
NEVER = made("never", DISTANCE, "R2 + sqrt(-1 - L)")
PAPER = Paper("units", "Units", "a reader", (*WRONG, ATTAINED, *UNDEFINED, *DEFINED, NEVER))
