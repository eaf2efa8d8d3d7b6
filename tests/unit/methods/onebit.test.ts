/** 1-bit SGD by columns: which elements share two means, what travels, what stays behind. */
import { describe, expect, it } from 'vitest';
import { validateParameters } from '../../../src/agent/methods/registry.ts';
import { onebit } from '../../../src/agent/methods/onebit.ts';
import { refuseIdle } from '../../../src/agent/methods/idle-parameters.ts';
import { LoneRank } from '../../../src/agent/codec/lone-rank.ts';
import type { CpuBackendName } from '../../../src/agent/codec/backend.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { columnSignOracle } from './quantization-oracles.ts';
import { SimulatedWorld } from './simulated-world.ts';
import { backends } from '../kernels/backends.ts';

const byColumn = { granularity: 'column', minElements: 0 };

/** Shapes with the columns that they have; without: they travel dense. */
const SHAPES: readonly { shape: number[]; columns?: number }[] = [
  { shape: [0] },
  { shape: [0, 5] },
  { shape: [5, 0] },
  { shape: [1] },
  { shape: [3] },
  { shape: [4], columns: 1 },
  { shape: [97], columns: 1 },
  { shape: [1, 40] },
  { shape: [2, 40] },
  { shape: [3, 40], columns: 40 },
  { shape: [40, 1], columns: 1 },
  { shape: [33, 2], columns: 2 },
  { shape: [65, 31], columns: 31 },
  { shape: [3, 3, 5, 7], columns: 7 },
  { shape: [130, 70], columns: 70 },
];

describe.each(['reference', 'wasm'] as const)('%s', (backend) => {
  it.each(SHAPES)('of $shape', async ({ shape, columns }) => {
    const n = shape.reduce((product, size) => product * size, 1);
    using sender = lone(backend, shape);
    using receiver = lone(backend, shape);
    let kept = new Float32Array(n);
    for (let iteration = 0; iteration < 3; iteration++) {
      const gradient = bellShaped(n, 5 + iteration);
      const { payload } = await sender.compress(gradient, iteration);
      const sent = await receiver.decompress(payload, iteration);
      const p = gradient.map((value, i) => value + kept[i]!);
      kept = (await sender.save()).residual as Float32Array<ArrayBuffer>;
      if (columns === undefined) {
        expect(payload.length).toBe(4 * n);
        expect(sent).toEqual(gradient);
        expect(kept).toEqual(new Float32Array(n));
        continue;
      }
      expect(payload.length).toBe(8 * columns + 4 * Math.ceil(n / 32));
      const [right] = columnSignOracle([{ length: n, columns }])(1, n)([[...p]]);
      const worst = sent.map((value, i) => Math.abs(value - right![i]!));
      expect(Math.max(...worst)).toBeLessThan(1e-5);
      // What stays behind is what was not sent, to the bit.
      expect(kept).toEqual(p.map((value, i) => value - sent[i]!));
    }
  });
});

it('has means in the order of columns, then signs column by column', async () => {
  using rank = lone('wasm', [5, 2]);
  const x = Float32Array.of(1, -10, 3, 10, -2, -30, 2, 20, -4, -20);
  const { payload } = await rank.compress(x, 0);
  const means = new Float32Array(payload.buffer, payload.byteOffset, 4);
  expect([...means]).toEqual([2, -3, 15, -20]);
  // 1 3 −2 2 −4 and −10 10 −30 20 −20: bits 2 and 4, then 5, 7 and 9.
  expect([...payload.subarray(16)]).toEqual([0b1011_0100, 0b10, 0, 0]);
});

it('is of runs unless columns are asked for', () => {
  const parameters = validateParameters(onebit, {});
  expect(parameters.granularity).toBe('run');
});

it('refuses the length of runs beside columns', () => {
  const parameters = validateParameters(onebit, { ...byColumn, bucket: 64 });
  expect(() => {
    refuseIdle(onebit, parameters, new Set(['granularity', 'bucket']));
  }).toThrow(expect.objectContaining({ code: 'METHOD_PARAMETER_IDLE' }));
});

it('loses nothing over matrices, vectors and what travels dense, at P = 3', async () => {
  const length = 1000;
  const tensors = [
    { name: 'matrix', start: 0, length: 600, shape: [30, 20] },
    { name: 'row', start: 600, length: 150, shape: [1, 150] },
    { name: 'vector', start: 750, length: 250, shape: [250] },
  ];
  using world = new SimulatedWorld({
    method: 'onebit',
    parameters: byColumn,
    ranks: 3,
    length,
    tensors,
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });
  const given = new Float64Array(length);
  const arrived = new Float64Array(length);
  for (let iteration = 0; iteration < 20; iteration++) {
    const gradients = [0, 1, 2].map((rank) =>
      bellShaped(length, 10 * iteration + rank),
    );
    const [average] = await world.exchange(iteration, gradients);
    for (let i = 0; i < length; i++) {
      for (const gradient of gradients) given[i]! += gradient[i]! / 3;
      arrived[i]! += average![i]!;
    }
  }
  const residuals = [0, 1, 2].map((rank) => world.residual(rank));
  for (let i = 0; i < length; i++) {
    const waiting = residuals.reduce((sum, residual) => sum + residual[i]! / 3, 0);
    expect(Math.abs(arrived[i]! + waiting - given[i]!)).toBeLessThan(1e-4);
  }
  expect(residuals[0]!.subarray(600, 750).every((value) => value === 0)).toBe(true);
  expect(residuals[0]!.subarray(0, 600).every((value) => value === 0)).toBe(false);
});

function lone(backend: CpuBackendName, shape: number[]): LoneRank {
  return new LoneRank({ method: 'onebit', parameters: byColumn, shape, backend });
}
