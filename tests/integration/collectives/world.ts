/**
 * A world of P ranks in one process, connected by real TCP sockets on loopback, which
 * Node drives (`tcp`) or we do (`native`). Each rank
 * has an arena and kernels of its own, kept from world to world: an arena reserves 4 GiB
 * of addresses.
 */
import { randomBytes } from 'node:crypto';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import type { Kernels } from '../../../src/agent/kernels/kernels.ts';
import type { ReduceOperation } from '../../../src/agent/kernels/reduction.ts';
import { referenceKernels } from '../../../src/agent/kernels/reference/reference-kernels.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { loadLibc } from '../../../src/agent/transport/libc.ts';
import type { ValueType } from '../../../src/agent/memory/value-type.ts';
import { connectMesh, type MeshOptions } from '../../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import {
  TRANSPORT_KINDS,
  type TransportKind,
} from '../../../src/agent/transport/transport-choice.ts';
import type { Transport } from '../../../src/agent/transport/transport.ts';
import { allSocketsClosed } from './open-sockets.ts';

export const HOST = '127.0.0.1';
export const BACKENDS = ['reference', 'wasm'] as const;
export type Backend = (typeof BACKENDS)[number];

/** Every test of the transport runs on each. */
export { TRANSPORT_KINDS, type TransportKind };

/** What `connectMesh` needs for it. Ranks of one thread must not spin for one another. */
export async function meshOf(
  kind: TransportKind,
): Promise<Pick<MeshOptions, 'libc' | 'spinMs'>> {
  return kind === 'native' ? { libc: await loadLibc(), spinMs: 0 } : {};
}

/** What carries the messages of a world, in words and as options. */
export const CARRIERS: readonly (readonly [
  string,
  WorldOptions & { readonly transport: TransportKind },
])[] = TRANSPORT_KINDS.flatMap((transport) => [
  [transport, { transport }],
  [`${transport}, encrypted`, { transport, encrypt: true }],
]);

/** Either transport, and messages in the clear as well as encrypted. */
export const FEW_CARRIERS = CARRIERS.filter(
  ([, { encrypt, transport }]) => (transport === 'native') === (encrypt === true),
);

interface Memory {
  readonly arena: Arena;
  readonly reference: Kernels;
  readonly wasm: Kernels;
}

const memories: Memory[] = [];

/** The memory of a rank, the same in every world of this process. */
export function memoryOf(rank: number): Memory {
  let memory = memories[rank];
  if (memory === undefined) {
    const arena = new Arena();
    memory = {
      arena,
      reference: referenceKernels(arena),
      wasm: loadWasmKernels(arena),
    };
    memories[rank] = memory;
  }
  return memory;
}

export interface WorldOptions extends Partial<
  Pick<
    MeshOptions,
    'timeoutMs' | 'limits' | 'observer' | 'spinMs' | 'encrypt' | 'network' | 'nodes'
  >
> {
  readonly backend?: Backend;
  /** Of all ranks, or of each; `tcp` where none is given. */
  readonly transport?: TransportKind | ((rank: number) => TransportKind);
  /** What the communicators see of a rank's transport. */
  readonly wrap?: (transport: MeshTransport) => Transport;
}

export interface World extends AsyncDisposable {
  readonly size: number;
  readonly transports: readonly MeshTransport[];
  /** One per rank, on a stream that no other call has had. */
  communicators(
    operation?: ReduceOperation,
    values?: ValueType,
    places?: readonly number[],
  ): readonly TransportCommunicator[];
}

export async function makeWorld(
  size: number,
  options: WorldOptions = {},
): Promise<World> {
  const { backend = 'wasm', wrap = (transport) => transport, ...more } = options;
  const { transport = 'tcp', ...mesh } = more;
  const kindOf = typeof transport === 'function' ? transport : () => transport;
  const secret = randomBytes(32);
  const listeners = await Promise.all(
    Array.from({ length: size }, () => listenTcp(HOST)),
  );
  const addresses = listeners.map(({ address }) => address);
  const transports = await Promise.all(
    listeners.map(async (listener, rank) =>
      connectMesh({
        ...(await meshOf(kindOf(rank))),
        listener,
        rank,
        addresses,
        runId: 'test',
        secret,
        timeoutMs: 60_000,
        ...mesh,
      }),
    ),
  );
  const wrapped = transports.map(wrap);
  const made: TransportCommunicator[] = [];
  let stream = 0;
  return {
    size,
    transports,
    communicators: (operation, values, places) => {
      stream++;
      const group = wrapped.map((transport, rank) => {
        const { arena, [backend]: kernels } = memoryOf(rank);
        return new TransportCommunicator({
          arena,
          kernels,
          transport,
          stream,
          operation,
          values,
          places,
          seed: 7,
        });
      });
      made.push(...group);
      return group;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(transports.map((transport) => transport.close()));
      for (const communicator of made) communicator[Symbol.dispose]();
    },
  };
}

const shared = new Map<string, Promise<World>>();

/** Made once in a test file, for tests that leave their world as it was. */
export function sharedWorld(
  size: number,
  backend: Backend = 'wasm',
): Promise<Pick<World, 'size' | 'transports' | 'communicators'>> {
  const key = `${size} ${backend}`;
  const world = shared.get(key) ?? makeWorld(size, { backend });
  shared.set(key, world);
  return world;
}

/** For `afterAll`. */
export async function closeSharedWorlds(): Promise<void> {
  for (const world of shared.values()) await (await world)[Symbol.asyncDispose]();
  shared.clear();
  await allSocketsClosed();
}
