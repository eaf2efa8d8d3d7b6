/** Runs on two nodes that lose something, and go on from a checkpoint. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { effort } from '../../harness/effort.ts';
import { LASTING_SPEC } from '../../harness/lasting-runs.ts';
import { until } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { filesWith, processesWith } from '../../harness/traces.ts';
import { NODES, spec, TwoHomes } from './two-homes.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

describe('a run that goes on from a checkpoint', () => {
  /** Iterations: enough that a busy machine gets to lose something before the end. */
  const LENGTH = 60;
  const restarting = (more: Record<string, unknown> = {}): Record<string, unknown> =>
    spec({
      onFailure: 'restart',
      checkpointEvery: 10,
      backend: 'wasm',
      ...more,
      exchange: { method: 'topk', ratio: 0.05 },
    });
  const result = (records: readonly RunRecord[]) =>
    ofType(records, 'done').map(({ loss, weights, iterations }) => ({
      loss,
      weights,
      iterations,
    }));
  let whole: ReturnType<typeof result>;
  beforeAll(async () => {
    await using world = await TwoHomes.open();
    const { id } = await world.coordinator.launches.launch(
      parseExperimentSpec(restarting({ iterations: LENGTH })),
    );
    await world.coordinator.following.ended(id);
    whole = result(world.records);
  });

  const reach = (world: TwoHomes, iteration: number): Promise<unknown> =>
    until(
      () => ofType(world.records, 'iteration').at(-1)?.iteration ?? 0,
      (reached) => reached >= iteration,
      `iteration ${iteration}`,
    );

  const expectTheSame = (world: TwoHomes, id: string): void => {
    expect(result(world.records)).toEqual(whole);
    const stored = [...world.store.reads.allIterations(id)];
    expect(stored).toHaveLength(3 * LENGTH);
    const restarts = ofType(world.records, 'restarted');
    expect(restarts.map(({ node }) => node)).toContain('box');
    expect(new Set(restarts.map(({ iteration }) => iteration)).size).toBe(1);
  };

  /** A run's secrets, the first and the one after the restart, are in memory alone. */
  const expectNoTraces = (world: TwoHomes): void => {
    const told = new Set(
      world.secrets.map((secret) => Buffer.from(secret).toString('hex')),
    );
    expect(told.size).toBe(2);
    for (const secret of world.secrets) {
      const bytes = Buffer.from(secret);
      for (const wanted of [bytes, bytes.toString('hex'), bytes.toString('base64')]) {
        expect(processesWith(wanted)).toEqual([]);
        for (const node of NODES) {
          expect(filesWith(world.homes[node].directory, wanted)).toEqual([]);
        }
      }
    }
    // The search finds what is there.
    expect(filesWith(world.homes.box.directory, 'checkpointEvery')).not.toEqual([]);
  };

  // One of several losses, all of which the run takes the same way: the next test has another.
  const killed = ['a rank is killed on one node: both go on, with the same bits'];
  test.each(killed.slice(0, effort({ quick: 0, soak: 1 })))('%s', async () => {
    await using world = await TwoHomes.open();
    const { id } = await world.coordinator.launches.launch(
      parseExperimentSpec(restarting({ iterations: LENGTH })),
    );
    await reach(world, 15);
    process.kill(world.workers(id, 'box')[0]!.pid, 'SIGKILL');
    await until(
      () => ofType(world.records, 'restarted').length,
      (restarts) => restarts === 2,
      'both nodes to go on',
    );
    expect((await world.coordinator.following.ended(id)).state).toBe('completed');
    expectTheSame(world, id);
    expect(
      ofType(world.records, 'interrupted').map(({ error }) => error.code),
    ).toContain('WORKER_DIED');
  });

  test(
    'a node is lost and comes back: the run waits for it',
    { tags: 'soak' },
    async () => {
      await using world = await TwoHomes.open();
      const { id } = await world.coordinator.launches.launch(
        parseExperimentSpec(restarting({ iterations: LENGTH })),
      );
      await reach(world, 15);
      world.outOfReach.add('box');
      process.kill(world.supervisors.box.at(-1)!, 'SIGKILL');
      await until(
        () => ofType(world.records, 'interrupted').map(({ node }) => node),
        (nodes) => nodes.some((node) => node !== 'box'),
        'the ranks here to miss the others',
      );
      expect(world.store.summary(id).state).toBe('running');
      // The app is closed meanwhile, too.
      await world.leave();
      world.outOfReach.clear();
      await world.coordinator.following.follow(id);
      await until(
        () => ofType(world.records, 'restarted').length,
        (restarts) => restarts === 2,
        'both nodes to go on',
      );
      expectNoTraces(world);
      expect((await world.coordinator.following.ended(id)).state).toBe('completed');
      expectTheSame(world, id);
    },
  );

  test(
    'that is interrupted can be stopped, without the node that is lost',
    { tags: 'soak' },
    async () => {
      await using world = await TwoHomes.open();
      const { id } = await world.coordinator.launches.launch(
        parseExperimentSpec(restarting(LASTING_SPEC)),
      );
      await reach(world, 5);
      world.outOfReach.add('box');
      process.kill(world.supervisors.box.at(-1)!, 'SIGKILL');
      await until(
        () => ofType(world.records, 'interrupted'),
        (seen) => seen.length > 0,
        'the ranks here to miss the others',
      );
      await world.coordinator.orders.give(id, { type: 'stop' });
      expect(await world.coordinator.following.ended(id)).toMatchObject({
        state: 'stopped',
        error: { code: 'RUN_STOPPED' },
      });
    },
  );
});
