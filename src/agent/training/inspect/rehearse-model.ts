/**
 * Tests a model without computing: creates its initial values, and traces its objective
 * and gradient on arrays with a batch's shapes.
 */
import { allocateBatch, settledFields } from '../batches/batch.ts';
import { initialWeights } from '../models/initial-weights.ts';
import { modelFailed } from '../models/model-failed.ts';
import {
  inOrder,
  meanLossOf,
  type JaxBatch,
  type UsedWeights,
} from '../models/mean-loss.ts';
import { tensorLength, type Model } from '../models/model.ts';
import { openJaxRuntime, type JaxArray } from '../runtime/jax-runtime.ts';

/** Rows of the batch: more than one, so that errors with rows show. */
const ROWS = 2;

/** @throws errors of the model's functions */
export async function rehearseModel(model: Model): Promise<void> {
  const { jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 });
  const flat = initialWeights(model, 0);
  const fields = settledFields(model.inputs, {});
  let start = 0;
  const used: UsedWeights = { whole: [], rows: [] };
  for (const tensor of model.tensors) {
    const end = start + tensorLength(tensor);
    const values = flat.subarray(start, end);
    start = end;
    if (!values.every(Number.isFinite)) {
      throw modelFailed(`first values of its tensor "${tensor.name}" are not finite`);
    }
    const { rowsOf, shape } = tensor;
    if (rowsOf === undefined) {
      used.whole.push(jax.numpy.array(values, { shape: [...shape] }));
    } else {
      const ofBatch = [ROWS, ...fields[rowsOf]!.shape];
      used.rows.push(jax.numpy.zeros([...ofBatch, ...shape.slice(1)]));
    }
  }
  const batch: JaxBatch = Object.fromEntries(
    Object.entries(allocateBatch(fields, ROWS)).map(([name, values]) => {
      const shape = [ROWS, ...fields[name]!.shape];
      return [name, jax.numpy.array(values, { shape })];
    }),
  );
  const step = jax.valueAndGrad(meanLossOf(jax, model, ROWS), {
    argnums: 0,
    hasAux: true,
  });
  type Trace = (...given: unknown[]) => unknown;
  const { statistics } = model;
  if (statistics !== undefined) {
    const evaluate = (weights: UsedWeights, rows: JaxBatch, given: JaxArray[]) =>
      model.objective(jax, inOrder(model, weights), rows, given).losses;
    const given = statistics.map(({ shape }) => jax.numpy.zeros([...shape]));
    const kept = jax.tree.ref({ used, batch } as never) as {
      used: UsedWeights;
      batch: JaxBatch;
    };
    (jax.makeJaxpr(evaluate as never) as Trace)(kept.used, kept.batch, given);
  }
  (jax.makeJaxpr(step as never) as Trace)(used, batch);
}
