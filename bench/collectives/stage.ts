/** A world of ours and, where asked for, of each peer, on the same links. */
import { emulatedCost } from '../../src/shared/cost-model/emulated-cost.ts';
import { LOOPBACK } from '../../src/shared/cost-model/network-cost.ts';
import type { Stage } from './contest.ts';
import { gloo } from './gloo.ts';
import { Links, type LinkName } from './links.ts';
import { openMpi, openMpiSparse } from './openmpi.ts';
import type { BenchOptions } from './options.ts';
import { PeerWorld, type Peer } from './peer-world.ts';
import { BenchWorld } from './bench-world.ts';

/** Options that are the same for all worlds of a session. */
export interface Session extends BenchOptions {
  readonly available: readonly Peer[];
}

/** Says on stderr which peers are missing, and why. */
export async function openSession(options: BenchOptions): Promise<Session> {
  const available: Peer[] = [];
  for (const peer of options.peers ? [openMpi, openMpiSparse, gloo] : []) {
    const reason = await peer.missing();
    if (reason === undefined) available.push(peer);
    else process.stderr.write(`no ${peer.name}: ${reason}\n`);
  }
  return { ...options, available };
}

/**
 * Predictions go by what this world's messages and kernels cost; where it has to be quick
 * by what `auto` assumes before anything was measured.
 * @throws GradwireError of a rank or a peer
 */
export async function onStage<T>(
  { transport, available, bound, quick }: Session,
  { ranks, links: name }: { readonly ranks: number; readonly links: LinkName },
  play: (stage: Stage) => Promise<T>,
): Promise<T> {
  using links = new Links(name, ranks, { bound });
  await using world = await BenchWorld.start({ ranks, links, transport });
  const assumed =
    links.emulated === undefined ? LOOPBACK : emulatedCost(links.emulated, LOOPBACK);
  const network = quick ? assumed : await world.networkCost();
  await using stack = new AsyncDisposableStack();
  const peers: PeerWorld[] = [];
  for (const peer of available) {
    peers.push(stack.use(await PeerWorld.start(peer, ranks, links)));
  }
  return await play({ world, peers, network });
}
