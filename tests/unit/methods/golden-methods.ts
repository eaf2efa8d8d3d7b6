/**
 * The methods, each with a slow oracle and its bytes: all that a new method adds to the
 * tests. They are run on every backend (`golden.test.ts`, `tests/gpu/golden.test.ts`), their
 * messages are held against what the definition states (`expected-messages.test.ts`), and
 * their decoders are given wrong bytes (`payload-fuzz.test.ts`).
 */
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import {
  average,
  drawn,
  errorFeedback,
  errorFeedbackTopK,
  everyRank,
  gaussianChoice,
  largest,
  largestPerRun,
  leaderSelects,
  livingThresholds,
  momentumCorrection,
  reaching,
  subspaceIteration,
  twoMeans,
  unitedBlocks,
  type Oracle,
} from './golden-oracles.ts';
import {
  clipped,
  columnSignOracle,
  float8Oracle,
  maximum,
  norm,
  quantizedTopKOracle,
  signOracle,
  signsOfNormOracle,
  stochasticOracle,
} from './quantization-oracles.ts';
import type { Form } from './simulated-world.ts';

export interface Golden {
  readonly method: string;
  readonly parameters: JsonObject;
  /** Forms in which a collective may leave the sum of this method's payloads. */
  readonly forms: readonly Form[];
  /** Payload of the vector `PINNED`, hexadecimal: the wire format must not drift. */
  readonly payload: string;
  readonly oracle: Oracle;
  /** What two ranks with a bucket of one element make of 3 and 5; default: their average. */
  readonly ofThreeAndFive?: number;
  /** Where results cannot be exact: a bound of the error, relative to the largest. */
  readonly tolerance?: number;
}

export const PINNED = [1, -2, 0.5, 4, -8, 2, -0.25, 0.5];

/** f32 words, as they lie in memory. */
const f32 = (...values: number[]): string =>
  Buffer.from(Float32Array.from(values).buffer).toString('hex');
const u32 = (...values: number[]): string =>
  Buffer.from(Uint32Array.from(values).buffer).toString('hex');

export const LENGTH = 128;
export const HALVES = [
  { name: 'a', start: 0, length: LENGTH / 2, shape: [LENGTH / 2] },
  { name: 'b', start: LENGTH / 2, length: LENGTH / 2, shape: [8, LENGTH / 16] },
];

/**
 * Multiples of 60·64: sums over up to 5 ranks divide by P, and sums over the 32 or 64
 * entries of each sign by their number, without rounding. Few magnitudes: many ties.
 */
function gradientOf(rank: number, iteration: number): number[] {
  return Array.from({ length: LENGTH }, (_, i) => {
    const magnitude = 1 + ((i * 37 + rank * 11 + iteration * 5) % 13);
    const negative = (i + rank + iteration) % 2 === 1;
    return (negative ? -magnitude : magnitude - 1) * 60 * 64;
  });
}

export function gradientsOf(P: number, iteration: number): number[][] {
  return Array.from({ length: P }, (_, rank) => gradientOf(rank, iteration));
}

