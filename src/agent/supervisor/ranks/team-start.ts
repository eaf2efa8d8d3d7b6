/** The reports of a run's ranks about themselves, put together when all are ready. */
import type { FromWorker } from '../../../shared/protocol/worker.ts';
import type { StartedRecord } from '../../../shared/records/started.ts';

/** The beginning of a run, as its ranks report it. */
export type TeamStart = Pick<
  StartedRecord,
  'backend' | 'why' | 'parameters' | 'metricKind' | 'chance' | 'processes'
>;

/** A rank's report that it is ready. */
export type Ready = Extract<FromWorker, { type: 'ready' }>;

/**
 * Facts that all report alike, and the process of each.
 * @param processes by rank; where a rank is on another machine, of what has started it there
 * @param nodeOf returns a rank's machine
 */
export function teamStart(
  ready: ReadonlyMap<number, Ready>,
  processes: ReadonlyMap<number, { readonly pid: number }>,
  nodeOf: (rank: number) => string,
): TeamStart {
  const { backend, chance, why, parameters, metricKind } = [...ready.values()][0]!;
  return {
    backend,
    parameters,
    ...(why === undefined ? {} : { why }),
    ...(metricKind === undefined ? {} : { metricKind }),
    ...(chance === undefined ? {} : { chance }),
    processes: [...processes].map(([rank, process]) => {
      const { device, bus, cores, pid = process.pid } = ready.get(rank)!;
      return {
        rank,
        pid,
        node: nodeOf(rank),
        ...(device === undefined ? {} : { device }),
        ...(bus === undefined ? {} : { bus }),
        ...(cores === undefined ? {} : { cores }),
      };
    }),
  };
}
