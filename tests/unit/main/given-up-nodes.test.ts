/** When a run whose machines were given up cannot be followed any longer. */
import { expect, test } from 'vitest';
import { failure } from '../../../src/shared/errors/errors.ts';
import { GivenUpNodes } from '../../../src/main/runs/given-up-nodes.ts';

const refusal = failure('SSH_AUTH_FAILED', 'no', { place: 'me@box' }).toData();

// The machines given up; those whose journals are open; interrupted or not; is it left?
test.each([
  [[], ['a'], false, false],
  [['a'], ['a'], false, true],
  [['a'], ['a', 'b'], false, false],
  [['a', 'b'], ['a', 'b'], false, true],
  [['a'], ['b'], false, false],
  [['a'], [], false, false],
  [['b'], ['a', 'b'], true, true],
  [[], ['a', 'b'], true, false],
])('given up: %j, open: %j, interrupted: %j', (lost, open, interrupted, isLeft) => {
  const given = new GivenUpNodes();
  for (const node of lost) given.note(node, refusal);
  const run = { id: 'ab12', nodes: ['a', 'b'], open, interrupted };
  expect(given.verdict(run) !== undefined).toBe(isLeft);
  for (const node of lost) given.forget(node);
  expect(given.verdict(run)).toBeUndefined();
});

test('the reason names the run, the machine, its error and what to do', () => {
  const given = new GivenUpNodes();
  given.note('a', refusal);
  const run = { id: 'ab12', nodes: ['a'], open: ['a'], interrupted: false };
  expect(given.verdict(run)).toMatchObject({
    code: 'RUN_UNFOLLOWED',
    kind: 'failure',
    message: 'run ab12 cannot be followed any longer: SSH_AUTH_FAILED: no (me@box).',
    place: 'a',
    next: 'The run may go on. Follow it again with: gradwire runs attach ab12.',
  });
});
