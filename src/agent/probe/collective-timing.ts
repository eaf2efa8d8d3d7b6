/**
 * Times the collectives themselves on vectors of a few shapes, in turns, with all ranks
 * at once, to capture what the constants miss. Two algorithms may send the same bytes in
 * the same messages, but one of them may copy more, or wait for a core that the other
 * does not use. For the model's use of these times see `collectives/timed-factor.ts`.
 *
 * Every rank runs the same schedule. Each collective's shapes grow until its exchange takes long, and
 * each shape has a time limit, so that a slow link does not take minutes. About 40 seconds for
 * four ranks on loopback; a quick measurement, of small vectors and few repetitions, about
 * 4.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CollectiveDefinition } from '../collectives/collective.ts';
import { TransportCommunicator } from '../collectives/communicator.ts';
import { collectives } from '../collectives/registry.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import type { Payload } from '../memory/payload.ts';
import type { Arena } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { CounterRandom } from '../kernels/random.ts';
import type { Transport } from '../transport/transport.ts';

/** N elements and, for a sparse vector, k entries per rank. */
interface TimedShape {
  readonly length: number;
  readonly nnz?: number | undefined;
}

export interface CollectiveTiming extends TimedShape {
  readonly collective: string;
  /** Seconds of each repetition. */
  readonly seconds: readonly number[];
}

export interface TimedWorld {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly transport: Transport;
}

const DENSE_BYTES = [2 ** 10, 2 ** 14, 2 ** 18, 2 ** 20, 2 ** 22, 2 ** 24, 2 ** 25];
const SPARSE_BYTES = [2 ** 15, 2 ** 19, 2 ** 23, 2 ** 25];
const DENSITIES = [0.0005, 0.005, 0.05];
/**
 * Effort for vectors of at most `bytes`: exchanges in a row whose mean is one repetition, and
 * repetitions of each collective.
 */
const EFFORTS = [
  { bytes: 2 ** 16, batch: 16, turns: 24 },
  { bytes: 2 ** 20, batch: 4, turns: 20 },
  { bytes: 2 ** 23, batch: 1, turns: 20 },
  { bytes: Infinity, batch: 1, turns: 6 },
] as const;
/**
 * Repetitions of a turn. A run repeats the same exchange, but the first ones after another
 * algorithm meet cold caches and badly placed ranks. So repetitions are discarded for the
 * budget's warm-up time, within these bounds.
 */
const TURN = { fewest: 2, most: 12, timed: 2 } as const;
/**
 * Ranks sleep before a turn, because a scheduler spreads waking threads over the cores
 * but leaves threads that never sleep where they are, even two on one core.
 */
const REST_MS = 5;
/**
 * The amount of measuring: enough to choose collectives, or just enough to see that it
 * works.
 */
export const PROBE_EFFORTS = ['full', 'quick'] as const;
export type ProbeEffort = (typeof PROBE_EFFORTS)[number];

interface Budget {
  /** Bytes of a dense vector of the largest shapes. */
  readonly largestBytes: number;
  /** Warm-up repetitions of each collective, until V8 has compiled hot code. */
  readonly warmUpSeconds: number;
  /** Time limit for the turns of one shape beyond the minimum. */
  readonly shapeSeconds: number;
  readonly fewestTurns: number;
  /** Warm-up time of each turn. */
  readonly discardedSeconds: number;
}

const BUDGETS: Readonly<Record<ProbeEffort, Budget>> = {
  full: {
    largestBytes: 2 ** 25,
    warmUpSeconds: 0.2,
    shapeSeconds: 2,
    fewestTurns: 3,
    discardedSeconds: 0.02,
  },
  quick: {
    largestBytes: 2 ** 19,
    warmUpSeconds: 0.02,
    shapeSeconds: 0.02,
    fewestTurns: 1,
    discardedSeconds: 0.002,
  },
};
/** A collective that would take longer on the next shape, by its bytes, is not timed on it. */
const LONGEST_SECONDS = 0.4;
const MEETING_STREAM = 1_000_000;
/** Numbers the stream of a collective, which has one of its own. */
const streamOf = ({ code }: CollectiveDefinition): number => MEETING_STREAM + code;

