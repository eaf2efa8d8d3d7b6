/**
 * Times messages between ranks over the collectives' path. First each pair alone,
 * ping-pong, half a round trip per message. Then the first 2, 4, … P ranks all at once
 * from a common start, each sending to one neighbour and receiving from the other, around
 * and back, so that no rank gets ahead; collectives meet these conditions if ranks share a
 * machine or a switch. Finally each rank sends to all others at once.
 *
 * Every rank runs the same schedule; barriers between its parts keep uninvolved ranks
 * silent. Nothing counts until V8 has compiled hot code; otherwise α would be three times
 * its value in a run. About three seconds for four ranks on loopback.
 */
import type { Communicator } from '../collectives/collective.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import type { ProbeEffort } from './collective-timing.ts';
import type { TimedMessages } from '../../shared/cost-model/link-fit.ts';

interface Size {
  readonly bytes: number;
  readonly repetitions: number;
  /** Consecutive messages, alternating in direction, whose mean is one timing. */
  readonly batch: number;
}

/** Sizes of messages, from one cache line to a full pipe. */
const SMALL_SIZES: readonly Size[] = [
  { bytes: 8, repetitions: 24, batch: 16 },
  { bytes: 4096, repetitions: 24, batch: 16 },
  { bytes: 2 ** 16, repetitions: 24, batch: 8 },
  { bytes: 2 ** 19, repetitions: 9, batch: 4 },
];
const PAIR_SIZES: readonly Size[] = [
  ...SMALL_SIZES,
  { bytes: 2 ** 21, repetitions: 5, batch: 4 },
];
/** Sizes under load, up to some beyond any cache: the largest messages of a collective. */
const LOADED_SIZES: readonly Size[] = [
  ...SMALL_SIZES,
  { bytes: 2 ** 21, repetitions: 7, batch: 4 },
  { bytes: 2 ** 22, repetitions: 5, batch: 2 },
  { bytes: 2 ** 24, repetitions: 3, batch: 2 },
];
/** Sizes for sending to all at once. */
const BURST_SIZES: readonly Size[] = [{ bytes: 8, repetitions: 24, batch: 16 }];

interface Budget {
  readonly pairs: readonly Size[];
  readonly loaded: readonly Size[];
  readonly bursts: readonly Size[];
  readonly warmUpMs: number;
}

const FULL: Budget = {
  pairs: PAIR_SIZES,
  loaded: LOADED_SIZES,
  bursts: BURST_SIZES,
  warmUpMs: 400,
};
const few = (sizes: readonly Size[]): Size[] =>
  sizes.map((size) => ({ ...size, repetitions: 5 }));
const QUICK: Budget = {
  pairs: few(SMALL_SIZES),
  loaded: few(SMALL_SIZES),
  bursts: few(BURST_SIZES),
  warmUpMs: 50,
};
/** Swaps between two clock readings. */
const WARM_UP_SWAPS = 64;

/** One rank's timings: pairs in which it is the lower rank, loads in which it took part. */
export interface LinkTimings {
  readonly pairs: readonly {
    readonly ranks: readonly [number, number];
    readonly messages: readonly TimedMessages[];
  }[];
  readonly loaded: readonly {
    readonly ranks: number;
    readonly messages: readonly TimedMessages[];
    /** One message to each other rank at once; empty if there is only one other. */
    readonly bursts: readonly TimedMessages[];
  }[];
}

