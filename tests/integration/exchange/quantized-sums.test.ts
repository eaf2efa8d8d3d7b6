/** Plans whose collective quantises: the same bits on all ranks, near the average. */
import { afterEach, describe, expect, it } from 'vitest';
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
  ])('are near the average with %j, the same on all ranks', async (exchange) => {
    const iterations = 12;
    const flush = planSwitch(1, iterations, { method: 'none' });
    const ranks = await connectRanks(exchange, [flush]);
    const total = await applied(ranks, iterations + 2);
    const expected = given(iterations + 2);
    const worst = Math.max(...total.map((x, i) => Math.abs(x - expected[i]!)));
    // Off by rounding, of levels of at most 4·8/127, twelve times; never by an entry.
    expect(worst).toBeGreaterThan(0);
    expect(worst).toBeLessThan((iterations * 4 * 8) / 127);
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
    const quantized = await bytesOf({
      method: 'none',
      quantizeSums: { bits: 4, bucket: 1024 },
    });
    // Four parts of 205: 4·⌈205·4/32⌉ and a scale each, twice to three others.
    const part = 4 * Math.ceil((N / 4) * (4 / 32)) + 4;
    expect(dense - quantized).toBe(2 * 3 * (N - part));
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