/** @throws GradwireError of the transport */
export async function timeCollectives(
  world: TimedWorld,
  effort: ProbeEffort = 'full',
): Promise<readonly CollectiveTiming[]> {
  if (world.transport.size === 1) return [];
  const budget = BUDGETS[effort];
  const ranks = new TimedRanks(world, budget);
  const fits = (bytes: number): boolean => bytes <= budget.largestBytes;
  const families = [
    DENSE_BYTES.filter(fits).map((bytes) => ({ length: bytes / 4 })),
    ...DENSITIES.map((density) =>
      SPARSE_BYTES.filter(fits).map((bytes) => ({
        length: bytes / 4,
        nnz: Math.ceil((density * bytes) / 4),
      })),
    ),
  ];
  const timings: CollectiveTiming[] = [];
  for (const shapes of families) {
    let going = contestantsFor(shapes[0]);
    for (const [place, shape] of shapes.entries()) {
      const timed = await ranks.time(shape, going);
      timings.push(...timed);
      const longest = await ranks.largest(
        timed.map(({ seconds }) => seconds.reduce((most, one) => Math.max(most, one))),
      );
      const next = shapes[place + 1];
      if (next === undefined) break;
      going = thatGoOn(going, longest, next.length / shape.length);
      if (going.length === 0) break;
    }
  }
  return timings;
}

/**
 * Picks those that do not take long on the next shape either, each by its own time.
 * @param seconds the longest repetition of each
 * @param growth the next shape's bytes by this one's
 */
export const thatGoOn = <T>(
  timed: readonly T[],
  seconds: readonly number[],
  growth: number,
): readonly T[] =>
  timed.filter((_, which) => seconds[which]! * growth <= LONGEST_SECONDS);

/** Collectives that take vectors of these shapes, within one node. */
function contestantsFor(
  shape: TimedShape | undefined,
): readonly CollectiveDefinition[] {
  const kind = shape?.nnz === undefined ? 'dense' : 'sparse';
  return [...collectives.values()].filter(
    ({ takes, forNodes }) => takes.includes(kind) && forNodes !== true,
  );
}

class TimedRanks {
  readonly #world: TimedWorld;
  readonly #budget: Budget;
  readonly #meeting: TransportCommunicator;
  readonly #warm = new Set<string>();

  constructor(world: TimedWorld, budget: Budget) {
    this.#world = world;
    this.#budget = budget;
    this.#meeting = this.#communicator(MEETING_STREAM);
  }

