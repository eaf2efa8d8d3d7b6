/** What the WebAssembly module exports (assembly/index.ts), as JavaScript calls it. */
import type { LowRankExports } from './wasm-low-rank.ts';
import type { QuantizationExports } from './wasm-quantization.ts';
import type { ReductionExports } from './wasm-reduction.ts';
import type { SelectionSteps } from './selection-steps.ts';
import type { SparsificationExports } from './wasm-sparsification.ts';

/** Results are i32: counts above 2³¹ do not occur. */
export interface KernelExports
  extends
    SparsificationExports,
    LowRankExports,
    QuantizationExports,
    ReductionExports,
    SelectionSteps {
  fill(out: number, n: number, value: number): void;
  copy(out: number, x: number, n: number): void;
  add(out: number, x: number, n: number): void;
  addFinite(out: number, x: number, n: number): number;
  scale(x: number, n: number, factor: number): void;
  blend(out: number, outFactor: number, x: number, xFactor: number, n: number): void;
  shiftBySign(x: number, n: number, plus: number, minus: number): void;
  squaredNorm(x: number, n: number): number;
  squaredDistance(x: number, y: number, n: number): number;
  centralSum(x: number, n: number, c: number, squared: boolean): number;
  firstNonFinite(x: number, n: number): number;
  twoMeans(x: number, n: number): void;
  plusMean(): number;
  minusMean(): number;
  storeSignSums(x: number, n: number, out: number): void;
  selectAll(x: number, n: number, out: number): void;
  selectByRadix(x: number, n: number, k: number, out: number, scratch: number): void;
  selectBySample(
    x: number,
    n: number,
    k: number,
    out: number,
    scratch: number,
    sampleSize: number,
    sampleRank: number,
    capacity: number,
  ): number;
  clearAt(x: number, n: number, stream: number, count: number): number;
  scatterAdd(
    out: number,
    n: number,
    stream: number,
    count: number,
    factor: number,
  ): number;
}

/** An instance of the module on the arena's memory: each thread has one. */
export function instantiate(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
): KernelExports {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return exports as unknown as KernelExports;
}
