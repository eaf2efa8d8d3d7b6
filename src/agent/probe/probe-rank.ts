/** One rank of a measurement of the network: connects, times links and kernels. */
import { TransportCommunicator } from '../collectives/communicator.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import { Arena } from '../memory/arena.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { connectMesh } from '../transport/mesh.ts';
import type { MeshSeat } from '../transport/mesh-seat.ts';
import { chooseTransport } from '../transport/transport-choice.ts';
import { timeCollectives } from './collective-timing.ts';
import { timeKernels } from './kernel-timing.ts';
import { timeLinks } from './link-timing.ts';
import type { Probe, ProbeOrder } from './probe-order.ts';

/**
 * Time for which a live peer may stay silent: enough for a slow link's largest messages and their
 * repetitions.
 */
const TIMEOUT_MS = 120_000;

/** @throws GradwireError of the transport, `NATIVE_UNAVAILABLE` */
export async function probe(
  rank: number,
  { listener, pulse }: MeshSeat,
  { addresses, run, secret, transport: wanted, effort }: ProbeOrder,
): Promise<Probe> {
  const arena = new Arena();
  const loaded = loadWasmKernels(arena);
  const { kind, libc } = await chooseTransport(wanted);
  const transport = await connectMesh({
    libc,
    listener,
    pulse,
    rank,
    addresses,
    secret,
    runId: run,
    timeoutMs: TIMEOUT_MS,
  });
  const options = { arena, kernels: loaded, transport, stream: 0 };
  using communicator = new TransportCommunicator(options);
  communicator.begin({ epoch: 0, operation: 0, dtype: 0 });
  const links = await timeLinks(communicator, effort);
  const meet = (): Promise<unknown> => smallAllreduce(communicator, [1], ['max']);
  const kernels = await timeKernels(arena, loaded, meet);
  const collectives = await timeCollectives(
    { arena, kernels: loaded, transport },
    effort,
  );
  await transport.close();
  return { timings: { ...links, kernels, collectives }, transport: kind };
}
