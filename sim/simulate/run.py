"""Simulated runs of a program: chunks that suit the memory, what is kept of them, and where to go on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import checked_metrics
from sim.arguments import integer as checked_integer
from sim.simulate.draws import Draws, Plan
from sim.simulate.functions import Functions, functions_of
from sim.simulate.initial import initial
from sim.simulate.machine import TorchMachine, integer
from sim.simulate.parameters import Parameters, Scalars
from sim.streams import seed_key
from theory.program import Algorithm, Formula, Program, walk

if TYPE_CHECKING:
    import torch

    from sim.running import Progress

    Tensor = torch.Tensor

Array = NDArray[np.float64]
log = logging.getLogger(__name__)

_CACHE = 730_000
_CACHE_GPU = 256_000_000


@dataclass(frozen=True)
class Moment:
    """What a measurement sees: a chunk of R runs after k rounds.

    Attributes:
        k: rounds done.
        states: by name, tensors (R, d) of the server, (R, N, d) of the clients, (R, N, n, d) of a table, (R, J, d) and
            (R, J, N, d) of remembered vectors.
        taps: those of round k by name, the turns before what a state has: (R, H, N, d); none after the last round.
        functions: the problem's, for gradients; their layout is (clients, coordinates, runs).
        first_run: number of the first of these runs.
    """

    k: int
    states: Mapping[str, Tensor]
    taps: Mapping[str, Tensor]
    functions: Functions
    first_run: int


Measure = Callable[[Moment], Mapping[str, Any]]
Watch = Callable[[int, str, Any], None]


@dataclass(frozen=True, eq=False, repr=False)
class Simulated:
    """What was kept of R runs. The shapes of a value are those of `Moment`.

    Attributes:
        program: that was run.
        seed, first_run: row r holds run first_run + r of the seed.
        recorded: the numbers of rounds after which states were kept.
        states: by name, (R, len(recorded), ...).
        taps: by name, (R, rounds, turns..., ...): those of every round of this call; where a round has fewer turns than
            another, NaN.
        values: what was measured, by name (R, rounds + 1, ...); NaN where nothing was.
        final: by name, the states after the last round, (R, ...).
        rounds: how many rounds have been done in all, those that were resumed from included.
    """

    program: Program
    seed: int
    first_run: int
    recorded: tuple[int, ...]
    states: Mapping[str, Array]
    taps: Mapping[str, Array]
    values: Mapping[str, Array]
    final: Mapping[str, Array]
    rounds: int

    def __post_init__(self) -> None:
        for name in ("states", "taps", "values", "final"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def runs(self) -> int:
        """R."""
        return len(next(iter(self.final.values())))

    def __repr__(self) -> str:
        return (
            f"Simulated({self.program.name}, runs={self.runs}, rounds={self.rounds}, seed={self.seed}, "
            f"first_run={self.first_run}, states={tuple(self.states)}, values={tuple(self.values)})"
        )


def simulate(
    program: Program | Algorithm,
    problem: Any,
    parameters: Mapping[str, Any],
    start: Any = None,
    rounds: int = 1,
    runs: int = 1,
    seed: int = 0,
    *,
    first_run: int = 0,
    record: Sequence[int] | None = None,
    keep: Sequence[str] | None = None,
    taps: Sequence[str] = (),
    measure: Measure | None = None,
    resume: Simulated | None = None,
    chunk: int | None = None,
    memory: int = 1 << 30,
    device: str | torch.device = "cpu",
    threads: int = 1,
    progress: Progress = False,
    watch: Watch | None = None,
    metrics: Sequence[str] = (),
    backend: str = "auto",
) -> Simulated:
    """Independent runs of a program, in float64.

    Run r of a seed draws the same numbers whatever `runs`, `first_run`, `chunk`, `memory`, `threads` and `device` are;
    `sim.streams` says which. With one thread on the CPU its states are the same to the last bit too, on quadratics with
    d <= 16 and N <= 16 wherever clients are mixed; where longer matrix products come in, and between devices, results
    agree to rounding. `noise` is normal. A value that floats do not have (a division by 0, the root of a negative
    number) becomes inf or NaN in its run alone.

    Args:
        program: an algorithm (a decorated function), or its program; an algorithm's defaults are used.
        problem: see `functions_of`.
        parameters: by name; see `Parameters`.
        start: (d,) x0, or (R, d), one a run; zeros by default.
        rounds: K >= 1.
        runs: R >= 1.
        seed: in [0, 2^64).
        first_run: number of the first run; first_run + R <= 2^32.
        record: numbers of rounds in 0..K (of the whole run, where it is resumed) after which the states are kept; by
            default the last one.
        keep: names of the states that `record` keeps; all by default.
        taps: names of those whose values are kept, round by round.
        measure: called on every chunk with a `Moment` after k = 0, ..., K rounds; gives tensors or arrays by name whose
            first axis are the chunk's runs. So memory stays bounded however long the run is.
        resume: go on from here: the same program, problem and parameters; `start`, `runs`, `seed` and `first_run` are
            those of the first call, and what they are here is not used. Then `rounds` is the number of further rounds.
        chunk: runs advanced together; by default as many as suit the cache and `memory`.
        memory: bytes that a chunk's values may take, roughly; the smallest chunk is taken even where it needs more (48
            runs on quadratics, else one).
        device: "cpu" or "cuda".
        threads: torch's threads on the CPU; more help only where chunks are wide and cores idle.
        progress: True for a bar, or a function of (run-rounds done, run-rounds in all), called now and then.
        watch: told of every draw as (k, operation, value), in the order of the program: `sample` a `Sample`, `choose`,
            `coins` and `coin` (N or 1, 1, R), `noise` and `keep` (N or 1, d, R) what came of them, `visit` (N, R) and

    Raises:
        ValueError: for an argument outside its domain, and where the program has no instance here (S > N, m > d, ...).
        ImportError: for backend="native" without a compiler.
    """
    import torch

    from sim.running import checked_device, checked_first_run, reporter, torch_threads
    from sim.simulate.metrics import METRICS, measuring
    from sim.simulate.native import advance, decided

    if isinstance(program, Algorithm):
        named = {*parameters, *(name.removesuffix(index) for name in parameters for index in ("_n", "_k"))}
        defaults = {name: float(value) for name, value in program.defaults.items() if name not in named}
        parameters = {**defaults, **parameters}
        program = program.program
    if not isinstance(program, Program):
        raise ValueError(f"program={program!r} is neither a Program nor a function decorated with @algorithm")
    rounds, threads = checked_integer("rounds", rounds, 1), checked_integer("threads", threads, 1)
    done = 0
    if resume is not None:
        if resume.program != program:
            raise ValueError(f"resume is of {resume.program.name}, another program than {program.name}")
        done, runs, seed, first_run = resume.rounds, resume.runs, resume.seed, resume.first_run
    runs = checked_integer("runs", runs, 1)
    seed_key(seed)
    first_run = checked_first_run(first_run, runs)
    place = checked_device(device)
    sized = problem if hasattr(problem, "clients") and hasattr(problem, "dim") else functions_of(problem, place)
    last = done + rounds
    unknown = sorted(set(taps) - set(program.taps))
    if unknown:
        raise ValueError(f"taps has {unknown[0]!r}; the program has {', '.join(program.taps) or 'none'}")
    measured = checked_metrics(metrics, METRICS)
    recorded = (last,) if record is None else tuple(record)
    if any(not isinstance(k, int | np.integer) or not done <= k <= last for k in recorded):
        raise ValueError(f"record={recorded} is outside the integers in [{done}, {last}]")
    names = tuple(s.name for s in program.state)
    kept = names if keep is None else tuple(keep)
    if set(kept) - set(names):
        raise ValueError(f"keep has {min(set(kept) - set(names))!r}; the program has {', '.join(names)}")
    numbers = Parameters(program, parameters, sized.clients, sized.dim, last)
    native = decided(
        backend,
        program,
        problem,
        numbers,
        measured,
        range(done, last),
        str(place),
        torch_only={"measure": measure, "watch": watch, "taps": taps},
    )
    job = _Job(
        program=program,
        problem=problem,
        parameters=numbers,
        start=_starts(start, runs, sized.dim),
        resume=resume,
        span=range(done, last),
        runs=runs,
        seed=int(seed),
        first_run=first_run,
        recorded=recorded,
        keep=frozenset(kept),
        taps=tuple(dict.fromkeys(taps)),
        measure=measure,
        device=place,
        watch=watch,
    )
    if not isinstance(native, str):
        with reporter(progress, runs * rounds) as report:
            advance(job, native, measured, chunk, memory, threads, report)
        return Simulated(program, job.seed, first_run, recorded, job.states, job.tapped, job.values, job.final, last)
    if measured:
        job.measure = measuring(problem, job.functions, program, measured, measure)
    chunks = _chunks(job, chunk, memory, threads)
    if watch is not None and len(chunks) > 1:
        raise ValueError(f"watch sees one chunk, and these are {len(chunks)}: take fewer runs, or chunk=runs")
    log.debug("torch, for %s: %d runs in %d chunks, %d threads", native, runs, len(chunks), threads)
    with reporter(progress, runs * rounds) as report, torch_threads(threads), torch.no_grad():
        for rows in chunks:
            job.advance(rows, report)
    return Simulated(program, job.seed, first_run, recorded, job.states, job.tapped, job.values, job.final, last)


def _starts(start: Any, runs: int, dim: int) -> Array:
    """(R or 1, d)."""
    from sim.running import checked_start

    many = np.asarray(start, dtype=object) if start is not None else None
    if many is None or many.ndim < 2:
        return checked_start(start, dim)[None]
    if many.shape != (runs, dim):
        raise ValueError(f"start has shape {many.shape}, neither {(dim,)} nor {(runs, dim)}")
    return np.stack([checked_start(row, dim) for row in many])


@dataclass
class _Job:
    """What the chunks of a simulation share. Each writes its own rows of the results."""

    program: Program
    problem: Any
    parameters: Parameters
    start: Array
    resume: Simulated | None
    span: range
    runs: int
    seed: int
    first_run: int
    recorded: tuple[int, ...]
    keep: frozenset[str]
    taps: tuple[str, ...]
    measure: Measure | None
    device: torch.device
    watch: Watch | None
    states: dict[str, Array] = field(default_factory=dict)
    tapped: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Array] = field(default_factory=dict)
    final: dict[str, Array] = field(default_factory=dict)

    _plan: Plan | None = None
    _planned: int = -1

    @cached_property
    def functions(self) -> Functions:
        """The problem's; generated rounds seldom need them."""
        return functions_of(self.problem, self.device)

    @cached_property
    def _scalars(self) -> Scalars:
        return Scalars(self.parameters, self.device)

    @property
    def wanted(self) -> frozenset[str]:
        """The taps that somebody looks at."""
        return frozenset(self.program.taps if self.measure is not None else self.taps)

    def plan(self, k: int) -> Plan:
        """What round k draws; made anew only where it differs from round to round."""
        if self._plan is None or (self._plan.changes and self._planned != k):
            self._scalars.begin(k)

            def count(formula: Formula, env: Mapping[str, Any]) -> int:
                return integer(self._scalars.value(formula, env, lambda value: value), formula)

            f = self.functions
            most = int(f.counts.max())
            self._plan = Plan(self.program, f.clients, most, f.dim, count, self._scalars.changes, k)
            self._planned = k
        return self._plan

    @property
    def size(self) -> int:
        """Numbers that a run needs: all values of a round, what is remembered and tapped, a gradient."""
        f = self.functions
        one, all_ = f.dim, f.clients * f.dim
        table = all_ * int(f.counts.max())
        sizes = {"server": one, "client": all_, "table": table, "past": 0, "client past": 0, "number": 1}
        plan = self.plan(self.span[0])
        kinds = self.program.kinds
        total = sum(sizes.get(kind, f.clients) for kind in kinds.values())
        for s in self.program.state:
            if s.length is not None:
                count = self.number(s.length)
                total += int(count) * (one if s.kind == "past" else all_)
        total += sum(plan.taps.get(label, 0) * sizes[self.program.taps[label][0]] for label in self.wanted)
        return total + f.work

    def number(self, formula: Formula) -> float:
        """Of a formula that a state begins with.

        Raises:
            ValueError: where it is not the same for all clients.
        """
        found = self._scalars.value(formula, {"k": 0}, lambda value: value)
        if not isinstance(found, float):
            raise ValueError("a state begins with a number that is not the same for all clients")
        return found

    def advance(self, rows: slice, report: Callable[[int], None]) -> None:
        """Run one chunk from start to end; `report` is told the run-rounds of each round."""
        count = rows.stop - rows.start
        width = -(-count // self.functions.pad) * self.functions.pad
        ids = self.first_run + rows.start + np.arange(width, dtype=np.int64)
        ids[count:] = ids[0]  # padding: any run does
        draws = Draws(self.seed, ids, self.functions.clients, self.plan, self.span.stop, self.device)
        k = self.span[0]

        def tell(op: str, value: Any) -> None:
            assert self.watch is not None
            self.watch(k, op, value)

        machine = TorchMachine(
            self.program, self.functions, self._scalars, draws, width, self.device, self.wanted,
            None if self.watch is None else tell,
        )  # fmt: skip
        self._scalars.begin(k)
        state = self.beginning(rows, width)
        for k in self.span:
            machine.begin(k)
            machine.env = {"k": k, **dict(zip(self.program.inputs, state, strict=True))}
            walk(self.program.body, machine.env, machine)
            self._look(k, rows, state, machine.taps)
            state = tuple(self._settled(machine.env[name], s.kind) for name, s in self._after)
            report(count)
        machine.taps = {}
        self._look(self.span.stop, rows, state, {})
        for s, value in zip(self.program.state, state, strict=True):
            _write(self.final, s.name, self.runs, rows, (), natural(value, s.kind)[:count])

    @property
    def _after(self) -> Iterator[tuple[str, Any]]:
        return zip(self.program.result, self.program.state, strict=True)

    def _settled(self, value: Any, kind: str) -> Any:
        """A state of every client may become a copy of the server's value."""
        return value.expand(self.functions.clients, *value.shape[1:]) if kind == "client" else value

    def beginning(self, rows: slice, width: int) -> tuple[Any, ...]:
        """The states before the first round of some rows, padded to this width, in the simulator's layout."""
        import torch

        def padded(values: Any) -> Any:
            """(R, ...) -> (..., width)."""
            block = np.concatenate([values, np.repeat(values[:1], width - len(values), axis=0)])
            return torch.from_numpy(np.ascontiguousarray(np.moveaxis(block, 0, -1))).to(self.device)

        if self.resume is not None:
            found = []
            for s in self.program.state:
                value = padded(self.resume.final[s.name][rows])
                if s.length is not None:
                    found.append(tuple(v if s.kind == "client past" else v[None] for v in value))
                else:
                    found.append(value[None] if s.kind == "server" else value)
            return tuple(found)
        own = self.start[rows] if len(self.start) > 1 else np.repeat(self.start, width, axis=0)
        x0 = padded(own[:width])[None]
        return tuple(initial(s, self.functions, x0, self.number) for s in self.program.state)

    def _look(self, k: int, rows: slice, state: tuple[Any, ...], taps: Mapping[str, Any]) -> None:
        """Keep what is wanted after k rounds."""
        import torch

        count = rows.stop - rows.start
        if k in self.recorded:
            for s, value in zip(self.program.state, state, strict=True):
                if s.name not in self.keep:
                    continue
                kept = natural(value, s.kind)[:count]
                for at, wanted in enumerate(self.recorded):
                    if wanted == k:
                        _write(self.states, s.name, self.runs, rows, (len(self.recorded), at), kept)
        if not self.taps and self.measure is None:
            return
        spoken = {label: _stacked(found, self.program.taps[label][0])[:count] for label, found in taps.items()}
        first = self.span[0]
        for label in self.taps:
            if label in spoken:
                _write(self.tapped, label, self.runs, rows, (len(self.span), k - first), spoken[label])
        if self.measure is None:
            return
        states = {s.name: natural(v, s.kind)[:count] for s, v in zip(self.program.state, state, strict=True)}
        moment = Moment(k, states, spoken, self.functions, self.first_run + rows.start)
        for name, value in self.measure(moment).items():
            found = torch.as_tensor(value)
            if found.ndim == 0 or len(found) != count:
                raise ValueError(
                    f"measure gives {name!r} of shape {tuple(found.shape)}: its first axis is not {count} runs"
                )
            _write(self.values, name, self.runs, rows, (len(self.span) + 1, k - first), found)


def natural(value: Any, kind: str) -> Any:
    """The simulator's layout to (R, ...): the server's without the axis of clients, remembered vectors stacked."""
    import torch

    if isinstance(value, tuple):
        return torch.stack([natural(v, "server" if kind == "past" else "client") for v in value], 1)
    value = value.movedim(-1, 0)
    return value[:, 0] if kind == "server" else value


def _stacked(found: list[tuple[tuple[int, ...], Any]], kind: str) -> Any:
    """(R, turns..., ...), of values by their turns; NaN where there is none."""
    import torch

    shape = tuple(max(turns) + 1 for turns in zip(*(t for t, _ in found), strict=True))
    parts = [(turns, natural(value, kind)) for turns, value in found]
    one = parts[0][1]
    if not shape:
        return one
    total = torch.full((len(one), *shape, *one.shape[1:]), float("nan"), dtype=one.dtype, device=one.device)
    for turns, value in parts:
        at: Any = (slice(None), *turns)
        total[at] = value
    return total


def _write(into: dict[str, Array], name: str, runs: int, rows: slice, at: tuple[int, ...], value: Any) -> None:
    """Rows of an array (runs, ...), or (runs, length, ...) at (length, place); made when it is first written to."""
    values = value.detach().cpu().numpy()
    lead = (runs,) if not at else (runs, at[0])
    shape = (*lead, *values.shape[1:])
    if name not in into:
        into[name] = np.full(shape, np.nan)
    elif into[name].shape != shape:
        if len(shape) != into[name].ndim:
            raise ValueError(
                f"{name} has shape {values.shape[1:]} after one round, and had {into[name].shape[len(lead) :]}"
            )
        grown = np.full((*lead, *np.maximum(into[name].shape[len(lead) :], values.shape[1:])), np.nan)
        grown[tuple(slice(n) for n in into[name].shape)] = into[name]
        into[name] = grown
    inside = tuple(slice(n) for n in values.shape[1:])
    place: Any = (rows, *inside) if not at else (rows, at[1], *inside)
    into[name][place] = values


def _chunks(job: _Job, chunk: int | None, memory: int, threads: int) -> list[slice]:
    """The rows of the chunks, all but the last equally many."""
    runs = job.runs
    if chunk is None:
        f = job.functions
        room = _CACHE * threads if job.device.type == "cpu" else _CACHE_GPU
        memory = checked_integer("memory", memory, 1)
        most = max(f.pad, min(room // (8 * f.clients * f.dim), memory // (8 * job.size)) // f.pad * f.pad)
        each = -(-runs // -(-runs // most))
    else:
        each = min(checked_integer("chunk", chunk, 1), runs)
    return [slice(r, min(runs, r + each)) for r in range(0, runs, each)]
