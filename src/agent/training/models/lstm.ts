/**
 * LSTM language models: an embedding, LSTM layers, and scores for the next token. As in cuDNN
 * and PyTorch, gates have no peepholes and each layer has two bias vectors. A sample is a window
 * of `steps` + 1 tokens: each token except for the last predicts its successor. The state starts
 * at 0 in each window.
 *
 * Embedding, scores and the gates' input products are computed for all steps at once. What is
 * left for each step is one product with the state.
 *
 * Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
 */
import { perplexity } from '../metrics/perplexity.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { crossEntropy, oneHot } from './cross-entropy.ts';
import type { Model, ModelTensor } from './model.ts';

interface LstmShape {
  /** Number of different tokens. */
  readonly vocabulary: number;
  /** Length of a token's embedding. */
  readonly embedding: number;
  /** Units of a layer. */
  readonly hidden: number;
  readonly layers: number;
  /** Predictions per window. */
  readonly steps: number;
}

type LstmDefinition = LstmShape & Pick<Model, 'id' | 'title' | 'summary'>;

/** Input, forget, cell and output gate, in this order along the last axis. */
const GATES = 4;

export function lstmLanguageModel(definition: LstmDefinition): Model {
  const { id, title, summary, vocabulary, steps } = definition;
  return {
    id,
    title,
    summary,
    inputs: { tokens: { type: 'i32', shape: [steps + 1], below: vocabulary } },
    predictions: steps,
    metric: perplexity,
    tensors: tensorsOf(definition),
    objective(jax, parameters, { tokens }) {
      return { losses: windowLosses(jax, parameters, tokens!, definition), sums: [] };
    },
  };
}

function tensorsOf(shape: LstmShape): readonly ModelTensor[] {
  const { vocabulary, embedding, hidden, layers } = shape;
  const gates = GATES * hidden;
  // As in PyTorch: uniform between ±1 ⁄ √hidden.
  const initialize = { uniform: 1 / Math.sqrt(hidden) };
  return [
    { name: 'embedding', shape: [vocabulary, embedding], initialize: { uniform: 0.1 } },
    ...Array.from({ length: layers }, (_, layer): readonly ModelTensor[] => [
      {
        name: `layer${layer + 1}.input`,
        shape: [layer === 0 ? embedding : hidden, gates],
        initialize,
      },
      { name: `layer${layer + 1}.state`, shape: [hidden, gates], initialize },
      { name: `layer${layer + 1}.inputBias`, shape: [gates], initialize },
      { name: `layer${layer + 1}.stateBias`, shape: [gates], initialize },
    ]).flat(),
    { name: 'output.weight', shape: [hidden, vocabulary], initialize },
    { name: 'output.bias', shape: [vocabulary], initialize: 'zeros' },
  ];
}

/** The summed cross-entropy of each window, [rows]; `tokens` is [rows, steps + 1]. */
function windowLosses(
  jax: Jax,
  parameters: readonly JaxArray[],
  tokens: JaxArray,
  { vocabulary, hidden, layers, steps }: LstmShape,
): JaxArray {
  const { numpy } = jax;
  const rows = tokens.shape[0]!;
  const inTime = numpy.transpose(tokens);
  const seen = inTime.ref.slice([0, steps]).reshape([steps * rows]);
  const next = inTime.slice([1, steps + 1]).reshape([steps * rows]);
  const [embedding, ...rest] = parameters;
  let values = numpy.matmul(oneHot(jax, seen, vocabulary), embedding!);
  for (let layer = 0; layer < layers; layer++) {
    const [input, state, inputBias, stateBias] = rest.slice(GATES * layer);
    const below = numpy
      .matmul(values, input!)
      .add(inputBias!)
      .add(stateBias!)
      .reshape([steps, rows, GATES * hidden]);
    values = runLayer(jax, below, state!, hidden).reshape([steps * rows, hidden]);
  }
  const [weight, bias] = rest.slice(GATES * layers);
  const scores = numpy.matmul(values, weight!).add(bias!);
  return crossEntropy(jax, scores, next).reshape([steps, rows]).sum(0);
}

/** The outputs of a layer for all steps, [steps, rows, hidden]. */
function runLayer(
  { numpy, nn }: Jax,
  below: JaxArray,
  state: JaxArray,
  hidden: number,
): JaxArray {
  const [steps, rows] = below.shape as [number, number, number];
  let output: JaxArray | undefined;
  let cell: JaxArray | undefined;
  const outputs: JaxArray[] = [];
  for (let step = 0; step < steps; step++) {
    const fromBelow = below.ref.slice(step);
    // The state starts at 0, so its product is 0.
    const gates =
      output === undefined ? fromBelow : fromBelow.add(numpy.matmul(output, state.ref));
    const gate = (which: number): JaxArray =>
      gates.ref.slice([], [which * hidden, (which + 1) * hidden]);
    const taken = nn.sigmoid(gate(0)).mul(numpy.tanh(gate(2)));
    const forget = nn.sigmoid(gate(1));
    const shown = nn.sigmoid(gate(3));
    gates.dispose();
    if (cell === undefined) {
      forget.dispose();
      cell = taken;
    } else cell = forget.mul(cell).add(taken);
    output = shown.mul(numpy.tanh(cell.ref));
    outputs.push(output.ref);
  }
  for (const used of [below, state, output, cell]) used?.dispose();
  return numpy.stack(outputs).reshape([steps, rows, hidden]);
}
