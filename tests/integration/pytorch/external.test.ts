/** torchrun starts the ranks: under a run's command, or by itself while a run waits. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { packageSources, pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';
import { awaitedNotice } from '../programs/awaited-notice.ts';
import { joined } from './programs.ts';

describe.skipIf(pytorch === undefined)('torchrun', () => {
  const home = new GradwireHome();
  afterAll(() => home[Symbol.asyncDispose]());

  const torchrun = [
    path.join(path.dirname(pytorch ?? ''), 'torchrun'),
    ...['--nproc-per-node', '2', joined, '6'],
  ];
  const exec = (...args: readonly string[]) =>
    home.start(['exec', '--external', '--ranks', '2', '--json', ...args]);
  const digests = (text: string): readonly string[] =>
    text.match(/[0-9a-f]{64}/g) ?? [];

  test('is a run’s command: its ranks join, are switched, and the log is that of rank 0', async () => {
    const methods = ['topk', 'a2sgd', 'none'];
    const command = exec(
      ...methods.flatMap((method, i) => ['--switch', `${i + 2}:method=${method}`]),
      ...['--', ...torchrun],
    );
    succeeded(await command.finished);
    expect(await command.record('done')).toMatchObject({
      iterations: 6,
      consistent: true,
    });
    const switches = ofType(command.records, 'switch');
    expect(switches.map(({ to }) => to.method)).toEqual(methods);
    const { stdout } = await home.run(['runs', 'log', 'last', '--rank', '0']);
    const [first, second] = digests(stdout);
    expect(second).toBe(first);
    expect(first).toBeDefined();
  });

  test('is only observed', { tags: 'soak' }, async () => {
    const command = exec('--observe', '--', ...torchrun);
    succeeded(await command.finished);
    const iterations = ofType(command.records, 'iteration');
    expect(iterations).toHaveLength(12);
    expect(new Set(iterations.map(({ rank }) => rank))).toEqual(new Set([0, 1]));
  });

  test('is started elsewhere, while a run waits', { tags: 'soak' }, async () => {
    const command = exec('--method', 'topk');
    const { message } = await awaitedNotice(command);
    const [, run] = /GRADWIRE_RUN=(\w+)/.exec(message)!;
    const [file, ...args] = torchrun;
    const launcher = spawn(file!, args, {
      env: { ...process.env, GRADWIRE_RUN: run, PYTHONPATH: packageSources },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    launcher.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    succeeded(await command.finished);
    expect(await once(launcher, 'close')).toEqual([0, null]);
    const [first, second] = digests(printed);
    expect(second).toBe(first);
    expect(await command.record('done')).toMatchObject({
      iterations: 6,
      consistent: true,
    });
  });

  test('tells the error of the rank that has failed', { tags: 'soak' }, async () => {
    const command = exec('--', ...torchrun.slice(0, -1), 'many');
    expect((await command.finished).code).toBe(1);
    expect((await command.record('failed')).error).toMatchObject({
      code: 'PROGRAM_FAILED',
      message: expect.stringContaining(
        'ValueError: invalid literal for int()',
      ) as string,
    });
  });
});
