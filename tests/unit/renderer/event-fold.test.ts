import { describe, expect, it } from 'vitest';
import { foldEvents } from '../../../src/renderer/state/runs/event-fold.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';

function evaluation(iteration: number): RunEvent {
  return {
    type: 'evaluation',
    iteration,
    at: iteration,
    loss: 1,
    metric: 0.5,
    samples: 10,
    wall: 1,
  };
}

function notice(message: string): RunEvent {
  return { type: 'notice', at: 0, level: 'info', code: 'X', message };
}

describe('folding events', () => {
  it('lets the newest evaluation of a row stand for the row', () => {
    const events = [
      notice('a'),
      evaluation(50),
      evaluation(100),
      notice('b'),
      notice('c'),
      evaluation(150),
      evaluation(200),
      evaluation(250),
    ];
    expect(
      foldEvents(events).map(({ event, index, folded }) => [
        event.type === 'evaluation' ? event.iteration : event.type,
        index,
        folded,
      ]),
    ).toEqual([
      [250, 5, 2],
      ['notice', 4, 0],
      ['notice', 3, 0],
      [100, 1, 1],
      ['notice', 0, 0],
    ]);
  });

  it('folds measurements of several types that take turns', () => {
    const divergence = (iteration: number): RunEvent => ({
      type: 'divergence',
      at: iteration,
      iteration,
      value: 0.1,
    });
    const events = [1, 2, 3].flatMap((t) => [evaluation(t), divergence(t)]);
    expect(
      foldEvents([...events, notice('a'), evaluation(4)]).map(
        ({ event, index, folded }) => [event.type, index, folded],
      ),
    ).toEqual([
      ['evaluation', 7, 0],
      ['notice', 6, 0],
      ['divergence', 1, 2],
      ['evaluation', 0, 2],
    ]);
  });

  it('has the newest first, whichever type began', () => {
    const checkpoint = { ...notice('kept'), type: 'checkpoint' } as unknown as RunEvent;
    const events = [evaluation(90), checkpoint, evaluation(100), evaluation(190)];
    expect(foldEvents(events).map(({ event }) => event.type)).toEqual([
      'evaluation',
      'checkpoint',
    ]);
  });

  it('keeps the key of a row while it grows', () => {
    const before = foldEvents([notice('a'), evaluation(50)])[0]!;
    const after = foldEvents([notice('a'), evaluation(50), evaluation(100)])[0]!;
    expect(after.index).toBe(before.index);
  });
});
