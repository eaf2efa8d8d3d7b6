/**
 * A group of ranks for other programs, in any number of processes and machines: listen,
 * send the address to the others, join them, run collectives.
 *
 *     const seat = await RankSeat.listen('10.0.0.7');
 *     // … seat.address to all, all addresses back …
 *     await using group = await seat.join({ rank, addresses, secret, runId });
 *     const stream = group.stream(1, { operation: 'sum', values: 'f64' });
 *     await stream.barrier();
 */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { hostSchema, rankAddressSchema } from '../../shared/protocol/rank-address.ts';
import { secretSchema } from '../../shared/protocol/requests.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import { TransportCommunicator } from '../collectives/communicator.ts';
import { assertPlaces } from '../collectives/ranks-by-node.ts';
import { Arena } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { REDUCE_OPERATIONS, type ReduceOperation } from '../kernels/reduction.ts';
import { VALUE_TYPES, type ValueType } from '../memory/value-type.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { connectMesh } from '../transport/mesh.ts';
import { MeshSeat } from '../transport/mesh-seat.ts';
import type { Transport } from '../transport/transport.ts';
import { GroupStream } from './group-stream.ts';

const TIMEOUT_MS = 30_000;

export interface JoinOptions {
  readonly rank: number;
  /** Addresses at which each rank listens, by rank, this one included. */
  readonly addresses: readonly RankAddress[];
  readonly runId: string;
  /** 32 random bytes that only the ranks of this group know. */
  readonly secret: Uint8Array;
  /** Whether messages are encrypted, the same on all ranks; default: they are not. */
  readonly encrypt?: boolean | undefined;
  /** Time limit for joining, then for every message, ms; default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** A number for the node of each rank, the same on all ranks; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** Time for which a rank may be silent, ms; default: 3,000. */
  readonly silenceMs?: number | undefined;
  /** Memory and kernels of this rank; default: its own arena, WebAssembly. */
  readonly kernels?: { readonly arena: Arena; readonly kernels: Kernels } | undefined;
}

export interface StreamOptions {
  /** Operation that combines entries; default: sum. */
  readonly operation?: ReduceOperation | undefined;
  /** Type of all values; default: f32. */
  readonly values?: ValueType | undefined;
  /** Seed of random rounding; default: 0. */
  readonly seed?: number | undefined;
}

const word = z.int().min(0).max(0xffffffff);
const limit = z
  .number()
  .positive()
  .max(2 ** 31 - 1);

const streamSchema = z.strictObject({
  number: word,
  operation: z.enum(REDUCE_OPERATIONS).optional(),
  values: z.enum(VALUE_TYPES).optional(),
  seed: word.optional(),
});

const joinSchema = z
  .strictObject({
    rank: z.int().min(0),
    addresses: z.array(rankAddressSchema).min(1),
    runId: z.string().min(1),
    secret: secretSchema,
    encrypt: z.boolean().optional(),
    timeoutMs: limit.optional(),
    silenceMs: limit.optional(),
    /** Places, which are checked against the ranks. */
    places: z.array(z.unknown()).readonly().optional(),
    kernels: z
      .custom<JoinOptions['kernels']>(
        (value) =>
          typeof value === 'object' &&
          (value as JoinOptions['kernels'])?.arena instanceof Arena,
        'expected an arena and kernels',
      )
      .optional(),
  })
  .refine(({ rank, addresses }) => rank < addresses.length, {
    path: ['rank'],
    message: 'it must be below the number of addresses',
  });

/** A listening rank, before the group is known. */
export class RankSeat implements Disposable {
  readonly #seat: MeshSeat;
  #joined = false;

  private constructor(seat: MeshSeat) {
    this.#seat = seat;
  }

  /**
   * Listens on a port that the system chooses.
   * @throws GradwireError `OPTION_INVALID`, `LISTEN_FAILED`
   */
  static async listen(host: string): Promise<RankSeat> {
    checkedOptions(z.object({ host: hostSchema }), { host }, 'RankSeat.listen');
    return new RankSeat(await MeshSeat.listen(host));
  }

  get address(): RankAddress {
    return this.#seat.address;
  }

  /**
   * Resolves when all ranks have proved that they know the secret.
   * @throws GradwireError `OPTION_INVALID`, `PEER_UNREACHABLE`, `PEER_UNAUTHENTICATED`, `PEER_TIMEOUT`,
   * `KERNELS_MISSING`, `PLACES_INVALID`
   */
  async join(options: JoinOptions): Promise<RankGroup> {
    checkedOptions(joinSchema, options, 'RankSeat.join');
    const { rank, addresses, runId, secret, encrypt } = options;
    const { timeoutMs = TIMEOUT_MS } = options;
    if (options.places !== undefined) assertPlaces(options.places, addresses.length);
    const memory = options.kernels ?? ownMemory();
    this.#joined = true;
    const transport = await connectMesh({
      listener: this.#seat.listener,
      pulse: this.#seat.pulse,
      silenceMs: options.silenceMs,
      rank,
      addresses,
      runId,
      secret,
      encrypt,
      timeoutMs,
    });
    return new RankGroup(transport, memory.arena, memory.kernels, options.places);
  }

  [Symbol.dispose](): void {
    // After joining, the group owns it.
    if (!this.#joined) void this.#seat.close();
  }
}

function ownMemory(): { readonly arena: Arena; readonly kernels: Kernels } {
  const arena = new Arena();
  return { arena, kernels: loadWasmKernels(arena) };
}

export class RankGroup implements AsyncDisposable {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly #transport: Transport;
  readonly #places: readonly number[] | undefined;
  readonly #streams = new Map<number, GroupStream>();

  constructor(
    transport: Transport,
    arena: Arena,
    kernels: Kernels,
    places?: readonly number[],
  ) {
    this.#transport = transport;
    this.arena = arena;
    this.kernels = kernels;
    this.#places = places;
  }

  get rank(): number {
    return this.#transport.rank;
  }

  get size(): number {
    return this.#transport.size;
  }

  /**
   * A stream with an unused number. All ranks open the same streams with the same
   * options.
   * @param number an integer in [0, 2³²) that no other stream has
   * @throws GradwireError `OPTION_INVALID`
   */
  stream(number: number, options: StreamOptions = {}): GroupStream {
    checkedOptions(streamSchema, { number, ...options }, 'RankGroup.stream');
    if (this.#streams.has(number)) {
      throw inputError(
        'OPTION_INVALID',
        `RankGroup.stream: number: stream ${number} is open already`,
        { next: 'Use that stream, or another number.' },
      );
    }
    const { arena, kernels } = this;
    const communicator = new TransportCommunicator({
      arena,
      kernels,
      transport: this.#transport,
      stream: number,
      places: this.#places,
      ...options,
    });
    const stream = new GroupStream(communicator);
    this.#streams.set(number, stream);
    return stream;
  }

  /** Leaves the group: exchanges in flight fail, here and at the others. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
    for (const stream of this.#streams.values()) stream.release();
    this.#streams.clear();
  }
}
