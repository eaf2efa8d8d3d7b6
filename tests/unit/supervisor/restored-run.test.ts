/** Runs that a supervisor left when it died. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { RunTable } from '../../../src/agent/supervisor/runs/run-table.ts';
import { sampleSpec, started } from '../main/sample-records.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-runs-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test.each([
  [
    { ranks: [2, 3], switches: [], node: 'box1' },
    'ranks 2–3 died together with them',
    'box1',
  ],
  [
    { ranks: [2], switches: [], node: 'box1' },
    'rank 2 died together with them',
    'box1',
  ],
  // Only records have this computer's host name.
  [
    { ranks: [0, 1], switches: [] },
    'ranks 0–1 died together with them',
    'this computer',
  ],
  // Of an older version.
  [undefined, 'this run died together with its workers', hostname()],
])('%j: the loss names its ranks and machine', (launch, text, place) => {
  const folder = path.join(directory, 'r');
  mkdirSync(folder);
  const meta = { spec: sampleSpec(), createdAt: 1, launch };
  writeFileSync(path.join(folder, 'run.json'), JSON.stringify(meta));
  const journal = Journal.create(path.join(folder, 'journal.gwj'));
  journal.append([started]);
  journal.close();
  const runs = new RunTable(
    directory,
    () => undefined,
    (message) => {
      throw new Error(message);
    },
  );
  runs.restore();
  const restored = runs.find('r').journal;
  expect(restored.lastRecord).toMatchObject({
    type: 'failed',
    error: { code: 'SUPERVISOR_LOST', message: `the supervisor of ${text}`, place },
  });
  restored.close();
});
