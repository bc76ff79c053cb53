"""Tasks over processes: the results in order, what they tell, errors and interrupts, and nothing begun after one."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from validate.parallel import over_processes, tell


def mark(folder: Path, name: str, fail: bool) -> int:
    """Leave a file; the process's number, or an error."""
    (folder / name).touch()
    if fail:
        raise ArithmeticError(name)
    return os.getpid()


def mark_slowly(folder: Path, name: str, fail: bool) -> int:
    """The same, but what does not fail takes a while, so that the error is noticed meanwhile."""
    if not fail:
        time.sleep(0.2)
    return mark(folder, name, fail)


def talk(number: int) -> int:
    """Tell more than a pipe holds, and be a task with tasks of its own."""
    tell((number, "x" * 100_000))
    over_processes(tell, [((number, at),) for at in range(3)], processes=1)
    return number


def threads() -> str | None:
    """How many threads the process may use."""
    return os.environ.get("OMP_NUM_THREADS")


def stay(folder: Path, nested: bool) -> None:
    """Keep something finished, then stay, in this process or in others that it begins."""
    (folder / f"{os.getpid()}").touch()
    if nested:
        over_processes(stay, [(folder, False)] * 2, processes=2)
    time.sleep(600)


def vanish(number: int) -> int:
    """Tell something, and at 2 be gone without a word, as what the system ends for its memory."""
    tell(number)
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Unreadable(Exception):
    """An error that no other process can make from its message."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def odd(kind: str) -> object:
    """A result, or an error, that cannot be sent."""
    if kind == "result":
        return lambda: None
    raise Unreadable("un", "readable")


@pytest.mark.parametrize("processes", [1, 2])
def test_what_tasks_tell_is_heard_in_each_one_s_order(processes: int) -> None:
    heard: list[tuple[int, object]] = []
    assert over_processes(talk, [(i,) for i in range(4)], processes=processes, heard=heard.append) == [0, 1, 2, 3]
    assert {type(told[1]) for told in heard} == {str, int}
    for i in range(4):
        assert [told[1] for told in heard if told[0] == i][1:] == [0, 1, 2]


def test_processes_keep_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert over_processes(threads, [(), ()], processes=2) == ["1", "1"]
    assert threads() is None
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert over_processes(threads, [(), ()], processes=2) == ["3", "3"]


def test_a_listener_s_error_ends_the_tasks(tmp_path: Path) -> None:
    def hear(message: object) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        over_processes(talk, [(1,), (2,)], processes=2, heard=hear)


def gone(process: int) -> None:
    """Wait until a process is no more; an orphan's last moment is whenever its new parent looks."""
    for _ in range(200):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{process}/stat").exists() and ") Z " in Path(f"/proc/{process}/stat").read_text():
            return
        time.sleep(0.05)
    pytest.fail(f"process {process} is still there")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize("way", ["Ctrl-C", "interrupt", "kill"])
def test_all_processes_end_with_the_first(tmp_path: Path, way: str) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from tests.validate.test_parallel import stay\n"
        "from validate.parallel import over_processes\n"
        "if __name__ == '__main__':\n"
        "    over_processes(stay, [(Path(sys.argv[1]), True), (Path(sys.argv[1]), False)], processes=2)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    # a process group of its own, as a terminal gives a command
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        for _ in range(1200):
            if len(list(tmp_path.iterdir())) == 4 or process.poll() is not None:
                break
            time.sleep(0.05)
        began = [int(path.name) for path in tmp_path.iterdir()]
        if way == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT if way == "interrupt" else signal.SIGKILL)
        _, said = process.communicate(timeout=60)  # all that write to its stderr have left
    finally:
        process.kill()
    assert len(began) == 4, said
    if way != "kill":
        assert "KeyboardInterrupt" in said.splitlines()[-1]
        assert said.count("Traceback") == 1
    for other in began:
        gone(other)


def test_a_process_that_ends_takes_one_task_with_it() -> None:
    heard: list[object] = []
    ended: list[int] = []

    def lost(at: int, how: str) -> str:
        ended.append(at)
        return how

    found = over_processes(vanish, [(i,) for i in range(6)], processes=2, heard=heard.append, lost=lost)
    assert found == [0, 1, "ended by signal 9", 3, 4, 5]
    assert ended == [2]
    assert sorted(map(str, heard)) == [str(i) for i in range(6)]
    with pytest.raises(ChildProcessError, match="ended by signal 9"):
        over_processes(vanish, [(2,), (3,)], processes=2)


@pytest.mark.parametrize(("kind", "error"), [("result", "pickle"), ("error", "Unreadable: unreadable")])
def test_what_cannot_be_sent_is_an_error(kind: str, error: str) -> None:
    with pytest.raises(Exception, match=error):
        over_processes(odd, [(kind,), (kind,)], processes=2)


@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_in_order(processes: int) -> None:
    said: dict[int, float] = {}
    tasks = [(float(i * i),) for i in range(6)]
    assert over_processes(math.sqrt, tasks, processes=processes, done=said.__setitem__) == [0, 1, 2, 3, 4, 5]
    assert said == {i: i for i in range(6)}


@pytest.mark.parametrize("processes", [1, 2])
def test_after_an_error_nothing_is_begun(tmp_path: Path, processes: int) -> None:
    tasks = [(tmp_path, "first", True), *((tmp_path, str(i), False) for i in range(40))]
    with pytest.raises(ArithmeticError, match="first"):
        over_processes(mark_slowly, tasks, processes=processes)
    # others may have run beside it until it was noticed, not all of them
    assert len(list(tmp_path.iterdir())) < 41


def test_no_process_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="processes=0"):
        over_processes(math.sqrt, [(1.0,)], processes=0)
