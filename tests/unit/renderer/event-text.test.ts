import { describe, expect, it } from 'vitest';
import { eventText } from '../../../src/shared/event-text.ts';

const none = { method: 'none', parameters: {}, collective: 'ring', bucketBytes: 4096 };
const topk = {
  method: 'topk',
  parameters: { ratio: 0.01 },
  collective: 'sparse-allgather',
  bucketBytes: 4096,
};

describe('events in words', () => {
  it('a switch names both plans and what became of the residual', () => {
    const { text, iteration, tone } = eventText({
      type: 'switch',
      at: 0,
      fence: 812,
      epoch: 2,
      from: topk,
      to: none,
      residual: 'flushed',
      resynchronized: true,
    });
    expect(iteration).toBe(812);
    expect(tone).toBe('switch');
    expect(text).toMatch(/^topk 1 % over sparse-allgather → none over ring/);
    expect(text).toContain('Residual flushed with one dense exchange.');
    expect(text).toContain('Weights averaged.');
  });

  it.each([
    [undefined, undefined, ''],
    ['none', undefined, ''],
    ['kept', undefined, ' State kept.'],
    ['partly', ['dgc', 'ok-topk'], ' State partly dropped (dgc, ok-topk).'],
    ['dropped', ['dct'], ' State dropped (dct).'],
  ] as const)('a switch says what became of the state: %s', (state, dropped, words) => {
    const { text } = eventText({
      type: 'switch',
      at: 0,
      fence: 5,
      epoch: 1,
      from: topk,
      to: topk,
      residual: 'kept',
      ...(state === undefined ? {} : { state }),
      ...(dropped === undefined ? {} : { stateDropped: dropped }),
      resynchronized: false,
    });
    expect(text.endsWith(`. Residual kept.${words}`)).toBe(true);
  });

  it('an end says whether the ranks agree', () => {
    const done = {
      type: 'done',
      at: 0,
      reason: 'stopped',
      iterations: 10,
      loss: 0.25,
      weights: 'ab',
    } as const;
    expect(eventText({ ...done, consistent: true })).toMatchObject({
      title: 'Stopped',
      text: 'loss 0.2500, all ranks ended with identical weights',
    });
    expect(eventText({ ...done, consistent: false }).text).toContain(
      'different weights',
    );
  });

  it('a failure is its error’s message', () => {
    const error = {
      code: 'WORKER_DIED',
      kind: 'failure',
      message: 'rank 2 died',
    } as const;
    expect(eventText({ type: 'failed', at: 0, error })).toEqual({
      tone: 'bad',
      title: 'Failed',
      text: 'rank 2 died',
    });
  });
});
