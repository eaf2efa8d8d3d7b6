/** The look at what is deployed on a machine, run by a shell. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { machine, tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findInstalled } from '../../../src/main/deploy/installed.ts';
import type { RemoteConnection } from '../../../src/main/ssh/remote-connection.ts';

/** The header of a program for these processors. */
function program(processor: number): Buffer {
  const start = Buffer.alloc(64);
  start.write('\x7fELF');
  start.writeUInt16LE(processor, 18);
  return start;
}

test('runtimes are those that run; of others of this processor it is known that they are there', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'gradwire-installed-'));
  const connection = {
    run: (command: string, { input }: { readonly input: string }) => {
      const { stdout, stderr, status } = spawnSync('sh', ['-c', command], {
        input,
        encoding: 'utf8',
        env: { ...process.env, HOME: home },
      });
      return Promise.resolve({ code: status, signal: null, stdout, stderr });
    },
  } as unknown as RemoteConnection;
  const hash = (digit: string): string => digit.repeat(32);
  const place = (digit: string): string => {
    const folder = path.join(home, '.gradwire/runtimes', hash(digit), 'bin');
    mkdirSync(folder, { recursive: true });
    return path.join(folder, 'node');
  };
  const [own, other] = /^(aarch|arm)64$/.test(machine()) ? [0xb7, 0x3e] : [0x3e, 0xb7];
  try {
    symlinkSync(process.execPath, place('a'));
    for (const [digit, processor] of [
      ['b', own],
      ['c', other],
    ] as const) {
      // One of a newer libc, as this machine sees it: nothing answers.
      writeFileSync(place(digit), program(processor));
      chmodSync(place(digit), 0o755);
    }
    const { broken, runtimes } = await findInstalled(connection);
    expect(runtimes).toEqual([hash('a')]);
    expect(broken).toEqual([hash('b')]);
  } finally {
    rmSync(home, { recursive: true });
  }
});
