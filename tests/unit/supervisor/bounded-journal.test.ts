/**
 * Journals with a bound, against everything that was ever appended: whatever is left out,
 * and whoever reads, stores or dies meanwhile, what is there is what was recorded, and every
 * gap is declared.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { SeenProgress } from '../../../src/agent/supervisor/runs/seen-progress.ts';
import { followerOf } from '../main/follower-of.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { runs } from '../../harness/effort.ts';
import { until } from '../../harness/processes.ts';
import {
  done,
  iterationRecord,
  sampleSpec,
  started,
  switchRecord,
} from '../main/sample-records.ts';

const RANKS = [0, 1];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gradwire-bounded-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** One journal, and a copy of all that was ever appended to it. */
class Recorder {
  readonly all: RunRecord[] = [];
  readonly #bytes: number;
  readonly #warnings: string[] = [];
  #directory: string;
  journal: Journal;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#directory = mkdtempSync(path.join(folder, 'j'));
    this.journal = Journal.create(this.file);
    this.#bind();
  }

  get file(): string {
    return path.join(this.#directory, 'journal.gwj');
  }

  get draft(): string {
    return `${this.file}.draft`;
  }

  get size(): number {
    return statSync(this.file).size;
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  append(...records: RunRecord[]): readonly JournalEntry[] {
    this.all.push(...records);
    return this.journal.append(records);
  }

  /** Nothing is being thinned. */
  async settled(): Promise<void> {
    await until(
      () => existsSync(this.draft),
      (busy) => !busy,
      'the journal to be thinned',
    );
  }

  /** What a process leaves that is killed now, and the next one that opens it. */
  kill(): SeenProgress {
    const old = this.journal;
    const next = mkdtempSync(path.join(folder, 'j'));
    for (const file of [this.file, this.draft]) {
      if (existsSync(file)) copyFileSync(file, path.join(next, path.basename(file)));
    }
    this.#directory = next;
    old.close();
    const seen = new SeenProgress();
    this.journal = Journal.reopen(this.file, (record) => {
      seen.note(record);
    });
    expect(existsSync(this.draft)).toBe(false);
    this.#bind();
    return seen;
  }

  #bind(): void {
    this.journal.bound({
      bytes: this.#bytes,
      ranks: RANKS,
      warn: (message) => {
        this.#warnings.push(message);
      },
    });
  }
}

async function readAll(journal: Journal, after = 0): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const batch of journal.readAfter(after)) entries.push(...batch);
  return entries;
}

/** What is there is what was recorded, and what is not there is declared. */
function expectFaithful(
  entries: readonly JournalEntry[],
  all: readonly RunRecord[],
  after = 0,
): void {
  let last = after;
  for (const { sequence, follows, record } of entries) {
    expect(record).toEqual(all[sequence - 1]);
    expect(sequence).toBeGreaterThan(last);
    if (sequence !== last + 1) expect(follows).toBeLessThanOrEqual(last);
    last = sequence;
  }
  expect(last).toBe(Math.max(after, all.length));
}

const iterationsOf = (records: readonly RunRecord[], rank: number): number[] =>
  records.flatMap((record) =>
    record.type === 'iteration' && record.rank === rank ? [record.iteration] : [],
  );

