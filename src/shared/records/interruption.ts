/** Interruptions of a run, from its events: the nodes that lost their ranks, and how it resumed. */
import { machineName } from '../machines/machine-names.ts';
import type { ErrorData } from '../errors/errors.ts';
import { reportOf, rootCause } from '../errors/root-cause.ts';
import { formatDateTime, formatElapsed } from '../words/units.ts';
import type { InterruptedRecord } from './interrupted.ts';
import type { RunRecord } from './record-kinds.ts';

/** Interruptions after which a node has not resumed; none for a run that has ended. */
export function openInterruptions(
  events: readonly RunRecord[],
): readonly InterruptedRecord[] {
  const open = new Map<string, InterruptedRecord>();
  for (const event of events) {
    if (event.type === 'interrupted') open.set(event.node, event);
    else if (event.type === 'restarted') open.delete(event.node);
    else if (event.type === 'done' || event.type === 'failed') open.clear();
  }
  return [...open.values()];
}

/**
 * `box: rank 2 was killed by SIGKILL`
 * @param nodes the machines of the run, as its spec names them
 */
export const describeInterruption = (
  { node, error }: Pick<InterruptedRecord, 'node' | 'error'>,
  nodes: readonly string[],
): string => `${machineName(node, nodes)}: ${error.message}`;

/** One restart: all nodes of a run lost their ranks and resumed. */
export interface PastRestart {
  /** When the first node lost its ranks; ms since 1970. */
  readonly lostAt: number;
  /** When the last node resumed. */
  readonly at: number;
  /** The first repeated iteration: that of the checkpoint. */
  readonly iteration: number;
  /** The node and error that explain the loss; undefined if none was recorded. */
  readonly cause: Pick<InterruptedRecord, 'node' | 'error'> | undefined;
}

interface Restart {
  readonly iteration: number;
  at: number;
  readonly nodes: Set<string>;
  readonly losses: InterruptedRecord[];
}

/** Each node records its own part; the parts of one restart share its iteration. */
export function pastRestarts(events: readonly RunRecord[]): readonly PastRestart[] {
  const open = new Map<string, InterruptedRecord[]>();
  const restarts: Restart[] = [];
  for (const event of events) {
    if (event.type === 'interrupted') {
      open.set(event.node, [...(open.get(event.node) ?? []), event]);
    } else if (event.type === 'restarted') {
      const { at, iteration, node } = event;
      let last = restarts.at(-1);
      if (last?.iteration !== iteration || last.nodes.has(node)) {
        last = { iteration, at, nodes: new Set(), losses: [] };
        restarts.push(last);
      }
      last.at = Math.max(last.at, at);
      last.nodes.add(node);
      last.losses.push(...(open.get(node) ?? []));
      open.delete(node);
    }
  }
  return restarts.map(({ at, iteration, losses }) => ({
    lostAt: Math.min(at, ...losses.map((loss) => loss.at)),
    at,
    iteration,
    cause: causeOf(losses),
  }));
}

function causeOf(losses: readonly InterruptedRecord[]): PastRestart['cause'] {
  const ordered = losses.toSorted((a, b) => a.at - b.at);
  const error: ErrorData | undefined = rootCause(
    ordered.map((loss) => reportOf(loss.error)),
  );
  return ordered.find((loss) => loss.error === error);
}

/** `restarted 2026-03-01 12:00 from the checkpoint at iteration 300, after 7 s: box: …` */
export function describeRestart(
  { at, lostAt, iteration, cause }: PastRestart,
  nodes: readonly string[],
): string {
  return (
    `restarted ${formatDateTime(at)} from ` +
    (iteration === 0
      ? 'the beginning, '
      : `the checkpoint at iteration ${iteration}, `) +
    `after ${formatElapsed(at - lostAt)}` +
    (cause === undefined ? '' : `: ${describeInterruption(cause, nodes)}`)
  );
}
