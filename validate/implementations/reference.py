"""What a program does in one trial, value by value: the simulator's round in float64, with everything written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.simulate.draws import Draws, Plan
from sim.simulate.functions import Sample
from sim.simulate.initial import initial
from sim.simulate.kept import natural
from sim.simulate.machine import TorchMachine, integer
from sim.simulate.parameters import Parameters, Scalars
from theory.program import DRAWS, Formula, Instruction, Loop, Program, Step, walk
from validate.implementations.trials import Trial

Array = NDArray[Any]
State = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Seen:
    """A value of a round.

    Attributes:
        name: of the value in the program.
        op: the operation that made it; ``visit`` and ``pass`` for orders, whose name is empty.
        kind: server, client, ...
        turns: of the loops around, the outermost first.
        client: whose it is, inside a visit; None of a value of all clients, or of the server.
        value: (d,), (N, d), ...; of a draw (N,) how often each client is chosen, (N,) or () coins, (N, b) samples,
            (N, m) or (m,) the coordinates that are kept, (N, d) noise, (N,) the order of a visit, (N, n) of a pass.
        of: of a gradient, its point (N or 1, d), and its samples (N or 1, b).
        number: of coins the chance, of noise the variance: one, or one a client.
    """

    name: str
    op: str
    kind: str
    turns: tuple[int, ...]
    client: int | None
    value: Array
    of: tuple[Array, ...] = ()
    number: Array | None = None


@dataclass(frozen=True, eq=False)
class Played:
    """A round: the state after it, and all values on the way in the order of the program."""

    after: State
    seen: tuple[Seen, ...]


class Reference:
    """A program in one trial.

    Args:
        program: which.
        trial: where.

    Raises:
        ValueError: where the program has no instance there.
    """

    def __init__(self, program: Program, trial: Trial) -> None:
        import torch

        self.program, self.trial = program, trial
        f, self._device = trial.functions, torch.device("cpu")
        numbers = Parameters(program, trial.parameters, f.clients, f.dim, trial.rounds)
        self._scalars = Scalars(numbers, self._device)
        draws = Draws(trial.shape.seed, np.zeros(1, np.int64), f.clients, self._plan, trial.rounds, self._device)
        self._machine = _Recorder(program, f, self._scalars, draws, 1, self._device, frozenset(), None)

    def _plan(self, k: int) -> Plan:
        f = self.trial.functions
        self._scalars.begin(k)

        def count(formula: Formula, env: Mapping[str, Any]) -> int:
            return integer(self._scalars.value(formula, env, lambda value: value), formula)

        return Plan(self.program, f.clients, int(f.counts.max()), f.dim, count, lambda _: True, k)

    def start(self) -> State:
        """The state before the first round."""
        import torch

        x0 = torch.from_numpy(self.trial.start.copy())[None, :, None]

        def number(formula: Formula) -> float:
            return float(self._scalars.value(formula, {"k": 0}, lambda value: value))

        return {s.name: _out(initial(s, self.trial.functions, x0, number), s.kind) for s in self.program.state}

    def round(self, k: int, state: State) -> Played:
        """Round k from a state.

        Raises:
            ValueError: where a number of the program leaves its domain.
        """
        import torch

        machine, N = self._machine, self.trial.functions.clients
        machine.seen.clear()
        with torch.no_grad():
            machine.begin(k)
            inputs = [_inward(state[s.name], s.kind) for s in self.program.state]
            machine.env = {"k": k, **dict(zip(self.program.inputs, inputs, strict=True))}
            walk(self.program.body, machine.env, machine)
            after = {}
            for name, s in zip(self.program.result, self.program.state, strict=True):
                value = machine.env[name]
                after[s.name] = _out(value.expand(N, *value.shape[1:]) if s.kind == "client" else value, s.kind)
        return Played(after, tuple(machine.seen))


class _Recorder(TorchMachine):
    """Writes down every value."""

    def __init__(self, program: Program, *rest: Any) -> None:
        super().__init__(program, *rest)
        self._watch = self._ordered_as
        self._around = dict(_around(program.body, ()))
        self._coordinates: Any = None
        self.seen: list[Seen] = []

    def apply(self, step: Instruction, of: Any, numbers: Any) -> Any:
        found = super().apply(step, of, numbers)
        if step.op == "tap":
            return found
        places = iter(self._places)
        turns = tuple(self.env[loop.index] if loop.op == "repeat" else next(places) for loop in self._around[step.to])
        client = None if self._who is None else int(self._who[0])
        own = client is not None and step.kind not in ("server", "past", "number")
        value = _out(found, step.kind)
        if step.op == "keep":
            value = self._coordinates[:, :, 0].numpy()
            value = value[0] if step.kind == "server" else value
        if step.op in DRAWS and own:
            value = value[0]
        made_of: tuple[Array, ...] = ()
        if step.op in ("gradient", "full gradient"):
            parts = of if self._who is None else [self._local(v) for v in of]
            made_of = tuple(_whole(v) for v in parts)
        number = _out(numbers[0], "numbers") if step.op in ("coin", "coins", "noise") else None
        self.seen.append(Seen(step.to, step.op, step.kind, turns, client if own else None, value, made_of, number))
        return found

    def _ordered_as(self, op: str, value: Any) -> None:
        if op in ("visit", "pass"):
            order = value[..., 0].numpy()
            client = None if self._who is None else int(self._who[0])
            order = order if op == "visit" else order[:, 0] if client is not None else order.T
            self.seen.append(Seen("", op, "sample", (), client, order))

    def _only(self, v: Any, coordinates: Any) -> Any:
        self._coordinates = coordinates
        return super()._only(v, coordinates)


def _around(steps: tuple[Step, ...], loops: tuple[Loop, ...]) -> Any:
    """The loops around each value."""
    for step in steps:
        if isinstance(step, Loop):
            yield from _around(step.body, (*loops, step))
        elif step.to:
            yield step.to, loops


def _whole(value: Any) -> Array:
    """A client's values, (N or 1, ...), without the axis of runs; of samples (N or 1, b)."""
    found: Array = value.index[:, :, 0].T.numpy() if isinstance(value, Sample) else value[..., 0].numpy()
    return found


def _out(value: Any, kind: str) -> Array:
    """From the simulator's layout."""
    if isinstance(value, Sample):
        return _whole(value)
    if kind in ("number", "numbers"):
        found = np.asarray(value if isinstance(value, float) else value[:, 0, 0].numpy(), dtype=float)
        return found.reshape(-1)[0] if kind == "number" else found
    result: Array = natural(value, kind)[0].numpy().copy()
    return result


def _inward(value: Array, kind: str) -> Any:
    """To the simulator's layout."""
    import torch

    tensor = torch.from_numpy(np.array(value, dtype=float))[..., None]
    if kind in ("past", "client past"):
        return tuple(v[None] if kind == "past" else v for v in tensor)
    return tensor[None] if kind == "server" else tensor
