/**
 * What an engine saves between two exchanges is all that it needs: engines made with it go on
 * with the bits of those that were not interrupted, whatever the method and the collective.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { loadRank, saveRank } from '../../../src/agent/checkpoint/rank-checkpoint.ts';
import { WINDOW } from '../../../src/agent/auto/exchange-review.ts';
import { methods } from '../../../src/agent/methods/registry.ts';
import type { EngineState } from '../../../src/agent/exchange/engine-state.ts';
import type { PlanSwitch } from '../../../src/shared/plan/exchange-plan.ts';
import { effort } from '../../harness/effort.ts';
import {
  connectRanks,
  element,
  leave,
  planSwitch,
  type Rank,
  type Situation,
} from './engine-ranks.ts';
import { METHOD_CASES, type Exchange } from './method-cases.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-test-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});
afterEach(leave);

const ITERATIONS = 16;

/** Of a vector so wide, on a network where bytes dominate, auto moves by what it sees. */
const WIDE = 50_000;
const NETWORK = { alpha: 1e-6, beta: 10e-9, gamma: 1e-10, merge: 1e-9, scatter: 1e-9 };
/** Two to settle, a window, one more to agree on the last of it. */
const FIRST_MOVE = 2 + WINDOW + 1;

/** Gradients grow and shrink; they differ in every iteration. */
const gradientAt = (rank: number, iteration: number, i: number): number =>
  element(rank, iteration, i) * 2 ** (iteration % 3) + rank / 7;

interface Step {
  /** A digest of each rank's bits. */
  readonly averages: readonly string[];
  readonly facts: readonly unknown[];
  readonly collective: string;
}

async function steps(
  ranks: readonly Rank[],
  from: number,
  to: number,
): Promise<readonly Step[]> {
  const made: Step[] = [];
  for (let t = from; t < to; t++) {
    await Promise.all(ranks.map(({ engine }) => engine.fence(t)));
    const results = await Promise.all(
      ranks.map(({ engine, arena, gradient }, rank) => {
        const values = arena.f32(gradient);
        for (let i = 0; i < values.length; i++) values[i] = gradientAt(rank, t, i);
        return engine.exchange(t);
      }),
    );
    made.push({
      averages: ranks.map(({ arena, gradient }) =>
        createHash('sha256').update(arena.f32(gradient)).digest('hex'),
      ),
      facts: results.map(({ bytes, statistics, epoch, method, collective }) => ({
        bytes,
        statistics,
        epoch,
        method,
        collective,
      })),
      collective: results[0]!.collective,
    });
  }
  return made;
}

/** As a checkpoint's file gives it back. */
async function throughFile(rank: number, engine: EngineState): Promise<EngineState> {
  const file = path.join(directory, `rank-${rank}.gwc`);
  const owner = { run: 'run', rank, world: 4 };
  const none = new Float32Array(0);
  const checkpoint = {
    iteration: 1,
    weights: none,
    state: none,
    metric: undefined,
    steps: [],
    passages: [],
  };
  await saveRank(file, owner, { ...checkpoint, engine });
  return (await loadRank(file, owner)).engine;
}

async function expectTheSame(
  exchange: Exchange,
  cut: number,
  switches: readonly PlanSwitch[] = [],
  situation: Situation = {},
): Promise<readonly Step[]> {
  const ranks = await connectRanks(exchange, switches, 4, situation);
  const before = await steps(ranks, 0, cut);
  const states: EngineState[] = [];
  for (const [rank, { engine }] of ranks.entries()) {
    states.push(await throughFile(rank, await engine.save()));
  }
  const left = await steps(ranks, cut, ITERATIONS);
  await leave();
  const resumed = await connectRanks(exchange, switches, 4, {
    ...situation,
    resume: states,
  });
  expect(await steps(resumed, cut, ITERATIONS)).toEqual(left);
  return [...before, ...left];
}

describe('engines made with what others saved go on with the same bits', () => {
  it('is tried with every method that there is', () => {
    const tried = new Set(METHOD_CASES.map(({ exchange }) => exchange['method']));
    expect([...tried].sort()).toEqual([...methods.keys()].sort());
  });

  it.each(METHOD_CASES)('$exchange', async ({ exchange }) => {
    // In the middle of a window of the review, of a warm-up and of a ramp.
    await expectTheSame({ ...exchange, bucketBytes: 500 }, 5);
  });

  const places = [FIRST_MOVE, 1, FIRST_MOVE - 1, FIRST_MOVE + 3];
  it.each(places.slice(0, effort({ quick: 1, soak: 4 })))(
    'auto that moves, cut before %i',
    async (cut) => {
      // A threshold under which all is sent is not what is assumed of it.
      const exchange = { method: 'threshold', threshold: 0.5 };
      const made = await expectTheSame(exchange, cut, [], {
        tensors: [{ name: 'w', shape: [WIDE], start: 0, length: WIDE }],
        network: NETWORK,
      });
      expect(new Set(made.map(({ collective }) => collective)).size).toBe(2);
    },
  );

  it.each(effort({ quick: [7], soak: [6, 7, 9] }))(
    'after a switch at 6, with one to come at 9, cut before %i',
    async (cut) => {
      const switches = [
        planSwitch(1, 6, { method: 'dgc', ratio: 0.05, collective: 'ok-topk' }),
        planSwitch(2, 9, { method: 'topk', ratio: 0.1, rampIterations: 9 }),
      ];
      const exchange = { method: 'none', quantizeSums: { bits: 4 } };
      // Where a fence is due a checkpoint waits until it has been passed.
      await expectTheSame(exchange, cut === 6 || cut === 9 ? cut + 1 : cut, switches);
    },
  );
});
