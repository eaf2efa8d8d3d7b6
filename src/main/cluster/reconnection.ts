/**
 * The decision after each failed attempt to make a lost connection again. A machine that
 * cannot be reached is tried again. One that refuses the log-in is tried a few more times,
 * since a home or an account service that is not there for a moment looks the same; but not
 * for ever, because more attempts could lock the account and would fill the machine's logs.
 */
import type { ErrorData } from '../../shared/errors/errors.ts';

/** One failed attempt, with all that decides about the next one. */
export interface FailedAttempt {
  /** The code of its error. */
  readonly code: string;
  /** Whether the machine was taken over with this lasting error, which has been told. */
  readonly isKnown?: boolean;
  /** Attempts that the machine has refused since it was last connected, this one included. */
  readonly refusals: number;
  /** Whether this attempt was allowed to ask the user. */
  readonly asked: boolean;
  /** Whether the user is there to be asked: at a terminal, by a command. */
  readonly mayAsk: boolean;
  /** Time since the connection was lost. */
  readonly lostMs: number;
  /** Most time during which a lost machine is waited for; Infinity: for ever. */
  readonly patienceMs: number;
}

/**
 * `retry` after the link's own growing pause, or after the given one; `ask`: try again, and
 * ask the user for what the log-in needs; `refused`, `unreachable`: no further attempt.
 */
export type NextStep =
  | { readonly kind: 'retry'; readonly pauseMs?: number; readonly isTold?: boolean }
  | { readonly kind: 'ask' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreachable' };

/** The pause after each refusal but the last. Secrets are kept in memory for 30 s. */
export const REFUSAL_PAUSES_MS: readonly number[] = [2000, 5000, 10_000, 20_000];

/**
 * Refusals before the user is asked: a server that refuses a key for a moment may want a
 * password next.
 */
const UNASKED_REFUSALS = 2;

/**
 * The pause after another host than the one with the run has answered. SSH connections without
 * use stay for 30 s, and half of the pause is left to chance.
 */
const ELSEWHERE_PAUSE_MS = 90_000;

/** The pause after an error that only a change of the machine ends: a full disk, for example. */
const LASTING_PAUSE_MS = 300_000;

/** Refusals that no later attempt changes: of a host key, or by the user. */
const FINAL = new Set([
  ...['HOST_KEY_CHANGED', 'HOST_KEY_REVOKED', 'HOST_KEY_REFUSED'],
  ...['SSH_AUTH_CANCELLED', 'SSH_PASSWORD_REFUSED', 'SSH_PASSWORD_EXPIRED'],
]);
/** Host keys that the user may confirm. */
const CONFIRMABLE = new Set(['HOST_KEY_UNKNOWN', 'HOST_KEY_OTHER_TYPE']);
const LOG_IN = /^(SSH_AUTH|SSH_KEY|SSH_AGENT|SSH_PASSWORD|HOST_KEYS?)_/;

/** Whether the machine was reached and did not let us in. */
export const isRefusal = (code: string): boolean => LOG_IN.test(code);

/** Errors that pass by themselves, beside losses of connections. */
const PASSING = new Set(['ATTACH_FAILED', 'ABORTED', 'HOME_HELD_ELSEWHERE']);

/** Returns the code of an error of a machine that let us in and cannot be used as it is. */
export function lastingCode(error: ErrorData | undefined): string | undefined {
  if (error === undefined || isRefusal(error.code)) return undefined;
  const passes = /^(SSH|SUPERVISOR)_/.test(error.code) || PASSING.has(error.code);
  return passes ? undefined : error.code;
}

/** The pause before the first attempt after an error; undefined: the shortest. */
export const pauseAfter = (error: ErrorData | undefined): number | undefined =>
  lastingCode(error) === undefined ? undefined : LASTING_PAUSE_MS;

export function afterFailure(attempt: FailedAttempt): NextStep {
  const { code, refusals, asked, mayAsk } = attempt;
  if (!isRefusal(code)) {
    if (attempt.lostMs > attempt.patienceMs) return { kind: 'unreachable' };
    if (attempt.isKnown === true) {
      return { kind: 'retry', pauseMs: LASTING_PAUSE_MS, isTold: true };
    }
    return code === 'HOME_HELD_ELSEWHERE'
      ? { kind: 'retry', pauseMs: ELSEWHERE_PAUSE_MS }
      : { kind: 'retry' };
  }
  // The user has had a chance to answer: who is still refused decides what to do next.
  if (FINAL.has(code) || asked) return { kind: 'refused' };
  if (CONFIRMABLE.has(code)) return { kind: mayAsk ? 'ask' : 'refused' };
  if (mayAsk && code === 'SSH_AUTH_NEEDED' && refusals >= UNASKED_REFUSALS) {
    return { kind: 'ask' };
  }
  const pauseMs = REFUSAL_PAUSES_MS[refusals - 1];
  return pauseMs === undefined ? { kind: 'refused' } : { kind: 'retry', pauseMs };
}

/** The loss, reworded for a terminal right before the prompt. */
export const asksAgain = (error: ErrorData): ErrorData => ({
  ...error,
  message: 'the connection was lost, and the machine asks for a log-in again',
  next: 'Answer the prompt to follow the run again.',
});
