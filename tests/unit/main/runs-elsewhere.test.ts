/** Runs on another login node than the one that answers: the way out, and a stop. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NodeLink } from '../../../src/main/cluster/node-link.ts';
import type { CoordinatorParts } from '../../../src/main/runs/coordinator-parts.ts';
import { changeNode } from '../../../src/main/runs/node-change.ts';
import { RunOrders } from '../../../src/main/runs/run-orders.ts';
import { heldElsewhere } from '../../../src/main/runs/runs-elsewhere.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec } from './sample-records.ts';

let home: TemporaryStore;
beforeEach(() => {
  home = new TemporaryStore();
  const { store } = home;
  store.nodes.add(parseNodeEntry({ name: 'hpc', destination: 'login.hpc', slurm: {} }));
  const spec = sampleSpec({ world: { ranks: 2, nodes: ['hpc'] } });
  store.create({ id: 'r', spec, switches: [], createdAt: 1 });
});
afterEach(() => {
  home.close();
});

const link = {
  name: 'hpc',
  connection: { hello: { host: 'login2' } },
  elsewhere: () => Promise.resolve(new Map([['r', 'login1']])),
} as unknown as NodeLink;

test('the command that the error names works while the run is in progress', () => {
  const next = heldElsewhere(link, ['r', 'login1']).toData().next!;
  const command = /gradwire nodes edit (\S+) --host HOST(( --[\w-]+)*)/.exec(next)!;
  const options = command[2]!.trim().split(' ');
  const before = home.store.nodes.named(command[1]!);
  changeNode(
    home.store,
    before,
    { ...before, destination: 'login1.hpc' },
    { sameMachine: options.includes('--same-machine') },
  );
  expect(home.store.nodes.named('hpc').destination).toBe('login1.hpc');
  expect(next).toContain('remove ~/.gradwire/nodes/login1/runs/r there');
});

test('a stop says where the run is', async () => {
  const parts = {
    store: home.store,
    linksOf: () => [link],
    stops: { stop: () => Promise.reject(failure('RUN_UNKNOWN', 'no such run')) },
  };
  const orders = new RunOrders(parts as unknown as CoordinatorParts);
  await expect(orders.give('r', { type: 'stop' })).rejects.toMatchObject({
    code: 'HOME_HELD_ELSEWHERE',
    place: 'hpc',
  });
});
