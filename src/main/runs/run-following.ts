/** Follows runs to their end, each from the record after the last stored one. */
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { nodesOf } from '../../shared/spec/experiment-spec.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { mendDamaged } from './damaged-runs.ts';
import { isBeingLaunched } from './being-launched.ts';
import { assertNotElsewhere } from './runs-elsewhere.ts';

export class RunFollowing {
  readonly #parts: CoordinatorParts;

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
  }

  /**
   * Ends a run at once on every node that can be reached, and stores it as failed. Ranks on
   * unreachable nodes end when they notice that their peers are gone; if all ranks are on one
   * such node, they go on.
   * @returns the nodes that were not reached
   */
  async abandon(id: string, error: ErrorData): Promise<readonly string[]> {
    const missed: string[] = [];
    await Promise.all(
      this.#parts.linksOf(id).map(async (link) => {
        try {
          // Connects without deploying or starting anything.
          const found = await link.find({ interactive: false });
          await found?.request('abort', { run: id, error });
        } catch (failed) {
          if (!(failed instanceof GradwireError)) throw failed;
          // Known there, but ended: nothing is left to end.
          if (failed.code !== 'RUN_UNKNOWN') missed.push(link.name);
        }
      }),
    );
    this.#parts.news.changed(this.#parts.store.fail(id, error, Date.now()));
    return missed;
  }

  /**
   * Reads a node's remaining records of runs that have ended without it.
   * @throws GradwireError if it cannot be reached
   */
  async collect(node: string): Promise<void> {
    if (!this.#parts.store.journals.missing().some((missing) => missing.node === node))
      return;
    const link = this.#parts.nodes.named(node);
    await link.connect();
    await this.#parts.recovery.synchronise(link, true);
    await this.#parts.followers.caughtUp();
  }

  /**
   * Reads the records that an ended run lacks.
   * @throws GradwireError of the first machine that cannot be reached
   */
  async fetchMissing(id: string): Promise<void> {
    try {
      for (const node of this.#parts.store.summary(id).missing ?? [])
        await this.collect(node);
    } finally {
      this.#parts.news.changed(this.#parts.store.summary(id));
    }
  }

  /** Follows a live run until it ends; for an ended run, reads missing records. */
  async follow(id: string, { keep = true } = {}): Promise<void> {
    if (keep) this.#parts.kept.add(id);
    const silent = await mendDamaged(this.#parts.store.damaged, this.#parts.nodes, id);
    if (silent !== undefined) throw silent;
    const isOver = hasEnded(this.#parts.store.summary(id).state);
    if (isOver && !(await this.#revive(id))) {
      const missing = this.#parts.store.journals
        .missing()
        .filter(({ run }) => run === id);
      for (const { node } of missing) {
        try {
          await this.collect(node);
        } catch (error) {
          this.#parts.news.outOfReach(node, error);
        }
      }
      return;
    }
    const { open } = this.#parts.store.journals.endings(id);
    const links = this.#parts.linksOf(id).filter(({ name }) => open.includes(name));
    const errors = new Map<NodeLink, GradwireError>();
    const found = await Promise.all(
      links.map(async (link) => {
        try {
          return await this.#followOn(link, id);
        } catch (error) {
          if (!(error instanceof GradwireError)) throw error;
          errors.set(link, error);
          return false;
        }
      }),
    );
    const [first] = errors.values();
    if (found.includes(true)) {
      // The other nodes' records are still worth following.
      for (const [link, error] of errors) {
        this.#parts.recovery.followLater(link, id, error.toData());
      }
      return;
    }
    if (first !== undefined) throw first;
    const run = this.#parts.store.runs
      .unended()
      .find((candidate) => candidate.id === id);
    // It has ended meanwhile, and another process has stored its end.
    if (run === undefined) this.#parts.news.changed(this.#parts.store.summary(id));
    else if (isBeingLaunched(run)) {
      throw failure('RUN_STARTING', `run ${id} has not started yet`, {
        next: 'Try again in a moment.',
      });
    } else await this.#lose(links, id);
  }

  /** Resolves when all records that journals held at the time of subscription are stored and told. */
  async caughtUp(): Promise<void> {
    await this.#parts.followers.caughtUp();
  }

  /** @throws GradwireError `HOME_HELD_ELSEWHERE`: another login node has it */
  async #lose(links: readonly NodeLink[], id: string): Promise<void> {
    await assertNotElsewhere(links, id);
    this.#parts.recovery.lose(id);
  }

  /**
   * Asks the machines of a run that was presumed lost whether they have it; if one does, its
   * record is corrected.
   * @returns whether a record was corrected
   */
  async #revive(id: string): Promise<boolean> {
    if (!this.#parts.store.presumed.has(id)) return false;
    const names = nodesOf(this.#parts.store.spec(id)).filter((node) =>
      this.#parts.nodes.has(node),
    );
    let found = false;
    for (const link of new Set(names.map((name) => this.#parts.nodes.named(name)))) {
      try {
        const connection = await link.find();
        const { runs } = (await connection?.request('runs', {})) ?? { runs: [] };
        const isThere = runs.some(({ run }) => run === id);
        found = (isThere && this.#parts.store.presumed.reopen(id)) || found;
      } catch (error) {
        if (!(error instanceof GradwireError)) throw error;
        this.#parts.news.linkTrouble(link, error.toData());
      }
    }
    if (found) this.#parts.news.changed(this.#parts.store.summary(id));
    return found;
  }

  /** Follows the run on the node; returns whether the node has it. */
  async #followOn(link: NodeLink, id: string): Promise<boolean> {
    const { runs } = await link.request('runs', {});
    if (!runs.some(({ run }) => run === id)) return false;
    await this.#parts.followers.follow(link, id);
    return true;
  }

  /**
   * Resolves with the run once it has ended and everything is stored.
   * @throws GradwireError `RUN_UNFOLLOWED` (rejects): a command has given up its machines
   */
  ended(id: string): Promise<RunSummary> {
    const ended = this.#parts.endings.of(id);
    this.#parts.lost.considerLeaving(id);
    return ended;
  }
}
