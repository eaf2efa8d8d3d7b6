/** The wait for a checkpoint that was ordered, among events of which the oldest are left out. */
import { expect, it } from 'vitest';
import { keptEvents } from '../../../src/renderer/state/history/kept-events.ts';
import { CheckpointWait } from '../../../src/renderer/state/runs/checkpoint-wait.svelte.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';

const checkpoint = (at: number, node = 'local'): RunEvent => ({
  type: 'checkpoint',
  at,
  node,
  iteration: at,
  bytes: 1,
  wall: 1,
});
const notice = (at: number, code = 'CLOCKS_DIFFER'): RunEvent => ({
  type: 'notice',
  at,
  level: 'info',
  code,
  message: 'a notice',
});
const interrupted = (at: number): RunEvent => ({
  type: 'interrupted',
  at,
  node: 'local',
  error: { code: 'RANK_LOST', kind: 'failure', message: 'rank 1 is gone' },
});
const notices = (from: number, count: number): readonly RunEvent[] =>
  Array.from({ length: count }, (_, index) => notice(from + index));

/** A page's events, as those come that a run makes. */
function followed(...first: readonly RunEvent[]) {
  let events: readonly RunEvent[] = first;
  const wait = new CheckpointWait();
  wait.begin(events);
  const come = (...more: readonly RunEvent[]): void => {
    ({ events } = keptEvents([...events, ...more]));
    wait.look(events);
  };
  return { come, wait };
}

it('ends with the next checkpoint', () => {
  const { come, wait } = followed(checkpoint(1));
  come(notice(2));
  expect(wait.isOn).toBe(true);
  come(checkpoint(3));
  expect(wait.isOn).toBe(false);
});

it('ends where none can be written, and where the run is interrupted', () => {
  for (const end of [notice(3, 'CHECKPOINT_WRITE_FAILED'), interrupted(3)]) {
    const { come, wait } = followed(interrupted(1), checkpoint(2));
    come(end);
    expect(wait.isOn).toBe(false);
  }
});

it('ends with the next checkpoint though earlier ones are left out by then', () => {
  const { come, wait } = followed(
    interrupted(0),
    ...[1, 2, 3].map((at) => checkpoint(at)),
    ...notices(4, 2400),
  );
  come(...notices(2404, 200));
  // What is the last one now was there before.
  expect(wait.isOn).toBe(true);
  come(checkpoint(3000));
  expect(wait.isOn).toBe(false);
});

it('does not begin again once a checkpoint that ended it is left out', () => {
  const { come, wait } = followed(interrupted(0));
  come(checkpoint(1));
  come(...notices(2, 2600));
  expect(wait.isOn).toBe(false);
});

it('ends with a checkpoint of a machine whose clock is behind', () => {
  const { come, wait } = followed(checkpoint(1000, 'ahead'));
  come(checkpoint(990, 'behind'));
  expect(wait.isOn).toBe(false);
});
