/** A socket whose place has remains of a process that was killed, or a process in it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PrivateSocket } from '../../../src/agent/bridge/private-socket.ts';
import { FrameDecoder } from '../../../src/shared/protocol/frame.ts';

let parent: string;
let socket: string;
beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'gradwire-socket-'));
  socket = path.join(parent, 'r.2.1', 'bridge');
});
afterEach(() => {
  rmSync(parent, { recursive: true });
});

const listen = () =>
  PrivateSocket.listen(socket, {
    decoder: new FrameDecoder(),
    received: () => undefined,
    lost: () => undefined,
  });

test('remains of a killed process make room', async () => {
  const script = `
    const socket = process.argv[1];
    fs.mkdirSync(path.dirname(socket));
    net.createServer().listen(socket, () => process.kill(process.pid, 'SIGKILL'));`;
  spawnSync(process.execPath, ['-e', script, socket]);
  expect(existsSync(socket)).toBe(true);
  const link = await listen();
  expect(existsSync(socket)).toBe(true);
  link.close();
  expect(existsSync(path.dirname(socket))).toBe(false);
});

test('a process that listens there keeps its place', async () => {
  const link = await listen();
  await expect(listen()).rejects.toMatchObject({ code: 'EEXIST' });
  expect(existsSync(socket)).toBe(true);
  link.close();
});
