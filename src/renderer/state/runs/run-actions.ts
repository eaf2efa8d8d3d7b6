/** Actions on one run or many, each with its Undo in a message; errors are messages, too. */
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { RunSummary } from '../../../shared/rpc/run-summary.ts';
import { formatBytes } from '../../../shared/words/units.ts';
import type { Toasts } from '../page/toasts.svelte.ts';

export class RunActions {
  readonly #api: AppApi;
  readonly #toasts: Toasts;

  constructor(api: AppApi, toasts: Toasts) {
    this.#api = api;
    this.#toasts = toasts;
  }

  /**
   * Soft delete: runs leave the lists, and Undo restores them.
   * @returns those that are deleted
   */
  async remove(runs: readonly string[], name?: string): Promise<readonly string[]> {
    return this.#try([], async () => {
      const { changed, refused } = await this.#api.setAllDeleted(runs, true);
      for (const reason of refused) this.#toasts.error(reason);
      if (changed.length > 0) {
        const what = name === undefined ? counted(changed.length) : `“${name}”`;
        this.#toasts.info(`Deleted ${what}`, {
          title: 'Undo',
          run: () => void this.restore(changed),
        });
      }
      return changed;
    });
  }

  async restore(runs: readonly string[]): Promise<readonly string[]> {
    return this.#try([], async () => {
      const { changed, refused } = await this.#api.setAllDeleted(runs, false);
      for (const reason of refused) this.#toasts.error(reason);
      return changed;
    });
  }

  /** Deletes deleted runs for good: these, or all. */
  async purge(runs?: readonly string[]): Promise<void> {
    await this.#try(undefined, async () => {
      const { after, before, refused } = await (runs === undefined
        ? this.#api.purge()
        : this.#api.purge(runs));
      this.#toasts.info(`Freed ${formatBytes(Math.max(0, before - after))}`);
      for (const reason of refused) this.#toasts.error(reason);
    });
  }

  /** @returns whether it could be done */
  async tag(runs: readonly string[], tag: string, isTagged: boolean): Promise<boolean> {
    return this.#try(false, async () => {
      const changed = await this.#api.tagRuns(runs, tag, isTagged);
      if (changed.length > 0) {
        const done = isTagged ? 'Tagged' : 'No longer tagged';
        this.#toasts.info(`${done} ${tag}: ${counted(changed.length)}`, {
          title: 'Undo',
          run: () => void this.#untag(changed, tag, !isTagged),
        });
      }
      return true;
    });
  }

  /** @returns whether it could be done */
  async rename(run: RunSummary, title: string | undefined): Promise<boolean> {
    return this.#try(false, async () => {
      await (title === undefined
        ? this.#api.renameRun(run.id)
        : this.#api.renameRun(run.id, title));
      return true;
    });
  }

  async #untag(runs: readonly string[], tag: string, isTagged: boolean): Promise<void> {
    await this.#try(undefined, async () => {
      await this.#api.tagRuns(runs, tag, isTagged);
    });
  }

  async #try<T>(otherwise: T, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      this.#toasts.error(error);
      return otherwise;
    }
  }
}

const counted = (runs: number): string => (runs === 1 ? '1 run' : `${runs} runs`);
