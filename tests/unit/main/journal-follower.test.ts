import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoredBatch } from '../../../src/main/store/record-writer.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { followerOf, type Heard } from './follower-of.ts';
import { done, entries, iterationRecord, wholeRun } from './sample-records.ts';

interface Collected extends Heard {
  /** The last sequence that is stored before. */
  readonly position?: number;
  /** Whether the store fails. */
  readonly fails?: boolean;
}

function collector({ position = 0, fails = false, ...heard }: Collected = {}) {
  const batches: JournalEntry[][] = [];
  const last: number[] = [];
  const errors: unknown[] = [];
  const store = {
    journals: { isOpen: () => true, position: () => position },
    records: {
      append: (_: string, batch: readonly JournalEntry[]) => {
        if (fails) throw new Error('disk full');
        batches.push([...batch]);
        const summary = { id: 'r', state: 'running' } as StoredBatch['summary'];
        return { summary, entries: batch, refusal: undefined };
      },
    },
  };
  const acknowledged = (sequence: number) => last.push(sequence);
  const intake = followerOf(store, 'r', errors, { ...heard, acknowledged });
  intake.subscribed();
  return { intake, batches, last, errors };
}

describe('the follower of a journal', () => {
  test('whatever is delivered again, each record is stored once and in order', () => {
    const run = wholeRun(20);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(run.length), fc.nat(10)), { maxLength: 40 }),
        (deliveries) => {
          const { intake, batches, errors } = collector();
          let reached = 0;
          for (const [from, length] of deliveries) {
            const begin = Math.min(from, reached);
            intake.push(run.slice(begin, begin + length));
            reached = Math.max(reached, Math.min(begin + length, run.length));
          }
          intake.push(run.slice(reached));
          intake.close();
          expect(batches.flat()).toEqual(run);
          expect(errors).toEqual([]);
        },
      ),
    );
  });

  test('stores 500 records without waiting, and the last record at once', () => {
    const { intake, batches } = collector();
    const many = Array.from({ length: 500 }, (_, n) => iterationRecord(n, 0));
    intake.push(entries(many.slice(0, 499)));
    expect(batches).toHaveLength(0);
    intake.push(entries(many.slice(499), 499));
    expect(batches).toHaveLength(1);
    intake.push(entries([done], 500));
    expect(batches).toHaveLength(2);
    expect(intake.stored).toBe(501);
  });

  test('stores a few after a short while', async () => {
    const stored = Promise.withResolvers<number>();
    const { intake } = collector({
      stored: (batch) => {
        stored.resolve(batch.entries.at(-1)!.sequence);
      },
    });
    intake.push(entries([iterationRecord(0, 0)]));
    expect(await stored.promise).toBe(1);
  });

  test('what fails after a batch was stored is reported, not thrown', async () => {
    const untold = Promise.withResolvers<unknown>();
    const stored: number[] = [];
    const { intake, errors, last } = collector({
      stored: (batch) => {
        const { sequence } = batch.entries.at(-1)!;
        stored.push(sequence);
        throw new Error(`cannot be read after ${sequence}`);
      },
      untold: untold.resolve,
    });
    // By the timer, where nobody could catch it.
    intake.push(entries([iterationRecord(0, 0)]));
    expect(await untold.promise).toEqual(new Error('cannot be read after 1'));
    // At once, as from a connection, which would be dropped.
    intake.push(entries([done], 1));
    expect({ last, stored, errors }).toEqual({
      last: [1, 2],
      stored: [1, 2],
      errors: [],
    });
  });

  test('a gap ends it, after what came before the gap', () => {
    const { intake, batches, errors } = collector({ position: 3 });
    const [before, after] = entries([iterationRecord(0, 0), iterationRecord(0, 1)], 3);
    intake.push([before!, { ...after!, sequence: 6 }]);
    intake.push([after!]);
    intake.close();
    expect(errors).toMatchObject([
      {
        code: 'RECORDS_MISSING',
        message: 'record 6 follows record 4: those in between are missing',
      },
    ]);
    expect(batches).toEqual([[before]]);
  });

  test('a declared gap is no error, even for a store that has part of it', () => {
    for (const stored of [3, 5]) {
      const { intake, batches, errors } = collector({ position: stored });
      const [entry] = entries([iterationRecord(0, 8)], 6);
      intake.push([{ ...entry!, follows: 3 }]);
      intake.close();
      expect(errors).toEqual([]);
      expect(batches).toEqual([[{ ...entry, follows: 3 }]]);
    }
    const { intake, errors } = collector({ position: 2 });
    intake.push([{ ...entries([done], 6)[0]!, follows: 3 }]);
    expect(errors).toMatchObject([{ code: 'RECORDS_MISSING' }]);
  });

  test('what cannot be stored is reported, not acknowledged, and nothing follows', () => {
    const { intake, last, errors } = collector({ fails: true });
    intake.push(entries([iterationRecord(0, 0), done]));
    intake.push(entries([done], 2));
    intake.close();
    expect(errors).toHaveLength(1);
    expect(last).toEqual([]);
    expect(intake.stored).toBe(0);
  });
});
