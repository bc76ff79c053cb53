"""Rounds of FedMIM on quadratic functions in one dimension: every outcome of a round, and exact second moments.

Client n has f_n(x) = average over its samples of h/2 x^2 - b x, and f is the average of the f_n. In a round S of the N
clients take part. With delta_t = -(x_t - x_{t-1})/K, delta_t = 0 for t <= 0, and A = 1 - sum_j alpha_j, they take K
steps from x_{n,0} = x_t,

    x_{n,k+1} = x_{n,k} - sum_j alpha_j delta_{t-j} - A eta_l g_{n,k},
    g_{n,k} = the gradient of one of the client's samples at y_{n,k} = x_{n,k} - sum_j beta_j delta_{t-j},

and x_{t+1} is the average of their x_{n,K}. Given the subset of clients and the samples that they draw, all of it is
linear in the state z_t = (1, x_t, delta_t, ..., delta_{t-J+1}), a linear form each. So a mean square over the outcomes
is the sum of Q_ij P_ij, where P = E z_t z_t' and Q is the average over the outcomes of the squares of a form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, lcm, prod
from typing import Any

from .formulas import Uncheckable
from .quadratic_rounds import average
from .reading import FormatError, bits, fields, integer, list_of, number, shown, text_of

MOST_CLIENTS = 100
MOST_STEPS = 64  # K
MOST_ROUNDS = 1_000  # T
MOST_LAGS = 8  # J
MOST_OUTCOMES = 20_000  # of a round: subsets times sequences of samples
MOST_WORK = 100_000_000  # entries that are averaged over the outcomes, times the bits of their numbers
LEAST_BITS = 64  # that a number counts for
MOST_STATE_BITS = 20_000  # of a numerator or denominator in the moments
MOST_RUN_BITS = 40_000_000  # of the moments of all rounds

Form = tuple[Fraction, ...]
Table = tuple[Form, ...]
ZERO = Fraction(0)


@dataclass(frozen=True)
class Client:
    """f_n(x) = curvature/2 x^2 - linear x, the average of its samples' functions."""

    h: tuple[Fraction, ...]
    b: tuple[Fraction, ...]

    @property
    def curvature(self) -> Fraction:
        return average(self.h)

    @property
    def linear(self) -> Fraction:
        return average(self.b)


@dataclass(frozen=True)
class Instance:
    """A problem and FedMIM with its settings: `step` has one entry a round, alpha and beta one a lag, J each."""

    clients: tuple[Client, ...]
    S: int
    K: int
    step: tuple[Fraction, ...]
    alpha: tuple[Fraction, ...]
    beta: tuple[Fraction, ...]
    start: Fraction

    @property
    def N(self) -> int:
        return len(self.clients)

    @property
    def J(self) -> int:
        return len(self.alpha)

    @property
    def A(self) -> Fraction:
        return 1 - sum(self.alpha, ZERO)

    @property
    def rounds(self) -> int:
        """T."""
        return len(self.step)

    @property
    def size(self) -> int:
        """Of the state."""
        return self.J + 2

    @property
    def curvature(self) -> Fraction:
        """Of f."""
        return average([c.curvature for c in self.clients])

    @property
    def linear(self) -> Fraction:
        """f' = curvature x - linear."""
        return average([c.linear for c in self.clients])

    @property
    def bounded_below(self) -> bool:
        """Whether f is."""
        return self.curvature > 0 or (self.curvature == 0 and self.linear == 0)

    @property
    def minimum(self) -> Fraction:
        """f_*."""
        if not self.bounded_below:
            raise Uncheckable("f is not bounded below, so it has no f_*")
        return -(self.linear**2) / (2 * self.curvature) if self.curvature else ZERO

    @property
    def variance(self) -> Fraction:
        """The largest variance of a sampled gradient, where it is the same at every x."""
        if any(h != c.h[0] for c in self.clients for h in c.h):
            raise Uncheckable("the variance depends on x: a client has samples of different curvature")
        return max(average([(b - c.linear) ** 2 for b in c.b]) for c in self.clients)

    def form(self, constant: Fraction | int, x: Fraction | int, lags: Sequence[Fraction] = ()) -> Form:
        """constant + x x_t + sum_j lags_j delta_{t-j}."""
        padded = [*lags, *[ZERO] * (self.J - len(lags))]
        return (Fraction(constant), Fraction(x), *padded)

    @property
    def u(self) -> Form:
        """u_t = x_t - (K/A) sum_j (sum_{s>=j} alpha_s) delta_{t-j}."""
        return self.form(0, 1, [-self.K / self.A * sum(self.alpha[j:], ZERO) for j in range(self.J)])


