/** Nodes that Slurm allocates for a run: they come, are about to go, and are gone. */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import { NO_JOB } from '../../../shared/records/queue-text.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import { severalNodes } from '../../../shared/spec/slurm-share.ts';
import { SlurmAllocation } from '../../slurm/allocation.ts';
import type { RunParts } from './run-parts.ts';

/** A run that is told about its nodes. */
export interface NodesListener {
  /** Records what Slurm says. */
  store(record: RunRecord): void;
  /** Starts the ranks on the nodes, for the first time or again. */
  start(): void;
  /** Called when the nodes are gone and there are no ranks. */
  lost(error: ErrorData): void;
  /** Slurm did not take a job. @returns whether it is asked again */
  unsubmitted(error: ErrorData): boolean;
}

/** @returns undefined if its ranks run on this machine */
export function openAllocation(
  parts: RunParts,
  listener: NodesListener,
): SlurmAllocation | undefined {
  const { run, spec, slurm: settings, folder, node } = parts.options;
  if (settings === undefined) return undefined;
  let told: string | undefined;
  return new SlurmAllocation(
    { run, settings, folder, node, ranks: spec.world.ranks },
    {
      queued: (record) => {
        told = undefined;
        listener.store(record);
      },
      allocated: (record) => {
        listener.store(record);
        const { length } = record.computeNodes;
        // More nodes than requested, perhaps through the user's own options.
        if (length > 1 && spec.network !== undefined) {
          listener.lost(toErrorData(severalNodes(length)));
        } else listener.start();
      },
      ending: (error) => {
        endBefore(error, parts);
      },
      lost: (error) => {
        const team = parts.team();
        if (team !== undefined) team.abort(error);
        // If it was running, its ranks ended with the nodes, and their failure is being explained.
        else if (parts.life.is('queued', 'interrupted')) listener.lost(error);
      },
      unsubmitted: (error) => {
        const { message: reason } = error;
        if (!listener.unsubmitted(error) || reason === told) return;
        told = reason;
        listener.store({ type: 'queued', at: Date.now(), node, job: NO_JOB, reason });
      },
    },
  );
}

/** Ends the run in time, because its nodes are about to be taken back. */
function endBefore(error: ErrorData, { options, outcome, team }: RunParts): void {
  const ranks = team();
  if (ranks === undefined) return;
  outcome.nodesEnding(error);
  if (!ranks.begun) ranks.abort(error);
  // A run that the user stops does not go on, so it has nothing to pause for.
  else if (options.spec.onFailure === 'restart' && !outcome.isStopping) ranks.pause();
  else ranks.stop();
}
