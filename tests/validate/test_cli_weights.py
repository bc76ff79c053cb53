"""`fedproof weights`."""

from pathlib import Path

import numpy as np
import pytest

from tests.validate.command_line import call, complaint, printed

pytestmark = pytest.mark.usefixtures("folder")

EXAMPLE = ["weights", "--z", "0,0.5,2", "--n", "500,100,1000", "--lam", "200"]
GRADIENTS = ["weights", "--gradients", "g.npy", "--n", "1,2,3,4", "--lam", "1"]


@pytest.fixture(autouse=True)
def gradients(folder: Path) -> np.ndarray:
    """Files of all kinds; returns the gradients in g.npy."""
    rows = np.random.default_rng(0).normal(size=(4, 3))
    np.save(folder / "g.npy", rows)
    np.save(folder / "flat.npy", rows[0])
    np.save(folder / "complex.npy", rows * 1j)
    np.save(folder / "nan.npy", np.where(rows > 1, np.nan, rows))
    np.save(folder / "empty.npy", np.zeros((0, 3)))
    np.save(folder / "pickled.npy", np.array([[None, {}]], dtype=object), allow_pickle=True)
    np.savez(folder / "several.npz", a=rows)
    (folder / "text.npy").write_text("hello", encoding="utf-8")
    (folder / "cut.npy").write_bytes((folder / "g.npy").read_bytes()[:-8])
    return rows


def test_the_keys_and_the_values() -> None:
    assert printed(*EXAMPLE) == {
        "weights": [0.9375, 0.0625, 0.0],
        "multiplier": 0.75,
        "objective": 0.390625,
        "kkt_residual": 0.0,
    }
    assert list(printed(*EXAMPLE)) == ["weights", "multiplier", "objective", "kkt_residual"]


def test_the_table() -> None:
    lines = call(*EXAMPLE).stdout.splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["client", "n", "weight"],
        ["1", "500", "0.9375"],
        ["2", "100", "0.0625"],
        ["3", "1000", "0"],
    ]
    assert lines[4:] == ["multiplier = 0.75", "objective = 0.390625", "kkt_residual = 0"]


def test_every_client_from_gradients(gradients: np.ndarray) -> None:
    found = printed(*GRADIENTS)
    assert np.shape(found["weights"]) == (4, 4)
    for client in range(4):
        one = printed(*GRADIENTS, "--client", client)
        z = np.sum((gradients - gradients[client]) ** 2, axis=1)
        direct = printed("weights", "--z", ",".join(map(repr, z.tolist())), *GRADIENTS[3:])
        for name, value in one.items():
            np.testing.assert_allclose(found[name][client], value, atol=1e-13)
            np.testing.assert_allclose(direct[name], value, atol=1e-13)
    lines = call(*GRADIENTS).stdout.splitlines()
    assert len(lines) == 6
    assert lines[0].split() == ["client", "weights", "multiplier"]
    assert lines[-1].startswith("kkt_residual <= ")


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["weights"], "--n"),
        (["weights", "--n", "1", "--lam", "1"], "either --z or --gradients"),
        ([*EXAMPLE, "--gradients", "g.npy"], "excludes"),
        ([*EXAMPLE, "--client", "0"], "--client"),
        (["weights", "--z", "0,1", "--n", "1", "--lam", "1"], "n has 1 entries"),
        (["weights", "--z", "0,nan", "--n", "1,1", "--lam", "1"], "z[1]='nan'"),
        (["weights", "--z", "0,1e999999999", "--n", "1,1", "--lam", "1"], "z[1]"),
        (["weights", "--z", "0,,1", "--n", "1,1,1", "--lam", "1"], "z[1]=''"),
        (["weights", "--z", "1/0", "--n", "1", "--lam", "1"], "z[0]='1/0'"),
        (["weights", "--z", "0", "--n", "1", "--lam", "0"], "lam=0 is outside (0, inf)"),
        (["weights", "--z", "0", "--n", "1", "--lam", "nan"], "lam='nan'"),
        ([*EXAMPLE, "--vc", "1,2,-3"], "vc[2]=-3"),
        ([*GRADIENTS, "--client", "4"], "client=4 is outside 0..3"),
        ([*GRADIENTS, "--client", "-1"], "client=-1"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments: list[str], fragment: str) -> None:
    assert fragment in complaint(call(*arguments))


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("flat.npy", "shape (3,)"),
        ("complex.npy", "complex128"),
        ("nan.npy", "not finite"),
        ("empty.npy", "empty"),
        ("pickled.npy", "allow_pickle=False"),
        ("several.npz", "not a .npy file"),
        ("text.npy", "not a .npy file"),
        ("cut.npy", "not a .npy file of numbers"),
        ("missing.npy", "missing.npy: No such file"),
        (".", "Is a directory"),
    ],
)
def test_bad_files_are_refused_in_one_line(name: str, fragment: str) -> None:
    assert fragment in complaint(call("weights", "--gradients", name, *GRADIENTS[3:]))


def test_a_gradient_too_many_is_refused() -> None:
    assert "one for each of the 4 clients" in complaint(call(*GRADIENTS[:3], "--n", "1,2,3", "--lam", "1"))
