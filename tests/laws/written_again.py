"""Claims of others written again by a reader: other symbols, the programs in other steps, the sentences in other words.

Nothing here is imported from them. `OF` says which claim of the language's examples each one is; it is read by the test
of the law, and by nothing else. The last two are SCAFFOLD with a control variate of the server's own, and the same with
the factor S/N lost where the server follows its clients' mean.
"""

from theory import Paper, algorithm, claim


@algorithm
def averaged(w, v, *, step):
    """Parallel SGD: every client steps from a copy, and the server takes the mean of the models."""
    own = w.each(v)
    i = w.sample()
    return w.mean(own - step * w.gradient(own, i))


@algorithm(v="each x0", shift="each 0")
def skipping(w, v, shift, *, lr, chance):
    """ProxSkip, the means taken apart."""
    step = lr * w.gradient(v)
    forward = v + lr * shift - step
    told = w.coin(chance)
    together = w.mean(forward) - lr / chance * w.mean(shift)
    after = w.where(told, w.each(together), forward)
    return after, shift - chance / lr * forward + chance / lr * after


@algorithm(v="x0", control="each grad(f_n, x0)")
def controlled(w, v, control, *, lr, far, turns, several):
    """SCAFFOLD, corrected gradients first, and its new controls from the whole path."""
    there = w.choose(several)
    correction = w.mean(control) - control
    path = 0 * w.each(v)
    for _ in w.repeat(turns):
        path = path + w.gradient(v - lr * path) + correction
    fresh = path / turns - correction
    return v - far * lr * w.average(path, there), w.where(there, fresh, control)


@algorithm
def uncontrolled(w, v, *, lr, turns, several):
    there = w.choose(several)
    path = 0 * w.each(v)
    for _ in w.repeat(turns):
        path = path + w.gradient(v - lr * path)
    return v - lr * w.average(path, there)


@algorithm
def sparse(w, v, *, step, kept):
    own = w.each(v)
    return w.mean(own - step * w.keep(w.gradient(own), kept))


@algorithm(v="x0", old="x0")
def loopless(w, v, old, *, step, chance):
    renewed = w.coin(chance)
    i = w.sample()
    noise = w.gradient(old, i) - w.full_gradient(old)
    return v + step * w.mean(noise) - step * w.mean(w.gradient(v, i)), renewed * v + (1 - renewed) * old


@algorithm(v="x0", server="grad(f, x0)", own="each grad(f_n, x0)")
def scaffold(w, v, server, own, *, lr, turns, S, N):
    there = w.choose(S)
    y = w.each(v)
    for _ in w.repeat(turns):
        y = y - lr * (w.gradient(y) - own + server)
    fresh = own - server + (v - y) / (turns * lr)
    moved = w.average(fresh - own, there)
    return v + w.average(y - v, there), server + S / N * moved, w.where(there, fresh, own)


@algorithm(v="x0", server="grad(f, x0)", own="each grad(f_n, x0)")
def scaffold_lost(w, v, server, own, *, lr, turns, S, N):
    there = w.choose(S)
    y = w.each(v)
    for _ in w.repeat(turns):
        y = y - lr * (w.gradient(y) - own + server)
    fresh = own - server + (v - y) / (turns * lr)
    moved = w.average(fresh - own, there)
    return v + w.average(y - v, there), server + moved, w.where(there, fresh, own)


EACH = ("smooth(f_ni, M)", "convex(f_ni)", "strongly_convex(f, m)", "step <= 1/(2*M)")
DICE = {"dice": "mean_n(mean_i(norm2(grad(f_ni, xstar)))) - mean_n(norm2(grad(f_n, xstar)))"}
FAR = "E(norm2(xstar - v[{}]))"
PROX = ("smooth(f_n, M)", "strongly_convex(f_n, m)", "lr*M <= 1", "chance <= 1")
PSI = "mean_n(E(norm2(xstar - v[{k}]))) + (lr/chance)**2*mean_n(E(norm2(grad(f_n, xstar) - shift[{k}])))"
STILL = ("smooth(f_n, M)", "strongly_convex(f_n, m)", "lr <= 1/M", "norm2(x0 - xstar) <= 0")
SPARSE = ("smooth(f_n, M)", "convex(f_n)", "strongly_convex(f, m)", "kept <= d", "step*M*(1 + 2*more/N) <= 1")
SPREAD = {"more": "(d - kept)/kept", "spread": "mean_n(norm2(grad(f_n, xstar)))"}
LOOPLESS = ("smooth(f_ni, M)", "convex(f_ni)", "strongly_convex(f, m)", "6*step*M <= 1", "chance <= 1", "N == 1")
PHI = "E(norm2(xstar - v[{k}])) + (2*step)**2/chance*mean_n(mean_i(E(norm2(grad(f_ni, old[{k}]) - grad(f_ni, xstar)))))"
COCOERCIVE = "norm2(grad(f, a) - grad(f, b)) <= M*dot(a - b, grad(f, a) - grad(f, b))"


