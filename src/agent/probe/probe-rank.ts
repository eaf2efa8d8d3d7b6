/** One rank of a measurement of the network: listens, connects, times links and kernels. */
import { TransportCommunicator } from '../collectives/communicator.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import { Arena } from '../kernels/arena.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { connectMesh } from '../transport/mesh.ts';
import { listenTcp, type TcpListener } from '../transport/tcp-listener.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import { timeKernels, type KernelTimings } from './kernel-timing.ts';
import { timeLinks, type LinkTimings } from './link-timing.ts';

export interface RankTimings extends LinkTimings {
  readonly kernels: KernelTimings;
}

export interface ProbeOrder {
  readonly addresses: readonly RankAddress[];
  readonly run: string;
  readonly secret: Uint8Array;
}

/** How long a peer may be silent: a slow link's largest messages, and their repetitions. */
const TIMEOUT_MS = 120_000;

export class ProbeRank {
  readonly #rank: number;
  #listener: TcpListener | undefined;

  constructor(rank: number) {
    this.#rank = rank;
  }

  /** @throws GradwireError `LISTEN_FAILED` */
  async listen(host: string): Promise<RankAddress> {
    this.#listener = await listenTcp(host);
    return this.#listener.address;
  }

  /** @throws GradwireError of the transport */
  async probe({ addresses, run, secret }: ProbeOrder): Promise<RankTimings> {
    const arena = new Arena();
    const kernels = loadWasmKernels(arena);
    const transport = await connectMesh({
      listener: this.#listener,
      rank: this.#rank,
      addresses,
      runId: run,
      secret,
      timeoutMs: TIMEOUT_MS,
    });
    const options = { arena, kernels, transport, stream: 0 };
    using communicator = new TransportCommunicator(options);
    communicator.begin({ epoch: 0, operation: 0, dtype: 0 });
    const timings = await timeLinks(communicator);
    const meet = (): Promise<unknown> =>
      smallAllreduce(communicator, Float64Array.of(1), ['max']);
    const gammas = await timeKernels(arena, kernels, meet);
    await transport.close();
    return { ...timings, kernels: gammas };
  }
}
