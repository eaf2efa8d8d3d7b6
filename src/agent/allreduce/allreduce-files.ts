/**
 * An allreduce of one file per rank by real processes on this machine: what
 * `gradwire allreduce` does. Each rank reads its file, all reduce, each writes its result;
 * nothing is written before all have reduced. A rank that fails or dies ends all.
 */
import { randomBytes } from 'node:crypto';
import { LOOPBACK } from '../../shared/cost-model/network-cost.ts';
import { inputError } from '../../shared/errors.ts';
import type { CollectiveDefinition } from '../collectives/collective.ts';
import { chooseCollective, findCollective } from '../collectives/registry.ts';
import type { ReduceOperation } from '../kernels/reduction.ts';
import type { Loaded, Reduced, Written } from './rank-protocol.ts';
import { RankWorld } from './rank-world.ts';
import { vectorLength } from './vector-file.ts';

export interface AllreduceTask {
  readonly ranks: number;
  /** A collective's id, or `auto`. */
  readonly algorithm: string;
  readonly operation: ReduceOperation;
  /** Raw little-endian float32, by rank, all of one length; exact zeros are absent. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** As `--json` prints it. */
export interface AllreduceReport {
  readonly algorithm: string;
  readonly op: ReduceOperation;
  readonly ranks: number;
  readonly n: number;
  /** The slowest rank's, of the collective alone. */
  readonly ms: number;
  /** Bytes on the wire by rank, framing included, handshakes not. */
  readonly wireSent: readonly number[];
  readonly wireReceived: readonly number[];
  /** Whether entries went in as a sparse stream and came out as a dense vector. */
  readonly switchedToDense: boolean;
  /** Elements of the result other than 0. */
  readonly nnzReduced: number;
}

/**
 * @throws GradwireError `COLLECTIVE_UNKNOWN`, `FILE_UNREADABLE`, `VECTOR_SIZE_INVALID`,
 * `VECTOR_LENGTHS_DIFFER`, `OUTPUT_NOT_WRITABLE`, `WORKER_DIED`, the transport's errors
 */
export async function allreduceFiles(task: AllreduceTask): Promise<AllreduceReport> {
  const { ranks, algorithm, operation, inputs, outputs } = task;
  if (algorithm !== 'auto') findCollective(algorithm);
  const n = await commonLength(inputs);
  await using world = new RankWorld(ranks);
  const loaded = await world.all<Loaded>((rank) => ({
    type: 'load',
    rank,
    file: inputs[rank]!,
  }));
  requireSame(
    inputs,
    loaded.map(({ length }) => length),
  );
  const nnz = Math.max(...loaded.map((report) => report.nnz));
  const collective =
    algorithm === 'auto' ? cheapest(ranks, n, nnz) : findCollective(algorithm);
  const addresses = loaded.map(({ address }) => address);
  const secret = randomBytes(32);
  const reduced = await world.all<Reduced>(() => ({
    type: 'reduce',
    addresses,
    run: 'allreduce',
    secret,
    collective: collective.id,
    operation,
  }));
  await world.all<Written>((rank) => ({ type: 'write', file: outputs[rank]! }));
  const sparse = collective.takes.includes('sparse');
  return {
    algorithm: collective.id,
    op: operation,
    ranks,
    n,
    ms: Math.max(...reduced.map(({ milliseconds }) => milliseconds)),
    wireSent: reduced.map(({ wireSent }) => wireSent),
    wireReceived: reduced.map(({ wireReceived }) => wireReceived),
    switchedToDense: sparse && reduced.some(({ form }) => form === 'dense'),
    nnzReduced: reduced[0]!.nnz,
  };
}

/** What `auto` means where the vector may go as it is or as a stream. */
function cheapest(ranks: number, length: number, nnz: number): CollectiveDefinition {
  const dense = { ranks, length, payloadBytes: 4 * length };
  const sparse = { ranks, length, payloadBytes: 8 * nnz, nnz };
  const best = chooseCollective('dense', dense);
  const bestSparse = chooseCollective('sparse', sparse);
  return bestSparse.cost(sparse, LOOPBACK) < best.cost(dense, LOOPBACK)
    ? bestSparse
    : best;
}

async function commonLength(files: readonly string[]): Promise<number> {
  const lengths = [];
  for (const file of files) lengths.push(await vectorLength(file));
  return requireSame(files, lengths);
}

function requireSame(files: readonly string[], lengths: readonly number[]): number {
  const [first = 0] = lengths;
  const rank = lengths.findIndex((length) => length !== first);
  if (rank < 0) return first;
  throw inputError(
    'VECTOR_LENGTHS_DIFFER',
    `rank ${rank} has ${lengths[rank]} elements, rank 0 has ${first}`,
    { place: files[rank], rank, next: 'Give every rank a vector of the same length.' },
  );
}