def prox(label, rate):
    return claim(label, f"{PSI.format(k='k+1')} <= (1 - {rate})*({PSI.format(k='k')})", of=skipping, assuming=PROX)


def phi(label, rate):
    return claim(label, f"{PHI.format(k='k+1')} <= {rate}*({PHI.format(k='k')})", of=loopless, assuming=LOOPLESS)


def follows(label, of):
    """The server's control is the mean of its clients', whatever was drawn."""
    assuming = ("smooth(f_n, M)", "convex(f_n)", "lr <= 1/M", "S <= N")
    return claim(label, "E(norm2(server[k] - mean_n(own[k]))) <= 0", of=of, assuming=assuming)


FOLLOWS, LOST = follows("follows", scaffold), follows("follows-without-the-factor", scaffold_lost)
CLAIMS = (
    claim(
        "next", f"{FAR.format('k+1')} <= (1 - m*step)*{FAR.format('k')} + 2*dice*step**2/N",
        of=averaged, assuming=EACH, where=DICE,
    ),
    claim(
        "all", f"{FAR.format('k')} <= norm2(xstar - x0)*(1 - m*step)**k + 2*step/m*dice/N",
        of=averaged, assuming=EACH, where=DICE,
    ),
    claim(
        "short", f"{FAR.format('k')} <= norm2(xstar - x0)*(1 - m*step)**k + 2*step*step*dice/N",
        of=averaged, assuming=EACH, where=DICE,
    ),
    prox("skip", "min(lr*m, chance**2)"),
    prox("skip-fast", "min(lr*m, chance)"),
    claim("controlled-stays", f"{FAR.format('k')} <= 0", of=controlled, assuming=STILL),
    claim("uncontrolled-stays", f"{FAR.format('k')} <= 0", of=uncontrolled, assuming=STILL),
    claim(
        "sparse", f"{FAR.format('k+1')} <= {FAR.format('k')} - m*step*{FAR.format('k')} + 2*more*spread*step**2/N",
        of=sparse, assuming=SPARSE, where=SPREAD,
    ),
    claim(
        "sparse-alone", f"{FAR.format('k+1')} <= {FAR.format('k')} - m*step*{FAR.format('k')}",
        of=sparse, assuming=SPARSE, where=SPREAD,
    ),
    phi("loopless", "max(1 - step*m, 1 - chance/2)"),
    phi("loopless-fast", "max(1 - 2*step*m, 1 - chance)"),
    claim("two", "norm2(u + v) <= norm2(u) + t*norm2(u) + norm2(v) + norm2(v)/t", vectors=("u", "v")),
    claim("turned", "mean_n(norm2(v_n)) <= N*norm2(mean_n(v_n))", vectors=("v_n",)),
    claim("curved", COCOERCIVE, vectors=("a", "b"), assuming=("convex(f)", "smooth(f, M)")),
    claim("bent", COCOERCIVE, vectors=("a", "b"), assuming=("smooth(f, M)",)),
)  # fmt: skip
OF = dict(zip(
    (c.label for c in CLAIMS),
    ("noise-ball/one-step", "noise-ball/noise-ball", "noise-ball/lost-factor", "proxskip/lyapunov", "proxskip/too-fast",
     "scaffold/stays", "scaffold/fedavg-stays", "compression/ball", "compression/no-spread", "lsvrg/lyapunov",
     "lsvrg/too-fast", "vectors/young", "vectors/wrong-way", "vectors/cocoercive", "vectors/without-convexity"),
    strict=True,
))  # fmt: skip
PAPER = Paper("again", "Claims of others, written again", "a reader", (*CLAIMS, FOLLOWS, LOST))
