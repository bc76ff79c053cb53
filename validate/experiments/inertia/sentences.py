"""The settings of FedMIM's experiments in sentences: what the paper states, and what had to be chosen."""

from __future__ import annotations

from collections.abc import Sequence

from validate.experiments.inertia.setting import (
    BATCH,
    CLASSES,
    CLIENTS,
    DECAY,
    FULL,
    INPUTS,
    RIDGE,
    SAMPLES,
    SEPARATION,
    STATED_STEP,
    TEST,
    Size,
    methods,
)


def settings(size: Size, quick: bool) -> tuple[str, ...]:
    """What was run."""
    trials = size.steps * size.values
    own = "; ".join(
        f"{m.own} {_list(m.values[: size.values])} of {m.label}" for m in methods().values() if m.own != "none"
    )
    found = (
        f"As the paper states: N = {CLIENTS} clients, class proportions i.i.d., Dirichlet 0.3 or 0.1, participation "
        f"{_list([cell.selected for cell in FULL.cells])} percent, E = {_list([cell.epochs for cell in FULL.cells])} "
        f"local epochs, batches of {BATCH}, weight decay {RIDGE:g} (the ridge of the objective), steps times {DECAY:g} "
        "a round, the global step 1 but for FedAdam. The settings that were run are in the tables.",
        f"In place of images and networks: softmax regression on {CLASSES} normal classes in {INPUTS} dimensions with "
        f"an intercept; root mean square distance of the class means {SEPARATION:g} standard deviations, variances 1/k "
        f"along coordinate k; {SAMPLES} samples a client, so an epoch is {SAMPLES // BATCH} steps; a balanced test set "
        f"of {TEST * CLASSES}. The objective is strongly convex with modulus {RIDGE:g}, so f* is known (Newton's "
        "method, gradient norm below 1e-12). No augmentation, no colour perturbation. Batches are drawn with "
        "replacement, and clients uniformly without, as in the theorems.",
        f"{_plural(size.sets, 'data set')} with {size.runs} runs each, {size.rounds} rounds from 0 (the paper: 500 and "
        "1,000 rounds, and one number without an interval for each setting). Runs are paired: the same data, "
        "participants and samples for all methods. All intervals are Student's of 99%, those of differences are "
        "simultaneous within a setting (Bonferroni). They are for the mean over these data sets; on how many of "
        "them FedMIM is the better is in the tables.",
        f"Tuning, alike for all: {trials} pairs of a step and one own parameter in every setting, by the geometric "
        f"mean excess after all rounds of {size.trial} runs on {_plural(size.tuned, 'data set')} outside the "
        f"comparison. Steps {_list(methods()['fedmim'].steps[-size.steps :])}; of FedAdam, whose server rescales them, "
        f"{_list(methods()['fedadam'].steps[-size.steps :])}; FedAvg has {trials} steps in the same range, and so has "
        f"every row of table III. {own}. The paper's own step is {STATED_STEP:g} throughout.",
        "FedMIM's own parameter is Σα, with α₁ : α₂ = 2 : 1 and β = (.9, .1) as in the best row of the paper's table "
        "III; FedCM's weight is 1 - α of its single lag, and takes the same values of α.",
        "FedSAM's radius is not stated. FedCM here is FedMIM with one lag (its momentum keeps the length of the step "
        "with which it was made). FedSAM has no server momentum, which the paper's description of it mentions.",
    )
    return found + (
        ("Quick run: fewer settings, data sets, runs, rounds, lags and trials; own parameters as stated.",)
        if quick
        else ()
    )


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count > 1)}"
