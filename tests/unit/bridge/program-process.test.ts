import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ProgramProcess } from '../../../src/agent/bridge/program-process.ts';

test.runIf(process.platform === 'linux')(
  'a service that a program leaves behind does not keep its run',
  async () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-process-'));
    const pid = path.join(directory, 'pid');
    const service = `setsid sh -c 'echo $$ > "${pid}.new"; mv "${pid}.new" "${pid}"; exec sleep 600' &`;
    const program = new ProgramProcess({
      command: [
        '/bin/sh',
        '-c',
        `${service} while [ ! -e "${pid}" ]; do sleep 0.01; done; exit 3`,
      ],
      env: process.env,
      bridge: path.join(directory, 'bridge', 'socket'),
    });
    program.begin();
    expect(await program.exit).toEqual({ code: 3, signal: null, stderr: '' });
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
    rmSync(directory, { recursive: true });
  },
);
