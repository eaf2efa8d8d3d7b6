/**
 * A run that records more than its journal may hold while no app stores it: a real
 * supervisor that is killed on the way, and commands that come back to the run.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunDetail } from '../../../src/shared/rpc/run-summary.ts';
import { until, untilAsync } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { launchScript, startScriptedNode } from './scripted-node.ts';
import type { SupervisorNode } from './supervisor-node.ts';
import { TORRENT } from './torrent.ts';

const RUN = 'torrent';
/** Frames of that many records: several times the bound. */
const RECORDS = 2 * TORRENT;
const BOUND = 1_000_000;

let node: SupervisorNode;
beforeAll(async () => {
  node = await startScriptedNode();
});
afterAll(() => node[Symbol.asyncDispose]());

const iterations = (entries: readonly JournalEntry[]): number =>
  ofType(
    entries.map(({ record }) => record),
    'iteration',
  ).length;

async function shown(): Promise<{ readonly detail: RunDetail; readonly told: string }> {
  const { stdout, stderr, code } = await node.home.run(['runs', 'show', RUN, '--json']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('{')]);
  return { detail: JSON.parse(stdout) as RunDetail, told: stderr };
}

test(
  'is thinned with a report, continues, and ends with every record accounted for',
  { tags: 'soak' },
  async () => {
    // As an app that is there from the first record: nothing is missing for it.
    const entries = await launchScript(node, RUN, {
      journalMB: 1,
      iterations: 1_000_000,
      onFailure: 'restart',
    });
    const reached = (count: number) =>
      until(
        () => iterations(entries),
        (now) => now >= count,
        `${count} records of iterations`,
      );
    await reached(RECORDS + 10);
    const undeclared = entries.filter(
      ({ sequence, follows, thinned }, index) =>
        sequence !== index + 1 || follows !== undefined || thinned !== undefined,
    );
    expect(undeclared).toEqual([]);
    const file = path.join(node.home.directory, 'runs', RUN, 'journal.gwj');
    await until(
      () => statSync(file).size,
      (size) => size <= BOUND,
      'the journal to be within its bound',
    );

    // One that comes back misses what was left out meanwhile, and says so.
    const first = await shown();
    expect(first.told).toMatch(
      /^gradwire: Caught up with “torrent”: [\d,]+ records from this computer; [\d,]+ were thinned there\n$/,
    );
    expect(first.detail.state).toBe('running');
    expect(first.detail.iterations).toBeGreaterThanOrEqual(TORRENT);
    expect(first.detail.loss).toBeGreaterThan(10 * (TORRENT - 1));
    const [thinned, ...more] = ofType(first.detail.events, 'thinned');
    expect(more).toEqual([]);
    expect(thinned).toMatchObject({
      node: 'this-computer',
      limitBytes: BOUND,
      iterations: { from: 1, every: expect.any(Number) as number },
    });

    // The next supervisor takes the thinned journal up; what is repeated is not told again.
    await node.kill();
    await node.startSupervisor();
    const again = await untilAsync(
      shown,
      ({ detail }) =>
        ofType(detail.events, 'restarted').length === 1 &&
        detail.iterations > first.detail.iterations + 5,
      'the run to go on',
    );
    expect(ofType(again.detail.events, 'thinned')).toEqual([thinned]);

    const attached = node.home.start(['runs', 'attach', RUN, '--json']);
    const stopped = await node.home.run(['runs', 'stop', RUN]);
    expect([stopped.code, stopped.stderr]).toEqual([0, '']);
    const { code, stdout, stderr } = await attached.finished;
    expect([code, stderr]).toEqual([0, '']);
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RunRecord);
    expect(records.at(-1)).toMatchObject({ type: 'done', reason: 'stopped' });
    const { stdout: words } = await node.home.run(['runs', 'show', RUN]);
    expect(words).toMatch(
      /warning: [\d,]+ records are missing; of iterations 1 to [\d,]+ at least one in \d+ is kept: this computer keeps at most 1\.00 MB of a run/,
    );

    const store = RunStore.open(path.join(node.home.directory, 'gradwire.db'));
    const total = store.journals.position(RUN, 'this-computer');
    // The use of machines is read by itself; what comes while it is followed is shown, too. An alert
    // is of this side, not of the journal.
    const use = store.utilisation.after(RUN, 0).length;
    store.close();
    const journalled = records.filter(
      ({ type }) => type !== 'utilisation' && type !== 'alert',
    );
    const missing = ofType(records, 'thinned');
    expect(missing).toEqual([thinned]);
    expect(journalled.length - missing.length + thinned!.records + use).toBe(total);
    // Of the thinned part both ranks have what the report says, and may have more: what a
    // command had read before the journal was thinned again.
    const { to, every } = thinned!.iterations!;
    const kept = [0, 1].map((rank) =>
      ofType(records, 'iteration')
        .filter((record) => record.rank === rank && record.iteration < to)
        .map(({ iteration }) => iteration),
    );
    const expected = Array.from({ length: Math.ceil(to / every) }, (_, i) => i * every);
    for (const iterations of kept) {
      expect(iterations).toEqual(expect.arrayContaining(expected));
      expect(iterations.length).toBeLessThan(to);
    }
  },
);
