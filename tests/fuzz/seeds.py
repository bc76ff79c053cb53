"""What is fuzzed starts from something valid: certificates, SPECs, sweeps, command lines."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.validate.command_line import SPEC, assigned

Certificate = dict[str, Any]

CATALOGUE = Path(__file__).resolve().parents[1] / "catalogue"
SHORT = 4
"""Rounds of runs that are played in no time."""
EQ8 = "fedavg-svrg/theorem-v1-eq8"
SPECS: tuple[dict[str, Any], ...] = (
    SPEC,
    {
        "algorithm": "fedavg-svrg",
        "clients": [{"h": ["1", "2"], "a": ["0", "1"], "p": "1/2"}, {"h": ["1/2"], "a": ["-1"], "p": ["1/3", "1"]}],
        "step": ["1/5", 0.25],
        "S": 2,
        "M": 2,
        "K": 2,
        "theta0": 3,
        "aggregation": "normalised",
        "empty": "zero",
    },
    {
        "algorithm": "local-sgd",
        "clients": [{"h": ["1", "3"], "a": ["0", "1"]}, {"h": "-1/2", "a": -1, "p": "1/3"}],
        "step": "1/4",
        "local_steps": 2,
        "K": 3,
        "theta0": "-2",
        "empty": "condition",
    },
    {
        "algorithm": "shuffling-local-sgd",
        "clients": [{"h": "1", "b": "1"}, {"h": "2", "b": "-1/2"}],
        "alpha": ["1/4", "3/4"],
        "step": "1/8",
        "local_steps": 2,
        "epochs": 2,
        "v0": "3",
    },
    {
        "algorithm": "fedmim",
        "clients": [{"h": "1", "b": "1"}, {"h": ["2", "1"], "b": ["0", "1/2"]}],
        "S": 1,
        "local_steps": 2,
        "step": "1/8",
        "alpha": ["3/5", "3/10"],
        "beta": ["1/2"],
        "x0": "3",
        "K": 3,
    },
)

SWEEPS: tuple[dict[str, Any], ...] = (
    {
        "name": "how tight is (8)?",
        "claims": [EQ8],
        "rounds": [5, 10],
        "problem": [
            {"kind": "quadratic", "clients": [2, 4], "dim": 2, "mu": "1/10", "L": [1, 10], "heterogeneity": 1,
             "seed": {"from": 0, "to": 2}},
            {"kind": "scalar", "clients": [{"h": ["1", "2"], "a": ["0", "1"]}, {"h": "1", "a": "1/3"}]},
        ],
        "algorithm": [
            {"kind": "fedavg-svrg", "step": ["1/10", 0.05], "S": 2, "M": 2},
            {"kind": "local-sgd", "step": "1/10", "local_steps": [1, 2], "aggregation": "normalised"},
        ],
        "participation": {"p": ["1/2", 1]},
    },
    {
        "claims": ["fedavg-svrg"],
        "rounds": {"from": 2, "to": 3, "by": 4},
        "method": ["exact", "sampled"],
        "seeds": [0, 1],
        "error_probability": 1e-3,
        "runs": {"first": 64, "most": 256},
        "start": ["1", "-1/2"],
        "problem": [{"kind": "insurance", "columns": "unit"}],
        "algorithm": [{"kind": "fedavg-svrg", "step": [["1/10", "1/20"]], "S": 1, "M": 1, "empty": "keep"}],
    },
    {
        "claims": "perm",
        "rounds": 2,
        "problem": [{"kind": "quadratic", "clients": 3, "dim": 1, "mu": 1, "L": 2, "samples": 2, "sample_spread": 1}],
        "algorithm": [{"kind": "shuffling", "step": "1/8", "local_steps": 2, "alpha": [["1/2", "1/4", "1/4"]]}],
    },
    {
        "claims": ["fedmim/lemma-7"],
        "rounds": [1, 2],
        "problem": [{"kind": "quadratic", "clients": 3, "dim": 1, "mu": 1, "L": 2}],
        "algorithm": [{"kind": "fedmim", "step": "1/8", "local_steps": 2, "alpha": [["3/5"]], "beta": [[], ["1/2"]]}],
        "participation": [{"clients": [1, 2]}, {"clients": 3}],
    },
)  # fmt: skip

RADIUS = assigned("mu=1/10", "L=1", "r=1", "sigma=1/2")
ADAM = assigned("mu=1", "L=2", "eta=1/100", "beta1=1/2", "beta2=9/10", "eps=1", "sigma=1", "d=2", "r=1")
EQ8_SET = assigned("L=2", "delta=1/sqrt(K)", "S=5", "M=2", "K=100", "G2=3", "f0_gap=7", "mean_inv_p=13/3")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("claims",),
    ("claims", "--paper", "fedavg-svrg", "--json"),
    ("show", EQ8),
    ("show", "perm/lemma-10", "--latex"),
    ("show", "fedmim/eq25", "--json"),
    ("bound", EQ8, *EQ8_SET, "--json"),
    ("bound", EQ8, *EQ8_SET, "--json", "--rigorous"),
    ("bound", "perm/theorem-1", "--set", "n=3,4", "--set", "lam=2", "--json"),
    ("bound", "textbook/hoeffding", "--json"),
    ("feasible", "fedavg-svrg/lemma-v1-eq14", "--set", "M=16", "--json"),
    ("feasible", EQ8, "--set", "L=2", "--set", "delta=1/8", "--suppose", "M <= 8"),
    ("radius", "sgd", *RADIUS, "--json"),
    ("radius", "sgd", *RADIUS, "--set", "eta=1/2", "--dim", "1"),
    ("radius", "adam", *ADAM, "--json"),
    ("weights", "--z", "0,0.5,2", "--n", "500,100,1000", "--lam", "200", "--json"),
    ("weights", "--z", "0,1/2", "--n", "5,100", "--lam", "2", "--vc", "1,2"),
    ("weights", "--gradients", "spec.json", "--n", "1,2", "--lam", "1", "--client", "0"),
    ("moments", "spec.json", "--exact", "--json"),
    ("moments", "spec.json"),
    ("simulate", "spec.json", "--runs", "8", "--seed", "1", "--json"),
    ("simulate", "spec.json", "--runs", "8", "--block", "4", "--metric", "suboptimality", "--device", "cpu"),
    ("verify", "certificate.json"),
    ("verify", "certificate.json", "spec.json"),
    ("sweep", "sweep.toml", "--dry-run"),
    ("sweep", "sweep.toml", "--dry-run", "--json"),
    ("sweep", "--status", "store.sqlite", "--json"),
    ("sweep", "--status", "spec.json"),
    ("check", "nonsense", "--quick"),
    ("replay", "nonsense"),
    ("falsify", "nonsense"),
    ("repair", "nonsense"),
    ("mutate", "nonsense"),
    ("sharpen", "nonsense"),
    ("report", "nonsense"),
    ("reproduce", "nonsense"),
    ("doctor", "--json"),
    ("--version",),
    ("--help",),
)
HEAVY = frozenset({"check", "replay", "falsify", "repair", "mutate", "sharpen", "report", "reproduce"})
"""Run on what is no paper and no claim only."""


@cache
def certificates() -> dict[str, Certificate]:
    """Valid certificates, none of which takes long to check: of algorithms and of vectors, played and by moments, and
    of the catalogue's false claims, by their ids."""
    from tests.validate import known_plays as known

    found = {label: known.certificate(label) for label in known.WHERE}
    found |= {"by moments": {**found["lost-factor"], "by": "moments"}}
    refuted = json.loads((CATALOGUE / "refuted.json").read_text(encoding="utf-8"))
    return found | {one["claim"]: one for one in refuted if int(one["rounds"]) <= SHORT}


def toml(value: dict[str, Any]) -> str:
    """A TOML text of plain data; whatever is no table, or has no text in TOML, is written inline as it is."""
    return (
        "".join(f"{_key(name)} = {_inline(entry)}\n" for name, entry in value.items())
        if isinstance(value, dict)
        else _inline(value)
    )


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _text(name)


def _text(value: str) -> str:
    return '"' + "".join(c if ord(c) >= 32 and c not in '"\\\x7f' else f"\\u{ord(c):04x}" for c in value) + '"'


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_inline(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return '"none"' if value is None else repr(value)
