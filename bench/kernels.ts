/**
 * Times the CPU kernels and the methods' encode on one thread and prints a table:
 * median milliseconds of seven calls, and bytes of f32 read per second.
 *
 *   node bench/kernels.ts [n]        n: elements, 25 million unless told
 *
 * What would be noticed here: a kernel that leaves memory speed, a selection whose
 * sample misleads on bell-shaped data.
 */
import { findMethod, validateParameters } from '../src/agent/compression/registry.ts';
import { Arena } from '../src/agent/kernels/arena.ts';
import { CounterRandom } from '../src/agent/kernels/random.ts';
import { loadWasmKernels } from '../src/agent/kernels/wasm/load.ts';
import type { JsonObject } from '../src/shared/json.ts';

const n = Number(process.argv[2] ?? 25_000_000);
const arena = new Arena();
const kernels = loadWasmKernels(arena);
const x = arena.allocateVector(n);
const y = arena.allocateVector(n);
const out = arena.allocate(8 * n);

const random = new CounterRandom({ seed: 1 });
const values = arena.f32(x);
for (let i = 0; i < n; i++) {
  values[i] = random.uniform(2 * i) + random.uniform(2 * i + 1) - 1;
}

const rows: Record<string, { ms: number; 'GB/s': number }> = {};
function time(name: string, work: () => unknown): void {
  work();
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  }).sort((a, b) => a - b);
  const ms = times[3]!;
  rows[name] = {
    ms: Number(ms.toFixed(2)),
    'GB/s': Number(((4 * n) / ms / 1e6).toFixed(1)),
  };
}

time('copy', () => {
  kernels.copy(y, x);
});
time('add', () => {
  kernels.add(y, x);
});
time('scale', () => {
  kernels.scale(y, 0.5);
});
time('squaredNorm', () => kernels.squaredNorm(x));
time('firstNonFinite', () => kernels.firstNonFinite(x));
time('twoMeans', () => kernels.twoMeans(x));
time('shiftBySign', () => {
  kernels.shiftBySign(y, 0.1, 0.1);
});
for (const share of [0.0001, 0.001, 0.01, 0.1, 0.5]) {
  time(`selectTopK ${100 * share} %`, () =>
    kernels.selectTopK(x, Math.ceil(share * n), out),
  );
}

function timeEncode(id: string, parameters: JsonObject): void {
  const method = findMethod(id);
  using compressor = method.create({
    length: n,
    tensors: [{ name: 'x', start: 0, length: n, shape: [n] }],
    parameters: validateParameters(method, parameters),
    seed: 1,
    rank: 0,
    world: 4,
    bucket: 0,
    arena,
    kernels,
    residual: y,
  });
  time(`encode ${id} ${JSON.stringify(parameters)}`, () => compressor.encode(x, 0));
}

kernels.fill(y, 0);
timeEncode('topk', { ratio: 0.001 });
timeEncode('topk', { ratio: 0.01 });
timeEncode('a2sgd', {});
console.table(rows);
