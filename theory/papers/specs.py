"""The names of the first specifications (SPEC), as tables: what they are in an instance of the language.

    {"algorithm": "fedavg-svrg", "clients": [{"h": ["1", "2"], "a": ["0", "1"], "p": "1/2"}], "step": "1/5",
     "S": 2, "M": 3, "K": 3, "theta0": "3"}

with f_{n,i}(t) = h_i/2 (t-a_i)^2, or h_i/2 t^2 - b_i t where a sample has "b" in the place of "a"; f_n is the mean of
client n's.

- "local-sgd" has "local_steps" in place of "S" and "M". Both take "aggregation" ("unbiased" | "normalised") and "empty"
  ("keep" | "zero" | "condition"). "p" is 1 when absent, and may be a list of K values; "step" may be one too.
- "shuffling-local-sgd" has "b", "alpha" (a weight of each client), "local_steps", "epochs" and "v0"; f = sum_n alpha_n
  f_n. With "factor" it is factor times that, such as "1/2" for the mean of two clients in place of their sum; the
  iterates are the same. "step" may be a list of one number an epoch.
- "fedmim" has "b", "local_steps", "x0" and "K". "S" of the clients take part, N when it is absent. "alpha" and "beta"
  list the weights of the lags 0, 1, ... and are empty when absent.

A table belongs to its paper, and moves into the paper's file with it; nothing here is executed. Of a table:

- ``algorithms``: the algorithm's name by the SPEC's rules, given as the values of the entries ``rules`` in order;
- ``parameters``: the algorithm's parameters by the SPEC's entries; ``clients`` those that each client has;
- ``absent``: those of the parameters that may be absent, and are N then;
- ``start``, ``rounds``: the entries that are the instance's start and rounds;
- ``sample``: the entries of a sample function;
- ``kind``: what sweeps call it, where that is not its name here;
- ``weights``: the entry with a weight of each client, which multiplies N times its functions; ``factor``: the entry
  that multiplies all functions and divides the step;
- ``lags``: entries with weights of remembered vectors, filled up to one length; ``rest`` the parameter that is 1 less
  the sum of the first;
- ``lists``: what `fedproof moments` prints beside what it prints of all; ``also``: the same as formulas in the names
  ``where``, each with whether the run's end has one; ``sums``: formulas over the rounds, of the algorithm ``tapped``,
  which takes the same steps and has the taps of which they speak.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from theory.papers.fedavg_svrg import SINCE_SUM, SUMS
from theory.papers.fedmim import U
from theory.program import algorithm

_RULES = (("aggregation", "unbiased"), ("empty", "keep"))
"""Entries that choose among algorithms, each with what it is when absent."""

SPECS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "fedavg-svrg": {
            "rules": _RULES,
            "algorithms": {
                ("unbiased", "keep"): "algorithms/fedavg_svrg",
                ("unbiased", "zero"): "specs/svrg_unbiased_or_zero",
                ("normalised", "keep"): "specs/svrg_normalised",
                ("normalised", "zero"): "specs/svrg_normalised_or_zero",
            },
            "parameters": {"step": "delta", "S": "S", "M": "M"},
            "clients": {"p": "p"},
            "start": "theta0",
            "rounds": "K",
            "sample": ("h", "a"),
            "tapped": "algorithms/fedavg_svrg",
            "sums": {**SUMS, **SINCE_SUM},
        },
        "local-sgd": {
            "rules": _RULES,
            "algorithms": {
                ("unbiased", "keep"): "specs/local_sgd_unbiased",
                ("unbiased", "zero"): "specs/local_sgd_unbiased_or_zero",
                ("normalised", "keep"): "algorithms/fedavg_coins",
                ("normalised", "zero"): "specs/local_sgd_normalised_or_zero",
            },
            "parameters": {"step": "eta", "local_steps": "H"},
            "clients": {"p": "p"},
            "start": "theta0",
            "rounds": "K",
            "sample": ("h", "a"),
            "tapped": "specs/local_sgd_unbiased",
            "sums": {
                "drift_sum": "sum_k(sum_n(sum_h((H - 1 - h)*E(norm2(v[k, h])))))",
                "weighted_sum": "sum_k(sum_n(1/p_n*sum_h(E(norm2(v[k, h])))))",
                "lexicographic_drift_sum": "sum_k(sum_n(sum_h((H*(H - 1) - h*(h + 1))/2*E(norm2(v[k, h])))))",
            },
        },
        "shuffling-local-sgd": {
            "kind": "shuffling",
            "rules": (),
            "algorithms": {(): "perm/shuffling_local_sgd"},
            "parameters": {"step": "eta", "local_steps": "H"},
            "clients": {},
            "start": "v0",
            "rounds": "epochs",
            "sample": ("h", "b"),
            "weights": "alpha",
            "factor": "factor",
            "lists": ("squared_distance",),
        },
        "fedmim": {
            "rules": (),
            "algorithms": {(): "algorithms/fedmim"},
            "parameters": {"step": "eta_l", "local_steps": "H", "S": "S"},
            "clients": {},
            "start": "x0",
            "rounds": "K",
            "sample": ("h", "b"),
            "absent": ("S",),
            "lags": ("alpha", "beta"),
            "rest": "A",
            "where": U,
            "also": {
                "auxiliary_squared_gradient_norm": ("E(norm2(grad(f, u)))", 1),
                "auxiliary_suboptimality": ("E(f(u)) - fstar", 1),
                "squared_increment": ("E(norm2(past[k, 0]))", 1),
                "drift": ("mean_n(sum_h(E(norm2(z[k, h] - x[k]))))/H", 0),
                "squared_average_step": ("eta_l_k**2*E(norm2(moved[k]))", 0),
            },
        },
    }
)


def reduced(w, x, delta, S, M):
    """The clients' models after S snapshots of M steps each, with reduced variance."""
    snapshot = w.each(x)
    for _ in w.repeat(S):
        full, y = w.gradient(snapshot), snapshot
        for _ in w.repeat(M):
            i = w.sample()
            y = y - delta * (w.gradient(y, i) - w.gradient(snapshot, i) + full)
        snapshot = y
    return snapshot


