/** Which runs a synchronisation with a machine calls lost. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NodeLink } from '../../../src/main/cluster/node-link.ts';
import type { CoordinatorParts } from '../../../src/main/runs/coordinator-parts.ts';
import { RunRecovery } from '../../../src/main/runs/run-recovery.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec } from './sample-records.ts';

let home: TemporaryStore;
beforeEach(() => {
  home = new TemporaryStore();
});
afterEach(() => {
  home.close();
});

const create = (id: string): void => {
  home.store.create({ id, spec: sampleSpec(), switches: [], createdAt: Date.now() });
};

it('calls no run lost that another process launched while the supervisor was asked', async () => {
  create('lost');
  const parts = {
    store: home.store,
    scope: 'all',
    followers: { ids: () => [], dropAll: () => undefined, has: () => false },
    news: { changed: () => undefined },
  };
  const link = {
    name: home.store.spec('lost').world.nodes[0],
    request: () => {
      // Another process: its supervisor has begun it, after this answer was written.
      create('new');
      return Promise.resolve({ runs: [] });
    },
  };
  const recovery = new RunRecovery(parts as unknown as CoordinatorParts);
  await recovery.synchronise(link as unknown as NodeLink);
  expect(home.store.summary('lost').error?.code).toBe('RUN_LOST');
  expect(home.store.summary('new').state).toBe('starting');
});
