import { beforeEach, expect, test } from 'vitest';
import {
  FrameTurns,
  type FrameWork,
} from '../../../src/renderer/state/page/redraw-clock.svelte.ts';

let frames: FrameWork[];
let turns: FrameTurns;

beforeEach(() => {
  frames = [];
  turns = new FrameTurns((callback) => void frames.push(callback));
});

/** Shows one frame. @returns how many callbacks it had */
function showFrame(now = 0): number {
  const due = frames;
  frames = [];
  for (const callback of due) callback(now);
  return due.length;
}

test('each work has a frame of its own, first come, first served', () => {
  const ran: string[] = [];
  const [first, second] = ['first', 'second'].map((name) => () => void ran.push(name));
  turns.take(first!);
  turns.take(second!);
  turns.take(first!);
  expect(ran).toEqual([]);
  showFrame();
  expect(ran).toEqual(['first']);
  showFrame();
  expect(ran).toEqual(['first', 'second']);
  expect(showFrame()).toBe(0);
});

test('work that asks again while it runs comes after those that wait', () => {
  const ran: string[] = [];
  const again = (): void => {
    ran.push('again');
    if (ran.length < 4) turns.take(again);
  };
  turns.take(again);
  turns.take(() => void ran.push('other'));
  while (showFrame() > 0);
  expect(ran).toEqual(['again', 'other', 'again', 'again']);
});

test('work that leaves does not run, and its frame goes to the next', () => {
  const ran: string[] = [];
  const gone = (): void => void ran.push('gone');
  turns.take(gone);
  turns.take(() => void ran.push('stays'));
  turns.leave(gone);
  showFrame();
  expect(ran).toEqual(['stays']);
});

test('others have their turns even if one fails', () => {
  const ran: number[] = [];
  turns.take(() => {
    throw new Error('a chart that cannot be drawn');
  });
  turns.take((now) => void ran.push(now));
  expect(() => showFrame(1)).toThrow('cannot be drawn');
  showFrame(2);
  expect(ran).toEqual([2]);
});
