/**
 * The memory of asynchronous training beside that of other runs: the weights that a rank pulls, and
 * those that it serves (docs/decisions/052-asynchronous-servers.md).
 */
import { assignRanks, placesOf } from '../../shared/machines/rank-assignment.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import { partRange } from '../collectives/partition.ts';
import { serverRanks } from '../collectives/server-ranks.ts';
import type { MemoryPart } from './memory-estimate.ts';

const F32 = 4;
const F64 = 8;

/** The part of asynchronous training that a rank has. */
export interface AsynchronousMemory {
  /** P: ranks that push and pull. */
  readonly workers: number;
  /** Threads of a rank that compute gradients. */
  readonly trainerThreads: number;
  /** S; and the index of this rank's part of the weights, where it is a server. */
  readonly servers: number;
  readonly served: number | undefined;
  /** Velocities at a server: of each rank, and of weight decay. */
  readonly velocities: number;
}

/** Memory of a rank in asynchronous training; undefined if ranks wait for each other. */
export function asynchronousMemory(
  spec: ExperimentSpec,
  rank: number,
  ranks: number,
): AsynchronousMemory | undefined {
  const settings = asynchronousOf(spec);
  if (settings === undefined) return undefined;
  const servers = Math.min(ranks, settings.servers);
  const places = placesOf(assignRanks(ranks, nodesOf(spec)));
  const index = serverRanks(places, servers).indexOf(rank);
  const { momentum, weightDecay = 0 } = spec.optimizer;
  return {
    workers: ranks,
    trainerThreads: settings.trainerThreads,
    servers,
    served: index < 0 ? undefined : index,
    velocities: momentum === 0 ? 0 : ranks + (weightDecay === 0 ? 0 : 1),
  };
}

/** Bytes of the velocities at this rank's server. */
export const velocityBytes = (
  { served, servers, velocities }: AsynchronousMemory,
  length: number,
): number =>
  served === undefined
    ? 0
    : F32 * velocities * partRange(length, servers, served).length;

/**
 * @param length elements of the gradient
 * @param replica bytes of the weights and the optimiser's state of one trainer
 */
export function asynchronousParts(
  memory: AsynchronousMemory,
  length: number,
  replica: number,
): readonly MemoryPart[] {
  const { served, servers, trainerThreads, workers } = memory;
  // One thread computes where the rank does; each of several has a gradient of its own.
  const others = trainerThreads === 1 ? 0 : trainerThreads;
  const vectors = trainerThreads + others;
  const own = served === undefined ? 0 : partRange(length, servers, served).length;
  return [
    { name: 'pulled', bytes: F32 * vectors * length, isInArena: true },
    { name: 'threads', bytes: others * replica, isInArena: false },
    {
      name: 'server',
      // The weights, and the copy for each other rank that is on its way.
      bytes: (F64 + F32 * (workers - 1)) * own + velocityBytes(memory, length),
      isInArena: false,
    },
  ];
}
