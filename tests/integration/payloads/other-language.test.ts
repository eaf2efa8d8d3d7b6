/**
 * Payload files as a program in another language reads them: one in Python, written from
 * `docs/payload-files.md` alone, gives the same vector as the engine does, for every method
 * and every layout that a parameter, a shape or an input can ask for.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compressors, LoneRank, packPayload } from '../../../src/agent/engine.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { pytorch } from '../../harness/python.ts';
import { INPUTS } from '../../unit/kernels/adversarial-inputs.ts';

/** Parameters that change how a method's payload is laid out; each has its defaults, too. */
const LAYOUTS: Readonly<Record<string, readonly JsonObject[]>> = {
  bf16: [{ rounding: 'stochastic' }],
  fp16: [{ rounding: 'stochastic' }],
  fp8: [
    { minElements: 0 },
    { minElements: 0, format: 'e5m2' },
    { minElements: 0, rounding: 'stochastic' },
  ],
  topk: [
    { ratio: 1 },
    { bucket: 100, k: 3 },
    { minElements: 2000 },
    { warmupIterations: 3 },
    { warmupIterations: 2, warmupStart: 1 },
    { warmupIterations: 2 },
    { ratio: 0.1, quantize: { bits: 2, bucket: 7 } },
    { ratio: 0.3, quantize: { bits: 8 } },
    { ratio: 0.3, quantize: { bits: 4 }, minElements: 2000 },
  ],
  randomk: [{ ratio: 1 }, { k: 7 }, { ratio: 0.05, rampIterations: 9 }],
  threshold: [{ threshold: 1 }],
  blockcd: [{ k: 2000 }],
  dct: [{ ratio: 0.1 }],
  dgc: [{ ratio: 0.1, minElements: 2000 }],
  scalecom: [{ warmupIterations: 9 }],
  powersgd: [{ rank: 1 }, { rank: 7 }, { rank: 100 }],
  qsgd: [
    { minElements: 0 },
    { minElements: 0, bits: 2 },
    { minElements: 0, bits: 8, bucket: 37, scale: 'l2' },
    { minElements: 0, levels: 5 },
    { minElements: 0, levels: 32_767, bucket: 1 },
    { minElements: 0, coding: 'elias' },
    { minElements: 0, coding: 'elias', form: 'dense', levels: 300 },
    { minElements: 0, coding: 'elias', form: 'sparse', scale: 'l2', levels: 3 },
    { minElements: 0, warmupIterations: 9 },
  ],
  terngrad: [{ minElements: 0 }, { minElements: 0, clip: 0 }],
  qgd: [{ minElements: 0 }],
  onebit: [
    { minElements: 0 },
    { minElements: 0, bucket: 37 },
    { minElements: 0, granularity: 'column' },
  ],
};

const SHAPES = [[30, 40], [2, 5, 11], [1201], [2, 3], [1], [0]];
/** The iteration and the rank of a payload, which lots and warm-ups depend on. */
const ITERATION = 2;
const RANK = 3;

const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-payloads-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The engine's own reading of the files in the folder, by name, and their payloads' bytes. */
const expected = new Map<string, { readonly values: Float32Array; bytes: number }>();

const floatBytes = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

async function write(
  method: string,
  parameters: JsonObject,
  shape: readonly number[],
  vector: Float32Array,
): Promise<void> {
  const options = { method, parameters, shape, seed: 5, rank: RANK } as const;
  using rank = new LoneRank(options);
  const { payload } = await rank.compress(vector, ITERATION);
  if (method === 'a2sgd' && expected.size % 2 === 0) {
    // Means as of other ranks.
    const means = new Float32Array(payload.buffer);
    means.forEach((mean, at) => (means[at] = mean * 1.25));
  }
  const name = `${expected.size}-${method}`;
  const file = packPayload({ provenance: rank.provenance(ITERATION), payload });
  writeFileSync(path.join(folder, `${name}.gw`), file);
  if (method === 'a2sgd') {
    writeFileSync(path.join(folder, `${name}.gradient`), floatBytes(vector));
  }
  using other = new LoneRank(options);
  const values = await other.decompress(payload, ITERATION, vector);
  expected.set(name, { values, bytes: payload.length });
}

test.skipIf(pytorch === undefined)('a reader in Python', async () => {
  for (const method of compressors.keys()) {
    for (const parameters of [{}, ...(LAYOUTS[method] ?? [])]) {
      for (const shape of SHAPES) {
        const n = shape.reduce((product, side) => product * side, 1);
        await write(method, parameters, shape, INPUTS['bellShaped']!(n));
      }
      for (const make of Object.values(INPUTS)) {
        await write(method, parameters, [9, 50], make(450));
      }
    }
  }
  const script = path.join(import.meta.dirname, 'read_payloads.py');
  const { stdout, stderr, status } = spawnSync(pytorch!, [script, folder], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const read = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; bytes: number; left: number });
  expect(read.map(({ name }) => name).sort()).toEqual([...expected.keys()].sort());
  const wrong = read.filter(({ name, bytes, left }) => {
    const file = readFileSync(path.join(folder, `${name}.f32`));
    const values = new Float32Array(Uint8Array.from(file).buffer);
    const own = expected.get(name)!;
    const differs = own.values.some((value, at) => value !== values[at]);
    return (
      differs || left > 0 || bytes !== own.bytes || own.values.length !== values.length
    );
  });
  expect(wrong).toEqual([]);
});
