/**
 * The processes of all ranks of one command, which end with it: an order to all of them,
 * their reports by rank. A rank that fails or dies fails the order, with the reason of the
 * one that explains the others.
 */
import { GradwireError, type ErrorData } from '../../shared/errors.ts';
import { isConsequence, rootCause } from '../supervisor/root-cause.ts';
import { RankProcess, type RankEnd } from './rank-process.ts';
import type { FromRank, ToRank } from './rank-protocol.ts';

/** How long the others may take to say why, once a rank has lost a peer. */
const EXPLANATION_MS = 1000;

export class RankWorld implements AsyncDisposable {
  readonly #ranks: readonly RankProcess[];
  readonly #ends: RankEnd[] = [];
  readonly #failure: Promise<never>;

  constructor(size: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.#failure = promise;
    // Whoever awaits a report is told; between two reports nobody is.
    promise.catch(() => undefined);
    this.#ranks = Array.from(
      { length: size },
      (_, rank) =>
        new RankProcess(rank, (end) => {
          this.#ends.push(end);
          if (this.#ends.length === 1) void this.#explain().then(reject);
        }),
    );
  }

  /** An order to every rank; their reports, by rank. */
  async all<Report extends FromRank>(
    orderOf: (rank: number) => ToRank,
  ): Promise<readonly Report[]> {
    const reports = this.#ranks.map((rank) => rank.order<Report>(orderOf(rank.rank)));
    return await Promise.race([Promise.all(reports), this.#failure]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const rank of this.#ranks) rank.kill();
    await Promise.all(this.#ranks.map(({ closed }) => closed));
  }

  /** A rank that lost a peer may be heard before the one that explains it. */
  async #explain(): Promise<GradwireError> {
    const explained = (): boolean => this.#ends.some((end) => !isConsequence(end));
    if (!explained()) {
      let timer: NodeJS.Timeout | undefined;
      const deadline = new Promise((resolve) => {
        timer = setTimeout(resolve, EXPLANATION_MS);
      });
      const ended = Promise.all(this.#ranks.map(({ closed }) => closed));
      await Promise.race([deadline, ended]);
      clearTimeout(timer);
    }
    const error = rootCause(this.#ends) satisfies ErrorData | undefined;
    if (error === undefined) throw new Error('internal: nobody has failed');
    return new GradwireError(error);
  }
}
