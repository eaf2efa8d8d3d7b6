/**
 * Journals with a bound under any order of events: whoever reads, stores or dies meanwhile, what
 * is there is what was recorded.
 */
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { followerOf } from '../main/follower-of.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { runs } from '../../harness/effort.ts';
import { done, sampleSpec, started, switchRecord } from '../main/sample-records.ts';
import {
  evaluation,
  expectFaithful,
  expectThinnedFairly,
  folderOfTest,
  iterationsOf,
  log,
  notice,
  RANKS,
  readAll,
  Recorder,
  train,
} from './journal-recorder.ts';

const folder = folderOfTest();

/** An app: it follows the journal, with pauses, and stores. */
class App {
  readonly store: RunStore;
  readonly errors: unknown[] = [];

  constructor() {
    this.store = RunStore.open(path.join(mkdtempSync(path.join(folder(), 's')), 'db'));
    // The sample's losses rise.
    this.store.settings.set('alerts.loss-rising.on', false);
    this.store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
  }

  /** Stores what is there, until it is caught up or has enough. */
  async follow(journal: Journal, batches: number): Promise<void> {
    const position = this.store.journals.position('r', 'this-computer');
    const intake = followerOf(this.store, 'r', this.errors);
    let left = batches;
    for await (const entries of journal.readAfter(position)) {
      intake.push(entries);
      if (left-- === 0) break;
      await pause(0);
    }
    intake.close();
  }

  get records(): RunRecord[] {
    const records: RunRecord[] = [];
    for (;;) {
      const page = this.store.reads.entriesAfter('r', records.length);
      if (page.length === 0) return records;
      records.push(...page.map(({ record }) => record));
    }
  }
}

const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('train' as const),
      iterations: fc.integer({ min: 1, max: 60 }),
      ahead: fc.integer({ min: 0, max: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('print' as const),
      rank: fc.constantFrom(...RANKS),
      lines: fc.integer({ min: 1, max: 60 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'tell' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'switch' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'wait' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'kill' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'read' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('follow' as const),
      batches: fc.integer({ min: 0, max: 3 }),
    }),
  },
);

it('is correct for readers, apps and successors, with any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 10, maxLength: 40 }),
      async (operations) => {
        const recorder = new Recorder(folder(), 30_000);
        const app = new App();
        const reads: Promise<unknown>[] = [];
        recorder.append(started);
        for (const step of operations) {
          switch (step.do) {
            case 'train':
              train(recorder, step.iterations, step.ahead);
              break;
            case 'print':
              for (let i = 0; i < step.lines; i++) {
                recorder.append(log(step.rank, `line ${recorder.all.length}`));
              }
              break;
            case 'tell':
              recorder.append(notice('N'), evaluation(recorder.all.length));
              break;
            case 'switch':
              recorder.append(switchRecord(recorder.all.length, 'none', 'topk'));
              break;
            case 'wait':
              await recorder.settled();
              break;
            case 'kill': {
              await Promise.all(reads);
              const { admission } = recorder.kill().progress;
              const complete = Math.min(
                ...RANKS.map((rank) => iterationsOf(recorder.all, rank).length),
              );
              expect(admission.recordedUpTo(RANKS)).toBe(complete);
              break;
            }
            case 'read': {
              const after = Math.floor(recorder.all.length / 3);
              reads.push(
                readAll(recorder.journal, after).then((entries) => {
                  const upTo = entries.at(-1)?.sequence ?? after;
                  expectFaithful(entries, recorder.all.slice(0, upTo), after);
                }),
              );
              break;
            }
            case 'follow':
              await app.follow(recorder.journal, step.batches);
              break;
          }
        }
        recorder.append(done);
        await Promise.all(reads);
        await recorder.settled();
        const entries = await readAll(recorder.journal);
        expectFaithful(entries, recorder.all);
        expectThinnedFairly(entries, recorder.all);
        await app.follow(recorder.journal, Infinity);
        expect(app.errors).toEqual([]);
        const { records } = app;
        const gaps = records.filter((record) => record.type === 'thinned');
        const missing = gaps.reduce((sum, gap) => sum + gap.records, 0);
        // Each is either there or said to be missing.
        expect(records.length - gaps.length + missing).toBe(recorder.all.length);
        const there = new Set(
          records
            .filter(({ type }) => type === 'iteration')
            .map((r) => JSON.stringify(r)),
        );
        for (const record of recorder.all) {
          if (record.type !== 'iteration' || there.has(JSON.stringify(record)))
            continue;
          const { iteration } = record;
          expect(gaps.some(({ iterations: of }) => iteration < (of?.to ?? 0))).toBe(
            true,
          );
        }
        expect(app.store.summary('r').iterations).toBe(
          Math.min(...RANKS.map((rank) => iterationsOf(recorder.all, rank).length)),
        );
        app.store.close();
        recorder.journal.close();
      },
    ),
    { numRuns: runs(6) },
  );
});
