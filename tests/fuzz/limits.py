"""The time that one case may take, by the processor's clock of this process, so that a busy machine changes nothing."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooSlow(BaseException):
    """A case went on after its time. Not an Exception, so that no handler in the code under test takes it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupt what runs for longer.

    A single call into C is interrupted only when it returns.

    Raises:
        TooSlow: where the time was up.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds} s of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
