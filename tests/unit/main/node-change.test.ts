/** What may be changed of a machine, and when: a real store. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { changeNode } from '../../../src/main/runs/node-change.ts';
import { relaunched } from '../../../src/main/runs/relaunched.ts';
import type { RunStore } from '../../../src/main/store/run-store.ts';
import {
  nodeEntrySchema,
  parseNodeEntry,
  wayTo,
  type NodeEntry,
} from '../../../src/shared/machines/node-entry.ts';
import { withoutIdleMomentum } from '../../../src/shared/spec/experiment-spec.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec, started } from './sample-records.ts';

let temporary: TemporaryStore;
let store: RunStore;
beforeEach(() => {
  temporary = new TemporaryStore();
  ({ store } = temporary);
  vi.useFakeTimers({ toFake: ['Date'] });
  for (const name of ['first', 'box', 'last']) {
    vi.setSystemTime(Date.now() + 1);
    store.nodes.add(
      parseNodeEntry({ name, destination: `${name}.lab`, labels: ['a'] }),
    );
  }
});
afterEach(() => {
  vi.useRealTimers();
  temporary.close();
});

const names = (): readonly string[] => store.nodes.list().map(({ name }) => name);

function change(
  to: Partial<NodeEntry>,
  options: Parameters<typeof changeNode>[3] = {},
): void {
  const before = store.nodes.named('box');
  changeNode(store, before, parseNodeEntry({ ...before, ...to }), options);
}

function useBox(network?: object): void {
  const spec = sampleSpec({
    world: { ranks: 2, nodes: ['this-computer', 'box'] },
    ...(network === undefined ? {} : { network }),
  });
  store.create({ id: 'run1', spec, switches: [], createdAt: 1 });
}

const code = (wanted: string) => expect.objectContaining({ code: wanted }) as Error;

/** By whether a run has ranks there, and whether it is said to be the same machine. */
const TABLE: readonly (readonly [Partial<NodeEntry>, string, boolean, boolean])[] = [
  [{ labels: [] }, 'labels', true, true],
  [{ ports: '2000-2010' }, 'ports', true, true],
  [{ address: '10.0.0.9' }, 'address', true, true],
  [{ identities: ['/k'] }, 'identities', true, true],
  [{ transport: 'system' }, 'transport', true, true],
  [{ destination: 'me@box.lab' }, 'destination', false, true],
  [{ destination: 'box.lab:2222' }, 'destination', false, true],
  [{ destination: '10.0.0.3' }, 'destination', false, true],
  [{ jump: 'gate' }, 'jump', false, true],
  [{ name: 'crate' }, 'name', false, false],
  [{ slurm: { setup: [], options: [] } }, 'slurm', false, false],
];

describe.each(TABLE)('%j', (to, place, inUse, sameMachine) => {
  test('may be changed where nothing needs the machine', () => {
    change(to);
    expect(store.nodes.named(to.name ?? 'box')).toMatchObject(to);
  });

  test.each([
    [false, inUse],
    [true, sameMachine],
  ])('while a run has ranks there, same machine %j: %j', (said, may) => {
    useBox();
    const before = store.nodes.list();
    if (may) {
      change(to, { sameMachine: said });
      expect(store.nodes.named('box')).toMatchObject(to);
    } else {
      expect(() => change(to, { sameMachine: said })).toThrow(
        expect.objectContaining({ code: 'NODE_IN_USE', place }) as Error,
      );
      expect(store.nodes.list()).toEqual(before);
    }
  });
});

test('records that wait there count as a use', () => {
  useBox();
  const error = { code: 'PEER_LOST', kind: 'failure', message: 'gone' } as const;
  store.records.append('run1', [{ sequence: 1, record: started }], { node: 'box' });
  const failed: RunRecord = { type: 'failed', at: 2, error };
  store.records.append('run1', [{ sequence: 1, record: failed }], {
    node: 'this-computer',
  });
  store.ownRecords.endEarly('run1');
  expect(store.runs.unended()).toEqual([]);
  expect(store.journals.missing()).toEqual([{ run: 'run1', node: 'box' }]);
  expect(() => change({ destination: 'other' })).toThrow(/are not stored here/);
  change({ labels: ['b'] });
});

test('settings of Slurm may be changed at any time', () => {
  change({ slurm: { nodes: 1, setup: [], options: [] } });
  useBox();
  change({ slurm: { nodes: 2, setup: ['module load cuda'], options: [] } });
  expect(store.nodes.named('box').slurm).toMatchObject({ nodes: 2 });
});