def read_instance(data: Any) -> Instance:
    """The instance in a certificate; lags that it does not name have weight 0, and there is at least one."""
    fields(data, "instance", "algorithm clients local_steps step x0 K", "S alpha beta")
    if text_of(data["algorithm"], "algorithm") != "fedmim":
        raise FormatError(f"algorithm={shown(data['algorithm'])} is not fedmim")
    listed = [fields(item, "a client", "h b") for item in list_of(data["clients"], "clients")]
    if not 1 <= len(listed) <= MOST_CLIENTS:
        raise FormatError(f"clients has {len(listed)} entries, which is not in [1, {MOST_CLIENTS}]")
    clients = []
    for n, item in enumerate(listed):
        h, b = (tuple(number(v, f"{key} of client {n}") for v in list_of(item[key], key)) for key in ("h", "b"))
        if not h or len(h) != len(b):
            raise FormatError(f"client {n} has {len(h)} values of h and {len(b)} of b")
        clients.append(Client(h, b))
    S = integer(data.get("S", len(clients)), "S", 1, len(clients))
    K = integer(data["local_steps"], "local_steps", 1, MOST_STEPS)
    rounds = integer(data["K"], "K", 1, MOST_ROUNDS)
    steps = data["step"] if isinstance(data["step"], list) else [data["step"]] * rounds
    if len(steps) != rounds:
        raise FormatError(f"step has {len(steps)} entries for {rounds} rounds")
    step = tuple(number(v, "step", 0, open_low=True) for v in steps)
    alpha, beta = ([number(v, key, 0) for v in list_of(data.get(key, []), key)] for key in ("alpha", "beta"))
    lags = max(1, len(alpha), len(beta))
    if lags > MOST_LAGS or sum(alpha) >= 1:
        raise FormatError(f"alpha and beta have more than {MOST_LAGS} entries, or the sum of alpha is not below 1")
    padded = [(*values, *[ZERO] * (lags - len(values))) for values in (alpha, beta)]
    instance = Instance(tuple(clients), S, K, step, padded[0], padded[1], number(data["x0"], "x0"))
    if any(len(c.h) ** K > MOST_OUTCOMES for c in clients) or comb(len(clients), S) > MOST_OUTCOMES:
        raise FormatError(f"a round has more than {MOST_OUTCOMES} outcomes")
    numbers = [v for c in clients for v in (*c.h, *c.b)] + [*step, *alpha, *beta, instance.start]
    check_work(instance, K * max(map(bits, numbers)))
    return instance


def outcomes(instance: Instance) -> int:
    """How many outcomes a round has: the subsets, each with all sequences of samples of its clients."""
    sums = [1] + [0] * instance.S  # over the subsets of 0, 1, ..., S of the clients so far
    for client in instance.clients:
        own = len(client.h) ** instance.K
        sums = [sums[0], *[sums[i] + own * sums[i - 1] for i in range(1, instance.S + 1)]]
    return sums[-1]


