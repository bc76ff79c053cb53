"""Kind "open-adam": a line of the analysis of Adam that fails, at the local step after a communication or elsewhere.

Clients i = 0..N-1 have f_i(x) = h_i/2 (x - a_i)^2 in one dimension, and no noise. All start at the same x^0 with
h = vhat = 0 and take `local_steps` steps of Adam as in (3):

    h+ = beta1 h + (1 - beta1) g,   v+ = beta2 vhat + (1 - beta2) g^2,   vhat+ = max(v+, vhat),
    x+ = x - eta h+ / sqrt(eps + vhat+),   where g = f_i'(x).

Then the server averages the iterates of the `selected` clients with equal weights and gives the average to everybody;
h and vhat stay with the clients. Then the tested client, f = f_client, takes one more local step. With nobody
`selected` there is no communication, and iteration k-1 -> k is the last of the local steps.

Indices, all of the tested client: iteration k-1 -> k is the communication, iteration k -> k+1 the local step after it.

    x^{k-1}  its own iterate just before the average replaced it; no gradient step was taken from it
    x^k      the average
    h^k, vhat^k  as after its last local step: the communication does not change them
    x^{k+1}, h^{k+1}, vhat^{k+1}  after the local step from x^k

Names that formulas may use, with D^k = (eps + vhat^k)^(-1/2), and b = eta sigma^2/(1 - beta1) and c = eta beta1/(1 -
beta1) unless b and c are given as parameters:

    lyapunov       (13) at k:   f(x^k) - f* + b D^k - c f'(x^{k-1}) D^k h^k
    lyapunov_next  (13) at k+1: f(x^{k+1}) - f* + b D^{k+1} - c f'(x^k) D^{k+1} h^{k+1}
    A_previous     -f'(x^{k-1}) D^k h^k
    I1             -beta1 f'(x^k) D^k h^k
    squared_step   |x^k - x^{k-1}|^2
    lyapunov_increase  lyapunov_next - lyapunov
    weighted_gradient  f'(x^k)^2 D^k
    inverse_root_drop  D^k - D^{k+1}

and the parameters, eta, beta1, beta2, eps, d = 1 and the definitions.

Everything is computed in intervals that are rounded outwards, so a comparison counts only where it is certain. (Their
width grows with every step, by about the factor 1 + eta L/sqrt(eps): a run of very many long steps comes out undecided
or is refused, never wrong.) Checked:
  0 < mu <= h_i <= L for every client; |a_i| <= r, where r is given; 0 < eta <= 1/L; 0 <= beta1 < 1; 0 < beta2 < 1;
  eps > 0; b, c >= 0, where they are given; 0 < C1 < 1 for C1 = 1 - 2 mu eta/sqrt(eps + sigma^2);
  |f_i'| <= sigma at every point that client i visits: x^0, its iterates, the average, and x^{k+1} of the tested client;
  the parameters are those of the algorithm; the hypotheses hold; the printed values are the computed ones, rounded;
  the claimed relation is false.

What remains for the reader: the statement, the formula, its definitions and the hypotheses are those of the paper, and
the claim speaks of a step that follows what is played before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .checks import Checks, Report, check_rounded
from .conditions import HEAD, Condition, check_conditions, hypothesis, introduce
from .formulas import evaluate, lookup, parse
from .intervals import Interval, certainly, greatest
from .reading import FormatError, fields, integer, list_of, number, read_numbers, shown, text_of

MAX_STEPS = 10_000  # local steps times clients
QUANTITIES = ("lyapunov_next", "lyapunov_increase", "I1")
# hypotheses in words that the run itself settles: whether they hold with a communication, and without
WORDS = {
    "fresh optimiser": (True, True),
    "iteration k is a communication": (True, False),
    "no communication in between": (False, True),
}


@dataclass(frozen=True)
class Algorithm:
    eta: Fraction
    beta1: Fraction
    beta2: Fraction
    eps: Fraction


@dataclass(frozen=True)
class Client:
    """f(x) = h/2 (x - a)^2."""

    h: Fraction
    a: Fraction

    def gradient(self, x: Interval) -> Interval:
        return self.h * (x - self.a)

    def cost(self, x: Interval) -> Interval:
        """f(x) - f*."""
        return self.h / 2 * (x - self.a) ** 2


@dataclass(frozen=True)
class State:
    """An iterate with Adam's moments h and vhat."""

    x: Interval
    h: Interval
    vhat: Interval


def local_step(algorithm: Algorithm, client: Client, state: State) -> State:
    """One step of (3)."""
    g = client.gradient(state.x)
    h = algorithm.beta1 * state.h + (1 - algorithm.beta1) * g
    v = algorithm.beta2 * state.vhat + (1 - algorithm.beta2) * g**2
    vhat = greatest([v, state.vhat])
    return State(state.x - algorithm.eta * h / (algorithm.eps + vhat).sqrt(), h, vhat)


