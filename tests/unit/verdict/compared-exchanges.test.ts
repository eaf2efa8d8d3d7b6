/** The times that the notice of useless compression compares, on their way to the verdict. */
import { expect, test } from 'vitest';
import { notPayingNotice } from '../../../src/agent/auto/auto-notices.ts';
import {
  parseRecord,
  type RunEvent,
} from '../../../src/shared/records/record-kinds.ts';
import { verdictContext } from '../../../src/shared/verdict/verdict-context.ts';

const notice = notPayingNotice({
  label: 'top-k 50 %',
  seen: {
    seconds: 0.004,
    overhead: 0.002,
    terms: { latency: 0, bandwidth: 0.004, reduction: 0 },
    sums: [],
  },
  uncompressed: 0.005,
  measured: false,
});

/** Returns what the verdict knows from a record as it is stored and read again. */
const known = (record: object) => {
  const stored = JSON.parse(JSON.stringify(record)) as unknown;
  const events = [parseRecord(stored) as RunEvent];
  return verdictContext({ events, ranks: 2, nodes: [] }).doesNotPay;
};

test('the stored notice has the times that its sentence tells', () => {
  expect(known({ type: 'notice', at: 1, ...notice })).toMatchObject({
    message:
      'top-k 50 % takes 6.00 ms per exchange, 2.00 ms of it for compression; an uncompressed exchange ' +
      'is predicted to take 5.00 ms: do not compress on this network',
    exchange: { compressed: 6, uncompressed: 5, measured: false },
  });
});

test('a notice of an earlier version has none, and is read', () => {
  const { exchange, ...earlier } = notice;
  expect(exchange).toBeDefined();
  const context = known({ type: 'notice', at: 1, ...earlier });
  expect(context?.message).toBe(notice.message);
  expect(context?.exchange).toBeUndefined();
});
