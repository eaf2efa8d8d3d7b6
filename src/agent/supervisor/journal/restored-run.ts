/**
 * A run whose supervisor died, restored from its journal. It has ended, because workers
 * die with their supervisor; if its journal does not say how, it failed.
 */
import { machineTitle } from '../../../shared/machines/machine-names.ts';
import { LOCAL_NODE } from '../../../shared/machines/node-entry.ts';
import type { AnswerTo, AskedType, OrderOf } from '../../../shared/orders/orders.ts';
import { hostname } from 'node:os';
import { failure, GradwireError } from '../../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import type { RunStatus as SupervisedRunState } from '../../../shared/protocol/supervisor.ts';
import { rankSpans } from '../../../shared/machines/rank-spans.ts';
import { endsJournal } from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { Journal } from './journal.ts';

/** The run's ranks here, and its name for this machine; older versions did not store them. */
export interface RestoredRanks {
  readonly ranks: readonly number[];
  /** Name of this machine; default: the user's own computer, whose host name records have. */
  readonly node?: string | undefined;
}

export class RestoredRun {
  readonly state: SupervisedRunState;
  readonly journal: Journal;
  readonly ended = Promise.resolve(undefined);

  constructor(
    run: string,
    spec: ExperimentSpec,
    createdAt: number,
    journal: Journal,
    here?: RestoredRanks,
  ) {
    const last = journal.lastRecord;
    if (last === undefined || !endsJournal(last)) {
      const error = lossOf(journal, here).toData();
      appendLast(journal, { type: 'failed', at: Date.now(), error });
    }
    journal.flush();
    this.journal = journal;
    this.state = {
      run,
      phase: 'ended',
      spec,
      createdAt,
      lastSequence: journal.lastSequence,
      ending: journal.ending,
    };
  }

  /** Orders to it: it has ended already. */
  readonly orders = {
    /** @throws GradwireError `RUN_ENDED`, but for a stop, about which nothing is left to do */
    obey: async <T extends AskedType>({ type }: OrderOf<T>): Promise<AnswerTo<T>> => {
      if (type !== 'stop') throw ended();
      return {} as AnswerTo<T>;
    },
    adopt: (): void => undefined,
  };

  get isLive(): boolean {
    return false;
  }

  begin(): never {
    throw ended();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  abort(): void {
    // Ended already.
  }

  leave(): Promise<void> {
    return Promise.resolve();
  }

  /** Follows the journal, to which nothing will be added. */
  follow(): () => void {
    return () => undefined;
  }
}

/** Explains why the run of a dead supervisor ended. */
export function lossOf({ damage, file }: Journal, here?: RestoredRanks): GradwireError {
  if (damage === undefined) {
    const whose = here === undefined ? 'this run' : ranksText(here.ranks);
    const workers = here === undefined ? 'its workers' : 'them';
    return failure(
      'SUPERVISOR_LOST',
      `the supervisor of ${whose} died together with ${workers}`,
      {
        place: here === undefined ? hostname() : machineTitle(here.node ?? LOCAL_NODE),
        next: 'Everything up to the last record is stored. Launch the run again.',
      },
    );
  }
  return failure('JOURNAL_DAMAGED', `the journal of this run is damaged: ${damage}`, {
    place: file,
    next: 'Everything before the damage is stored. Launch the run again.',
  });
}

const ranksText = (ranks: readonly number[]): string =>
  `${ranks.length === 1 ? 'rank' : 'ranks'} ${rankSpans(ranks)}`;

/** A disk that is still full must not keep the supervisor from starting. */
function appendLast(journal: Journal, record: RunRecord): void {
  if (journal.damage !== undefined) {
    journal.appendUnwritten(record); // data after the damage stays unchanged
    return;
  }
  try {
    journal.append([record]);
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    journal.appendUnwritten(record);
  }
}

function ended(): GradwireError {
  return failure('RUN_ENDED', 'the run has ended', { next: 'Launch it again.' });
}
