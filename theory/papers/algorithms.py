"""The field's algorithms, each as one round in the language; any of them may be the `of` of a claim."""

from theory.papers.fedavg_svrg import fedavg_svrg as fedavg_svrg
from theory.papers.fedmim import fedmim as fedmim
from theory.program import algorithm

# one function, or its samples


@algorithm
def gradient_descent(w, x, *, eta):
    """Cauchy: Methode generale pour la resolution des systemes d'equations simultanees (1847)."""
    return x - eta * w.full_gradient(x)


@algorithm(x="x0", z="x0")
def heavy_ball(w, x, z, *, alpha, beta):
    """Polyak: Some Methods of Speeding up the Convergence of Iteration Methods (1964); z is the last x."""
    return x - alpha * w.full_gradient(x) + beta * (x - z), x


@algorithm(x="x0", z="x0")
def nesterov(w, x, z, *, eta, beta):
    """Nesterov: Introductory Lectures on Convex Optimization (2004), scheme (2.2.11); beta may be a schedule."""
    y = x + beta * (x - z)
    return y - eta * w.full_gradient(y), x


@algorithm
def sgd(w, x, *, eta, b=1):
    """Robbins, Monro: A Stochastic Approximation Method (1951); b samples a client, drawn with replacement."""
    return x - eta * w.mean(w.gradient(x, w.sample(b)))


@algorithm
def clipped_sgd(w, x, *, eta, radius):
    """Zhang, He, Sra, Jadbabaie: Why Gradient Clipping Accelerates Training (ICLR 2020), (5) with samples."""
    return x - eta * w.clip(w.mean(w.gradient(x, w.sample())), radius)


@algorithm
def svrg(w, x, *, eta, H):
    """Johnson, Zhang: Accelerating Stochastic Gradient Descent using Predictive Variance Reduction (2013), option I."""
    full = w.full_gradient(x)
    y = x
    for _ in w.repeat(H):
        i = w.sample()
        y = y - eta * (w.mean(w.gradient(y, i) - w.gradient(x, i)) + full)
    return y


@algorithm(x="x0", s="x0")
def lsvrg(w, x, s, *, eta, p):
    """Kovalev, Horvath, Richtarik: Don't Jump Through Hoops and Remove Those Loops (ALT 2020), Algorithm 1."""
    i = w.sample()
    estimate = w.mean(w.gradient(x, i) - w.gradient(s, i)) + w.full_gradient(s)
    return x - eta * estimate, w.where(w.coin(p), x, s)


@algorithm(x="x0", table="table grad(f_ni, x0)")
def saga(w, x, table, *, eta):
    """Defazio, Bach, Lacoste-Julien: SAGA (NeurIPS 2014), (1) without a regulariser; the table holds gradients."""
    i = w.sample()
    gradient = w.gradient(x, i)
    return x - eta * w.mean(gradient - w.get(table, i) + w.get(table)), w.put(table, i, gradient)


@algorithm
def random_reshuffling(w, x, *, eta):
    """Mishchenko, Khaled, Richtarik: Random Reshuffling (NeurIPS 2020), and FedRR (2021) where there are clients."""
    return w.mean(w.pass_over(x, lambda v, i: v - eta * w.gradient(v, i)))


@algorithm
def reshuffled_clients(w, x, *, eta):
    """Mishchenko, Khaled, Richtarik: Random Reshuffling (NeurIPS 2020), Algorithm 1, the clients its components."""
    return w.visit(x, lambda v, one: v - eta * one.gradient(v))


# clients and a server


@algorithm
def local_sgd(w, x, *, eta, H):
    """Stich: Local SGD Converges Fast and Communicates Little (ICLR 2019), Algorithm 1; H steps, then the average."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    return w.mean(y)


@algorithm
def fedavg(w, x, *, eta, H, S):
    """McMahan, Moore, Ramage, Hampson, Aguera y Arcas: Communication-Efficient Learning (AISTATS 2017), Algorithm 1."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    return w.average(y, w.choose(S))


@algorithm
def fedavg_with_replacement(w, x, *, eta, H, S):
    """Li, Huang, Yang, Wang, Zhang: On the Convergence of FedAvg on Non-IID Data (ICLR 2020), scheme I, p_k = 1/N."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    return w.average(y, w.choose(S, replace=True))


@algorithm
def fedavg_coins(w, x, *, eta, H, p):
    """McMahan et al. (AISTATS 2017), Algorithm 1, where client n is there with chance p_n; x stays when nobody is."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    return x + w.average(y - x, w.coins(p))


