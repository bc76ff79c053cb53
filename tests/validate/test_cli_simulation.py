"""The contract of `fedproof moments` and `simulate`."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.native import build
from tests.shares import share
from tests.validate.command_line import SPEC, call, changed, command, complaint, printed
from validate.commands import output, simulation
from validate.commands.output import noticing_interrupts

pytestmark = pytest.mark.usefixtures("folder")


def test_exact_moments_of_an_instance_done_by_hand() -> None:
    # f = t^2/2, one step of 1/2, p = 1/2: theta' = theta (1 - 1_n), so theta^k = 4 with probability 2^-k and else 0
    found = printed("moments", "spec.json", "--exact")
    assert found == {
        "algorithm": "fedavg-svrg",
        "K": 2,
        "mean": ["4", "2", "1"],
        "second_moment": ["16", "8", "4"],
        "squared_gradient_norm": ["16", "8", "4"],
        "suboptimality": ["8", "4", "2"],
        "drift_sum": "0",
        "weighted_sum": "48",
        "lexicographic_drift_sum": "0",
    }
    floats = printed("moments", "-", given=changed())
    assert floats["second_moment"] == pytest.approx([16, 8, 4])
    assert all(isinstance(value, float) for value in floats["mean"])
    assert floats["weighted_sum"] == pytest.approx(48)
    table = call("moments", "spec.json", "--exact").stdout.splitlines()
    assert table[1].split() == ["0", "4", "16", "16", "8"]
    assert table[-2] == "weighted_sum = 48"


@pytest.mark.parametrize("aggregation", share(["unbiased", "normalised"], 2))
def test_rounds_drawn_again_and_chances_that_change_as_simulated(aggregation: str) -> None:
    """Means of 20,000 runs within 6 standard errors: with probability 1 - 2e-9 each of two metrics."""
    clients = [{"h": ["1", "2"], "a": ["1", "0"], "p": ["1/2", "1/4", "3/4"]}, {"h": "2", "a": "-1", "p": "1/3"}]
    spec = changed(clients=clients, S=1, M=2, step="1/4", K=3, aggregation=aggregation, empty="condition")
    found, exact = (
        printed("simulate", "-", "--runs", 20000, "--seed", 5, given=spec),
        printed("moments", "-", given=spec),
    )
    for name in ("suboptimality", "squared_gradient_norm"):
        measured = found["metrics"][name]
        assert abs(measured["mean"] - exact[name][-1]) <= 6 * measured["standard_error"]


def test_simulate_agrees_with_itself_in_any_blocks(folder: Path) -> None:
    # With p = 1/2 the model is 4 or 0: the mean over 300 runs is a multiple of 4/300 and the draws are the seed's.
    options = ["--runs", 300, "--seed", 5, "--metric", "squared_iterate_norm"]
    whole = printed("simulate", "spec.json", *options)
    blocks = printed("simulate", "spec.json", *options, "--block", 7, "--out", "deep/runs.npz")
    assert blocks["metrics"] == whole["metrics"]
    assert blocks["out"] == str(Path("deep") / "runs.npz")
    assert sorted(path.name for path in (folder / "deep").iterdir()) == ["runs.npz"]
    with np.load(folder / "deep" / "runs.npz") as stored:
        values, settings = stored["squared_iterate_norm"], json.loads(str(stored["settings"]))
        assert stored["final"].shape == (300, 1)
    assert settings["spec"] == SPEC
    assert values.shape == (300, 3)
    metric = whole["metrics"]["squared_iterate_norm"]
    assert metric["mean"] == pytest.approx(values[:, -1].mean())
    assert metric["standard_error"] == pytest.approx(values[:, -1].std(ddof=1) / 300**0.5)
    assert "is finished" in complaint(call("simulate", "spec.json", *options, "--out", "deep/runs.npz"))
    Path("mine.npz").write_text("mine", encoding="utf-8")
    said = complaint(call("simulate", "spec.json", *options, "--out", "mine.npz"))
    assert "mine.npz exists, and is no simulation's; give another --out" in said
    text = call("simulate", "spec.json", "--runs", 1, "--metric", "iterate")
    assert text.stdout.splitlines()[0].split() == ["metric", "mean", "standard", "error"]


def test_an_interrupted_simulation_goes_on_where_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sim import simulate as package
    from sim.simulate import simulate as run

    options = ["--runs", 50, "--block", 10, "--out", "runs.npz"]
    asked: list[int] = []

    def stops_at_thirty(*arguments: Any, first_run: int, **more: Any) -> Any:
        if first_run == 30:
            raise KeyboardInterrupt
        return run(*arguments, first_run=first_run, **more)

    def watched(*arguments: Any, first_run: int, **more: Any) -> Any:
        asked.append(first_run)
        return run(*arguments, first_run=first_run, **more)

    monkeypatch.setattr(package, "simulate", stops_at_thirty)
    stopped = call("simulate", "spec.json", *options)
    assert stopped.exit_code == 130
    assert stopped.stderr.splitlines() == ["30 of 50 runs are kept; go on with --resume", "interrupted"]

    monkeypatch.setattr(package, "simulate", watched)
    assert "--resume" in complaint(call("simulate", "spec.json", *options))
    (folder / "other.json").write_text(changed(theta0="5"), encoding="utf-8")
    assert "another simulation" in complaint(call("simulate", "other.json", *options, "--resume"))
    assert "another simulation" in complaint(call("simulate", "spec.json", *options, "--seed", 1, "--resume"))
    with monkeypatch.context() as without:
        without.setattr(build, "compiler", lambda: None)
        assert "or one of them has no C++ compiler" in complaint(call("simulate", "spec.json", *options, "--resume"))
    half = folder / "runs.npz.parts" / "runs-000000010.npz"
    whole = half.read_bytes()
    half.write_bytes(whole[: len(whole) // 2])
    assert "damaged" in complaint(call("simulate", "spec.json", *options, "--resume"))
    half.write_bytes(whole)
    assert asked == []
    resumed = printed("simulate", "spec.json", *options, "--resume")
    assert asked == [30, 40]
    assert resumed["metrics"] == printed("simulate", "spec.json", "--runs", 50)["metrics"]
    assert not (folder / "runs.npz.parts").exists()


def test_a_refused_simulation_leaves_nothing_behind(folder: Path) -> None:
    assert "nonsense" in complaint(call("simulate", "spec.json", "--metric", "nonsense", "--out", "runs.npz"))
    assert [path.name for path in folder.iterdir()] == ["spec.json"]


def test_a_device_that_is_not_there_is_named_before_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("spec.json").write_text(json.dumps(SPEC), encoding="utf-8")
    monkeypatch.setattr("validate.commands.simulation.bar", lambda _: pytest.fail("the work has begun"))
    assert "device=' ' is not a device of torch; use 'cpu' or 'cuda'" in complaint(
        call("simulate", "spec.json", "--runs", 8, "--device", " ")
    )


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupt_that_nobody_can_catch_is_kept_and_not_told(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A callback of the collector that is interrupted: Python tells of it as of a defect, and goes on."""
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    class Ending:
        def __del__(self) -> None:
            if error is ValueError:
                raise ValueError("a defect")
            signal.raise_signal(signal.SIGINT)

    with noticing_interrupts() as check:
        Ending()
        assert bool(told) == (error is ValueError)
        if error is KeyboardInterrupt:
            with pytest.raises(KeyboardInterrupt):
                check()
    assert sys.unraisablehook == told.append


