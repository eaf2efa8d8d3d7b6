import { expect, test } from 'vitest';
import { validateLaunch } from '../../../src/agent/launch/validate-launch.ts';

const spec = (optimizer: Record<string, unknown>, method: string) => ({
  ...{ name: 'x', workload: { model: 'fnn3', dataset: 'digits' } },
  ...{ optimizer, exchange: { method } },
});

test('a method with momentum within it needs an optimiser that leaves it its own', () => {
  expect(validateLaunch(spec({ kind: 'lars' }, 'dgc')).plan.method).toBe('dgc');
  const misfit = expect.objectContaining({
    code: 'METHOD_OPTIMIZER_MISFIT',
    place: 'exchange.method',
    message: 'dgc already contains momentum, and adam keeps its own',
  });
  const adam = spec({ kind: 'adam' }, 'topk');
  expect(validateLaunch(adam).plan.method).toBe('topk');
  expect(() => validateLaunch(spec({ kind: 'adam' }, 'dgc'))).toThrow(misfit);
  // By a switch as well.
  const change = { method: 'dgc' };
  expect(() => validateLaunch(adam, [{ at: 3, change }])).toThrow(misfit);
});

test('servers are some of the ranks, at launch and in a switch', () => {
  const served = { collective: 'parameter-server', servers: 3 };
  const world = (ranks: number, exchange: object = served) => ({
    ...{ ...spec({}, 'topk'), world: { ranks } },
    exchange,
  });
  const { plan, spec: written } = validateLaunch(world(3));
  expect(plan).toMatchObject(served);
  expect(written.exchange).toMatchObject(served);
  const refused = (place: string): unknown =>
    expect.objectContaining({
      code: 'SERVERS_INVALID',
      kind: 'input',
      place,
      message: 'servers is 3, but only 2 ranks exchange',
    });
  expect(() => validateLaunch(world(2))).toThrow(refused('exchange.servers') as Error);
  expect(() => validateLaunch(world(2, {}), [{ at: 3, change: served }])).toThrow(
    refused('switch') as Error,
  );
  const auto = { method: 'none', servers: 1 };
  expect(() => validateLaunch(world(2, auto))).toThrow(
    expect.objectContaining({
      code: 'SERVERS_MISFIT',
      message: 'servers: 1, but the collective is auto',
    }) as Error,
  );
});

test('an option of another optimiser is refused', () => {
  expect(() => validateLaunch(spec({ kind: 'sgd', beta1: 0.8 }, 'none'))).toThrow(
    expect.objectContaining({
      code: 'OPTIMIZER_OPTION_IDLE',
      place: 'optimizer.beta1',
    }),
  );
});

test('an emulated link that holds more than can be kept is refused, not slowed', () => {
  const launched = (network: object) => () =>
    validateLaunch({ ...spec({}, 'topk'), world: { nodes: ['a', 'b'] }, network });
  // 64 MiB are 536.9 Mbit.
  const long = { bandwidth: '10 Gbit/s', latency: '54 ms' };
  const short = { bandwidth: '10 Gbit/s', latency: '53 ms' };
  expect(launched(long)).toThrow(
    expect.objectContaining({ code: 'NETWORK_TOO_LONG', place: 'network' }),
  );
  expect(launched(short)).not.toThrow();
  const pairs = [{ between: ['a', 'b'], ...long }];
  expect(launched({ ...short, pairs })).toThrow(
    expect.objectContaining({ code: 'NETWORK_TOO_LONG', place: 'network.pairs[0]' }),
  );
});