export const GOLDEN: readonly Golden[] = [
  {
    method: 'none',
    parameters: {},
    forms: ['dense'],
    payload: f32(...PINNED),
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
  },
  {
    method: 'bf16',
    parameters: {},
    forms: ['dense'],
    // The upper halves of the f32.
    payload: '803f00c0003f804000c1004080be003f',
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
    // What ranks send is exact, but sums need more than 8 bits.
    tolerance: 2 ** -7,
  },
  {
    method: 'bf16',
    parameters: { rounding: 'stochastic' },
    forms: ['dense'],
    payload: '803f00c0003f804000c1004080be003f',
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
    tolerance: 2 ** -7,
  },
  {
    method: 'fp16',
    parameters: {},
    forms: ['dense'],
    // 1 is 0x3c00.
    payload: '003c00c00038004400c8004000b40038',
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
  },
  {
    method: 'fp16',
    parameters: { rounding: 'stochastic' },
    forms: ['dense'],
    payload: '003c00c00038004400c8004000b40038',
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
  },
  {
    method: 'topk',
    parameters: { ratio: 0.25 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4) + f32(4, -8),
    oracle: errorFeedbackTopK((n) => n / 4),
  },
  {
    method: 'topk',
    parameters: { k: 3, ratio: 1 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(1, 3, 4) + f32(-2, 4, -8),
    oracle: errorFeedbackTopK(() => 3),
  },
  {
    method: 'topk',
    parameters: { bucket: 5, ratio: 0.4 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4, 5) + f32(4, -8, 2),
    oracle: errorFeedback((p) => largestPerRun(p, 5, 2, 1)),
  },
  {
    method: 'topk',
    parameters: { k: 3, quantize: { bits: 4, bucket: 2 } },
    forms: ['gathered'],
    payload: u32(3) + u32(1, 3, 4) + f32(4, 8) + '7c0f0000',
    oracle: quantizedTopKOracle(3, 7, 2),
  },
  {
    method: 'qsgd',
    parameters: {},
    forms: ['gathered'],
    payload: f32(...PINNED),
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
  },
  {
    method: 'fp8',
    parameters: { minElements: 0 },
    forms: ['gathered'],
    // Largest magnitudes of 4 and 8, for which 2⁻⁶ and 2⁻⁵ are the least scales.
    payload: '79000000' + '68f06078' + '7a000000' + 'f868d058',
    oracle: float8Oracle({ mantissa: 3, least: -6, largest: 448 }),
    // Averages are rounded to f32.
    tolerance: 2 ** -23,
  },
  {
    method: 'fp8',
    parameters: { minElements: 0, format: 'e5m2' },
    forms: ['gathered'],
    payload: '72000000' + '70f46c78' + '73000000' + 'f870e468',
    oracle: float8Oracle({ mantissa: 2, least: -14, largest: 57_344 }),
    // Averages are rounded to f32.
    tolerance: 2 ** -23,
  },
  {
    method: 'qsgd',
    parameters: { minElements: 0, bucket: 24 },
    forms: ['gathered'],
    payload: f32(4) + 'b2710000' + f32(8) + '2f080000',
    oracle: stochasticOracle(7, 24, maximum),
  },
  {
    method: 'qsgd',
    parameters: { minElements: 0, levels: 3, scale: 'l2', coding: 'elias' },
    forms: ['gathered'],
    payload: f32(Math.sqrt(21.25)) + '040c0000' + f32(Math.sqrt(68.3125)) + '38600000',
    oracle: stochasticOracle(3, 512, norm),
  },
  {
    method: 'terngrad',
    parameters: { minElements: 0, clip: 1 },
    forms: ['gathered'],
    payload: '437808405d000000bef7774027000000',
    oracle: stochasticOracle(1, 512, clipped(1)),
  },
  {
    method: 'qgd',
    parameters: { minElements: 0 },
    forms: ['gathered'],
    payload:
      f32(Math.sqrt(21.25)) +
      u32(2, 2 ** 31 + 1, 3) +
      f32(Math.sqrt(68.3125)) +
      u32(2, 2 ** 31, 1),
    oracle: signsOfNormOracle,
  },
  {
    method: 'onebit',
    parameters: { minElements: 0, bucket: 24 },
    forms: ['gathered'],
    payload: f32(5.5 / 3, -2) + u32(2) + f32(2.5 / 2, -8.25 / 2) + u32(5),
    oracle: signOracle(24),
    // Means are sums of 28 bits of an entry (kernels/fixed-point.ts), the oracle's of 53.
    tolerance: 1e-6,
  },
  {
    method: 'onebit',
    parameters: { minElements: 0, granularity: 'column' },
    forms: ['gathered'],
    // Two vectors, a column each.
    payload: f32(5.5 / 3, -2) + u32(2) + f32(2.5 / 2, -8.25 / 2) + u32(5),
    oracle: columnSignOracle([
      { length: LENGTH / 2, columns: 1 },
      { length: LENGTH / 2, columns: LENGTH / 16 },
    ]),
    tolerance: 1e-6,
  },
  {
    method: 'randomk',
    parameters: { ratio: 0.25 },
    forms: ['dense'],
    payload: f32(4, 0.5),
    oracle: errorFeedback((p, iteration) => drawn(p.length, p.length / 4, iteration)),
  },
  {
    method: 'threshold',
    parameters: { threshold: 2 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(1, 3, 4, 5) + f32(-2, 4, -8, 2),
    oracle: errorFeedback((p) => reaching(p, 2)),
  },
  {
    method: 'nonzero',
    parameters: { minElements: 0 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(0, 1, 2, 3, 4, 5, 6, 7) + f32(...PINNED),
    oracle: (P) => (gradients) => everyRank(P, average(gradients)),
  },
  {
    method: 'blockcd',
    parameters: { k: 3 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(0, 4, 7) + f32(1, -8, 0.5),
    oracle: unitedBlocks(3),
    // The second rank's alone: the first has an empty slice.
    ofThreeAndFive: 5,
  },
  {
    method: 'gaussiank',
    parameters: { ratio: 0.25 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4) + f32(4, -8),
    oracle: errorFeedback((p) => gaussianChoice(p, 0.25)),
  },
  {
    method: 'dct',
    parameters: { ratio: 0.25, lifeSpan: 4, band: 1.25 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4) + f32(4, -8),
    oracle: (P, n) => {
      // One choice for each rank: thresholds are its own.
      const choices = Array.from({ length: P }, () => livingThresholds(0.25, 4, 1.25));
      return errorFeedback((p, iteration, rank) => choices[rank]!(p, iteration))(P, n);
    },
  },
  {
    method: 'dgc',
    parameters: { ratio: 0.25, momentum: 0.5 },
    forms: ['dense', 'sparse', 'gathered'],
    payload: u32(3, 4) + f32(4, -8),
    oracle: momentumCorrection(0.25, 0.5),
  },
  {
    method: 'scalecom',
    parameters: { ratio: 0.25, beta: 0.5, selection: 'exact' },
    forms: ['dense'],
    payload: f32(4, -8),
    oracle: leaderSelects(0.5, (p) => largest(p, p.length / 4)),
  },
  {
    method: 'scalecom',
    parameters: { ratio: 0.25, beta: 1, selection: 'chunk' },
    forms: ['dense'],
    payload: f32(4, -8),
    oracle: leaderSelects(1, (p) => largestPerRun(p, 4, 1, 0)),
  },
  {
    method: 'powersgd',
    parameters: { rank: 2 },
    forms: ['dense'],
    payload: f32(...PINNED),
    oracle: subspaceIteration(2),
    tolerance: 1e-4,
  },
  {
    method: 'a2sgd',
    parameters: {},
    forms: ['dense', 'gathered'],
    payload: f32(8 / 5, 10.25 / 3),
    oracle: (P, n) => twoMeans(P, [[0, n]]),
  },
  {
    method: 'a2sgd',
    parameters: { mode: 'allgather', granularity: 'tensor' },
    forms: ['gathered'],
    payload: f32(5.5 / 3, 2, 1.25, 8.25 / 2),
    oracle: (P, n) =>
      twoMeans(P, [
        [0, n / 2],
        [n / 2, n],
      ]),
  },
];
