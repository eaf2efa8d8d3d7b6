/**
 * `gradwire allreduce`: an allreduce of one file per rank by real processes on this
 * machine. Each rank reads its file, all reduce, each writes its result; nothing is
 * written before all have reduced. If a rank fails or dies, all end.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { bestDelta } from '../collectives/best-delta.ts';
import { emulatedCost } from '../../shared/cost-model/emulated-cost.ts';
import { LOOPBACK, type NetworkCost } from '../../shared/cost-model/network-cost.ts';
import {
  emulatedNetworkSchema,
  type EmulatedNetwork,
} from '../../shared/machines/emulated-network.ts';
import { inputError } from '../../shared/errors/errors.ts';
import type { DeltaSetting } from '../../shared/plan/delta-setting.ts';
import type { PayloadKind } from '../../shared/catalogue/catalogue.ts';
import { MOST_RANKS } from '../../shared/protocol/requests.ts';
import {
  quantizationSchema,
  type Quantization,
} from '../../shared/plan/quantization.ts';
import { assertDelta } from '../collectives/delta.ts';
import type { CollectiveDefinition, ExchangeShape } from '../collectives/collective.ts';
import { assertPlaces } from '../collectives/ranks-by-node.ts';
import { placedSeconds } from '../collectives/node-links.ts';
import {
  assertQuantizes,
  assertReduces,
  assertServes,
  assertStreams,
  chooseCollective,
  findCollective,
  quantizingFor,
} from '../collectives/registry.ts';
import { DEFAULT_SERVERS } from '../collectives/server-ranks.ts';
import { sparseBytes } from '../memory/entries.ts';
import { REDUCE_OPERATIONS, type ReduceOperation } from '../kernels/reduction.ts';
import { VALUE_TYPES, valueBytesOf, type ValueType } from '../memory/value-type.ts';
import { TRANSPORT_KINDS, type TransportKind } from '../transport/transport-choice.ts';
import { bundledFile } from '../bundle/bundled-file.ts';
import { RankWorld } from '../world/rank-world.ts';
import type { NotFinite } from './not-finite.ts';
import { fromRankSchema, type FromRank, type ToRank } from './rank-protocol.ts';
import { vectorLength } from './vector-file.ts';

const RANK = { bundle: 'allreduce-rank.js', source: 'rank-main.ts' };
/** Time for a process to start, or to read or write its file. */
const FILE_LIMIT_MS = 600_000;

export interface AllreduceTask {
  readonly ranks: number;
  /** A collective's id, or `auto`. */
  readonly algorithm: string;
  readonly operation: ReduceOperation;
  /** Type of all values; default: f32. */
  readonly values?: ValueType | undefined;
  /** The transport; default: `auto`. */
  readonly transport?: TransportKind | 'auto' | undefined;
  /** Whether the messages are encrypted; default: they are not. */
  readonly encrypt?: boolean | undefined;
  /** The network to emulate between the ranks; default: plain loopback. */
  readonly network?: EmulatedNetwork | undefined;
  /** A number for the assumed node of each rank; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** Quantisation of f32 sums; default: exact values. */
  readonly quantization?: Quantization | undefined;
  /** Number of servers, for algorithms that have servers; default: 1. */
  readonly servers?: number | undefined;
  /**
   * δ/N at which sparse streams turn dense, or `auto`: the cheapest on this network; default:
   * where both forms take as many bytes.
   */
  readonly delta?: DeltaSetting | undefined;
  /** Seed of random rounding; default: 1. */
  readonly seed?: number | undefined;
  /** Raw little-endian values, by rank, all of one length; exact zeros are absent. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const files = z.array(z.string().min(1)).readonly();

const taskSchema = z
  .strictObject({
    ranks: z.int().min(1).max(MOST_RANKS),
    algorithm: z.string(),
    operation: z.enum(REDUCE_OPERATIONS),
    values: z.enum(VALUE_TYPES).optional(),
    transport: z.enum([...TRANSPORT_KINDS, 'auto']).optional(),
    encrypt: z.boolean().optional(),
    network: emulatedNetworkSchema.optional(),
    /** Places and servers, which are checked against the ranks and the algorithm. */
    places: z.array(z.unknown()).readonly().optional(),
    servers: z.number().optional(),
    /** δ/N, whose range depends on the type of the values. */
    delta: z.union([z.literal('auto'), z.number()]).optional(),
    quantization: quantizationSchema.optional(),
    seed: z.int().min(0).max(0xffffffff).optional(),
    inputs: files,
    outputs: files,
  } satisfies Record<keyof AllreduceTask, z.ZodType>)
  .refine(({ ranks, inputs }) => inputs.length === ranks, {
    path: ['inputs'],
    message: 'it must have one file for each rank',
  })
  .refine(({ ranks, outputs }) => outputs.length === ranks, {
    path: ['outputs'],
    message: 'it must have one file for each rank',
  });

