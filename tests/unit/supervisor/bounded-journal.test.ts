/**
 * Journals with a bound, against everything that was ever appended: whatever is left out, and
 * whoever reads, what is there is what was recorded, and every gap is declared.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { until } from '../../harness/processes.ts';
import { iterationRecord, started } from '../main/sample-records.ts';
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

describe('a journal with a bound', () => {
  it('stays within it, keeps the newer half whole and of the older one in n', async () => {
    const bound = 200_000;
    const recorder = new Recorder(folder(), bound);
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
    const recorder = new Recorder(folder(), 200_000);
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
    const recorder = new Recorder(folder(), 900_000);
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
    const recorder = new Recorder(folder(), 60_000);
    recorder.append(started);
    for (let i = 0; i < 300; i++) recorder.append(iterationRecord(i, 0));
    await recorder.settled();
    const entries = await readAll(recorder.journal);
    expect(entries).toHaveLength(recorder.all.length);
    recorder.journal.close();
  });

  it('does not tell of its last iteration less than there was', async () => {
    const recorder = new Recorder(folder(), 60_000);
    recorder.append(started);
    train(recorder, 30);
    while (recorder.all.length < 2000) recorder.append(log(0, 'x'.repeat(500)));
    await recorder.settled();
    const { admission } = recorder.kill().progress;
    expect(admission.recordedUpTo(RANKS)).toBe(30);
    recorder.journal.close();
  });

  it('continues unchanged if it cannot be rewritten', async () => {
    const recorder = new Recorder(folder(), 30_000);
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

it('a last entry that is longer than all before it stays as it is', async () => {
  const recorder = new Recorder(folder(), 1_000_000);
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
