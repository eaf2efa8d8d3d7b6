/**
 * One shape of vectors, every algorithm on it, ours and theirs, in turns: the machine is
 * noisy, and what is compared must have met the same noise. What `auto` would choose is
 * one of them.
 */
import type { ExchangeShape } from '../../src/agent/collectives/collective.ts';
import {
  chooseCollective,
  collectivesFor,
  findCollective,
} from '../../src/agent/collectives/registry.ts';
import { expectedSeconds } from '../../src/agent/collectives/timed-factor.ts';
import type { NetworkCost } from '../../src/shared/cost-model/network-cost.ts';
import { median } from '../quantiles.ts';
import type { PeerTask, PeerWorld } from './peer-world.ts';
import type { MeasuredExchange } from './rank-protocol.ts';
import type { BenchWorld } from './bench-world.ts';

export interface VectorShape {
  /** N, elements. */
  readonly length: number;
  /** k, entries a rank; undefined: dense vectors alone. */
  readonly count?: number | undefined;
}

export interface Schedule {
  readonly rounds: number;
  /** Repetitions of each algorithm in each round. */
  readonly repetitions: number;
  /** Exchanges in a row within a repetition. */
  readonly batch: number;
  /** The same of dense vectors beside sparse ones, which take long and vary less. */
  readonly denseRepetitions?: number | undefined;
  /** Sets of random indices, taken in turns by round. */
  readonly dataSets: number;
  /** Exchanges that do not count before the first that do; default: enough for short ones. */
  readonly firstWarmUps?: number | undefined;
}

export interface Stage {
  readonly world: BenchWorld;
  readonly peers: readonly PeerWorld[];
  /** Costs from which predictions are computed from. */
  readonly network: NetworkCost;
}

interface Contestant {
  readonly collective: string;
  readonly payload: 'dense' | 'sparse';
  /** Milliseconds, the slowest rank's, of all repetitions. */
  readonly times: readonly number[];
  readonly exchange: MeasuredExchange;
  readonly predictedMs: number;
  readonly predictedBytes: number;
  /** Whether `auto` takes it for payloads of this kind. */
  readonly auto: boolean;
}

interface PeerTimes {
  readonly peer: PeerWorld;
  readonly task: PeerTask;
  readonly times: readonly number[];
}

export interface Outcome {
  readonly shape: VectorShape;
  readonly contestants: readonly Contestant[];
  readonly peers: readonly PeerTimes[];
}

/** The algorithms of this shape: of sparse vectors, with the dense one that `auto` takes. */
export function entrants(
  { length, count }: VectorShape,
  { world, network }: Stage,
): readonly string[] {
  if (count === undefined) {
    return collectivesFor('dense')
      .filter(({ forNodes }) => forNodes !== true)
      .map(({ id }) => id);
  }
  const dense = chooseCollective('dense', costShape({ length }, world.size), network);
  const sparse = collectivesFor('sparse').filter(({ forNodes }) => forNodes !== true);
  return [...sparse.map(({ id }) => id), dense.id];
}

/**
 * A turn begins with ranks that slept, ours and the peers': until the scheduler has spread them over
 * the cores, and caches and sockets are warm, it takes some exchanges, or some time.
 */
const FIRST_WARM_UPS = 6;
const WARM_UP_MS = 20;

/**
 * V8 compiles an algorithm's code in the first second of its use, beside ranks that share the cores; until
 * then a short exchange takes up to twice as long. Training goes on for hours.
 */
const COMPILED_MS = 1000;
/** The longest time of a short exchange. Longer ones are kernels and copies, compiled by then. */
const LONG_MS = 2;

/** @param seen times of an exchange so far, ms */
const warmUps = (
  seen: readonly number[],
  { batch, firstWarmUps = FIRST_WARM_UPS }: Schedule,
): number =>
  seen.length === 0 ? firstWarmUps : Math.ceil(WARM_UP_MS / (batch * median(seen)));

/** @throws GradwireError of a rank or a peer, `RESULT_WRONG` */
export async function contest(
  stage: Stage,
  shape: VectorShape,
  schedule: Schedule,
  collectives = entrants(shape, stage),
): Promise<Outcome> {
  const { world, peers } = stage;
  const { rounds, repetitions, batch, dataSets } = schedule;
  const denseRepetitions = schedule.denseRepetitions ?? repetitions;
  const times = new Map(collectives.map((id) => [id, [] as number[]]));
  const exchanges = new Map<string, MeasuredExchange>();
  const peerTimes = peers.flatMap((peer) =>
    peer.peer.tasks(shape).map((task) => ({ peer, task, times: [] as number[] })),
  );
  for (let round = 0; round < rounds; round++) {
    const checked = round === 0;
    for (const collective of collectives) {
      const sparse = kindOf(collective, shape) === 'sparse';
      const seen = times.get(collective)!;
      const cell = {
        collective,
        length: shape.length,
        dataSet: round % dataSets,
        batch,
        count: sparse ? shape.count : undefined,
        repetitions: sparse ? repetitions : denseRepetitions,
      };
      const warmUp = warmUps(seen, schedule);
      let result = await world.measure({ ...cell, checked, warmUp });
      const { exchange } = result;
      const ms = median(result.times);
      if (checked && rounds > 1 && ms < LONG_MS) {
        const compiling = Math.ceil(COMPILED_MS / (batch * ms));
        result = await world.measure({ ...cell, checked: false, warmUp: compiling });
      }
      seen.push(...result.times);
      if (exchange !== undefined) exchanges.set(collective, exchange);
    }
    for (const { peer, task, times } of peerTimes) {
      const warmUp = warmUps(times, schedule);
      const counted = task.collective === undefined ? denseRepetitions : repetitions;
      const cell = {
        shape,
        batch,
        dataSet: round % dataSets,
        repetitions: warmUp + counted,
      };
      times.push(...(await peer.measure(task, cell)).slice(warmUp));
    }
  }
  return {
    shape,
    contestants: collectives.map((id) =>
      contestant(stage, shape, id, times.get(id)!, exchanges.get(id)!),
    ),
    peers: peerTimes,
  };
}

function contestant(
  { world, network }: Stage,
  shape: VectorShape,
  id: string,
  times: readonly number[],
  exchange: MeasuredExchange,
): Contestant {
  const payload = kindOf(id, shape);
  const cost = {
    ...costShape(payload === 'dense' ? { length: shape.length } : shape, world.size),
    places: world.places,
  };
  const collective = findCollective(id);
  return {
    collective: id,
    payload,
    times,
    exchange,
    predictedMs: 1e3 * expectedSeconds(collective, cost, network),
    predictedBytes: collective.wireBytes(cost),
    auto: chooseCollective(payload, cost, network).id === id,
  };
}

/** Seconds that an exchange of this shape is predicted to take. */
export function predictedSeconds(
  { world, network }: Pick<Stage, 'world' | 'network'>,
  shape: VectorShape,
  id: string,
): number {
  const cost = { ...costShape(shape, world.size), places: world.places };
  return expectedSeconds(findCollective(id), cost, network);
}

/** The kind of vectors for a collective: if it takes either, that of the shape. */
const kindOf = (id: string, { count }: VectorShape): 'dense' | 'sparse' =>
  count !== undefined && findCollective(id).takes.includes('sparse')
    ? 'sparse'
    : 'dense';

function costShape({ length, count }: VectorShape, ranks: number): ExchangeShape {
  if (count === undefined) return { ranks, length, payloadBytes: 4 * length };
  return { ranks, length, payloadBytes: 8 * count, nnz: count };
}
