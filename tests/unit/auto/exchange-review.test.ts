import { describe, expect, test } from 'vitest';
import { unionOf } from '../../../src/agent/collectives/fill-in.ts';
import { findMethod } from '../../../src/agent/methods/registry.ts';
import { BucketCarrier } from '../../../src/agent/auto/collective-choice.ts';
import {
  ExchangeRecorder,
  observationOf,
  type Observation,
  type Sums,
} from '../../../src/agent/auto/exchange-observation.ts';
import { ExchangeReview, WINDOW } from '../../../src/agent/auto/exchange-review.ts';
import { NetworkKnowledge } from '../../../src/agent/auto/network-knowledge.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { heedsTimes } from '../../../src/shared/plan/exchange-plan.ts';
import { costTerms, totalSeconds } from '../../../src/shared/cost-model/cost-terms.ts';

const N = 1_000_000;
const RANKS = 64;
const NETWORK = { alpha: 50e-6, beta: 8e-9, gamma: 0.3e-9 };

function reviewed(exchange: Record<string, unknown>, network = NETWORK) {
  const knowledge = new NetworkKnowledge(network);
  const plan = resolvePlan(exchange);
  const { parameters } = plan;
  const bucket = {
    length: N,
    tensors: [{ name: 'w', start: 0, length: N, shape: [1000, N / 1000] }],
    policy: { method: findMethod(plan.method), parameters },
  };
  const carrier = new BucketCarrier(plan, bucket, RANKS, network);
  const review = new ExchangeReview({
    carriers: [carrier],
    knowledge,
    compresses: plan.method !== 'none',
    heedsTimes: heedsTimes(plan.collective),
    label: plan.method,
  });
  /** An exchange that took what is predicted, times `slower`. */
  const observation = (
    sums: Sums | undefined,
    { slower = 1, overhead = 0 } = {},
  ): Observation => {
    const [assumed] = carrier.shapes;
    const shape =
      sums === undefined
        ? assumed!
        : {
            ...assumed!,
            payloadBytes: sums.bytes,
            ...(sums.nnzReduced === undefined
              ? {}
              : { nnz: sums.bytes / 8, nnzReduced: sums.nnzReduced }),
          };
    const terms = costTerms((c) => carrier.collective!.cost(shape, c), network);
    return {
      seconds: slower * totalSeconds(terms),
      overhead,
      terms,
      sums: carrier.automatic ? [sums] : [],
    };
  };
  /** So many windows of what `make` gives; the codes told, and when. */
  const watch = (windows: number, make: () => Observation) =>
    Array.from({ length: windows * WINDOW }, (_, index) =>
      review.consider(make()).map(({ code }) => [index, code] as const),
    ).flat();
  return { review, carrier, knowledge, observation, watch };
}

const topk = { method: 'topk', ratio: 0.02 };
/** All ranks select the same: the result does not fill in. */
const same = { bytes: 160_000, nnzReduced: 20_000 };

const assumedUnion = ({ shapes }: BucketCarrier): number => unionOf(shapes[0]!, RANKS);