@algorithm(x="x0", c="each 0")
def scaffold(w, x, c, *, eta, eta_g, H, S):
    """Karimireddy et al.: SCAFFOLD (ICML 2020), Algorithm 1, option II; the server's control is the mean of the c."""
    active, cbar = w.choose(S), w.mean(c)
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * (w.gradient(y, w.sample()) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


@algorithm
def fedprox(w, x, *, mu, S):
    """Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith: FedProx (MLSys 2020), Algorithm 2, exact (gamma = 0), p_k = 1/N."""
    return w.average(w.prox(x, 1 / mu), w.choose(S, replace=True))


@algorithm
def fedlin(w, x, *, eta, H, tau):
    """Mitra, Jaafar, Pappas, Hassani: FedLin (NeurIPS 2021), Algorithm 1, dense; client n takes tau_n <= H steps."""
    own = w.gradient(x)
    full = w.mean(own)
    y = w.each(x)
    for h in w.repeat(H):
        y = y - w.before(h, tau) * eta / tau * (w.gradient(y) - own + full)
    return w.mean(y)


@algorithm(x="x0", g="each 0", h="0")
def feddyn(w, x, g, h, *, alpha, S):
    """Acar, Zhao, Matas, Mattina, Whatmough, Saligrama: FedDyn (ICLR 2021), Algorithm 1; g is the paper's grad L_k."""
    active = w.choose(S)
    moved = w.prox(x + g / alpha, 1 / alpha) - x
    h = h - alpha * w.mean(active * moved)
    return x + w.average(moved, active) - h / alpha, w.where(active, g - alpha * moved, g), h


@algorithm(x="x0", m="0", u="0")
def fedadam(w, x, m, u, *, eta, eta_g, beta1, beta2, tau, H, S):
    """Reddi et al.: Adaptive Federated Optimization (ICLR 2021), Algorithm 2, FedAdam; v = u + beta2**k*tau**2."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    move = w.average(y - x, w.choose(S))
    m = beta1 * m + (1 - beta1) * move
    u = beta2 * u + (1 - beta2) * w.times(move, move)
    v = u + beta2 ** (w.k + 1) * tau**2 * w.ones()
    return x + eta_g * w.over(m, w.sqrt(v) + tau * w.ones()), m, u


@algorithm(x="each x0", h="each 0")
def proxskip(w, x, h, *, gamma, p):
    """Mishchenko, Malinovsky, Stich, Richtarik: ProxSkip (ICML 2022), Algorithm 2 (Scaffnew)."""
    moved = x - gamma * (w.gradient(x) - h)
    after = w.where(w.coin(p), w.each(w.mean(moved - gamma / p * h)), moved)
    return after, h + p / gamma * (after - moved)


# compressed communication


@algorithm(x="x0", h="each 0")
def diana(w, x, h, *, eta, alpha, m):
    """Mishchenko, Gorbunov, Takac, Richtarik: DIANA (2019), Algorithm 1, m random coordinates, without momentum."""
    moved = w.keep(w.gradient(x, w.sample()) - h, m)
    return x - eta * w.mean(h + moved), h + alpha * moved


@algorithm(x="x0", g="each grad(f_n, x0)")
def ef21(w, x, g, *, eta, m):
    """Richtarik, Sokolov, Fatkhullin: EF21 (NeurIPS 2021), Algorithm 2, the m largest coordinates, g_n^0 = grad f_n."""
    new = x - eta * w.mean(g)
    return new, g + w.top(w.gradient(new) - g, m)


# networks


@algorithm(x="each x0")
def dgd(w, x, *, eta, W):
    """Nedic, Ozdaglar: Distributed Subgradient Methods for Multi-Agent Optimization (IEEE TAC 2009), (3)."""
    return w.mix(x, W) - eta * w.gradient(x)


@algorithm(x="each x0", y="each grad(f_n, x0)")
def gradient_tracking(w, x, y, *, eta, W):
    """Nedic, Olshevsky, Shi: Achieving Geometric Convergence (SIAM J. Optim. 2017), Algorithm 1 (DIGing)."""
    new = w.mix(x, W) - eta * y
    return new, w.mix(y, W) + w.gradient(new) - w.gradient(x)


@algorithm(x="each x0", s="each 0")
def extra(w, x, s, *, eta, W):
    """Shi, Ling, Wu, Yin: EXTRA (SIAM J. Optim. 2015), W~ = (I + W)/2; s sums (W - W~) x[t] over t < k."""
    mixed = w.mix(x, W)
    return mixed - eta * w.gradient(x) + s, s + (mixed - x) / 2
