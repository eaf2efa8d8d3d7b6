/**
 * Watches over the machines of a run's ranks, while there are ranks: this process over its own, and a
 * watcher on each node that Slurm allocates.
 */
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { RankPlacement } from '../../world/rank-placement.ts';
import type { TeamStart } from '../ranks/team-start.ts';
import { NodeWatch } from '../utilisation/node-watch.ts';
import type { UseRecordsOptions } from '../utilisation/use-records.ts';
import { UseWatch } from '../utilisation/use-watch.ts';
import type { RunParts } from './run-parts.ts';

interface WatchedRanks extends Pick<TeamStart, 'processes'> {
  /** The iteration from which they resume, if they do. */
  readonly resumed: number | undefined;
  /** The nodes of ranks, if Slurm allocates them. */
  readonly placement: RankPlacement | undefined;
}

export class RunWatches {
  readonly #run: RunParts;
  readonly #begun: number;
  readonly #store: (record: RunRecord) => void;
  #watches: readonly (UseWatch | NodeWatch)[] = [];
  /** Nodes of which it was said that they are not watched: ranks may resume often. */
  readonly #unwatched = new Set<string>();

  /** @param begun when the run was created, ms since 1970 */
  constructor(run: RunParts, begun: number, store: (record: RunRecord) => void) {
    this.#run = run;
    this.#begun = begun;
    this.#store = store;
  }

  /** Watches over ranks that are connected. */
  open({ placement, processes, resumed }: WatchedRanks): void {
    this.close();
    const { admission, options } = this.#run;
    const { ranks } = options;
    const shared = {
      begun: this.#begun,
      iteration: () =>
        ranks.reduce(
          (most, rank) => Math.max(most, admission.underWay(rank) ?? 0),
          resumed ?? 0,
        ),
      told: this.#store,
    };
    this.#watches = [...Map.groupBy(processes, ({ node }) => node)].map(
      ([node, those]) => {
        const ofNode: UseRecordsOptions = {
          ...shared,
          node,
          processes: new Map(those.map(({ pid, rank }) => [rank, pid])),
        };
        if (placement === undefined) return new UseWatch(ofNode);
        return this.#watchThere(ofNode, (entry) =>
          placement.commandOf(those[0]!.rank, entry),
        );
      },
    );
  }

  /** Ends the watches: the processes of ranks are gone. */
  close(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches = [];
  }

  #watchThere(
    ofNode: UseRecordsOptions,
    commandOf: (entry: string) => ReturnType<RankPlacement['commandOf']>,
  ): NodeWatch {
    const { run } = this.#run.options;
    const { node } = ofNode;
    return new NodeWatch({
      ...ofNode,
      run,
      commandOf,
      failed: (why) => {
        if (this.#unwatched.has(node)) return;
        this.#unwatched.add(node);
        this.#store({
          type: 'notice',
          at: Date.now(),
          level: 'info',
          code: 'NODE_UNWATCHED',
          message: `what ${node} does beside the step is no longer recorded: ${why}`,
        });
      },
    });
  }
}
