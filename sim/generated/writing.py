"""A stretch as C++: its instructions, and the loops in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sim.generated.instructions import Drawing, Instructions
from sim.generated.reading import Difference, NotGenerated, reads
from theory.program import Instruction, Loop, Step


class Writer(Instructions):
    """Writes one stretch; arguments as of `Instructions`."""

    own_count = "count(n)"
    """How many samples the client has."""

    def write(self, steps: Sequence[Step]) -> None:
        """Steps, one after another."""
        for step in steps:
            if isinstance(step, Loop):
                self._loop(step)
            elif step.to not in self.facts.absorbed:
                self._instruction(step)

    # --- loops

    def _loop(self, loop: Loop) -> None:
        outside = [name for name in loop.defines if self._leaves(loop, name)]
        carried = {c.name for c in loop.carried}
        if carried & set(outside):
            raise NotGenerated("what a loop hands on is read after the loop, as it was in the last turn")
        for name in outside:
            if name in self._outside:
                continue
            if self.facts.types[name] not in ("point", "lanes"):
                if self.facts.types[name] == "double":
                    raise NotGenerated("a number of the last turn is read after a loop")
                raise NotGenerated("samples of the last turn are read after a loop")
            self.lines.append(self.say.declared(f"v{name}", lanes=self.facts.types[name] == "lanes"))
            self._outside.add(name)
        firsts = {c.name: self.same(c.first) for c in loop.carried}
        peeled = loop.count is not None and self._cancels(loop, firsts)
        if loop.count is not None:
            count, turn = self.integer(loop.count), loop.index
        elif set(outside) - {c.following for c in loop.carried}:
            raise NotGenerated("a value of a pass's last turn, which not every client has")
        else:
            count, turn = self.own_count, f"i{loop.index}"
            self._order(loop.index)
        for c in loop.carried:
            self.lines.append(self.say.point(f"v{c.name}", self.value(c.first)))
        self._counts.append("samples" if loop.count is None else count)
        self.turns.append(turn)
        if peeled:
            self.lines.append(self.say.first_turn(turn))
            self._same |= firsts
            self._turn(loop)
            for name in firsts:
                del self._same[name]
            self.lines.append(self.say.end)
        self._there |= {name: f"v{name}" for name in carried}
        self.lines.append(self.say.turns(turn, 1 if peeled else 0, count))
        if loop.count is None:
            self.lines.append(self._sample_of_turn(loop.index, turn))
            self._there[loop.index] = f"v{loop.index}"
        self._turn(loop)
        self.lines.append(self.say.end)
        self.turns.pop()
        self._counts.pop()
        for name in (*carried, *loop.defines):
            if name not in outside:
                self._there.pop(name, None)

    def _order(self, samples: str) -> None:
        """Each client's samples in random order."""
        stream, picks = self._stream_of(samples, "samples"), self.memory.picks(samples)
        self.setup.append(f"{picks}.resize(samples * kLanes);")
        self.lines.append(f"smallest_samples({stream}, samples, count(n), count(n), keys, {picks}.data());")

    def _sample_of_turn(self, samples: str, turn: str) -> str:
        """Which sample is taken in a turn of a pass."""
        return f"const int64_t* v{samples} = {self.memory.picks(samples)}.data() + {turn} * kLanes;"

    def _turn(self, loop: Loop) -> None:
        inside = [name for step in loop.body for name in step.defines]
        there, same = dict(self._there), dict(self._same)
        self.write(loop.body)
        names = {c.name for c in loop.carried}
        following = {c.name: self.value(c.following) for c in loop.carried}
        crossing = any(self.same(c.following) in names - {c.name} for c in loop.carried)
        if crossing:
            for name, text in following.items():
                self.lines.append(self.say.point(f"t{name}", text, fixed=True))
            following = {name: f"t{name}" for name in following}
        for name, text in following.items():
            if text != f"v{name}":
                self.lines.append(self.say.set(f"v{name}", text))
        for name in inside:  # another turn, or what comes after, makes them anew
            if name not in self._outside:
                self._there.pop(name, None)
            if name not in same:
                self._same.pop(name, None)
        for name in there:
            self._there.setdefault(name, there[name])

    def _leaves(self, loop: Loop, name: str) -> bool:
        """Whether a value of a loop's body is read outside of it."""
        if name in self.read_later:
            return True

        def read(steps: Sequence[Step]) -> bool:
            for step in steps:
                if step is loop:
                    continue
                if isinstance(step, Loop):
                    if name in {n for c in step.carried for n in (c.first, c.following)} or read(step.body):
                        return True
                elif name in reads(step):
                    return True
            return False

        return read(self.facts.body)

    def _cancels(self, loop: Loop, firsts: Mapping[str, str]) -> bool:
        """Whether something cancels in the first turn that does not later."""
        for step in loop.body:
            if isinstance(step, Instruction) and step.op == "linear":
                for term in self.facts.terms[step.to]:
                    if isinstance(term, Difference):
                        a, b = (firsts.get(x, self.same(x)) for x in (term.a, term.b))
                        if a == b:
                            return True
        return False


__all__ = ["Drawing", "Writer"]
