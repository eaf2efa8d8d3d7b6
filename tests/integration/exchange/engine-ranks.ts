/**
 * Exchange engines of several ranks over real TCP sockets, each with an arena of its own.
 * Gradients are small integers, so for powers of two every sum and average is exact.
 */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { ArenaSite } from '../../../src/agent/sites/arena-site.ts';
import { WindowSite } from '../../../src/agent/sites/window-site.ts';
import { outsideVector } from '../../../src/agent/memory/outside-memory.ts';
import type { FlatTensor } from '../../../src/agent/plan/buckets.ts';
import type { EngineState } from '../../../src/agent/exchange/engine-state.ts';
import { ExchangeEngine } from '../../../src/agent/exchange/exchange-engine.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { Arena, type Vector } from '../../../src/agent/memory/arena.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import type { Transport } from '../../../src/agent/transport/transport.ts';
import type { NetworkCost } from '../../../src/shared/cost-model/network-cost.ts';
import type { PlanSwitch } from '../../../src/shared/plan/exchange-plan.ts';

const RANKS = 4;
export const TENSORS: readonly FlatTensor[] = [
  { name: 'w1', shape: [30, 20], start: 0, length: 600 },
  { name: 'b1', shape: [20], start: 600, length: 20 },
  { name: 'w2', shape: [20, 10], start: 620, length: 200 },
];
export const N = 820;

export interface Rank {
  readonly transport: Transport;
  readonly engine: ExchangeEngine;
  readonly arena: Arena;
  readonly gradient: Vector;
  /** Elements of the gradient, wherever it lies. */
  readonly values: Float32Array;
}

const open: Transport[] = [];
/** For `afterEach`: every rank that was connected leaves. */
export async function leave(): Promise<void> {
  await Promise.all(open.splice(0).map((transport) => transport.close()));
}

export interface Situation {
  readonly tensors?: readonly FlatTensor[];
  /** Names of the models that step in turns; default: all tensors are of every step. */
  readonly turns?: readonly string[];
  /** Default: constants of loopback. */
  readonly network?: NetworkCost;
  /** The node of each rank; default: all are on one. */
  readonly places?: readonly number[];
  /** The largest norm of a rank's own gradient; default: any. */
  readonly clipNorm?: number;
  /** Bytes of an arena with windows for a gradient outside of it; default: it lies in the arena. */
  readonly windowsIn?: number | undefined;
  /** What each rank goes on with; default: it begins. */
  readonly resume?: readonly EngineState[];
}

export async function connectRanks(
  exchange: Record<string, unknown>,
  switches: readonly PlanSwitch[] = [],
  world = RANKS,
  {
    tensors = TENSORS,
    clipNorm,
    network,
    places,
    resume,
    turns,
    windowsIn,
  }: Situation = {},
): Promise<readonly Rank[]> {
  const length = tensors.reduce((sum, tensor) => sum + tensor.length, 0);
  const secret = randomBytes(32);
  const listeners = await Promise.all(
    Array.from({ length: world }, () => listenTcp('127.0.0.1')),
  );
  const addresses = listeners.map(({ address }) => address);
  return await Promise.all(
    listeners.map(async (listener, rank) => {
      const arena = new Arena();
      const clock = new PhaseClock();
      const transport = await connectMesh({
        listener,
        rank,
        addresses,
        runId: 'test',
        secret,
        timeoutMs: 60_000,
        observer: clock,
      });
      open.push(transport);
      const { offset } = arena.allocateVector(length);
      const gradient = { offset, length };
      const kernels = loadWasmKernels(arena);
      const common = { arena, kernels, clock };
      const values =
        windowsIn === undefined ? arena.f32(gradient) : outsideVector(length);
      const site =
        windowsIn === undefined
          ? new ArenaSite({ ...common, gradient })
          : new WindowSite({
              ...common,
              gradient: values,
              ranks: world,
              arenaBytes: windowsIn,
            });
      const engine = new ExchangeEngine({
        arena,
        kernels,
        transport,
        clock,
        tensors,
        turns,
        site,
        seed: 1,
        clipNorm,
        plan: resolvePlan(exchange),
        switches,
        places,
        ...(network === undefined ? {} : { network }),
        resume: resume?.[rank],
      });
      return { transport, engine, arena, gradient, values };
    }),
  );
}

/** The gradient of a rank and iteration: integers in −8…8, each a different pattern. */
export const element = (rank: number, iteration: number, i: number): number =>
  ((i * 7 + rank * 13 + iteration * 29) % 17) - 8;

/** One iteration on all ranks; the averaged gradients, which must be equal. */
export async function step(
  ranks: readonly Rank[],
  iteration: number,
): Promise<Float32Array> {
  const averaged = await Promise.all(
    ranks.map(async ({ engine, values }, rank) => {
      await engine.fence(iteration);
      for (let i = 0; i < N; i++) values[i] = element(rank, iteration, i);
      await engine.exchange(iteration);
      return Float32Array.from(values);
    }),
  );
  for (const other of averaged) expect(other).toEqual(averaged[0]);
  return averaged[0]!;
}

/** Sum over iterations of what was applied, times P. */
export async function applied(
  ranks: readonly Rank[],
  iterations: number,
): Promise<number[]> {
  const total = new Array<number>(N).fill(0);
  for (let t = 0; t < iterations; t++) {
    const average = await step(ranks, t);
    for (let i = 0; i < N; i++) total[i]! += ranks.length * average[i]!;
  }
  return total;
}

export function given(iterations: number, world = RANKS): number[] {
  return Array.from({ length: N }, (_, i) => {
    let sum = 0;
    for (let t = 0; t < iterations; t++) {
      for (let rank = 0; rank < world; rank++) sum += element(rank, t, i);
    }
    return sum;
  });
}

export function planSwitch(
  epoch: number,
  notBefore: number,
  change: Record<string, unknown>,
  residual: 'flush' | 'drop' = 'flush',
): PlanSwitch {
  return { epoch, notBefore, plan: resolvePlan(change), residual };
}
