/**
 * The processes of all ranks of one command, which end with it: an order to all of them,
 * their reports by rank. A rank that fails or dies fails the order, with the reason of the
 * one that explains the others.
 */
import { failure, GradwireError, type ErrorData } from '../../shared/errors.ts';
import { isConsequence, rootCause } from '../world/root-cause.ts';
import { RankProcess, type RankEnd } from './rank-process.ts';
import type { FromRank, ToRank } from './rank-protocol.ts';

/** How long the others may take to say why, once a rank has lost a peer. */
const EXPLANATION_MS = 1000;
/** How long a process may take to start, or to read or write a file. */
const PATIENCE_MS = 600_000;
/** Orders that nothing else sets a limit to: between ranks the transport does. */
const ALONE: readonly ToRank['type'][] = ['load', 'write', 'listen'];

export class RankWorld implements AsyncDisposable {
  readonly #ranks: readonly RankProcess[];
  readonly #ends: RankEnd[] = [];
  readonly #failure: Promise<never>;
  readonly #patienceMs: number;

  constructor(size: number, patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
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

  /**
   * An order to every rank; their reports, by rank.
   * @throws GradwireError of a rank, `WORKER_DIED`, `WORKER_SILENT`
   */
  async all<Report extends FromRank>(
    orderOf: (rank: number) => ToRank,
  ): Promise<readonly Report[]> {
    const reports = this.#ranks.map((rank) => this.#answer<Report>(rank, orderOf));
    return await Promise.race([Promise.all(reports), this.#failure]);
  }

  async #answer<Report extends FromRank>(
    worker: RankProcess,
    orderOf: (rank: number) => ToRank,
  ): Promise<Report> {
    const { rank } = worker;
    const order = orderOf(rank);
    const report = worker.order<Report>(order);
    if (!ALONE.includes(order.type)) return await report;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(
        failure(
          'WORKER_SILENT',
          `rank ${rank} has not answered "${order.type}" for ${this.#patienceMs / 1000} s`,
          { rank, next: 'Is its process stopped, or the file on a disk that hangs?' },
        ),
      );
    }, this.#patienceMs);
    try {
      return await Promise.race([report, promise, this.#failure]);
    } finally {
      clearTimeout(timer);
    }
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
