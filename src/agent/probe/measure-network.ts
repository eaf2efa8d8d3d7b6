/**
 * Measures a network: one process per rank, all pairs, all ranks at once, and the
 * kernels. The result is a network profile. The processes run on this machine; on
 * others the same `ProbeRank` can run, and `profileOf` takes its timings.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { fitLink, type TimedMessages } from '../../shared/cost-model/link-fit.ts';
import type { TimedCollective } from '../../shared/cost-model/timed-collective.ts';
import {
  networkCostOf,
  type NetworkProfile,
  type TimedMessage,
} from '../../shared/cost-model/network-profile.ts';
import { MOST_RANKS } from '../../shared/protocol/requests.ts';
import { median, quantile } from '../../shared/numbers/quantile.ts';
import { RankWorld } from '../world/rank-world.ts';
import { bundledFile } from '../bundle/bundled-file.ts';
import { findCollective } from '../collectives/registry.ts';
import { sparseBytes } from '../memory/entries.ts';
import { TRANSPORT_KINDS, type TransportKind } from '../transport/transport-choice.ts';
import { PROBE_EFFORTS, type ProbeEffort } from './collective-timing.ts';
import type { KernelTimings } from './kernel-timing.ts';
import type { RankTimings } from './probe-order.ts';
import { fromRankSchema, type FromRank, type ToRank } from './rank-protocol.ts';

const RANK = { bundle: 'probe-rank.js', source: 'rank-main.ts' };
/** Time for a process to start. */
const START_LIMIT_MS = 600_000;

export interface NetworkOptions {
  /** Number of ranks, at least 2. */
  readonly ranks: number;
  /** Transport to measure; default: `auto`. */
  readonly transport?: TransportKind | 'auto' | undefined;
  /** Effort to measure with; default: `full`. */
  readonly effort?: ProbeEffort | undefined;
  /** Ends the processes, and so the measurement. */
  readonly signal?: AbortSignal | undefined;
}

const optionsSchema = z.strictObject({
  ranks: z.int().min(2).max(MOST_RANKS),
  transport: z.enum([...TRANSPORT_KINDS, 'auto']).optional(),
  effort: z.enum(PROBE_EFFORTS).optional(),
  signal: z.instanceof(AbortSignal, { error: 'expected an AbortSignal' }).optional(),
}) satisfies z.ZodType<NetworkOptions>;

/**
 * @throws GradwireError `OPTION_INVALID`, `WORKER_DIED`, `NATIVE_UNAVAILABLE`, the transport's errors, and the
 * signal's reason
 */
export async function measureNetwork(options: NetworkOptions): Promise<NetworkProfile> {
  const checked = checkedOptions(optionsSchema, options, 'measureNetwork');
  const { ranks, transport = 'auto', effort = 'full', signal } = checked;
  await using world = new RankWorld<ToRank, FromRank>({
    size: ranks,
    reports: fromRankSchema,
    commandOf: () => ({ entry: bundledFile(RANK, import.meta.dirname) }),
  });
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => undefined);
  signal?.addEventListener('abort', () => {
    reject(signal.reason);
  });
  signal?.throwIfAborted();
  const listening = await Promise.race([
    world.all('listening', (rank) => ({ type: 'listen', rank }), START_LIMIT_MS),
    aborted,
  ]);
  const addresses = listening.map(({ address }) => address);
  const secret = randomBytes(32);
  const order = { type: 'probe', addresses, run: 'network', secret } as const;
  const probed = await Promise.race([
    world.all('probed', () => ({ ...order, transport, effort })),
    aborted,
  ]);
  const node = hostname();
  return profileOf(
    probed.map(({ timings }) => timings),
    {
      transport: probed[0]!.transport,
      nodes: addresses.map(() => node),
      measuredAt: Date.now(),
      cores: availableParallelism(),
    },
  );
}

/** @param timings of each rank */
export function profileOf(
  timings: readonly RankTimings[],
  about: Pick<NetworkProfile, 'transport' | 'nodes' | 'measuredAt' | 'cores'>,
): NetworkProfile {
  const pairs = timings.flatMap((rank) =>
    rank.pairs.map(({ ranks, messages }) => ({
      ranks: [...ranks] as [number, number],
      ...fitLink(messages),
    })),
  );
  const [first] = timings;
  const loaded = first!.loaded.map(({ ranks }) => {
    const load = timings
      .flatMap((rank) => rank.loaded)
      .filter((other) => other.ranks === ranks);
    const messages = slowest(load.map(({ messages }) => messages));
    const bursts = slowest(load.map(({ bursts }) => bursts));
    return {
      ranks,
      ...fitLink(messages),
      messages: messages.map(middle),
      bursts: bursts.map(middle),
    };
  });
  const names = Object.keys(first!.kernels) as (keyof KernelTimings)[];
  const kernels = Object.fromEntries(
    names.map((name) => [name, median(timings.map((rank) => rank.kernels[name]))!]),
  ) as KernelTimings;
  const profile: NetworkProfile = { version: 1, ...about, pairs, loaded, kernels };
  return { ...profile, collectives: timedCollectives(timings, profile) };
}

/**
 * The lower quartile: in a run, ranks settle on their cores, but in a probe of two seconds
 * they have not, and waiting for each other adds to every time.
 */
const SETTLED = 0.25;

/** The collectives' times, with the predictions of the profile's constants. */
function timedCollectives(
  timings: readonly RankTimings[],
  profile: NetworkProfile,
): TimedCollective[] {
  const ranks = timings.length;
  const network = networkCostOf(profile, ranks);
  return timings[0]!.collectives.map(({ collective, length, nnz }, index) => {
    const repetitions = slowestRank(
      timings.map(({ collectives }) => collectives[index]!.seconds),
    );
    const payloadBytes = nnz === undefined ? 4 * length : sparseBytes(nnz);
    const shape = { ranks, length, payloadBytes, nnz };
    return {
      collective,
      ranks,
      length,
      nnz,
      seconds: quantile(repetitions, SETTLED)!,
      predicted: findCollective(collective).cost(shape, network),
    };
  });
}

/** Times of the slowest rank in each repetition, because a collective ends with its last rank. */
const slowestRank = (ranks: readonly (readonly number[])[]): number[] =>
  ranks[0]!.map((_, repetition) =>
    Math.max(...ranks.map((seconds) => seconds[repetition]!)),
  );

const middle = ({ bytes, seconds }: TimedMessages): TimedMessage => ({
  bytes,
  seconds: median(seconds)!,
});

function slowest(ranks: readonly (readonly TimedMessages[])[]): TimedMessages[] {
  return ranks[0]!.map(({ bytes }, size) => ({
    bytes,
    seconds: slowestRank(ranks.map((messages) => messages[size]!.seconds)),
  }));
}