/** An input with elements that are NaN or infinite, which are in the result. */
interface NotFiniteInputFile extends NotFinite {
  readonly file: string;
}

/** The result that `--json` prints. */
export interface AllreduceReport {
  readonly algorithm: string;
  readonly op: ReduceOperation;
  readonly dtype: ValueType;
  /** Quantization of the messages; absent if nothing was quantised. */
  readonly quantize?: Quantization | undefined;
  /** Number of servers, for an algorithm that has them. */
  readonly servers?: number | undefined;
  /** δ/N at which streams turned dense, where one was asked for and streams were sent. */
  readonly delta?: number | undefined;
  readonly ranks: number;
  readonly n: number;
  /** The transport that carried the messages, also for `auto`. */
  readonly transport: TransportKind;
  readonly encrypted: boolean;
  /** The emulated network; absent for plain loopback. */
  readonly emulated?: EmulatedNetwork | undefined;
  /** Time of the collective alone, on the slowest rank. */
  readonly ms: number;
  /** Bytes on the wire by rank, with framing but without handshakes. */
  readonly wireSent: readonly number[];
  readonly wireReceived: readonly number[];
  /** Whether entries went in as a sparse stream and came out as a dense vector. */
  readonly switchedToDense: boolean;
  /** Non-zero elements of the result. */
  readonly nnzReduced: number;
  /** Inputs that are not finite; absent if all are. */
  readonly notFinite?: readonly NotFiniteInputFile[] | undefined;
}

/**
 * @throws GradwireError `OPTION_INVALID`, `PLACES_INVALID`, `COLLECTIVE_UNKNOWN`, `COLLECTIVE_MISFIT`, `QUANTIZE_MISFIT`, `SERVERS_MISFIT`,
 * `SERVERS_INVALID`, `DELTA_MISFIT`, `DELTA_INVALID`, `FILE_UNREADABLE`, `VECTOR_SIZE_INVALID`, `VECTOR_LENGTHS_DIFFER`, `VECTOR_NOT_FINITE`, `OUTPUT_NOT_WRITABLE`, `WORKER_DIED`, `WORKER_SILENT`, the transport's errors
 */
export async function allreduceFiles(task: AllreduceTask): Promise<AllreduceReport> {
  const { quantization } = checkedOptions(taskSchema, task, 'allreduceFiles');
  const { ranks, algorithm, operation, inputs, outputs } = task;
  const { values = 'f32', seed = 1, transport = 'auto' } = task;
  if (algorithm !== 'auto') {
    assertReduces(findCollective(algorithm), operation, task.values ?? 'f32');
  }
  if (task.places !== undefined) assertPlaces(task.places, ranks);
  if (quantization !== undefined) requireQuantizable(task);
  if (task.servers !== undefined) assertServes(algorithm, task.servers, ranks);
  if (task.delta !== undefined) {
    assertStreams(algorithm, task.delta);
    if (task.delta !== 'auto') assertDelta(task.delta, values);
  }
  const n = await commonLength(inputs, values);
  const delta = deltaOf(task, n);
  await using world = new RankWorld<ToRank, FromRank>({
    size: ranks,
    reports: fromRankSchema,
    commandOf: () => ({ entry: bundledFile(RANK, import.meta.dirname) }),
  });
  const loaded = await world.all(
    'loaded',
    (rank) => ({ type: 'load', rank, file: inputs[rank]!, values }),
    FILE_LIMIT_MS,
  );
  requireSame(
    inputs,
    loaded.map(({ length }) => length),
  );
  const notFinite = loaded.flatMap((report, rank) =>
    report.notFinite === undefined
      ? []
      : [{ file: inputs[rank]!, ...report.notFinite }],
  );
  const nnz = Math.max(...loaded.map((report) => report.nnz));
  const collective =
    algorithm === 'auto'
      ? cheapest({ ...task, delta }, n, nnz)
      : findCollective(algorithm);
  const kind = kindFor(collective, n, nnz, values);
  const servers =
    collective.hasServers === true ? (task.servers ?? DEFAULT_SERVERS) : undefined;
  const addresses = loaded.map(({ address }) => address);
  const secret = randomBytes(32);
  const encrypt = task.encrypt ?? false;
  const reduced = await world.all('reduced', () => ({
    type: 'reduce',
    addresses,
    run: 'allreduce',
    secret,
    collective: collective.id,
    kind,
    operation,
    transport,
    encrypt,
    network: task.network,
    places: task.places,
    quantization,
    servers,
    delta,
    seed,
  }));
  await world.all(
    'written',
    (rank) => ({ type: 'write', file: outputs[rank]! }),
    FILE_LIMIT_MS,
  );
  return {
    algorithm: collective.id,
    op: operation,
    dtype: values,
    ...(quantization === undefined ? {} : { quantize: quantization }),
    ...(servers === undefined ? {} : { servers }),
    ...(delta === undefined || kind === 'dense' ? {} : { delta }),
    ranks,
    n,
    transport: reduced[0]!.transport,
    encrypted: encrypt,
    ...(task.network === undefined ? {} : { emulated: task.network }),
    ms: Math.max(...reduced.map(({ milliseconds }) => milliseconds)),
    wireSent: reduced.map(({ wireSent }) => wireSent),
    wireReceived: reduced.map(({ wireReceived }) => wireReceived),
    switchedToDense: kind === 'sparse' && reduced.some(({ form }) => form === 'dense'),
    nnzReduced: reduced[0]!.nnz,
    ...(notFinite.length === 0 ? {} : { notFinite }),
  };
}

