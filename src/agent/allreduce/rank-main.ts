/**
 * `gradwire worker allreduce RANK`: one rank of `gradwire allreduce`, or of a measurement
 * of the network. Orders come on
 * stdin, reports leave on file descriptor 3. The end of stdin means that the command is
 * gone: so are we.
 */
import { enableCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { toErrorData } from '../../shared/errors.ts';
import { encodeFrame, FrameDecoder } from '../../shared/protocol/frame.ts';
import { AllreduceRank } from './rank.ts';
import { ProbeRank } from '../probe/probe-rank.ts';
import type { FromRank, ToRank } from './rank-protocol.ts';

enableCompileCache();
process.title = `gradwire worker allreduce ${process.argv[2] ?? '?'}`;

const reports = new Socket({ fd: 3, readable: false, writable: true });
reports.on('error', () => {
  process.exit(1); // the command is gone
});

let leaving = false;

/** The first reason counts: what fails after it fails because of it. */
function leave(report: FromRank, code: number): void {
  if (leaving) return;
  leaving = true;
  reports.end(encodeFrame(report), () => {
    process.exit(code);
  });
}

function fail(error: unknown): void {
  leave({ type: 'failed', error: toErrorData(error) }, 1);
}

/** Ranks of one command live on one machine. */
const HOST = '127.0.0.1';

const rank = new AllreduceRank();
let prober: ProbeRank | undefined;

async function obey(order: ToRank): Promise<void> {
  switch (order.type) {
    case 'load':
      reports.write(encodeFrame(await rank.load(order)));
      break;
    case 'reduce':
      reports.write(encodeFrame(await rank.reduce(order)));
      break;
    case 'write':
      leave(await rank.write(order), 0);
      break;
    case 'listen': {
      prober = new ProbeRank(order.rank);
      const address = await prober.listen(HOST);
      reports.write(encodeFrame({ type: 'listening', address } satisfies FromRank));
      break;
    }
    case 'probe':
      if (prober === undefined) throw new Error('internal: probe before listen');
      leave({ type: 'probed', ...(await prober.probe(order)) }, 0);
      break;
    default:
      order satisfies never;
  }
}

const decoder = new FrameDecoder();
process.stdin.on('data', (chunk: Buffer) => {
  // The next order comes when the last has been reported.
  for (const order of decoder.push(chunk)) obey(order as ToRank).catch(fail);
});
process.stdin.on('end', () => {
  process.exit(1);
});
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
