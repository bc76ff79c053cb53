"""What is claimed: parameters, hypotheses, quantities, proof steps, claims and papers.

Every object here is frozen and checked when it is made. Formulas are kept as ASCII text in the names of the
parameters (``2*f0_gap/(delta*K*S*M)``); `theory.expression` turns them into sympy when somebody evaluates them, so
that listing the claims costs no computer algebra.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from theory.assumptions import Assumption
from theory.domain import Domain

if TYPE_CHECKING:
    import numpy as np
    import sympy

    from theory.evaluate import Enclosure
    from theory.programs import Formulas

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
LABEL = re.compile(r"[a-z0-9][a-z0-9.-]*\Z")

Relation = Literal["<=", "<", "=", ">=", ">"]
Kind = Literal["theorem", "lemma", "proposition", "remark", "equation", "definition"]
Rule = Literal[
    "definition",
    "identity",
    "hypothesis",
    "inequality",
    "moment identity",
    "substitution",
    "summation",
    "order",
    "cited",
]


@dataclass(frozen=True)
class Parameter:
    """A number, or a vector of numbers, that a claim speaks of.

    Attributes:
        name: ASCII name, as on the command line.
        domain: the values that make sense, whatever the claim.
        meaning: one line.
        shape: ``"scalar"``, or ``"vector"`` (comma-separated on the command line).
    """

    name: str
    domain: Domain
    meaning: str
    shape: Literal["scalar", "vector"] = "scalar"

    def __post_init__(self) -> None:
        if not NAME.match(self.name):
            raise ValueError(f"name={self.name!r} is not an ASCII identifier")
        if self.shape not in ("scalar", "vector"):
            raise ValueError(f"shape={self.shape!r} is neither 'scalar' nor 'vector'")

    @property
    def symbol(self) -> sympy.Symbol:
        """The sympy symbol, with the assumptions that the domain implies."""
        from theory.expression import symbol

        return symbol(self)


@dataclass(frozen=True)
class Recursion:
    """A left side that is a sequence, given by its first value and its next one.

    Attributes:
        variable: the parameter that counts, an integer.
        first: the variable's value at the start of the sequence.
        start: the sequence there, as an ASCII formula in the claim's parameters.
        next: what follows, as an ASCII formula in the parameters, the variable, and the quantity's own name for the
            value so far.
        relation: ``"="``, or what the next value is at most (``"<="``) or at least (``">="``).
        hypothesis: the claim's hypothesis that says so, where it is one and no definition.
    """

    variable: str
    first: int
    start: str
    next: str
    relation: Literal["=", "<=", ">="] = "="
    hypothesis: Hypothesis | None = None


@dataclass(frozen=True)
class Quantity:
    """What a claim bounds; the simulator and the oracle record metrics under the same name.

    Attributes:
        name: an ASCII identifier.
        meaning: one line.
        latex: how the paper writes it.
        formula: of a claim about numbers alone, the left side as an ASCII formula in the claim's names.
        recursion: of a left side that is a sequence, what defines it.
    """

    name: str
    meaning: str
    latex: str
    formula: str | None = None
    recursion: Recursion | None = None

    def __post_init__(self) -> None:
        if not NAME.match(self.name):
            raise ValueError(f"name={self.name!r} is not an ASCII identifier")
        if self.formula is not None and self.recursion is not None:
            raise ValueError(f"formula={self.formula!r} of {self.name}: a left side is a formula or a recursion")


@dataclass(frozen=True)
class Hypothesis:
    """A named condition of a claim.

    Attributes:
        name: a short name, such as ``"step size"``.
        statement: one line of text.
        relation: an ASCII relation between parameters (``"delta < 1/(2*L)"``), or None.
        assumption: a shared assumption on functions or sampling, or None.
        printed: False for a condition that the paper does not state and that its proof uses; only readings and repairs
            of a printed claim may have one.
        where: of a condition that the paper fixes elsewhere (`Claim.standing`), the place.
    """

    name: str
    statement: str
    relation: str | None = None
    assumption: Assumption | None = None
    printed: bool = True
    where: str = ""


@dataclass(frozen=True)
class VectorLine:
    """A line, or a whole claim, as a statement about vectors of a Hilbert space, for `theory.inequality.prover`.

    Attributes:
        build: from the values of the parameters (Fractions by name) to ``(space, claim, given)``: a `Space`, a
            `Condition`, and the conditions under which it is claimed. It imports `theory.inequality.vectors` itself.
        settings: the parameter values at which it is to be proved, as texts ("1/2").
        scope: one line on what these settings cover, such as "every L, by scaling f".
    """

    build: Callable[[Mapping[str, Fraction]], tuple[Any, Any, Any]]
    settings: tuple[Mapping[str, str], ...] = ({},)
    scope: str = ""


@dataclass(frozen=True)
class FunctionAt:
    """A function known at points; what holds there is read from the claim's assumptions on functions.

    Attributes:
        name: begins the names of the conditions, as in ``"f convex(x,y)"``.
        points: by label, position, (sub)gradient and value as formulas in vectors.
        of: whose assumptions: those on the clients' functions, the samples', or the average.
    """

    name: str
    points: Mapping[str, tuple[str, str, str]]
    of: Literal["client", "sample", "average"] = "client"


@dataclass(frozen=True)
class Given:
    """A condition on vectors that hypotheses of the claim say.

    Attributes:
        name: a short name.
        of: the hypotheses; the condition is there only while the claim has all of them, as they stand.
        relation: in vectors, such as ``"dot(x - p, q - p) <= 0"`` (``<=``, ``>=`` or ``==``).
    """

    name: str
    of: tuple[Hypothesis, ...]
    relation: str

    def __post_init__(self) -> None:
        if not self.of:
            raise ValueError(f"of={self.of!r} of {self.name!r}: a condition belongs to hypotheses of the claim")


@dataclass(frozen=True)
class VectorSentence:
    """What a claim's names are in a Hilbert space. Relation, right side and hypotheses are those of the claim itself.

    The Hilbert space may be one of random vectors, <u, v> their expected inner product; an assumption on every sample
    function then gives the mean of its inequalities.

    Attributes:
        vectors: names of the basis.
        values: names of numbers that nothing bounds, such as function values.
        names: the quantity, and the parameters that are no free numbers, as formulas: ``dot(u, v)``, ``norm2(u)``,
            sums, and multiples by formulas in the other parameters.
        functions: with their points.
        given: conditions that other hypotheses say.
        multipliers: of the conditions, by name, as formulas in the parameters, for a proof: right - left less the
            multiples is to be a sum of squares. None: the prover is to find them, where there is no parameter left.
    """

    vectors: tuple[str, ...]
    names: Mapping[str, str]
    values: tuple[str, ...] = ()
    functions: tuple[FunctionAt, ...] = ()
    given: tuple[Given, ...] = ()
    multipliers: Mapping[str, str] | None = None


@dataclass(frozen=True)
class OrderLine:
    """A line about the order of a bound in a parameter, for `theory.order`.

    Attributes:
        bound: id of the claim whose terms it speaks of.
        schedule: parameters as ASCII formulas, such as ``{"delta": "K**(-eps)"}``.
        exponents: the exponent that the line gives to each named term, as ASCII formulas in ``eps``.
        best: the line's best ``eps`` and the exponent of the bound there, or None.
        variable: the parameter that grows.
    """

    bound: str
    schedule: Mapping[str, str]
    exponents: Mapping[str, str] = field(default_factory=dict)
    best: tuple[str, str] | None = None
    variable: str = "K"


@dataclass(frozen=True)
class Use:
    """An earlier line as an inference uses it.

    Attributes:
        label: of the earlier line; it has a claim.
        factor: ASCII formula by which it is multiplied, non-negative for an inequality.
        at: names in its claim (the left side under the quantity's name) replaced by ASCII formulas, such as what a sum
            over some indices makes of them.
    """

    label: str
    factor: str = "1"
    at: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Inference:
    """How a line is to follow from earlier ones.

    Either the earlier lines are multiplied and added, and what then is left of the line has to be non-negative; or the
    earlier lines have been put in by hand, and `remains` is what is left to be shown.

    Attributes:
        parts: the earlier lines, all with claims, as the line's own claim must have one.
        at: names in the line's own claim replaced by ASCII formulas.
        remains: ``(left, right)`` as ASCII formulas, to be compared by the line's relation.
    """

    parts: tuple[Use, ...] = ()
    at: Mapping[str, str] = field(default_factory=dict)
    remains: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if bool(self.parts) == (self.remains is not None):
            raise ValueError(
                f"remains={self.remains!r} with {len(self.parts)} parts: an inference has one or the other"
            )


@dataclass(frozen=True)
class Step:
    """One displayed line of a proof.

    Attributes:
        label: the paper's label for the line, such as ``"(A.21)"``, or a description where it has none.
        left: left side, as LaTeX.
        relation: the printed relation.
        right: right side, as LaTeX.
        rule: what justifies the line.
        note: what is used, or what is wrong with the printed text.
        claim: id of the claim that encodes this line, where there is one.
        identity: ``(left, right)`` as ASCII scalar formulas to be compared by algebra, where the line is such a one;
            the line holds if ``left relation right`` for all parameters in their domains.
        vectors: the line as a statement about vectors, where it is one.
        chain: for a line inside a displayed chain, the first expression of the chain against this line's last one, as a
            statement about vectors; `vectors` is then the one link.
        order: the line as a statement about orders, where it is one.
        uses: labels of the earlier lines that it uses.
        inference: how it is to follow from these.
        needs: for a cited line, the hypotheses of what is cited.
        slip: id of a repair of `claim`, where later lines use the repaired form instead of what is printed here.
    """

    label: str
    left: str
    relation: Relation
    right: str
    rule: Rule
    note: str = ""
    claim: str | None = None
    identity: tuple[str, str] | None = None
    vectors: VectorLine | None = None
    chain: VectorLine | None = None
    order: OrderLine | None = None
    uses: tuple[str, ...] = ()
    inference: Inference | None = None
    needs: tuple[Hypothesis, ...] = ()
    slip: str | None = None

    def __post_init__(self) -> None:
        if self.slip is not None and self.claim is None:
            raise ValueError(f"{self.label}: slip={self.slip!r} repairs a claim, and the line has none")
        if self.inference is not None:
            unused = sorted({part.label for part in self.inference.parts} - set(self.uses))
            if unused:
                raise ValueError(
                    f"{self.label}: the inference rests on {unused}, which are not among uses={self.uses!r}"
                )


@dataclass(frozen=True)
class Claim:
    """One numbered result of a paper, exactly as printed (or its repair, in a claim of its own).

    The claim reads ``quantity relation right``, where ``right`` is an ASCII formula in the names of `parameters` and
    `definitions`. A claim without a formula (``right is None``) still has a statement that the validators check.

    Attributes:
        id: ``paper/label`` (``paper/label/corrected`` for a repair).
        kind: theorem, lemma, ...
        title: a few words.
        equation: the paper's number for it, such as ``"(8)"`` or ``"Theorem V.1"``.
        statement: the claim in one paragraph of ASCII text.
        latex: the claim in LaTeX (the subset that matplotlib's mathtext sets).
        quantity: the left side.
        source: where it stands in the paper.
        parameters: the numbers that it speaks of, in the paper's order.
        hypotheses: the printed ones; of a reading or a repair also those that it adds.
        standing: conditions that the paper fixes elsewhere for this result, each with its place: a refutation satisfies
            them too.
        definitions: named terms, in the order in which they are evaluated; each may use the earlier ones.
        right: the right side, or None.
        relation: the relation between the two sides, of the latex where there is no formula; always given by its name.
        steps: its proof, line by line.
        vectors: the claim as its author puts it into vectors, at numbers, where that was done.
        sentence: what its names are in vectors, where it is about vectors.
        amends: id of the printed claim that this one repairs.
        derivation: for a repair, why it is true.
        remarks: what a reader should know, such as a slip in the printed text.
    """

    id: str
    kind: Kind
    title: str
    equation: str
    statement: str
    latex: str
    quantity: Quantity
    source: str
    parameters: tuple[Parameter, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
    right: str | None = None
    relation: Relation = field(kw_only=True)
    standing: tuple[Hypothesis, ...] = ()
    steps: tuple[Step, ...] = ()
    vectors: VectorLine | None = None
    sentence: VectorSentence | None = None
    amends: str | None = None
    derivation: str = ""
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parts = self.id.split("/")
        if len(parts) < 2 or not all(LABEL.match(part) for part in parts):
            raise ValueError(f"id={self.id!r} is not of the form paper/label")
        names = [p.name for p in self.parameters] + list(self.definitions)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{self.id}: the names {twice} are used twice")
        if self.amends is not None and not self.derivation:
            raise ValueError(f"{self.id}: a claim that amends another carries its derivation")
        if self.relation not in get_args(Relation):
            raise ValueError(f"{self.id}: relation={self.relation!r} is none of {', '.join(get_args(Relation))}")
        nowhere = [h.name for h in self.standing if not h.where]
        if nowhere:
            raise ValueError(f"{self.id}: the standing conditions {nowhere} do not say where the paper fixes them")
        labels: set[str] = set()
        for step in self.steps:
            unknown = sorted(set(step.uses) - labels)
            if unknown:
                raise ValueError(f"{self.id}: line {step.label!r} uses {unknown}, which are not lines before it")
            labels.add(step.label)
        object.__setattr__(self, "definitions", MappingProxyType(dict(self.definitions)))

    @property
    def paper(self) -> str:
        """The paper's name, the first part of the id."""
        return self.id.split("/", 1)[0]

    @property
    def label(self) -> str:
        """The id without the paper's name."""
        return self.id.split("/", 1)[1]

    @property
    def reading(self) -> bool:
        """Whether it is a reading of a printed claim, whose id it carries on: what the text says in some case."""
        return self.amends is None and "/" in self.label

    @property
    def conditions(self) -> tuple[Hypothesis, ...]:
        """All that has to hold: the hypotheses, then the standing conditions."""
        return (*self.hypotheses, *self.standing)

    @property
    def has_bound(self) -> bool:
        """Whether the claim has a right side that can be evaluated."""
        return self.right is not None

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name.

        Raises:
            ValueError: when the claim has none of that name.
        """
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        from theory.evaluate import unknown_parameter

        raise unknown_parameter(self, name)

    @cached_property
    def formulas(self) -> Formulas:
        """The formulas, parsed, with what evaluations keep of them. See `theory.programs`."""
        from theory.programs import Formulas

        return Formulas(self)

    def expression(self) -> sympy.Expr:
        """The right side in sympy, with the definitions put in."""
        from theory.expression import right_side

        return right_side(self)

    def bound(self, **parameters: Any) -> float | np.ndarray:
        """The right side as float64; arrays broadcast. See `theory.evaluate.bound`."""
        from theory.evaluate import bound

        return bound(self, parameters)

    def terms(self, **parameters: Any) -> dict[str, float | np.ndarray]:
        """Each named definition as float64. See `theory.evaluate.terms`."""
        from theory.evaluate import terms

        return terms(self, parameters)

    def enclose(self, **parameters: Any) -> Enclosure:
        """A ball that contains the exact right side. See `theory.evaluate.enclose`."""
        from theory.evaluate import enclose

        return enclose(self, parameters)

    def violated(self, **parameters: Any) -> tuple[str, ...]:
        """Names of the hypotheses and standing conditions that fail at these values. See `theory.evaluate.violated`."""
        from theory.evaluate import violated

        return violated(self, parameters)


@dataclass(frozen=True)
class Paper:
    """A paper and its claims, in the paper's order.

    Attributes:
        name: the first part of its claims' ids.
        title: of the paper.
        authors: of the paper.
        claims: each with an id of its own; a claim that amends another one comes with that one. Claims that say what
            they mean (`theory.written`) are this paper's from then on.
        experiments: the module that redraws its experiments (`validate.experiments`), by its name; empty for none.
    """

    name: str
    title: str
    authors: str
    claims: tuple[Any, ...]
    experiments: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "claims", tuple(self.claims))
        for c in self.claims:
            if not isinstance(c, Claim) and not c.paper:
                object.__setattr__(c, "paper", self.name)
        ids = [c.id for c in self.claims]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"paper {self.name!r}: the ids {twice} are used twice")
        for c in self.claims:
            if c.paper != self.name:
                raise ValueError(f"claim {c.id!r} does not belong to paper {self.name!r}")
            if c.amends is not None and c.amends not in ids and f"{self.name}/{c.amends}" not in ids:
                raise ValueError(f"claim {c.id!r} amends {c.amends!r}, which the paper does not have")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.claims)
