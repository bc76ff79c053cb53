"""PTX, which a compiler makes of a kernel for a GPU, run by NumPy: 32 threads of a block at once, block by block.

The interpreter of Triton runs a kernel's Python; this runs what is left of it after Triton's front end, its passes and
LLVM, so that what goes wrong there is seen without a GPU. It knows the instructions that our kernels have; of cosines,
only those that need no call; else NotImplementedError. A product that is fused with a sum is rounded twice here.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from sim.gpu.loading import BLOCK

Words = np.ndarray
"""(32,) uint64, a register of each thread; one of 32 bits in the lower half."""

_LOW = np.uint64(0xFFFFFFFF)
_LINE = re.compile(r"(?:@(!?)(%\w+)\s+)?([a-z][\w.:]*)\s*(.*)$")
_PLACE = re.compile(r"\[\s*([%\w]+)\s*(?:\+\s*(-?\d+))?\s*\]")
_TABLE = re.compile(r"^\.global \.align \d+ \.b8 (\w+)\[\d+\] = \{([^}]*)\};", re.MULTILINE)


def _doubles(a: Words) -> np.ndarray:
    return a.view(np.float64)


def _signed(a: Words) -> np.ndarray:
    return a.view(np.int64)


def _low(a: Words) -> Words:
    return a & _LOW


def _signed_low(a: Words) -> np.ndarray:
    return _low(a).astype(np.uint32).view(np.int32).astype(np.int64)


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of integers towards 0."""
    return a / b if a.dtype == np.float64 else (a - np.fmod(a, b)) // b


_READ = {
    "f64": _doubles, "s64": _signed, "u64": lambda a: a, "b64": lambda a: a, "pred": lambda a: a, "s32": _signed_low,
    "f32": lambda a: _low(a).astype(np.uint32).view(np.float32), "u32": _low, "b32": _low,
    "u16": lambda a: a & np.uint64(0xFFFF),
}  # fmt: skip
_COMPARED = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "ltu": lambda a, b: ~(a >= b), "leu": lambda a, b: ~(a > b), "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b), "equ": lambda a, b: ~(a < b) & ~(a > b), "neu": lambda a, b: ~(a == b),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b), "num": lambda a, b: ~np.isnan(a) & ~np.isnan(b),
}  # fmt: skip
_COMPUTED: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "not": np.invert, "neg": np.negative, "abs": np.abs, "shl": np.left_shift,
    "shr": np.right_shift, "div": _quotient, "rem": np.fmod, "sqrt": np.sqrt,
    "fma": lambda a, b, c: a * b + c, "mov": lambda a: a, "rcp": lambda a: 1 / a, "cvta": lambda a: a,
}  # fmt: skip


def _computed(op: str, given: Sequence[Words]) -> Words:
    """The result of an instruction that computes something."""
    name, *how = op.split(".")
    kind = how[-1]
    if name == "selp":
        return np.where(given[2] != 0, given[0], given[1])
    if name == "redux":
        return np.full(BLOCK, np.bitwise_or.reduce(_low(given[0])))
    if op == "add.s16x2":  # two halves, each by itself
        halves = [(a & np.uint64(0xFFFF), a >> np.uint64(16) & np.uint64(0xFFFF)) for a in given]
        low, high = (sum(pair) & np.uint64(0xFFFF) for pair in zip(*halves, strict=True))
        return low | high << np.uint64(16)
    read = [_READ[kind](a) for a in given]
    if name == "setp":
        return _COMPARED[how[0]](*read[:2]).astype(np.uint64)
    if name == "cvt":
        found = read[0] if how[0] != "rzi" else np.trunc(read[0])
        found = np.rint(found) if how[0] == "rni" else found
        to = {"f": np.float64, "s": np.int64, "u": np.uint64}[how[-2][0]]
        return _written(found.astype(to), how[-2])
    if name in ("mul", "mad"):
        found = read[0] * read[1]
        if how[0] == "hi":
            found = found >> np.uint64(32)
        if name == "mad":
            found = found + given[2].view(found.dtype)
        return _written(found, "b64" if how[0] == "wide" else kind)
    if name in ("shl", "shr"):
        read[1] = _low(given[1]).astype(read[0].dtype)
    if kind == "pred" and name == "not":
        return given[0] ^ np.uint64(1)
    return _written(_COMPUTED[name](*read), kind)


def _written(found: np.ndarray, kind: str) -> Words:
    if kind == "f32":
        return found.astype(np.float32).view(np.uint32).astype(np.uint64)
    words = np.ascontiguousarray(found).view(np.uint64)
    return _low(words) if kind.endswith("32") else words


