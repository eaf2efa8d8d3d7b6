/** Machines as the app shows them. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { NodeDesk } from '../../../src/main/app/node-desk.ts';
import { Inventory } from '../../../src/main/cluster/inventory.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import type { NodeConnection } from '../../../src/shared/machines/node-status.ts';
import type { RunStatus } from '../../../src/shared/protocol/supervisor.ts';
import { sampleSpec, wholeRun } from './sample-records.ts';

test('a card says that its machine gives no sign of life, as long as it does not', async () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-nodes-'));
  const home = resolveHome({ GRADWIRE_HOME: directory });
  const store = RunStore.open(home.database);
  await using inventory = new Inventory({ home, entries: store.nodes });
  store.nodes.add(inventory.parse({ name: 'box', destination: 'box' }));
  const error = { code: 'SUPERVISOR_TIMEOUT', kind: 'failure', message: 'no' } as const;
  let box: NodeConnection = { connection: 'connected', silence: { since: 1, error } };
  const done = (): Promise<undefined> => Promise.resolve(undefined);
  const desk = new NodeDesk({
    store,
    inventory,
    changed: () => undefined,
    connection: (name) => (name === 'box' ? box : { connection: 'idle' }),
    collect: done,
    reached: done,
    runsOn: done,
    release: done,
    reopened: () => undefined,
  });
  const errors = (): readonly unknown[] => desk.list().map((node) => node.error);
  expect(errors()).toEqual([undefined, error]);
  box = { connection: 'connected' };
  expect(errors()).toEqual([undefined, undefined]);
  store.close();
  rmSync(directory, { recursive: true });
});

test('a run that was presumed lost is told of once its machine has it', async () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-nodes-'));
  const home = resolveHome({ GRADWIRE_HOME: directory });
  const store = RunStore.open(home.database);
  await using inventory = new Inventory({ home, entries: store.nodes });
  store.nodes.add(inventory.parse({ name: 'box', destination: 'box' }));
  const spec = sampleSpec({ world: { ranks: 2, nodes: ['box'] } });
  for (const id of ['removed', 'ended']) {
    store.create({ id, spec, switches: [], createdAt: 1 });
  }
  store.fail('removed', failure('NODE_REMOVED', 'its machine was removed').toData(), 2);
  store.records.append('ended', wholeRun(2));
  const runs = ['removed', 'ended'].map((run) => {
    const more = { spec, createdAt: 1, ranks: [0, 1], lastSequence: 9 };
    return { run, phase: 'running', ...more } as unknown as RunStatus;
  });
  const done = (): Promise<undefined> => Promise.resolve(undefined);
  const reopened: string[] = [];
  const desk = new NodeDesk({
    store,
    inventory,
    changed: () => undefined,
    connection: () => ({ connection: 'connected' }),
    collect: done,
    reached: done,
    runsOn: () => Promise.resolve(runs),
    release: done,
    reopened: (run) => reopened.push(run),
  });
  await desk.look();
  await desk.look();
  expect(reopened).toEqual(['removed']);
  expect(store.summary('removed').state).toBe('running');
  store.close();
  rmSync(directory, { recursive: true });
});
