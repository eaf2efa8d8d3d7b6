import { expect, test } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';

const spec = (optimizer: Record<string, unknown>, method: string) => ({
  ...{ name: 'x', workload: { model: 'fnn3', dataset: 'digits' } },
  ...{ optimizer, exchange: { method } },
});

test('a method with momentum within it needs an optimiser that leaves it its own', () => {
  expect(checkedLaunch(spec({ kind: 'lars' }, 'dgc')).plan.method).toBe('dgc');
  const misfit = expect.objectContaining({
    code: 'METHOD_OPTIMIZER_MISFIT',
    place: 'exchange.method',
    message: 'dgc already contains momentum, and adam keeps its own',
  });
  const adam = spec({ kind: 'adam' }, 'topk');
  expect(checkedLaunch(adam).plan.method).toBe('topk');
  expect(() => checkedLaunch(spec({ kind: 'adam' }, 'dgc'))).toThrow(misfit);
  // Momentum that looks ahead is none of the method's.
  const nesterov = spec({ kind: 'sgd', momentum: 0.9, nesterov: true }, 'dgc');
  expect(() => checkedLaunch(nesterov)).toThrow(
    expect.objectContaining({ code: 'METHOD_OPTIMIZER_MISFIT' }) as Error,
  );
  // By a switch as well.
  const change = { method: 'dgc' };
  expect(() => checkedLaunch(adam, [{ at: 3, change }])).toThrow(misfit);
});

test('servers are some of the ranks, at launch and in a switch', () => {
  const served = { collective: 'parameter-server', servers: 3 };
  const world = (ranks: number, exchange: object = served) => ({
    ...{ ...spec({}, 'topk'), world: { ranks } },
    exchange,
  });
  const { plan, spec: written } = checkedLaunch(world(3));
  expect(plan).toMatchObject(served);
  expect(written.exchange).toMatchObject(served);
  const refused = (place: string): unknown =>
    expect.objectContaining({
      code: 'SERVERS_INVALID',
      kind: 'input',
      place,
      message: 'servers is 3, but only 2 ranks exchange',
    });
  expect(() => checkedLaunch(world(2))).toThrow(refused('exchange.servers') as Error);
  expect(() => checkedLaunch(world(2, {}), [{ at: 3, change: served }])).toThrow(
    refused('switch') as Error,
  );
  const auto = { method: 'none', servers: 1 };
  expect(() => checkedLaunch(world(2, auto))).toThrow(
    expect.objectContaining({
      code: 'SERVERS_MISFIT',
      message: 'servers: 1, but the collective is auto',
    }) as Error,
  );
});

test('an option of another optimiser is refused', () => {
  expect(() => checkedLaunch(spec({ kind: 'sgd', beta1: 0.8 }, 'none'))).toThrow(
    expect.objectContaining({
      code: 'OPTIMIZER_OPTION_IDLE',
      place: 'optimizer.beta1',
    }),
  );
});

test('an emulated link that holds more than can be kept is refused, not slowed', () => {
  const launched = (network: object) => () =>
    checkedLaunch({ ...spec({}, 'topk'), world: { nodes: ['a', 'b'] }, network });
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
