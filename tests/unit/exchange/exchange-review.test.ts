import { describe, expect, test } from 'vitest';
import { carriageOf } from '../../../src/agent/compression/method.ts';
import { findMethod } from '../../../src/agent/compression/registry.ts';
import { BucketCarrier } from '../../../src/agent/auto/collective-choice.ts';
import {
  ExchangeRecorder,
  observationOf,
  type Observation,
  type Sparsity,
} from '../../../src/agent/auto/exchange-observation.ts';
import { ExchangeReview, WINDOW } from '../../../src/agent/auto/exchange-review.ts';
import { NetworkKnowledge } from '../../../src/agent/auto/network-knowledge.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { heedsTimes } from '../../../src/shared/exchange-plan.ts';
import { costTerms, totalSeconds } from '../../../src/shared/cost-model/cost-terms.ts';

const N = 1_000_000;
const RANKS = 64;
const NETWORK = { alpha: 50e-6, beta: 8e-9, gamma: 0.3e-9 };

function reviewed(exchange: Record<string, unknown>, network = NETWORK) {
  const knowledge = new NetworkKnowledge(network);
  const plan = resolvePlan(exchange);
  const carriage = carriageOf(findMethod(plan.method), plan.parameters);
  const carrier = new BucketCarrier(plan, carriage, { length: N }, RANKS, network);
  const review = new ExchangeReview({
    carriers: [carrier],
    knowledge,
    compresses: plan.method !== 'none',
    heedsTimes: heedsTimes(plan.collective),
    label: plan.method,
  });
  /** An exchange that took what is predicted, times `slower`. */
  const observation = (
    sparsity: Sparsity | undefined,
    { slower = 1, overhead = 0 } = {},
  ): Observation => {
    const shape =
      sparsity === undefined
        ? carrier.shape
        : { ...carrier.shape, ...sparsity, payloadBytes: 8 * sparsity.nnz };
    const terms = costTerms((c) => carrier.collective!.cost(shape, c), network);
    return {
      seconds: slower * totalSeconds(terms),
      overhead,
      terms,
      sparsity: carrier.kind === 'sparse' ? [sparsity] : [],
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
const same = { nnz: 20_000, nnzReduced: 20_000 };

describe('the review of a plan', () => {
  test('says at first what it chose, and what it expects', () => {
    const { review } = reviewed(topk);
    const [notice] = review.opening();
    expect(notice).toMatchObject({ level: 'info', code: 'COLLECTIVE_CHOSEN' });
    expect(notice!.message).toMatch(
      /^auto takes dsar-split-allgather: .* predicted, .* N = 1,000,000, k = 20,000, K = 72[0-9],[0-9]{3}, P = 64, by the measured/,
    );
  });

  test('has nothing to say of a collective that was named', () => {
    const named = { ...topk, collective: 'sparse-ring' };
    const { review, watch, observation, carrier } = reviewed(named);
    expect(review.opening()).toEqual([]);
    watch(3, () => ({ ...observation(undefined), sparsity: [] }));
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
    expect(carrier.expectedUnion).toBe(20_000);
  });

  test('stays where what was observed is within a fifth', () => {
    const { carrier, watch, observation } = reviewed(topk);
    const expected = { nnz: 18_000, nnzReduced: 0.85 * carrier.expectedUnion };
    const told = watch(5, () => observation(expected, { slower: 1.1 }));
    expect(told.filter(([, code]) => code === 'COLLECTIVE_CHANGED')).toEqual([]);
    expect(carrier.shape.nnz).toBe(20_000);
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
    const few = { nnz: 20, nnzReduced: 20 };
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
    const expected = { nnz: 20_000, nnzReduced: 725_548 };
    watch(5, () => observation(expected, { slower: exchanges++ % 4 === 0 ? 50 : 1 }));
    expect(knowledge.correction).toEqual({ latency: 1, bandwidth: 1, reduction: 1 });
  });
});

describe('the verdict on compression', () => {
  test('is given once, against what an uncompressed exchange is predicted to take', () => {
    const { watch, observation } = reviewed(topk);
    const told = watch(8, () => observation(undefined, { overhead: 10 }));
    expect(told.filter(([, code]) => code === 'COMPRESSION_DOES_NOT_PAY')).toHaveLength(
      1,
    );
  });

  test('is not given where compression pays', () => {
    const slow = { ...NETWORK, beta: 8e-7 };
    const { watch, observation } = reviewed({ method: 'topk', ratio: 0.0001 }, slow);
    const told = watch(8, () => observation({ nnz: 100, nnzReduced: 6380 }));
    expect(told.map(([, code]) => code)).not.toContain('COMPRESSION_DOES_NOT_PAY');
  });

  test('goes by what an uncompressed exchange took in this run, where one did', () => {
    const { review, knowledge, observation } = reviewed(topk);
    knowledge.denseSeconds = 1e-9;
    const told = Array.from({ length: 3 * WINDOW }, () =>
      review.consider(observation(undefined)),
    ).flat();
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({
      level: 'warning',
      code: 'COMPRESSION_DOES_NOT_PAY',
      message: expect.stringMatching(/uncompressed took .*do not compress/) as string,
    });
  });

  test('a plan without compression leaves what it took for those to come', () => {
    const { watch, observation, knowledge } = reviewed({ method: 'none' });
    watch(2, () => observation(undefined, { overhead: 0.5 }));
    expect(knowledge.denseSeconds).toBeGreaterThan(0.5);
  });
});

describe('what is told with the control message', () => {
  const terms = { latency: 1, bandwidth: 2, reduction: 3 };

  test('is the last exchange that has ended', () => {
    const recorder = new ExchangeRecorder(2);
    expect(recorder.report).toHaveLength(recorder.operations.length);
    expect(observationOf(recorder.report)).toBeUndefined();
    recorder.message(terms);
    recorder.message(terms);
    recorder.sparse(1, { nnz: 5, nnzReduced: 7 });
    recorder.finish(10, 20);
    expect(observationOf(recorder.report)).toEqual({
      seconds: 10,
      overhead: 20,
      terms: { latency: 2, bandwidth: 4, reduction: 6 },
      sparsity: [undefined, { nnz: 5, nnzReduced: 7 }],
    });
    expect(recorder.operations).toEqual(['min', ...new Array(8).fill('max')]);
  });

  test('is nothing of an exchange that does not count, or that moved nothing', () => {
    const recorder = new ExchangeRecorder(0);
    recorder.message(terms);
    recorder.disregard();
    recorder.finish(1, 1);
    expect(observationOf(recorder.report)).toBeUndefined();
    recorder.finish(1, 1);
    expect(observationOf(recorder.report)).toBeUndefined();
    recorder.message(terms);
    recorder.finish(1, 1);
    expect(observationOf(recorder.report)).toMatchObject({ seconds: 1, terms });
  });
});
