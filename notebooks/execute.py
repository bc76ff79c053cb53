"""Runs notebooks from top to bottom and writes them with their outputs: ``python notebooks/execute.py [names]``.

Every notebook has a kernel and an empty working directory of its own, and neither settings nor start-up files of the
user's. What is written is the same on every run: no times, no paths, no versions. An error, or a line on stderr, in a
cell is an error here, and nothing is written.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
SECONDS = 300  # for one cell
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def executed(path: Path) -> str:
    """The notebook with the outputs of a run in a fresh kernel, as text.

    Raises:
        CellExecutionError: of nbclient, when a cell raises.
        ValueError: when a cell writes to stderr.
    """
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as own, TemporaryDirectory() as work:
        # Sockets in a folder of its own: free ports would be found, and then taken by a kernel that starts beside.
        manager = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=f"{own}/kernel.json")
        assert manager.kernel_spec is not None
        manager.kernel_spec.argv[0] = sys.executable  # not that of a kernel which the user has installed by this name
        resources = {"metadata": {"path": work}}
        client = NotebookClient(notebook, km=manager, timeout=SECONDS, resources=resources, coalesce_streams=True)
        client.execute(env=_environment(own), cleanup_kc=True)  # else a kernel of ours would stay
    return normalised(notebook)


def normalised(notebook: Any) -> str:
    """A notebook's text, without what another run or machine would write otherwise.

    Raises:
        ValueError: when a cell has written to stderr.
    """
    import nbformat

    notebook["metadata"] = METADATA
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                raise ValueError(f"cell {cell['id']!r} writes to stderr: {output['text']}")
            if "metadata" in output:
                output["metadata"] = {}
    text: str = nbformat.writes(notebook, version=4)
    return text + "\n"


def _environment(own: str) -> dict[str, str]:
    """The kernel's: this checkout, one thread, and a folder of its own in place of the user's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON", "MPL"))}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "IPYTHONDIR": f"{own}/ipython",
        "MPLCONFIGDIR": f"{own}/matplotlib",
        "JUPYTER_CONFIG_DIR": f"{own}/jupyter",
        "JUPYTER_DATA_DIR": f"{own}/jupyter",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("names", nargs="*", help="notebooks without .ipynb; all of them by default")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to; by default in place")
    given = parser.parse_args(arguments)
    known = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}
    unknown = sorted(set(given.names) - set(known))
    if unknown:
        parser.error(f"{', '.join(unknown)}: not one of {', '.join(known)}")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names or known:
        text = executed(known[name])
        (given.out / known[name].name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
