"""The browser in which the tests look at the report's pages."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = next((p for name in ("chromium", "google-chrome", "chromium-browser") if (p := shutil.which(name))), None)
LAUNCH = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium without a window; skips where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=LAUNCH)
        yield found
        found.close()