def test_an_interrupt_that_was_lost_is_noticed() -> None:
    before = signal.getsignal(signal.SIGINT)
    with noticing_interrupts() as check:
        check()
        with contextlib.suppress(KeyboardInterrupt):  # as in a destructor, where Python drops it
            signal.raise_signal(signal.SIGINT)
        for told in (check, lambda: output.progress("at work")):
            with pytest.raises(KeyboardInterrupt):
                told()
        with noticing_interrupts() as inner, pytest.raises(KeyboardInterrupt):
            inner()
    assert signal.getsignal(signal.SIGINT) is before


def test_long_work_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0.01)
    said = ""
    with output.telling_time("the moments"):
        while "the moments: 0 s so far" not in said:
            said += capsys.readouterr().err


def test_an_interrupt_signal_keeps_the_finished_blocks(folder: Path) -> None:
    arguments = [command(), "simulate", "spec.json", "--runs", str(10**8), "--block", "20", "--out", "runs.npz"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        parts = folder / "runs.npz.parts"
        while process.poll() is None and len(list(parts.glob("runs-*.npz"))) < 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (130, "")
    assert "are kept; go on with --resume" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("place", "where"), [("eta", "parameters: eta"), ("start", "start"), ("h", "problem")])
@pytest.mark.parametrize("command_name", ["moments", "simulate"])
def test_a_number_that_float64_does_not_have_is_named(command_name: str, place: str, where: str) -> None:
    entry = {"eta": "1/10", "start": "3", "h": "1", place: "1e400"}
    instance = {
        "algorithm": "algorithms/local_sgd",
        "parameters": {"eta": entry["eta"], "H": 2},
        "problem": {"clients": [[{"h": entry["h"], "b": 0}], [{"h": 2, "b": 1}]]},
        "start": [entry["start"]],
        "rounds": 2,
    }
    said = complaint(call(command_name, "-", given=json.dumps(instance)))
    assert said == f"error: {where} has a number beyond float64, 1.8e308; `moments --exact` has fractions"
    assert "E+" in call("audit", "-", "--ball", "1", given=json.dumps(instance)).stdout or place == "eta"
    assert call("moments", "-", "--exact", given=json.dumps(instance)).exit_code == 0


