/** An alert as pages, a command and a webhook get it. */
import type { AlertRecord } from '../records/alert.ts';

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
  { id, name }: { readonly id: string; readonly name: string },
  { at, iteration, message, next, rank, rule, title }: AlertRecord,
): ToldAlert {
  const when = new Date(at).toISOString();
  return { run: id, name, rule, title, message, next, rank, iteration, at: when };
}
