/** Which nodes of a run have lost their ranks, and how it went on, by the run's events. */
import type { ErrorData } from './errors.ts';
import type { InterruptedRecord, RunRecord } from './records.ts';
import { reportOf, rootCause } from './root-cause.ts';
import { formatDateTime, formatElapsed } from './units.ts';

/** The interruptions after which a node has not gone on; none of a run that has ended. */
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

/** `box: rank 2 was killed by SIGKILL` */
export const describeInterruption = ({
  node,
  error,
}: Pick<InterruptedRecord, 'node' | 'error'>): string => `${node}: ${error.message}`;

/** Once all nodes of a run have lost their ranks and gone on. */
export interface PastRestart {
  /** When the first node lost its ranks; ms since 1970. */
  readonly lostAt: number;
  /** When the last node went on. */
  readonly at: number;
  /** The first iteration that was done again: that of the checkpoint. */
  readonly iteration: number;
  /** The node and the error that explain the loss; undefined: none was recorded. */
  readonly cause: Pick<InterruptedRecord, 'node' | 'error'> | undefined;
}

interface Restart {
  readonly iteration: number;
  at: number;
  readonly nodes: Set<string>;
  readonly losses: InterruptedRecord[];
}

/** Each node records its own part: parts of one restart have its iteration in common. */
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
export function describeRestart({ at, lostAt, iteration, cause }: PastRestart): string {
  return (
    `restarted ${formatDateTime(at)} from the checkpoint at iteration ${iteration}, ` +
    `after ${formatElapsed(at - lostAt)}` +
    (cause === undefined ? '' : `: ${describeInterruption(cause)}`)
  );
}
