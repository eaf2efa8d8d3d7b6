/** A rank process that answers each order with one report, and exits when one fails. */
import { toErrorData, type ErrorData } from '../../shared/errors.ts';
import { openRankLine } from './rank-line.ts';

/** Why a rank gave up, as its last report. */
export interface RankFailed {
  readonly type: 'failed';
  readonly error: ErrorData;
}

/** @param kind the word that `ps` shows between `gradwire worker` and the rank */
export function serveOrders<Order, Report>(
  kind: string,
  obey: (order: Order) => Promise<Report>,
): void {
  let failed = false;
  /** The first reason counts: later failures follow from it. */
  const fail = (error: unknown): void => {
    if (failed) return;
    failed = true;
    reports.send({ type: 'failed', error: toErrorData(error) });
    reports.end(() => {
      process.exit(1);
    });
  };
  const reports = openRankLine<Order, Report | RankFailed>({
    title: `gradwire worker ${kind} ${process.argv[2] ?? '?'}`,
    obey: (order) => {
      obey(order).then((report) => {
        if (!failed) reports.send(report);
      }, fail);
    },
    fail,
  });
}
