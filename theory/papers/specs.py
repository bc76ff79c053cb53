"""The names of the first specifications (SPEC), as tables: what they are in an instance of the language.

    {"algorithm": "local-sgd", "clients": [{"h": "1", "a": "0", "p": "1/2"}], "step": "1/5", "local_steps": 2, ...}

A table belongs to its paper, and moves into the paper's file with it; nothing here is executed. Of a table:

- ``algorithms``: the algorithm's name by the SPEC's rules, given as the values of the entries ``rules`` in order;
- ``parameters``: the algorithm's parameters by the SPEC's entries; ``clients`` those that each client has;
- ``start``, ``rounds``: the entries that are the instance's start and rounds;
- ``sample``: the entries of a sample function;
- ``weights``: the entry with a weight of each client, which multiplies N times its functions; ``factor``: the entry
  that multiplies all functions and divides the step;
- ``lags``: entries with weights of remembered vectors, filled up to one length; ``rest`` the parameter that is 1 less
  the sum of the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

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
        },
        "shuffling-local-sgd": {
            "rules": (),
            "algorithms": {(): "perm/shuffling_local_sgd"},
            "parameters": {"step": "eta", "local_steps": "H"},
            "clients": {},
            "start": "v0",
            "rounds": "epochs",
            "sample": ("h", "b"),
            "weights": "alpha",
            "factor": "factor",
        },
        "fedmim": {
            "rules": (),
            "algorithms": {(): "algorithms/fedmim"},
            "parameters": {"step": "eta_l", "local_steps": "H", "S": "S"},
            "clients": {},
            "start": "x0",
            "rounds": "K",
            "sample": ("h", "b"),
            "lags": ("alpha", "beta"),
            "rest": "A",
        },
    }
)


def _svrg(w, x, delta, S, M):
    snapshot = w.each(x)
    for _ in w.repeat(S):
        full, y = w.gradient(snapshot), snapshot
        for _ in w.repeat(M):
            i = w.sample()
            y = y - delta * (w.gradient(y, i) - w.gradient(snapshot, i) + full)
        snapshot = y
    return snapshot


def _local_steps(w, x, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    return y


@algorithm
def svrg_unbiased_or_zero(w, x, *, delta, p, S, M):
    """FedAvg-SVRG, and 0 after a round in which nobody takes part."""
    here = w.coins(p)
    return w.average(x, here) + w.mean(here / p * (_svrg(w, x, delta, S, M) - x))


@algorithm
def svrg_normalised(w, x, *, delta, p, S, M):
    """FedAvg-SVRG with the plain mean over those who take part."""
    return x + w.average(_svrg(w, x, delta, S, M) - x, w.coins(p))


@algorithm
def svrg_normalised_or_zero(w, x, *, delta, p, S, M):
    """The same, and 0 after a round in which nobody takes part."""
    return w.average(_svrg(w, x, delta, S, M), w.coins(p))


@algorithm
def local_sgd_unbiased(w, x, *, eta, p, H):
    """Local SGD; the server adds the moves of those who take part, each divided by N times their chance."""
    return x + w.mean(w.coins(p) / p * (_local_steps(w, x, eta, H) - x))


@algorithm
def local_sgd_unbiased_or_zero(w, x, *, eta, p, H):
    """The same, and 0 after a round in which nobody takes part."""
    here = w.coins(p)
    return w.average(x, here) + w.mean(here / p * (_local_steps(w, x, eta, H) - x))


@algorithm
def local_sgd_normalised_or_zero(w, x, *, eta, p, H):
    """Local SGD with the plain mean over those who take part, and 0 after a round in which nobody does."""
    return w.average(_local_steps(w, x, eta, H), w.coins(p))