test('a new name keeps its place and its measurements, and must be unused', () => {
  const [first, box] = store.nodes.list();
  const link = {
    from: 'first',
    to: 'box',
    measure: {
      alpha: 1e-5,
      beta: 1e-9,
      measuredAt: 1,
      transport: 'native' as const,
      ...{ addresses: { from: '10.0.0.1', to: '10.0.0.2' }, encrypted: true },
    },
  };
  store.links.put(link, wayTo(first!), wayTo(box!));
  store.links.put({ ...link, from: 'first', to: 'crate' }, 'old', 'old');
  expect(() => change({ name: 'last' })).toThrow(code('NODE_EXISTS'));
  change({ name: 'crate' });
  expect(names()).toEqual(['first', 'crate', 'last']);
  const known = [first!, store.nodes.named('crate')].map((entry) => ({
    name: entry.name,
    identity: wayTo(entry),
  }));
  expect(store.links.among(known)).toMatchObject([{ from: 'first', to: 'crate' }]);
  expect(() => store.nodes.named('box')).toThrow(code('NODE_UNKNOWN'));
});

test('another user’s change meanwhile is not overwritten', () => {
  const seen = store.nodes.named('box');
  change({ labels: ['theirs'] });
  const mine = { ...seen, labels: ['mine'] };
  expect(() => changeNode(store, seen, mine)).toThrow(code('NODE_CHANGED'));
  expect(store.nodes.named('box').labels).toEqual(['theirs']);
  store.nodes.remove('box');
  expect(() => changeNode(store, seen, mine)).toThrow(code('NODE_UNKNOWN'));
});

describe('a machine that was renamed', () => {
  const renamed = (): string | undefined => store.nodes.renamedTo('box');
  const rename = (from: string, to: string): void => {
    const before = store.nodes.named(from);
    changeNode(store, before, { ...before, name: to });
  };

  test('is known by all its former names', () => {
    expect(renamed()).toBeUndefined();
    rename('box', 'crate');
    rename('crate', 'chest');
    expect(renamed()).toBe('chest');
    expect(store.nodes.renamedTo('crate')).toBe('chest');
    expect(() => store.nodes.named('box')).toThrow(
      expect.objectContaining({ next: 'It was renamed: use "chest".' }) as Error,
    );
    rename('chest', 'box');
    expect(renamed()).toBeUndefined();
    expect(store.nodes.renamedTo('crate')).toBe('box');
  });

  test('is not taken for another one that has its former name now', () => {
    rename('box', 'crate');
    store.nodes.add(parseNodeEntry({ name: 'box', destination: 'elsewhere' }));
    expect(renamed()).toBeUndefined();
    store.nodes.remove('box');
    expect(renamed()).toBeUndefined();
  });

  test('is forgotten with the machine', () => {
    rename('box', 'crate');
    store.nodes.remove('crate');
    expect(renamed()).toBeUndefined();
    store.nodes.add(parseNodeEntry({ name: 'crate', destination: 'elsewhere' }));
    expect(renamed()).toBeUndefined();
  });

  test('is what its runs are launched on again, over the same links', () => {
    useBox({
      bandwidth: '1 Gbit/s',
      pairs: [{ between: ['this-computer', 'box'], bandwidth: '1 Mbit/s' }],
    });
    const { spec } = store.reads.detail('run1');
    const failed = {
      type: 'failed' as const,
      at: 1,
      error: { code: 'X', kind: 'failure' as const, message: 'it failed' },
    };
    for (const node of spec.world.nodes) {
      store.records.append('run1', [{ sequence: 1, record: failed }], { node });
    }
    rename('box', 'crate');
    expect(relaunched(store, 'run1', { methods: [] })).toEqual({
      spec: {
        ...spec,
        world: { ...spec.world, nodes: ['this-computer', 'crate'] },
        network: {
          ...spec.network,
          pairs: [{ ...spec.network!.pairs![0], between: ['this-computer', 'crate'] }],
        },
      },
      switches: [],
    });
  });
});

test('a machine that was stored under a name that is refused now can be renamed', () => {
  store.nodes.add(nodeEntrySchema.parse({ name: '1e3', destination: 'old.lab' }));
  expect(names()).toContain('1e3');
  const before = store.nodes.named('1e3');
  changeNode(store, before, parseNodeEntry({ ...before, name: 'old' }), {});
  expect(store.nodes.named('old').destination).toBe('old.lab');
});

test('a run of an earlier version is launched again without the momentum that Adam ignored', () => {
  useBox({ bandwidth: '1 Gbit/s' });
  const { spec } = store.reads.detail('run1');
  const old = withoutIdleMomentum({
    ...spec,
    optimizer: { kind: 'adam', momentum: 0.9 },
  });
  expect(old.optimizer).toEqual({ kind: 'adam', momentum: 0 });
  expect(withoutIdleMomentum(spec)).toBe(spec);
});
