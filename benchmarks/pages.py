"""Pages of a folder as readers have them: telephone and desk, light and dark, folded and unfolded, and all links.

    python -m benchmarks.pages report                    every page: axe-core, complaints, what sticks out, links
    python -m benchmarks.pages report --archive report.zip   the links of the archive too, unpacked elsewhere
    python -m benchmarks.pages report --screens 20       and pages that are taller than that before unfolding
    python -m benchmarks.pages build/docs --no-axe       the site: links, complaints and what sticks out
    python -m benchmarks.pages report --rows pages.jsonl     each page kept as soon as it is seen; once more goes on

A line for everything that is wrong; on the way a line for each page, on standard error; the exit status is 1 if
anything is wrong. Needs Playwright, a Chromium and, for accessibility, axe-core-python, all of which the extra `dev`
and the system have.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, product
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import unquote

WIDTHS = {390: 844, 1400: 900}
THEMES = ("light", "dark")
OPEN = "all => all.forEach((one) => { one.open = true; })"
LINKS = """() => ({
  links: [...document.querySelectorAll("a[href], img[src]")].map(
    (one) => new URL(one.getAttribute("href") ?? one.getAttribute("src"), location.href).href),
  ids: [...document.querySelectorAll("[id], a[name]")].map((one) => one.id || one.name),
})"""
STICKS_OUT = """() => {
  const reachable = (one) => {  // within something that scrolls sideways, or that nobody is to see
    for (let at = one; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (at !== one && ["auto", "scroll"].includes(style.overflowX) && at.clientWidth <= innerWidth) return true;
      if (style.position === "fixed" || style.visibility === "hidden" || style.clipPath !== "none") return true;
    }
    return one.closest(".skip, .skip-to-content") !== null;
  };
  const found = [];
  for (const one of document.body.querySelectorAll("*")) {
    const box = one.getBoundingClientRect();
    if (!box.width || !box.height || !one.checkVisibility()) continue;
    const hides = ["hidden", "clip"].includes(getComputedStyle(one).overflowX);
    const clips = hides && one.tagName !== "INPUT" && one.clientWidth > 1;
    const out = box.right > innerWidth + 1 || box.left < -1;
    if ((out || (clips && one.scrollWidth > one.clientWidth + 1)) && !reachable(one)) {
      const named = `${one.tagName.toLowerCase()}.${one.getAttribute("class") || ""}`;
      found.push(`${named}: ${one.textContent.trim().slice(0, 60)}`);
    }
  }
  return found;
}"""


@dataclass(frozen=True)
class Page:
    """What was seen of a page.

    Attributes:
        digest: of the file, in hexadecimal.
        asked: widths, themes, height in screens and whether accessibility was tried; a row is good for these only.
        faults: a line each.
        places: its anchors.
        links: where they lead, as the browser resolves them.
    """

    digest: str
    asked: str
    faults: tuple[str, ...]
    places: tuple[str, ...]
    links: tuple[str, ...]


def looked_at(
    browser: Any,
    folder: Path,
    axe: Any,
    widths: Mapping[int, int] = WIDTHS,
    themes: Sequence[str] = THEMES,
    screens: float = inf,
    rows: Path | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> Iterator[str]:
    """What is wrong with the pages of a folder on screens of these widths and heights, and where links lead.

    Args:
        browser: Playwright's.
        folder: with its folders.
        axe: axe-core's; None to leave accessibility out.
        widths: in pixels, with the heights.
        themes: "light", "dark".
        screens: how many a page may be tall before anything is unfolded.
        rows: where each page is kept once it is seen; one that is kept already, for the same, is not seen again.
        told: called with a line for each page.
    """
    folder, pages = folder.resolve(), {}
    earlier, paths = kept(rows), sorted(folder.rglob("*.html"))
    asked = f"{dict(widths)} {', '.join(themes)} {screens}{' axe' if axe else ''}"
    for number, path in enumerate(paths, 1):
        page, digest = earlier.get(str(path)), hashlib.sha256(path.read_bytes()).hexdigest()
        if not page or (page.digest, page.asked) != (digest, asked):
            page = Page(digest, asked, *seen(browser, path, axe, widths, themes, screens))
            if rows:
                with rows.open("a", encoding="utf-8") as file:
                    file.write("\n" + json.dumps({"path": str(path), **asdict(page)}))  # after what may be cut short
        pages[path], name = page, path.relative_to(folder)
        yield from (f"{name} {fault}" for fault in page.faults)
        told(f"{name}: {len(page.faults)} faults ({number} of {len(paths)})")
    yield from dead(folder, pages)


def seen(
    browser: Any, path: Path, axe: Any, widths: Mapping[int, int], themes: Sequence[str], screens: float
) -> Iterator[tuple[str, ...]]:
    """What is wrong with a page, its anchors and links; arguments as in `looked_at`."""
    faults: list[str] = []
    has: dict[str, list[str]] = {}
    for (width, height), theme in product(widths.items(), themes):
        where = f"{width} {theme}"
        with browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme) as context:
            page = context.new_page()
            page.set_default_timeout(0)  # of a machine that is busy nothing is asked
            said: list[str] = []
            page.on("console", lambda one, said=said: said.append(one.text))
            page.on("pageerror", lambda one, said=said: said.append(str(one)))
            page.on("requestfailed", lambda one, said=said: said.append(f"failed: {one.url}"))
            page.goto(path.as_uri())
            tall = page.evaluate("document.documentElement.scrollHeight") / height
            if tall > screens:
                faults.append(f"{where}: {tall:.1f} screens tall")
            for state in ("folded", "unfolded"):
                if state == "unfolded":
                    page.eval_on_selector_all("details", OPEN)
                    page.wait_for_timeout(200)  # what is opened may make more of itself
                faults += (f"{where} {state}: sticks out: {one}" for one in page.evaluate(STICKS_OUT)[:5])
                if axe:
                    faults += (f"{where} {state}: {one}" for one in violations(axe, page))
            faults += (f"{where}: {one}" for one in said)
            has = has or page.evaluate(LINKS)
    return map(tuple, (faults, has["ids"], has["links"]))


def violations(axe: Any, page: Any) -> Iterator[str]:
    """What axe-core finds, with the first element of each kind."""
    for found in axe.run(page, options={"resultTypes": ["violations"]})["violations"]:
        first = found["nodes"][0]
        yield f"{found['id']} ({len(found['nodes'])}): {first['html'][:160]} {first['failureSummary'][:200]}"


def dead(folder: Path, pages: Mapping[Path, Page]) -> Iterator[str]:
    """Links that lead nowhere within the folder, or out of it to something on this machine."""
    places = {path: set(page.places) for path, page in pages.items()}
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            file, _, anchor = link.partition("#")
            if not file.startswith("file://"):
                continue
            to = Path(unquote(file.removeprefix("file://").partition("?")[0])).resolve()
            if folder not in to.parents or not to.is_file():
                yield f"{path.relative_to(folder)}: dead link {link}"
            elif anchor and to in places and unquote(anchor) not in places[to]:
                yield f"{path.relative_to(folder)}: no such place {link}"


def kept(rows: Path | None) -> dict[str, Page]:
    """Pages of an earlier run by their paths; a line that was cut short is left out."""
    found = {}
    for line in rows.read_text("utf-8").splitlines() if rows and rows.exists() else ():
        with suppress(json.JSONDecodeError):
            row = json.loads(line)
            several = (tuple(row[name]) for name in ("faults", "places", "links"))
            found[row["path"]] = Page(row["digest"], row["asked"], *several)
    return found


def chromium() -> str:
    """The browser's program."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found or sys.exit("there is no Chromium")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--archive", type=Path, help="is unpacked elsewhere, and its links are followed")
    arguments.add_argument("--screens", type=float, default=inf, help="how many a page may be tall before unfolding")
    arguments.add_argument("--no-axe", action="store_true", help="nothing of accessibility")
    arguments.add_argument("--rows", type=Path, help="a page is kept here once it is seen, and not seen again")
    given = arguments.parse_args()
    axe = None
    if not given.no_axe:
        from axe_core_python.sync_playwright import Axe

        axe = Axe()
    from playwright.sync_api import sync_playwright

    wrong, progress = 0, partial(print, file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as elsewhere, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        found = looked_at(browser, given.folder, axe, screens=given.screens, rows=given.rows, told=progress)
        if given.archive:
            with zipfile.ZipFile(given.archive) as archive:
                archive.extractall(elsewhere)
            found = chain(found, looked_at(browser, Path(elsewhere), None, {1400: 900}, THEMES[:1]))
        for one in found:
            wrong += 1
            print(one, flush=True)
        browser.close()
    sizes = [path.stat().st_size for path in given.folder.rglob("*.html")]
    print(f"{len(sizes)} pages, the largest of {max(sizes, default=0) / 1e6:.2f} MB, {wrong} faults")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
