/** The patience of a link to a machine that answers and does not help: simulated time. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import type { LinkEvents } from '../../../src/main/cluster/link-events.ts';
import type { NodeAccess } from '../../../src/main/cluster/node-access.ts';
import { NodeLink } from '../../../src/main/cluster/node-link.ts';
import { failure } from '../../../src/shared/errors/errors.ts';

const MINUTE_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: [
      ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const),
      ...(['performance', 'Date'] as const),
    ],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

function linkTo(access: Partial<NodeAccess>, lostMs = Infinity) {
  const ensure = vi.fn(access.ensure ?? (() => Promise.resolve(connection())));
  const events = {
    attempts: () => Infinity,
    patience: () => ({ mayAsk: false, lostMs, silentMs: Infinity }),
    restored: vi.fn(async () => undefined),
    trouble: vi.fn(),
    gaveUp: vi.fn(),
    silent: () => undefined,
    changed: () => undefined,
    look: () => undefined,
  };
  const given = { name: 'hpc', ...access, ensure } as unknown as NodeAccess;
  const link = new NodeLink(given, events as unknown as LinkEvents);
  return { ensure, events, link };
}

const connection = () =>
  ({
    hello: { host: 'login2', pid: 1 },
    readsOnly: false,
    heard: 0,
    request: () => Promise.resolve({}),
    close: () => Promise.resolve(),
  }) as unknown as ControlConnection;

test('another login node is connected to for as long as a lost machine, and no longer', async () => {
  const { events, link } = linkTo({}, 10 * MINUTE_MS);
  const error = failure('HOME_HELD_ELSEWHERE', 'the run is on login1');
  events.restored.mockImplementation(async () => {
    await link.leave();
    throw error;
  });
  link.takeOver();
  await vi.advanceTimersByTimeAsync(9 * MINUTE_MS);
  expect(link.state).toMatchObject({
    connection: 'reconnecting',
    loss: { error: { code: 'HOME_HELD_ELSEWHERE' } },
  });
  expect(events.gaveUp).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(3 * MINUTE_MS);
  expect(events.gaveUp).toHaveBeenCalledOnce();
  expect(link.state.connection).toBe('unreachable');
  await link.close();
});

test('a machine with a full disk is tried after minutes, and told of no second time', async () => {
  const error = failure('DISK_FULL', 'no space');
  let isFull = true;
  const { ensure, events, link } = linkTo({
    ensure: () => (isFull ? Promise.reject(error) : Promise.resolve(connection())),
  });
  link.takeOver(error.toData());
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect(ensure).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
  expect(ensure.mock.calls.length).toBeGreaterThanOrEqual(10);
  expect(ensure.mock.calls.length).toBeLessThanOrEqual(25);
  expect(events.trouble).not.toHaveBeenCalled();
  // The user has looked at it: at once.
  isFull = false;
  link.resume();
  await vi.advanceTimersByTimeAsync(1000);
  expect(events.restored).toHaveBeenCalledOnce();
  expect(link.state.connection).toBe('connected');
  await link.close();
});

test('a machine that is out of reach is tried soon, and each loss is told', async () => {
  const error = failure('SSH_UNREACHABLE', 'away');
  const { ensure, events, link } = linkTo({ ensure: () => Promise.reject(error) });
  link.takeOver(error.toData());
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect(ensure.mock.calls.length).toBeGreaterThan(10);
  expect(events.trouble).toHaveBeenCalled();
  await link.close();
});

test('files in the home of another host keep only a cluster’s runs', async () => {
  const elsewhere = () => Promise.resolve(new Map([['r', 'old-name']]));
  const { link: plain } = linkTo({ elsewhere });
  expect(await plain.elsewhere(['r'])).toEqual(new Map());
  const slurm = { setup: [], options: [] };
  const { link: cluster } = linkTo({ elsewhere, slurm });
  expect(await cluster.elsewhere(['r'])).toEqual(new Map([['r', 'old-name']]));
});
