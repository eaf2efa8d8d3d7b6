/** The links to nodes follow the inventory, which commands change while the app runs. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ErrorCode } from '../../../src/shared/codes/error-code.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import { ownPorts } from '../../../src/main/cluster/port-forwarding.ts';
import { NodeSet } from '../../../src/main/cluster/node-set.ts';
import { ENDLESS, type LinkEvents } from '../../../src/main/cluster/link-events.ts';
import type { NodeAccess } from '../../../src/main/cluster/node-access.ts';
import type { NodeConnection } from '../../../src/shared/machines/node-status.ts';

const events = () => ({
  run: () => undefined,
  restored: () => Promise.resolve(),
  attempts: () => 0,
  followed: () => false,
  patience: () => ENDLESS,
  trouble: () => undefined,
  gaveUp: () => undefined,
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

describe('a machine that refuses', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each<[ErrorCode, boolean, readonly boolean[]]>([
    ['SSH_AUTH_FAILED', false, [false, false, false, false, false]],
    ['SSH_AUTH_NEEDED', false, [false, false, false, false, false]],
    ['SSH_AUTH_NEEDED', true, [false, false, true]],
    ['HOST_KEY_CHANGED', true, [false]],
  ])(
    'with %s is tried a few times at most (asked: %j), then only looked at',
    async (code, mayAsk, expected) => {
      const asked: (boolean | undefined)[] = [];
      let looks = 0;
      const ends: string[] = [];
      const ensure: NodeAccess['ensure'] = (_, options) => {
        asked.push(options?.interactive);
        return Promise.reject(failure(code, 'no', { next: 'Do this.' }));
      };
      const nodes = inventory(new Map([['box', 'box.lab']]), { ensure }, () => ({
        attempts: () => Infinity,
        patience: () => ({ ...ENDLESS, mayAsk }),
        gaveUp: (error) => ends.push(error.code),
        look: () => looks++,
      }));
      const link = nodes.named('box');
      link.takeOver();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked).toEqual(expected);
      expect(ends).toEqual([code]);
      expect(looks).toBeGreaterThan(2);
      expect(link.state).toMatchObject({ connection: 'refused' });
      link.resume();
      expect(link.state).toMatchObject({ connection: 'reconnecting' });
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked).toEqual([...expected, ...expected]);
      await nodes.close();
    },
  );

  test('for a moment only is connected again', async () => {
    let attempts = 0;
    const open = { hello: { version: '1' }, readsOnly: false, close: () => undefined };
    const ensure: NodeAccess['ensure'] = () =>
      ++attempts < 3
        ? Promise.reject(failure('SSH_AUTH_FAILED', 'no'))
        : Promise.resolve(open as never);
    const ends: string[] = [];
    const nodes = inventory(new Map([['box', 'box.lab']]), { ensure }, () => ({
      attempts: () => Infinity,
      gaveUp: (error) => ends.push(error.code),
    }));
    const link = nodes.named('box');
    link.takeOver();
    await vi.advanceTimersByTimeAsync(10_000);
    expect({ attempts, ends, ...link.state }).toMatchObject({
      attempts: 3,
      ends: [],
      connection: 'connected',
    });
    await nodes.close();
  });
});

test('a machine out of reach for longer than patience is given up', async () => {
  const ends: string[] = [];
  const ensure = () => Promise.reject(failure('SSH_UNREACHABLE', 'no route'));
  const nodes = inventory(new Map([['box', 'box.lab']]), { ensure }, () => ({
    attempts: () => Infinity,
    patience: () => ({ ...ENDLESS, lostMs: 1 }),
    gaveUp: (error) => ends.push(error.code),
  }));
  const link = nodes.named('box');
  link.takeOver();
  await expect.poll(() => ends).toEqual(['SSH_UNREACHABLE']);
  expect(link.state.connection).toBe('unreachable');
  await nodes.close();
});

test('a link that is closed ends its attempt to connect', async () => {
  const ensure: NodeAccess['ensure'] = (_, options) =>
    new Promise((_resolve, reject) => {
      options!.signal!.addEventListener('abort', () => {
        reject(failure('ABORTED', 'closed'));
      });
    });
  const nodes = inventory(new Map([['box', 'box.lab']]), { ensure });
  const connecting = nodes.named('box').connect();
  const [outcome] = await Promise.all([
    connecting.then(
      () => 'connected',
      (error: { code: string }) => error.code,
    ),
    nodes.close(),
  ]);
  expect(outcome).toBe('ABORTED');
});

test('a connection that is lost while a second one is closed is not handed out', async () => {
  const second = Promise.withResolvers<undefined>();
  let lose = (): void => undefined;
  const open = (close: () => Promise<void>) =>
    ({ hello: { version: '1' }, readsOnly: false, close, heard: 0 }) as never;
  const ensure: NodeAccess['ensure'] = async () => {
    await second.promise;
    return open(() => {
      lose();
      return Promise.resolve();
    });
  };
  const find: NodeAccess['find'] = ({ lost }) => {
    lose = () => {
      lost(failure('SUPERVISOR_LOST', 'gone'));
    };
    return Promise.resolve(open(() => Promise.resolve()));
  };
  const nodes = inventory(new Map([['box', 'box.lab']]), { ensure, find });
  const link = nodes.named('box');
  const finding = link.find();
  const connecting = link.connect();
  await finding;
  second.resolve(undefined);
  await expect(connecting).rejects.toMatchObject({ code: 'SUPERVISOR_LOST' });
  await nodes.close();
});

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
  const refusal = failure('HOST_KEY_REVOKED', 'no');
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
