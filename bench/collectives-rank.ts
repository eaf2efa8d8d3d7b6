/** One rank of `collectives.ts`, in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { TransportCommunicator } from '../src/agent/collectives/communicator.ts';
import { findCollective } from '../src/agent/collectives/registry.ts';
import { smallAllreduce } from '../src/agent/collectives/small-allreduce.ts';
import type { Payload } from '../src/agent/compression/method.ts';
import { Arena } from '../src/agent/kernels/arena.ts';
import { loadWasmKernels } from '../src/agent/kernels/wasm/load.ts';
import { connectMesh } from '../src/agent/transport/mesh.ts';
import { listenTcp } from '../src/agent/transport/tcp-listener.ts';
import type { RankAddress } from '../src/shared/protocol/supervisor.ts';

export interface RankTask {
  readonly rank: number;
  readonly collective: string;
  /** N, elements. */
  readonly length: number;
  /** k: entries of a sparse payload. */
  readonly count: number;
  readonly exchanges: number;
}

const task = workerData as RankTask;
const port = parentPort!;
const arena = new Arena();
const kernels = loadWasmKernels(arena);
const listener = await listenTcp('127.0.0.1');
port.once('message', (addresses: readonly RankAddress[]) => {
  void measure(addresses).then((times) => {
    port.postMessage(times);
  });
});
port.postMessage(listener.address);

async function measure(addresses: readonly RankAddress[]): Promise<number[]> {
  const transport = await connectMesh({
    listener,
    rank: task.rank,
    addresses,
    runId: 'bench',
    secret: new Uint8Array(32),
    timeoutMs: 30_000,
  });
  const communicator = new TransportCommunicator({
    arena,
    kernels,
    transport,
    stream: 0,
  });
  const collective = findCollective(task.collective);
  const vote = Float64Array.of(1);
  const times: number[] = [];
  const sparse = collective.takes.includes('sparse');
  const { offset } = arena.allocate(sparse ? 8 * task.count : 4 * task.length);
  for (let exchange = 0; exchange < task.exchanges; exchange++) {
    const payload = prepare(sparse, offset);
    communicator.begin({ epoch: 0, operation: 0, dtype: 0 });
    // All begin together, or the times would be of waiting.
    await smallAllreduce(communicator, vote, ['max']);
    communicator.begin({ epoch: 0, operation: collective.code, dtype: 1 });
    const start = performance.now();
    await collective.run(communicator, payload);
    times.push(performance.now() - start);
  }
  await transport.close();
  return times;
}

function prepare(sparse: boolean, offset: number): Payload {
  const { length, count, rank } = task;
  if (!sparse) {
    arena.f32({ offset, length }).fill(1);
    return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
  }
  const stride = Math.floor(length / count);
  const shift = rank % stride;
  arena
    .u32(offset, count)
    .set(Array.from({ length: count }, (_, i) => i * stride + shift));
  arena.f32({ offset: offset + 4 * count, length: count }).fill(1);
  return { kind: 'sparse', length, count, data: { offset, bytes: 8 * count } };
}
