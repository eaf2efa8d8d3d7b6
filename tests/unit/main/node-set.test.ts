/** The links to nodes follow the inventory, which commands change while the app runs. */
import { expect, test } from 'vitest';
import { failure } from '../../../src/shared/errors.ts';
import { ownPorts } from '../../../src/main/cluster/port-forwarding.ts';
import { NodeSet } from '../../../src/main/cluster/node-set.ts';
import type { LinkEvents, NodeAccess } from '../../../src/main/cluster/node-link.ts';
import type { NodeConnection } from '../../../src/shared/node-status.ts';

const events = () => ({
  push: () => undefined,
  restored: () => Promise.resolve(),
  attempts: () => 0,
  followed: () => false,
  trouble: () => undefined,
  silent: () => undefined,
  look: () => undefined,
  changed: () => undefined,
});

function inventory(
  machines: Map<string, string>,
  more: Partial<NodeAccess> = {},
  told: () => Partial<LinkEvents> = () => ({}),
): NodeSet {
  const access = (name: string): NodeAccess | undefined => {
    const identity = machines.get(name);
    if (identity === undefined) return undefined;
    const fail = () => Promise.reject(new Error('never connected here'));
    const addresses = () => ({ there: identity });
    const forwardPorts = () => Promise.resolve(ownPorts());
    const ways = { addresses, forwardPorts, find: fail, ensure: fail };
    return { name, identity, ...ways, ...more };
  };
  const names = () => [...machines.keys()];
  return new NodeSet({ lead: 'here', names, access }, () => ({
    ...events(),
    ...told(),
  }));
}

test('a link stays as long as its machine does', () => {
  const machines = new Map([['box', 'box.lab']]);
  const nodes = inventory(machines);
  const link = nodes.named('box');
  machines.set('other', 'other.lab');
  expect(nodes.named('box')).toBe(link);
  expect([...nodes]).toEqual([link]);
});

test('a name that has come to mean another machine has another link', () => {
  const machines = new Map([['box', 'box.lab']]);
  const nodes = inventory(machines);
  const link = nodes.named('box');
  machines.set('box', 'new-box.lab');
  expect(nodes.named('box')).not.toBe(link);
  expect(nodes.named('box').addresses.there).toBe('new-box.lab');
});

test('a machine that was removed is unknown, and another one is suggested', () => {
  const machines = new Map([
    ['box', 'box.lab'],
    ['bix', 'bix.lab'],
  ]);
  const nodes = inventory(machines);
  nodes.named('box');
  machines.delete('box');
  expect(() => nodes.named('box')).toThrow(
    expect.objectContaining({
      code: 'NODE_UNKNOWN',
      next: 'Did you mean "bix"?',
    }) as Error,
  );
  expect([...nodes]).toEqual([]);
});

test('settings are those of now, over the same link', () => {
  const settings: { ports?: NodeAccess['ports'] } = {};
  const machines = new Map([['box', 'box.lab']]);
  const nodes = inventory(machines, settings);
  const link = nodes.named('box');
  expect(link.ports).toBeUndefined();
  settings.ports = { first: 2000, last: 2010 };
  const again = inventory(machines, settings).named('box');
  link.configure(again);
  expect(link.ports).toEqual(settings.ports);
});

test('where runs are followed the new link is connected at once, the old one no more', async () => {
  const machines = new Map([['box', 'box.lab']]);
  const asked = Promise.withResolvers<undefined>();
  const ensure = (): Promise<never> => {
    asked.resolve(undefined);
    return Promise.reject(failure('SSH_UNREACHABLE', 'no route to host'));
  };
  const nodes = inventory(machines, { ensure }, () => ({ followed: () => true }));
  const link = nodes.named('box');
  machines.set('box', 'new-box.lab');
  nodes.look();
  await asked.promise;
  const [next] = nodes;
  expect(next).not.toBe(link);
  expect(link.state).toEqual({ connection: 'idle' });
  machines.delete('box');
  nodes.look();
  expect([...nodes]).toEqual([]);
});

