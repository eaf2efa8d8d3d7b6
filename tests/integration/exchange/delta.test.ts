/** Plans whose streams turn dense at a δ of their own: the same averages, other bytes. */
import { afterEach, expect, it } from 'vitest';
import { connectRanks, leave, planSwitch, step, type Rank } from './engine-ranks.ts';

afterEach(leave);

const exchange = { method: 'topk', ratio: 0.1, collective: 'ssar-recursive-doubling' };

async function averages(ranks: readonly Rank[], count: number): Promise<number[][]> {
  const all: number[][] = [];
  for (let at = 0; at < count; at++) all.push([...(await step(ranks, at))]);
  return all;
}

it.each([0.12, 'auto'])('δ: %s gives the same averages', async (delta) => {
  for (const world of [3, 4]) {
    const usual = await averages(await connectRanks(exchange, [], world), 3);
    const early = await connectRanks({ ...exchange, delta }, [], world);
    expect(await averages(early, 3)).toEqual(usual);
    for (const { engine } of early) {
      expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
    }
    await leave();
  }
});

it('a switch changes δ at its fence, on all ranks, and back', async () => {
  const usual = await averages(await connectRanks(exchange), 3);
  await leave();
  const ranks = await connectRanks(exchange, [
    planSwitch(1, 1, { ...exchange, delta: 0.12 }),
    planSwitch(2, 2, exchange),
  ]);
  const bytes: number[] = [];
  for (let iteration = 0; iteration < 3; iteration++) {
    const before = ranks[0]!.transport.counters.sent;
    expect([...(await step(ranks, iteration))]).toEqual(usual[iteration]);
    bytes.push(ranks[0]!.transport.counters.sent - before);
  }
  expect(bytes[1]).toBeGreaterThan(1.1 * bytes[0]!);
  expect(bytes[2]).toBeLessThan(bytes[1]!);
});

it('says once which δ auto chose', async () => {
  const [first, ...others] = await connectRanks({ ...exchange, delta: 'auto' });
  const results = await Promise.all(
    [first!, ...others].map(({ engine }) => engine.exchange(0)),
  );
  for (const { notices } of results) {
    const said = notices.filter(({ code }) => code === 'DELTA_CHOSEN');
    expect(said.map(({ message }) => message)).toEqual([
      expect.stringMatching(/δ = 0\.3\d+·N.*N = 820 .*at 3\d\d entries/),
    ]);
  }
});
