"""Tasks over processes: the results in order, errors, and nothing begun after one."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from validate.parallel import over_processes


def mark(folder: Path, name: str, fail: bool) -> int:
    """Leave a file; the process's number, or an error."""
    (folder / name).touch()
    if fail:
        raise ArithmeticError(name)
    return os.getpid()


@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_in_order(processes: int) -> None:
    said: list[int] = []
    found = over_processes(math.sqrt, [(float(i * i),) for i in range(6)], processes=processes, done=said.append)
    assert found == [0, 1, 2, 3, 4, 5]
    assert sorted(said) == list(range(6))


def test_where_tasks_run(tmp_path: Path) -> None:
    tasks = [(tmp_path, str(i), False) for i in range(3)]
    assert set(over_processes(mark, tasks, processes=1)) == {os.getpid()}
    assert os.getpid() not in over_processes(mark, tasks, processes=2)
    assert over_processes(mark, [], processes=2) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_after_an_error_nothing_is_begun(tmp_path: Path, processes: int) -> None:
    with pytest.raises(ArithmeticError, match="first"):
        over_processes(
            mark, [(tmp_path, "first", True), *((tmp_path, str(i), False) for i in range(40))], processes=processes
        )
    # others may have run beside it until it was noticed, not all of them
    assert len(list(tmp_path.iterdir())) < 41


def test_no_process_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="processes=0"):
        over_processes(math.sqrt, [(1.0,)], processes=0)
