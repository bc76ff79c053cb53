"""Claims that functions with a knee decide, which has to lie where the step ends: f' = L x up to it, then flat."""

from theory import Paper, algorithm, claim


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))


@algorithm
def proximal(w, x, *, t):
    return w.mean(w.prox(x, t))


@algorithm
def one_sample(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def one_client(w, x, *, eta):
    return x - eta * w.average(w.gradient(x), w.choose(1))


R = "norm2(x0 - xstar)"
ONE, EACH = ("smooth(f, L)", "convex(f)"), ("smooth(f_n, L)", "convex(f_n)")
SHARP = f"f(x[1]) - fstar <= L*{R}*(1/(4*eta*L + 2)"

CLAIMS = (
    # TRUE because the worst case of a step eta <= 1/L is L R/(4 eta L + 2) (Drori, Teboulle 2014).
    claim("sharp", f"{SHARP} + (eta*L - 3/10)**2)", of=descent, assuming=(*ONE, "eta <= 1/L")),
    # FALSE because of a knee at 5/8 from x0 = 1, at eta = 3/(10 L).
    claim("window", f"{SHARP} + (eta*L - 3/10)**2 - 1/2000)", of=descent, assuming=(*ONE, "eta <= 1/L")),
    # FALSE because of a knee at 5/11 from x0 = 1, at eta = 3/(5 L).
    claim("window-late", f"{SHARP} + (eta*L - 3/5)**2 - 1/100)", of=descent, assuming=(*ONE, "eta <= 1/L")),
    # TRUE as sharp: the worst case is L R/3.2.
    claim("four-sharp", f"f(x[1]) - fstar <= L/3.2*{R}", of=descent, assuming=(*ONE, "eta == 3/(10*L)", "N >= 4")),
    # FALSE because of a knee at 5/8, every client the same.
    claim("four", f"f(x[1]) - fstar <= L/3.3*{R}", of=descent, assuming=(*ONE, "eta == 3/(10*L)", "N >= 4")),
    # FALSE because of a knee at 5/8, every client the same.
    claim("four-each", f"f(x[1]) - fstar <= L/3.4*{R}", of=descent, assuming=(*EACH, "eta == 3/(10*L)", "N >= 4")),
    # FALSE because of a knee at 10/13, every client the same.
    claim("slope", "norm2(grad(f, x[1])) <= 1.22*L*(f(x0) - fstar)", of=descent,
          assuming=(*ONE, "eta == 3/(10*L)", "N >= 4")),
    # FALSE because of a knee at 5/18: the worst case is R/(4 t) = L R/5.2, and with L smooth L R/(4 t L + 2) = L R/7.2.
    claim("proximal-root", "sqrt(f(x[1]) - fstar) <= sqrt(L/7.5)*norm(x0 - xstar)", of=proximal,
          assuming=(*ONE, "N == 1", "t == 13/(10*L)")),
    # FALSE because of a knee at 1/3, K = 1, every client the same.
    claim("last", f"f(x[K]) - fstar <= L*{R}/(4.15*K + 2)", of=descent, assuming=(*EACH, "N >= 4", "eta == 1/L")),
    # FALSE because of a knee at 1/3, every client the same.
    claim("last-of-four", f"f(x[1]) - fstar <= L*{R}/6.5", of=descent, assuming=(*EACH, "N == 4", "eta == 1/L")),
    # FALSE because of a knee at 1/(2K + 1), five rounds: the worst case is L R/(4 K + 2).
    claim("last-after-five", f"f(x[K]) - fstar <= L*{R}/(4*K + 2.2)", of=descent,
          assuming=(*ONE, "eta == 1/L", "K >= 5")),
    # FALSE because of a knee at 1/12, ten rounds, every client the same.
    claim("average", f"f(mean_k(x[k+1])) - fstar <= L*{R}/(2.2*K + 3.7)", of=descent,
          assuming=(*EACH, "N >= 4", "eta == 1/L")),
    # FALSE because of a knee at 3/5, every client the same.
    claim("third", f"f(x[1]) - fstar <= L*{R}/3.5", of=descent, assuming=(*EACH, "N >= 4", "eta == 1/(3*L)")),
    # FALSE because of a knee at 1/50 at K = G = eta = 1: almost G |x|, of which it is the worst case.
    claim("subgradient", f"mean_k(f(x[k]) - fstar) <= 0.97*({R}/(2*eta*K) + eta*G**2/2)", of=descent,
          assuming=("convex(f_n)", "bounded_gradients(f_n, G)", "N >= 4")),
    # FALSE because samples may be the same, with a knee at 1/3.
    claim("same-samples", f"E(f(x[1]) - fstar) <= L*{R}/6.2 + eta*s2", of=one_sample,
          assuming=(*ONE, "bounded_variance(s2)", "eta == 1/L")),
    # FALSE because clients may be the same, with a knee at 1/3.
    claim("same-clients", f"E(f(x[1]) - fstar) <= L*{R}/6.3 + 2*eta*mean_n(norm2(grad(f_n, xstar)))", of=one_client,
          assuming=(*EACH, "eta == 1/L")),
    # FALSE because of a knee at 1/3 along one of the coordinates.
    claim("in-the-plane", f"f(x[1]) - fstar <= L*{R}/6.4", of=descent, assuming=(*ONE, "eta == 1/L", "d >= 2")),
    # FALSE because a function that is flat in the other coordinate does as well.
    claim("proximal-in-space", f"f(x[1]) - fstar <= {R}/(4.1*t)", of=proximal,
          assuming=("convex(f_n)", "N == 1", "d == 3")),
)  # fmt: skip

PAPER = Paper("knees", "Functions with a knee", "readers", CLAIMS)