class Kernel:
    """The entry ``advance`` of a module.

    Args:
        text: the module in PTX.
    """

    def __init__(self, text: str) -> None:
        self.tables = {name: bytes(map(int, values.split(","))) for name, values in _TABLE.findall(text)}
        self.code: list[tuple[str, bool, str, list[str]]] = []
        self.labels: dict[str, int] = {}
        body = text[text.index(".entry advance") :]
        for raw in body[body.index("\n{") + 2 : body.index("\n}")].splitlines():
            line = raw.split("//")[0].replace("{ .reg .b32 tmp;", "").replace("; }", ";").strip().rstrip(";")
            if label := re.match(r"(\$\w+):$", line):
                self.labels[label[1]] = len(self.code)
            elif found := _LINE.match(line):
                negated, predicate, op, rest = found.groups()
                operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*", rest)
                self.code.append((predicate or "", bool(negated), op, [one.strip() for one in operands]))

    def run(self, arguments: Sequence[int], memory: np.ndarray, block: int) -> None:
        """One block.

        Args:
            arguments: addresses in bytes, and integers.
            memory: uint64, read and written; tables go to its end.
            block: its number.
        """
        end = len(memory)
        for name, values in self.tables.items():
            words = np.frombuffer(values.ljust(-(-len(values) // 16) * 16, b"\0"), np.uint64)
            end -= len(words)
            memory[end : end + len(words)] = words
            self.labels[name] = end * 8
        threads = _Threads(self, arguments, memory, block)
        with np.errstate(all="ignore"):
            while (at := int(threads.at.min())) < len(self.code):  # those that are behind catch up
                threads.step(at)


class _Threads:
    def __init__(self, kernel: Kernel, arguments: Sequence[int], memory: np.ndarray, block: int) -> None:
        self.kernel, self.arguments, self.memory = kernel, arguments, memory
        self.at = np.zeros(BLOCK, dtype=np.int64)
        self.registers = {"%tid.x": np.arange(BLOCK, dtype=np.uint64), "%ctaid.x": np.full(BLOCK, block, np.uint64)}

    def value(self, text: str) -> Words:
        if text.startswith("%"):
            return self.registers[text]
        if text in self.kernel.tables:
            return np.full(BLOCK, self.kernel.labels[text], np.uint64)
        if text.startswith("__local_depot"):
            text = "0"  # where a call that is not made would find its arguments
        number = int(text[2:], 16) if text[:2] in ("0d", "0f") else int(text, 0)
        return np.full(BLOCK, number & 0xFFFFFFFFFFFFFFFF, np.uint64)

    def keep(self, name: str, words: Words, where: np.ndarray) -> None:
        self.registers[name] = words if where.all() else np.where(where, words, self.registers.get(name, words))

    def step(self, at: int) -> None:
        """Do one instruction, in the threads that have come to it."""
        predicate, negated, op, operands = self.kernel.code[at]
        here = self.at == at
        chosen = here & ((self.registers[predicate] != 0) ^ negated) if predicate else here
        self.at[here] = at + 1
        name = op.split(".")[0]
        if name in ("ret", "bra"):
            self.at[chosen] = len(self.kernel.code) if name == "ret" else self.kernel.labels[operands[0]]
        elif op.startswith("ld.param"):
            number = re.search(r"advance_param_(\d+)", operands[1])
            assert number is not None
            self.keep(operands[0], self.value(str(self.arguments[int(number[1])])), chosen)
        elif name in ("ld", "st"):
            self._move(op, operands, chosen)
        elif name == "mov" and "{" in "".join(operands):
            self._halves(32 if op == "mov.b64" else 16, operands, chosen)
        else:
            assert name != "redux" or chosen.all(), "threads part where they are to meet"
            given = operands[1:2] if name == "redux" else operands[1:]
            try:
                self.keep(operands[0], _computed(op, [self.value(one) for one in given]), chosen)
            except KeyError as error:
                raise NotImplementedError(op) from error

    def _halves(self, width: int, operands: Sequence[str], chosen: np.ndarray) -> None:
        """Between a register and two of half its width."""
        lowest, shift = np.uint64((1 << width) - 1), np.uint64(width)
        low, high = (one.strip() for one in "".join(o for o in operands if "{" in o).strip("{}").split(","))
        if "{" in operands[0]:
            self.keep(low, self.value(operands[1]) & lowest, chosen)
            self.keep(high, self.value(operands[1]) >> shift & lowest, chosen)
        else:
            self.keep(operands[0], self.value(low) & lowest | self.value(high) << shift, chosen)

    def _move(self, op: str, operands: Sequence[str], chosen: np.ndarray) -> None:
        """Between registers and memory."""
        place, several = (operands[0], operands[1]) if op.startswith("st") else (operands[1], operands[0])
        found = _PLACE.match(place)
        assert found is not None, operands
        if ".global" not in op or ".b64" not in op:
            raise NotImplementedError(op)
        address = _signed(self.value(found[1])) + int(found[2] or 0)
        for j, name in enumerate(one.strip() for one in several.strip("{} ").split(",")):
            index = address[chosen] // 8 + j
            if op.startswith("st"):
                self.memory[index] = self.value(name)[chosen]
            else:
                words = np.zeros(BLOCK, np.uint64)
                words[chosen] = self.memory[index]
                self.keep(name, words, chosen)
