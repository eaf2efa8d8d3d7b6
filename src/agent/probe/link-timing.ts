/**
 * Timed messages between ranks, over the path that the collectives take: first each pair
 * alone, ping-pong, half a round trip a message; then the first 2, 4, … P ranks all at
 * once, each sending to one neighbour and receiving from the other, around and back, so
 * that nobody gets ahead, and from a common start: what a collective meets where ranks
 * share a machine or a switch, and nobody starts at quite the same time.
 *
 * Every rank runs the same schedule; between two parts of it all meet, so that who is not
 * concerned is silent. About a second for four ranks on loopback.
 */
import type { Communicator } from '../collectives/collective.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import type { TimedMessages } from '../../shared/cost-model/link-fit.ts';

interface Size {
  readonly bytes: number;
  readonly repetitions: number;
}

/** From one cache line to what fills a pipe. */
const PAIR_SIZES: readonly Size[] = [
  { bytes: 8, repetitions: 24 },
  { bytes: 4096, repetitions: 24 },
  { bytes: 65_536, repetitions: 16 },
  { bytes: 2 ** 19, repetitions: 7 },
  { bytes: 2 ** 21, repetitions: 5 },
];
/** Up to what no cache holds: the largest messages of a collective. */
const LOADED_SIZES: readonly Size[] = [
  ...PAIR_SIZES,
  { bytes: 2 ** 23, repetitions: 3 },
];
/** Messages that one timing is the mean of, there and back in turns. */
const BATCH = 4;
const LARGEST = LOADED_SIZES.at(-1)!.bytes;

/** What one rank has timed: pairs in which it is the lower, loads in which it took part. */
export interface LinkTimings {
  readonly pairs: readonly {
    readonly ranks: readonly [number, number];
    readonly messages: readonly TimedMessages[];
  }[];
  readonly loaded: readonly {
    readonly ranks: number;
    readonly messages: readonly TimedMessages[];
  }[];
}

/** An exchange has begun on the communicator; it is used for nothing else meanwhile. */
export async function timeLinks(communicator: Communicator): Promise<LinkTimings> {
  const { rank, size } = communicator;
  const out = communicator.scratch('probe out', LARGEST);
  const into = communicator.scratch('probe in', LARGEST);
  const meet = (): Promise<unknown> =>
    smallAllreduce(communicator, Float64Array.of(1), ['max']);

  /** A message there and one back, from where this rank stands. */
  const swap = async (to: number, from: number, bytes: number): Promise<void> => {
    const arrival = communicator.receive(from, { ...into, bytes });
    await communicator.send(to, { ...out, bytes });
    await arrival;
  };
  const answer = async (peer: number, bytes: number): Promise<void> => {
    await communicator.receive(peer, { ...into, bytes });
    await communicator.send(peer, { ...out, bytes });
  };

  /** A barrier of the first so many ranks, by dissemination. */
  const meetNeighbours = async (ranks: number): Promise<void> => {
    for (let distance = 1; distance < ranks; distance *= 2) {
      await swap((rank + distance) % ranks, (rank + ranks - distance) % ranks, 8);
    }
  };

  const pairs: LinkTimings['pairs'][number][] = [];
  for (let lower = 0; lower < size; lower++) {
    for (let upper = lower + 1; upper < size; upper++) {
      await meet();
      if (rank === upper) await repeat(PAIR_SIZES, (bytes) => answer(lower, bytes));
      if (rank !== lower) continue;
      const roundTrips = await repeat(PAIR_SIZES, (bytes) => swap(upper, upper, bytes));
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
      LOADED_SIZES,
      (bytes, step) =>
        step % 2 === 0 ? swap(next, previous, bytes) : swap(previous, next, bytes),
      () => meetNeighbours(ranks),
    );
    loaded.push({ ranks, messages });
  }
  await meet();
  return { pairs, loaded };
}

/** 2, 4, 8, … below the world's size, and that. */
export function loads(size: number): readonly number[] {
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
  for (const { bytes, repetitions } of sizes) {
    const seconds: number[] = [];
    for (let repetition = 0; repetition <= repetitions; repetition++) {
      await before?.();
      const start = performance.now();
      for (let step = 0; step < BATCH; step++) await exchange(bytes, step);
      if (repetition > 0) seconds.push((performance.now() - start) / 1000 / BATCH);
    }
    messages.push({ bytes, seconds });
  }
  return messages;
}

/** One way, of there and back. */
const halved = ({ bytes, seconds }: TimedMessages): TimedMessages => ({
  bytes,
  seconds: seconds.map((time) => time / 2),
});
