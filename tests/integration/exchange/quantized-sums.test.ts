/** Plans whose collective quantises: the same bits on all ranks, near the average. */
import { afterEach, describe, expect, it } from 'vitest';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import {
  applied,
  connectRanks,
  element,
  given,
  leave,
  N,
  planSwitch,
  step,
} from './engine-ranks.ts';

afterEach(leave);

const quantizeSums = { bits: 8, bucket: 64 };

describe('sums that are quantised on their way', () => {
  it.each([
    { method: 'none', quantizeSums },
    { method: 'topk', ratio: 0.2, quantizeSums, bucketBytes: 500 },
    { method: 'topk', ratio: 0.2, quantizeSums: { format: 'e5m2' }, bucketBytes: 500 },
  ])('are near the average with %j, the same on all ranks', async (exchange) => {
    const iterations = 12;
    const flush = planSwitch(1, iterations, { method: 'none' });
    const ranks = await connectRanks(exchange, [flush]);
    const total = await applied(ranks, iterations + 2);
    const expected = given(iterations + 2);
    const worst = Math.max(...total.map((x, i) => Math.abs(x - expected[i]!)));
    // Off by rounding twelve times; never by an entry. Levels of at most 4·8/127; floats of two
    // bits of fraction, steps of contributions of 8 and of their sum.
    expect(worst).toBeGreaterThan(0);
    const isFloat = 'format' in exchange.quantizeSums;
    const most = isFloat ? (3 * 1 + 4) / 4 : (4 * 8) / 127;
    expect(worst).toBeLessThan(iterations * most);
    for (const { engine } of ranks) {
      expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
    }
  });

  it('begin and end with a switch, and cost an eighth with 4 bits', async () => {
    const coarse = { bits: 4, bucket: 1024 };
    const switches = [
      planSwitch(1, 1, { method: 'none', quantizeSums: coarse }),
      planSwitch(2, 2, { method: 'none', collective: 'scatter-reduce-allgather' }),
    ];
    const ranks = await connectRanks({ method: 'none' }, switches);
    const exact = async (iteration: number): Promise<boolean> => {
      const average = await step(ranks, iteration);
      return average.every((value, i) => {
        const sum = ranks.reduce(
          (all, _, rank) => all + element(rank, iteration, i),
          0,
        );
        return 4 * value === sum;
      });
    };
    expect(await exact(0)).toBe(true);
    expect(await exact(1)).toBe(false);
    expect(await exact(2)).toBe(true);
  });

  it('send what the formula says', async () => {
    const bytesOf = async (exchange: Record<string, unknown>): Promise<number> => {
      const [first, ...others] = await connectRanks(exchange);
      const [result] = await Promise.all(
        [first!, ...others].map(({ engine }) => engine.exchange(0)),
      );
      expect(result!.collective).toBe('scatter-reduce-allgather');
      const { wireSent, framingSent } = result!.bytes;
      return wireSent - framingSent;
    };
    const dense = await bytesOf({
      method: 'none',
      collective: 'scatter-reduce-allgather',
    });
    const levels = await bytesOf({
      method: 'none',
      quantizeSums: { bits: 4, bucket: 1024 },
    });
    // Four parts of 205: 4·⌈205·4/32⌉ and a scale each, twice to three others.
    const part = 4 * Math.ceil((N / 4) * (4 / 32)) + 4;
    expect(dense - levels).toBe(2 * 3 * (N - part));
    const floats = await bytesOf({ method: 'none', quantizeSums: { format: 'e4m3' } });
    // 7 scales and 205 codes, in whole words.
    expect(dense - floats).toBe(2 * 3 * (N - 8 - 208));
    for (const format of ['bf16', 'fp16']) {
      const halves = await bytesOf({ method: 'none', quantizeSums: { format } });
      expect(dense - halves, format).toBe(2 * 3 * (N - N / 2));
    }
  });

  it.each(['bf16', 'fp16', 'e4m3', 'e5m2'])(
    'are exact where %s has all values',
    async (format) => {
      const ranks = await connectRanks({ method: 'none', quantizeSums: { format } });
      const average = await step(ranks, 0);
      // Gradients and sums are at most 8.
      const expected = given(1).map((sum) => sum / 4);
      expect([...average]).toEqual(expected);
    },
  );

  it('change from levels to floats and back with switches, as does one key of them', async () => {
    const levels = { bits: 4, bucket: 1024, scale: 'max' } as const;
    const base = resolvePlan({ method: 'none', quantizeSums: levels });
    const floats = resolvePlan({ 'quantizeSums.format': 'e4m3' }, base);
    expect(floats.quantizeSums).toStrictEqual({ format: 'e4m3' });
    const back = resolvePlan({ 'quantizeSums.bits': 4 }, floats);
    expect(back).toStrictEqual(base);
    const switches = [floats, back].map((plan, index) => ({
      epoch: index + 1,
      notBefore: index + 1,
      plan,
      residual: 'flush' as const,
    }));
    const ranks = await connectRanks(
      { method: 'none', quantizeSums: levels },
      switches,
    );
    const sent: number[] = [];
    for (let t = 0; t < 3; t++) {
      const results = await Promise.all(
        ranks.map(async ({ arena, engine, gradient }, rank) => {
          await engine.fence(t);
          const values = arena.f32(gradient);
          for (let i = 0; i < N; i++) values[i] = element(rank, t, i);
          const result = await engine.exchange(t);
          return { ...result.bytes, average: Float32Array.from(values) };
        }),
      );
      const [{ average, framingSent, wireSent }] = results as [
        (typeof results)[number],
      ];
      for (const other of results) expect(other.average).toEqual(average);
      sent.push(wireSent - framingSent);
    }
    // Beside it travels whether all know the switches, in every iteration.
    const part = 4 * Math.ceil((N / 4) * (4 / 32)) + 4;
    expect(sent[1]! - sent[0]!).toBe(2 * 3 * (8 + 208 - part));
    expect(sent[2]).toBe(sent[0]);
  });

  it('count as compression: where they do not pay, that is said', async () => {
    // On a network that costs nothing no coding is worth its time.
    const network = { alpha: 1e-15, beta: 1e-18, gamma: 1e-18 };
    const ranks = await connectRanks({ method: 'none', quantizeSums }, [], 2, {
      network,
    });
    const verdicts = [];
    for (let t = 0; t < 32; t++) {
      const results = await Promise.all(ranks.map(({ engine }) => engine.exchange(t)));
      verdicts.push(
        ...results[0]!.notices.filter(({ code }) => /_NOT_PAY$/.test(code)),
      );
    }
    expect(verdicts).toHaveLength(1);
    expect(verdicts[0]!.message).toMatch(
      /^none over scatter-reduce-allgather in 8 bits takes .* do not compress on this network$/,
    );
  });
});
