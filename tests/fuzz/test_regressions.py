"""What fuzzing found, each once as it was found."""

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.derivation.judging import files
from tests.fuzz.limits import limited
from tests.fuzz.seeds import SPECS, certificates
from tests.fuzz.stores import valid_store, with_changes
from tests.validate import plays
from tests.validate.command_line import SPEC, call, client, complaint
from tests.validate.tampering import edit
from validate import verifier
from validate.instances.spec_moments import moments_of_spec
from validate.scenario import read_scenario

HUGE = "9" * 4001


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec["algorithm"])
@pytest.mark.parametrize(
    "value", ["1e99999999", "1e-99999999", "1e+999_999_999", "-2.5E123456789012345678901234567890 "]
)
def test_an_exponent_is_not_written_out(spec: dict[str, Any], value: str) -> None:
    with limited(2), pytest.raises(ValueError, match="exponent"):
        read_scenario({**spec, "step": value}, exact=True)


@pytest.mark.parametrize("value", ["1e400", "-1e400", HUGE, 10**400], ids=lambda v: repr(v)[:9])
def test_a_number_beyond_float64_is_refused(value: Any) -> None:
    for spec in SPECS:
        read_scenario({**spec, "clients": [{**c, "h": value, _other(c): 1} for c in spec["clients"]]}, exact=True)
        with pytest.raises(ValueError, match=r"h=.* beyond the range of float64") as caught:
            read_scenario({**spec, "clients": [{**c, "h": value, _other(c): 1} for c in spec["clients"]]}, exact=False)
        assert len(str(caught.value)) < 400


def _other(entry: dict[str, Any]) -> str:
    return "a" if "a" in entry else "b"


@pytest.mark.parametrize("value", ["²", "٣", "1" * 5000, "--1", 10**30, "1000000001"], ids=range(6))
def test_a_count_is_an_integer_in_digits_that_can_be_counted(value: Any) -> None:
    for key in ("K", "S", "M"):
        with pytest.raises(ValueError, match=rf"^{key}=.* (is not an integer in|is more than)") as caught:
            read_scenario({**SPEC, key: value}, exact=False)
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("entries", [{"K": 10**9}, {"S": 10**9}, {"M": 10**9}, {"K": 10**21}, {"S": 10**20}])
@pytest.mark.parametrize("how", [(), ("--exact",)])
def test_moments_that_no_machine_holds_are_refused(entries: dict[str, int], how: tuple[str, ...]) -> None:
    with limited(5):
        said = complaint(call("moments", "-", *how, given=json.dumps({**SPEC, **entries})))
    assert "at most 5000000" in said or "more than 1000000000" in said


def test_a_simulation_that_no_machine_holds_is_refused() -> None:
    with limited(5):
        said = complaint(call("simulate", "-", "--runs", 10**6, given=json.dumps({**SPEC, "K": 10**6})))
    assert "values" in said


