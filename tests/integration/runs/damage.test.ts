/** What lies damaged or locked in the home must not keep runs from being launched. */
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { sampleSpec, wholeRun } from '../../unit/main/sample-records.ts';

/** 64 bytes at a fraction of the length. */
function overwrite(bytes: Buffer, where: number, value: number): Buffer {
  const at = Math.floor(bytes.length * where);
  return bytes.fill(value, at, Math.min(at + 64, bytes.length));
}

const SHORT = [
  ...['run', 'quickstart', '--set', 'iterations=2', '--set', 'world.ranks=1'],
];

describe('a damaged home', () => {
  it('launches runs beside those that cannot be read, and a lock that is none', async () => {
    await using home = new GradwireHome();
    mkdirSync(path.join(home.directory, 'app.lock'));
    const damaged = {
      description: ['{"spec":', ''],
      journal: ['{"spec":{},"createdAt":1}', '\xff\xff\xff\x7f not a journal'],
    };
    for (const [what, [description, journal]] of Object.entries(damaged)) {
      const folder = path.join(home.directory, 'runs', what);
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, 'run.json'), description!);
      writeFileSync(path.join(folder, 'journal.gwj'), journal!, 'latin1');
    }
    const { code, stderr } = await home.run(SHORT);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('whose only run cannot be read is not said to have no runs yet', async () => {
    await using home = new GradwireHome();
    const file = path.join(home.directory, 'gradwire.db');
    const store = RunStore.open(file);
    store.create({ id: 'only', spec: sampleSpec(), switches: [], createdAt: 1 });
    store.records.append('only', wholeRun(3));
    store.close();
    const database = new Database(file);
    database.exec("UPDATE runs SET spec = 'x'");
    database.close();
    const { stdout, stderr } = await home.run(['runs', 'list']);
    expect(stderr).toContain('HISTORY_ROW_INVALID');
    expect(stdout).toBe('no run here can be read\n');
  });

  it('stores a run up to the damage in its journal, and keeps the file', async () => {
    await using home = new GradwireHome();
    const folder = path.join(home.directory, 'runs', 'damaged');
    const file = path.join(folder, 'journal.gwj');
    mkdirSync(folder, { recursive: true });
    const meta = { spec: sampleSpec(), createdAt: 1 };
    const store = RunStore.open(path.join(home.directory, 'gradwire.db'));
    store.create({ id: 'damaged', switches: [], ...meta });
    store.close();
    writeFileSync(path.join(folder, 'run.json'), JSON.stringify(meta));
    const journal = Journal.create(file);
    journal.append(
      wholeRun(4)
        .slice(0, -1)
        .map(({ record }) => record),
    );
    journal.close();
    appendFileSync(file, 'no record, but there it is');
    const size = statSync(file).size;
    for (let time = 0; time < 2; time++) {
      const { code, stderr, stdout } = await home.run(['runs', 'list', '--json']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({
        state: 'failed',
        iterations: 4,
        error: { code: 'JOURNAL_DAMAGED', place: file },
      });
      expect(statSync(file).size).toBe(size);
    }
  });

  it('ends a run whose records are stored beyond the damage in its journal', async () => {
    await using home = new GradwireHome();
    const records = wholeRun(20).slice(0, -1);
    const store = RunStore.open(path.join(home.directory, 'gradwire.db'));
    /** What happens to the bytes of a journal. */
    const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
      beginning: (bytes) => overwrite(bytes, 0, 0xff),
      early: (bytes) => overwrite(bytes, 0.1, 0xff),
      zeros: (bytes) => overwrite(bytes, 0.5, 0),
      late: (bytes) => overwrite(bytes, 0.9, 0xff),
      last: (bytes) => overwrite(bytes, 0.999, 0xff),
      cut: (bytes) => bytes.subarray(0, bytes.length / 2),
      empty: () => Buffer.alloc(0),
    };
    for (const [id, damage] of Object.entries(damages)) {
      const meta = { spec: sampleSpec(), createdAt: 1 };
      store.create({ id, switches: [], ...meta });
      store.records.append(id, records);
      const folder = path.join(home.directory, 'runs', id);
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, 'run.json'), JSON.stringify(meta));
      const file = path.join(folder, 'journal.gwj');
      const journal = Journal.create(file);
      journal.append(records.map(({ record }) => record));
      journal.close();
      writeFileSync(file, damage(readFileSync(file)));
    }
    store.close();
    const stop = succeeded(await home.run(['runs', 'stop', 'late']));
    expect(stop.stdout).toBe('run late: failed after 20 iterations\n');
    const { stdout } = succeeded(await home.run(['runs', 'list', '--json']));
    const runs = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunSummary);
    expect(runs).toHaveLength(Object.keys(damages).length);
    for (const run of runs) {
      expect(run).toMatchObject({
        state: 'failed',
        iterations: 20,
        error: {
          code: expect.stringMatching(
            /^(JOURNAL_DAMAGED|SUPERVISOR_LOST|RUN_LOST)$/,
          ) as string,
        },
      });
    }
  });

  it(
    'has a run in progress whose row is damaged: it goes on, stops, and can be deleted',
    { tags: 'soak' },
    async () => {
      await using home = new GradwireHome();
      const run = async (): Promise<string> => {
        const settings = ['--set', 'iterations=1000000', '--set', 'world.ranks=1'];
        const { stdout } = succeeded(
          await home.run(['run', 'quickstart', '--detach', ...settings]),
        );
        return stdout.trim();
      };
      const damage = (id: string): void => {
        const database = new Database(path.join(home.directory, 'gradwire.db'));
        database
          // Stored long ago: a purge waits for a minute after the last record.
          .prepare(
            "UPDATE runs SET spec = '{', methods = 'x', stored_at = 1 WHERE id = ?",
          )
          .run(id);
        database.close();
      };
      const first = await run();
      damage(first);
      const listed = succeeded(await home.run(['runs', 'list', '--json']));
      expect(listed.stderr).not.toContain('HISTORY_ROW_INVALID');
      expect(JSON.parse(listed.stdout)).toMatchObject({ id: first, state: 'running' });
      damage(first);
      const stopped = succeeded(await home.run(['runs', 'stop', first]));
      expect(stopped.stdout).toMatch(`run ${first}: stopped after `);

      const second = await run();
      damage(second);
      for (const { pid } of home.supervisors()) process.kill(pid, 'SIGKILL');
      await until(
        () => home.processes(),
        (left) => left.length === 0,
        'the run to end with its supervisor',
      );
      rmSync(path.join(home.directory, 'runs', second), { recursive: true });
      for (const words of [
        ['delete', second],
        ['purge', second],
      ]) {
        const { stderr } = succeeded(await home.run(['runs', ...words]));
        expect(stderr).toBe('');
      }
      const left = succeeded(await home.run(['runs', 'list', '--json']));
      expect(JSON.parse(left.stdout)).toMatchObject({ id: first, state: 'stopped' });
    },
  );
});
