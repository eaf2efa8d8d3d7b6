/** Public data sets as the app shows them. */
import type { ErrorData } from '../errors/errors.ts';

export interface DataSetStatus {
  readonly id: string;
  readonly title: string;
  /** The set's author and licence. */
  readonly source: string;
  /** Size of the download. */
  readonly bytes: number;
  /** `workload.dataset` of runs on it. */
  readonly dataset: string;
  /** The value for `workload.data` if it is on this computer. */
  readonly data?: string | undefined;
  /** Bytes so far, while it is being fetched. */
  readonly progress?: { readonly done: number; readonly total: number } | undefined;
  /** The error of the last fetch, if it failed. */
  readonly error?: ErrorData | undefined;
}
