import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { RestoredRun } from '../../../src/agent/supervisor/journal/restored-run.ts';
import { encodeFrame } from '../../../src/shared/protocol/frame.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { sampleSpec } from '../main/sample-records.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gradwire-journal-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const notice = (code: string): RunRecord => ({
  type: 'notice',
  at: 1,
  level: 'info',
  code,
  message: code,
});

async function readAll(journal: Journal, after = 0): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const batch of journal.readAfter(after)) entries.push(...batch);
  return entries;
}

describe('the journal', () => {
  it('numbers records from 1 without gaps and replays what comes after any of them', async () => {
    const journal = Journal.create(path.join(folder, 'j'));
    for (let i = 1; i <= 1000; i++) journal.append([notice(`n${i}`)]);
    for (const after of [0, 1, 499, 999]) {
      const entries = await readAll(journal, after);
      expect(entries.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 1000 - after }, (_, i) => after + 1 + i),
      );
    }
    expect(await readAll(journal, 1000)).toEqual([]);
    journal.close();
  });

  it('replays entries that are appended while it is being read', async () => {
    const journal = Journal.create(path.join(folder, 'j'));
    journal.append([notice('a')]);
    const seen: number[] = [];
    for await (const batch of journal.readAfter(0)) {
      seen.push(...batch.map(({ sequence }) => sequence));
      if (seen.length < 5) journal.append([notice('more')]);
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    journal.close();
  });

  it('reopens with every whole entry and drops one that a crash cut short', async () => {
    const file = path.join(folder, 'j');
    const journal = Journal.create(file);
    journal.append([notice('a'), notice('b'), notice('c')]);
    journal.close();
    const whole = statSync(file).size;
    for (
      let cut = 1;
      cut < encodeFrame({ sequence: 3, record: notice('c') }).length;
      cut += 7
    ) {
      truncateSync(file, whole - cut);
      const reopened = Journal.reopen(file);
      expect(reopened.lastSequence).toBe(2);
      expect(reopened.lastRecord).toEqual(notice('b'));
      reopened.append([notice('c')]);
      expect((await readAll(reopened)).map(({ sequence }) => sequence)).toEqual([
        1, 2, 3,
      ]);
      reopened.close();
      expect(statSync(file).size).toBe(whole);
    }
  });

  it('reopens with entries longer than what is read at once', async () => {
    const file = path.join(folder, 'j');
    const journal = Journal.create(file);
    const long = { ...notice('long'), message: 'x'.repeat(1_000_001) } as RunRecord;
    for (let i = 0; i < 4; i++) journal.append([long, notice('short')]);
    journal.close();
    const reopened = Journal.reopen(file);
    expect(reopened.damage).toBeUndefined();
    expect((await readAll(reopened)).map(({ sequence }) => sequence)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
    reopened.close();
  });

  it.each([
    ['bytes that are no frame', Buffer.from([0xff, 0xff, 0xff, 0x7f, 1, 2, 3])],
    ['an entry out of order', encodeFrame({ sequence: 9, record: notice('x') })],
    ['something that is no entry', encodeFrame('hello')],
    ['an entry without a record', encodeFrame({ sequence: 3, record: null })],
  ])('keeps what comes before %s, and the rest in its file', async (_, bytes) => {
    const file = path.join(folder, 'j');
    const journal = Journal.create(file);
    journal.append([notice('a'), notice('b')]);
    journal.close();
    appendFileSync(file, bytes);
    appendFileSync(file, encodeFrame({ sequence: 4, record: notice('d') }));
    const before = readFileSync(file);
    const reopened = Journal.reopen(file);
    expect(reopened.damage).toEqual(expect.any(String));
    const spec = sampleSpec();
    const run = new RestoredRun('r', spec, 1, reopened);
    const entries = await readAll(reopened);
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(entries.at(-1)!.record).toMatchObject({
      type: 'failed',
      error: { code: 'JOURNAL_DAMAGED', place: file },
    });
    expect(run.state).toMatchObject({ phase: 'ended', lastSequence: 3 });
    reopened.close();
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('ends where a power cut has left zeros', () => {
    const file = path.join(folder, 'j');
    const journal = Journal.create(file);
    journal.append([notice('a'), notice('b')]);
    journal.close();
    appendFileSync(file, Buffer.alloc(5000));
    const reopened = Journal.reopen(file);
    expect([reopened.damage, reopened.lastSequence]).toEqual([undefined, 2]);
    reopened.append([notice('c')]);
    reopened.close();
    expect(Journal.reopen(file).lastSequence).toBe(3);
  });

  it.each([
    [1, 'records 3–4 behind it'],
    [2, 'record 4 behind it'],
    // Nothing follows the last frame, so it looks as if it were cut.
    [3, undefined],
  ])('a damaged length after record %d is no cut: %s', (damaged, text) => {
    const file = path.join(folder, 'j');
    const journal = Journal.create(file);
    const starts = ['a', 'b', 'c', 'd'].map((code) => {
      const { size } = statSync(file);
      journal.append([notice(code)]);
      return size;
    });
    journal.close();
    const bytes = readFileSync(file);
    // 64 KiB more than there is.
    bytes[starts[damaged]! + 2]! ^= 1;
    writeFileSync(file, bytes);
    const reopened = Journal.reopen(file);
    expect(reopened.lastSequence).toBe(damaged);
    if (text === undefined) expect(reopened.damage).toBeUndefined();
    else
      expect(reopened.damage).toContain(
        `after record ${damaged} has a damaged length, so ${text}`,
      );
    reopened.close();
    const kept = readFileSync(file).length;
    expect(kept).toBe(text === undefined ? starts[3] : bytes.length);
  });

  it('says which file cannot be written and what to do', () => {
    const file = path.join(folder, 'missing', 'j');
    expect(() => Journal.create(file)).toThrowError(
      expect.objectContaining({
        code: 'JOURNAL_WRITE_FAILED',
        message: expect.stringContaining(file) as string,
        next: expect.stringContaining('Its directory is gone') as string,
      }) as Error,
    );
  });

  it('names the machine that it was deployed to, where GRADWIRE_HOME does not count', () => {
    const file = path.join(folder, 'missing', 'j');
    expect(() => Journal.create(file, 'box')).toThrowError(
      expect.objectContaining({
        code: 'JOURNAL_WRITE_FAILED',
        place: 'box',
        message: expect.stringContaining(`cannot write ${file} on box`) as string,
        next: expect.not.stringContaining('GRADWIRE_HOME') as string,
      }) as Error,
    );
  });

  it('refuses a file that is not a journal', () => {
    const file = path.join(folder, 'j');
    appendFileSync(file, Buffer.from([0xff, 0xff, 0xff, 0x7f, 1, 2, 3]));
    expect(() => Journal.reopen(file)).toThrowError(
      expect.objectContaining({ code: 'FRAME_TOO_LARGE' }) as Error,
    );
  });
});
