/**
 * Every collective against a slow oracle, on integers, where every order of summation is
 * exact; and on floats, where ranks and runs must agree bit for bit.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { FRAME_HEADER_BYTES } from '../../../src/agent/transport/message-frame.ts';
import { effort, soaking } from '../../harness/effort.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import {
  firstDifference,
  floats,
  integers,
  payloadBytes,
  runCollective,
  sameBits,
  sumOf,
  type TriedCollective,
} from './run-collective.ts';
import { allSocketsClosed } from './open-sockets.ts';
import { BACKENDS, makeWorld, type World } from './world.ts';

const RANKS = effort({
  quick: [1, 2, 3, 5, 8],
  soak: [1, 2, 3, 4, 5, 6, 7, 8, 9, 16],
});
const LENGTHS = [0, 1, 2, 3, 17, 1000, 30_011];
const DENSITIES = { dense: [1], sparse: [0, 0.001, 0.05, 0.2, 1] };
const ids = Object.keys(collectiveCases);
/** Their ranks complete a part each, and divide it. */
const DIVIDING = new Set(['rabenseifner', 'ring', 'scatter-reduce-allgather']);

test('every registered collective has its case, but those that leave entries out', () => {
  const whole = [...collectives.values()].filter(({ partial }) => partial !== true);
  const tried = ids.map((name) => collectiveOf(name).id);
  expect(new Set(tried)).toEqual(new Set(whole.map(({ id }) => id)));
});

/** One for all collectives: it takes P·(P − 1)/2 connections. */
const worlds = RANKS.flatMap((ranks) =>
  (ranks > 4 ? (['wasm'] as const) : BACKENDS).map((backend) => ({ ranks, backend })),
);

describe.each(worlds)('P = $ranks, $backend', ({ ranks, backend }) => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld(ranks, { backend });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await allSocketsClosed();
  });

  // The slow kernels see every length up to a few pieces, the fast ones long vectors, too.
  const lengths = LENGTHS.filter(
    (length) => length <= 1000 || (ranks <= 5 && backend === 'wasm') || soaking,
  );

  test.each(ids)('%s: the exact sum for the exact bytes', async (id) => {
    const collective = collectiveOf(id);
    const { kind, sent, fillsIn = false } = collectiveCases[id]!;
    const communicators = world.communicators();
    for (const length of lengths) {
      for (const density of DENSITIES[kind]) {
        const inputs = communicators.map((_, rank) => integers(rank, length, density));
        const expected = sumOf(inputs);
        const bytes = inputs.map((input) => payloadBytes(kind, input));
        const before = world.transports.map(({ counters }) => counters);
        const allSent = sent(inputs);
        const outcomes = await runCollective(collective, communicators, kind, inputs);
        for (const [rank, outcome] of outcomes.entries()) {
          const where = `P ${ranks}, N ${length}, d ${density}, rank ${rank}`;
          expect(firstDifference(outcome.sum, expected), where).toBe(-1);
          expect(outcome.sentBytes, where).toBe(allSent[rank]);
          const after = world.transports[rank]!.counters;
          expect(after.sent - before[rank]!.sent, where).toBe(
            outcome.sentBytes + FRAME_HEADER_BYTES * outcome.sentMessages,
          );
          expect(after.framingSent - before[rank]!.framingSent, where).toBe(
            FRAME_HEADER_BYTES * outcome.sentMessages,
          );
          expect(
            after.received -
              after.framingReceived -
              (before[rank]!.received - before[rank]!.framingReceived),
            where,
          ).toBe(outcome.receivedBytes);
        }
        if (fillsIn) continue;
        const worst = Math.max(...outcomes.map(({ sentBytes }) => sentBytes));
        expect(
          collective.wireBytes({ ranks, length, payloadBytes: Math.max(...bytes) }),
        ).toBe(worst);
      }
    }
    // Everything has been consumed: the sockets have counted the same.
    for (const { counters, socketBytes } of world.transports) {
      expect(socketBytes).toEqual({
        sent: counters.sent,
        received: counters.received,
      });
    }
  });
});

