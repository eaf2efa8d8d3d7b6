/** The choices of the list of runs, which stay while other places are shown. */
import type { VirtualItem } from '@tanstack/svelte-virtual';
import type { RunsPlace } from '../places/runs.ts';

export class RunListChoices {
  /** The last place of the list, and how far it was scrolled there, in pixels. */
  place = $state.raw<RunsPlace>({ view: 'runs' });
  scroll = 0;
  /** The heights of rows there, so that the same rows are at that place again. */
  heights: readonly VirtualItem[] = [];
  /** Ids of chosen runs, in the order in which they were chosen; also of other lists. */
  #chosen = $state.raw<readonly string[]>([]);

  get chosen(): readonly string[] {
    return this.#chosen;
  }

  /** Chooses runs, or no longer. */
  choose(runs: readonly string[], isChosen: boolean): void {
    const others = this.#chosen.filter((run) => !runs.includes(run));
    this.#chosen = isChosen
      ? [...this.#chosen, ...runs.filter((run) => !this.#chosen.includes(run))]
      : others;
  }
}
