/**
 * Loaded into a supervisor before its own code: while the file TURN_FILE exists, a turn of its event loop in
 * which it has something to send stands still, as when the process is suspended just there.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';

const file = process.env.TURN_FILE;
const { cork } = Socket.prototype;
const clock = new Int32Array(new SharedArrayBuffer(4));

Socket.prototype.cork = function () {
  cork.call(this);
  if (!existsSync(file)) return;
  writeFileSync(`${file}.stands`, '');
  while (existsSync(file)) Atomics.wait(clock, 0, 0, 10);
};
