/**
 * A real supervisor whose workers send records that are none; which these are the unit test
 * of the admission says.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { launchScript, startScriptedNode, untilMoves } from './scripted-node.ts';
import { endOf, type SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
/** Of a run that is well and goes on beside all others. */
let other: readonly JournalEntry[];

beforeAll(async () => {
  node = await startScriptedNode();
  other = await launchScript(node, 'good');
});
afterAll(() => node[Symbol.asyncDispose]());

const iterationsOf = (entries: readonly JournalEntry[], rank: number) =>
  entries.flatMap(({ record }) =>
    record.type === 'iteration' && record.rank === rank ? [record.iteration] : [],
  );

test.each([
  ['loss-nan', 'iteration record, rank 1, iteration 3: loss is NaN'],
  ['no-record', /^a record without a type: it is not valid: /],
  ['failure-that-is-none', /^failed record: error.code is not valid: /],
])(
  'a run with %s ends as failed, with all of its ranks; another goes on',
  async (name, message) => {
    const entries = await launchScript(node, name);
    expect(await endOf(entries)).toMatchObject({
      type: 'failed',
      error: {
        code: 'RECORD_INVALID',
        message:
          typeof message === 'string'
            ? message
            : (expect.stringMatching(message) as string),
        place: expect.stringMatching(/^rank \d$/) as string,
        next: expect.any(String) as string,
      },
    });
    expect(node.workers(name)).toEqual([]);
    if (name !== 'failure-that-is-none') {
      expect(iterationsOf(entries, 1)).toEqual([0, 1, 2]);
    }
    await untilMoves(other);
  },
);
