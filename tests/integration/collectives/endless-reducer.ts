/** One rank in a process of its own, to be killed: ring allreduces of 16 MB until it is. */
import { z } from 'zod';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { ring } from '../../../src/agent/collectives/ring.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import {
  chooseTransport,
  type TransportKind,
} from '../../../src/agent/transport/transport-choice.ts';
import { serveOrders } from '../../../src/agent/world/order-server.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import {
  rankAddressSchema,
  type RankAddress,
} from '../../../src/shared/protocol/rank-address.ts';

export type ToReducer =
  | { readonly type: 'listen' }
  | {
      readonly type: 'reduce';
      readonly rank: number;
      readonly addresses: readonly RankAddress[];
      readonly transport: TransportKind;
      readonly encrypt?: boolean | undefined;
    };

export const fromReducerSchema = z.object({
  type: z.literal('listening'),
  address: rankAddressSchema,
});
export type FromReducer = Readonly<z.infer<typeof fromReducerSchema>>;

export const SECRET = Buffer.alloc(32, 9);
export const LENGTH = 1_000_000;

/** Allreduces, one after the other, until one fails; calls back after each. */
export async function reduceForever(
  communicator: TransportCommunicator,
  done: () => void,
): Promise<never> {
  const data = communicator.arena.allocate(4 * LENGTH);
  try {
    for (;;) {
      communicator.begin({ epoch: 0, operation: ring.code, dtype: 1 });
      await ring.run(communicator, { kind: 'dense', length: LENGTH, data });
      done();
    }
  } finally {
    communicator.arena.release(data);
  }
}

async function serve(): Promise<void> {
  const arena = new Arena();
  const listener = await listenTcp('127.0.0.1');
  serveOrders<ToReducer, FromReducer>('test', z.custom<ToReducer>(), async (order) => {
    if (order.type === 'listen') {
      return { type: 'listening', address: listener.address };
    }
    const { rank, addresses, encrypt } = order;
    const { libc } = await chooseTransport(order.transport);
    const transport = await connectMesh({
      rank,
      addresses,
      encrypt,
      libc,
      listener,
      runId: 'killed',
      secret: SECRET,
      timeoutMs: 10_000,
    });
    const kernels = loadWasmKernels(arena);
    return await reduceForever(
      new TransportCommunicator({ arena, kernels, transport, stream: 0 }),
      () => undefined,
    );
  });
}

if (process.argv[1] === import.meta.filename) await serve();