def test_fractions_that_grow_are_told_of_beforehand() -> None:
    """The count is of the order of what is printed, which has columns of one width besides."""
    instance = {
        "algorithm": "algorithms/local_sgd",
        "parameters": {"eta": "1/10", "H": 2},
        "problem": {"clients": [[{"h": "1/3", "b": 0}], [{"h": 2, "b": 1}]]},
        "start": ["1"],
        "rounds": 400,
    }
    found = call("moments", "-", "--exact", given=json.dumps(instance))
    (warning,) = found.stderr.splitlines()
    told = float(warning.split(" MB")[0].split()[-1]) * 1e6
    assert told / 2 < len("".join(found.stdout.split())) < told * 2
    few = call("moments", "-", "--exact", given=json.dumps({**instance, "rounds": 40}))
    assert not few.stderr
    assert not call("moments", "-", given=json.dumps(instance)).stderr


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell that closes streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_defect(closed: str) -> None:
    for words in ("claims --json", "show textbook/young", "bound textbook/young"):
        line = f"{command()} {words} {closed}"
        status = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=False, timeout=120).returncode
        assert status == (2 if words.startswith("bound") else 0), line


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_runs_whose_metrics_leave_float64_say_so(flags: tuple[str, ...]) -> None:
    far = {
        "algorithm": "algorithms/local_sgd",
        "parameters": {"eta": "1/10", "H": 2},
        "problem": {"clients": [[{"h": 1, "b": 0}], [{"h": 2, "b": 1}]]},
        "start": ["1e155"],
        "rounds": 2,
    }
    found = call("simulate", "-", "--runs", "10", *flags, given=json.dumps(far))
    assert found.exit_code == 0
    assert "suboptimality leaves the range of float64 in the mean of 10 runs" in found.stderr
    assert "leaves" not in found.stdout


def test_a_pipe_is_no_simulation_and_nobody_waits_for_what_comes_of_it(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert "is no simulation's" in complaint(call("simulate", "spec.json", "--out", "pipe"))


def test_two_simulations_with_one_out_are_told_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def finished_by_another(path: Path, arrays: object) -> None:
        shutil.rmtree(path.parent)
        path.write_bytes(b"")

    monkeypatch.setattr(simulation, "write_arrays", finished_by_another)
    assert "is --out another's too?" in complaint(call("simulate", "spec.json", "--runs", "2", "--out", "a.npz"))