describe('the review of a plan', () => {
  test('says at first what it chose, and what it expects', () => {
    const { review } = reviewed(topk);
    const [notice] = review.opening();
    expect(notice).toMatchObject({ level: 'info', code: 'COLLECTIVE_CHOSEN' });
    expect(notice!.message).toMatch(
      /^auto chose dsar-split-allgather: .* predicted, .* N = 1,000,000, k = 20,000, K = 72[0-9],[0-9]{3}, P = 64, using the measured/,
    );
  });

  test('has nothing to say of a collective that was named', () => {
    const named = { ...topk, collective: 'sparse-ring' };
    const { review, watch, observation, carrier } = reviewed(named);
    expect(review.opening()).toEqual([]);
    watch(3, () => observation(undefined));
    expect(carrier.collective?.id).toBe('sparse-ring');
  });

  test('moves once where fill-in is not what was expected, and says by what', () => {
    const { carrier, watch, observation } = reviewed(topk);
    expect(carrier.collective?.id).toBe('dsar-split-allgather');
    const told = watch(6, () => observation(same));
    const moves = told.filter(([, code]) => code === 'COLLECTIVE_CHANGED');
    // Two exchanges to settle, then a window.
    expect(moves).toEqual([[2 + WINDOW - 1, 'COLLECTIVE_CHANGED']]);
    expect(carrier.collective?.id).toBe('ssar-split-allgather');
    expect(assumedUnion(carrier)).toBe(20_000);
  });

  test('stays where what was observed is within a fifth', () => {
    const { carrier, watch, observation } = reviewed(topk);
    const expected = { bytes: 8 * 18_000, nnzReduced: 0.85 * assumedUnion(carrier) };
    const told = watch(5, () => observation(expected, { slower: 1.1 }));
    expect(told.filter(([, code]) => code === 'COLLECTIVE_CHANGED')).toEqual([]);
    expect(carrier.shapes[0]!.nnz).toBe(20_000);
  });

  test('learns the network where times are not what was predicted', () => {
    const { carrier, knowledge, watch, observation } = reviewed({ method: 'none' });
    const before = carrier.collective?.id;
    watch(2, () => observation(undefined, { slower: 3 }));
    expect(knowledge.correction.bandwidth).toBeGreaterThan(2.5);
    expect(knowledge.correction.latency).toBe(1);
    // All are slower by as much: there is nowhere to move to.
    expect(carrier.collective?.id).toBe(before);
  });

  test('moves by times only where the plan says so, else it gives advice once', () => {
    // Messages cost far less than was assumed: more of them with fewer bytes pay.
    const distant = { alpha: 5e-3, beta: 8e-11, gamma: 0.3e-9 };
    const fast = (exchange: Record<string, unknown>) => {
      const { carrier, watch, observation } = reviewed(exchange, distant);
      const before = carrier.collective?.id;
      const told = watch(12, () => observation(undefined, { slower: 0.02 }));
      const codes = told
        .map(([, code]) => code)
        .filter((code) => code.startsWith('COLLECTIVE'));
      return { moved: carrier.collective?.id !== before, codes };
    };
    expect(fast({ method: 'none' })).toEqual({
      moved: false,
      codes: ['COLLECTIVE_ADVICE'],
    });
    const adaptive = fast({ method: 'none', collective: 'adaptive' });
    expect(adaptive.moved).toBe(true);
    expect(adaptive.codes[0]).toBe('COLLECTIVE_CHANGED');
  });

  test('comes to rest although what it sees swings to and fro', () => {
    const { watch, observation, carrier } = reviewed(topk);
    const few = { bytes: 160, nnzReduced: 20 };
    let exchanges = 0;
    const told = watch(200, () =>
      observation(Math.floor(exchanges++ / (WINDOW + 2)) % 2 === 0 ? same : few),
    );
    const moves = told.filter(([, code]) => code === 'COLLECTIVE_CHANGED');
    expect(moves.length).toBeGreaterThan(1);
    // Pauses double: 200 windows have room for no more than log₂ of them.
    expect(moves.length).toBeLessThan(9);
    expect(carrier.collective).toBeDefined();
  });

  test('one exchange that stalls is no reason for anything', () => {
    const { watch, observation, knowledge } = reviewed(topk);
    let exchanges = 0;
    const expected = { bytes: 160_000, nnzReduced: 725_548 };
    watch(5, () => observation(expected, { slower: exchanges++ % 4 === 0 ? 50 : 1 }));
    expect(knowledge.correction).toEqual({ latency: 1, bandwidth: 1, reduction: 1 });
  });
});

