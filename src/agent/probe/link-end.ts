/** One end of a link that is measured: connects to the other and times messages. */
import type { LinkTiming } from '../../shared/cost-model/link-timing.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import { Arena } from '../memory/arena.ts';
import { connectMesh } from '../transport/mesh.ts';
import type { MeshSeat } from '../transport/mesh-seat.ts';
import { chooseTransport, type TransportKind } from '../transport/transport-choice.ts';
import { timeLink } from './link-stream.ts';

export interface LinkOrder {
  readonly addresses: readonly RankAddress[];
  readonly run: string;
  readonly secret: Uint8Array;
  readonly encrypt: boolean;
}

export interface TimedLink {
  /** The result at the first end; the other has none. */
  readonly timing?: LinkTiming | undefined;
  readonly transport: TransportKind;
}

/**
 * Both ends listen already, so an end that does not connect in time cannot be reached.
 */
const CONNECT_MS = 8000;
/** Time for a message, long enough for the slowest streams. */
const MESSAGE_MS = 20_000;

/** @throws GradwireError of the transport */
export async function timeLinkEnd(
  rank: number,
  { listener, pulse }: MeshSeat,
  { addresses, run, secret, encrypt }: LinkOrder,
): Promise<TimedLink> {
  const { kind, libc } = await chooseTransport('auto');
  const transport = await connectMesh({
    listener,
    pulse,
    libc,
    rank,
    addresses,
    secret,
    encrypt,
    runId: run,
    timeoutMs: MESSAGE_MS,
    connectMs: CONNECT_MS,
  });
  const timing = await timeLink(transport, new Arena());
  await transport.close();
  return { timing, transport: kind };
}
