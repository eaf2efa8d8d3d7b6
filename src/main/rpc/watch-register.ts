/**
 * A register of the sessions that watch each run. The core pushes a run's records while any
 * session watches it; several windows may watch the same run, and one that closes must not
 * silence the others. So each session holds its own set, and the core is told when the last
 * one leaves.
 */
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import type { RunDetail } from '../../shared/rpc/run-summary.ts';

export class WatchRegister {
  readonly #api: CoreApi;
  readonly #watchers = new Map<string, Set<object>>();

  constructor(api: CoreApi) {
    this.#api = api;
  }

  /**
   * The watcher is registered before the core is asked, so that it also gets records
   * pushed before the answer arrives (sequence numbers show which ones it already has).
   */
  async watch(watcher: object, run: string): Promise<RunDetail> {
    const watchers = this.#watchers.get(run) ?? new Set();
    this.#watchers.set(run, watchers);
    const joined = !watchers.has(watcher);
    watchers.add(watcher);
    try {
      return await this.#api.watch(run);
    } catch (error) {
      if (joined) await this.unwatch(watcher, run);
      throw error;
    }
  }

  async unwatch(watcher: object, run: string): Promise<void> {
    const watchers = this.#watchers.get(run);
    if (!watchers?.delete(watcher) || watchers.size > 0) return;
    this.#watchers.delete(run);
    await this.#api.unwatch(run);
  }

  async leave(watcher: object): Promise<void> {
    const watched = [...this.#watchers]
      .filter(([, watchers]) => watchers.has(watcher))
      .map(([run]) => run);
    await Promise.all(watched.map((run) => this.unwatch(watcher, run)));
  }

  isWatched(watcher: object, run: string): boolean {
    return this.#watchers.get(run)?.has(watcher) ?? false;
  }
}
