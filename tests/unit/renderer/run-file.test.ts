/** A run becomes a file piece by piece; nothing more is read once it has been cancelled. */
import { afterAll, expect, test } from 'vitest';
import { runFileParts } from '../../../src/export/run-file.ts';
import { storedRuns } from '../../../src/cli/session/stored-runs.ts';
import { readRunFile } from '../../../src/renderer/state/runs/run-file.ts';
import { EXPORT_FORMATS } from '../../../src/shared/records/export-format.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec, wholeRun } from '../main/sample-records.ts';

const temporary = new TemporaryStore();
const { store } = temporary;
store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
store.records.append('r', wholeRun(2500));
afterAll(() => {
  temporary.close();
});

const runs = storedRuns(store);
const createdBy = 'gradwire';

test.each(EXPORT_FORMATS)(
  '$id has all parts, and says how far it is',
  async ({ id: format, media }) => {
    const parts: number[] = [];
    const { signal } = new AbortController();
    const progress = (part: number): number => parts.push(part);
    const options = { createdBy, format, progress, signal };
    const file = await readRunFile(runs, 'r', options);
    expect(file!.type).toBe(media);
    const bytes: Buffer[] = [];
    for await (const { content } of runFileParts(runs, 'r', options)) {
      bytes.push(Buffer.from(content as Uint8Array));
    }
    expect(Buffer.from(await file!.arrayBuffer())).toEqual(Buffer.concat(bytes));
    expect(parts.toSorted((a, b) => a - b)).toEqual(parts);
    expect(parts.at(-1)).toBe(1);
    expect(parts.length).toBeGreaterThan(1);
  },
);

test('a cancelled one is no file, and nothing more is read', async () => {
  const cancelled = new AbortController();
  let asked = 0;
  const counted = {
    ...runs,
    exportRun: (...given: Parameters<typeof runs.exportRun>) => {
      asked++;
      return runs.exportRun(...given);
    },
  };
  const file = await readRunFile(counted, 'r', {
    createdBy,
    format: 'csv',
    signal: cancelled.signal,
    progress: () => cancelled.abort(),
  });
  expect(file).toBeUndefined();
  expect(asked).toBe(2);
});
