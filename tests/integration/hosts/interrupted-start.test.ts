/** `gradwire start` that is told to end while Electron starts: nothing else is started. */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { start } from '../../../src/main/serve/start.ts';
import { until } from '../../harness/processes.ts';

let directory: string;
let ready: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'gradwire-start-'));
  ready = path.join(directory, 'ready');
  vi.stubEnv('DISPLAY', ':99');
  vi.stubEnv('ELECTRON_OVERRIDE_DIST_PATH', directory);
  // A server that is started all the same fails on its home.
  const home = path.join(directory, 'home');
  await writeFile(home, '');
  vi.stubEnv('GRADWIRE_HOME', home);
  vi.spyOn(process, 'getuid').mockReturnValue(1000);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

/** An Electron that never shows a window. */
async function electron(source: string): Promise<void> {
  const file = path.join(directory, 'electron');
  const begun = `require('node:fs').writeFileSync(${JSON.stringify(ready)}, '');`;
  const text = `#!${process.execPath}\n${source}\n${begun}\nsetInterval(() => {}, 1000);\n`;
  await writeFile(file, text);
  await chmod(file, 0o755);
}

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s that only this process gets ends Electron, and no server is started',
  async (signal) => {
    await electron('');
    const said: unknown[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said.push(text);
      return true;
    });
    const before = process.exitCode;
    const listeners = process.listenerCount(signal);
    const started = start({ json: false });
    await until(
      () => existsSync(ready),
      (isThere) => isThere,
      'Electron to start',
    );
    process.emit(signal);
    await started;
    expect(said).toEqual([]);
    expect(process.exitCode).toBe(0);
    process.exitCode = before;
    expect(process.listenerCount(signal)).toBe(listeners);
  },
);
