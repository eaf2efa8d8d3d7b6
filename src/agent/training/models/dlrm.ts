/**
 * DLRM, a model of clicks (Naumov et al., "Deep Learning Recommendation Model for
 * Personalization and Recommendation Systems", 2019). The bottom network turns a sample's
 * numbers into a vector of the embeddings' length. The top network takes this vector and the dot
 * products of all pairs of the 27 vectors (it and the embeddings of 26 categories), and returns
 * the log-odds of a click. ReLU follows every layer except for the very last.
 *
 * All columns share one embedding table, whose rows their categories are hashed to (Weinberger et
 * al., "Feature Hashing for Large Scale Multitask Learning", 2009); the paper has a table per
 * column. Weights and biases are initialised as in the paper's implementation.
 */
import { CATEGORY_COLUMNS, DENSE_COLUMNS } from '../batches/click-fields.ts';
import { areaUnderCurve } from '../metrics/area-under-curve.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { logisticLoss } from './cross-entropy.ts';
import { layered, type ModelLayer } from './layered.ts';
import type { Model, ModelTensor, SizedModel } from './model.ts';

const VECTORS = 1 + CATEGORY_COLUMNS;
const PAIRS = (VECTORS * (VECTORS - 1)) / 2;

/**
 * Bound of the uniform distribution that initialises embeddings. The paper's implementation takes
 * √(1 ⁄ rows) of each column's table, which is about this for a column of some hundred categories.
 * With the rows of the shared table, dot products would start near 0.
 */
const EMBEDDING_BOUND = 0.05;

interface DlrmDefinition extends Pick<Model, 'id' | 'title' | 'summary'> {
  /** Outputs of the bottom network's layers; the last is the embeddings' length. */
  readonly bottom: readonly number[];
  /** Outputs of the top network's layers, without the final score. */
  readonly top: readonly number[];
}

/** DLRM as in the DCT experiments (Gupta et al., 2021): 508,753 parameters and the table. */
export const dlrm = dlrmOf({
  id: 'dlrm',
  title: 'DLRM',
  summary:
    'Clicks: 13-512-256-64-16 below, embeddings of 16, 367-512-256-128-1 on top; 508,753 parameters and the table',
  bottom: [512, 256, 64, 16],
  top: [512, 256, 128],
});

/** 25,553 parameters and the table. */
export const dlrmSmall = dlrmOf({
  id: 'dlrm-small',
  title: 'DLRM, small',
  summary:
    'Clicks: 13-64-16 below, embeddings of 16, 367-64-1 on top; 25,553 parameters and the table',
  bottom: [64, 16],
  top: [64],
});

function dlrmOf({ id, title, summary, bottom, top }: DlrmDefinition): SizedModel {
  const embedding = bottom.at(-1)!;
  const below = [DENSE_COLUMNS, ...bottom];
  const above = [embedding + PAIRS, ...top, 1];
  return {
    id,
    title,
    summary,
    ofFeatures: (rows) =>
      layered({
        id,
        title,
        summary,
        inputs: {
          dense: { type: 'f32', shape: [DENSE_COLUMNS] },
          categories: { type: 'i32', shape: [CATEGORY_COLUMNS], below: rows },
          labels: { type: 'i32', shape: [], below: 2 },
        },
        predictions: 1,
        metric: areaUnderCurve,
        tensors: [
          {
            name: 'embedding',
            shape: [rows, embedding],
            initialize: { uniform: EMBEDDING_BOUND },
            rowsOf: 'categories',
          },
          ...tensorsOf('bottom', below),
          ...tensorsOf('top', above),
        ],
        layers: [
          ...fullyConnected('bottom', below, { first: ['dense'], last: 'ReLU' }),
          {
            name: 'embedding',
            tensors: ['embedding'],
            fields: [],
            output: { rows: 1, width: embedding + PAIRS },
            apply({ jax, parameters: [embedded] }, vector) {
              const products = pairProducts(jax, vector!.ref, embedded!);
              return jax.numpy.concatenate([vector!, products], 1);
            },
          },
          ...fullyConnected('top', above, { first: [], last: 'sums' }),
        ],
        head: {
          fields: ['labels'],
          objective({ jax, fields }, values) {
            const scores = values.reshape([-1]);
            const clicks = fields.labels!.astype(jax.numpy.float32);
            const margin = scores.ref.mul(clicks.ref.mul(2).sub(1));
            return { losses: logisticLoss(jax, margin), sums: [scores, clicks] };
          },
        },
      }),
  };
}

function tensorsOf(network: string, sizes: readonly number[]): ModelTensor[] {
  return sizes.slice(1).flatMap((outputs, i): ModelTensor[] => {
    const inputs = sizes[i]!;
    const name = `${network}${i + 1}`;
    return [
      {
        name: `${name}.weight`,
        shape: [inputs, outputs],
        initialize: { normal: Math.sqrt(2 / (inputs + outputs)) },
      },
      {
        name: `${name}.bias`,
        shape: [outputs],
        initialize: { normal: Math.sqrt(1 / outputs) },
      },
    ];
  });
}

/**
 * Dense layers, each followed by ReLU, except for the last one if `last` is `sums`.
 * @param first fields of the batch that the first layer reads; empty: it takes the layer below
 */
function fullyConnected(
  network: string,
  sizes: readonly number[],
  {
    first,
    last,
  }: { readonly first: readonly string[]; readonly last: 'ReLU' | 'sums' },
): ModelLayer[] {
  return sizes.slice(1).map((width, i): ModelLayer => {
    const name = `${network}${i + 1}`;
    const ownFields = i === 0 ? first : [];
    return {
      name,
      fields: ownFields,
      output: { rows: 1, width },
      tensors: [`${name}.weight`, `${name}.bias`],
      apply({ jax: { nn, numpy }, parameters: [weight, bias], fields }, values) {
        const inputs = values ?? fields[ownFields[0]!]!;
        const sums = numpy.matmul(inputs, weight!).add(bias!);
        return last === 'sums' && i === sizes.length - 2 ? sums : nn.relu(sums);
      },
    };
  });
}

/**
 * The dot products of all pairs of 27 vectors, [rows, 351]: `vector` [rows, width] and the 26 of
 * `embedded` [rows, 26, width]. As 27 is odd, every pair is (i, (i + d) mod 27) for exactly one d
 * in 1…13. The matrix of products is repeated to the right and read with rows longer by one, which
 * puts the products of one d into one column: so a slice takes all pairs, where the upper triangle
 * of the matrix would need a gather.
 */
function pairProducts({ numpy }: Jax, vector: JaxArray, embedded: JaxArray): JaxArray {
  const [rows, width] = vector.shape as [number, number];
  const vectors = numpy.concatenate([vector.reshape([rows, 1, width]), embedded], 1);
  const products = numpy.matmul(vectors.ref, numpy.matrixTranspose(vectors));
  const round = numpy.concatenate([products.ref, products], 2);
  const longer = 2 * VECTORS + 1;
  return numpy
    .pad(round.reshape([rows, VECTORS * 2 * VECTORS]), [
      [0, 0],
      [0, VECTORS],
    ])
    .reshape([rows, VECTORS, longer])
    .slice([], [], [1, 1 + (VECTORS - 1) / 2])
    .reshape([rows, PAIRS]);
}
