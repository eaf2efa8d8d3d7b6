/** A run becomes a file piece by piece; nothing more is read once it has been cancelled. */
import { afterAll, expect, test } from 'vitest';
import { exportPiece, exportRun } from '../../../src/main/store/run-export.ts';
import { readRunFile } from '../../../src/renderer/state/runs/run-file.ts';
import { EXPORT_FORMATS } from '../../../src/shared/records/export-format.ts';
import type { AppApi } from '../../../src/shared/rpc/rpc.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec, wholeRun } from '../main/sample-records.ts';

const temporary = new TemporaryStore();
const { store } = temporary;
store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
store.append('r', wholeRun(2500));
afterAll(() => {
  temporary.close();
});

let asked = 0;
const api: Pick<AppApi, 'exportRun'> = {
  exportRun: (...given) => {
    asked++;
    return Promise.resolve(exportPiece(store, ...given));
  },
};

test.each(EXPORT_FORMATS)(
  '$id has all pieces, and says how far it is',
  async (format) => {
    const parts: number[] = [];
    const { signal } = new AbortController();
    const progress = (part: number): number => parts.push(part);
    const file = await readRunFile(api, 'r', format.id, { signal, progress });
    expect(file!.type).toBe(format.media);
    expect(await file!.text()).toBe([...exportRun(store, 'r', format.id)].join(''));
    expect(parts.toSorted((a, b) => a - b)).toEqual(parts);
    expect(parts.at(-1)).toBe(1);
    expect(parts.some((part) => part > 0.2 && part < 0.9)).toBe(true);
  },
);

test('a cancelled one is no file', async () => {
  const cancelled = new AbortController();
  const pieces = [...exportRun(store, 'r', 'csv')].length;
  asked = 0;
  const file = await readRunFile(api, 'r', 'csv', {
    signal: cancelled.signal,
    progress: () => cancelled.abort(),
  });
  expect(file).toBeUndefined();
  expect(asked).toBe(2);
  expect(pieces).toBeGreaterThan(2);
});
