/**
 * `gradwire worker RUN RANK`: one rank. Orders come on stdin, reports leave on file
 * descriptor 3. The end of stdin means that the supervisor is gone: so are we.
 */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { toErrorData } from '../../shared/errors.ts';
import { FrameDecoder } from '../../shared/protocol/frame.ts';
import type { ToWorker } from '../../shared/protocol/worker.ts';
import { ReportChannel } from './report-channel.ts';
import { WorkerSession } from './session.ts';

enableCompileCache();
const [run = '?', rank = '?'] = process.argv.slice(2);
process.title = `gradwire worker ${run} ${rank}`;

const bundled = new URL('./engine-thread.js', import.meta.url);
const engineThread = existsSync(bundled)
  ? bundled
  : new URL('./engine-thread.ts', import.meta.url);

const stream = new Socket({ fd: 3, readable: false, writable: true });
stream.on('error', () => {
  process.exit(1); // the supervisor is gone
});
const reports = new ReportChannel(stream);

const session = new WorkerSession({
  engineThread,
  reports,
  exit: (code) => {
    reports.end(() => {
      process.exit(code);
    });
  },
});

const decoder = new FrameDecoder();
process.stdin.on('data', (chunk: Buffer) => {
  for (const message of decoder.push(chunk)) session.handle(message as ToWorker);
});
process.stdin.on('end', () => {
  process.exit(1);
});
process.on('uncaughtException', (error) => {
  session.fail(toErrorData(error));
});
process.on('unhandledRejection', (error) => {
  session.fail(toErrorData(error));
});
