/** `gradwire compress` and `decompress` name what is wrong with their input, and write nothing. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LoneRank, packPayload } from '../../../src/agent/engine.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { LENGTH, vector, vectorFiles } from './vector-files.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const { at, put } = vectorFiles(home.directory);
const input = put('x.f32', vector());

type Runner = CommandHost | GradwireHome;

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