@dataclass(frozen=True)
class Run:
    """What was played: every client's iterates up to the communication, and the tested client around it."""

    paths: Sequence[Sequence[Interval]]  # [client][local step], the start first
    before: State  # the tested client at k-1
    now: State  # at k
    after: State  # at k+1


def play(
    algorithm: Algorithm, clients: Sequence[Client], start: Fraction, steps: int, selected: Sequence[int], tested: int
) -> Run:
    """The local steps, the communication if there is one, and one more local step of the tested client."""
    zero = Interval.of(0)
    states = [State(Interval.of(start), zero, zero) for _ in clients]
    paths = [[state.x] for state in states]
    before = states[tested]
    for _ in range(steps):
        before = states[tested]
        states = [local_step(algorithm, c, state) for c, state in zip(clients, states, strict=True)]
        for path, state in zip(paths, states, strict=True):
            path.append(state.x)
    now = states[tested]
    if selected:
        before, now = now, State(sum((states[i].x for i in selected), zero) / len(selected), now.h, now.vhat)
    return Run(paths, before, now, local_step(algorithm, clients[tested], now))


def verify_open_adam(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    own = " algorithm clients start local_steps selected client parameters left relation right left_value right_value"
    fields(data, "the certificate", HEAD + own, "definitions note")
    settings = fields(data["algorithm"], "algorithm", "eta beta1 beta2 eps")
    algorithm = Algorithm(*(number(settings[key], key) for key in ("eta", "beta1", "beta2", "eps")))
    listed = [fields(item, "a client", "h a") for item in list_of(data["clients"], "clients")]
    clients = [Client(number(item["h"], "h"), number(item["a"], "a")) for item in listed]
    start = number(data["start"], "start")
    steps = integer(data["local_steps"], "local_steps", 1, MAX_STEPS)
    if steps * len(clients) > MAX_STEPS:
        raise FormatError(f"local_steps times clients = {steps}*{len(clients)} is more than {MAX_STEPS}")
    tested = integer(data["client"], "client", 0, len(clients) - 1)
    selected = [integer(i, "selected", 0, len(clients) - 1) for i in list_of(data["selected"], "selected")]
    if len(set(selected)) < len(selected):
        raise FormatError("selected holds a client twice")
    given = read_numbers(data["parameters"], "parameters")
    missing = [name for name in ("mu", "L", "sigma") if name not in given]
    if missing:
        raise FormatError(f"parameters lacks {missing}")
    quantity = text_of(fields(data["left"], "left", "quantity")["quantity"], "quantity")
    if quantity not in QUANTITIES:
        raise FormatError(f"quantity={shown(quantity)} is none of {list(QUANTITIES)}")
    if data["relation"] != "<=":
        raise FormatError(f"relation={shown(data['relation'])} is not <=")

    checks = Checks()
    introduce(data)
    check_settings(checks, algorithm, clients, given)
    if not checks.valid:
        return Report(False, tuple(checks.lines))
    run = play(algorithm, clients, start, steps, selected, tested)
    constants = weights(algorithm, given)
    bounded = gradients_bounded(clients, start, run, tested, given["sigma"])
    checks.check(bounded, "|f_i'| <= sigma at every point that client i visits")
    values = {**vars(algorithm), "d": Fraction(1), **given, **measures(algorithm, clients[tested], run, *constants)}
    look = lookup(values, data.get("definitions"), roots=True)
    known = {
        "StronglyConvex": Condition("mu", True, "0 < mu <= h_i for every client"),
        "Smooth": Condition("L", True, "h_i <= L for every client"),
        "MinimisersInBall": Condition("r", "r" in given, "|a_i| <= r for every client"),
        "UnbiasedSampling": Condition("", True, "there is no noise"),
        "BoundedStochasticGradient": Condition("sigma", bounded, "|f_i'| <= sigma where client i goes, without noise"),
        "ShortStep": Condition("L", True, "0 < eta <= 1/L"),
    }
    check_conditions(checks, check_words(checks, data["hypotheses"], bool(selected)), known, look)
    left = look(quantity)
    right = checks.attempt("the right side", evaluate, parse(data["right"], "right"), look, True)
    if right is not None:
        check_rounded(checks, "left_value", data["left_value"], left)
        check_rounded(checks, "right_value", data["right_value"], Interval.of(right))
        checks.note(f"left side: {quantity}; claimed: <= {shown(data['right'])}")
        broken = certainly(left, ">", right)
        checks.check(broken, f"{left} <= {shown(right)} is {'false' if broken else 'not certainly false'}")
    return Report(checks.valid, tuple(checks.lines))


def check_words(checks: Checks, data: Any, communication: bool) -> list[Any]:
    """The hypotheses in words that the run settles; returns the others."""
    rest = []
    for item in list_of(data, "hypotheses"):
        plain = isinstance(item, dict) and item.get("relation") is None and item.get("assumption") is None
        if not plain or item.get("name") not in WORDS:
            rest.append(item)
            continue
        fields(item, "a hypothesis", "name assumption relation", "standing")
        checks.check(WORDS[item["name"]][not communication], f"{hypothesis(item)}, by what is played")
    return rest


def check_settings(checks: Checks, algorithm: Algorithm, clients: Sequence[Client], given: dict[str, Fraction]) -> None:
    """The parameters against the algorithm and the clients, and the ranges of all of them."""
    mu, L, sigma = given["mu"], given["L"], given["sigma"]
    eta, beta1, beta2, eps = algorithm.eta, algorithm.beta1, algorithm.beta2, algorithm.eps
    curvatures = [client.h for client in clients]
    far = max(abs(client.a) for client in clients)
    checks.check(0 < mu <= min(curvatures), f"0 < mu = {shown(mu)} <= every h_i")
    checks.check(max(curvatures) <= L, f"every h_i <= L = {shown(L)}")
    for name, value in given.items():
        if name in ("mu", "L", "sigma"):
            continue
        if name == "r":
            checks.check(value >= far, f"r = {shown(value)} >= every |a_i|")
        elif name == "d":
            checks.check(value == 1, f"d = {shown(value)} is 1")
        elif name in ("b", "c"):
            checks.check(value >= 0, f"{name} = {shown(value)} >= 0")
        elif name in vars(algorithm):
            checks.check(value == vars(algorithm)[name], f"{name} = {shown(value)} is that of the algorithm")
        else:
            checks.check(False, f"parameter {shown(name)} cannot be checked: the verifier does not know it")
    checks.check(eta > 0 and eta * L <= 1, f"0 < eta = {shown(eta)} <= 1/L")
    checks.check(0 <= beta1 < 1, f"0 <= beta1 = {shown(beta1)} < 1")
    checks.check(0 < beta2 < 1, f"0 < beta2 = {shown(beta2)} < 1")
    checks.check(eps > 0, f"eps = {shown(eps)} > 0")
    checks.check(sigma >= 0, f"sigma = {shown(sigma)} >= 0")
    inside = mu * eta > 0 and (2 * mu * eta) ** 2 < eps + sigma**2
    checks.check(inside, "0 < C1 < 1 for C1 = 1 - 2 mu eta/sqrt(eps + sigma^2)")


def gradients_bounded(clients: Sequence[Client], start: Fraction, run: Run, tested: int, sigma: Fraction) -> bool:
    """Whether |f_i'| <= sigma with certainty at every point that client i visits."""
    for i, (client, path) in enumerate(zip(clients, run.paths, strict=True)):
        if client.h * abs(start - client.a) > sigma:  # exact: the bound may be attained at the start
            return False
        visited = [*path[1:], run.now.x, *([run.after.x] if i == tested else [])]
        if not all(certainly(abs(client.gradient(x)), "<=", sigma) for x in visited):
            return False
    return True


def weights(algorithm: Algorithm, given: dict[str, Fraction]) -> tuple[Fraction, Fraction]:
    """b and c of (13)."""
    eta, beta1 = algorithm.eta, algorithm.beta1
    b, c = eta * given["sigma"] ** 2 / (1 - beta1), eta * beta1 / (1 - beta1)
    return given.get("b", b), given.get("c", c)


def measures(algorithm: Algorithm, f: Client, run: Run, b: Fraction, c: Fraction) -> dict[str, Interval]:
    """The names that the run gives values to; see the top of this file."""
    inverse_root, inverse_root_next = (1 / (algorithm.eps + s.vhat).sqrt() for s in (run.now, run.after))
    gradient_before, gradient_now = f.gradient(run.before.x), f.gradient(run.now.x)
    scaled, scaled_next = inverse_root * run.now.h, inverse_root_next * run.after.h
    lyapunov = f.cost(run.now.x) + b * inverse_root - c * gradient_before * scaled
    lyapunov_next = f.cost(run.after.x) + b * inverse_root_next - c * gradient_now * scaled_next
    return {
        "lyapunov": lyapunov,
        "lyapunov_next": lyapunov_next,
        "lyapunov_increase": lyapunov_next - lyapunov,
        "A_previous": -gradient_before * scaled,
        "I1": -algorithm.beta1 * gradient_now * scaled,
        "weighted_gradient": gradient_now**2 * inverse_root,
        "inverse_root_drop": inverse_root - inverse_root_next,
        "squared_step": (run.now.x - run.before.x) ** 2,
    }
