"""The pictures of the report in these pages, taken from a report by a browser.

    python docs/pictures.py REPORT      (make pictures)

Needs Playwright and a Chromium, which the tests of the report's pages need too.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
COLOURS = 128
DESK, PHONE = (1180, 1000), (390, 844)
PICTURES = {
    "report.png": ("index.html", None, DESK, "light"),
    "rests.png": ("fedavg-svrg.html", "#rests", DESK, "light"),
    "claim.png": ("fedavg-svrg.html#fedavg-svrg-theorem-v1-eq8", "#fedavg-svrg-theorem-v1-eq8", DESK, "light"),
    "sheet.png": ("sheet-fedavg-svrg-theorem-v1-eq7.html", None, DESK, "light"),
    "phone.png": ("fedavg-svrg.html", None, PHONE, "dark"),
}
"""By file: the page, the element of it (None for the first screen), the screen, and the theme."""


def take(report: Path) -> None:
    """Take all pictures of the report in a folder."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for name, (address, element, (width, height), theme) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
            page.set_default_timeout(0)  # of a machine that is busy nothing is asked
            file, _, anchor = address.partition("#")
            page.goto(f"{(report / file).resolve().as_uri()}{'#' * bool(anchor)}{anchor}")
            shot = page.locator(element).screenshot() if element else page.screenshot()
            with Image.open(io.BytesIO(shot)) as image:
                cut = image.convert("RGB").crop((0, 0, image.width, min(height, image.height)))
                cut.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / name, optimize=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "index.html").is_file():
        sys.exit("usage: python docs/pictures.py REPORT, a folder that `fedproof report` has written")
    take(Path(sys.argv[1]))
