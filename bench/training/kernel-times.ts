/**
 * The parts of a gradient's time on WebAssembly: matrix products, other kernels, and what
 * is no kernel. One process, one rank, jax-js as our bundles have it. Prints one JSON object, in ms.
 *
 * `node --import ./bench/training/bundled-jax.ts bench/training/kernel-times.ts MODEL`
 */
import { createTrainer } from '../../src/agent/training/create-trainer.ts';
import { openJaxRuntime } from '../../src/agent/training/runtime/jax-runtime.ts';
import { median } from '../quantiles.ts';
import { TRAINING_CASES } from './cases.ts';
import type { KernelTimes } from './outside-products.ts';

const WARM_UP = 10;
const RATE = 0.01;

/** Code that jax-js runs: a kernel, or its own routine. */
interface Source {
  readonly exp?: { toString(): string };
  readonly reduction?: { readonly op: string };
}

declare global {
  /** Called by jax-js as bundled-jax.ts loads it, with milliseconds. */
  var kernelRan: ((source: Source, ms: number) => void) | undefined;
}

const case_ = TRAINING_CASES.find(({ model }) => model === process.argv[2])!;
const { jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 });
const iterations = Math.ceil(case_.iterations / 3);
const trainer = await createTrainer({
  model: case_.model,
  dataset: case_.dataset,
  batchPerRank: case_.batch,
  rank: 0,
  world: 1,
  seed: 1,
  backend: 'wasm',
  threads: 1,
  iterations: WARM_UP + iterations,
  optimizer: { kind: 'sgd', lr: RATE, momentum: 0.9, schedule: 'constant' },
});
const gradient = new Float32Array(trainer.length);

const areProducts = new WeakMap<Source, boolean>();
let [products, otherKernels] = [0, 0];
globalThis.kernelRan = (source, ms) => {
  let isOne = areProducts.get(source);
  if (isOne === undefined) areProducts.set(source, (isOne = isProduct(source)));
  if (isOne) products += ms;
  else otherKernels += ms;
};

const times: KernelTimes[] = [];
for (let t = 0; t < WARM_UP + iterations; t++) {
  trainer.loadBatch(t);
  // One iteration more, in which each kernel is looked at for the first time.
  if (t === WARM_UP - 1) jax.profiler.startTrace();
  const start = performance.now();
  await trainer.computeGradient(gradient);
  const compute = performance.now() - start;
  if (t >= WARM_UP) times.push({ compute, products, otherKernels });
  [products, otherKernels] = [0, 0];
}
const of = (part: keyof KernelTimes): number => median(times.map((each) => each[part]));
console.log(
  JSON.stringify({
    compute: of('compute'),
    products: of('products'),
    otherKernels: of('otherKernels'),
  }),
);
trainer.close();

/**
 * Whether a kernel sums products of two arrays, each of which is repeated where the other
 * is not: GV_0<float32>{shape:strides:…} has stride 0 there.
 */
function isProduct({ exp, reduction }: Source): boolean {
  if (reduction?.op !== 'Add') return false;
  const operand = String.raw`GV_\d+<float32>\{[\d,]+:([\d,]+):.*`;
  const operands = new RegExp(`^\\(${operand} \\* ${operand}`).exec(String(exp));
  if (operands === null) return false;
  const [left, right] = operands.slice(1).map((strides) => strides.split(','));
  const repeats = (one: string[], other: string[]): boolean =>
    one.some((stride, axis) => stride === '0' && other[axis] !== '0');
  return repeats(left!, right!) && repeats(right!, left!);
}
