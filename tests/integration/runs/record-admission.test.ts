/** A real supervisor whose workers send records that are none. */
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome, resolveHome, type Home } from '../../../src/main/home/home.ts';
import type { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import { connectSupervisor } from '../../../src/main/cluster/supervisor-process.ts';
import { endsRun, type JournalEntry } from '../../../src/shared/records.ts';
import { processesMatching, untilAsync } from '../../harness/processes.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';

const root = path.join(import.meta.dirname, '../../..');
const script = path.join(import.meta.dirname, 'scripted-worker.ts');
let home: Home;
let supervisor: ChildProcess;
let connection: ControlConnection;
/** Of a run that is well and goes on beside all others. */
let other: readonly JournalEntry[];
/** What was pushed of each run. */
const pushed = new Map<string, JournalEntry[]>();

beforeAll(async () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gw-admission-'));
  home = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
  const agent = path.join(directory, 'agent');
  cpSync(path.join(root, 'dist/agent'), agent, { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(
    path.join(agent, 'worker.js'),
    `import ${JSON.stringify(pathToFileURL(script).href)};\n`,
  );
  supervisor = spawn(
    process.execPath,
    [
      path.join(agent, 'supervisor.js'),
      ...['--home', directory, '--socket', home.socket],
    ],
    { stdio: 'ignore' },
  );
  const found = await untilAsync(
    () =>
      connectSupervisor(home, {
        push: (message) => {
          if (message.type !== 'records') return;
          pushed.get(message.run)?.push(...message.entries);
        },
        lost: () => undefined,
      }),
    (candidate) => candidate !== undefined,
    'the supervisor to listen',
  );
  connection = found!;
  other = await launch('good');
});
afterAll(async () => {
  const gone = new Promise((resolve) => supervisor.once('exit', resolve));
  supervisor.kill('SIGTERM');
  await gone;
  await connection.close();
  rmSync(home.directory, { recursive: true });
});

async function launch(name: string): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  pushed.set(name, entries);
  const { addresses } = await connection.request('prepare', {
    run: name,
    spec: sampleSpec({ name }),
    switches: [],
    ranks: [0, 1],
    secret: new Uint8Array(32),
  });
  await connection.request('subscribe', { run: name, after: 0 });
  await connection.request('begin', {
    run: name,
    addresses: addresses.map(({ address }) => address),
  });
  return entries;
}

const ended = (entries: readonly JournalEntry[]) => entries.at(-1);
const iterationsOf = (entries: readonly JournalEntry[], rank: number) =>
  entries.flatMap(({ record }) =>
    record.type === 'iteration' && record.rank === rank ? [record.iteration] : [],
  );

test.each([
  ['loss-nan', 'iteration record, rank 1, iteration 3: loss is NaN'],
  ['wall-infinite', 'iteration record, rank 1, iteration 3: wall is Infinity'],
  ['other-rank', 'iteration record: rank is 0, not 1'],
  ['repeated', 'iteration record: iteration is 2, not 3'],
  ['unknown-type', /^speed record, rank 1, iteration 3: type is not valid: /],
  ['no-record', /^a record of no type: it is not valid: /],
  ['failure-that-is-none', /^failed record: error.code is not valid: /],
])(
  'a run with %s ends as failed, with all of its ranks; another goes on',
  async (name, message) => {
    const entries = await launch(name);
    await untilAsync(
      () => Promise.resolve(ended(entries)),
      (last) => last !== undefined && endsRun(last.record),
      'the run to end',
    );
    expect(ended(entries)!.record).toMatchObject({
      type: 'failed',
      error: {
        code: 'RECORD_INVALID',
        message:
          typeof message === 'string'
            ? message
            : (expect.stringMatching(message) as string),
        place: expect.stringMatching(/^rank \d$/) as string,
        next: expect.any(String) as string,
      },
    });
    expect(processesMatching(`gradwire worker ${name} `)).toEqual([]);
    if (name !== 'failure-that-is-none') {
      expect(iterationsOf(entries, 1)).toEqual([0, 1, 2]);
    }
    const before = iterationsOf(other, 1).length;
    await untilAsync(
      () => Promise.resolve(iterationsOf(other, 1).length),
      (now) => now > before + 3,
      'the other run to go on',
    );
    expect(ended(other)!.record.type).toBe('iteration');
  },
);