/** What must be there, and in what shape, of a whole journal. */
function expectThinnedFairly(
  entries: readonly JournalEntry[],
  all: readonly RunRecord[],
): void {
  const records = entries.map(({ record }) => record);
  const marked = entries.findLast(({ thinned }) => thinned !== undefined);
  const { to, every } = marked?.thinned?.iterations ?? { to: 0, every: 1 };
  expect(Math.log2(every) % 1).toBe(0);
  const complete = Math.min(...RANKS.map((rank) => iterationsOf(all, rank).length));
  const kept = RANKS.map((rank) => new Set(iterationsOf(records, rank)));
  for (const rank of RANKS) {
    for (const iteration of iterationsOf(all, rank)) {
      const must = iteration >= to || iteration % every === 0;
      if (must) expect(kept[rank]).toContain(iteration);
      if (iteration < complete) {
        expect(kept[rank]!.has(iteration)).toBe(kept[0]!.has(iteration));
      }
    }
    // What a rank printed is there from some line on.
    const printed = (of: readonly RunRecord[]): RunRecord[] =>
      of.filter((record) => record.type === 'log' && record.rank === rank);
    const lines = printed(records);
    expect(lines).toEqual(printed(all).slice(printed(all).length - lines.length));
  }
  const essential = (of: readonly RunRecord[]): RunRecord[] =>
    of.filter(({ type }) =>
      ['started', 'switch', 'interrupted', 'done'].includes(type),
    );
  expect(essential(records)).toEqual(essential(all));
  // Behind the place that tells of it nothing is missing.
  const behind = marked === undefined ? [] : entries.slice(entries.indexOf(marked) + 1);
  expect(behind.every(({ follows }) => follows === undefined)).toBe(true);
}

const log = (rank: number, text: string): RunRecord => ({
  type: 'log',
  at: 1,
  rank,
  stream: 'stdout',
  text,
});

const notice = (code: string): RunRecord => ({
  type: 'notice',
  at: 1,
  level: 'info',
  code,
  message: code,
});

const evaluation = (iteration: number): RunRecord => ({
  type: 'evaluation',
  iteration,
  at: 1,
  loss: 1,
  samples: 100,
  wall: 1,
});

/** Appends iterations of both ranks, one rank some ahead of the other. */
function train(recorder: Recorder, iterations: number, ahead = 0): void {
  const next = RANKS.map((rank) => iterationsOf(recorder.all, rank).length);
  const end = Math.min(...next) + iterations;
  while (next[1]! < end) {
    if (next[0]! < end && next[0]! <= next[1]! + ahead) {
      recorder.append(iterationRecord(next[0]!++, 0));
    } else recorder.append(iterationRecord(next[1]!++, 1));
  }
}

