/** `attach` as built, where the supervisor that it starts does not get as far as to listen. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processesWith, until } from '../../harness/processes.ts';

const ENTRY = path.join(import.meta.dirname, '../../../dist/agent/attach.js');
const MARKER = 'gradwire-attach-start';

let base: string;
beforeEach(() => {
  base = path.join(mkdtempSync(path.join(tmpdir(), 'gradwire-attach-')), '.gradwire');
  mkdirSync(base, { mode: 0o700 });
});
/** Everything that was started with this home. */
const processesHere = () => processesWith(`HOME=${path.dirname(base)}`);

afterEach(async () => {
  await until(
    processesHere,
    (left) => left.length === 0,
    'the processes of the home to end',
  );
  rmSync(path.dirname(base), { recursive: true });
});

/** One `attach` whose stdin ends at once: its code, and what it printed. */
async function attach(more: Readonly<Record<string, string>> = {}) {
  const child = spawn(
    process.execPath,
    [ENTRY, '--base', base, '--agent', 'a', '--marker', MARKER],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: path.dirname(base), ...more },
    },
  );
  const closed = new Promise((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await closed, stdout, stderr };
}

test('a supervisor that does not listen in time is killed, and the next one starts', async () => {
  const late = path.join(import.meta.dirname, 'late-supervisor.mjs');
  const first = await attach({ NODE_OPTIONS: `--import ${late}` });
  expect(first).toEqual({
    code: 1,
    stdout: '',
    stderr: 'the supervisor did not start: it did not listen within 60 s: stopped\n',
  });
  // Killed, though it was stopped: it holds neither the home's lock nor its socket.
  await until(
    processesHere,
    (left) => left.length === 0,
    'the stopped supervisor to end',
  );
  const second = await attach();
  expect(second).toMatchObject({ code: 0, stderr: '' });
  expect(second.stdout.startsWith(`${MARKER}\n`)).toBe(true);
});

test('a home whose socket cannot be made: it says so as an error with a code', async () => {
  const home = path.join(base, 'nodes', hostname());
  mkdirSync(path.join(home, 'supervisor.sock'), { recursive: true });
  // Not empty, so that it is not removed as a socket that was left.
  writeFileSync(path.join(home, 'supervisor.sock', 'x'), '');
  const { code, stdout, stderr } = await attach();
  expect([code, stdout]).toEqual([4, '']);
  expect(JSON.parse(stderr.trim().split('\n').at(-1)!)).toMatchObject({
    code: 'SUPERVISOR_START_FAILED',
  });
});
