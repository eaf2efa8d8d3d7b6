/**
 * The processes of all ranks of one command, which end with it: orders go to all of them,
 * reports come by rank. If a rank fails or dies, the order fails with the reason that
 * explains the others.
 */
import type { z } from 'zod';
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import { FailureReports } from './failure-reports.ts';
import { parseReport } from './line-message.ts';
import { rankFailedSchema, type RankFailed } from './order-server.ts';
import { deathOf } from './rank-death.ts';
import {
  RankProcess,
  type ProcessBroken,
  type ProcessExit,
  type RankCommand,
} from './rank-process.ts';

interface Typed {
  readonly type: string;
}

export interface RankWorldOptions<Report> {
  readonly size: number;
  /** The reports that its ranks make. */
  readonly reports: z.ZodType<Report>;
  /** The process of a rank; its first argument is the rank. */
  readonly commandOf: (rank: number) => Omit<RankCommand, 'args'>;
}

export class RankWorld<
  Order extends Typed,
  Report extends Typed,
> implements AsyncDisposable {
  readonly #ranks: readonly RankProcess<Order, Report | RankFailed>[];
  readonly #answers = new Map<number, (report: Report) => void>();
  readonly #failures: FailureReports;
  readonly #ended = new Set<number>();
  readonly #failed = Promise.withResolvers<never>();
  #closing = false;

  constructor({ size, commandOf, reports }: RankWorldOptions<Report>) {
    this.#failures = new FailureReports(() => {
      this.#failed.reject(new GradwireError(this.#failures.cause!));
    });
    // A pending order is rejected with it; between two orders nothing is pending.
    this.#failed.promise.catch(() => undefined);
    this.#ranks = Array.from(
      { length: size },
      (_, rank) =>
        new RankProcess<Order, Report | RankFailed>(
          rank,
          { ...commandOf(rank), args: [String(rank)] },
          (event) => {
            this.#receive(rank, event);
          },
          { parse: parseAny(reports, rank) },
        ),
    );
  }

  get size(): number {
    return this.#ranks.length;
  }

  /** Process ids, by rank. */
  get pids(): readonly number[] {
    return this.#ranks.map(({ pid }) => pid);
  }

  /**
   * Sends an order to every rank; resolves with their reports, by rank.
   * @param answer the type of those reports
   * @param limitMs time limit of a rank, for orders without another limit; between ranks
   * the transport has one
   * @throws GradwireError of a rank, `WORKER_DIED`, `WORKER_SILENT`
   */
  async all<Type extends Report['type']>(
    answer: Type,
    orderOf: (rank: number) => Order,
    limitMs?: number,
  ): Promise<readonly Extract<Report, { readonly type: Type }>[]> {
    return await Promise.all(
      this.#ranks.map(({ rank }) => this.ask(answer, rank, orderOf(rank), limitMs)),
    );
  }

  /**
   * Sends an order to one rank; resolves with its report.
   * @throws GradwireError as `all`
   */
  async ask<Type extends Report['type']>(
    answer: Type,
    rank: number,
    order: Order,
    limitMs?: number,
  ): Promise<Extract<Report, { readonly type: Type }>> {
    const { promise, resolve, reject } = Promise.withResolvers<Report>();
    this.#answers.set(rank, resolve);
    let timer: NodeJS.Timeout | undefined;
    if (limitMs !== undefined) {
      timer = setTimeout(() => {
        reject(
          failure(
            'WORKER_SILENT',
            `rank ${rank} has not responded to "${order.type}" for ${limitMs / 1000} s`,
            {
              rank,
              next: 'Check that its process is not suspended and that the disk with the file responds.',
            },
          ),
        );
      }, limitMs);
    }
    this.#ranks[rank]!.send(order);
    try {
      const report = await Promise.race([promise, this.#failed.promise]);
      if (isOf(report, answer)) return report;
      throw failure(
        'REPORT_INVALID',
        `rank ${rank} answered "${order.type}" with "${report.type}"`,
        { rank },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    for (const rank of this.#ranks) rank.kill();
    await Promise.all(this.#ranks.map(({ closed }) => closed));
    this.#failures.settle();
  }

  #receive(
    rank: number,
    event: Report | RankFailed | ProcessExit | ProcessBroken,
  ): void {
    if (isEnd(event)) {
      this.#fail(rank, event);
      return;
    }
    const answer = this.#answers.get(rank);
    this.#answers.delete(rank);
    answer?.(event);
  }

  #fail(rank: number, end: RankFailed | ProcessExit | ProcessBroken): void {
    // A rank exits after it has reported its failure, which adds nothing.
    if (this.#ended.has(rank) || this.#closing) return;
    this.#ended.add(rank);
    this.#failures.add(
      end.type === 'failed'
        ? { kind: 'report', error: { rank, ...end.error } }
        : { kind: 'death', error: { ...errorOf(rank, end), rank } },
    );
    if (this.#ended.size === this.size) this.#failures.settle();
  }
}

/** Parses a report, telling failures apart first, so that the error of either is its own. */
function parseAny<Report>(
  reports: z.ZodType<Report>,
  rank: number,
): (raw: unknown) => Report | RankFailed {
  const parseFailed = parseReport(rankFailedSchema, rank);
  const parse = parseReport(reports, rank);
  return (raw) =>
    (raw as Partial<Typed> | null)?.type === 'failed' ? parseFailed(raw) : parse(raw);
}

const isOf = <Report extends Typed, Type extends string>(
  report: Report,
  type: Type,
): report is Extract<Report, { readonly type: Type }> => report.type === type;

function isEnd<Report extends Typed>(
  event: Report | RankFailed | ProcessExit | ProcessBroken,
): event is RankFailed | ProcessExit | ProcessBroken {
  return event.type === 'failed' || event.type === 'exit' || event.type === 'broken';
}

const errorOf = (rank: number, end: ProcessExit | ProcessBroken): ErrorData =>
  end.type === 'broken' ? end.error : deathOf(rank, end);
