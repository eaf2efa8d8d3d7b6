/** The user's shell on this computer, without a page: what it reads, and what becomes of it. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { userHome } from '../../../src/main/home/user-home.ts';
import { openLocalShell } from '../../../src/main/terminal/local-shell.ts';
import type { Shell } from '../../../src/main/terminal/shell.ts';
import { until } from '../../harness/processes.ts';

const SIZE = { columns: 80, rows: 24 };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'gradwire-shell-'));
});
afterAll(() => rm(directory, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Opens a shell that is this program, and gathers its output. */
async function open(program: string): Promise<{ shell: Shell; output: () => string }> {
  const file = path.join(directory, 'shell');
  await writeFile(file, `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  vi.stubEnv('SHELL', file);
  const shell = await openLocalShell(SIZE, userHome);
  let text = '';
  shell.output.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { shell, output: () => text };
}

const shows = (output: () => string, text: string): Promise<string> =>
  until(output, (all) => all.includes(text), `${text} in the terminal`);

describe('a long paste', () => {
  const PASTE = Buffer.alloc(100_000, 'x');

  test('lets the app work while no program reads it, and comes whole', async () => {
    const go = path.join(directory, 'go');
    const { output, shell } = await open(
      `stty raw -echo; echo ready; while [ ! -e '${go}' ]; do sleep 0.1; done
       head -c ${PASTE.length} | tr -d x | wc -c; echo whole`,
    );
    await shows(output, 'ready');
    let isTaken = false;
    const written = shell.write(PASTE).then(() => {
      isTaken = true;
    });
    const marked = shell.write(Buffer.from('later'));
    // The program goes on only if this process does.
    await new Promise((resolve) => setImmediate(resolve));
    expect(isTaken).toBe(false);
    await writeFile(go, '');
    await Promise.all([written, marked]);
    expect(await shows(output, 'whole')).toMatch(/ready\s+0\s+whole/);
    await shell.ended;
  });

  test('is dropped with the terminal', async () => {
    const { output, shell } = await open('stty raw -echo; echo ready; sleep 1000');
    await shows(output, 'ready');
    const written = shell.write(PASTE);
    shell.close();
    await written;
    await shell.write(PASTE);
    await shell.ended;
  });
});

test('other processes of the app do not inherit the terminal', async () => {
  const { shell } = await open('exec sleep 1000');
  const listed = execFileSync('sh', ['-c', 'ls -l /proc/self/fd']).toString();
  expect(listed).not.toContain('ptmx');
  shell.close();
  await shell.ended;
});

test('a shell that ignores the hang-up is killed', async () => {
  const { output, shell } = await open(`trap '' HUP; echo ready; sleep 1000 & wait`);
  await shows(output, 'ready');
  shell.close();
  expect(await shell.ended).toEqual({
    reason: 'exited',
    code: null,
    signal: 'SIGKILL',
  });
});

test('a user whom the system does not know has a shell all the same', async () => {
  vi.stubEnv('SHELL', '');
  vi.stubEnv('HOME', undefined);
  const unknown = (): never => {
    throw Object.assign(new Error('no such user'), { code: 'ERR_SYSTEM_ERROR' });
  };
  vi.spyOn(os, 'userInfo').mockImplementation(unknown);
  vi.spyOn(os, 'homedir').mockImplementation(unknown);
  const shell = await openLocalShell(SIZE, userHome);
  let text = '';
  shell.output.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await shell.write(Buffer.from('echo "$0 $PWD."\r'));
  await shows(() => text, '/bin/sh /.');
  await shell.write(Buffer.from('exit\r'));
  expect(await shell.ended).toMatchObject({ reason: 'exited', code: 0 });
});
