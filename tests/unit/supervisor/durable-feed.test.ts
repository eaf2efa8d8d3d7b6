/** Entries wait for the disk: in order, together, and seldom. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { RecordAdmission } from '../../../src/agent/supervisor/journal/record-admission.ts';
import { DurableFeed } from '../../../src/agent/supervisor/runs/run-journal.ts';
import { SupervisedRun } from '../../../src/agent/supervisor/runs/supervised-run.ts';
import { checkedLaunch } from '../../harness/checked-launch.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { sampleSpec } from '../main/sample-records.ts';

const entry = (sequence: number): JournalEntry => ({
  sequence,
  record: { type: 'notice', at: 1, level: 'info', code: 'A', message: 'a' },
});

/** A feed whose disk answers when it is told to. */
class Disk {
  readonly syncs: PromiseWithResolvers<undefined>[] = [];
  readonly passed: (number | string)[] = [];
  readonly errors: unknown[] = [];
  readonly feed = new DurableFeed({
    sync: () => {
      const answer = Promise.withResolvers<undefined>();
      this.syncs.push(answer);
      return answer.promise;
    },
    pass: (entries) => this.passed.push(...entries.map(({ sequence }) => sequence)),
    failed: (error) => this.errors.push(error),
  });

  async answer(): Promise<void> {
    this.syncs.at(-1)!.resolve(undefined);
    await vi.advanceTimersByTimeAsync(0);
  }
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a feed', () => {
  test('passes on what the disk has, and what comes meanwhile with the next request', async () => {
    vi.useFakeTimers();
    const disk = new Disk();
    disk.feed.push([entry(1), entry(2)]);
    disk.feed.push([entry(3)]);
    disk.feed.after(() => disk.passed.push('then'));
    expect(disk.passed).toEqual([]);
    await disk.answer();
    expect(disk.passed).toEqual([1, 2]);
    await vi.advanceTimersByTimeAsync(99);
    expect(disk.syncs).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(disk.syncs).toHaveLength(2);
    await disk.answer();
    expect(disk.passed).toEqual([1, 2, 3, 'then']);
    disk.feed.after(() => disk.passed.push('at once'));
    expect(disk.passed.at(-1)).toBe('at once');
  });

  test('asks the disk ten times a second, however much is recorded', async () => {
    vi.useFakeTimers();
    const disk = new Disk();
    for (let sequence = 1; sequence <= 1000; sequence++) {
      disk.feed.push([entry(sequence)]);
      await disk.answer();
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(disk.syncs.length).toBeLessThanOrEqual(11);
    expect(disk.syncs.length).toBeGreaterThanOrEqual(10);
    disk.feed.flush();
    expect(disk.passed).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1));
  });

  test('of a disk that refuses says so once, and passes the rest on at the end', async () => {
    vi.useFakeTimers();
    const disk = new Disk();
    const refusal = failure('JOURNAL_WRITE_FAILED', 'EIO');
    disk.feed.push([entry(1)]);
    disk.syncs[0]!.reject(refusal);
    await vi.advanceTimersByTimeAsync(0);
    disk.feed.push([entry(2)]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(disk.errors).toEqual([refusal]);
    expect(disk.passed).toEqual([]);
    disk.feed.flush();
    expect(disk.passed).toEqual([1, 2]);
  });
});

test('a run tells its followers what the disk has, and then what has changed', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-feed-'));
  const journal = Journal.create(path.join(directory, 'j'));
  const disk = Promise.withResolvers<undefined>();
  const syncs = vi.spyOn(journal, 'sync').mockReturnValue(disk.promise);
  const overrides = {
    world: { ranks: 2, nodes: ['here', 'box'] },
    onFailure: 'restart',
  };
  const { spec, plan, setting } = checkedLaunch(sampleSpec(overrides));
  // Interrupted, and without the other machine's ranks it starts none.
  const run = new SupervisedRun({
    run: 'r',
    spec,
    plan,
    setting,
    switches: [],
    journal,
    folder: directory,
    ranks: [0],
    secret: new Uint8Array(32),
    node: 'here',
    coresPerRank: 1,
    checkpoints: path.join(directory, 'checkpoints'),
    listen: '127.0.0.1',
    network: undefined,
    places: undefined,
    restored: {
      createdAt: 1,
      later: [],
      iterations: 3,
      fences: [],
      interrupted: false,
      admission: new RecordAdmission(),
      error: failure('SUPERVISOR_LOST', 'lost').toData(),
    },
  });
  const told: string[] = [];
  run.follow({
    entries: (entries) => told.push(...entries.map(({ record }) => record.type)),
    changed: () => told.push('changed'),
  });
  expect([journal.lastSequence, journal.durableSequence]).toEqual([1, 0]);
  expect(syncs).toHaveBeenCalledOnce();
  expect(told).toEqual([]);
  disk.resolve(undefined);
  await expect.poll(() => told).toEqual(['interrupted', 'changed']);
  journal.close();
  rmSync(directory, { recursive: true });
});

test('a journal knows how far the disk has it', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-feed-'));
  const file = path.join(directory, 'j');
  const journal = Journal.create(file);
  journal.append([entry(1).record, entry(2).record]);
  const first = journal.sync();
  journal.append([entry(3).record]);
  expect(journal.durableSequence).toBe(0);
  await first;
  expect(journal.durableSequence).toBe(2);
  const read: number[] = [];
  for await (const entries of journal.readAfter(0, journal.durableSequence)) {
    read.push(...entries.map(({ sequence }) => sequence));
  }
  expect(read).toEqual([1, 2]);
  journal.close();
  expect(journal.durableSequence).toBe(3);
  const reopened = Journal.reopen(file);
  expect(reopened.durableSequence).toBe(3);
  reopened.close();
  rmSync(directory, { recursive: true });
});
