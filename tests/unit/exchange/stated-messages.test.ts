/** What a method's definition states beside what an exchange with it sends. */
import { expect, test } from 'vitest';
import type { ExpectedMessage } from '../../../src/agent/methods/method.ts';
import { methods } from '../../../src/agent/methods/registry.ts';
import { planBuckets } from '../../../src/agent/plan/buckets.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { messagesOf } from './lone-execution.ts';

const TENSORS = [
  { name: 'w1', shape: [200, 100], start: 0, length: 20_000 },
  { name: 'b1', shape: [100], start: 20_000, length: 100 },
];

const roundOf = ({ operation, kind, length }: ExpectedMessage): string =>
  `${operation} ${kind} ${length}`;

const inOrder = (messages: readonly ExpectedMessage[]): readonly ExpectedMessage[] =>
  messages.toSorted(
    (a, b) => roundOf(a).localeCompare(roundOf(b)) || a.bytes - b.bytes,
  );

test.each([...methods.keys()])('%s sends what it states', async (method) => {
  const plan = resolvePlan({ method });
  const sent = inOrder(await messagesOf(plan, TENSORS, 100, 4));
  const stated = inOrder(
    planBuckets(TENSORS, plan).flatMap(({ length, tensors, policy }) =>
      policy.method.messages(policy.parameters, { length, tensors, world: 1 }),
    ),
  );
  expect(sent.length).toBeGreaterThan(0);
  expect(stated.map(roundOf)).toEqual(sent.map(roundOf));
  for (const [index, { bytes, entries, estimated }] of stated.entries()) {
    const message = sent[index]!;
    // An estimate may be off by half: by ten it would mislead.
    const apart = estimated === true ? 0.5 : 0;
    expect(Math.abs(bytes / message.bytes - 1)).toBeLessThanOrEqual(apart);
    if (estimated !== true) expect(entries).toBe(message.entries);
  }
});
