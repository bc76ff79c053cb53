"""The rounds that the engines of `sim` compute, in the language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from theory.papers.specs import reduced, stepped
from theory.program import Algorithm, algorithm

RULES: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("unbiased", "keep"): lambda w, x, y, p: x + w.mean(w.coins(p) / p * (y - x)),
    ("unbiased", "zero"): lambda w, x, y, p: (lambda here: w.average(x, here) + w.mean(here / p * (y - x)))(w.coins(p)),
    ("normalised", "keep"): lambda w, x, y, p: x + w.average(y - x, w.coins(p)),
    ("normalised", "zero"): lambda w, x, y, p: w.average(y, w.coins(p)),
}
"""What the server does with the clients' models y, by the rules of the engine's algorithms."""


def mean(w, x, y):
    return w.mean(y)


def moves(w, x, y):
    return x + w.mean(y - x)


def average(w, x, y, S):
    return w.average(y, w.choose(S))


def average_move(w, x, y, S):
    return x + w.average(y - x, w.choose(S))


def svrg_round(rule: Callable[..., Any]) -> Algorithm:
    return algorithm(lambda w, x, *, delta, p, S, M: rule(w, x, reduced(w, x, delta, S, M), p))


def svrg_of_all(rule: Callable[..., Any]) -> Algorithm:
    return algorithm(lambda w, x, *, delta, S, M: rule(w, x, reduced(w, x, delta, S, M)))


def local_round(rule: Callable[..., Any]) -> Algorithm:
    return algorithm(lambda w, x, *, eta, p, H: rule(w, x, stepped(w, x, eta, H), p))


def local_of_all(rule: Callable[..., Any]) -> Algorithm:
    return algorithm(lambda w, x, *, eta, H: rule(w, x, stepped(w, x, eta, H)))


def local_of_some(rule: Callable[..., Any]) -> Algorithm:
    return algorithm(lambda w, x, *, eta, H, S: rule(w, x, stepped(w, x, eta, H), S))


@algorithm
def shuffled(w, x, *, eta, H):
    def turn(v, one):
        for _ in one.repeat(H):
            v = v - eta * one.gradient(v, one.sample())
        return v

    return w.visit(x, turn)


@algorithm(x="x0", past="J times 0")
def pulled(w, x, past, *, eta, alpha, beta, A, H, S):
    shift, ahead = w.combine(alpha, past), w.combine(beta, past)
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - shift - A * eta * w.gradient(y - ahead, w.sample())
    new = w.average(y, w.choose(S))
    return new, w.shift(past, (x - new) / H)
