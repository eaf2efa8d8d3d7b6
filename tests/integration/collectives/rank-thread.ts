/**
 * One rank in a worker thread of its own: listens, posts its address, gets all addresses,
 * runs the collectives it is told to and posts what came out.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import {
  chooseTransport,
  type TransportKind,
} from '../../../src/agent/transport/transport-choice.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import type { RankAddress } from '../../../src/shared/protocol/supervisor.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import { floats, integers, runCollective } from './run-collective.ts';

export interface RankWork {
  readonly rank: number;
  readonly collectives: readonly string[];
  readonly length: number;
  readonly values: 'integers' | 'floats';
  readonly transport: TransportKind;
}

const work = workerData as RankWork;
const port = parentPort!;
const arena = new Arena();
const kernels = loadWasmKernels(arena);
const listener = await listenTcp('127.0.0.1');
port.once('message', (addresses: readonly RankAddress[]) => {
  void run(addresses);
});
port.postMessage(listener.address);

async function run(addresses: readonly RankAddress[]): Promise<void> {
  const { libc } = await chooseTransport(work.transport);
  const transport = await connectMesh({
    libc,
    listener,
    rank: work.rank,
    addresses,
    runId: 'threads',
    secret: Buffer.alloc(32, 7),
    timeoutMs: 10_000,
  });
  const communicator = new TransportCommunicator({
    arena,
    kernels,
    transport,
    stream: 0,
  });
  const sums: Float32Array[] = [];
  for (const id of work.collectives) {
    const { kind } = collectiveCases[id]!;
    const make = work.values === 'floats' ? floats : integers;
    const input = make(work.rank, work.length, kind === 'sparse' ? 0.01 : 1);
    const [outcome] = await runCollective(collectiveOf(id), [communicator], kind, [
      input,
    ]);
    sums.push(outcome!.sum);
  }
  await transport.close();
  port.postMessage({ sums, counters: transport.counters });
}
