/** Runs that the coordinator finds when it starts, stored and at supervisors. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { localNode } from '../../../src/main/cluster/local-node.ts';
import { ownName } from '../../../src/main/home/process-name.ts';
import { foundRuns } from '../../../src/main/runs/found-runs.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';
import { run, ScriptedCoordinator, supervised } from './scripted-coordinator.ts';
import { ScriptedSupervisor } from './scripted-supervisor.ts';

let scripted: ScriptedCoordinator;
beforeEach(async () => {
  scripted = await ScriptedCoordinator.open();
});
afterEach(() => scripted.close());

describe('recovery', () => {
  test('a run that the supervisor does not know has failed as lost', async () => {
    await scripted.play({ runs: [] });
    scripted.createRun('r');
    await scripted.coordinator.recover();
    expect(scripted.store.summary('r')).toMatchObject({
      state: 'failed',
      error: {
        code: 'RUN_LOST',
        next: expect.stringContaining('relaunch r') as string,
      },
    });
  });

  test('a run that a living process is about to start is not lost', async () => {
    await scripted.play({ runs: [] });
    scripted.createRun('starting', ownName());
    await scripted.coordinator.recover();
    expect(scripted.store.summary('starting').state).toBe('starting');
  });

  test('a run that only the supervisor knows is taken in', async () => {
    await scripted.play({
      runs: [supervised('r')],
      answer: ({ method }, client) => {
        if (method !== 'subscribe') return undefined;
        queueMicrotask(() => {
          client.records('r', run);
        });
        return { lastSequence: run.length };
      },
    });
    await scripted.coordinator.recover();
    expect(scripted.store.summary('r')).toMatchObject({
      state: 'completed',
      createdAt: 5,
    });
    expect(scripted.storedRun('r')).toEqual(run);
  });

  test('an ended run whose acknowledgement was lost is acknowledged again', async () => {
    await scripted.play({ runs: [supervised('r', { phase: 'ended' })] });
    scripted.createRun('r');
    scripted.store.records.append('r', run);
    await scripted.coordinator.recover();
    await scripted.coordinator.close();
    expect(
      scripted.supervisor.requested('acknowledge').map(({ body }) => body),
    ).toEqual([{ run: 'r', sequence: run.length }]);
  });
});

test('what a machine says of runs that are not on it changes nothing', async () => {
  const away = { ...scripted.home, socket: `${scripted.home.socket}.box` };
  const on = (nodes: readonly string[]) =>
    sampleSpec({ iterations: 50, world: { ranks: 2, nodes } });
  const here = on(['this-computer']);
  const both = on(['box', 'this-computer']);
  const create = (id: string, of: typeof here): void => {
    scripted.store.create({ id, spec: of, switches: [], createdAt: 1 });
  };
  create('ended', here);
  scripted.store.records.append('ended', run);
  create('lost', here);
  scripted.store.fail('lost', failure('RUN_LOST', 'it is lost').toData(), 2);
  create('own', on(['box']));
  const before = ['ended', 'lost'].map((id) => [
    scripted.store.summary(id),
    scripted.storedRun(id),
  ]);
  // Of each it says that it goes on there, on two machines.
  const claims = ['ended', 'lost', 'own'].map((id) =>
    supervised(id, { spec: both, lastSequence: 2 * run.length }),
  );
  const box = await ScriptedSupervisor.listen(away.socket, {
    runs: claims,
    answer: ({ method, body }, client) => {
      if (method !== 'subscribe') return undefined;
      const { run: id } = body as { run: string };
      queueMicrotask(() => {
        for (const claim of claims) client.send({ type: 'run', run: claim });
        for (const { run: claimed } of claims) client.records(claimed, run);
      });
      return { lastSequence: id === 'own' ? run.length : 2 * run.length };
    },
  });
  try {
    await scripted.play({ runs: [] }, 'all', [localNode(away, 'box')]);
    await scripted.coordinator.recover();
    expect(await scripted.coordinator.following.ended('own')).toMatchObject({
      state: 'completed',
    });
    expect(
      foundRuns(scripted.store, 'box', [...claims, supervised('new')]),
    ).toMatchObject([
      { id: 'own', here: 'ended' },
      { id: 'new', here: 'unknown' },
    ]);
    expect(
      ['ended', 'lost'].map((id) => [
        scripted.store.summary(id),
        scripted.storedRun(id),
      ]),
    ).toEqual(before);
    expect(scripted.notices).toEqual([]);
    const asked = box.requests.filter(({ method }) => method !== 'runs');
    expect(asked.map(({ body }) => (body as { run?: string }).run)).toEqual(
      asked.map(() => 'own'),
    );
  } finally {
    await scripted.coordinator.close();
    await box.close();
  }
});
