/** Runs that are found on machines, those that are called lost, and machines that are not tried again. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NodeLink } from '../../../src/main/cluster/node-link.ts';
import type { CoordinatorParts } from '../../../src/main/runs/coordinator-parts.ts';
import { RunRecovery } from '../../../src/main/runs/run-recovery.ts';
import type { ErrorCode } from '../../../src/shared/codes/error-code.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { entries, sampleSpec, started } from './sample-records.ts';

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
    elsewhere: () => Promise.resolve(new Map()),
  };
  const recovery = new RunRecovery(parts as unknown as CoordinatorParts);
  await recovery.synchronise(link as unknown as NodeLink);
  expect(home.store.summary('lost').error?.code).toBe('RUN_LOST');
  expect(home.store.summary('new').state).toBe('starting');
});

it('loses no run that another login node of the same name has', async () => {
  for (const id of ['here', 'there']) create(id);
  const node = home.store.spec('there').world.nodes[0]!;
  const spec = sampleSpec({ world: { ranks: 2, nodes: [node, 'other'] } });
  home.store.create({ id: 'records', spec, switches: [], createdAt: 1 });
  home.store.records.append('records', entries([started]), { node });
  home.store.fail('records', failure('ABORTED', 'no').toData(), Date.now());
  const others = new Map([
    ['there', 'login1'],
    ['records', 'login1'],
  ]);
  let left = 0;
  let starting: readonly string[] = ['new'];
  const parts = {
    store: home.store,
    launches: { startingOn: () => starting },
    scope: 'all',
    followers: { ids: () => [], dropAll: () => undefined, has: () => false },
    news: { changed: () => undefined },
  };
  const link = {
    name: node,
    connection: { hello: { host: 'login2' } },
    request: () => Promise.resolve({ runs: [] }),
    elsewhere: (runs: readonly string[]) =>
      Promise.resolve(new Map([...others].filter(([run]) => runs.includes(run)))),
    leave: () => Promise.resolve(left++),
  } as unknown as NodeLink;
  const recovery = new RunRecovery(parts as unknown as CoordinatorParts);
  await expect(recovery.synchronise(link)).rejects.toMatchObject({
    code: 'HOME_HELD_ELSEWHERE',
    message:
      'run there is on login1, but SSH has led to login2, which has the same home',
    next: expect.stringContaining(`nodes edit ${link.name} --host`) as string,
  });
  expect(home.store.summary('there').state).toBe('starting');
  expect(home.store.summary('here').error?.code).toBe('RUN_LOST');
  // Its last records may still be read, and its machine is still needed.
  expect(home.store.journals.missing().map(({ run }) => run)).toContain('records');
  expect(recovery.follows(link)).toBe(true);
  // The connection stays for a run that is being started, and no longer.
  expect(left).toBe(0);
  starting = [];
  await expect(recovery.synchronise(link)).rejects.toMatchObject({ place: link.name });
  expect(left).toBe(1);
});

it('looks again for a run whose search on the machine failed', async () => {
  create('r');
  const parts = {
    store: home.store,
    launches: { startingOn: () => [] },
    scope: 'own',
    followers: { ids: () => [], dropAll: () => undefined, has: () => false },
    news: { changed: () => undefined, linkTrouble: () => undefined },
  };
  let isCut = true;
  const link = {
    name: home.store.spec('r').world.nodes[0],
    takeOver: () => undefined,
    request: () => Promise.resolve({ runs: [] }),
    elsewhere: (runs: readonly string[]) =>
      isCut && runs.length > 0
        ? Promise.reject(failure('SSH_CONNECTION_LOST', 'cut'))
        : Promise.resolve(new Map()),
  } as unknown as NodeLink;
  const recovery = new RunRecovery(parts as unknown as CoordinatorParts);
  recovery.followLater(link, 'r', failure('SSH_UNREACHABLE', 'away').toData());
  await expect(recovery.synchronise(link)).rejects.toThrow('cut');
  expect(recovery.follows(link)).toBe(true);
  isCut = false;
  await recovery.synchronise(link);
  expect(home.store.summary('r').error?.code).toBe('RUN_LOST');
  expect(recovery.follows(link)).toBe(false);
});

/** A machine that lets nobody in, and what the app does about it. */
function closedMachine(code: ErrorCode) {
  const seen = { connects: 0, handedOver: 0, notices: 0 };
  const link = {
    name: home.store.spec('r').world.nodes[0],
    connection: undefined,
    connect: () => {
      seen.connects++;
      return Promise.reject(failure(code, 'no'));
    },
    takeOver: () => {
      seen.handedOver++;
    },
  };
  let current = { ...link };
  const parts = {
    store: home.store,
    scope: 'all',
    followers: { ids: () => [], has: () => false },
    nodes: { lead: {}, named: () => current },
    news: { lastTold: () => undefined, linkTrouble: () => seen.notices++ },
  };
  const recovery = new RunRecovery(parts as unknown as CoordinatorParts);
  const discoverOften = async (): Promise<void> => {
    for (let second = 0; second < 60; second++) await recovery.discover(false);
  };
  const change = (): void => {
    current = { ...link };
  };
  return { change, discoverOften, recovery, seen };
}

it('tries a machine that needs a log-in once for a run that a command works on', async () => {
  create('r');
  const { change, discoverOften, seen } = closedMachine('SSH_AUTH_NEEDED');
  await discoverOften();
  // The link tells it, and does not try again until the user has reached the machine.
  expect(seen).toEqual({ connects: 1, handedOver: 1, notices: 0 });
  create('another');
  await discoverOften();
  expect(seen).toEqual({ connects: 2, handedOver: 2, notices: 0 });
  change();
  await discoverOften();
  expect(seen).toEqual({ connects: 3, handedOver: 3, notices: 0 });
});

it('leaves a machine that is out of reach to its link, with one notice', async () => {
  create('r');
  const { discoverOften, seen } = closedMachine('SSH_UNREACHABLE');
  await discoverOften();
  expect(seen).toEqual({ connects: 1, handedOver: 1, notices: 1 });
});

it('needs no machine for a run that ended without being followed', async () => {
  create('r');
  const { recovery } = closedMachine('SSH_AUTH_NEEDED');
  const link = { name: home.store.spec('r').world.nodes[0] } as NodeLink;
  await recovery.discover(false);
  expect(recovery.follows(link)).toBe(true);
  home.store.fail('r', failure('RUN_LOST', 'no').toData(), Date.now());
  await recovery.discover(false);
  expect(recovery.follows(link)).toBe(false);
});
