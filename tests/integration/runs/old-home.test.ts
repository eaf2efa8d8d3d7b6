/**
 * A home of before records were checked where they enter: its journals hold records that
 * no store takes. Real commands, a real supervisor and database; the journals are made here.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import {
  done,
  iterationRecord,
  sampleSpec,
  started,
  wholeRun,
} from '../../unit/main/sample-records.ts';

const evaluation: RunRecord = {
  type: 'evaluation',
  iteration: 0,
  at: 2,
  loss: NaN,
  metric: 0.1,
  samples: 100,
  wall: 1,
};
const steps = [iterationRecord(0, 0), iterationRecord(0, 1)];

/** A run as its supervisor and the store left it when both were killed. */
function leaveRun(
  home: GradwireHome,
  id: string,
  records: readonly RunRecord[],
  stored: number,
): void {
  const spec = sampleSpec({ name: id });
  const folder = path.join(home.directory, 'runs', id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'run.json'), JSON.stringify({ spec, createdAt: 1 }));
  const journal = Journal.create(path.join(folder, 'journal.gwj'));
  const entries = journal.append(records);
  journal.close();
  const store = RunStore.open(path.join(home.directory, 'gradwire.db'));
  store.create({ id, spec, switches: [], createdAt: 1 });
  if (stored > 0) store.records.append(id, entries.slice(0, stored));
  store.close();
}

async function json(home: GradwireHome, ...args: string[]): Promise<unknown[]> {
  const { code, stderr, stdout } = await home.run([...args, '--json']);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as unknown);
}

const REFUSED: readonly [string, readonly RunRecord[], string | undefined][] = [
  ['an evaluation', [started, ...steps, evaluation, done], 'loss is NaN'],
  [
    'a training loss',
    [started, { ...steps[0], loss: NaN } as RunRecord, steps[1]!, done],
    'loss is NaN',
  ],
  [
    'the last record',
    [started, ...steps, { ...done, loss: NaN } as RunRecord],
    'loss is NaN',
  ],
  ['a journal cut short', [started, ...steps, evaluation], undefined],
];
const idOf = (index: number): string => `aaa${index}`;

describe('a home with records that cannot be stored', () => {
  const home = new GradwireHome();
  let runs: readonly { id: string }[];
  beforeAll(async () => {
    REFUSED.forEach(([, records], index) => {
      leaveRun(home, idOf(index), records, 1);
    });
    leaveRun(
      home,
      'zzzz',
      wholeRun(10).map(({ record }) => record),
      0,
    );
    runs = (await json(home, 'runs', 'list')) as { id: string }[];
  });
  afterAll(() => home[Symbol.asyncDispose]());

  it.each(REFUSED.map(([what, , reason], index) => [what, idOf(index), reason]))(
    '%s: the run ends as failed, with the reason',
    async (_, id, reason) => {
      const failed = runs.find((run) => run.id === id);
      expect(failed).toMatchObject({
        state: 'failed',
        error: {
          code: reason === undefined ? 'SUPERVISOR_LOST' : 'RECORD_INVALID',
          next: expect.any(String) as string,
        },
      });
      if (reason !== undefined) {
        expect(JSON.stringify(failed)).toContain(reason);
      }
      const { code, stderr, stdout } = await home.run([
        ...['runs', 'export', id!, '--format', 'json'],
      ]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { events, iterations } = JSON.parse(stdout) as {
        events: RunRecord[];
        iterations: RunRecord[];
      };
      // Every record that could be stored is, and the reason of the one that could not.
      expect(iterations.every((record) => steps.some(same(record)))).toBe(true);
      expect(JSON.stringify(events)).toContain('RECORD_INVALID');
      expect(events.at(-1)!.type).toBe('failed');
      // Stored whole, so the journal is gone.
      expect(existsSync(path.join(home.directory, 'runs', id!))).toBe(false);
    },
  );

  it('keeps no other run waiting, stored or new', async () => {
    expect(runs.find(({ id }) => id === 'zzzz')).toMatchObject({
      state: 'completed',
      iterations: 10,
    });
    expect(existsSync(path.join(home.directory, 'runs', 'zzzz'))).toBe(false);
    const shown = await json(home, 'runs', 'show', idOf(0));
    expect(JSON.stringify(shown)).toContain('RECORD_INVALID');
    const { code, stderr } = await home.run([
      ...['run', 'quickstart', '--set', 'iterations=2', '--set', 'world.ranks=1'],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

function same(record: RunRecord): (other: RunRecord) => boolean {
  return (other) => JSON.stringify(other) === JSON.stringify(record);
}
