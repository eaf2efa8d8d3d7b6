/**
 * Bytes that jax-js takes at most for a step on the CPU: results of a loss and its gradient, found
 * in their trace. Nothing is computed.
 *
 * jax-js 0.1.25 joins element-wise operations and moves into the kernels that use them, so their
 * results take no memory. As our bundles run it (scripts/jax-programs.ts), the others lie there
 * from the kernel that makes them to the last one that reads them, and the kernels run in the
 * order in which outputs need them: the loss, then gradients from the last layer to the first.
 */
import { allocateBatch, settledFields } from '../batches/batch.ts';
import type { StepBytes } from '../memory-facts.ts';
import { meanLossOf, type JaxBatch, type UsedWeights } from '../models/mean-loss.ts';
import type { Model } from '../models/model.ts';
import { openJaxRuntime } from '../runtime/jax-runtime.ts';

/** The parts of a jax-js trace that are read; a literal has no place in memory. */
interface Value {
  readonly aval: { readonly shape: readonly number[]; readonly dtype: string };
}
interface Equation {
  readonly primitive: string;
  readonly inputs: readonly Value[];
  readonly outBinders: readonly Value[];
}
interface Program {
  readonly inBinders: readonly Value[];
  readonly eqns: readonly Equation[];
  readonly outs: readonly Value[];
}
interface Trace {
  readonly jaxpr: { flatten(): { simplify(): Program } };
  dispose(): void;
}

const REDUCTIONS = new Set(['reduce', 'dot', 'conv', 'pool_transpose']);
const PRODUCTS = new Set(['dot', 'conv']);
/** Operations that only move values, which a kernel does as it reads them. */
const VIEWS = new Set(['transpose', 'broadcast', 'reshape', 'flip', 'shrink', 'pad']);
/** Operations that are kernels of their own, or whose inputs must lie in memory. */
const ROUTINES = new Set([
  ...['sort', 'argsort', 'scatter', 'triangular_solve', 'cholesky', 'lu'],
  ...['jacobi_eigh', 'fft'],
]);
const ALONE = new Set(['random_bits', 'gather']);
const READ_WHOLE = new Set(['concatenate', 'pad']);
/** Element-wise operations that a reduction's kernel does at its end. */
const ENDINGS = new Set([
  ...['bit_count', 'neg', 'reciprocal', 'floor', 'ceil', 'stop_gradient', 'cast'],
  ...['bitcast', 'sin', 'cos', 'asin', 'atan', 'exp', 'log', 'erf', 'erfc', 'sqrt'],
  ...['add', 'mul', 'idiv', 'mod', 'min', 'max', 'bit_combine', 'bit_shift'],
]);

/** Measured (docs/benchmarks.md): the heap for each operation of a trace. */
const EQUATION_BYTES = 36_000;

/**
 * @param model one that takes no field of `any` length
 * @param rows samples of a batch
 * @throws what the model's functions throw
 */
export async function stepBytes(model: Model, rows: number): Promise<StepBytes> {
  const trace = await traceStep(model, rows);
  const program = trace.jaxpr.flatten().simplify();
  trace.dispose();
  return {
    computing: mostAtOnce(program),
    compiling: EQUATION_BYTES * program.eqns.length,
  };
}

async function traceStep(model: Model, rows: number): Promise<Trace> {
  const { jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 });
  const fields = settledFields(model.inputs, {});
  const used: UsedWeights = { whole: [], rows: [] };
  for (const { rowsOf, shape } of model.tensors) {
    if (rowsOf === undefined) used.whole.push(jax.numpy.zeros([...shape]));
    else {
      const ofBatch = [rows, ...fields[rowsOf]!.shape];
      used.rows.push(jax.numpy.zeros([...ofBatch, ...shape.slice(1)]));
    }
  }
  const batch: JaxBatch = Object.fromEntries(
    Object.entries(allocateBatch(fields, rows)).map(([name, values]) => [
      name,
      jax.numpy.array(values, { shape: [rows, ...fields[name]!.shape] }),
    ]),
  );
  const step = jax.valueAndGrad(meanLossOf(jax, model, rows), {
    argnums: 0,
    hasAux: true,
  });
  type Tracing = (...given: unknown[]) => { readonly jaxpr: Trace };
  return (jax.makeJaxpr(step as never) as unknown as Tracing)(used, batch).jaxpr;
}

