"""Algorithms of which more than one file of tests speaks."""

from theory import algorithm


@algorithm
def nested(w, x, *, eta, S, M):
    snapshot = w.each(x)
    for _ in w.repeat(S):
        y = snapshot
        for _ in w.repeat(M):
            w.tap("y", y)
            y = y - eta * w.gradient(y)
        snapshot = y
    return w.mean(snapshot)
