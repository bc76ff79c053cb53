"""Simulation by kernels in Triton: whether they are taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sim.simulate.parameters import Parameters
from theory.program import Program

if TYPE_CHECKING:
    from sim.generated import NativeFunctions
    from sim.gpu import KernelText
    from sim.population import OpenPopulation


def why_no_kernel(
    program: Program,
    problem: Any,
    parameters: Parameters,
    metrics: tuple[str, ...] = (),
    torch_only: Mapping[str, Any] | None = None,
    population: OpenPopulation | None = None,
) -> tuple[KernelText, NativeFunctions] | str:
    """The kernel, not yet compiled, or why there is none, as one clause.

    Args:
        program, problem, parameters, metrics: what is to be run.
        torch_only: arguments by name that only torch serves; those that are there say no.
        population: the open population, if there is one.
    """
    from sim.gpu import kernel

    for name, value in (torch_only or {}).items():
        if value:
            return f"{name} is served by torch alone"
    if population is not None:
        return "there is no kernel for an open population"
    return kernel(program, problem, parameters, metrics)


def missing() -> str:
    """Why there is no Triton here, as one clause; empty where there is."""
    from sim.gpu import loading

    return loading.missing()


def why_not_here(device: str) -> str:
    """Why kernels do not run on a device, as one clause; empty where they do."""
    from sim.gpu.loading import interpreting

    if why := missing():
        return why
    if device == "cpu" and not interpreting():
        return "device='cpu' is for Triton's interpreter alone, TRITON_INTERPRET=1"
    return "" if device == "cpu" or device.startswith("cuda") else f"device={device!r} is neither the CPU nor CUDA"
