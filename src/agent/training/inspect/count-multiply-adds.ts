/**
 * Counts the multiply-adds that a model's forward pass makes with each of its tensors, in its
 * trace: matrix products and convolutions, of whatever kind of layer. Nothing is computed.
 *
 * A product belongs to the tensor that is one of its factors, unchanged or moved, cut or
 * negated. Products of activations only (attention) belong to none, and neither do element-wise
 * sums and products (biases, norms), nor weights that are computed from others first.
 */
import { allocateBatch, settledFields } from '../batches/batch.ts';
import type { JaxBatch } from '../models/mean-loss.ts';
import type { Model } from '../models/model.ts';
import { openJaxRuntime, type JaxArray } from '../runtime/jax-runtime.ts';

/** Rows of the traced batch: more than one, or a product might be traced as another operation. */
const ROWS = 2;

/** The parts of a jax-js trace that are read. */
interface Value {
  readonly aval: { readonly shape: readonly number[] };
}
interface Equation {
  readonly primitive: string;
  readonly inputs: readonly Value[];
  readonly outBinders: readonly Value[];
  readonly params: { readonly vmapDims?: number };
}
interface Trace {
  readonly consts: readonly unknown[];
  readonly jaxpr: {
    flatten(): {
      readonly inBinders: readonly Value[];
      readonly eqns: readonly Equation[];
    };
  };
  dispose(): void;
}

/** Operations after which a value still is the tensor's own, entry by entry. */
const MOVES = new Set([
  ...['transpose', 'reshape', 'broadcast', 'flip', 'shrink', 'pad', 'split'],
  ...['neg', 'cast', 'stop_gradient'],
]);

export interface MultiplyAdds {
  /** Multiply-adds for one sample, by tensor, in the model's order. */
  readonly byTensor: readonly number[];
  /** Multiply-adds of products that belong to no tensor. */
  readonly others: number;
  /** Predictions per sample, as the model states them. */
  readonly predictions: number;
}

/**
 * @param model one that takes no field of `any` length
 * @throws what the model's functions throw
 */
export async function countMultiplyAdds(model: Model): Promise<MultiplyAdds> {
  const trace = await traceForward(model);
  const { inBinders, eqns } = trace.jaxpr.flatten();
  const first = inBinders.slice(trace.consts.length);
  const tensorOf = new Map<Value, number>(
    model.tensors.map((_, index) => [first[index]!, index]),
  );
  const byTensor = model.tensors.map(() => 0);
  let others = 0;
  for (const equation of eqns) {
    const { primitive, inputs, outBinders } = equation;
    const [owner] = inputs.flatMap((value) => tensorOf.get(value) ?? []);
    if (MOVES.has(primitive) && owner !== undefined) {
      for (const moved of outBinders) tensorOf.set(moved, owner);
    }
    const work = multiplyAdds(equation) / ROWS;
    if (owner === undefined) others += work;
    else byTensor[owner]! += work;
  }
  trace.dispose();
  return { byTensor, others, predictions: model.predictions };
}

async function traceForward(model: Model): Promise<Trace> {
  const { jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 });
  const fields = settledFields(model.inputs, {});
  const tensors = model.tensors.map(({ rowsOf, shape }) =>
    jax.numpy.zeros(
      rowsOf === undefined
        ? [...shape]
        : [ROWS, ...fields[rowsOf]!.shape, ...shape.slice(1)],
    ),
  );
  const batch: JaxBatch = Object.fromEntries(
    Object.entries(allocateBatch(fields, ROWS)).map(([name, values]) => [
      name,
      jax.numpy.array(values, { shape: [ROWS, ...fields[name]!.shape] }),
    ]),
  );
  const losses = (parameters: JaxArray[], given: JaxBatch): JaxArray =>
    model.objective(jax, parameters, given).losses;
  type Tracing = (...given: unknown[]) => { readonly jaxpr: Trace };
  return (jax.makeJaxpr(losses as never) as unknown as Tracing)(tensors, batch).jaxpr;
}

/**
 * Counts multiply-adds of a product: for each entry of the result one for each term of its sum.
 * Else 0.
 */
function multiplyAdds({ primitive, inputs, outBinders, params }: Equation): number {
  const results = outBinders.reduce((sum, { aval }) => sum + sizeOf(aval.shape), 0);
  // jax-js: a dot sums over the last axis of both factors.
  if (primitive === 'dot') {
    return results * Math.max(...inputs.map(({ aval }) => aval.shape.at(-1) ?? 1));
  }
  if (primitive === 'conv') {
    // The kernels: outputs first, behind the axes that are mapped over.
    const shape = inputs[1]!.aval.shape.slice(params.vmapDims ?? 0);
    return results * sizeOf(shape.slice(1));
  }
  return 0;
}

const sizeOf = (shape: readonly number[]): number =>
  shape.reduce((product, length) => product * length, 1);
