/** The history as exports read it: the same calls that main answers to a page. */
import { specToYaml } from '../../main/spec/spec-yaml.ts';
import { exportPiece } from '../../main/store/run-export.ts';
import type { RunStore } from '../../main/store/run-store.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { CoreApi } from '../../shared/rpc/rpc.ts';

type StoredRuns = Pick<
  CoreApi,
  'bins' | 'exportRun' | 'iterations' | 'run' | 'runLog' | 'specToYaml'
>;

/** Answers of a store, async so that errors reject. */
export const storedRuns = (store: RunStore): StoredRuns => ({
  bins: async (run, query) => store.reads.bins(run, query),
  exportRun: async (run, format, place) => exportPiece(store, run, format, place),
  iterations: async (run, { most, ...range }) =>
    store.reads.iterations(run, range, most),
  run: async (run) => store.reads.shown(run),
  runLog: async (run, after) => store.reads.logAfter(run, after),
  specToYaml: async (spec) => specToYaml(spec as ExperimentSpec),
});
