"""From a kernel's text to something that Triton runs, or compiles for a GPU that is not there."""

from __future__ import annotations

import hashlib
import linecache
from functools import lru_cache
from pathlib import Path
from typing import Any

_HOME = Path(__file__).parent
_HEAD = "import triton\nimport triton.language as tl\n"
BLOCK = 32
"""Runs of a block: as many as a warp has threads, so that a thread reads only what it wrote, without barriers."""
OPTIONS = {"num_warps": 1, "enable_fp_fusion": False}
"""Nothing is fused but what says so: runs are the same to the last bit in every batch."""


def missing() -> str:
    """Why kernels cannot be run at all, as one clause; empty where they can."""
    try:
        import triton
    except (ImportError, OSError) as error:  # OSError for a library that it loads itself
        return f"triton cannot be imported ({error})"
    return "" if hasattr(triton, "jit") else "triton has no jit"


def interpreting() -> bool:
    """Whether Triton's interpreter runs kernels, on the CPU."""
    import triton

    return bool(triton.knobs.runtime.interpret)


def source_of(text: str, functions: str, defines: tuple[str, ...]) -> str:
    """The whole text of a module with the function ``advance``.

    Args:
        text: of the kernel.
        functions: the problem's, by the name of their file here.
        defines: ``NAME=value``, integers that are known when it is compiled.
    """
    known = (one.replace("DIM=", "D=").split("=") for one in defines)
    constants = "".join(f"{name} = tl.constexpr({value})\n" for name, value in known)
    parts = [_functions("points"), _functions("draws"), _functions(functions)]
    return f"{_HEAD}{constants}\n{''.join(parts)}{text}"


@lru_cache
def _functions(name: str) -> str:
    """The functions of a file of this folder, made functions of Triton."""
    text = (_HOME / f"{name}.py").read_text(encoding="utf-8")
    text = text[text.index("\ndef ") + 1 :]
    return "".join(f"@triton.jit\n{line}" if line.startswith("def ") else line for line in text.splitlines(True))


def kernel_of(source: str) -> Any:
    """The function ``advance`` of a text, as Triton has it."""
    return _kernel_of(source, interpreting())


@lru_cache(maxsize=64)
def _kernel_of(source: str, interpreted: bool) -> Any:
    """Triton decides when a function is made whether it will be interpreted."""
    name = f"fedproof_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # Triton reads a function's text there
    space: dict[str, Any] = {"__name__": name, "__file__": file}
    exec(compile(source, file, "exec"), space)
    return space["advance"]
