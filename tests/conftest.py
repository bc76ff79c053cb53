"""Property tests draw the same examples in every run; HYPOTHESIS_PROFILE=explore draws new ones."""

import gc
import os
import signal
from pathlib import Path

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


SLOW = Path(__file__).with_name("slow.txt")
"""Tests, and files of tests, of five seconds and more that only say once more, or for a rarer case, what a quick one
says: marked slow like those that are so by nature."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is listed as slow.

    Raises:
        pytest.UsageError: where all tests are collected, and one of the list is not there.
    """
    listed = set(SLOW.read_text(encoding="utf-8").splitlines())
    for item in items:
        named = {item.nodeid, item.nodeid.partition("::")[0]} & listed
        if named:
            item.add_marker(pytest.mark.slow)
            item.stash[_LISTED] = named
    lost = listed - {name for item in items for name in item.stash.get(_LISTED, ())}
    if lost and not config.option.file_or_dir:
        raise pytest.UsageError(f"{SLOW.name} has {min(lost)}, which is no test")


_LISTED = pytest.StashKey[set[str]]()


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
