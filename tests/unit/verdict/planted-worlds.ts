/** Simulated worlds whose step is bound by what was planted, and the same worlds with the remedy. */
import type { Gain } from '../../../src/shared/verdict/proof.ts';
import type { AccountPart } from '../../../src/shared/verdict/step-account.ts';
import type { Verdict } from '../../../src/shared/verdict/verdict.ts';
import type { SimulatedLink, SimulatedWorld } from './simulated-cluster.ts';

/** Ranks and machines of a world. */
export interface WorldSize {
  readonly ranks: number;
  readonly machines: number;
}

type World = Omit<SimulatedWorld, 'seed' | 'isLinkKnown'>;

export interface PlantedWorld {
  readonly name: string;
  /** The remedy that the verdict must promise something for. */
  readonly remedy: string;
  /** Sizes with which it bounds the step; default: any. */
  readonly onlyWith?: (size: WorldSize) => boolean;
  /** Whether the verdict on it must name it, and does; without it, another cause is as true. */
  readonly isNamed?: (verdict: Verdict, size: WorldSize) => boolean;
  /** Whether the engine says that compression does not pay. */
  readonly doesNotPay?: boolean;
  readonly planted: (size: WorldSize) => Partial<World>;
  readonly remedied: (size: WorldSize) => Partial<World>;
}

type Times = SimulatedWorld['compute'];

/** Uniform within 10 % of a time. */
const about =
  (time: number): Times =>
  (_, draw) =>
    time * (0.9 + 0.2 * draw());

/** The last rank takes another time than all others. */
const lastTakes =
  (time: number, others: number, { ranks }: WorldSize): Times =>
  (rank, draw) =>
    about(rank === ranks - 1 ? time : others)(rank, draw);

/** Seldom long: the longest of 24 is four times the mean. */
const exponential =
  (mean: number): Times =>
  (_, draw) =>
    -mean * Math.log(draw());

const FAST: SimulatedLink = { bandwidth: 100e9, latency: 0.05 };
// 800 kB each way take 128 ms.
const SLOW: SimulatedLink = { bandwidth: 50e6, latency: 0.05 };
const FAR: SimulatedLink = { bandwidth: 1e9, latency: 20 };
const NEAR: SimulatedLink = { bandwidth: 1e9, latency: 1 };

/** All have this link; where there are two machines, between these only. */
const linked = ({ machines }: WorldSize, link: SimulatedLink): Partial<World> =>
  machines === 1 ? { within: link } : { between: link };

/** Ranks divided evenly among machines, each with a core for a number of ranks. */
const placed = (
  { machines, ranks }: WorldSize,
  coresOf: (ranks: number, machine: number) => number,
): Pick<World, 'machines'> => ({
  machines: Array.from({ length: machines }, (_, machine) => ({
    ranks: ranks / machines,
    cores: coresOf(ranks / machines, machine),
  })),
});

/** A core for four ranks. */
const crowded = (size: WorldSize): Pick<World, 'machines'> =>
  placed(size, (ranks) => Math.max(1, Math.floor(ranks / 4)));
const canCrowd = ({ machines, ranks }: WorldSize): boolean => ranks / machines > 1;

/** A world in which nothing is planted: it computes for some 10 ms. */
const plain = (size: WorldSize): World => ({
  ...placed(size, (ranks) => ranks),
  within: FAST,
  between: FAST,
  iterations: size.ranks === 24 ? 40 : 60,
  compute: about(10),
  read: () => 0,
  compress: 0,
  collective: 'ring',
  bytes: 800_000,
});

export const withChanges = (size: WorldSize, changes: Partial<World>): World => ({
  ...plain(size),
  ...changes,
});

/** Whether it bounds the step, perhaps with another as large. */
const bounds =
  (part: AccountPart) =>
  ({ account, bound }: Verdict): boolean =>
    bound === part || account.rival === part;

export const gainOf = (verdict: Verdict, remedy: string): Gain | undefined =>
  verdict.statements.find((statement) => statement.remedy?.id === remedy)?.remedy?.gain;

const A_SLOW_RANK = (size: WorldSize): Partial<World> => ({
  compute: lastTakes(60, 10, size),
});
const SHORT_MESSAGES = (size: WorldSize): Partial<World> => ({
  ...linked(size, NEAR),
  bytes: 8000,
  collective: 'doubling',
});