describe('a journal with a bound', () => {
  it('stays within it, keeps the newer half whole and of the older one in n', async () => {
    const bound = 200_000;
    const recorder = new Recorder(bound);
    recorder.append(started);
    for (let i = 0; i < 150; i++) {
      train(recorder, 20);
      await recorder.settled();
      expect(recorder.size).toBeLessThan(bound);
    }
    const entries = await readAll(recorder.journal);
    expectFaithful(entries, recorder.all);
    expectThinnedFairly(entries, recorder.all);
    const { iterations, limitBytes } = entries.findLast((e) => e.thinned)!.thinned!;
    expect(limitBytes).toBe(bound);
    expect(iterations.every).toBeGreaterThanOrEqual(8);
    // As much as fits stays: its beginning too.
    const kept = iterationsOf(
      entries.map(({ record }) => record),
      1,
    );
    expect(kept.filter((i) => i < 600).length).toBeGreaterThan(5);
    expect(kept.at(-1)).toBe(2999);
    expect(recorder.warnings).toEqual([]);
    recorder.journal.close();
  });

  it('bounds what ranks print, each by itself, and measures where they are most', async () => {
    const recorder = new Recorder(200_000);
    recorder.append(started, log(1, 'the only line of rank 1'));
    for (let i = 0; i < 3000; i++) {
      recorder.append(log(0, `line ${i} ${'x'.repeat(80)}`));
      if (i % 3 === 0) recorder.append(evaluation(i), notice(`N${i}`));
      if (i % 100 === 0) await recorder.settled();
    }
    await recorder.settled();
    expect(recorder.size).toBeLessThan(200_000);
    const entries = await readAll(recorder.journal);
    expectFaithful(entries, recorder.all);
    expectThinnedFairly(entries, recorder.all);
    const records = entries.map(({ record }) => record);
    expect(records).toContainEqual(log(1, 'the only line of rank 1'));
    expect(records).toContainEqual(evaluation(0));
    const { iterations } = entries.findLast((e) => e.thinned)!.thinned!;
    expect(iterations).toEqual({ to: 0, every: 1 });
    recorder.journal.close();
  });

  it('is read whole, or from its begin again, by who is in the middle of it', async () => {
    // Several of the pieces that are read at once.
    const recorder = new Recorder(900_000);
    recorder.append(started);
    train(recorder, 900);
    const half = recorder.journal.readAfter(0);
    const seen: JournalEntry[] = [...(await half.next()).value!];
    let training = true;
    const readers = Array.from({ length: 6 }, async (_, i) => {
      while (training) {
        const after = i * 200;
        const entries = await readAll(recorder.journal, after);
        expectFaithful(entries, recorder.all.slice(0, entries.at(-1)!.sequence), after);
      }
    });
    const trained = async (): Promise<void> => {
      for (let i = 0; i < 8; i++) {
        train(recorder, 300);
        await recorder.settled();
      }
      training = false;
    };
    await Promise.all([trained(), ...readers]);
    for await (const entries of half) seen.push(...entries);
    expectFaithful(seen, recorder.all);
    expect(seen.length).toBeLessThan(recorder.all.length);
    recorder.journal.close();
  });

  it('leaves alone an iteration that not all ranks have recorded', async () => {
    const recorder = new Recorder(60_000);
    recorder.append(started);
    for (let i = 0; i < 300; i++) recorder.append(iterationRecord(i, 0));
    await recorder.settled();
    const entries = await readAll(recorder.journal);
    expect(entries).toHaveLength(recorder.all.length);
    recorder.journal.close();
  });

  it('does not tell of its last iteration less than there was', async () => {
    const recorder = new Recorder(60_000);
    recorder.append(started);
    train(recorder, 30);
    while (recorder.all.length < 2000) recorder.append(log(0, 'x'.repeat(500)));
    await recorder.settled();
    const { admission } = recorder.kill().progress;
    expect(admission.recordedUpTo(RANKS)).toBe(30);
    recorder.journal.close();
  });

  it('continues unchanged if it cannot be rewritten', async () => {
    const recorder = new Recorder(30_000);
    mkdirSync(recorder.draft);
    writeFileSync(path.join(recorder.draft, 'in the way'), '');
    recorder.append(started);
    train(recorder, 200);
    await until(
      () => recorder.warnings.length,
      (count) => count > 1,
      'it to be tried again',
    );
    expect(recorder.warnings[0]).toContain(`cannot thin ${recorder.file}`);
    expect(await readAll(recorder.journal)).toHaveLength(recorder.all.length);
    rmSync(recorder.draft, { recursive: true });
    train(recorder, 100);
    await recorder.settled();
    expect((await readAll(recorder.journal)).length).toBeLessThan(recorder.all.length);
    recorder.journal.close();
  });
});

/** An app: it follows the journal, with pauses, and stores. */
class App {
  readonly store: RunStore;
  readonly errors: unknown[] = [];

  constructor() {
    this.store = RunStore.open(path.join(mkdtempSync(path.join(folder, 's')), 'db'));
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
        const recorder = new Recorder(30_000);
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

it('a last entry that is longer than all before it stays as it is', async () => {
  const recorder = new Recorder(1_000_000);
  recorder.append(started);
  for (let iteration = 0; recorder.size < 450_000; iteration++) {
    recorder.append(...RANKS.map((rank) => iterationRecord(iteration, rank)));
  }
  recorder.append(log(0, 'y'.repeat(600_000)));
  await recorder.settled();
  recorder.append(log(0, 'later'));
  expect(recorder.size).toBeLessThan(1_100_000);
  expectFaithful(await readAll(recorder.journal), recorder.all);
  recorder.journal.close();
  expect(Journal.reopen(recorder.file).damage).toBeUndefined();
});
