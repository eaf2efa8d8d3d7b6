/** The one place where the benchmark's ranks open a transport. */
import { connectMesh } from '../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../src/agent/transport/tcp-listener.ts';
import {
  chooseTransport,
  TRANSPORT_KINDS,
} from '../../src/agent/transport/transport-choice.ts';
import type {
  Transport,
  TransportObserver,
} from '../../src/agent/transport/transport.ts';
import type { EmulatedNetwork } from '../../src/shared/machines/emulated-network.ts';
import type { RankAddress } from '../../src/shared/protocol/supervisor.ts';

export const TRANSPORT_CHOICES = ['auto', ...TRANSPORT_KINDS] as const;
export type TransportChoice = (typeof TRANSPORT_CHOICES)[number];

/** Timeout of a mesh, and of every message: the slowest exchange of a shaped network fits. */
const TIMEOUT_MS = 60_000;

interface MeshTask {
  readonly rank: number;
  readonly addresses: readonly RankAddress[];
  readonly secret: Uint8Array;
  /** Absent: the network that is there. */
  readonly network?: EmulatedNetwork | undefined;
  readonly observer?: TransportObserver | undefined;
}

/** A rank that listens: connect once all addresses are known. */
export interface ListeningRank {
  readonly address: RankAddress;
  /** The chosen transport, `auto` resolved. */
  readonly transport: string;
  connect(task: MeshTask): Promise<Transport>;
}

/** @throws GradwireError `LISTEN_FAILED`, `NATIVE_UNAVAILABLE` */
export async function listenOn(
  host: string,
  choice: TransportChoice,
): Promise<ListeningRank> {
  const { kind, libc } = await chooseTransport(choice);
  const listener = await listenTcp(host);
  return {
    address: listener.address,
    transport: kind,
    connect: (task) =>
      connectMesh({
        ...task,
        listener,
        libc,
        runId: 'bench',
        timeoutMs: TIMEOUT_MS,
        // Whatever their networks, they share the cores of this machine.
        here: [...task.addresses.keys()],
      }),
  };
}
