"""An interrupt reaches the process that began the others, and waits while it begins one."""

import signal
import subprocess
import sys

import pytest

from validate.parallel import interrupts_held, over_processes


def _takes() -> tuple[bool, bool]:
    """Whether this process ignores interrupts, and whether it lets them through to what it begins."""
    return signal.getsignal(signal.SIGINT) == signal.SIG_IGN, signal.SIGINT not in signal.pthread_sigmask(
        signal.SIG_BLOCK, ()
    )


def test_an_interrupt_waits_until_a_process_has_begun() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - where it is raised is what is tested
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)  # to this thread: the kernel may give os.kill's to any other
            done.append("begun")
        done.append("after")
    assert done == ["begun"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_processes_ignore_interrupts_and_hold_none_back() -> None:
    assert over_processes(_takes, [(), ()], processes=2) == [(True, True)] * 2


def test_the_first_process_is_begun_as_the_others_are() -> None:
    """With it multiprocessing begins its tracker of resources, and takes interrupts afterwards."""
    code = (
        "import signal\nfrom multiprocessing import get_context\nfrom validate.parallel import interrupts_held\n"
        "process = get_context('spawn').Process(target=print)\n"
        "with interrupts_held():\n    process.start()\n    held = signal.pthread_sigmask(signal.SIG_BLOCK, ())\n"
        "process.join()\nassert signal.SIGINT in held"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
