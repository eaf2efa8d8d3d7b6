/** Ends of a run on a node: by what its ranks reported, its nodes' end, and a user's stop. */
import { describe, expect, it } from 'vitest';
import { RunOutcome } from '../../../src/agent/supervisor/runs/run-outcome.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import type { DoneRecord } from '../../../src/shared/records/done.ts';

const ending: ErrorData = {
  code: 'ALLOCATION_ENDING',
  kind: 'failure',
  message: 'in a minute',
};
const done = (reason: DoneRecord['reason']): DoneRecord => ({
  type: 'done',
  at: 1,
  reason,
  iterations: 7,
});

describe('with rank 0 here', () => {
  it.each<{
    readonly title: string;
    readonly nodesEnd?: true;
    readonly stopping?: true;
    readonly reported?: DoneRecord;
    readonly code: string | undefined;
  }>([
    { title: 'completed', reported: done('completed'), code: undefined },
    { title: 'stopped', stopping: true, reported: done('stopped'), code: undefined },
    { title: 'without a result', code: 'RUN_INCOMPLETE' },
    {
      title: 'completed before its nodes ended',
      nodesEnd: true,
      reported: done('completed'),
      code: undefined,
    },
    {
      title: 'stopped for its nodes',
      nodesEnd: true,
      reported: done('stopped'),
      code: 'ALLOCATION_ENDING',
    },
    { title: 'left for its nodes', nodesEnd: true, code: 'ALLOCATION_ENDING' },
    {
      title: 'left for its nodes, then stopped by a user',
      nodesEnd: true,
      stopping: true,
      code: 'RUN_STOPPED',
    },
    {
      title: 'stopped by a user while its nodes end',
      nodesEnd: true,
      stopping: true,
      reported: done('stopped'),
      code: undefined,
    },
  ])('$title: $code', ({ nodesEnd, stopping, reported, code }) => {
    const outcome = new RunOutcome('here', [0, 1]);
    if (nodesEnd) outcome.nodesEnding(ending);
    if (stopping) outcome.stopped();
    if (reported !== undefined) outcome.recorded([reported]);
    outcome.ranksGone(true);
    expect(outcome.shortfall?.code).toBe(code);
    expect(outcome.result).toEqual(reported);
  });
});

it('says that its ranks have finished where rank 0 is elsewhere', () => {
  const outcome = new RunOutcome('there', [2, 3]);
  expect(outcome.result).toBeUndefined();
  outcome.ranksGone(true);
  expect(outcome.result).toMatchObject({ type: 'finished', node: 'there' });
  expect(outcome.shortfall).toBeUndefined();
});
