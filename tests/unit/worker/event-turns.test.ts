import { expect, it } from 'vitest';
import { EventTurns } from '../../../src/agent/worker/event-turns.ts';

it('turns the event loop once in a while, not before', async () => {
  const turns = new EventTurns();
  const start = performance.now();
  expect(turns.take(start)).toBeUndefined();
  let turned = 0;
  let isOver = false;
  const count = (): void => {
    turned++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  for (let i = 0; i < 100; i++) await turns.take(start);
  expect(turned).toBe(0);
  for (let i = 1; i <= 4; i++) await turns.take(start + 30 * i);
  expect(turned).toBeGreaterThanOrEqual(3);
  for (let i = 0; i < 100; i++) await turns.take(start + 120);
  expect(turned).toBeLessThanOrEqual(5);
  isOver = true;
});