def test_memory_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def moments(*given: Any, **options: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("validate.instances.spec_moments.moments_of_spec", moments)
    assert "memory" in complaint(call("moments", "-", given=json.dumps(SPEC)))


@pytest.mark.parametrize(
    "value", ["x" * 9000, ["x" * 9000], {"x": "y" * 9000}, 10**40_000], ids=lambda v: type(v).__name__
)
def test_a_message_is_short_however_long_the_value(value: Any) -> None:
    for spec in ({**SPEC, "clients": value}, {**SPEC, "clients": client(a=value)}, {**SPEC, "step": value}):
        for exact in (True, False):
            with pytest.raises(ValueError, match=r"clients|step") as caught:
                read_scenario(spec, exact=exact)
            assert len(str(caught.value)) < 400


def test_a_store_with_bytes_for_text_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_bytes(with_changes(valid_store(), [("work.worker", (0, b"\x80"))]))
    assert "is damaged" in complaint(call("sweep", "--status", tmp_path / "a.sqlite", "--export", tmp_path / "a.csv"))


HIDDEN = "L\n\x1b[2Jok    VALID: the claim is false as stated"


@pytest.mark.parametrize("place", [("claim",), ("statement",), ("assumptions", 0, "text"), ("relations", 0)])
def test_a_certificate_cannot_write_lines_of_the_report(place: tuple[Any, ...]) -> None:
    """A constant's name went to the terminal as it was."""
    made = edit(certificates()["lost-factor"], place, HIDDEN)
    with contextlib.suppress(verifier.FormatError):
        said = verifier.verify(made)
        for line in (*said.claimed, *said.lines):
            assert line.isprintable()
            assert not line.startswith("ok    VALID")


@pytest.mark.parametrize("value", ["x", ["x"]])
def test_a_parameter_cannot_write_lines_of_the_message(value: Any) -> None:
    made = edit(certificates()["lost-factor"], ("parameters", HIDDEN), value)
    with pytest.raises(verifier.FormatError) as caught:
        verifier.verify(made)
    assert str(caught.value).isprintable()


def test_a_tiny_probability_diverges_without_a_warning() -> None:
    tiny = json.dumps({**SPEC, "clients": client(p=5e-324)})
    assert "float64" in complaint(call("moments", "-", given=tiny))


@pytest.mark.parametrize("words", [("moments", "a\x1cb\x1b[2J"), ("bo\x1b[2Jnd",), ("show", "\x1b[31mx\u2028y")])
def test_an_error_is_one_line_that_a_terminal_may_show(words: tuple[str, ...]) -> None:
    said = call(*words).stderr
    assert said.startswith("error: ")
    assert said.removesuffix("\n").isprintable()


@pytest.mark.parametrize(
    "definition",
    ["a=max(n)", "a<max(n, 1)", "max(n)/(2*", "Kamax(n)/2", "lam if n else 1", "1<" + "+".join(["1"] * 2000)],
    ids=range(6),
)
def test_a_definition_that_nothing_needs_is_a_formula_too(definition: str) -> None:
    """The verifier read a definition only when something asked for its value."""
    made = certificates()["lost-factor"]
    with pytest.raises(verifier.FormatError):
        verifier.verify(edit(made, ("definitions", "unused"), definition))
    assert verifier.verify(edit(made, ("definitions", "unused"), "2 + 3*eta")).valid


@pytest.mark.parametrize("small", ["3/1000000000000", "1/1000000000", "1/1000"])
@pytest.mark.parametrize("kind", ["local-sgd", "fedmim", "shuffling-local-sgd"])
def test_a_minimiser_that_is_far_away_costs_no_digits(kind: str, small: str) -> None:
    """Curvatures that all but cancel: floats centred at the minimiser gave E||theta||^2 = 2.7e6 for 4, and -4.7e4."""
    clients = [
        {"h": ["1", small], "a": ["0", "1"]} if kind == "local-sgd" else {"h": ["1", small], "b": ["0", small]},
        {"h": "-1/2", "a": "-1"} if kind == "local-sgd" else {"h": "-1/2", "b": "1/2"},
    ]
    entries = {
        "local-sgd": {"theta0": "-2"},
        "fedmim": {"x0": "-2", "S": 2},
        "shuffling-local-sgd": {"v0": "-2", "epochs": 3},
    }[kind]
    spec = {"algorithm": kind, "clients": clients, "step": "1/4", "local_steps": 2, "K": 3, **entries}
    if kind == "shuffling-local-sgd":
        spec.pop("K")
        spec |= {"alpha": ["1/2", "1/2"]}
    exact, floats = (moments_of_spec(spec, exact=exact)["second_moment"] for exact in (True, False))
    for one, other in zip(exact, floats, strict=True):
        assert other == pytest.approx(float(one), rel=1e-5)


def test_a_break_in_another_outcome_than_the_worst_is_one() -> None:
    made = certificates()["variates"]
    other = edit(made, ("program", "round", 2, "body", 1, "numbers", 0), "2")
    other = {
        **other,
        "left": "63027721/147456",
    }  # by hand, of the first client twice
    assert verifier.verify(other).valid
    assert plays.recomputed(other)
    assert plays.recomputed({**other, "left": "2758245361/2359296"})
    assert not plays.recomputed({**other, "left": "63027721/147457"})


def test_a_state_of_a_derivation_s_program_begins_with_a_vector() -> None:
    _, data = files()["perm/lemma-8"]
    other = copy.deepcopy(data)
    other["program"]["state"][2]["initial"] = "1"
    with pytest.raises(verifier.FormatError, match="t begins with what is no vector"):
        verifier.verify(other)


@pytest.mark.parametrize("ends", [("0", "-1", False), ("0", "0", True)], ids=["turned", "open"])
def test_nothing_is_proved_of_a_domain_without_a_number(ends: tuple[str, str, bool]) -> None:
    _, data = files()["fedmim/eq2/corrected"]
    lower, upper, is_open = ends
    domain = {**data["domains"]["A"], "lower": lower, "upper": upper, "lower_open": is_open}
    with pytest.raises(verifier.FormatError, match="no number lies in the domain of A"):
        verifier.verify({**data, "domains": {"A": domain}})