  /** The maximum over ranks of each rank's values; also a barrier. */
  async largest(values: readonly number[]): Promise<readonly number[]> {
    this.#meeting.begin({ epoch: 0, operation: 0, dtype: 0 });
    const operations = values.map(() => 'max' as const);
    return await smallAllreduce(this.#meeting, values, operations);
  }

  /** Times these collectives on vectors of this shape, in turns. */
  async time(
    shape: TimedShape,
    timed: readonly CollectiveDefinition[],
  ): Promise<readonly CollectiveTiming[]> {
    const { length } = shape;
    const { warmUpSeconds, shapeSeconds, fewestTurns, discardedSeconds } = this.#budget;
    const effort = EFFORTS.find(({ bytes }) => 4 * length <= bytes)!;
    const { batch, turns } = effort;
    using payloads = new Payloads(this.#world, shape, batch);
    const contestants = timed.map((collective) => ({
      collective,
      communicator: this.#communicator(streamOf(collective)),
      seconds: [] as number[],
      discarded: 0,
    }));
    const run = async (
      { collective, communicator }: (typeof contestants)[number],
      count: number,
    ): Promise<number> => {
      const written = payloads.write(count);
      await this.#meet();
      const start = performance.now();
      for (const payload of written) {
        communicator.begin({ epoch: 0, operation: collective.code, dtype: 1 });
        await collective.run(communicator, payload);
      }
      return (performance.now() - start) / 1000 / count;
    };
    for (const contestant of contestants) {
      const { id } = contestant.collective;
      const begun = performance.now();
      while (!this.#warm.has(id) && !(await this.#passed(begun, warmUpSeconds))) {
        for (let time = 0; time < batch; time++) await run(contestant, 1);
      }
      this.#warm.add(id);
      await run(contestant, batch);
      const seconds = batch * (await this.#largestOf(await run(contestant, batch)));
      contestant.discarded = discardedOf(seconds, discardedSeconds);
    }
    const begun = performance.now();
    for (let turn = 0; turn < turns; turn++) {
      if (turn >= fewestTurns && (await this.#passed(begun, shapeSeconds))) break;
      for (const contestant of contestants) {
        // All ranks have received everything, because a sleeping rank sends nothing.
        await this.#meet();
        await sleep(REST_MS);
        for (let time = 0; time < contestant.discarded; time++) {
          await run(contestant, batch);
        }
        for (let time = 0; time < TURN.timed; time++) {
          contestant.seconds.push(await run(contestant, batch));
        }
      }
    }
    return contestants.map(({ collective, communicator, seconds }) => {
      communicator[Symbol.dispose]();
      return { collective: collective.id, ...shape, seconds };
    });
  }

  async #largestOf(value: number): Promise<number> {
    return (await this.largest([value]))[0]!;
  }

  /** A barrier. */
  async #meet(): Promise<void> {
    await this.largest([0]);
  }

  /** Whether this many seconds have passed on any rank; all agree. */
  async #passed(begun: number, seconds: number): Promise<boolean> {
    return (await this.#largestOf((performance.now() - begun) / 1000)) >= seconds;
  }

  #communicator(stream: number): TransportCommunicator {
    return new TransportCommunicator({ ...this.#world, stream });
  }
}

/** @param seconds seconds of one repetition */
const discardedOf = (seconds: number, discardedSeconds: number): number =>
  Math.min(TURN.most, Math.max(TURN.fewest, Math.ceil(discardedSeconds / seconds)));

/** Payloads of one shape, rewritten before each exchange, since collectives overwrite them. */
class Payloads implements Disposable {
  readonly #world: TimedWorld;
  readonly #shape: TimedShape;
  readonly #bytes: number;
  readonly #region;
  readonly #indices: Uint32Array;

  constructor(world: TimedWorld, shape: TimedShape, copies: number) {
    this.#world = world;
    this.#shape = shape;
    const { length, nnz } = shape;
    this.#bytes = nnz === undefined ? 4 * length : sparseBytes(nnz);
    this.#region = world.arena.allocate(copies * this.#bytes);
    this.#indices = randomIndices(length, nnz ?? 0, world.transport.rank);
  }

  /** Writes zeros, which sums do not change, so any number of exchanges stays in f32's range. */
  write(copies: number): readonly Payload[] {
    const { arena } = this.#world;
    const { length, nnz } = this.#shape;
    const bytes = this.#bytes;
    return Array.from({ length: copies }, (_, copy) => {
      const data = { offset: this.#region.offset + copy * bytes, bytes };
      arena.u8(data.offset, bytes).fill(0);
      if (nnz === undefined) return { kind: 'dense', length, data };
      arena.u32(data.offset, nnz).set(this.#indices);
      return { kind: 'sparse', length, count: nnz, data };
    });
  }

  [Symbol.dispose](): void {
    this.#world.arena.release(this.#region);
  }
}

/**
 * One index at a random position of each of k equal runs, which coincide as often as
 * uniform ones.
 */
function randomIndices(length: number, count: number, rank: number): Uint32Array {
  const random = new CounterRandom({ seed: 5, rank });
  const run = length / count;
  return Uint32Array.from({ length: count }, (_, entry) => {
    const first = Math.ceil(entry * run);
    const places = Math.ceil((entry + 1) * run) - first;
    return first + Math.floor(random.uniform(entry) * places);
  });
}
