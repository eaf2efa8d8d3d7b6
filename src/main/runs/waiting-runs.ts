/** Runs whose records wait for a machine that is out of reach. */
import type { NodeLink } from '../cluster/node-link.ts';

export class WaitingRuns {
  /** Runs by node: another link to it follows them as well. */
  readonly #waiting = new Map<string, Set<string>>();
  /** Runs for which a link found no connection. A machine's changed entry has another link. */
  readonly #tried = new WeakMap<NodeLink, Set<string>>();

  /** The set of runs that wait for a node, which the caller may change. */
  on({ name }: Pick<NodeLink, 'name'>): Set<string> {
    let waiting = this.#waiting.get(name);
    if (waiting === undefined) this.#waiting.set(name, (waiting = new Set()));
    return waiting;
  }

  /** Notes that a node did not say whether it has a run: it is not asked again for this run alone. */
  noteTried(link: NodeLink, run: string): void {
    this.on(link).add(run);
    const tried = this.#tried.get(link) ?? new Set();
    this.#tried.set(link, tried.add(run));
  }

  wasTried(link: NodeLink, run: string): boolean {
    return this.#tried.get(link)?.has(run) === true;
  }

  forget(isOver: (run: string) => boolean): void {
    for (const waiting of this.#waiting.values()) {
      for (const run of waiting) if (isOver(run)) waiting.delete(run);
    }
  }
}
