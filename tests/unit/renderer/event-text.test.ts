import { describe, expect, it } from 'vitest';
import { machineName } from '../../../src/shared/machines/machine-names.ts';
import { eventText } from '../../../src/shared/records/record-kinds.ts';

const none = { method: 'none', parameters: {}, collective: 'ring', bucketBytes: 4096 };
const topk = {
  method: 'topk',
  label: 'topk 1 %',
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

it.each([
  [{ type: 'finished' }, 'all ranks on this computer have finished'],
  [
    {
      type: 'interrupted',
      error: { code: 'WORKER_DIED', kind: 'failure', message: 'rank 2 died' },
    },
    'at this computer: rank 2 died. The run will resume from its last checkpoint.',
  ],
] as const)(
  'this computer, whose host name records have, is called so: %o',
  (event, text) => {
    const names = {
      rank: String,
      machine: (node: string) => machineName(node, ['this-computer', 'box']),
    };
    expect(eventText({ ...event, at: 0, node: 'vm' }, names).text).toBe(text);
  },
);

describe('a run at a cluster', () => {
  const at = new Date(2026, 2, 1, 12, 5).getTime();

  it.each([
    [{}, 'job 17 is queued at hpc'],
    [
      { reason: 'Priority' },
      'job 17 is queued at hpc: Priority (jobs of higher priority come first)',
    ],
    [
      { reason: 'Licenses', expected: at },
      'job 17 is queued at hpc: Licenses, expected to start 2026-03-01 12:05',
    ],
  ])('queued %o', (more, text) => {
    const record = { type: 'queued', at: 0, node: 'hpc', job: '17', ...more } as const;
    expect(eventText(record)).toEqual({ tone: 'plain', title: 'Queued', text });
  });

  it('has nodes until their time is up', () => {
    const record = { type: 'allocated', at: 0, node: 'hpc', job: '17' } as const;
    expect(eventText({ ...record, computeNodes: ['n0', 'n1'], until: at })).toEqual({
      tone: 'good',
      title: 'Nodes allocated',
      text: 'job 17 has n0, n1 until 2026-03-01 12:05',
    });
  });

  it('names the node of a rank that has a notice', () => {
    const notice = { type: 'notice', at: 0, level: 'info', rank: 1 } as const;
    const name = (rank: number): string => `rank ${rank} on n1`;
    expect(
      eventText({ ...notice, code: 'X', message: 'x' }, { rank: name }).title,
    ).toBe('Notice from rank 1 on n1');
  });
});
