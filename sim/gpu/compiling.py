"""A kernel compiled for a GPU that need not be there: whether it can be, and what it takes."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from sim.generated.functions import NativeFunctions
from sim.gpu import FUNCTIONS, KernelText
from sim.gpu.loading import BLOCK, OPTIONS, kernel_of, source_of

_USAGE = re.compile(r"Function advance:\s+REG:(\d+) STACK:(\d+)")


@dataclass(frozen=True)
class Taken:
    """What a thread of a kernel takes.

    Attributes:
        registers: of 32 bits.
        stack: bytes of memory, for what registers have no room for and for what libraries keep there (cosines).
    """

    registers: int
    stack: int


def compiled(text: KernelText, functions: NativeFunctions, capability: int = 90) -> Any:
    """The kernel as Triton compiles it, with the assembler that it brings.

    Args:
        text, functions: as `sim.gpu.kernel` gives them.
        capability: of the GPU, 90 for an H100 or H200.

    Raises:
        ImportError: without Triton.
    """
    from triton import compile as compile_
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = kernel_of(source_of(text.text, FUNCTIONS[functions.header], functions.defines))
    source = ASTSource(fn=kernel, signature={**text.arguments, "BLOCK": "constexpr"}, constexprs={"BLOCK": BLOCK})
    return compile_(source, target=GPUTarget("cuda", capability, 32), options=OPTIONS)


def taken(kernel: Any) -> Taken:
    """What a compiled kernel takes, read off its machine code."""
    from triton import knobs

    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        call = [knobs.nvidia.cuobjdump.path, "-res-usage", file.name]
        shown = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    found = _USAGE.search(shown)
    assert found is not None, shown
    return Taken(int(found[1]), int(found[2]))


__all__ = ["Taken", "compiled", "taken"]
