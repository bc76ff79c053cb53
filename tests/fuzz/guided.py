"""Fuzzing guided by coverage (atheris, libFuzzer): the verifier, the SPEC reader, formulas and sweeps.

Each target runs in a process of its own, from the valid inputs as its corpus; what it finds beyond a right answer or a
clear error ends it, with the input in the folder that is named.
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

TARGETS = ("certificate", "problem file", "formula", "sweep")
INSTRUMENTED = {
    "certificate": ["validate.verifier"],
    "problem file": ["validate.scenario"],
    "formula": ["theory.formula", "theory.arithmetic", "theory.operations", "validate.verifier"],
    "sweep": ["validate.sweep"],
}
LONGEST = 20_000  # bytes of an input


def run(seconds: int, only: Sequence[str] | None = None) -> int:
    """So many seconds of each target; returns the exit status, 1 when one failed."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: pip install -e '.[fuzz]'; nothing was run")
        return 0
    status = 0
    for name in [name for name in TARGETS if not only or name in only]:
        kept = Path(tempfile.mkdtemp(prefix="fedproof-fuzz-"))
        command = [sys.executable, "-m", "tests.fuzz.guided", name, str(kept), str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 300, check=False)
        said = done.stderr
        runs = re.findall(r"^#(\d+)\s", said, re.MULTILINE) or re.findall(r"Done (\d+) runs", said)
        covered = re.findall(r"cov: (\d+)", said)
        failed = done.returncode != 0
        status = max(status, int(failed))
        print(f"{name}: {max(map(int, runs), default=0)} runs, {covered[-1] if covered else 0} edges covered, "
              f"{'FAILED, see ' + str(kept) if failed else 'no failure'}", flush=True)  # fmt: skip
        if failed:
            print(said[-3000:])
    return status


def corpus(name: str) -> list[bytes]:
    """Valid inputs of a target."""
    import json

    from tests.fuzz import seeds

    if name == "certificate":
        return [json.dumps(made).encode() for made in seeds.certificates().values()]
    if name == "problem file":
        return [json.dumps(spec).encode() for spec in seeds.SPECS]
    if name == "sweep":
        return [seeds.toml(sweep).encode() for sweep in seeds.SWEEPS]
    return [b"min(L, 2)**2/(1-mu*K)", b"0 < x <= 1/(2*L)", b"sqrt(L) + exp(-mu) - log(K)", b"-(1.5e-3)"]


def main(name: str, kept: Path, seconds: int) -> None:
    """Fuzz one target in this process; ends it."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED[name], enable_loader_override=False):
        from tests.fuzz import targets
        from tests.fuzz.limits import TooSlow, limited

        content = corpus(name)
        for part in content:  # what is imported late is instrumented as well
            _call(targets, name, part)

    def once(data: bytes) -> None:
        try:
            with limited(20):
                _call(targets, name, data)
        except TooSlow as error:
            raise RuntimeError(f"too slow: {error}") from None

    folder = kept / "corpus"
    folder.mkdir()
    for number, part in enumerate(content):
        (folder / str(number)).write_bytes(part)
    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-artifact_prefix={kept}/", "-rss_limit_mb=6000",
               "-timeout=60", "-verbosity=1"]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(folder)], once)
    atheris.Fuzz()


def _call(targets: object, name: str, data: bytes) -> None:
    from tests.fuzz import targets as module

    if name == "certificate":
        module.verify(data)
    elif name == "problem file":
        module.read_spec(data)
    elif name == "sweep":
        module.read_sweep(data)
    else:
        module.read_formula(data.decode("utf-8", "replace")[:6000])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
