import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seeEntry } from '../../../src/agent/supervisor/journal/journal-frame.ts';
import { decodeBody, encodeFrame } from '../../../src/shared/protocol/frame.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { done, iterationRecord, started } from '../main/sample-records.ts';

const number = fc.oneof(
  fc.nat(300),
  fc.nat(70_000),
  fc.nat(),
  fc.integer({ min: 2 ** 31, max: 2 ** 33 }),
);

test('sees in an entry what decoding it shows', () => {
  const record: fc.Arbitrary<RunRecord> = fc.oneof(
    fc
      .tuple(number, number)
      .map(([iteration, rank]) => iterationRecord(iteration, rank)),
    fc.constantFrom(started, done),
    number.map((rank) => ({
      type: 'log' as const,
      at: 1,
      rank,
      stream: 'stdout' as const,
      text: 'a',
    })),
  );
  const thinned = { at: 1, limitBytes: 2, iterations: { to: 3, every: 4 } };
  const entry: fc.Arbitrary<JournalEntry> = fc
    .tuple(number, fc.option(number), fc.boolean(), record)
    .map(([sequence, follows, isMarked, of]) => ({
      sequence,
      ...(follows === null ? {} : { follows }),
      ...(isMarked ? { thinned } : {}),
      record: of,
    }));
  fc.assert(
    fc.property(entry, (written) => {
      const body = encodeFrame(written).subarray(4);
      const { record: of, ...rest } = decodeBody(body) as JournalEntry;
      const { record: seen, ...others } = seeEntry(body);
      expect(others).toEqual(rest);
      expect(of).toMatchObject(seen);
      if (of.type === 'iteration') {
        const { type, rank, iteration } = of;
        expect(seen).toMatchObject({ type, rank, iteration });
      } else expect(seen).toEqual(of);
    }),
  );
});

test('decodes nothing of an iteration but what it needs', () => {
  const body = encodeFrame({ sequence: 9, record: iterationRecord(300, 2) }).subarray(
    4,
  );
  expect(seeEntry(body).record).toEqual({ type: 'iteration', rank: 2, iteration: 300 });
});
