/**
 * A rank's standard output where only two streams lead to its parent: stdout carries the reports,
 * and what is written to descriptor 1 arrives as stderr. So it travels between the reports, as
 * frames of bytes, and arrives as stdout.
 */
import { Writable } from 'node:stream';
import type { ReportChannel } from './report-channel.ts';

/** Most bytes of one frame: others pass in between. */
const PIECE_BYTES = 2 ** 16;

/** Lets `process.stdout` write into the reports. Native code still writes to descriptor 1. */
export function carryStdout(
  reports: Pick<ReportChannel<unknown>, 'print' | 'isEnded'>,
): void {
  const plain = process.stdout;
  const value = new Writable({
    write(bytes: Buffer, _encoding, done) {
      // After the last report the plain way is the only one left.
      if (reports.isEnded) {
        plain.write(bytes, done);
        return;
      }
      const last = Math.max(0, Math.ceil(bytes.length / PIECE_BYTES) - 1) * PIECE_BYTES;
      for (let at = 0; at < last; at += PIECE_BYTES) {
        reports.print(bytes.subarray(at, at + PIECE_BYTES));
      }
      reports.print(bytes.subarray(last), done);
    },
  });
  Object.defineProperty(process, 'stdout', {
    value,
    configurable: true,
    enumerable: true,
  });
}
