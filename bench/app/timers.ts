/**
 * The cost of the phase clock: the readings that a real dense exchange of four ranks makes
 * (counted, engines over TCP in this process), times what one reading costs.
 */
import { randomBytes } from 'node:crypto';
import { ArenaSite } from '../../src/agent/sites/arena-site.ts';
import { ExchangeEngine } from '../../src/agent/exchange/exchange-engine.ts';
import { resolvePlan } from '../../src/agent/plan/resolve-plan.ts';
import { Arena } from '../../src/agent/memory/arena.ts';
import { loadWasmKernels } from '../../src/agent/kernels/wasm/load.ts';
import { PhaseClock } from '../../src/agent/profile/phase-clock.ts';
import { connectMesh } from '../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../src/agent/transport/tcp-listener.ts';
import type { Phase } from '../../src/shared/records/phases.ts';
import type { Measurement } from '../report.ts';

const RANKS = 4;
/** FNN-3's parameters. */
const LENGTH = 199_210;
const ITERATIONS = 50;
/** Shorter than any iteration of four ranks measured here: the share is an upper bound. */
const ITERATION_MS = 5;

/** Counts its readings: two for a piece of work, one for a change of what is awaited. */
class CountingClock extends PhaseClock {
  readings = 0;

  override measure<T>(phase: Phase, work: () => T): T {
    this.readings += 2;
    return super.measure(phase, work);
  }

  override working(kind: 'send' | 'receive'): () => void {
    this.readings += 2;
    return super.working(kind);
  }

  override waiting(state: Parameters<PhaseClock['waiting']>[0]): void {
    this.readings += 1;
    super.waiting(state);
  }
}

/** Readings of the busiest rank in one iteration, mean over the iterations. */
async function readingsPerIteration(): Promise<number> {
  const secret = randomBytes(32);
  const listeners = await Promise.all(
    Array.from({ length: RANKS }, () => listenTcp('127.0.0.1')),
  );
  const addresses = listeners.map(({ address }) => address);
  const ranks = await Promise.all(
    listeners.map(async (listener, rank) => {
      const arena = new Arena();
      const clock = new CountingClock();
      const transport = await connectMesh({
        listener,
        rank,
        addresses,
        runId: 'timers',
        secret,
        timeoutMs: 10_000,
        observer: clock,
      });
      const { offset } = arena.allocateVector(LENGTH);
      const gradient = { offset, length: LENGTH };
      const kernels = loadWasmKernels(arena);
      const engine = new ExchangeEngine({
        arena,
        kernels,
        transport,
        clock,
        tensors: [{ name: 'all', shape: [LENGTH], start: 0, length: LENGTH }],
        site: new ArenaSite({ arena, kernels, clock, gradient }),
        seed: 1,
        plan: resolvePlan({ method: 'none', collective: 'ring' }),
        switches: [],
      });
      return { engine, clock, transport };
    }),
  );
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    await Promise.all(ranks.map(({ engine }) => engine.exchange(iteration)));
  }
  await Promise.all(ranks.map(({ transport }) => transport.close()));
  return Math.max(...ranks.map(({ clock }) => clock.readings)) / ITERATIONS;
}

/** Milliseconds of one reading, its attribution included. */
function costOfReading(): number {
  const clock = new PhaseClock();
  clock.begin();
  const rounds = 1_000_000;
  const work = (): void => undefined;
  for (let i = 0; i < rounds / 10; i++) clock.measure('reduce', work);
  const start = performance.now();
  for (let i = 0; i < rounds; i++) clock.measure('reduce', work);
  return (performance.now() - start) / (2 * rounds);
}

export async function measureTimers(): Promise<readonly Measurement[]> {
  const readings = await readingsPerIteration();
  const cost = costOfReading();
  return [
    {
      name: 'timers',
      value: (100 * readings * cost) / ITERATION_MS,
      unit: '%',
      goal: 0.5,
      note:
        `of an iteration of ${ITERATION_MS} ms: ${readings.toFixed(0)} readings ` +
        `(counted, dense ring), ${(1e6 * cost).toFixed(0)} ns each`,
    },
  ];
}
