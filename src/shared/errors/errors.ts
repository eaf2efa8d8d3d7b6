/**
 * Coded errors: the one shape in which an expected failure travels, between threads,
 * processes, over the wire and into the UI. `code` is a public contract, defined in `codes/`;
 * what comes from another version may have one that is not. `message` names the offending value; `place` the host and step; `next` the next action.
 *
 * Programmer errors are not GradwireErrors: they throw `internal:` errors and crash.
 */
import type { ErrorCode } from '../codes/error-code.ts';
import { BUG } from './report-advice.ts';
import { systemLimit, systemRefusal } from './system-limit.ts';

/** `input`: the user's input was wrong (exit code 2). `failure`: anything else (1). */
export type ErrorKind = 'input' | 'failure';

export interface ErrorData {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly place?: string | undefined;
  readonly next?: string | undefined;
  /** The rank that caused it, where one did. */
  readonly rank?: number | undefined;
}

export class GradwireError extends Error implements ErrorData {
  override readonly name = 'GradwireError';
  readonly code: string;
  readonly kind: ErrorKind;
  readonly place: string | undefined;
  readonly next: string | undefined;
  readonly rank: number | undefined;

  constructor(data: ErrorData, options?: ErrorOptions) {
    super(data.message, options);
    this.code = data.code;
    this.kind = data.kind;
    this.place = data.place;
    this.next = data.next;
    this.rank = data.rank;
  }

  toData(): ErrorData {
    return {
      code: this.code,
      kind: this.kind,
      message: this.message,
      ...(this.place === undefined ? {} : { place: this.place }),
      ...(this.next === undefined ? {} : { next: this.next }),
      ...(this.rank === undefined ? {} : { rank: this.rank }),
    };
  }
}

/** An error in the user's input: exit code 2. */
export function inputError(
  code: ErrorCode,
  message: string,
  more: Omit<Partial<ErrorData>, 'code' | 'kind' | 'message'> = {},
): GradwireError {
  return new GradwireError({ code, kind: 'input', message, ...more });
}

/** Any other expected failure: exit code 1. */
export function failure(
  code: ErrorCode,
  message: string,
  more: Omit<Partial<ErrorData>, 'code' | 'kind' | 'message'> = {},
): GradwireError {
  return new GradwireError({ code, kind: 'failure', message, ...more });
}

/** Any thrown value as ErrorData. A value without a code becomes an internal error. */
export function toErrorData(thrown: unknown): ErrorData {
  if (thrown instanceof GradwireError) return thrown.toData();
  // An answer from elsewhere has one already. The codes of Node's errors are not ours.
  if (!(thrown instanceof Error) && isErrorData(thrown)) return thrown;
  const refused = systemLimit(thrown) ?? systemRefusal(thrown);
  if (refused !== undefined) return refused;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    code: 'INTERNAL',
    kind: 'failure',
    message: message.startsWith('internal:') ? message : `internal: ${message}`,
    next: BUG,
  };
}

const MOST_NOTICES = 3;

/** The error with what was ignored or not understood before, as that may be its cause. */
export function withNotices(error: unknown, notices: readonly string[]): unknown {
  if (!(error instanceof GradwireError) || error.code === 'ABORTED') return error;
  const fresh = notices.filter((notice) => error.next?.includes(notice) !== true);
  if (fresh.length === 0) return error;
  const left = fresh.length - MOST_NOTICES;
  const shown = [
    ...fresh.slice(0, MOST_NOTICES),
    ...(left > 0 ? [`${left} more like these`] : []),
  ];
  const next = `${error.next ?? ''} Notice: ${shown.join('; ')}.`.trim();
  return new GradwireError({ ...error.toData(), next }, { cause: error });
}

export function isErrorData(value: unknown): value is ErrorData {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as ErrorData).code === 'string' &&
    typeof (value as ErrorData).message === 'string'
  );
}

/** The rank that caused an error, and where: `rank 3, box`. Empty if nothing is known. */
export function errorPlace({ rank, place }: Pick<ErrorData, 'rank' | 'place'>): string {
  const who = rank === undefined ? undefined : `rank ${rank}`;
  const parts = [who, place === who ? undefined : place];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** An error of a machine, for where nothing else says which one it is about. */
export const atMachine = (name: string, error: ErrorData): ErrorData => ({
  ...error,
  message: `${name}: ${error.message}`,
});

/** One line for a terminal: `CODE: message (at place). Next step.` */
export function formatError(error: ErrorData): string {
  const place = error.place === undefined ? '' : ` (${error.place})`;
  const next = error.next === undefined ? '' : ` ${error.next}`;
  const message = error.message.replace(/[.\s]+$/, '');
  return `${error.code}: ${message}${place}.${next}`;
}