/** The most bytes that results take at any time, as the kernels run. */
function mostAtOnce(program: Program): number {
  const { eqns, outs } = program;
  const kept = keptValues(program);
  const maker = new Map<Value, Equation>(
    eqns.flatMap((equation) => equation.outBinders.map((value) => [value, equation])),
  );
  /** The results that a kernel reads: its own operations' inputs, as far as they are kept. */
  const reads = new Map<Value, ReadonlySet<Value>>();
  for (const { inputs, outBinders } of eqns) {
    const direct = inputs.flatMap((value) => {
      if (kept.has(value)) return [value];
      return [...(reads.get(value) ?? [])];
    });
    for (const value of outBinders) reads.set(value, new Set(direct));
  }
  const order = kernelOrder(eqns, outs, kept, reads);
  const readers = new Map<Value, number>(outs.map((value) => [value, Infinity]));
  for (const [place, value] of order.entries()) {
    for (const read of reads.get(value)!) {
      readers.set(read, Math.max(readers.get(read) ?? 0, place));
    }
  }
  const freed = new Map<number, Value[]>();
  for (const value of order) {
    const last = readers.get(value);
    if (last !== undefined) freed.set(last, [...(freed.get(last) ?? []), value]);
  }
  let taken = 0;
  let most = 0;
  for (const [place, value] of order.entries()) {
    if (maker.has(value)) taken += bytesOf(value);
    most = Math.max(most, taken);
    for (const unread of freed.get(place) ?? []) taken -= bytesOf(unread);
  }
  return most;
}

/** The kept results in the order in which they are made. */
function kernelOrder(
  eqns: readonly Equation[],
  outs: readonly Value[],
  kept: ReadonlySet<Value>,
  reads: ReadonlyMap<Value, ReadonlySet<Value>>,
): readonly Value[] {
  const inOrder = eqns.flatMap(({ outBinders }) =>
    outBinders.filter((v) => kept.has(v)),
  );
  const [first, ...others] = outs;
  const order: Value[] = [];
  const made = new Set<Value>();
  for (const out of [first!, ...others.toReversed()]) {
    const needed = new Set([out]);
    for (const value of inOrder.toReversed()) {
      if (!needed.has(value) || made.has(value)) continue;
      for (const read of reads.get(value)!) needed.add(read);
    }
    for (const value of inOrder) {
      if (!needed.has(value) || made.has(value)) continue;
      made.add(value);
      order.push(value);
    }
  }
  return order;
}

/** The results that lie in memory. */
function keptValues({ eqns, outs }: Program): ReadonlySet<Value> {
  const users = new Map<Value, number[]>();
  const maker = new Map<Value, number>();
  for (const [place, { inputs, outBinders }] of eqns.entries()) {
    for (const value of outBinders) maker.set(value, place);
    for (const value of inputs) {
      const known = users.get(value);
      if (known === undefined) users.set(value, [place]);
      else known.push(place);
    }
  }
  const made = (value: Value): boolean => maker.has(value);
  const kept = new Set(outs.filter(made));
  const ends = reductionEnds(eqns, outs, users);
  /** A value behind moves that has to be there as a whole. */
  const keepBehindMoves = (value: Value): void => {
    let place = maker.get(value);
    let current = value;
    while (place !== undefined && VIEWS.has(eqns[place]!.primitive)) {
      const [input] = eqns[place]!.inputs;
      if (input === undefined) return;
      current = input;
      place = maker.get(current);
    }
    if (place !== undefined) kept.add(current);
  };
  for (const { inputs, primitive } of eqns) {
    const isWhole = READ_WHOLE.has(primitive) || ROUTINES.has(primitive);
    if (isWhole || PRODUCTS.has(primitive)) inputs.forEach(keepBehindMoves);
  }
  /** The one kernel that reads a value which is not kept. */
  const reader = new Map<Value, Value>([...kept].map((value) => [value, value]));
  for (const [place, { outBinders, primitive }] of [...eqns.entries()].toReversed()) {
    const isOwn = ends.has(place) || ALONE.has(primitive) || ROUTINES.has(primitive);
    const readers = new Set(
      outBinders
        .flatMap((value) => users.get(value) ?? [])
        .flatMap((user) => eqns[user]!.outBinders)
        .flatMap((value) => reader.get(value) ?? []),
    );
    const isKept =
      isOwn || readers.size > 1 || outBinders.some((value) => kept.has(value));
    for (const value of outBinders) {
      if (isKept) kept.add(value);
      const [only] = isKept ? [value] : readers;
      if (only !== undefined) reader.set(value, only);
    }
  }
  return kept;
}

/** The places of the equations with which the kernels of reductions end. */
function reductionEnds(
  eqns: readonly Equation[],
  outs: readonly Value[],
  users: ReadonlyMap<Value, readonly number[]>,
): ReadonlySet<number> {
  const within = new Set<number>();
  const ends = new Set<number>();
  for (const [place, { primitive }] of eqns.entries()) {
    if (!REDUCTIONS.has(primitive)) continue;
    let end = place;
    for (;;) {
      within.add(end);
      const [value] = eqns[end]!.outBinders;
      const [next, ...others] = users.get(value!) ?? [];
      if (outs.includes(value!) || next === undefined || others.length > 0) break;
      const following = eqns[next]!;
      const isSameShape = bytesOf(following.outBinders[0]!) === bytesOf(value!);
      if (within.has(next) || !ENDINGS.has(following.primitive) || !isSameShape) break;
      end = next;
    }
    ends.add(end);
  }
  return ends;
}

const bytesOf = ({ aval }: Value): number =>
  aval.shape.reduce(
    (product, length) => product * length,
    aval.dtype === 'bool' ? 1 : 4,
  );
