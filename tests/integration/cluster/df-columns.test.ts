/** What the inspection reads of df, whose columns shift where names have blanks. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { INSPECTION } from '../../../src/main/deploy/preflight-script.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-df-'));
afterAll(() => rmSync(directory, { recursive: true }));

const HEADING = 'Filesystem 1024-blocks Used Available Capacity Mounted on';

function freeBy(line: string): string | undefined {
  const df = path.join(directory, 'df');
  writeFileSync(df, `#!/bin/sh\necho '${HEADING}'\necho '${line}'\n`);
  chmodSync(df, 0o755);
  const text = execFileSync('sh', {
    input: INSPECTION,
    env: { ...process.env, PATH: `${directory}:${process.env['PATH']}` },
    encoding: 'utf8',
  });
  return /^free=(.*)$/m.exec(text)?.[1];
}

test.each([
  ['/dev/sda1 100 40 60 40% /home', '60'],
  ['//nas/My Lab Share 100 40 60 40% /home', '60'],
  ['//nas/disk 5% 100 40 60 40% /home', '60'],
  ['/dev/sda1 100 40 60 40% /mnt/my 90% disk', '60'],
  ['none - - - - /home', ''],
])('%s', (line, free) => {
  expect(freeBy(line)).toBe(free);
});
