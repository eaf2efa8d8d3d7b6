/**
 * The app's last handler: faults that nothing else caught are written to `app.log` in the
 * home, with their stacks, and the app goes on. A command reports them and ends instead.
 */
import type { EventEmitter } from 'node:events';
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { GradwireError } from '../../shared/errors/errors.ts';
import type { Home } from './home.ts';

const LIMIT_BYTES = 1_000_000;
const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Replaces the process's handlers, such as the one of the command that serves the app.
 * @param report tells the user
 */
export function catchFaults(
  home: Home,
  report: (error: unknown) => void,
): AsyncDisposable {
  const faults: EventEmitter = process;
  const before = new Map(EVENTS.map((event) => [event, faults.rawListeners(event)]));
  const handle = (error: unknown): void => {
    logFault(home.appLog, error);
    report(error);
  };
  for (const event of EVENTS) faults.removeAllListeners(event).on(event, handle);
  return {
    [Symbol.asyncDispose]: () => {
      for (const [event, listeners] of before) {
        faults.off(event, handle);
        for (const listener of listeners) faults.on(event, listener as () => void);
      }
      return Promise.resolve();
    },
  };
}

function logFault(file: string, error: unknown): void {
  const text =
    error instanceof Error && !(error instanceof GradwireError)
      ? (error.stack ?? error.message)
      : String(error);
  try {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LIMIT_BYTES) renameSync(file, `${file}.1`);
    appendFileSync(file, `${new Date().toISOString()} ${process.pid}: ${text}\n`, {
      mode: 0o600,
    });
  } catch {
    // The disk may be full; the user is told all the same.
  }
}