/** An exchange must have begun on the communicator, which must be unused meanwhile. */
export async function timeLinks(
  communicator: Communicator,
  effort: ProbeEffort = 'full',
): Promise<LinkTimings> {
  const { rank, size } = communicator;
  const budget = effort === 'full' ? FULL : QUICK;
  const largest = budget.loaded.at(-1)!.bytes;
  const out = communicator.scratch('probe out', largest);
  const into = communicator.scratch('probe in', largest);
  const meet = (): Promise<unknown> => smallAllreduce(communicator, [1], ['max']);

  /** One round trip, from this rank's side. */
  const swap = async (to: number, from: number, bytes: number): Promise<void> => {
    const arrival = communicator.receive(from, { ...into, bytes });
    await communicator.send(to, { ...out, bytes });
    await arrival;
  };
  const answer = async (peer: number, bytes: number): Promise<void> => {
    await communicator.receive(peer, { ...into, bytes });
    await communicator.send(peer, { ...out, bytes });
  };

  /** A barrier of the first `ranks` ranks, by dissemination. */
  const meetNeighbours = async (ranks: number): Promise<void> => {
    for (let distance = 1; distance < ranks; distance *= 2) {
      await swap((rank + distance) % ranks, (rank + ranks - distance) % ranks, 8);
    }
  };

  /** A message to each of the first `ranks` ranks, and one from each. */
  const swapAll = async (ranks: number, bytes: number): Promise<void> => {
    const others = Array.from({ length: ranks - 1 }, (_, step) => step + 1);
    const arrivals = others.map((step) =>
      communicator.receive((rank + step) % ranks, {
        offset: into.offset + bytes * step,
        bytes,
      }),
    );
    const sends = others.map((step) =>
      communicator.send((rank + step) % ranks, { ...out, bytes }),
    );
    await Promise.all([...arrivals, ...sends]);
  };

  const warmUp = async (): Promise<void> => {
    const start = performance.now();
    for (let elapsed = 0; elapsed < budget.warmUpMs;) {
      for (let swaps = 0; swaps < WARM_UP_SWAPS; swaps++) {
        await swap((rank + 1) % size, (rank + size - 1) % size, 8);
        await swapAll(size, 8);
      }
      // All continue until the last rank to start has finished.
      [elapsed = 0] = await smallAllreduce(
        communicator,
        [performance.now() - start],
        ['min'],
      );
    }
  };
  if (size > 1) await warmUp();

  const pairs: LinkTimings['pairs'][number][] = [];
  for (let lower = 0; lower < size; lower++) {
    for (let upper = lower + 1; upper < size; upper++) {
      await meet();
      if (rank === upper) await repeat(budget.pairs, (bytes) => answer(lower, bytes));
      if (rank !== lower) continue;
      const roundTrips = await repeat(budget.pairs, (bytes) =>
        swap(upper, upper, bytes),
      );
      pairs.push({ ranks: [lower, upper], messages: roundTrips.map(halved) });
    }
  }
  const loaded: LinkTimings['loaded'][number][] = [];
  for (const ranks of loads(size)) {
    await meet();
    if (rank >= ranks) continue;
    const next = (rank + 1) % ranks;
    const previous = (rank + ranks - 1) % ranks;
    const messages = await repeat(
      budget.loaded,
      (bytes, step) =>
        step % 2 === 0 ? swap(next, previous, bytes) : swap(previous, next, bytes),
      () => meetNeighbours(ranks),
    );
    const bursts = await repeat(
      ranks > 2 ? budget.bursts : [],
      (bytes) => swapAll(ranks, bytes),
      () => meetNeighbours(ranks),
    );
    loaded.push({ ranks, messages, bursts });
  }
  await meet();
  return { pairs, loaded };
}

/** 2, 4, 8, … below the world's size, and the size itself. */
function loads(size: number): readonly number[] {
  const ranks: number[] = [];
  for (let count = 2; count < size; count *= 2) ranks.push(count);
  return size < 2 ? [] : [...ranks, size];
}

/** The first batch of each size is a warm-up. */
async function repeat(
  sizes: readonly Size[],
  exchange: (bytes: number, step: number) => Promise<void>,
  before?: () => Promise<void>,
): Promise<TimedMessages[]> {
  const messages: TimedMessages[] = [];
  for (const { bytes, repetitions, batch } of sizes) {
    const seconds: number[] = [];
    for (let repetition = 0; repetition <= repetitions; repetition++) {
      await before?.();
      const start = performance.now();
      for (let step = 0; step < batch; step++) await exchange(bytes, step);
      if (repetition > 0) seconds.push((performance.now() - start) / 1000 / batch);
    }
    messages.push({ bytes, seconds });
  }
  return messages;
}

/** One-way time from a round trip. */
const halved = ({ bytes, seconds }: TimedMessages): TimedMessages => ({
  bytes,
  seconds: seconds.map((time) => time / 2),
});