/**
 * An algorithm that takes either form gets the one that is shorter for the rank with
 * the most entries.
 */
function kindFor(
  { takes }: CollectiveDefinition,
  length: number,
  nnz: number,
  values: ValueType,
): 'dense' | 'sparse' {
  if (!takes.includes('dense')) return 'sparse';
  const valueBytes = valueBytesOf(values);
  const shorter = sparseBytes(nnz, valueBytes) < valueBytes * length;
  return takes.includes('sparse') && shorter ? 'sparse' : 'dense';
}

/** δ/N by number: that of `auto` is the cheapest on the task's network. */
function deltaOf(
  { delta, network, places, values = 'f32' }: AllreduceTask,
  length: number,
): number | undefined {
  if (delta !== 'auto') return delta;
  const spread = new Set(places).size > 1;
  return bestDelta(costOn(network), length, valueBytesOf(values), spread);
}

const costOn = (network: EmulatedNetwork | undefined): NetworkCost =>
  network === undefined ? LOOPBACK : emulatedCost(network);

/** The choice of `auto` if the vector may be sent dense or as a stream. */
function cheapest(
  task: AllreduceTask & { readonly delta: number | undefined },
  length: number,
  nnz: number,
): CollectiveDefinition {
  const { delta, ranks, places, values = 'f32', quantization, network } = task;
  const cost = costOn(network);
  const valueBytes = valueBytesOf(values);
  const shape = { ranks, places, length, valueBytes, quantization, delta };
  const dense = { ...shape, payloadBytes: valueBytes * length };
  const sparse = { ...shape, payloadBytes: sparseBytes(nnz, valueBytes), nnz };
  const choose = (kind: PayloadKind, of: ExchangeShape): CollectiveDefinition =>
    quantization === undefined ? chooseCollective(kind, of, cost) : quantizingFor(kind);
  const best = choose('dense', dense);
  const bestSparse = choose('sparse', sparse);
  const seconds = placedSeconds(best, dense, cost);
  return placedSeconds(bestSparse, sparse, cost) < seconds ? bestSparse : best;
}

/** Refuses quantization of sums that are not f32, and by collectives that do not support it. */
function requireQuantizable(task: AllreduceTask): void {
  const { algorithm, operation, values = 'f32' } = task;
  if (algorithm !== 'auto') assertQuantizes(findCollective(algorithm));
  if (operation === 'sum' && values === 'f32') return;
  throw inputError(
    'QUANTIZE_MISFIT',
    `a ${operation} of ${values} values cannot be quantised`,
    { next: 'Quantise sums of f32 values only.' },
  );
}

async function commonLength(
  files: readonly string[],
  values: ValueType,
): Promise<number> {
  const lengths = [];
  for (const file of files) {
    lengths.push(await vectorLength(file, valueBytesOf(values)));
  }
  return requireSame(files, lengths);
}

function requireSame(files: readonly string[], lengths: readonly number[]): number {
  const [first = 0] = lengths;
  const rank = lengths.findIndex((length) => length !== first);
  if (rank < 0) return first;
  throw inputError(
    'VECTOR_LENGTHS_DIFFER',
    `rank ${rank} has ${lengths[rank]} elements, but rank 0 has ${first}`,
    { place: files[rank], rank, next: 'Give every rank a vector of the same length.' },
  );
}
