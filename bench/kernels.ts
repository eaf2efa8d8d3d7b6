/**
 * Times the CPU kernels and the methods' encode, on one thread and on several, and prints
 * a table: median milliseconds of seven calls, bytes of f32 read per second, and how many
 * times faster several threads are.
 *
 *   node bench/kernels.ts [n] [threads]      25 million elements, 2 threads unless told
 *
 * What would be noticed here: a kernel that leaves memory speed, a selection whose
 * sample misleads on bell-shaped data, threads that wait for each other. Calls on one
 * thread and on several take turns, so that both see the same machine.
 */
import { BucketCompressor } from '../src/agent/methods/bucket-compressor.ts';
import { findMethod, validateParameters } from '../src/agent/methods/registry.ts';
import { Arena, type Region, type Vector } from '../src/agent/memory/arena.ts';
import type { Kernels } from '../src/agent/kernels/kernels.ts';
import { CounterRandom } from '../src/agent/kernels/random.ts';
import { startWasmKernels } from '../src/agent/kernels/wasm/load.ts';
import { ArenaWork } from '../src/agent/work/arena/arena-work.ts';
import type { JsonObject } from '../src/shared/checks/json.ts';

const n = Number(process.argv[2] ?? 25_000_000);
const threads = Number(process.argv[3] ?? 2);
const CALLS = 7;

/** One arena, so that both work on the very same vectors. */
const arena = new Arena();
const x = vector(n);
const y = vector(n);
const codes = arena.allocate(n);
const scales = vector(Math.ceil(n / 512));
const out = arena.allocate(8 * n);
const loaded = [1, threads].map((count) => startWasmKernels(arena, { threads: count }));

const random = new CounterRandom({ seed: 1 });
const values = arena.f32(x);
for (let i = 0; i < n; i++) {
  values[i] = random.uniform(2 * i) + random.uniform(2 * i + 1) - 1;
}

function vector(length: number): Vector & Region {
  return { ...arena.allocate(4 * length), length };
}

const several = `${threads} threads, ms`;
const rows: Record<string, Record<string, number>> = {};

function time(name: string, works: readonly (() => unknown)[]): void {
  for (const work of works) work();
  const times = works.map(() => [] as number[]);
  for (let call = 0; call < CALLS; call++) {
    works.forEach((work, index) => {
      const start = performance.now();
      work();
      times[index]!.push(performance.now() - start);
    });
  }
  const [one, more] = times.map((all) => all.sort((a, b) => a - b)[CALLS >> 1]!);
  rows[name] = {
    '1 thread, ms': rounded(one!),
    'GB/s': rounded((4 * n) / one! / 1e6),
    [several]: rounded(more!),
    'times faster': rounded(one! / more!),
  };
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}

function timeKernel(name: string, work: (kernels: Kernels) => unknown): void {
  time(
    name,
    loaded.map(
      ({ kernels }) =>
        () =>
          work(kernels),
    ),
  );
}

timeKernel('copy', (kernels) => {
  kernels.copy(y, x);
});
timeKernel('add', (kernels) => {
  kernels.add(y, x);
});
timeKernel('scale', (kernels) => {
  kernels.scale(y, 0.5);
});
timeKernel('squaredNorm', (kernels) => kernels.squaredNorm(x));
timeKernel('moments', (kernels) => kernels.moments(x));
timeKernel('firstNonFinite', (kernels) => kernels.firstNonFinite(x));
timeKernel('twoMeans', (kernels) => kernels.twoMeans(x));
timeKernel('shiftBySign', (kernels) => {
  kernels.shiftBySign(y, 0.1, 0.1);
});
for (const share of [0.0001, 0.001, 0.01, 0.1, 0.5]) {
  timeKernel(`selectTopK ${100 * share} %`, (kernels) =>
    kernels.sparsification.selectTopK(x, Math.ceil(share * n), out),
  );
}
const runs = { ...out, bytes: 8 * 4 * Math.ceil(n / 512) };
timeKernel('4 of each 512', ({ sparsification }) =>
  sparsification.selectTopKPerRun(x, 512, 4, 4, runs),
);
const quantizer = { levels: 7, runLength: 512 };
timeKernel('quantize 4 bit', ({ quantization }) => {
  quantization.quantize(x, quantizer, 'max', { seed: 1 }, scales, codes);
});
timeKernel('dequantize 4 bit', ({ quantization }) => {
  quantization.dequantize(y, quantizer, scales, codes, true);
});

function timeEncode(id: string, parameters: JsonObject): void {
  const method = findMethod(id);
  const compressors = loaded.map(
    ({ kernels }) =>
      new BucketCompressor({
        method,
        context: {
          length: n,
          tensors: [{ name: 'x', start: 0, length: n, shape: [n] }],
          parameters: validateParameters(method, parameters),
          seed: 1,
          rank: 0,
          world: 4,
          bucket: 0,
          work: new ArenaWork(arena, kernels),
          residual: y,
        },
        gradient: x,
      }),
  );
  time(
    `encode ${id} ${JSON.stringify(parameters)}`,
    compressors.map((compressor) => () => compressor.encode(0)),
  );
  for (const compressor of compressors) compressor[Symbol.dispose]();
}

loaded[0]!.kernels.fill(y, 0);
timeEncode('topk', { ratio: 0.001 });
timeEncode('topk', { ratio: 0.01 });
timeEncode('gaussiank', { ratio: 0.001 });
timeEncode('qsgd', { bits: 4, bucket: 512 });
timeEncode('a2sgd', {});
for (const { close } of loaded) await close();
console.table(rows);
