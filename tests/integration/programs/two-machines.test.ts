/** A program whose ranks are on two machines, one of them reached by SSH. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { NODES, TwoHomes } from '../cluster/two-homes.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const script = path.join(import.meta.dirname, 'scripted-program.ts');

const specOf = (name: string, ranks: number, ...args: readonly string[]) =>
  parseExperimentSpec({
    name,
    workload: {
      observe: args.some((one) => one.startsWith('observe')),
      command: [process.execPath, script, ...args],
      workdir: '/',
      copy: false,
    },
    world: { ranks, nodes: NODES },
  });

test('each finds its place among the ranks of its machine, and all average', async () => {
  await using world = await TwoHomes.open();
  const { coordinator } = world;
  const { id } = await coordinator.launches.launch(
    specOf('a program on two machines', 3, '20', 'places'),
  );
  const summary = await coordinator.following.ended(id);
  expect(summary).toMatchObject({ state: 'completed', iterations: 20 });
  const { records } = world;
  expect(ofType(records, 'iteration')).toHaveLength(60);
  expect(ofType(records, 'done')).toMatchObject([{ consistent: true }]);
  const places = ofType(records, 'log')
    .filter(({ text }) => text.startsWith('place'))
    .map(({ rank, text }) => `${rank}: ${text}`);
  expect(places.toSorted()).toEqual([
    '0: place 0 of 2',
    '1: place 1 of 2',
    '2: place 0 of 1',
  ]);
});

test('one that hangs is ended on both, and each says so', async () => {
  await using world = await TwoHomes.open();
  const { coordinator } = world;
  const { id } = await coordinator.launches.launch(
    specOf('a program that hangs', 2, '1000000', 'hangs'),
  );
  await until(
    () => ofType(world.records, 'iteration').filter((one) => one.iteration === 19),
    (last) => last.length === 2,
    'both to hang',
  );
  await coordinator.orders.give(id, { type: 'stop', now: true });
  const { error, state } = await coordinator.following.ended(id);
  expect([state, error?.code]).toEqual(['stopped', 'RUN_STOPPED']);
  expect(error?.message).toContain('at once');
});

test('one that is only observed is traced in the same steps on both', async () => {
  await using world = await TwoHomes.open();
  const { coordinator } = world;
  const { id } = await coordinator.launches.launch(
    specOf('an observed program', 3, '20', 'observe until traced'),
  );
  await until(
    () => ofType(world.records, 'iteration').filter((one) => one.iteration === 4),
    (last) => last.length === 3,
    'all to make steps',
  );
  const { from } = await coordinator.orders.give(id, { type: 'trace', iterations: 4 });
  expect(from).toBeGreaterThan(4);
  const { state } = await coordinator.following.ended(id);
  expect(state).toBe('completed');
  const traced = ofType(world.records, 'trace').map(
    ({ iteration, rank, spans }) => `${rank}: ${iteration}, ${spans.length}`,
  );
  expect(traced.toSorted()).toEqual(
    [0, 1, 2].flatMap((rank) => [0, 1, 2, 3].map((i) => `${rank}: ${from! + i}, 1`)),
  );
});
