/** What one run does to its supervisor, or the system to it, is nothing to the other runs. */
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseExperimentSpec } from '../../../src/shared/experiment-spec.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { isAlive, until } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { endOf, SupervisorNode } from './supervisor-node.ts';

const spec = (iterations: number) =>
  parseExperimentSpec({
    ...{ workload: { model: 'fnn3', dataset: 'digits' }, world: { ranks: 1 } },
    ...{ optimizer: { lr: 0.2 }, evaluateEvery: 0, iterations },
  });

it('a fault that nothing catches ends the run that it belongs to', async () => {
  const faults = path.join(import.meta.dirname, 'faulty-supervisor.mjs');
  await using node = await SupervisorNode.start(undefined, {
    NODE_OPTIONS: `--import ${faults}`,
  });
  const other = await node.launch('other', spec(1_000_000));
  const victim = await node.prepare('victim', spec(1_000_000)).catch(String);
  // It fails before or after its ranks listen.
  const error = {
    code: 'INTERNAL',
    message: expect.stringContaining('a fault of the run') as string,
  };
  if (typeof victim === 'string') expect(victim).toContain('a fault of the run');
  else expect(await endOf(victim.entries)).toMatchObject({ type: 'failed', error });
  await until(
    () =>
      ofType(
        other.map(({ record }) => record),
        'iteration',
      ).length,
    (count) => count > 3,
    'the other run to go on',
  );
  await node.connection.request('stop', { run: 'other' });
  expect(await endOf(other)).toMatchObject({ type: 'done', reason: 'stopped' });
});

describe('a run that the system gives too little', () => {
  const quick = ['iterations=150', 'world.ranks=1', 'evaluateEvery=0'];
  let undisturbed: Promise<string> | undefined;
  const plain = new GradwireHome();
  afterAll(() => plain[Symbol.asyncDispose]());
  /** The weights of the other run if nothing happens beside it. */
  const weights = (): Promise<string> => {
    undisturbed ??= (async () => {
      const command = plain.startQuickstart(quick);
      succeeded(await command.finished);
      return ofType(command.records, 'done')[0]!.weights;
    })();
    return undisturbed;
  };

  /** Of a supervisor that inherits them. */
  const LIMITS: readonly {
    readonly name: string;
    readonly shell: string;
    readonly ranks: number;
    readonly error: RegExp;
    readonly soak?: boolean;
  }[] = [
    {
      name: 'descriptors',
      shell: 'ulimit -n 64',
      ranks: 8,
      error: /OPEN_FILES_LIMIT: rank \d cannot be started: .*ulimit -n/,
    },
  ];

  it.each(LIMITS)('too few $name', async ({ shell, ranks, error }) => {
    await using home = new GradwireHome();
    const other = home.startQuickstart(quick, { shell });
    await other.record('iteration');
    const [supervisor] = home.supervisors();
    const starved = await home.run([
      ...['run', 'quickstart', '--set', 'iterations=2'],
      ...['--set', `world.ranks=${ranks}`],
    ]);
    expect(starved.code).toBe(1);
    expect(starved.stderr).toMatch(error);
    expect(isAlive(supervisor!) || ofType(other.records, 'done').length === 1).toBe(
      true,
    );
    succeeded(await other.finished);
    expect(ofType(other.records, 'done')[0]!.weights).toBe(await weights());
  });
});
