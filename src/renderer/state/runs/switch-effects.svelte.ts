/**
 * The measured effects of a run's latest switches. Each is computed from the iterations that
 * the page holds, again while evidence grows; around an older fence they are read from the
 * store.
 */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { isErrorData } from '../../../shared/errors/errors.ts';
import type { SwitchRecord } from '../../../shared/records/switch.ts';
import { WindowMeans } from '../history/iteration-means.ts';
import type { RunHistory } from '../history/run-history.ts';
import type { StoredRun } from '../history/stored-run.ts';
import {
  EFFECT_MINIMUM,
  effectReach,
  lacksIterations,
  switchEffect,
  type FenceBounds,
  type SwitchEffect,
} from '../../../shared/verdict/switch-effect.ts';

/** Switches whose effect is computed: the latest. */
const EFFECTS = 12;

/** The state of a run that its effects depend on. */
interface SwitchedRun {
  readonly history: RunHistory;
  /** Switches in the order of their fences. */
  readonly switches: readonly SwitchRecord[];
  /** Iterations per exchange. */
  readonly every: number;
  /** Whether iterations are still to come. */
  readonly live: boolean;
}

export class SwitchEffects {
  readonly #stored: StoredRun;
  readonly #measured = new SvelteMap<number, SwitchEffect>();
  /** Epochs around which there are too few iterations to measure an effect. */
  readonly #unmeasured = new SvelteSet<number>();
  /** Epochs whose surroundings have been requested. */
  #asked: readonly number[] = [];
  #closed = false;

  constructor(stored: StoredRun) {
    this.#stored = stored;
  }

  /** Effects by epoch, as far as there is evidence. */
  get measured(): ReadonlyMap<number, SwitchEffect> {
    return this.#measured;
  }

  /** Whether the iterations around a switch are too few, and there will be no more. */
  isUnmeasured(epoch: number): boolean {
    return this.#unmeasured.has(epoch);
  }

  close(): void {
    this.#closed = true;
  }

  /** O(switches without a settled effect); nothing to do for most records. */
  update(run: SwitchedRun): void {
    const { history, every, live } = run;
    for (const [bounds, epoch] of fencesOf(run)) {
      const known = this.#measured.get(epoch);
      if (known?.settled === true || this.#asked.includes(epoch)) continue;
      const passed =
        !live ||
        history.completeLength > bounds.fence + every * (effectReach(every) + 1);
      if (passed && lacksIterations(history.recent, bounds)) {
        this.#asked = [...this.#asked, epoch];
        void this.#read(history.ranks, bounds, epoch);
        continue;
      }
      // Medians of up to 100 exchanges are computed only as evidence grows, not with
      // every batch.
      const done = Math.floor((history.completeLength - bounds.fence) / every);
      const grown = done - 1;
      if (grown < EFFECT_MINIMUM || grown === known?.after.exchanges) continue;
      const effect = switchEffect(history.recent, bounds);
      if (effect === undefined) {
        // The run was switched too soon after its start or its last switch.
        if (passed) this.#unmeasured.add(epoch);
        continue;
      }
      this.#measured.set(epoch, effect);
    }
  }

  /** A fence older than the held iterations: reads its surroundings separately. */
  async #read(ranks: number, bounds: FenceBounds, epoch: number): Promise<void> {
    const { every = 1 } = bounds;
    const from = Math.max(0, bounds.fence - every * effectReach(every));
    const to = bounds.fence + every * (effectReach(every) + 1);
    try {
      const around = await this.#stored.window({ from, to, width: 1 }, ranks, to);
      const effect = switchEffect(new WindowMeans(around, ranks), bounds);
      if (this.#closed) return;
      if (effect === undefined) this.#unmeasured.add(epoch);
      else this.#measured.set(epoch, { ...effect, settled: true });
    } catch (error) {
      if (!isErrorData(error)) throw error;
      // Retried when new records come; until then the switch shows no effect.
      this.#asked = this.#asked.filter((other) => other !== epoch);
    }
  }
}

function* fencesOf({ switches, every }: SwitchedRun): Generator<[FenceBounds, number]> {
  for (let i = Math.max(0, switches.length - EFFECTS); i < switches.length; i++) {
    const { fence, epoch } = switches[i]!;
    const previous = switches[i - 1]?.fence;
    const next = switches[i + 1]?.fence;
    yield [{ fence, previous, next, every }, epoch];
  }
}
