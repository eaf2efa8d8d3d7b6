/**
 * Timed messages between ranks, over the path that the collectives take: first each pair
 * alone, ping-pong, half a round trip a message; then the first 2, 4, … P ranks all at
 * once, each sending to one neighbour and receiving from the other, around and back, so
 * that nobody gets ahead: what a collective meets where ranks share a machine or a switch.
 *
 * Every rank runs the same schedule; between two parts of it all meet, so that who is not
 * concerned is silent. About a second for four ranks on loopback.
 */
import type { Communicator } from '../collectives/collective.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import type { TimedMessages } from '../../shared/cost-model/link-fit.ts';

/** Sizes in bytes, and how often each: from one cache line to what fills a pipe. */
const SCHEDULE = [
  { bytes: 8, repetitions: 24 },
  { bytes: 4096, repetitions: 24 },
  { bytes: 65_536, repetitions: 16 },
  { bytes: 2 ** 19, repetitions: 7 },
  { bytes: 2 ** 21, repetitions: 5 },
] as const;
/** Messages that one timing is the mean of, there and back in turns. */
const BATCH = 4;
const LARGEST = SCHEDULE.at(-1)!.bytes;

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

  const pairs: LinkTimings['pairs'][number][] = [];
  for (let lower = 0; lower < size; lower++) {
    for (let upper = lower + 1; upper < size; upper++) {
      await meet();
      if (rank === upper) await repeat((bytes) => answer(lower, bytes));
      if (rank !== lower) continue;
      const roundTrips = await repeat((bytes) => swap(upper, upper, bytes));
      pairs.push({ ranks: [lower, upper], messages: roundTrips.map(halved) });
    }
  }
  const loaded: LinkTimings['loaded'][number][] = [];
  for (const ranks of loads(size)) {
    await meet();
    if (rank >= ranks) continue;
    const next = (rank + 1) % ranks;
    const previous = (rank + ranks - 1) % ranks;
    const messages = await repeat((bytes, step) =>
      step % 2 === 0 ? swap(next, previous, bytes) : swap(previous, next, bytes),
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
  exchange: (bytes: number, step: number) => Promise<void>,
): Promise<TimedMessages[]> {
  const messages: TimedMessages[] = [];
  for (const { bytes, repetitions } of SCHEDULE) {
    const seconds: number[] = [];
    for (let repetition = 0; repetition <= repetitions; repetition++) {
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
