/**
 * Loaded into every process of a run by NODE_OPTIONS: ranks that print as libraries do. What
 * each does, NOISE says by rank: `warning`, `bytes`, `flood`, `crash`.
 */
import { existsSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isMainThread } from 'node:worker_threads';

const [, entry = '', , rank = ''] = process.argv;
const noises = JSON.parse(process.env.NOISE ?? '{}');

/** Whole, also where the pipe is full: a stream loses at exit what it has not passed on. */
function write(text) {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

const actions = {
  warning: () => {
    process.emitWarning('the driver is old', 'DeprecationWarning', 'DEP9');
    process.stdout.write('hello from stdout\n');
  },
  // A character cut in two writes, a colour, and a line that never ends.
  bytes: () => {
    const [first, second] = [...Buffer.from('é')];
    writeSync(2, Buffer.from([...Buffer.from('caf'), first]));
    setTimeout(() => {
      writeSync(2, Buffer.from([second, 0x0a]));
      writeSync(2, `\u001b[31mred\u001b[0m\n${'x'.repeat(10_000)}`);
    }, 50);
  },
  // As fast as somebody reads; what it prints last too is printed when the process is gone.
  flood: () => {
    let next = 0;
    const print = () => {
      let text = '';
      for (let line = 0; line < 2000; line++) text += `flood ${next++}\n`;
      write(text);
      setTimeout(print, 1);
    };
    print();
    process.on('exit', () => write(`flooded ${next}\n`));
  },
  // When it is told to, by a file.
  crash: () => {
    setInterval(() => {
      if (!existsSync(path.join(process.env.GRADWIRE_HOME, 'crash'))) return;
      writeSync(2, 'TypeError: cannot read\n    at library (native.js:1:2)\n');
      process.kill(process.pid, 'SIGKILL');
    }, 20);
  },
};

if (isMainThread && entry.endsWith('worker.js')) actions[noises[rank]]?.();
