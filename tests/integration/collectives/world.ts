/**
 * A world of P ranks in one process, connected by real TCP sockets on loopback. Each rank
 * has an arena and kernels of its own, kept from world to world: an arena reserves 4 GiB
 * of addresses.
 */
import { randomBytes } from 'node:crypto';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { Arena } from '../../../src/agent/kernels/arena.ts';
import type { Kernels } from '../../../src/agent/kernels/kernels.ts';
import type { ReduceOperation } from '../../../src/agent/kernels/reduction.ts';
import { referenceKernels } from '../../../src/agent/kernels/reference/reference-kernels.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { connectMesh, type MeshOptions } from '../../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import type { TcpTransport } from '../../../src/agent/transport/tcp-transport.ts';
import type { Transport } from '../../../src/agent/transport/transport.ts';

export const HOST = '127.0.0.1';
export const BACKENDS = ['reference', 'wasm'] as const;
export type Backend = (typeof BACKENDS)[number];

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
  Pick<MeshOptions, 'timeoutMs' | 'limits' | 'observer'>
> {
  readonly backend?: Backend;
  /** What the communicators see of a rank's transport. */
  readonly wrap?: (transport: TcpTransport) => Transport;
}

export interface World extends AsyncDisposable {
  readonly size: number;
  readonly transports: readonly TcpTransport[];
  /** One per rank, on a stream that no other call has had. */
  communicators(operation?: ReduceOperation): readonly TransportCommunicator[];
}

export async function makeWorld(
  size: number,
  options: WorldOptions = {},
): Promise<World> {
  const { backend = 'wasm', wrap = (transport) => transport, ...mesh } = options;
  const secret = randomBytes(32);
  const listeners = await Promise.all(
    Array.from({ length: size }, () => listenTcp(HOST)),
  );
  const addresses = listeners.map(({ address }) => address);
  const transports = await Promise.all(
    listeners.map((listener, rank) =>
      connectMesh({
        listener,
        rank,
        addresses,
        runId: 'test',
        secret,
        timeoutMs: 10_000,
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
    communicators: (operation) => {
      stream++;
      const group = wrapped.map((transport, rank) => {
        const { arena, [backend]: kernels } = memoryOf(rank);
        return new TransportCommunicator({
          arena,
          kernels,
          transport,
          stream,
          operation,
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

/** Sockets that this process has open: none may outlive its world. */
export function openSockets(): readonly string[] {
  return process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP'));
}
