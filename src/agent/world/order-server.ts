/** A rank process that answers each order with one report, and exits when one fails. */
import { z } from 'zod';
import { toErrorData } from '../../shared/errors/errors.ts';
import { sentErrorSchema } from '../../shared/protocol/sent-error.ts';
import { parseOrder } from './line-message.ts';
import { openRankLine } from './rank-line.ts';

export const rankFailedSchema = z.object({
  type: z.literal('failed'),
  error: sentErrorSchema,
});
/** The last report of a rank that gave up: why it did. */
export type RankFailed = Readonly<z.infer<typeof rankFailedSchema>>;

/**
 * @param kind the word that `ps` shows between `gradwire worker` and the rank
 * @param orders the orders that it takes
 */
export function serveOrders<Order, Report>(
  kind: string,
  orders: z.ZodType<Order>,
  obey: (order: Order) => Promise<Report>,
): void {
  let failed = false;
  /** Reports the first failure: later ones follow from it. */
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
    parse: parseOrder(orders),
    obey: (order) => {
      obey(order).then((report) => {
        if (!failed) reports.send(report);
      }, fail);
    },
    fail,
  });
}
