/** Reads of runs and their records for pages, whole or in pieces. */
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import { readComparedRun } from '../compare/read-run.ts';
import { exportPiece } from '../store/run-export.ts';
import type { RunStore } from '../store/run-store.ts';

type RecordsApi = Pick<
  CoreApi,
  | 'bins'
  | 'buckets'
  | 'comparedRun'
  | 'exportRun'
  | 'iterations'
  | 'machines'
  | 'run'
  | 'runLog'
  | 'trace'
  | 'tracedIterations'
>;

// Those that only read are async so that errors reject instead of throwing.
export const recordsApi = (store: RunStore): RecordsApi => ({
  run: async (id) => store.reads.shown(id),
  iterations: async (run, { most, ...range }) =>
    store.reads.iterations(run, range, most),
  bins: async (run, query) => store.reads.bins(run, query),
  runLog: async (run, after) => store.reads.logAfter(run, after),
  tracedIterations: async (run) => store.traces.stretches(run),
  trace: async (run, place) => store.traces.piece(run, place),
  buckets: (run, query) => store.buckets.table(run, query),
  machines: (run, query) => store.utilisation.table(run, query),
  comparedRun: async (run) => readComparedRun(store, run),
  exportRun: async (run, format, place) => exportPiece(store, run, format, place),
});