describe.each(effort({ quick: [3, 8], soak: [2, 3, 5, 8] }))('P = %d', (ranks) => {
  const runs: World[] = [];
  beforeAll(async () => {
    for (let run = 0; run < 2; run++) runs.push(await makeWorld(ranks));
  });
  afterAll(async () => {
    for (const world of runs.splice(0)) await world[Symbol.asyncDispose]();
    await allSocketsClosed();
  });

  test.each(ids)('%s: the same bits on all ranks and in two runs', async (id) => {
    const { kind } = collectiveCases[id]!;
    for (const density of DENSITIES[kind]) {
      const results: Float32Array[] = [];
      for (const world of runs) {
        const inputs = world.transports.map((_, rank) => floats(rank, 5003, density));
        const outcomes = await runCollective(
          collectiveOf(id),
          world.communicators(),
          kind,
          inputs,
        );
        results.push(...outcomes.map(({ sum }) => sum));
      }
      expect(results.every((sum) => sameBits(sum, results[0]!))).toBe(true);
    }
  });

  const denseIds = ids.filter((id) => collectiveCases[id]!.kind === 'dense');

  test.each(denseIds)('%s: an average is the sum, divided, to the bit', async (id) => {
    const collective = collectiveOf(id);
    const communicators = runs[0]!.communicators();
    const averaged: boolean[] = [];
    const averaging: TriedCollective = {
      ...collective,
      run: async (communicator, payload) => {
        const asked: Payload =
          payload.kind === 'dense' ? { ...payload, averages: true } : payload;
        const combined = await collective.run(communicator, asked);
        averaged.push(combined.form === 'dense' && combined.averaged === true);
        return combined;
      },
    };
    for (const length of [0, 1, 17, 5003, 300_001]) {
      const inputs = communicators.map((_, rank) => floats(rank, length, 1));
      const [sums, outcomes] = [
        await runCollective(collective, communicators, 'dense', inputs),
        await runCollective(averaging, communicators, 'dense', inputs),
      ];
      const factor =
        DIVIDING.has(collective.id) && length > 0 ? Math.fround(1 / ranks) : 1;
      const expected = sums[0]!.sum.map((value) => value * factor);
      for (const { sum } of outcomes) expect(sameBits(sum, expected)).toBe(true);
      const said = averaged.splice(0);
      if (length > 0) {
        expect(said).toEqual(communicators.map(() => DIVIDING.has(collective.id)));
      }
    }
  });
});

describe('sparse-allgather', () => {
  const collective = collectives.get('sparse-allgather')!;

  test.each([
    // δ = N/2 = 50: the sum of the counts decides, not the union.
    ['sparse', 24, 49],
    ['dense', 25, 50],
  ])('is %s with %d + … = %d entries of 100', async (form, first, total) => {
    await using world = await makeWorld(2);
    const inputs = [first, total - first].map((count) =>
      new Float32Array(100).fill(1, 0, count),
    );
    const outcomes = await runCollective(
      collective,
      world.communicators(),
      'sparse',
      inputs,
    );
    for (const outcome of outcomes) {
      expect(outcome.form).toBe(form);
      expect(outcome.count).toBe(form === 'sparse' ? 25 : undefined);
      expect(outcome.sum).toEqual(sumOf(inputs));
    }
  });

  test('keeps entries that cancel, and values however small', async () => {
    await using world = await makeWorld(3);
    const inputs = world.transports.map(() => new Float32Array(1000));
    inputs[0]![3] = 1;
    inputs[1]![3] = -1;
    inputs[2]![7] = 1e-30;
    inputs[2]![999] = 1e-45;
    const [outcome] = await runCollective(
      collective,
      world.communicators(),
      'sparse',
      inputs,
    );
    expect(outcome!.count).toBe(3);
    expect(outcome!.sum).toEqual(sumOf(inputs));
  });
});
