/**
 * Sweeps for pages: checked, made, changed, and driven by the app. It also goes on with sweeps that
 * nobody drives: those of an app or a command that has ended.
 */
import { toErrorData } from '../../shared/errors/errors.ts';
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import type { SweepRequest } from '../../shared/sweep/sweep-request.ts';
import type { ExpandedSweep } from '../../shared/sweep/sweep-points.ts';
import type { RunCoordinator } from '../runs/coordinator.ts';
import type { RunStore } from '../store/run-store.ts';
import { storeSweep } from '../sweeps/new-sweep.ts';
import { requestedSweep } from '../sweeps/requested-sweep.ts';
import { stopSweep } from '../sweeps/stop-sweep.ts';
import { SweepRunner } from '../sweeps/sweep-runner.ts';
import type { EventOutbox } from './event-outbox.ts';

/** Interval of looks for sweeps that nobody drives, and for what commands have changed. */
const LOOK_MS = 1000;

/** The calls that it answers. */
type SweepApi = Pick<
  CoreApi,
  | 'checkSweep'
  | 'editSweep'
  | 'removeSweep'
  | 'resumeSweep'
  | 'startSweep'
  | 'stopSweep'
  | 'sweep'
  | 'sweeps'
>;

interface SweepDeskOptions {
  readonly store: RunStore;
  readonly coordinator: RunCoordinator;
  readonly outbox: Pick<EventOutbox, 'sweepsChanged'>;
  readonly report: (error: unknown) => void;
}

export class SweepDesk {
  readonly #options: SweepDeskOptions;
  readonly #driven = new Map<
    string,
    { readonly runner: SweepRunner; readonly end: Promise<void> }
  >();
  #version = '';
  #look: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SweepDeskOptions) {
    this.#options = options;
  }

  // All are async so that errors reject instead of throwing.
  readonly api: SweepApi = {
    sweeps: async () => this.#options.store.sweeps.list(),
    sweep: async (id) => this.#options.store.sweeps.detail(id),
    checkSweep: async (request) => {
      try {
        const { keys, points, seeds } = await this.#checked(request);
        const shown = points.map(({ label, number, values }) => ({
          number,
          label,
          values,
        }));
        return { ok: true, keys, seeds, points: shown };
      } catch (thrown) {
        const error = toErrorData(thrown);
        if (error.kind !== 'input') throw thrown;
        return { ok: false, error };
      }
    },
    startSweep: async (request) => {
      const { store } = this.#options;
      const sweep = storeSweep(store, await this.#checked(request), request.atOnce);
      this.#tell();
      return store.sweeps.summary(sweep.id);
    },
    stopSweep: async (id, finishesRuns) => {
      const { coordinator, store } = this.#options;
      const isDriver = this.#driven.has(id);
      const stopped = stopSweep(id, { store, coordinator, finishesRuns, isDriver });
      this.#tell();
      await stopped;
      this.#tell();
    },
    resumeSweep: async (id) => {
      this.#options.store.sweeps.resume(id);
      this.#tell();
    },
    editSweep: async (id, edit) => {
      this.#options.store.sweeps.edit(id, edit);
      this.#tell();
    },
    removeSweep: async (id) => {
      this.#options.store.sweeps.remove(id);
      this.#tell();
    },
  };

  /** Begins to drive sweeps. */
  begin(): void {
    if (this.#isClosed) return;
    this.#look = setInterval(() => {
      this.#tell();
    }, LOOK_MS);
    this.#tell();
  }

  /** Leaves all sweeps; their runs go on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#look);
    const all = [...this.#driven.values()];
    for (const { runner } of all) runner.leave();
    await Promise.all(all.map(({ end }) => end));
  }

  #checked(request: SweepRequest): Promise<ExpandedSweep> {
    return requestedSweep(this.#options.coordinator, request);
  }

  /** Tells pages of changes, and drives what nobody drives. */
  #tell(): void {
    if (this.#isClosed) return;
    const { outbox, report, store } = this.#options;
    try {
      if (this.#look !== undefined) {
        for (const id of store.sweeps.waiting()) this.#drive(id);
      }
      const version = store.sweeps.version();
      if (version === this.#version) return;
      this.#version = version;
      outbox.sweepsChanged();
    } catch (error) {
      report(error);
    }
  }

  #drive(id: string): void {
    if (this.#driven.has(id)) return;
    const { coordinator, outbox, report, store } = this.#options;
    const changed = (): void => {
      outbox.sweepsChanged();
    };
    const events = { begun: changed, ended: changed };
    const runner = new SweepRunner({ store, coordinator, sweep: id, events });
    const end = runner
      .drive()
      .catch(report)
      .then(() => {
        this.#driven.delete(id);
        this.#tell();
      });
    this.#driven.set(id, { runner, end });
  }
}