test.each(['SSH_AUTH_FAILED', 'SSH_AUTH_NEEDED', 'HOST_KEY_CHANGED'])(
  'after %s it is up to the user; until then the machine is only looked at',
  async (code) => {
    let attempts = 0;
    let looks = 0;
    const lookedAt = Promise.withResolvers<undefined>();
    const told: (string | undefined)[] = [];
    const ensure = (): Promise<never> => {
      attempts++;
      return Promise.reject(failure(code, 'no', { next: 'Do this.' }));
    };
    const nodes = inventory(new Map([['box', 'box.lab']]), { ensure }, () => ({
      attempts: () => Infinity,
      trouble: ({ next }) => told.push(next),
      look: () => {
        if (++looks === 2) lookedAt.resolve(undefined);
      },
    }));
    const link = nodes.named('box');
    link.takeOver();
    await lookedAt.promise;
    expect({ attempts, ...link.state }).toMatchObject({
      attempts: 1,
      connection: 'refused',
    });
    expect(told).toEqual([
      expect.stringMatching(
        /^Do this\. Gradwire does not try again until you check box/,
      ),
    ]);
    link.resume();
    expect(link.state).toMatchObject({ connection: 'reconnecting' });
    await expect.poll(() => attempts).toBe(2);
    await nodes.close();
  },
);

test('where a run could not be followed for the user’s sake, the machine is only looked at', async () => {
  let attempts = 0;
  const lookedAt = Promise.withResolvers<undefined>();
  const refusal = failure('SSH_AUTH_FAILED', 'no');
  const ensure = (): Promise<never> => {
    attempts++;
    return Promise.reject(refusal);
  };
  const nodes = inventory(new Map([['box', 'box.lab']]), { ensure }, () => ({
    attempts: () => Infinity,
    look: () => {
      lookedAt.resolve(undefined);
    },
  }));
  const link = nodes.named('box');
  link.takeOver(refusal.toData());
  await lookedAt.promise;
  expect({ attempts, ...link.state }).toMatchObject({
    attempts: 0,
    connection: 'refused',
    loss: { error: { code: 'SSH_AUTH_FAILED' } },
  });
  link.resume();
  await expect.poll(() => attempts).toBe(1);
  await nodes.close();
});

test('an idle machine is tried a few times, then it is unreachable until it is reached', async () => {
  const error = failure('SSH_UNREACHABLE', 'no route to host');
  const states: NodeConnection[] = [];
  const machines = new Map([['box', 'box.lab']]);
  const nodes = inventory(machines, { ensure: () => Promise.reject(error) }, () => ({
    attempts: () => 2,
    changed: () => states.push(link.state),
  }));
  const link = nodes.named('box');
  link.takeOver();
  await expect.poll(() => link.state.connection).toBe('unreachable');
  expect(states.map(({ connection, attempt }) => [connection, attempt])).toEqual([
    ['reconnecting', { number: 1, last: 2 }],
    ['reconnecting', { number: 2, last: 2 }],
    ['unreachable', undefined],
  ]);
  expect(link.state.loss).toMatchObject({
    since: expect.any(Number),
    error: { code: 'SSH_UNREACHABLE' },
  });
  link.reached();
  expect(link.state).toEqual({ connection: 'idle' });
});

test('a machine that was refused and then reached is idle once it is not needed, not lost', async () => {
  const refusal = failure('SSH_AUTH_FAILED', 'no');
  let isLetIn = false;
  let attempts = Infinity;
  let lose = (): void => undefined;
  const followed = Promise.withResolvers<undefined>();
  const open = { hello: { version: '1' }, readsOnly: false, close: () => undefined };
  const ensure: NodeAccess['ensure'] = ({ lost }) => {
    if (!isLetIn) return Promise.reject(refusal);
    lose = () => lost(refusal);
    return Promise.resolve(open as never);
  };
  const nodes = inventory(new Map([['box', 'box.lab']]), { ensure }, () => ({
    attempts: () => attempts,
    restored: () => {
      followed.resolve(undefined);
      return Promise.resolve();
    },
  }));
  const link = nodes.named('box');
  link.takeOver();
  await expect.poll(() => link.state.connection).toBe('refused');
  isLetIn = true;
  await link.connect();
  await followed.promise;
  expect(link.state.connection).toBe('connected');
  attempts = 0;
  lose();
  await expect.poll(() => link.state).toEqual({ connection: 'idle' });
  await nodes.close();
});