def check_work(instance: Instance, length: int) -> None:
    """Refuses rounds that have too many outcomes for numbers of so many bits; every step is played once."""
    total = outcomes(instance) + sum(len(client.h) ** instance.K for client in instance.clients)
    total *= len(set(instance.step))
    if total * (2 * instance.K + 2) * instance.size**2 * max(length, LEAST_BITS) > MOST_WORK:
        raise FormatError(f"the {outcomes(instance)} outcomes of a round are too many, or their numbers too long")


@dataclass(frozen=True)
class Path:
    """What a client computes from one sequence of samples: x_{n,0..K}, f_n'(y_{n,k}), and the sum of the g_{n,k}."""

    points: list[Form]
    gradients: list[Form]
    sampled: Form


def paths(instance: Instance, client: Client, step: Fraction) -> list[Path]:
    """One path for each sequence of samples; all are equally likely."""
    shift, ahead = instance.form(0, 0, instance.alpha), instance.form(0, 0, instance.beta)
    found = []
    for samples in product(range(len(client.h)), repeat=instance.K):
        points, gradients, total = [instance.form(0, 1)], [], instance.form(0, 0)
        for i in samples:
            y = plus(points[-1], ahead, -1)
            gradients.append(slope(client.curvature, client.linear, y))
            g = slope(client.h[i], client.b[i], y)
            total = plus(total, g)
            points.append(plus(plus(points[-1], shift, -1), g, -instance.A * step))
        found.append(Path(points, gradients, total))
    return found


def plus(form: Form, other: Form, factor: Fraction | int = 1) -> Form:
    return tuple(a + factor * b for a, b in zip(form, other, strict=True))


def slope(h: Fraction, b: Fraction, y: Form) -> Form:
    """h y - b."""
    return (h * y[0] - b, *[h * c for c in y[1:]])


def mean(forms: Sequence[Form]) -> Form:
    return tuple(average(entries) for entries in zip(*forms, strict=True))


