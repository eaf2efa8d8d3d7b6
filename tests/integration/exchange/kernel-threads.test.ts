/** The engine's kernels on the threads that a rank has: the same averages, and no leak. */
import { expect, it } from 'vitest';
import { findMethod, validateParameters } from '../../../src/agent/methods/registry.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { SHARED_LENGTH } from '../../../src/agent/kernels/wasm/kernel-pool.ts';
import {
  EngineHere,
  EngineOnThread,
  type EngineClient,
} from '../../../src/agent/worker/engine/engine-client.ts';
import { countsThreads, kernelThreads } from '../../unit/kernels/thread-names.ts';

const engineThread = new URL(
  '../../../src/agent/worker/engine/engine-thread.ts',
  import.meta.url,
);

/** What three exchanges of a lone rank leave of a gradient. */
async function exchangeThrice(
  open: () => EngineClient,
  threads: number,
  helpers: number,
): Promise<Buffer[]> {
  const engine = open();
  const { memory, address } = await engine.call('listen', { host: '127.0.0.1' });
  const length = SHARED_LENGTH + 5;
  const { gradient } = await engine.call('connect', {
    run: 'threads',
    rank: 0,
    seed: 1,
    addresses: [address],
    secret: new Uint8Array(32),
    timeoutMs: 10_000,
    transport: 'auto',
    threads,
    tensors: [{ name: 'w', shape: [length], start: 0, length }],
    plan: {
      method: 'topk',
      parameters: validateParameters(findMethod('topk'), {
        ratio: 0.01,
        quantize: { bits: 4 },
      }),
      collective: 'auto',
      bucketBytes: 64 * 2 ** 20,
    },
    switches: [],
  });
  await expect.poll(kernelThreads).toBe(helpers);
  const values = new Arena(memory).f32(gradient!);
  const random = new CounterRandom({ seed: 2 });
  const seen: Buffer[] = [];
  for (let iteration = 0; iteration < 3; iteration++) {
    for (let i = 0; i < length; i++) values[i] = random.uniform(i) - 0.5;
    await engine.call('exchange', { iteration });
    seen.push(Buffer.from(Float32Array.from(values).buffer));
  }
  await engine.close();
  return seen;
}

it.runIf(countsThreads).each([
  ['beside the trainer', () => new EngineHere(() => undefined)],
  ['in a thread of its own', () => new EngineOnThread(engineThread)],
])('%s', async (_, open) => {
  const expected = await exchangeThrice(open, 1, 0);
  const actual = await exchangeThrice(open, 3, 2);
  actual.forEach((gradient, iteration) => {
    expect(Buffer.compare(gradient, expected[iteration]!)).toBe(0);
  });
  await expect.poll(kernelThreads).toBe(0);
});
