/**
 * The tunnels of runs: they accept connections until all ranks are connected, and stay until
 * the run has ended.
 */
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { RankTunnels, type Share } from '../cluster/rank-tunnels.ts';

interface Held {
  readonly tunnels: RankTunnels;
  readonly resumed: boolean;
}

export class RunTunnels {
  readonly #held = new Map<string, Held>();
  #closed = false;

  /**
   * @param resumed whether it resumes from a checkpoint: then iterations do not show that it
   * has begun
   */
  async open(
    run: string,
    shares: readonly Share[],
    addresses: readonly RankAddress[],
    resumed: boolean,
  ): Promise<RankTunnels> {
    this.#end(run);
    const tunnels = await RankTunnels.open(shares, addresses);
    if (this.#closed) tunnels[Symbol.dispose]();
    else this.#held.set(run, { tunnels, resumed });
    return tunnels;
  }

  note({ id, state, iterations }: RunSummary): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    if (hasEnded(state)) this.#end(id);
    // A recorded iteration means that all ranks are connected.
    else if (!held.resumed && iterations > 0) held.tunnels.settle();
  }

  close(): void {
    this.#closed = true;
    for (const run of this.#held.keys()) this.#end(run);
  }

  #end(run: string): void {
    this.#held.get(run)?.tunnels[Symbol.dispose]();
    this.#held.delete(run);
  }
}
