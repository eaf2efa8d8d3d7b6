/** A rank that only prints, in several ways, and reports what it was told to; without lines it exits. */
/* eslint-disable no-console -- It prints as libraries do. */
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { parseOrder } from '../../../src/agent/world/line-message.ts';
import { openRankLine } from '../../../src/agent/world/rank-line.ts';

const order = z.object({ lines: z.int() });

const reports = openRankLine<z.infer<typeof order>, object>({
  title: 'gradwire printing',
  parse: parseOrder(order),
  fail: (error) => {
    process.stderr.write(String(error));
    process.exit(1);
  },
  obey: ({ lines }) => {
    if (lines === 0) {
      console.log('the only line');
      process.exit(0);
    }
    console.log('by console.log');
    console.error('by console.error');
    reports.send({ type: 'between' });
    const thread = new Worker(`console.log('by a thread')`, { eval: true });
    thread.on('exit', () => {
      const text = 'x'.repeat(99);
      process.stdout.write(`${text}\n`.repeat(lines), () => {
        reports.send({ type: 'printed' });
        console.log('the last line');
        // A parent that reads slowly leaves both waiting, and Node's exit waits for no pipe.
        reports.end(() => process.exit(0));
      });
    });
  },
});
