/**
 * Tries a model without computing anything: its first values are made, and its objective
 * and the gradient of it are traced on arrays of the shapes that a batch will have.
 */
import { allocateBatch } from '../batches/batch.ts';
import { initialWeights } from '../models/initial-weights.ts';
import { modelFailed } from '../models/model-failed.ts';
import { meanLossOf } from '../models/mean-loss.ts';
import { tensorLength, type Model } from '../models/model.ts';
import { openJaxRuntime } from '../runtime/jax-runtime.ts';

/** More than one, or what is wrong with rows would not show. */
const ROWS = 2;

/** @throws what the model's functions throw */
export async function rehearseModel(model: Model): Promise<void> {
  const { jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 });
  const flat = initialWeights(model, 0);
  let start = 0;
  const weights = model.tensors.map((tensor) => {
    const end = start + tensorLength(tensor);
    const values = flat.subarray(start, end);
    start = end;
    if (!values.every(Number.isFinite)) {
      throw modelFailed(`first values of its tensor "${tensor.name}" are not finite`);
    }
    return jax.numpy.array(values, { shape: [...tensor.shape] });
  });
  const batch = Object.fromEntries(
    Object.entries(allocateBatch(model.inputs, ROWS)).map(([name, values]) => {
      const shape = [ROWS, ...model.inputs[name]!.shape];
      return [name, jax.numpy.array(values, { shape })];
    }),
  );
  const step = jax.valueAndGrad(meanLossOf(jax, model, ROWS), {
    argnums: 0,
    hasAux: true,
  });
  const trace = jax.makeJaxpr(step as never) as (...given: unknown[]) => unknown;
  trace(weights, batch);
}
