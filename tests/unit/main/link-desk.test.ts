/** The links between machines as the app shows them. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LinkDesk } from '../../../src/main/app/link-desk.ts';
import { Inventory } from '../../../src/main/cluster/inventory.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-links-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test('a Slurm cluster, which shares no run with other machines, has none', async () => {
  const home = resolveHome({ GRADWIRE_HOME: directory });
  const store = RunStore.open(home.database);
  await using inventory = new Inventory({ home, entries: store.nodes });
  for (const entry of [
    { name: 'a', destination: 'a' },
    { name: 'b', destination: 'b' },
    { name: 'hpc', destination: 'hpc', slurm: {} },
  ]) {
    store.nodes.add(inventory.parse(entry));
  }
  const identity = (name: string): string => inventory.access(name)!.identity;
  for (const to of ['b', 'hpc']) {
    const failure = {
      at: 1,
      error: { code: 'X', kind: 'failure', message: 'x' },
    } as const;
    store.links.put({ from: 'a', to, failure }, identity('a'), identity(to));
  }
  const desk = new LinkDesk({
    store,
    inventory,
    own: () => undefined,
    changed: () => undefined,
    node: () => {
      throw new Error('nothing is measured here');
    },
  });
  expect(desk.status().links.map(({ to }) => to)).toEqual(['b']);
  store.close();
});
