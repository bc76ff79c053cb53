// Runs the straight-line programs of fedproof's claims in float64. theory/listing.py describes their form.
const playProgram = (() => {
  const MOST_FACTORS = 16; // as in theory/floats.py: powers up to this one are computed by products
  const SAME = 1e-12; // sides of a relation that are this near to each other, relatively, count as equal

  function power(base, exponent) {
    // IEEE 754's pow, which NumPy follows and JavaScript does not, gives 1 for these
    if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
    return Math.pow(base, exponent);
  }

  function integerPower(base, exponent) {
    if (exponent === 1) return base;
    if (exponent === 2) return base * base;
    if (exponent < 3 || exponent > MOST_FACTORS) return Math.pow(base, exponent);
    const half = integerPower(base, Math.floor(exponent / 2));
    return exponent % 2 ? half * half * base : half * half;
  }

  const sum = (vector) => vector.reduce((total, entry) => total + entry);
  const REDUCTIONS = {
    sum,
    mean: (vector) => sum(vector) / vector.length,
    amax: (vector) => Math.max(...vector),
    amin: (vector) => Math.min(...vector),
  };
  const OPERATIONS = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "/": (a, b) => a / b,
    "**": power,
    neg: (a) => -a,
    sqrt: Math.sqrt,
    log: Math.log,
    exp: Math.exp,
    abs: Math.abs,
    min: Math.min,
    max: Math.max,
  };

  class LengthError extends Error {}

  // An operation on numbers, over the entries of those arguments that are vectors.
  function elementwise(operation, values) {
    const vectors = values.filter(Array.isArray);
    if (!vectors.length) return operation(...values);
    const size = vectors[0].length;
    if (vectors.some((vector) => vector.length !== size)) throw new LengthError("vectors of different lengths");
    return vectors[0].map((_, i) => operation(...values.map((v) => (Array.isArray(v) ? v[i] : v))));
  }

  // All values of a program, by place; `inputs` are numbers, or arrays for vectors, in the program's order.
  function run(program, inputs) {
    const values = [...inputs, ...program.numbers];
    for (const [name, ...places] of program.steps) {
      if (name === "power") {
        const [place, exponent] = places;
        values.push(elementwise((base) => integerPower(base, exponent), [values[place]]));
      } else if (name in REDUCTIONS) {
        values.push(REDUCTIONS[name](values[places[0]]));
      } else {
        values.push(elementwise(OPERATIONS[name], places.map((place) => values[place])));
      }
    }
    return values;
  }

  const entries = (value) => (Array.isArray(value) ? value : [value]);
  const isReal = (value) => entries(value).every(Number.isFinite);

  function related(a, operator, b) {
    if (a === b || Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b))) return operator.includes("=");
    return operator === "==" ? false : operator[0] === "<" ? a < b : a > b;
  }

  // Whether a hypothesis holds: true, false, or null where a side has no real value.
  function holds(hypothesis, values) {
    const sides = hypothesis.sides.map((place) => values[place]);
    if (!sides.every(isReal)) return null;
    return hypothesis.operators.every((operator, i) =>
      entries(elementwise((a, b) => related(a, operator, b), [sides[i], sides[i + 1]])).every(Boolean),
    );
  }

  // The inputs with each tied parameter at its formula; `tied` says which of them are.
  function settled(data, inputs, tied) {
    if (!tied.some(Boolean)) return inputs;
    const values = run(data.program, inputs);
    return inputs.map((value, i) => (tied[i] ? values[data.parameters[i].tie.place] : value));
  }

  // The bound, the terms and the hypotheses at these inputs; what has no real value is not finite.
  function evaluate(data, inputs) {
    const values = run(data.program, inputs);
    return {
      bound: values[data.bound],
      terms: data.terms.map((term) => values[term.place]),
      hypotheses: data.hypotheses.map((hypothesis) => holds(hypothesis, values)),
    };
  }

  return { LengthError, evaluate, isReal, settled };
})();
