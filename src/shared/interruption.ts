/** Which nodes of a run have lost their ranks for now, by the run's events. */
import type { InterruptedRecord, RunRecord } from './records.ts';

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
export const describeInterruption = ({ node, error }: InterruptedRecord): string =>
  `${node}: ${error.message}`;
