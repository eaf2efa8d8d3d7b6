/** `gradwire allreduce` names what is wrong with its options and files. */
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { integers } from './run-collective.ts';
import { vectorFolder } from './vector-folder.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});
const { folder, inputs, at, put, allreduce } = vectorFolder(home.directory);

describe('wrong input is one line, exit code 2, and nothing is written', () => {
  beforeEach(() => {
    put([integers(0, 100), integers(1, 100), integers(2, 99)]);
    writeFileSync(at(inputs, 3), 'seven b');
  });

  test.each([
    [allreduce(0), 'USAGE', /'0' is invalid.*1 to 256/],
    [allreduce('two'), 'USAGE', /'two' is invalid/],
    [allreduce(2, '--op', 'mean'), 'USAGE', /'mean' is invalid.*sum, min, max, prod/],
    [allreduce(2, '--transport', 'udp'), 'USAGE', /'udp' is invalid/],
    [allreduce(2, '--dtype', 'f16'), 'USAGE', /'f16' is invalid.*f32, f64/],
    [
      allreduce(2, '--dtype', 'f64', '--in', at(inputs, 2)),
      'VECTOR_SIZE_INVALID',
      /396 bytes .*8-byte/,
    ],
    [allreduce(2, '--quantize', 'bits=3'), 'QUANTIZE_INVALID', /"bits" is 3/],
    [allreduce(2, '--delta', 'often'), 'USAGE', /'often' is invalid.*auto/],
    [allreduce(2, '--delta', '0.6'), 'DELTA_INVALID', /0\.6.*f32.*0\.5/],
    [
      allreduce(2, '--delta', '0.2', '--algorithm', 'ring'),
      'DELTA_MISFIT',
      /ring has no sparse streams/,
    ],
    [allreduce(2, '--quantize', 'bucket=64=3'), 'QUANTIZE_INVALID', /"64=3"/],
    [allreduce(2, '--quantize', 'bit=4'), 'QUANTIZE_UNKNOWN_KEY', /"bits"\?/],
    [
      allreduce(2, '--quantize', 'format=fp8'),
      'QUANTIZE_INVALID',
      /"format" is "fp8": it must be bf16, fp16, e4m3 or e5m2/,
    ],
    [
      allreduce(2, '--quantize', 'format=e4m3,bits=4'),
      'QUANTIZE_INVALID',
      /"bits" is 4: levels have bits, bucket and scale, floats only a format/,
    ],
    [
      allreduce(2, '--quantize', 'bits=4', '--op', 'max'),
      'QUANTIZE_MISFIT',
      /a max of f32 values/,
    ],
    [
      allreduce(2, '--quantize', 'bits=4', '--algorithm', 'ring'),
      'QUANTIZE_MISFIT',
      /scatter-reduce-allgather, dsar-split-allgather/,
    ],
    [
      allreduce(2, '--servers', '2', '--algorithm', 'ring'),
      'SERVERS_MISFIT',
      /servers: 2, but the collective is ring\..*collective=parameter-server/,
    ],
    [allreduce(2, '--servers', '2'), 'SERVERS_MISFIT', /the collective is auto/],
    [
      allreduce(2, '--servers', '3', '--algorithm', 'parameter-server'),
      'SERVERS_INVALID',
      /servers is 3, but only 2 ranks exchange\..*from 1 to 2/,
    ],
    [allreduce(2, '--servers', 'two'), 'USAGE', /'two' is invalid/],
    [
      allreduce(2, '--algorithm', 'rnig'),
      'COLLECTIVE_UNKNOWN',
      /Did you mean "ring"\?/,
    ],
    [allreduce(2, '--in', at(inputs, 9)), 'FILE_UNREADABLE', /no such file.*in9\.f32/],
    [allreduce(2, '--in', folder), 'FILE_UNREADABLE', /it is not a file/],
    [
      allreduce(3),
      'VECTOR_LENGTHS_DIFFER',
      /rank 2 has 99 .* rank 0 has 100.*in2\.f32/,
    ],
    [
      allreduce(2, '--places', '0,1,1'),
      'PLACES_INVALID',
      /3 machine numbers for 2 ranks.*such as 0,0,1,1/,
    ],
    [allreduce(2, '--places', '0,x'), 'PLACES_INVALID', /NaN is not a machine number/],
    [allreduce(4), 'VECTOR_SIZE_INVALID', /7 bytes .*in3\.f32/],
    [allreduce(2, '--out', path.join(folder, 'x')), 'PATTERN_INVALID', /\{rank\}/],
    [
      allreduce(2, '--out', path.join(folder, 'none', '{rank}')),
      'OUTPUT_NOT_WRITABLE',
      /none\/[01]/,
    ],
    [['allreduce', '--ranks', '2'], 'USAGE', /required option '--in/],
  ])('%j: %s', async (args, code, message) => {
    await expectRefused(args, code, message, commands);
  });

  test('also by a command that is a process of its own', async () => {
    await expectRefused(allreduce(0), 'USAGE', /'0' is invalid/, home);
  });

  async function expectRefused(
    args: readonly string[],
    code: string,
    message: RegExp,
    runner: CommandHost | GradwireHome,
  ): Promise<void> {
    const finished = await runner.run(args);
    expect(finished.stderr).toMatch(new RegExp(`^gradwire: ${code}: .*\n$`));
    expect(finished.stderr).toMatch(message);
    expect(finished.code).toBe(2);
    expect(finished.stdout).toBe('');
    expect(readdirSync(folder).filter((name) => !name.startsWith('in'))).toEqual([]);
    expect(home.processes()).toEqual([]);
  }
});
