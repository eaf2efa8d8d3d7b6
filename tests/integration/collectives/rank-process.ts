/**
 * One rank in a process of its own, to be killed: posts its address, gets all addresses
 * and its rank, then runs ring allreduces of 16 MB until it is no more.
 */
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { ring } from '../../../src/agent/collectives/ring.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import {
  chooseTransport,
  type TransportKind,
} from '../../../src/agent/transport/transport-choice.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import type { RankAddress } from '../../../src/shared/protocol/supervisor.ts';

export interface RankOrder {
  readonly rank: number;
  readonly addresses: readonly RankAddress[];
  readonly transport: TransportKind;
  readonly encrypt?: boolean | undefined;
}

export const SECRET = Buffer.alloc(32, 9);
export const LENGTH = 4_000_000;

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

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  const arena = new Arena();
  const listener = await listenTcp('127.0.0.1');
  process.once('message', ({ transport: kind, ...order }: RankOrder) => {
    void chooseTransport(kind)
      .then(({ libc }) =>
        connectMesh({
          ...order,
          libc,
          listener,
          runId: 'killed',
          secret: SECRET,
          timeoutMs: 10_000,
        }),
      )
      .then((transport) => {
        const kernels = loadWasmKernels(arena);
        return reduceForever(
          new TransportCommunicator({ arena, kernels, transport, stream: 0 }),
          () => undefined,
        );
      })
      // Its parent has gone first, after a failed test: nothing is left to do.
      .catch(() => process.exit(1));
  });
  process.send(listener.address);
}
