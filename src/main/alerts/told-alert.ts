/** An alert as a command and a webhook get it. */
import type { RaisedAlert } from '../../shared/alerts/run-watch.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';

export interface ToldAlert {
  /** The run's id. */
  readonly run: string;
  readonly name: string;
  /** The rule's id. */
  readonly rule: string;
  readonly title: string;
  readonly message: string;
  readonly next?: string | undefined;
  readonly rank?: number | undefined;
  readonly iteration?: number | undefined;
  /** ISO 8601, in UTC. */
  readonly at: string;
}

export function toldAlert(
  { id, name }: Pick<RunSummary, 'id' | 'name'>,
  { alert }: RaisedAlert,
): ToldAlert {
  const { at, iteration, message, next, rank, rule, title } = alert;
  const when = new Date(at).toISOString();
  return { run: id, name, rule, title, message, next, rank, iteration, at: when };
}
