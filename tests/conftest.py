"""Property tests draw the same examples in every run; HYPOTHESIS_PROFILE=explore draws new ones."""

import gc
import os
import signal

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeatable")
settings.load_profile(PROFILE)
if PROFILE == "repeatable" and hasattr(providers, "_get_local_constants"):
    # Constants of whatever modules are loaded are drawn too: then examples depend on which tests ran before.
    providers._get_local_constants = lambda: providers._local_constants

# What a shell begins in the background ignores interrupts, and hands that on to the programs that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Modules and tests stay to the end: collections of garbage need not go through them.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture
def without_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick check searches from no instance, and none far out: most of its time, where the verdict is the pool's."""
    from validate import examine

    monkeypatch.setitem(examine.EVALUATIONS, True, 0)
    monkeypatch.setitem(examine.FAR, True, 0)


@pytest.fixture
def few_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick check draws few instances, and searches from none of them: for what a pool alone is not asked to see."""
    from validate import examine

    monkeypatch.setitem(examine.POOL, True, 20)
    monkeypatch.setitem(examine.EVALUATIONS, True, 0)
