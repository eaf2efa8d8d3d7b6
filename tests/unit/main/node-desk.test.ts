/** Machines as the app shows them. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { NodeDesk } from '../../../src/main/app/node-desk.ts';
import { Inventory } from '../../../src/main/cluster/inventory.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { NodeConnection } from '../../../src/shared/machines/node-status.ts';

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
  });
  const errors = (): readonly unknown[] => desk.list().map((node) => node.error);
  expect(errors()).toEqual([undefined, error]);
  box = { connection: 'connected' };
  expect(errors()).toEqual([undefined, undefined]);
  store.close();
  rmSync(directory, { recursive: true });
});