def weighted(forms: Sequence[tuple[Fraction, Form]], size: int) -> Table:
    """Sum of the weights times the products of the entries of the forms, two by two; in integers, which are faster."""
    scale = lcm(*(v.denominator for _, form in forms for v in form))
    share = lcm(*(weight.denominator for weight, _ in forms))
    total = [[0] * size for _ in range(size)]
    for weight, form in forms:
        whole = [v.numerator * (scale // v.denominator) for v in form]
        times = weight.numerator * (share // weight.denominator)
        for i, a in enumerate(whole):
            for j in range(i + 1) if a else ():
                total[i][j] += times * a * whole[j]
    unit = share * scale**2
    return tuple(tuple(Fraction(total[max(i, j)][min(i, j)], unit) for j in range(size)) for i in range(size))


def mean_square(forms: Sequence[Form]) -> Table:
    return weighted([(Fraction(1, len(forms)), form) for form in forms], len(forms[0]))


def pair(table: Table, moments: Table) -> Fraction:
    """Sum of Q_ij P_ij: the mean square."""
    rows = zip(table, moments, strict=True)
    return sum((q * p for row, of in rows for q, p in zip(row, of, strict=True) if q and p), ZERO)


def product_of(one: Form, two: Form, moments: Table) -> Fraction:
    """E of the product of two forms of z."""
    return sum((a * c * moments[i][j] for i, a in enumerate(one) if a for j, c in enumerate(two) if c), ZERO)


@dataclass(frozen=True)
class Play:
    """The forms of a round with a given step, averaged over its outcomes; [n] is the client, [k] the local step.

    Attributes:
        move, moved: of x_{t+1} - x_t, itself and squared.
        sampled: squares of (1/(SK)) sum g_{n,k} over the clients that take part.
        selected: [k], squares of the mean of f_n'(y_{n,k}) over the clients that take part.
        displaced: [n][k], squares of x_{n,k} - x_t for k = 0..K.
        gradients: [n][k], squares of f_n'(y_{n,k}) for k = 0..K-1.
        expected: [n][k], f_n'(y_{n,k}) itself, averaged over the client's samples.
    """

    move: Form
    moved: Table
    sampled: Table
    selected: list[Table]
    displaced: list[list[Table]]
    gradients: list[list[Table]]
    expected: list[list[Form]]


def play_round(instance: Instance, step: Fraction) -> Play:
    """All outcomes of a round: every subset of S clients, and every sequence of samples of each."""
    S, K, size = instance.S, instance.K, instance.size
    own = [paths(instance, client, step) for client in instance.clients]
    check_work(instance, max(bits(v) for c in own for p in c for form in (p.points[-1], p.sampled) for v in form))
    here = instance.form(0, 1)
    moves: list[tuple[Fraction, Form]] = []
    samples: list[tuple[Fraction, Form]] = []
    gradients: list[list[tuple[Fraction, Form]]] = [[] for _ in range(K)]
    for subset in combinations(own, S):
        weight = Fraction(1, comb(instance.N, S) * prod(map(len, subset)))
        for drawn in product(*subset):
            moves.append((weight, plus(mean([path.points[-1] for path in drawn]), here, -1)))
            samples.append((weight, tuple(v / K for v in mean([path.sampled for path in drawn]))))
            for k in range(K):
                gradients[k].append((weight, mean([path.gradients[k] for path in drawn])))
    return Play(
        move=tuple(sum((weight * form[i] for weight, form in moves), ZERO) for i in range(size)),
        moved=weighted(moves, size),
        sampled=weighted(samples, size),
        selected=[weighted(forms, size) for forms in gradients],
        displaced=[[mean_square([plus(p.points[k], here, -1) for p in c]) for k in range(K + 1)] for c in own],
        gradients=[[mean_square([p.gradients[k] for p in c]) for k in range(K)] for c in own],
        expected=[[mean([p.gradients[k] for p in c]) for k in range(K)] for c in own],
    )


def following(instance: Instance, play: Play, P: Table) -> Table:
    """E z_{t+1} z_{t+1}': x_{t+1} = x_t + m, delta_{t+1} = -m/K, and the other increments move on by one lag."""
    size = instance.size
    row = [sum((a * P[j][i] for j, a in enumerate(play.move) if a), ZERO) for i in range(size)]  # E m z_i
    square = pair(play.moved, P)  # E m^2
    source = (0, 1, None, *range(2, size - 1))  # z+_i = z_source + add_i m
    add = (ZERO, Fraction(1), Fraction(-1, instance.K), *[ZERO] * (size - 3))

    def entry(i: int, j: int) -> Fraction:
        a, b = source[i], source[j]
        result = add[i] * add[j] * square
        if a is not None and b is not None:
            result += P[a][b]
        if a is not None and add[j]:
            result += add[j] * row[a]
        if b is not None and add[i]:
            result += add[i] * row[b]
        return result

    return tuple(tuple(entry(i, j) for j in range(size)) for i in range(size))


@dataclass(frozen=True)
class Run:
    """The instance played: E z_t z_t' for t = 0..T, and the rounds t = 0..T-1."""

    instance: Instance
    states: list[Table]
    rounds: list[Play]


def play_run(instance: Instance) -> Run:
    """All rounds, from x_0 = `start` and no increments."""
    begin = instance.form(1, instance.start)  # the numbers themselves
    states: list[Table] = [tuple(tuple(a * b for b in begin) for a in begin)]
    plays = {step: play_round(instance, step) for step in dict.fromkeys(instance.step)}
    spent = 0
    for step in instance.step:
        states.append(following(instance, plays[step], states[-1]))
        lengths = [bits(v) for row in states[-1] for v in row]
        spent += sum(lengths)
        if max(lengths) > MOST_STATE_BITS or spent > MOST_RUN_BITS:
            raise FormatError("the numbers of the moments grow too long: take fewer digits or fewer rounds")
    return Run(instance, states, [plays[step] for step in instance.step])
