/**
 * News of runs and machines: the coordinator's parts report here what they learn, and this class
 * passes it on to the other parts and to the coordinator's callers.
 */
import {
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import type { CatchUp } from '../../shared/records/catch-up.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { LinkEvents } from '../cluster/link-events.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { StoredBatch } from '../store/record-writer.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';

export interface CoordinatorEvents {
  /** A run was created, or its state or counters changed. */
  changed(summary: RunSummary): void;
  /** Newly stored records, in order, each once. */
  records(run: string, entries: readonly JournalEntry[]): void;
  /** An error that no caller waits for. */
  notice(error: ErrorData): void;
  /** A machine cannot be reached now. It is retried while a run needs it. */
  outOfReach(node: string, error: ErrorData): void;
  /**
   * A connected machine gives no sign of life, which ends no run; without an error: it does
   * again.
   */
  silent?(node: string, error: ErrorData | undefined): void;
  /**
   * Many records were read that were made while this process did not follow the run.
   */
  caughtUp?(catchUp: CatchUp): void;
  /** An alert could not be told to the user's command or webhook. */
  alertUntold?(error: ErrorData): void;
  /** The connection to a node was established or lost. */
  nodeChanged?(node: string): void;
}

export class RunNews {
  readonly #events: CoordinatorEvents;
  readonly #parts: CoordinatorParts;
  /** The last sequence that was told of each run that is followed, or was. */
  readonly #told = new Map<string, number>();
  #closed = false;

  constructor(events: CoordinatorEvents, parts: CoordinatorParts) {
    this.#events = events;
    this.#parts = parts;
  }

  /** Stops reporting troubles, which closing itself causes. */
  close(): void {
    this.#closed = true;
  }

  changed(summary: RunSummary): void {
    this.#events.changed(summary);
    this.#parts.endings.note(summary);
    this.#parts.tunnels.note(summary);
  }

  /** The last sequence that was told of a run; undefined if it was never followed. */
  lastTold(run: string): number | undefined {
    return this.#told.get(run);
  }

  /** Tells a run's records from now on, and those since it was last followed. */
  begin(run: string): void {
    if (this.#told.has(run)) this.tellRest(run);
    else this.#told.set(run, this.#parts.store.lastSequence(run));
  }

  /** Tells records that another process has stored since the last ones told. */
  tellRest(run: string): void {
    const { store } = this.#parts;
    for (;;) {
      const summary = store.summary(run);
      const last = this.lastTold(run) ?? Infinity;
      const entries = store.reads.entriesAfter(run, last);
      this.stored({ summary, entries });
      if (entries.length === 0) return;
    }
  }

  /** Entries have been committed; the summary includes them. Later ones come after these. */
  stored({ summary, entries }: Pick<StoredBatch, 'summary' | 'entries'>): void {
    const last = entries.at(-1);
    if (last !== undefined && this.#told.has(summary.id)) {
      this.#told.set(summary.id, last.sequence);
    }
    this.changed(summary);
    if (entries.length > 0) this.#events.records(summary.id, entries);
    if (this.#closed || hasEnded(summary.state)) return;
    this.#parts.endings.awaitJournals(summary.id);
    this.#parts.lost.considerUntold(summary.id);
  }

  /** A record of a run that may still continue can never be stored. */
  refused({ id }: RunSummary): void {
    // Later events of the old link are ignored.
    this.#parts.orders.give(id, { type: 'stop' }).catch((error: unknown) => {
      this.trouble(error);
    });
  }

  /** Many records were read that were made while the run was not followed. */
  caughtUp(catchUp: CatchUp): void {
    if (!this.#closed) this.#events.caughtUp?.(catchUp);
  }

  /**
   * A followed run was interrupted, and is to resume from a checkpoint. A command restarts only
   * runs that it was asked for: it may exit in the middle of another one's restart.
   */
  interrupted(run: string): void {
    const { kept, lost, restarts, scope, store } = this.#parts;
    lost.interrupted(run);
    if (scope !== 'all' && !kept.has(run)) return;
    restarts.consider(run, store.spec(run));
  }

  /** Events of the link to a machine. */
  of(link: () => NodeLink): LinkEvents {
    const { lost, nodes, recovery, stops } = this.#parts;
    return {
      run: (run) => {
        this.#changedThere(link(), run);
      },
      restored: () => {
        lost.answers(link());
        return recovery.synchronise(link());
      },
      attempts: () => lost.attempts(link()),
      followed: () => recovery.follows(link()),
      patience: () => lost.patience(link()),
      gaveUp: (error) => {
        if (!this.#closed) lost.gaveUp(link(), error);
      },
      trouble: (error) => {
        if (recovery.needs(link())) this.linkTrouble(link(), error);
        // Another process may have changed the machine's route.
        nodes.look();
      },
      silent: (error) => {
        if (error === undefined) lost.answers(link());
        else stops.silent(link(), error);
        if (!this.#closed) this.#events.silent?.(link().name, error);
      },
      look: () => {
        nodes.look();
      },
      changed: () => {
        this.#events.nodeChanged?.(link().name);
      },
    };
  }

  /** A link's failure: this computer's supervisor should always be reachable. */
  linkTrouble(link: NodeLink, error: ErrorData): void {
    if (this.#closed) return;
    if (link === this.#parts.nodes.lead) this.#events.notice(error);
    else this.#events.outOfReach(link.name, error);
  }

  /** A machine that a caller asked for is out of reach: what is stored can still be shown. */
  outOfReach(node: string, error: unknown): void {
    if (!(error instanceof GradwireError)) throw error;
    this.#events.outOfReach(node, error.toData());
  }

  /** An error that no caller waits for. */
  trouble(error: unknown): void {
    if (!this.#closed) this.#events.notice(toErrorData(error));
  }

  #changedThere(link: NodeLink, run: RunStatus): void {
    const { followers, lost, recovery, scope } = this.#parts;
    const isInterrupted = run.phase === 'interrupted';
    if (!isInterrupted && recovery.isOn(link, run.run)) lost.goesOn(run.run);
    if (isInterrupted && followers.has(run.run, link)) this.interrupted(run.run);
    if (run.phase === 'ended') followers.ended(link, run);
    if (scope !== 'all' || run.phase === 'ended') return;
    void recovery.takeIn(link, run).catch((error: unknown) => {
      this.trouble(error);
    });
  }
}
