/** A journal with a bound beside a copy of all that was appended to it, and what must hold. */
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { SeenProgress } from '../../../src/agent/supervisor/runs/seen-progress.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { until } from '../../harness/processes.ts';
import { iterationRecord } from '../main/sample-records.ts';

export const RANKS = [0, 1];

/** A folder for the files of each test. */
export function folderOfTest(): () => string {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'gradwire-bounded-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  return () => folder;
}

/** One journal, and a copy of all that was ever appended to it. */
export class Recorder {
  readonly all: RunRecord[] = [];
  readonly #folder: string;
  readonly #bytes: number;
  readonly #warnings: string[] = [];
  #directory: string;
  journal: Journal;

  constructor(folder: string, bytes: number) {
    this.#folder = folder;
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

  /** The files that a process leaves if it is killed now, and the next one that opens them. */
  kill(): SeenProgress {
    const old = this.journal;
    const next = mkdtempSync(path.join(this.#folder, 'j'));
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

export async function readAll(journal: Journal, after = 0): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const batch of journal.readAfter(after)) entries.push(...batch);
  return entries;
}

/** Checks that what is there was recorded, and that what is missing is declared. */
export function expectFaithful(
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

export const iterationsOf = (records: readonly RunRecord[], rank: number): number[] =>
  records.flatMap((record) =>
    record.type === 'iteration' && record.rank === rank ? [record.iteration] : [],
  );

/** Checks that a whole journal has what must be there, in its shape. */
export function expectThinnedFairly(
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

export const log = (rank: number, text: string): RunRecord => ({
  type: 'log',
  at: 1,
  rank,
  stream: 'stdout',
  text,
});

export const notice = (code: string): RunRecord => ({
  type: 'notice',
  at: 1,
  level: 'info',
  code,
  message: code,
});

export const evaluation = (iteration: number): RunRecord => ({
  type: 'evaluation',
  iteration,
  at: 1,
  loss: 1,
  samples: 100,
  wall: 1,
});

/** Appends iterations of both ranks, one rank some ahead of the other. */
export function train(recorder: Recorder, iterations: number, ahead = 0): void {
  const next = RANKS.map((rank) => iterationsOf(recorder.all, rank).length);
  const end = Math.min(...next) + iterations;
  while (next[1]! < end) {
    if (next[0]! < end && next[0]! <= next[1]! + ahead) {
      recorder.append(iterationRecord(next[0]!++, 0));
    } else recorder.append(iterationRecord(next[1]!++, 1));
  }
}
