"""The pytest plugin: the fixture `assert_claim`. pytest loads it by the entry point, so it imports nothing heavy.

PYTEST_DONT_REWRITE: there is no assertion here to be rewritten.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from validate.assertion import Held
from validate.assertion import assert_claim as checked


@pytest.fixture(scope="session", name="assert_claim")
def assert_claim_fixture() -> Callable[..., Held]:
    """`validate.assert_claim`: fails with both sides, the index and the hypotheses where a claim does not hold."""
    return checked
