"""The program's draws, handed to an implementation: by their names, or by a generator that it asks in its own order.

A generator stands in for `numpy.random.Generator`. What is drawn for all clients at once (who takes part, a coin, an
order of visits) comes in the order of the program; samples, coins, noise and coordinates of single clients come in an
order that `ORDERS` names, or, from ``rng.spawn(N)``, each client's own in its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.program import Instruction, Program, pseudo_lines
from validate.implementations.reference import Seen

Array = NDArray[Any]

ORDERS = ("client by client", "step by step", "client by client, all of them", "step by step, all of them")
"""In which a code may draw for single clients; the first two go over those alone that take part."""


_INTERNAL = ("add", "restart", "client", "has", "taking_part")


class Unlike(Exception):
    """An implementation draws what the program does not draw."""


def by_name(program: Program, seen: Sequence[Seen]) -> dict[str, Array]:
    """The draws of a round by the names that the program's pseudo-code gives them, without the n of a client.

    The turns of the loops around come first. ``choose`` gives the clients that are chosen, in ascending order, those
    that are chosen twice twice; ``sample`` (N,) or (N, b) of a batch; ``coins`` (N,), ``coin`` 0 or 1, ``noise``
    (N, d), ``keep`` (N, m) the coordinates; orders of visits and passes are called ``order``.
    """
    called = pseudo_lines(program).called
    rows: dict[str, list[Seen]] = {}
    for one in seen:
        if one.op in _DRAWN:
            rows.setdefault(called.get(one.name, "order"), []).append(one)
    return {name: _together([(one.turns, _shown(one)) for one in each]) for name, each in rows.items()}


_DRAWN = frozenset({"choose", "coin", "coins", "sample", "noise", "keep", "visit", "pass"})


def _shown(one: Seen) -> Array:
    if one.op == "choose":
        return np.repeat(np.arange(one.value.size), one.value.astype(int).ravel())
    if one.op == "sample" and one.value.shape[-1] == 1:
        return one.value[..., 0]
    return one.value.astype(int) if one.op in ("coin", "coins") else one.value


def _together(parts: list[tuple[tuple[int, ...], Array]]) -> Array:
    """One array, the turns first; where there are no turns, the last."""
    if not parts[0][0]:
        return parts[-1][1] if len(parts) == 1 else np.stack([value for _, value in parts])
    shape = tuple(max(turns) + 1 for turns in zip(*(t for t, _ in parts), strict=True))
    found = np.zeros((*shape, *parts[0][1].shape), parts[0][1].dtype)
    for turns, value in parts:
        found[turns] = value
    return found


def _number(one: Seen, clients: int, n: int | None) -> float:
    """The chance of a coin, the variance of noise."""
    assert one.number is not None
    return float(np.broadcast_to(one.number, (clients,))[n or 0])


@dataclass(eq=False)
class _Item:
    """One draw that is to be handed out.

    Attributes:
        kind: ``subset``, ``index``, ``uniform``, ``normal`` or ``order``.
        of: out of how many.
        value: what is drawn.
        replace: whether with replacement.
        client: whose it is.
        words: what it is, for messages.
    """

    kind: str
    of: int
    value: Any
    replace: bool
    client: int | None
    words: str
    taken: bool = False


class Generator:
    """What stands in for a NumPy generator; see the module.

    Args:
        program: whose draws are handed out.
        counts: of each client, its samples.
        dim: d.
        order: one of `ORDERS`.
        seed: of what is free in a draw (a coin's uniform number on its side of the chance).
    """

    def __init__(self, program: Program, counts: Sequence[int], dim: int, order: str, seed: int) -> None:
        self._program, self._counts, self._dim, self._order = program, tuple(counts), dim, order
        self._free = np.random.default_rng((seed, 2))
        self._items: list[_Item] = []
        self._client: int | None = None
        self._flags = {s.to: s.flag for s in program.steps if isinstance(s, Instruction)}
        self.asked = 0

    def add(self, seen: Sequence[Seen]) -> None:
        """The draws of one more round."""
        common = [one for one in seen if one.op in ("choose", "coin", "visit") or one.client is not None]
        common += [one for one in seen if one.op == "keep" and one.kind == "server" and one.client is None]
        own = [one for one in seen if one.op in _DRAWN and one not in common]
        for one in common:
            self._items += self._made(one, one.client, one.value)
        chosen = [one for one in seen if one.op in ("choose", "coins")]
        every = range(len(self._counts))
        who = list(every)
        if chosen and not self._order.endswith("all of them"):
            who = [n for n in every if any(np.broadcast_to(one.value, len(every))[n] for one in chosen)]
        groups = {"coins": [], "rest": []}  # type: dict[str, list[Seen]]
        for one in own:
            groups["coins" if one.op == "coins" else "rest"].append(one)
        for one in groups["coins"]:  # they say who takes part, so all clients have theirs first
            for n in every:
                self._items += self._made(one, n, one.value[n])
        rest = groups["rest"]
        pairs = [(n, one) for n in who for one in rest] if self._order.startswith("client") else [
            (n, one) for turns in dict.fromkeys(one.turns for one in rest) for n in who
            for one in rest if one.turns == turns
        ]  # fmt: skip
        for n, one in pairs:
            self._items += self._made(one, n, one.value[n])

    def restart(self) -> None:
        """Forget what was added."""
        self._items.clear()

    def has(self, kind: str) -> bool:
        """Whether there is a draw of this kind that is no client's."""
        return any(i.kind == kind and i.client is None for i in self._items)

    def taking_part(self) -> list[int]:
        """The clients of the round that the program chooses; all, where it chooses none."""
        chosen = [i.value for i in self._items if i.kind == "subset" and i.client is None and i.of == len(self._counts)]
        coins = [i for i in self._items if i.kind == "uniform" and i.client is not None]
        if chosen:
            return [int(n) for n in chosen[0]]
        return [int(i.client or 0) for i in coins if i.value[1]] if coins else list(range(len(self._counts)))

    def spawn(self, count: int) -> list[Generator]:
        """A generator for each client, with its own draws."""
        if count != len(self._counts):
            raise Unlike(f"your code spawns {count} generators, and there are N={len(self._counts)} clients")
        return [self.client(n) for n in range(count)]

    def client(self, n: int) -> Generator:
        """That of client n."""
        own = Generator.__new__(Generator)
        own.__dict__ = self.__dict__.copy()
        own._client = int(n)
        return own

    def _made(self, one: Seen, n: int | None, value: Any) -> Iterator[_Item]:
        N, flag = len(self._counts), bool(self._flags.get(one.name))
        of = "" if n is None else f" of client {n + 1}"
        if one.op == "choose":
            S = int(one.value.sum())
            how = "with replacement" if flag else "without replacement"
            chosen = np.repeat(np.arange(N), one.value.astype(int).ravel())
            yield _Item("subset", N, chosen, flag, None, f"{S} of {N} clients {how}")
        elif one.op in ("coin", "coins"):
            p = _number(one, N, n)
            free = self._free.random()
            u = p * free if value else p + (1 - p) * free
            yield _Item("uniform", 0, (float(u), int(value), float(p)), False, n, f"a coin of chance {p:.6g}{of}")
        elif one.op == "sample":
            count, batch = self._counts[n or 0], np.atleast_1d(value)
            if not flag and len(batch) > 1:
                words = f"{len(batch)} of {count} samples{of} without replacement"
                yield _Item("subset", count, batch, False, n, words)
            else:
                yield from (_Item("index", count, int(i), True, n, f"one of {count} samples{of}") for i in batch)
        elif one.op == "noise":
            scale = np.sqrt(_number(one, N, n) / self._dim)
            yield _Item("normal", self._dim, np.asarray(value) / scale if scale else value, False, n, f"noise{of}")
        elif one.op == "keep":
            words = f"{len(value)} of {self._dim} coordinates{of}"
            yield _Item("subset", self._dim, np.asarray(value), False, n, words)
        else:
            count = N if one.op == "visit" else self._counts[n or 0]
            words = "an order of the clients" if one.op == "visit" else f"an order of the samples{of}"
            yield _Item("order", count, np.asarray(value)[:count], False, n, words)

    # what is asked for

    def _next(self, words: str, *wanted: tuple[str, int, int, bool | None]) -> _Item:
        """The next draw of one of these kinds: kind, out of how many (0: any), how many (0: any), with replacement."""
        self.asked += 1
        there = [
            i for i in self._items
            if not i.taken and (self._client is None or i.client == self._client) and i.kind in {w[0] for w in wanted}
        ]  # fmt: skip
        for item in there:
            for kind, of, many, replace in wanted:
                fits = kind == item.kind and of in (0, item.of) and replace in (None, item.replace)
                if fits and many in (0, np.size(item.value)):
                    item.taken = True
                    return item
            if item.client is not None:
                break  # the next of the clients' draws is another one
        whose = "" if self._client is None else f", client {self._client + 1}'s"
        if not there:
            raise Unlike(f"your code draws {words}{whose}, and the program draws nothing of the kind, or no more of it")
        raise Unlike(f"your code draws {words}{whose}, and the program draws {there[0].words}")

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **_: Any) -> Any:
        """As NumPy's; weights other than equal ones are refused."""
        values = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        of = len(values)
        if p is not None and not np.allclose(p, 1 / of):
            raise Unlike(f"your code draws one of {of} with unequal weights, and the program draws uniformly")
        many = 1 if size is None else int(np.prod(size))
        how = "" if many == 1 else " with replacement" if replace else " without replacement"
        words = f"{many} of {of}{how}"
        anyhow = None if many == 1 else bool(replace)
        singles = (("index", of, 1, None),) if many == 1 or replace else ()
        item = self._next(words, ("subset", of, many, anyhow), *singles)
        if item.kind == "subset":
            found = np.asarray(item.value)
        else:
            rest = [self._next(words, ("index", of, 1, None)).value for _ in range(many - 1)]
            found = np.array([item.value, *rest])
        taken = values[found]
        return taken[0] if size is None else taken.reshape(size)

    def integers(self, low: int, high: int | None = None, size: Any = None, endpoint: bool = False, **_: Any) -> Any:
        """As NumPy's."""
        low, high = (0, low) if high is None else (low, high)
        of = int(high) - int(low) + bool(endpoint)
        many = 1 if size is None else int(np.prod(size))
        kinds = (("index", of, 1, None), ("subset", of, 1, None))
        found = [int(low) + int(np.ravel(self._next(f"1 of {of}", *kinds).value)[0]) for _ in range(many)]
        return found[0] if size is None else np.array(found).reshape(size)

    def random(self, size: Any = None, **_: Any) -> Any:
        """As NumPy's: below the chance where the program's coin is 1."""
        return self._filled("a uniform number", size, lambda coin: coin[0])

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        """As NumPy's."""
        return low + (high - low) * self.random(size)

    def binomial(self, n: int, p: Any, size: Any = None) -> Any:
        """As NumPy's, for n = 1."""
        if n != 1:
            raise Unlike(f"your code draws a binomial number of {n}, and the program draws nothing of the kind")
        size = np.shape(p) if size is None and np.ndim(p) else size
        uniform = self._filled("a coin", size, lambda coin: coin[0])
        return (np.asarray(uniform) < p).astype(int) if size is not None else int(uniform < p)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As NumPy's: the program's noise is what it gives at the right scale."""
        many = self._dim if size is None else int(np.prod(size))
        if many % self._dim:
            raise Unlike(f"your code draws {many} normal numbers, and the program draws vectors of {self._dim}")
        rows = [self._next("noise", ("normal", self._dim, 0, None)).value for _ in range(many // self._dim)]
        return loc + scale * np.concatenate(rows).reshape((self._dim,) if size is None else size)

    def standard_normal(self, size: Any = None, **_: Any) -> Any:
        """As NumPy's."""
        return self.normal(size=size)

    def permutation(self, x: Any) -> Any:
        """As NumPy's; where the program draws a subset, that comes first."""
        values = np.arange(x) if np.ndim(x) == 0 else np.asarray(x)
        of = len(values)
        item = self._next(f"an order of {of}", ("order", of, 0, None), ("subset", of, 0, False))
        first = [int(i) for i in np.ravel(item.value)]
        return values[[*first, *(i for i in range(of) if i not in first)]]

    def shuffle(self, x: Any) -> None:
        """As NumPy's: changes x."""
        x[:] = [x[i] for i in self.permutation(len(x))]

    def _filled(self, words: str, size: Any, of: Any) -> Any:
        many = 1 if size is None else int(np.prod(size))
        found = [of(self._next(words, ("uniform", 0, 0, None)).value) for _ in range(many)]
        return found[0] if size is None else np.array(found).reshape(size)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = ", ".join(sorted(n for n in vars(Generator) if not n.startswith("_") and n not in _INTERNAL))
        raise AttributeError(f"rng.{name} is not among what the program's draws are handed out by: {known}; use draws")