describe('what is summed in another way than as pairs', () => {
  const values = { method: 'randomk', ratio: 1e-4 };

  test('is said in bytes, of all messages', () => {
    const message = (exchange: Record<string, unknown>) =>
      reviewed(exchange).review.opening()[0]!.message;
    expect(message(values)).toContain('N = 1,000,000, 400 bytes to sum, P = 64');
    expect(message({ method: 'none' })).toContain('N = 1,000,000, P = 64');
    // Of a matrix of 1000 × 1000.
    expect(message({ method: 'powersgd', rank: 3 })).toContain(
      'N = 1,000,000, 24,000 bytes to sum in 2 messages, P = 64',
    );
    expect(message({ method: 'threshold' })).toContain('k ≈ 887,626, K ≈ 1,000,000');
  });

  test('is assumed as it was seen, where that is off by more than a fifth', () => {
    const { carrier, review, observation, watch } = reviewed(values);
    const small = carrier.collective?.id;
    expect(review.watched).toEqual([0]);
    watch(3, () => observation({ bytes: 460 }));
    expect(carrier.shapes).toMatchObject([{ length: 100, payloadBytes: 400 }]);
    const told = watch(3, () => observation({ bytes: 4_000_000 }));
    expect(carrier.shapes).toMatchObject([{ length: 1e6, payloadBytes: 4e6 }]);
    expect(told.filter(([, code]) => code === 'COLLECTIVE_CHANGED')).toHaveLength(1);
    expect(carrier.collective?.id).not.toBe(small);
  });

  test('keeps the proportions of its messages', () => {
    const { carrier, observation, watch } = reviewed({ method: 'powersgd', rank: 3 });
    watch(3, () => observation({ bytes: 240_000 }));
    expect(carrier.shapes).toMatchObject([
      { length: 30_000, payloadBytes: 120_000 },
      { length: 30_000, payloadBytes: 120_000 },
    ]);
  });

  test('uses a separate collective for a whole bucket that is sent once', () => {
    const { carrier } = reviewed(values);
    const usual = { kind: 'dense', length: 100, bytes: 400 } as const;
    const whole = { kind: 'dense', length: N, bytes: 4 * N } as const;
    expect(carrier.of(usual).id).toBe('recursive-doubling');
    expect(carrier.isUnusual(usual)).toBe(false);
    expect(carrier.of(whole).id).not.toBe('recursive-doubling');
    expect(carrier.isUnusual(whole)).toBe(true);
    const named = reviewed({ ...values, collective: 'recursive-doubling' }).carrier;
    expect(named.of(whole).id).toBe('recursive-doubling');
    expect(reviewed({ method: 'none' }).carrier.isUnusual(whole)).toBe(false);
  });

  test('is nothing of a method whose payloads are gathered', () => {
    for (const exchange of [
      { method: 'qsgd' },
      { method: 'a2sgd', mode: 'allgather' },
    ]) {
      const { carrier, review } = reviewed(exchange);
      expect(carrier.collective).toBeUndefined();
      expect(review.opening()).toEqual([]);
      expect(review.watched).toEqual([]);
    }
  });
});

describe('the verdict on compression', () => {
  test('is given once, against what an uncompressed exchange is predicted to take', () => {
    const { watch, observation } = reviewed(topk);
    const told = watch(8, () => observation(undefined, { overhead: 10 }));
    expect(told.filter(([, code]) => code === 'COMPRESSION_DOES_NOT_PAY')).toHaveLength(
      1,
    );
    const { review, observation: again } = reviewed(topk);
    const notices = Array.from({ length: 8 * WINDOW }, () =>
      review.consider(again(undefined, { overhead: 10 })),
    ).flat();
    const { exchange } = notices.find(
      ({ code }) => code === 'COMPRESSION_DOES_NOT_PAY',
    )!;
    expect(exchange!.measured).toBe(false);
    expect(exchange!.compressed).toBeGreaterThan(10_000);
    expect(exchange!.uncompressed).toBeGreaterThan(0);
    expect(exchange!.uncompressed).toBeLessThan(10_000);
  });

  test('is not given where compression pays', () => {
    const slow = { ...NETWORK, beta: 8e-7 };
    const { watch, observation } = reviewed({ method: 'topk', ratio: 0.0001 }, slow);
    const told = watch(8, () => observation({ bytes: 800, nnzReduced: 6380 }));
    expect(told.map(([, code]) => code)).not.toContain('COMPRESSION_DOES_NOT_PAY');
  });

  test('uses the time of an uncompressed exchange in this run, if there was one', () => {
    const { review, knowledge, observation } = reviewed(topk);
    knowledge.denseSeconds = 1e-9;
    const told = Array.from({ length: 3 * WINDOW }, () =>
      review.consider(observation(undefined)),
    ).flat();
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({
      level: 'warning',
      code: 'COMPRESSION_DOES_NOT_PAY',
      message: expect.stringMatching(
        /uncompressed exchange took .*do not compress/,
      ) as string,
      exchange: { uncompressed: 1000 * 1e-9, measured: true },
    });
    const { overhead, seconds } = observation(undefined);
    expect(told[0]!.exchange!.compressed).toBeCloseTo(1000 * (seconds + overhead), 9);
  });

  test('a plan without compression leaves what it took for those to come', () => {
    const { watch, observation, knowledge } = reviewed({ method: 'none' });
    watch(2, () => observation(undefined, { overhead: 0.5 }));
    expect(knowledge.denseSeconds).toBeGreaterThan(0.5);
  });
});

