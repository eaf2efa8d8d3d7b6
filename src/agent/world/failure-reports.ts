/**
 * Reports of failed ranks that end together. When one fails, its peers fail after it, and their
 * reports may arrive first: the one that explains them is awaited for a moment.
 */
import type { ErrorData } from '../../shared/errors/errors.ts';
import {
  isConsequence,
  rootCause,
  type FailureReport,
} from '../../shared/errors/root-cause.ts';

/** Time for the rank that caused the failures to report. */
const EXPLANATION_MS = 1000;

export class FailureReports {
  readonly #settled: () => void;
  readonly #reports: FailureReport[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isSettled = false;

  /**
   * @param settled called once: a report explains the others, or none has come in time. Later
   * reports still count.
   */
  constructor(settled: () => void) {
    this.#settled = settled;
  }

  get isEmpty(): boolean {
    return this.#reports.length === 0;
  }

  /** The error of the report that explains the others; undefined: there are no reports. */
  get cause(): ErrorData | undefined {
    return rootCause(this.#reports);
  }

  /** Whether all reports are errors of this code. */
  areAll(code: ErrorData['code']): boolean {
    return this.#reports.every(({ error }) => error.code === code);
  }

  add(report: FailureReport): void {
    this.#reports.push(report);
    if (!isConsequence(report)) this.settle();
    else if (!this.#isSettled) {
      this.#timer ??= setTimeout(() => {
        this.settle();
      }, EXPLANATION_MS);
    }
  }

  /** Waits no longer for an explanation: no rank is left that could report. */
  settle(): void {
    clearTimeout(this.#timer);
    if (this.#isSettled || this.isEmpty) return;
    this.#isSettled = true;
    this.#settled();
  }
}
