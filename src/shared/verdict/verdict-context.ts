/** Facts for the verdict from a run's events: its links, and what the engine noticed. */
import { secondsPerByte } from '../machines/emulated-network.ts';
import type { RunEvent } from '../records/record-kinds.ts';

/** Milliseconds per byte of the slowest emulated link; undefined where ranks have real links. */
export function linkTimePerByte(events: readonly RunEvent[]): number | undefined {
  const started = events.find((event) => event.type === 'started');
  if (started?.emulated === undefined) return undefined;
  const { pairs = [], ...common } = started.emulated;
  return 1000 * Math.max(...[common, ...pairs].map(secondsPerByte));
}

/** Whether the engine has noticed, under the current plan, that compression does not pay. */
export function hasRefutedCompression(events: readonly RunEvent[]): boolean {
  const since = events.findLast(({ type }) => type === 'switch')?.at ?? -Infinity;
  return events.some(
    (event) =>
      event.type === 'notice' &&
      event.code === 'COMPRESSION_DOES_NOT_PAY' &&
      event.at >= since,
  );
}
