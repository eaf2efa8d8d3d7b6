/** What is kept of links, and for which machines it holds; what a run makes of it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NetworkKnowledge } from '../../../src/agent/auto/network-knowledge.ts';
import {
  measuredLinks,
  networkOf,
  profilesOf,
} from '../../../src/main/runs/run-network.ts';
import type { RunStore } from '../../../src/main/store/run-store.ts';
import { LOOPBACK } from '../../../src/shared/cost-model/network-cost.ts';
import type { NetworkProfile } from '../../../src/shared/cost-model/network-profile.ts';
import type { LinkStatus } from '../../../src/shared/machines/link-status.ts';
import { LOCAL_NODE } from '../../../src/shared/machines/node-entry.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';

let temporary: TemporaryStore;
let store: RunStore;
beforeEach(() => {
  temporary = new TemporaryStore();
  ({ store } = temporary);
});
afterEach(() => {
  temporary.close();
});

const link = (from: string, to: string, alpha: number, beta: number): LinkStatus => ({
  from,
  to,
  measure: {
    ...{ alpha, beta, measuredAt: 1, addresses: { from: '10.0.0.1', to: '10.0.0.2' } },
    transport: 'native',
    encrypted: true,
  },
});
const node = (name: string, identity = name) => ({ name, identity });
const failure = {
  at: 2,
  error: { code: 'LINK_UNREACHABLE', kind: 'failure', message: 'no connection' },
} as const;

describe('what was measured of links', () => {
  test('holds for the very machines, in each direction', () => {
    store.links.put(link('a', 'b', 1e-5, 1e-9), 'a', 'b');
    store.links.put(link('b', 'a', 1e-5, 2e-9), 'b', 'a');
    expect(store.links.among([node('a'), node('b')])).toMatchObject([
      { from: 'a', to: 'b', measure: { beta: 1e-9 } },
      { from: 'b', to: 'a', measure: { beta: 2e-9 } },
    ]);
    expect(store.links.among([node('a'), node('b', 'another')])).toEqual([]);
    expect(store.links.among([node('a')])).toEqual([]);
  });

  test('counts as none if another version wrote it in another form', () => {
    store.links.put(link('a', 'b', NaN, 1e-9), 'a', 'b');
    expect(store.links.among([node('a'), node('b')])).toMatchObject([
      { from: 'a', to: 'b', measure: undefined },
    ]);
  });

  test('stays when the next attempt fails, but not that of another machine', () => {
    store.links.put(link('a', 'b', 1e-5, 1e-9), 'a', 'b');
    store.links.put({ from: 'a', to: 'b', failure }, 'a', 'b');
    const both = [node('a'), node('b')];
    expect(store.links.among(both)).toMatchObject([
      { measure: { beta: 1e-9 }, failure },
    ]);
    store.links.put(link('a', 'b', 1e-5, 3e-9), 'a', 'b');
    expect(store.links.among(both)).toMatchObject([{ failure: undefined }]);
    store.links.put({ from: 'a', to: 'b', failure }, 'a', 'new');
    expect(store.links.among([node('a'), node('b', 'new')])).toMatchObject([
      { measure: undefined, failure },
    ]);
  });
});

describe('a run over several machines', () => {
  const spec = { world: { ranks: 4, nodes: ['a', 'b', 'c'] } };
  const nodes = spec.world.nodes.map((name) => node(name));
  const profile: NetworkProfile = {
    version: 1,
    measuredAt: 1,
    transport: 'tcp',
    nodes: ['a', 'a'],
    pairs: [{ ranks: [0, 1], alpha: 7e-6, beta: 1e-10 }],
    loaded: [],
    kernels: { add: 1e-9, merge: 0, scatter: 0, select: 0, quantize: 0, dequantize: 0 },
  };

  test('uses the worst of all links, and none where one was not measured', () => {
    const pairs = ['a b', 'b a', 'a c', 'c a', 'b c'].map((pair) => pair.split(' '));
    for (const [from, to] of pairs) {
      store.links.put(link(from!, to!, 1e-5, 1e-9), from!, to!);
    }
    expect(measuredLinks(store.links, nodes)).toBeUndefined();
    expect(measuredLinks(store.links, nodes.slice(0, 1))).toBeUndefined();
    store.links.put(link('c', 'b', 9e-5, 1e-10), 'c', 'b');
    store.links.put(link('a', 'b', 1e-6, 8e-9), 'a', 'b');
    expect(measuredLinks(store.links, nodes)).toEqual({ alpha: 9e-5, beta: 8e-9 });
  });

  test('uses the slowest measured machine’s profile within machines, or loopback', () => {
    const links = { alpha: 9e-5, beta: 8e-9 };
    const slow = { ...profile, pairs: [{ ranks: [0, 1], alpha: 2e-5, beta: 1e-10 }] };
    const none = new Map<string, NetworkProfile>();
    const first = new Map([['a', profile]]);
    const both = new Map([...first, ['b', slow as NetworkProfile]]);
    expect(networkOf(spec, 4, { profiles: none, links })).toEqual({
      ...LOOPBACK,
      between: links,
    });
    expect(networkOf(spec, 4, { profiles: first, links })).toMatchObject({
      alpha: 7e-6,
      beta: 1e-10,
      between: links,
      timed: undefined,
    });
    expect(networkOf(spec, 4, { profiles: both, links })).toMatchObject({
      alpha: 2e-5,
      between: links,
    });
    // Assumed as a whole, as long as links were not measured.
    expect(networkOf(spec, 4, { profiles: both, links: undefined })).toBeUndefined();
    // One rank, or one machine: no links, and its own profile.
    expect(networkOf(spec, 1, { profiles: both, links })).toMatchObject({
      alpha: 7e-6,
    });
    expect(networkOf(spec, 1, { profiles: both, links })?.between).toBeUndefined();
    const onB = { world: { ranks: 4, nodes: ['b'] } };
    expect(networkOf(onB, 4, { profiles: both, links })).toMatchObject({ alpha: 2e-5 });
    expect(networkOf(onB, 4, { profiles: first, links })).toBeUndefined();
  });

  test('has this computer’s profile from its home, the others’ from the store', () => {
    const here = { name: LOCAL_NODE, identity: 'home' };
    const measured = { ...profile, measuredAt: 2 };
    store.facts.note(node('a'), { agent: 'abc' });
    store.facts.noteNetwork(node('a'), measured);
    expect([...profilesOf(store.facts, [here, ...nodes], profile)]).toEqual([
      [LOCAL_NODE, profile],
      ['a', measured],
    ]);
    expect(profilesOf(store.facts, [here], undefined).size).toBe(0);
    // Other facts leave it; another machine of that name has none.
    store.facts.note(node('a'), { agent: 'def' });
    expect(store.facts.network(node('a'))).toEqual(measured);
    // One of another version's form is none, and stops no run.
    store.facts.noteNetwork(node('b'), { ...profile, version: 2 } as never);
    expect(store.facts.network(node('b'))).toBeUndefined();
    const other = { name: 'a', identity: 'another machine' };
    expect(store.facts.network(other)).toBeUndefined();
    store.facts.note(other, { agent: 'ghi' });
    expect(store.facts.network(other)).toBeUndefined();
    expect(store.facts.network(node('a'))).toBeUndefined();
    store.facts.noteNetwork(node('a'), measured);
    expect(store.facts.of(node('a'))).toEqual({});
    expect(store.facts.network(node('a'))).toEqual(measured);
  });

  test('says what its collectives were chosen by', () => {
    const places = [0, 0, 1, 1];
    const between = { alpha: 120e-6, beta: 8 / 941e6 };
    expect(new NetworkKnowledge({ ...LOOPBACK, between }, false, places).origin).toBe(
      'using the measured links between machines (slowest: 120 µs, 941 Mbit/s), ' +
        'and within a machine loopback constants',
    );
    const within = { ...LOOPBACK, alpha: 7e-6, between };
    expect(new NetworkKnowledge(within, false, places).origin).toMatch(
      /within a machine the measured network profile$/,
    );
    expect(new NetworkKnowledge(undefined, false, places).origin).toMatch(
      /Gigabit Ethernet between machines, because not all links .* \(run gradwire nodes network\)$/,
    );
    expect(new NetworkKnowledge(undefined, false, places, true).origin).toMatch(
      /because links between nodes that Slurm allocates cannot be measured$/,
    );
    expect(new NetworkKnowledge(undefined, false, [0, 0]).origin).toMatch(
      /no network profile has been measured$/,
    );
  });
});
