/** Lists of runs for pages, and what pages write on runs: titles, tags, notes, deletions. */
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { RunStore } from '../store/run-store.ts';
import type { EventOutbox } from './event-outbox.ts';

/** The calls that it answers. */
type RunsApi = Pick<
  CoreApi,
  | 'matchingRuns'
  | 'notes'
  | 'removeNote'
  | 'renameRun'
  | 'runPage'
  | 'runVocabulary'
  | 'runs'
  | 'setAllDeleted'
  | 'setDeleted'
  | 'tagRuns'
  | 'writeNote'
>;

/** News of what other processes do to runs that have ended. */
interface History {
  /** Takes notice of a run that a page has deleted or restored. */
  note(run: RunSummary): void;
  /** Tells pages what has changed. */
  look(): void;
}

export class RunsDesk {
  readonly #store: RunStore;
  readonly #outbox: EventOutbox;
  readonly #history: History;

  constructor(store: RunStore, outbox: EventOutbox, history: History) {
    this.#store = store;
    this.#outbox = outbox;
    this.#history = history;
  }

  // All are async so that errors reject instead of throwing.
  readonly api: RunsApi = {
    runs: async (query) => {
      this.#history.look();
      const runs = this.#store.runs.list(query);
      this.#tellDamage();
      return runs;
    },
    // What a page is told of a run is what the next look compares with.
    runPage: async (query) => {
      this.#history.look();
      const page = this.#store.runs.pages.page(query);
      this.#tellDamage();
      return page;
    },
    matchingRuns: async (query) => this.#store.runs.pages.matching(query),
    runVocabulary: async () => this.#store.runs.pages.vocabulary(),
    tagRuns: async (runs, tag, isTagged) => {
      const changed = this.#store.annotations.tag(runs, tag, isTagged);
      this.#tell(changed);
      return changed;
    },
    renameRun: async (run, title) => {
      this.#store.annotations.rename(run, title);
      this.#tell([run]);
    },
    notes: async (run) => this.#store.annotations.notes(run),
    writeNote: async (run, draft) => {
      const note = this.#store.annotations.writeNote(run, draft);
      this.#tell([run]);
      return note;
    },
    removeNote: async (run, id) => {
      const note = this.#store.annotations.removeNote(run, id);
      this.#tell([run]);
      return note;
    },
    setDeleted: async (run, deleted) => {
      this.#store.setDeleted(run, deleted);
      this.#tell([run]);
    },
    setAllDeleted: async (runs, deleted) => {
      const outcome = this.#store.deletions.setAll(runs, deleted);
      this.#tell(outcome.changed);
      return outcome;
    },
  };

  #tell(runs: readonly string[]): void {
    for (const run of runs) {
      const summary = this.#store.summary(run);
      this.#history.note(summary);
      this.#outbox.changed(summary);
    }
  }

  #tellDamage(): void {
    for (const error of this.#store.runs.takeDamage()) {
      this.#outbox.notice(error.toData());
    }
  }
}