def stepped(w, x, eta, H):
    """The clients' models after H steps."""
    y = w.each(x)
    for _ in w.repeat(H):
        v = w.gradient(y, w.sample())
        w.tap("v", v)
        y = y - eta * v
    return y


@algorithm
def svrg_unbiased_or_zero(w, x, *, delta, p, S, M):
    """FedAvg-SVRG, and 0 after a round in which nobody takes part."""
    here = w.coins(p)
    return w.average(x, here) + w.mean(here / p * (reduced(w, x, delta, S, M) - x))


@algorithm
def svrg_normalised(w, x, *, delta, p, S, M):
    """FedAvg-SVRG with the plain mean over those who take part."""
    return x + w.average(reduced(w, x, delta, S, M) - x, w.coins(p))


@algorithm
def svrg_normalised_or_zero(w, x, *, delta, p, S, M):
    """The same, and 0 after a round in which nobody takes part."""
    return w.average(reduced(w, x, delta, S, M), w.coins(p))


@algorithm
def local_sgd_unbiased(w, x, *, eta, p, H):
    """Local SGD; the server adds the moves of those who take part, each divided by N times their chance."""
    return x + w.mean(w.coins(p) / p * (stepped(w, x, eta, H) - x))


@algorithm
def local_sgd_unbiased_or_zero(w, x, *, eta, p, H):
    """The same, and 0 after a round in which nobody takes part."""
    here = w.coins(p)
    return w.average(x, here) + w.mean(here / p * (stepped(w, x, eta, H) - x))


@algorithm
def local_sgd_normalised_or_zero(w, x, *, eta, p, H):
    """Local SGD with the plain mean over those who take part, and 0 after a round in which nobody does."""
    return w.average(stepped(w, x, eta, H), w.coins(p))