export const PLANTED_WORLDS: readonly PlantedWorld[] = [
  {
    name: 'a slow rank',
    remedy: 'straggler',
    isNamed: ({ account, bound }, { ranks }) =>
      bound === 'straggler' && account.straggler?.rank === ranks - 1,
    planted: A_SLOW_RANK,
    remedied: () => ({}),
  },
  {
    name: 'too few cores',
    remedy: 'cores',
    onlyWith: canCrowd,
    isNamed: bounds('cores'),
    planted: crowded,
    remedied: () => ({}),
  },
  {
    name: 'too few cores on one of two machines',
    remedy: 'cores',
    onlyWith: ({ machines, ranks }) => machines === 2 && ranks > 2,
    isNamed: bounds('cores'),
    planted: (size) =>
      placed(size, (ranks, machine) => (machine === 0 ? Math.floor(ranks / 4) : ranks)),
    remedied: () => ({}),
  },
  {
    name: 'too few cores, and short messages underway for long',
    remedy: 'cores',
    onlyWith: canCrowd,
    // Two ranks on a core compute as long as they wait for it.
    isNamed: (verdict, { ranks }) => ranks === 2 || bounds('cores')(verdict),
    planted: (size) => ({ ...crowded(size), ...SHORT_MESSAGES(size) }),
    remedied: SHORT_MESSAGES,
  },
  {
    name: 'too few cores, and a rank that computes more',
    remedy: 'cores',
    onlyWith: canCrowd,
    planted: (size) => ({ ...crowded(size), compute: lastTakes(30, 10, size) }),
    remedied: (size) => ({ compute: lastTakes(30, 10, size) }),
  },
  {
    name: 'a slow link',
    remedy: 'payload',
    isNamed: ({ bound }) => bound === 'bandwidth',
    planted: (size) => linked(size, SLOW),
    remedied: (size) => ({ ...linked(size, SLOW), bytes: 800 }),
  },
  {
    name: 'latency of many messages',
    remedy: 'latency',
    isNamed: ({ bound }) => bound === 'latency',
    planted: (size) => ({ ...linked(size, FAR), bytes: 8000 }),
    remedied: (size) => ({
      ...linked(size, FAR),
      bytes: 8000,
      collective: 'doubling',
    }),
  },
  {
    name: 'latency that goes altogether',
    remedy: 'latency',
    isNamed: ({ bound }) => bound === 'latency',
    planted: (size) => ({ ...linked(size, FAR), bytes: 8000 }),
    remedied: () => ({ bytes: 8000 }),
  },
  {
    name: 'a tiny model',
    remedy: 'payload',
    isNamed: (verdict) =>
      verdict.bound !== 'bandwidth' && gainOf(verdict, 'payload')!.factor < 1.02,
    planted: () => ({ bytes: 400, compute: about(1) }),
    remedied: () => ({ bytes: 4, compute: about(1) }),
  },
  {
    name: 'compression that costs more than it saves',
    remedy: 'dense',
    isNamed: ({ statements }) =>
      statements.some(({ text }) => text.includes('do not compress here')),
    doesNotPay: true,
    planted: () => ({ compress: 8, collective: 'all-to-all', bytes: 400_000 }),
    remedied: () => ({}),
  },
  {
    name: 'data that take long',
    remedy: 'data',
    isNamed: bounds('data'),
    planted: () => ({ read: about(20) }),
    remedied: () => ({}),
  },
  {
    name: 'data that take long now and then',
    remedy: 'data',
    planted: () => ({ read: exponential(20) }),
    remedied: () => ({}),
  },
  {
    name: 'data that take long for one rank',
    remedy: 'data',
    isNamed: ({ account }, { ranks }) => account.straggler?.rank === ranks - 1,
    planted: (size) => ({ read: lastTakes(50, 5, size) }),
    remedied: () => ({}),
  },
  {
    name: 'one rank with slower data',
    remedy: 'straggler',
    isNamed: ({ account }, { ranks }) => account.straggler?.rank === ranks - 1,
    planted: (size) => ({ read: lastTakes(50, 5, size) }),
    remedied: () => ({ read: about(5) }),
  },
];