describe('the report in the control message', () => {
  const terms = { latency: 1, bandwidth: 2, reduction: 3 };

  test('is the last exchange that has ended', () => {
    const recorder = new ExchangeRecorder(2, 2);
    expect(recorder.report).toHaveLength(recorder.operations.length);
    expect(observationOf(recorder.report)).toBeUndefined();
    recorder.message(terms);
    recorder.message(terms);
    recorder.summed(1, { bytes: 40, nnzReduced: 7 });
    recorder.finish(10, 20, 0);
    expect(observationOf(recorder.report)).toEqual({
      seconds: 10,
      overhead: 20,
      terms: { latency: 2, bandwidth: 4, reduction: 6 },
      sums: [undefined, { bytes: 40, nnzReduced: 7 }],
    });
    expect(recorder.operations).toEqual([
      ...['min', 'sum'],
      ...new Array(9).fill('max'),
    ]);
  });

  test('adds the sums of a bucket up; dense ones have no fill-in', () => {
    const recorder = new ExchangeRecorder(1, 2);
    recorder.message(terms);
    recorder.summed(0, { bytes: 400 });
    recorder.summed(0, { bytes: 80 });
    recorder.finish(1, 1, 0);
    expect(observationOf(recorder.report)?.sums).toEqual([
      { bytes: 480, nnzReduced: undefined },
    ]);
  });

  test('is nothing of an exchange that does not count, or that moved nothing', () => {
    const recorder = new ExchangeRecorder(0, 2);
    recorder.message(terms);
    recorder.disregard();
    recorder.finish(1, 1, 0);
    expect(observationOf(recorder.report)).toBeUndefined();
    recorder.finish(1, 1, 0);
    expect(observationOf(recorder.report)).toBeUndefined();
    recorder.message(terms);
    recorder.finish(1, 1, 0);
    expect(observationOf(recorder.report)).toMatchObject({ seconds: 1, terms });
  });

  /** Times observed of two ranks, a message of which takes 4 s, by their seconds of computing. */
  const twoRanks = (computing: readonly [number, number]): number[] => {
    const recorders = [new ExchangeRecorder(0, 2), new ExchangeRecorder(0, 2)];
    // Rank 1 begins 3 s after rank 0, and finds its data there after a second.
    let begun = [0, 3];
    return Array.from({ length: 6 }, () => {
      const ended = [
        Math.max(begun[0]!, begun[1]! + 4),
        Math.max(begun[1]!, begun[0]! + 4),
      ];
      for (const [rank, recorder] of recorders.entries()) {
        recorder.message(terms);
        recorder.finish(ended[rank]! - begun[rank]!, 0, ended[rank]!);
      }
      begun = ended.map((end, rank) => end + computing[rank]!);
      const [one, other] = recorders.map(({ report }) => report);
      const agreed = recorders[0]!.operations.map((operation, place) => {
        const [a, b] = [one![place]!, other![place]!];
        return operation === 'sum' ? a + b : Math[operation](a, b);
      });
      return observationOf(agreed)!.seconds;
    });
  };

  test('takes the time of an exchange from all ranks, of which one is ahead and one behind in turn', () => {
    // The first exchange has no period.
    expect(twoRanks([10, 10])).toEqual([1, 4, 4, 4, 4, 4]);
  });

  test('is a lower bound where one of two ranks computes longer', () => {
    const seen = twoRanks([10, 13]).slice(2);
    expect(Math.max(...seen)).toBe(4);
    expect(Math.min(...seen)).toBe(2.5);
  });
});
