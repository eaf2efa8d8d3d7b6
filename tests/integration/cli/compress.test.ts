/**
 * `gradwire compress` and `decompress`: what they write is what the engine makes, on every
 * backend; a state file carries on. Most commands share a process.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { compressors, LoneRank, unpackPayload } from '../../../src/agent/engine.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { effort } from '../../harness/effort.ts';
import { CommandHost } from '../../harness/command-host.ts';
import type { CommandAnswer } from '../../harness/command-process.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { canRunWebGpu, webGpuEnvironment } from '../../harness/webgpu.ts';
import { LENGTH, vector, vectorFiles } from './vector-files.ts';

// Of the processes that are started from here.
if (canRunWebGpu) Object.assign(process.env, webGpuEnvironment);

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

type Runner = CommandHost | GradwireHome;

const SEED = 5;

const { at, put, floats } = vectorFiles(home.directory);
const input = put('x.f32', vector());

/** Small tensors and all: every method does what it is for. */
const PARAMETERS: Readonly<Record<string, JsonObject>> = {
  topk: { ratio: 0.02 },
  threshold: { threshold: 1 },
  qsgd: { minElements: 0, bits: 4 },
  terngrad: { minElements: 0 },
  onebit: { minElements: 0 },
};

async function compress(
  method: string,
  out: string,
  more: readonly string[] = [],
  runner: Runner = commands,
): Promise<CommandAnswer> {
  const params = Object.entries(PARAMETERS[method] ?? {}).flatMap(([key, value]) => [
    '--param',
    `${key}=${String(value)}`,
  ]);
  const command = ['compress', '--method', method, ...params, '--out', at(out)];
  const { code, stdout, stderr } = await runner.run([...command, ...more]);
  return { code: code ?? NaN, stdout, stderr };
}

/** The other backend is slower and, but for one method, gives the same bytes. */
const backendsOf = (method: string): readonly ('wasm' | 'reference')[] =>
  effort({ quick: method === 'powersgd', soak: true })
    ? ['wasm', 'reference']
    : ['wasm'];

describe.each([...compressors.keys()])('%s', (method) => {
  test.each(backendsOf(method))('as the engine does, on %s', async (backend) => {
    const options = {
      method,
      parameters: PARAMETERS[method],
      shape: [30, 40],
      seed: SEED,
      // Its products are sums, which backends may add up in another order.
      backend: method === 'powersgd' ? backend : 'reference',
    } as const;
    using rank = new LoneRank(options);
    const expected = await rank.compress(vector(), 0);

    const out = `${method}-${backend}.gw`;
    const common = ['--backend', backend, '--json'];
    const { code, stdout, stderr } = await compress(method, out, [
      ...['--in', input, '--seed', String(SEED), '--shape', '30x40'],
      ...common,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const file = readFileSync(at(out));
    const { payload } = unpackPayload(file);
    expect(Buffer.from(payload).equals(expected.payload)).toBe(true);
    expect(file.subarray(-payload.length).equals(expected.payload)).toBe(true);
    const report = JSON.parse(stdout) as Record<string, unknown>;
    expect(report).toMatchObject({
      method,
      n: LENGTH,
      bytes: file.length,
      payloadBytes: payload.length,
      ms: expect.any(Number),
    });
    expect(report['nnz']).toBe(expected.nnz);
    expect('nnz' in report).toBe(expected.nnz !== undefined);

    const decoded = await commands.run([
      ...['decompress', '--in', at(out), '--out', at(`${out}.f32`), ...common],
      ...(method === 'a2sgd' ? ['--gradient', input] : []),
    ]);
    expect(decoded).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(decoded.stdout)).toMatchObject({ method, n: LENGTH });
    using other = new LoneRank(options);
    const values = await other.decompress(payload, 0, vector());
    expect(floats(`${out}.f32`)).toEqual(values);
  });
});

describe.skipIf(!canRunWebGpu)('on a GPU', () => {
  // With the most state of them; all methods on a GPU: tests/gpu.
  const some = effort({ quick: ['dgc'], soak: ['topk', 'qsgd', 'dgc'] });

  test.each(some)('%s: the bytes of the CPU', async (method) => {
    using rank = new LoneRank({
      method,
      parameters: PARAMETERS[method],
      shape: [LENGTH],
    });
    const state = ['--state', at(`${method}-gpu.state`)];
    for (let iteration = 0; iteration < 2; iteration++) {
      const out = `${method}-gpu.gw`;
      const x = put('x-gpu.f32', vector(iteration));
      const { code, stdout } = await compress(method, out, [
        ...['--in', x, '--backend', 'webgpu', '--json', ...state],
      ]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ backend: 'webgpu', iteration });
      const { payload } = await rank.compress(vector(iteration), iteration);
      const sent = unpackPayload(readFileSync(at(out)));
      expect(Buffer.from(sent.payload).equals(payload)).toBe(true);
    }
    const files = ['--in', at(`${method}-gpu.gw`), '--out', at('gpu.f32')];
    const back = await commands.run(['decompress', ...files, '--backend', 'webgpu']);
    expect(back.code).toBe(0);
    await commands.run(['decompress', ...files.with(3, at('cpu.f32'))]);
    expect(floats('gpu.f32')).toEqual(floats('cpu.f32'));
  });
});

describe('a state file', () => {
  test.each(['topk', 'dct', 'dgc', 'powersgd', 'qsgd'])(
    'carries %s from call to call',
    async (method) => {
      using session = new LoneRank({
        method,
        parameters: PARAMETERS[method],
        shape: [30, 40],
        seed: SEED,
        rank: 3,
      });
      const state = at(`${method}.state`);
      for (let iteration = 0; iteration < 3; iteration++) {
        const x = put(`${method}-${iteration}.f32`, vector(iteration));
        // What the first call says the next ones find in the state.
        const first = ['--seed', String(SEED), '--rank', '3', '--shape', '30x40'];
        const more = iteration === 0 ? first : [];
        const out = `${method}.gw`;
        const options = ['--in', x, '--state', state, ...more];
        // Of one method each call is a process of its own, which can know nothing else.
        const runner = method === 'topk' ? home : commands;
        const done = await compress(method, out, options, runner);
        expect(done).toMatchObject({ code: 0, stderr: '' });
        const expected = await session.compress(vector(iteration), iteration);
        const { provenance, payload } = unpackPayload(readFileSync(at(out)));
        expect(provenance).toMatchObject({ iteration, seed: SEED, rank: 3 });
        expect(Buffer.from(payload).equals(expected.payload)).toBe(true);
      }
      expect(readdirSync(home.directory).filter((name) => /tmp/.test(name))).toEqual(
        [],
      );
    },
  );
});

test('without --json a readable line', async () => {
  const { stdout } = await compress('topk', 'line.gw', ['--in', input], home);
  expect(stdout).toMatch(
    /^topk: 1200 elements, 4\.80 kB to a payload of 192 B, 24 entries, in [\d.]+ ms\n$/,
  );
  const back = await home.run(['decompress', '--in', at('line.gw'), '--out', at('y')]);
  expect(back.stdout).toMatch(/^topk: 1200 elements from a payload of 192 B, in /);
});
