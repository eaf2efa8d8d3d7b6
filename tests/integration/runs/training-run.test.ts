/**
 * Training by real processes: replicas, bytes, phases, switches and their records. A run
 * answers what it can; every one is held to what `train` checks.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SwitchRequest } from '../../../src/shared/protocol/supervisor.ts';
import { effort } from '../../harness/effort.ts';
import { SupervisorNode } from './supervisor-node.ts';
import { N, train, type Outcome } from './checked-training.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

describe('one rank', () => {
  it('trains and sends nothing', async () => {
    const { iterations, records } = await train(node, { ranks: 1, iterations: 8 });
    const started = records.find((record) => record.type === 'started')!;
    const { backend, why, processes } = started;
    // `auto`, which the quickstart asks for, says why it took no GPU.
    expect(why === undefined).toBe(backend === 'webgpu');
    expect(processes).toMatchObject([{ rank: 0, device: expect.any(String) }]);
    for (const { bytes } of iterations) expect(bytes.wireSent).toBe(0);
  });
});

describe('three ranks that are switched from dense to sparse to means and back', () => {
  const outcomes: Outcome[] = [];
  beforeAll(async () => {
    for (const engine of effort({
      quick: ['inline', 'thread'],
      soak: ['inline', 'thread', 'inline', 'thread'],
    })) {
      const exchange = { method: 'none', collective: 'ring' };
      const sparse = { method: 'topk', collective: 'sparse-allgather' };
      const outcome = await train(
        node,
        { ranks: 3, iterations: 26, exchange, engine },
        [
          { at: 7, change: { ...sparse, ratio: 0.01 } },
          { at: 14, change: { method: 'a2sgd' } },
          { at: 20, change: { ...sparse, ratio: 0.05 } },
        ],
      );
      outcomes.push(outcome);
    }
  });

  it('have the same bits when it is done again, whichever thread the engine is in', () => {
    for (const { done } of outcomes.slice(1)) {
      expect(done.weights).toBe(outcomes[0]!.done.weights);
      expect(done.loss).toBe(outcomes[0]!.done.loss);
    }
  });

  it('switch at exactly the requested iteration, on every rank', () => {
    const methods = ['none', 'topk', 'a2sgd', 'topk'];
    for (const { switches, iterations, done } of outcomes) {
      expect(switches).toMatchObject([
        { fence: 7, residual: 'none', resynchronized: false },
        { fence: 14, residual: 'flushed', resynchronized: false },
        { fence: 20, residual: 'none', resynchronized: true },
      ]);
      for (const { iteration, method } of iterations) {
        const epoch = [7, 14, 20].filter((fence) => fence <= iteration).length;
        expect([iteration, method]).toEqual([iteration, methods[epoch]]);
      }
      expect(done.divergence).toBeUndefined();
    }
  });

  it('send what the algorithms’ formulas say', () => {
    for (const { iterations } of outcomes) {
      const payloadSent = (at: number): number =>
        median(
          iterations
            .filter(({ epoch, iteration }) => epoch === at && iteration % 7 >= 2)
            .map(({ bytes }) => bytes.wireSent! - bytes.framingSent!),
        );
      // A ring sends 2(P−1)/P·4N, an allgather of k pairs (P−1)·8k at most by one rank,
      // two means a few messages of 8 bytes; a few bytes of control come on top.
      const control = 200;
      expect(payloadSent(0)).toBeGreaterThanOrEqual((4 / 3) * 4 * N - 16);
      expect(payloadSent(0)).toBeLessThanOrEqual((4 / 3) * 4 * N + 16 + control);
      const k = Math.ceil(0.01 * N);
      expect(payloadSent(1)).toBeGreaterThanOrEqual(2 * 8 * (k - 1));
      expect(payloadSent(1)).toBeLessThanOrEqual(2 * 8 * k + control);
      expect(payloadSent(2)).toBeLessThanOrEqual(control);
    }
  });
});

describe('five ranks', () => {
  it(
    'reduce in buckets, sparsely and by means, and measure their drift',
    { tags: 'soak' },
    async () => {
      const { iterations, done } = await train(
        node,
        {
          ranks: 5,
          iterations: 9,
          exchange: { method: 'topk', ratio: 0.2, bucketBytes: 100_000 },
        },
        [{ at: 5, change: { method: 'a2sgd' } }],
      );
      for (const { iteration, nnzLocal } of iterations) {
        if (iteration < 5) expect(nnzLocal).toBeGreaterThan(0);
        else expect(nnzLocal).toBeUndefined();
      }
      expect(done.divergence).toBeGreaterThan(0);
    },
  );
});

describe('replicas that drift', () => {
  const drifting = {
    ranks: 3,
    iterations: 12,
    optimizer: { lr: 0.2, momentum: 0.8 },
    exchange: { method: 'a2sgd' },
  };

  it(
    'are measured singly and averaged, without effect on training',
    { tags: 'soak' },
    async () => {
      const looked = await train(node, { ...drifting, evaluateEvery: 3 });
      const left = await train(node, { ...drifting, evaluateEvery: 0 });
      expect(looked.done).toMatchObject({ weights: left.done.weights });
      expect(looked.done.metric).toBe(left.done.metric);
      const { evaluations } = looked;
      expect(evaluations.map(({ iteration }) => iteration)).toEqual([2, 5, 8, 11]);
      for (const { averaged, loss, metric } of evaluations) {
        expect(averaged!.loss).not.toBe(loss);
        expect(averaged!.metric).toBeGreaterThan(0);
        expect(metric).toBeGreaterThan(0);
      }
      // Looking costs no bytes of an exchange: two means of 8 bytes, and control.
      for (const { bytes } of looked.iterations) {
        expect(bytes.wireSent).toBeLessThan(1000);
        expect(bytes.wireReceived).toBeLessThan(5000);
      }
      // The final model is the averaged one.
      const { averaged, metric } = evaluations.at(-1)!;
      expect(looked.done.metric).toBe(averaged!.metric);
      expect(looked.done.replicaMetric).toBe(metric);
    },
  );

  it('are measured once where they are the same', { tags: 'soak' }, async () => {
    const { done, evaluations } = await train(node, {
      ...drifting,
      exchange: { method: 'none' },
      evaluateEvery: 6,
    });
    expect(evaluations).toHaveLength(2);
    for (const { averaged } of evaluations) expect(averaged).toBeUndefined();
    expect(done.metric).toBe(evaluations.at(-1)!.metric);
    expect(done.replicaMetric).toBeUndefined();
  });
});

describe('momentum within the compression', () => {
  it.each(effort({ quick: [2], soak: [1, 2] }))(
    'trains %i ranks as the optimiser’s does where all is sent, through a switch too',
    { tags: 'soak' },
    async (ranks) => {
      const settings = {
        ranks,
        iterations: 24,
        optimizer: { lr: 0.2, momentum: 0.8 },
      };
      const dense = await train(node, {
        ...settings,
        exchange: { method: 'none', collective: 'recursive-doubling' },
      });
      const all = { ratio: 1, factorMasking: false };
      const corrected = await train(
        node,
        {
          ...settings,
          exchange: { method: 'dgc', collective: 'sparse-allgather', ...all },
        },
        [{ at: 12, change: { collective: 'ssar-recursive-doubling' } }],
      );
      expect(corrected.switches).toMatchObject([{ residual: 'kept', state: 'kept' }]);
      const losses = ({ iterations }: Outcome): number[] =>
        iterations.filter(({ rank }) => rank === 0).map(({ loss }) => loss!);
      const expected = losses(dense);
      expect(expected.at(-1)).toBeLessThan(0.75 * expected[0]!);
      losses(corrected).forEach((loss, t) => {
        expect(Math.abs(loss / expected[t]! - 1), `iteration ${t}`).toBeLessThan(1e-3);
      });
    },
  );

  // Beside the engine's tests of switched state, which have every method.
  it.each(effort({ quick: [], soak: ['dgc', 'powersgd'] }))(
    'goes on as before when the collective of %s alone is switched',
    async (method) => {
      // Two ranks: a sum of two is the same by every collective.
      const settings = { ranks: 2, iterations: 30, exchange: { method } };
      const collective = method === 'dgc' ? 'ssar-recursive-doubling' : 'ring';
      const left = await train(node, settings);
      const switched = await train(node, settings, [
        { at: 12, change: { collective } },
      ]);
      expect(switched.done.weights).toBe(left.done.weights);
      expect(switched.switches).toMatchObject([{ residual: 'kept', state: 'kept' }]);
    },
  );

  it('is the optimiser’s, told of once; a ramp counts from its fence', async () => {
    const { records, switches, iterations } = await train(
      node,
      {
        ranks: 2,
        iterations: 22,
        optimizer: { lr: 0.2, momentum: 0.6 },
        exchange: { method: 'topk', ratio: 0.01 },
      },
      [
        { at: 4, change: { rampIterations: 4, rampFrom: 0.16 } },
        { at: 10, change: { collective: 'sparse-allgather' } },
        {
          at: 13,
          change: { method: 'dgc', layers: [{ match: '*.bias', method: 'none' }] },
        },
        { at: 16, change: { method: 'topk' } },
        { at: 19, change: { method: 'dgc' } },
      ],
    );
    const [ramp, other, ...rest] = switches;
    const starts = [ramp, other].map((record) => record!.to.parameters['rampStart']);
    expect(starts).toEqual([4, 4]);
    const densities = iterations
      .filter(({ rank }) => rank === 0)
      .map(({ density }) => Number(density!.toFixed(2)));
    expect(densities.slice(2, 12)).toEqual([
      0.01, 0.01, 0.16, 0.08, 0.04, 0.02, 0.01, 0.01, 0.01, 0.01,
    ]);
    const momenta = rest.map(({ to }) => to.parameters['momentum']);
    expect(momenta).toEqual([0.6, undefined, 0.6]);
    // Velocities are no gradients.
    expect(rest.map(({ residual }) => residual)).toEqual([
      'flushed',
      'flushed',
      'flushed',
    ]);
    const notices = records.filter(
      (record) => record.type === 'notice' && record.code === 'MOMENTUM_REPLACED',
    );
    expect(notices).toMatchObject([
      {
        level: 'info',
        message: expect.stringMatching(
          /198800 of 199210 elements, .* momentum of 0\.6 does not apply/,
        ) as string,
      },
    ]);
  });
});

describe('random switches', { tags: 'soak' }, () => {
  const CHANGES = effort({ quick: 30, soak: 200 });
  it(`keep the replicas of four ranks bit-identical, ${CHANGES} of them`, async () => {
    // A fixed linear congruential sequence: the same switches in every run of the test.
    let state = 12_345;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const pick = <T>(values: readonly T[]): T => values[random(values.length)]!;
    const others = ['qsgd', 'onebit', 'randomk', 'dct', 'scalecom', 'dgc'];
    // In turn, so that none is left out where there are few.
    const kinds: readonly ((lap: number) => SwitchRequest['change'])[] = [
      () => ({
        method: 'none',
        collective: pick(['ring', 'recursive-doubling', 'auto']),
      }),
      () => ({ method: 'topk', ratio: pick([0.001, 0.01, 0.3, 1]) }),
      () => ({ method: 'a2sgd' }),
      (lap) => ({ method: others[lap % others.length]! }),
      () => ({ bucketBytes: pick([1, 50_000, 4_194_304]) }),
    ];
    const iterations = 2 * CHANGES + 30;
    const schedule = Array.from({ length: CHANGES }, (_, index) => ({
      at: 1 + index * 2 + random(20),
      change: kinds[index % kinds.length]!(Math.floor(index / kinds.length)),
      residual: pick(['flush', 'drop'] as const),
    }));
    // It must end under a method that promises identical replicas.
    const last = { at: iterations - 5, change: { method: 'topk', ratio: 0.01 } };
    const {
      done,
      iterations: made,
      records,
    } = await train(
      node,
      {
        ranks: 4,
        iterations,
        workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 8 },
        optimizer: { lr: 0.01, momentum: 0.5 },
      },
      [...schedule, last],
    );
    const used = new Set(made.map(({ method }) => method));
    expect([...used].toSorted()).toEqual(
      [...others, 'a2sgd', 'none', 'topk'].toSorted(),
    );
    expect(done.divergence).toBeUndefined();
    const drift = records.filter((record) => record.type === 'divergence');
    expect(drift.length).toBeGreaterThan(0);
    expect(drift.every(({ value }) => Number.isFinite(value))).toBe(true);
  });
});
