/** Programs that something else starts: they find their ranks, and end as the run does. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { awaitedNotice } from './awaited-notice.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const RANKS = 2;
const script = path.join(import.meta.dirname, 'scripted-program.ts');

interface Awaiting {
  readonly command: RunningCommand;
  readonly id: string;
}

const hasAll = ({ length }: readonly unknown[]): boolean => length === RANKS;
const hasNone = ({ length }: readonly unknown[]): boolean => length === 0;

/** A run whose ranks wait. */
async function awaiting(...args: readonly string[]): Promise<Awaiting> {
  const ranks = ['--ranks', String(RANKS)];
  const command = home.start(['exec', '--external', '--json', ...ranks, ...args]);
  const { message } = await awaitedNotice(command);
  const id = /GRADWIRE_RUN=(\w+) torchrun --nproc-per-node 2 train\.py$/.exec(
    message,
  )![1]!;
  await until(() => placesOf(id).filter(existsSync), hasAll, 'the sockets');
  return { command, id };
}

const placesOf = (id: string): readonly string[] =>
  Array.from({ length: RANKS }, (_, rank) =>
    path.join(
      `/tmp/gradwire-awaiting-${process.getuid!()}`,
      `${id}.2.${rank}`,
      'bridge',
    ),
  );

/** Starts the programs, as a launcher would. */
const started = (id: string, ...args: readonly string[]): readonly ChildProcess[] =>
  placesOf(id).map((GRADWIRE_BRIDGE, rank) =>
    spawn(process.execPath, [script, ...args], {
      env: { ...process.env, RANK: String(rank), WORLD_SIZE: '2', GRADWIRE_BRIDGE },
      stdio: 'ignore',
    }),
  );

const training = (command: RunningCommand): Promise<unknown> =>
  until(
    () => ofType(command.records, 'iteration').length,
    (iterations) => iterations > 10,
    'iterations',
  );

async function nothingIsLeft(id: string): Promise<void> {
  const left = (): readonly string[] =>
    placesOf(id)
      .map((place) => path.dirname(place))
      .filter(existsSync);
  await until(left, hasNone, 'the end of the sockets');
}

test('ranks wait for their programs, and average their gradients', async () => {
  const { command, id } = await awaiting('--switch', '10:method=topk,ratio=0.1');
  const programs = started(id, '20', 'lossy');
  const exits = Promise.all(programs.map((program) => once(program, 'exit')));
  succeeded(await command.finished);
  expect(await exits).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(await command.record('done')).toMatchObject({
    reason: 'completed',
    iterations: 20,
    consistent: true,
  });
  expect(ofType(command.records, 'switch')).toMatchObject([{ fence: 10 }]);
  await nothingIsLeft(id);
});

test('a program that is gone ends the run, and the run ends the others', async () => {
  const { command, id } = await awaiting();
  const programs = started(id, '1000000');
  await training(command);
  const other = once(programs[0]!, 'exit');
  programs[1]!.kill('SIGKILL');
  expect((await command.finished).code).toBe(1);
  expect((await command.record('failed')).error).toMatchObject({
    code: 'PROGRAM_GONE',
    rank: 1,
  });
  // It hears of the failure, and is not killed: whoever started it may want to save something.
  expect((await other)[1]).toBeNull();
  await nothingIsLeft(id);
});

test('ends at once if it is stopped while it waits', async () => {
  const { command, id } = await awaiting();
  succeeded(await home.run(['runs', 'stop', id]));
  await command.finished;
  expect((await command.record('failed')).error.code).toBe('RUN_STOPPED');
  await nothingIsLeft(id);
});

test(
  'stops programs politely, and leaves nothing when a rank is killed',
  { tags: 'soak' },
  async () => {
    const { command, id } = await awaiting();
    const programs = started(id, '1000000');
    const exits = Promise.all(programs.map((program) => once(program, 'exit')));
    await training(command);
    succeeded(await home.run(['runs', 'stop', id]));
    succeeded(await command.finished);
    expect((await exits).map(([code]) => code as number)).toEqual([0, 0]);
    await nothingIsLeft(id);

    const killed = await awaiting();
    const others = started(killed.id, '1000000');
    const ends = Promise.all(others.map((program) => once(program, 'exit')));
    const { processes } = await killed.command.record('started');
    process.kill(processes[1]!.pid, 'SIGKILL');
    await killed.command.finished;
    // Their connections have closed.
    await ends;
    await nothingIsLeft(killed.id);
  },
);

test('a missing command and what cannot be observed have one clear error', async () => {
  for (const [args, place] of [
    [['exec'], 'workload.command'],
    [['exec', '--external', '--observe'], 'workload.observe'],
  ] as const) {
    const { code, stderr } = await home.run(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^gradwire: PROGRAM_INVALID: .*\n$/);
    expect(stderr).toContain(`(${place})`);
  }
});
