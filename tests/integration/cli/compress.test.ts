/**
 * `gradwire compress` and `decompress`: what they write is what the engine makes, on every
 * backend; a state file carries on; wrong input is named. Most commands share a process.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  compressors,
  LoneRank,
  packPayload,
  unpackPayload,
} from '../../../src/agent/engine.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { effort } from '../../harness/effort.ts';
import { CommandHost } from '../../harness/command-host.ts';
import type { CommandAnswer } from '../../harness/command-process.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { canRunWebGpu, webGpuEnvironment } from '../../harness/webgpu.ts';
import { bellShaped } from '../../unit/kernels/adversarial-inputs.ts';

// Of the processes that are started from here.
if (canRunWebGpu) Object.assign(process.env, webGpuEnvironment);

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

type Runner = CommandHost | GradwireHome;

const LENGTH = 1200;
const SEED = 5;
const vector = (iteration = 0): Float32Array =>
  Float32Array.from(bellShaped(LENGTH, iteration + 1));

const at = (name: string): string => path.join(home.directory, name);
function put(name: string, bytes: Uint8Array | Float32Array): string {
  writeFileSync(
    at(name),
    new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
  return at(name);
}
const floats = (name: string): Float32Array => {
  const bytes = Uint8Array.from(readFileSync(at(name)));
  return new Float32Array(bytes.buffer);
};
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

describe('wrong input', () => {
  const topk = (...more: string[]): string[] => [
    ...['compress', '--method', 'topk', '--in', input, '--out', at('wrong.gw')],
    ...more,
  ];
  const back = (file: string): string[] => [
    ...['decompress', '--in', at(file), '--out', at('wrong.f32')],
  ];
  const replace = (args: string[], key: string, value: string): string[] =>
    args.map((arg, i) => (args[i - 1] === key ? value : arg));

  beforeAll(async () => {
    const values = vector();
    values[17] = NaN;
    put('nan.f32', values);
    values[17] = -Infinity;
    put('infinite.f32', values);
    put('odd.f32', new Uint8Array(4801));
    put('long.f32', new Uint8Array(0));
    // A hole, which takes no place on the disk.
    truncateSync(at('long.f32'), 2 ** 32 + 4);
    mkdirSync(at('folder'));
    symlinkSync(at('nowhere'), at('dangling'));
    using rank = new LoneRank({ method: 'topk', shape: [LENGTH] });
    const { payload } = await rank.compress(vector(), 0);
    const provenance = rank.provenance(0);
    const good = packPayload({ provenance, payload });
    put('cut.gw', good.slice(0, -3));
    put('flipped.gw', good.with(-1, good.at(-1)! ^ 1));
    put('version.gw', good.with(4, 2));
    put('short.gw', packPayload({ provenance, payload: payload.slice(0, -4) }));
    const disordered = payload.slice();
    disordered.set(payload.subarray(0, 4), 4);
    put('disordered.gw', packPayload({ provenance, payload: disordered }));
    const infinite = payload.slice();
    new DataView(infinite.buffer).setFloat32(payload.length - 4, Infinity, true);
    put('infinite.gw', packPayload({ provenance, payload: infinite }));
    const named = (change: object): Uint8Array =>
      packPayload({ provenance: { ...provenance, ...change }, payload });
    put('unknown.gw', named({ method: 'topkk' }));
    put('parameter.gw', named({ parameters: { ratio: 7 } }));
    put('smaller.gw', named({ n: 10, shape: [10] }));
    using means = new LoneRank({ method: 'a2sgd', shape: [LENGTH] });
    const two = await means.compress(vector(), 0);
    put(
      'means.gw',
      packPayload({ provenance: means.provenance(0), payload: two.payload }),
    );
    const made = await commands.run(topk('--state', at('made.state')));
    expect(made.code).toBe(0);
  });

  test.each<[string[], string, RegExp]>([
    [['compress'], 'USAGE', /--method/],
    [replace(topk(), '--in', at('nope')), 'FILE_UNREADABLE', /no such file.*nope\)/],
    [replace(topk(), '--in', at('folder')), 'FILE_UNREADABLE', /directory.*folder\)/],
    [replace(topk(), '--in', at('odd.f32')), 'VECTOR_SIZE_INVALID', /4801 bytes/],
    [replace(topk(), '--in', at('long.f32')), 'FILE_TOO_LARGE', /4294967300 bytes/],
    [
      replace(topk(), '--in', at('nan.f32')),
      'VECTOR_NOT_FINITE',
      /17 is NaN.*nan\.f32/,
    ],
    [
      replace(topk(), '--in', at('infinite.f32')),
      'VECTOR_NOT_FINITE',
      /17 is -Infinity/,
    ],
    [replace(topk(), '--out', at('folder')), 'OUTPUT_NOT_WRITABLE', /folder\)/],
    [replace(topk(), '--out', at('no/x.gw')), 'OUTPUT_NOT_WRITABLE', /no such file/],
    [replace(topk(), '--method', 'tokp'), 'METHOD_UNKNOWN', /Did you mean "topk"/],
    [topk('--param', 'ratio=2'), 'METHOD_PARAMETER_INVALID', /ratio.* 2/],
    [topk('--param', 'ration=0.1'), 'METHOD_PARAMETER_UNKNOWN_KEY', /ration.*ratio/],
    [
      topk('--param', 'k=3', '--param', 'rampIterations=9'),
      'METHOD_PARAMETER_IDLE',
      /rampIterations.* 9.*k.* 3/,
    ],
    [
      topk('--param', 'ratio'),
      'SETTING_INVALID',
      /"ratio" is not key=value.*--param.*ratio=0\.01/,
    ],
    [topk('--param', 'ratio=[1'), 'SETTING_INVALID', /not YAML/],
    [topk('--seed', '-1'), 'USAGE', /'-1' is invalid/],
    [topk('--iteration', '1.5'), 'USAGE', /'1\.5' is invalid/],
    [topk('--shape', '30x41'), 'SHAPE_INVALID', /30×41 does not have 1200/],
    [topk('--shape', 'big'), 'USAGE', /784x200/],
    [topk('--backend', 'abacus'), 'USAGE', /reference, wasm, webgpu/],
    [topk('--state', at('cut.gw')), 'CONTAINER_TRUNCATED', /cut\.gw/],
    [topk('--state', at('flipped.gw')), 'CONTAINER_CORRUPT', /flipped\.gw/],
    [topk('--state', at('means.gw')), 'CONTAINER_UNKNOWN', /a payload, not a state/],
    [topk('--state', at('folder')), 'FILE_UNREADABLE', /folder/],
    [
      topk('--state', at('made.state'), '--seed', '9'),
      'STATE_MISMATCH',
      /seed is 1, not 9.*made\.state/,
    ],
    [
      replace(topk('--state', at('made.state')), '--method', 'dgc'),
      'STATE_MISMATCH',
      /method is topk, not dgc/,
    ],
    [back('nope'), 'FILE_UNREADABLE', /no such file/],
    [back('x.f32'), 'CONTAINER_UNKNOWN', /begins with/],
    [back('made.state'), 'CONTAINER_UNKNOWN', /a state, not a payload/],
    [back('cut.gw'), 'CONTAINER_TRUNCATED', /cut\.gw/],
    [back('flipped.gw'), 'CONTAINER_CORRUPT', /checksum/],
    [back('version.gw'), 'CONTAINER_UNKNOWN', /version 2/],
    [back('unknown.gw'), 'METHOD_UNKNOWN', /topkk.*unknown\.gw/],
    [back('parameter.gw'), 'METHOD_PARAMETER_INVALID', /ratio/],
    [back('short.gw'), 'PAYLOAD_INVALID', /short\.gw/],
    [back('disordered.gw'), 'PAYLOAD_INVALID', /not greater than the one before/],
    [
      back('infinite.gw'),
      'PAYLOAD_INVALID',
      /element \d+ of its vector is Infinity.*infinite\.gw/,
    ],
    [back('smaller.gw'), 'PAYLOAD_INVALID', /10 elements/],
    [back('means.gw'), 'PAYLOAD_NEEDS_GRADIENT', /--gradient/],
    [
      [...back('means.gw'), '--gradient', at('nan.f32')],
      'VECTOR_NOT_FINITE',
      /element 17/,
    ],
  ])('gradwire %j: %s', async (args, code, message) => {
    await expectRefused(args, code, message, commands);
  });

  test.each([
    [topk('--seed', '-1'), 'USAGE', /'-1' is invalid/],
    [back('cut.gw'), 'CONTAINER_TRUNCATED', /cut\.gw/],
  ] as const)('gradwire %j as a process: %s', async (args, code, message) => {
    await expectRefused(args, code, message, home);
  });

  async function expectRefused(
    args: readonly string[],
    code: string,
    message: RegExp,
    runner: Runner,
  ): Promise<void> {
    const { code: exit, stdout, stderr } = await runner.run(args);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(new RegExp(`^gradwire: ${code}: `));
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
    expect(exit).toBe(2);
    expect(existsSync(at('wrong.f32'))).toBe(false);
  }

  test('a state that is refused stays as it was', async () => {
    const before = readFileSync(at('made.state'));
    await commands.run(topk('--state', at('made.state'), '--seed', '9'));
    await commands.run(
      replace(topk('--state', at('made.state')), '--in', at('nan.f32')),
    );
    expect(readFileSync(at('made.state')).equals(before)).toBe(true);
  });

  test('a link to a file that is not there yet is written through', async () => {
    const { code } = await commands.run(replace(topk(), '--out', at('dangling')));
    expect(code).toBe(0);
    expect(statSync(at('nowhere')).size).toBeGreaterThan(0);
  });
});

test('an output never overwrites an input, whatever its path looks like', async () => {
  const own = put('own.f32', vector());
  symlinkSync(own, at('alias.f32'));
  const before = readFileSync(own);
  const refused = [
    ['compress', '--method', 'topk', '--in', own, '--out', own],
    ['compress', '--method', 'topk', '--in', own, '--out', at('alias.f32')],
    ['compress', '--method', 'topk', '--in', own, '--out', at('z'), '--state', own],
    ['decompress', '--in', at('line.gw'), '--out', at('line.gw')],
    ['decompress', '--in', at('line.gw'), '--gradient', own, '--out', own],
  ];
  writeFileSync(at('line.gw'), 'kept');
  for (const args of refused) {
    const { code, stderr } = await commands.run(args);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('OUTPUT_IS_INPUT') as string,
    });
  }
  expect(readFileSync(own)).toEqual(before);
  expect(readFileSync(at('line.gw'), 'utf8')).toBe('kept');
});
