/** Public data sets as the app shows them. */
import type { ErrorData } from './errors.ts';

export interface DataSetStatus {
  readonly id: string;
  readonly title: string;
  /** Whose it is, and under which terms. */
  readonly source: string;
  /** To be fetched. */
  readonly bytes: number;
  /** `workload.dataset` of runs on it. */
  readonly dataset: string;
  /** What `workload.data` names, where it is here. */
  readonly data?: string | undefined;
  /** Bytes, while it is being fetched. */
  readonly progress?: { readonly done: number; readonly total: number } | undefined;
  /** Why the last fetch did not end well. */
  readonly error?: ErrorData | undefined;
}
