/** What real ranks print, in the log of their run: each line once, floods thinned and counted. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { LogRecord } from '../../../src/shared/records/log.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { LASTING } from '../../harness/lasting-runs.ts';

const HOOK = pathToFileURL(path.join(import.meta.dirname, 'noisy-ranks.mjs')).href;

const noisy = (noises: Readonly<Record<number, string>>) => ({
  environment: { NODE_OPTIONS: `--import=${HOOK}`, NOISE: JSON.stringify(noises) },
});

/** Of `runs log --json`. */
async function logOf(home: GradwireHome, ...options: string[]): Promise<RunRecord[]> {
  const { code, stdout, stderr } = await home.run([
    ...['runs', 'log', 'last', '--json'],
    ...options,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunRecord);
}

const printed = (records: readonly RunRecord[], rank: number): LogRecord[] =>
  records.filter(
    (record) => record.type === 'log' && record.rank === rank,
  ) as LogRecord[];

test('warnings, cut characters, a line without end and a flood are in the log', async () => {
  await using home = new GradwireHome();
  const command = home.startQuickstart(
    ['world.ranks=3', 'iterations=30'],
    noisy({ 0: 'warning', 1: 'bytes', 2: 'flood' }),
  );
  // The command dies in the middle; another one stores what the supervisor goes on to have.
  await command.record('iteration', ({ iteration }) => iteration >= 5);
  command.child.kill('SIGKILL');
  await command.finished;
  const attached = await home.run(['runs', 'attach', 'last', '--json']);
  expect(attached.code).toBe(0);

  const log = await logOf(home);
  // Before the last lines that are printed: the rank that makes it has not exited yet.
  expect(log.find(({ type }) => type === 'done')).toMatchObject({
    reason: 'completed',
  });
  const times = log.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));

  const warnings = printed(log, 0);
  expect(warnings).toHaveLength(3);
  expect(warnings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ stream: 'stdout', text: 'hello from stdout' }),
      expect.objectContaining({
        stream: 'stderr',
        level: 'warning',
        text: expect.stringMatching(
          /^\(node:\d+\) \[DEP9\] DeprecationWarning: the driver is old$/,
        ) as string,
      }),
    ]),
  );
  expect(printed(log, 1).map(({ text, cut }) => [text.slice(0, 9), cut])).toEqual([
    ['café', undefined],
    ['red', undefined],
    ['xxxxxxxxx', 10_000 - 4096],
  ]);

  const flood = printed(log, 2);
  const last = flood.pop()!;
  let next = 0;
  for (const { text, dropped = 0 } of flood) {
    next += dropped;
    expect(text).toBe(`flood ${next}`);
    next++;
  }
  expect(last.text).toBe(`flooded ${next}`);
  expect(flood.some(({ iteration = 0 }) => iteration > 0)).toBe(true);

  // What another command shows of it.
  expect(await logOf(home, '--rank', '0', '--grep', 'OLD')).toEqual(
    warnings.filter(({ level }) => level === 'warning'),
  );
  const text = await home.run(['runs', 'log', 'last', '--rank', '0']);
  expect(text.stdout).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {2}rank 0 {2}hello from stdout$/m,
  );
  const unknown = await home.run(['runs', 'log', 'last', '--rank', '3']);
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toMatch(
    /^gradwire: RANK_UNKNOWN: run \w+ has no rank 3 \(--rank\)\. Its ranks are 0 to 2\.\n$/,
  );
});

test('the stack that a rank leaves behind is there, followed live', async () => {
  await using home = new GradwireHome();
  const command = home.startQuickstart(
    ['world.ranks=2', ...LASTING],
    noisy({ 1: 'crash' }),
  );
  await command.record('started');
  const follower = home.start(['runs', 'log', 'last', '--follow', '--rank', '1']);
  writeFileSync(path.join(home.directory, 'crash'), '');
  const followed = await follower.finished;
  expect(followed.stdout).toMatch(
    /rank 1 .*error {2}TypeError: cannot read\n.*rank 1 .* {4}at library \(native\.js:1:2\)\n/,
  );
  expect(followed.stdout).toMatch(/rank 1 {2}error {2}Failed: /);
  await command.finished;
});
