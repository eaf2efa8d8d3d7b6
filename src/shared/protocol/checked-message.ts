/**
 * A message of another process, checked against its schema. The error names the field and the
 * value that is wrong. Keys that the schema does not know are dropped, so that a newer version
 * may say more.
 *
 *     const order = checkedMessage(toWorkerSchema, raw, { code: 'ORDER_INVALID', what: 'order' });
 * Upholds invariant I14 (docs/architecture.md).
 */
import type { z } from 'zod';
import { checkedValue } from '../checks/checked-value.ts';
import type { ErrorCode } from '../codes/error-code.ts';
import { failure } from '../errors/errors.ts';

export interface Refusal {
  readonly code: ErrorCode;
  /** The message's name, with which the error's text begins. */
  readonly what: string;
  readonly rank?: number | undefined;
  /** The machine that sent it. */
  readonly place?: string | undefined;
}

const SAME_VERSION =
  'Use the same version of Gradwire everywhere. If you already do, report this as a bug.';

/** @throws GradwireError with the refusal's code */
export function checkedMessage<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  { code, what, rank, place }: Refusal,
): z.infer<S> {
  const checked = checkedValue(schema, raw);
  if (checked.fault === undefined) return checked.value;
  throw failure(code, `${what}: ${checked.fault}`, {
    ...(rank === undefined ? {} : { rank }),
    ...(place === undefined ? {} : { place }),
    next: SAME_VERSION,
  });
}
