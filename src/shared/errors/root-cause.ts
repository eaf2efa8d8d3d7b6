/**
 * The reason why a run failed. When one rank fails, its peers fail after it, and their
 * reports may arrive first: of all reports within a short time, the one that explains the
 * others is kept. A rank's own error explains most, then a process that died without a
 * report; the loss of a peer explains nothing.
 */
import type { ErrorData } from './errors.ts';

/** Errors that only say that another rank is missing. */
const CONSEQUENCES: ReadonlySet<string> = new Set([
  'PEER_LOST',
  'PEER_TIMEOUT',
  'PEER_UNREACHABLE',
  'PEER_UNAUTHENTICATED',
  'ABORTED',
]);

/**
 * Whether an error is no rank's doing, though a rank reports it: that of a tunnel, or of a launcher,
 * which is the child of the first rank of its machine.
 */
export const isNoRanks = ({ code }: Pick<ErrorData, 'code'>): boolean =>
  code === 'PEER_LOST' || code === 'LAUNCHER_FAILED';

export type FailureReport =
  | { readonly kind: 'death'; readonly error: ErrorData }
  | { readonly kind: 'report'; readonly error: ErrorData };

/** A failure recorded in a journal. */
export const reportOf = (error: ErrorData): FailureReport => ({
  kind: error.code === 'WORKER_DIED' ? 'death' : 'report',
  error,
});

export function isConsequence(report: FailureReport): boolean {
  return report.kind === 'report' && CONSEQUENCES.has(report.error.code);
}

/** The report that explains the others: the first of the strongest kind. */
export function rootCause(reports: readonly FailureReport[]): ErrorData | undefined {
  const strength = (report: FailureReport): number => {
    if (isConsequence(report)) return 0;
    return report.kind === 'report' ? 2 : 1;
  };
  let best: FailureReport | undefined;
  for (const report of reports) {
    if (best === undefined || strength(report) > strength(best)) best = report;
  }
  return best?.error;
}
