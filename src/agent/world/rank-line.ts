/**
 * A rank process's line to its parent: orders come on stdin, reports leave on file
 * descriptor 3. The end of either means that the parent is gone, and the process exits.
 */
import { Socket } from 'node:net';
import { FrameDecoder } from '../../shared/protocol/frame.ts';
import { keepCompiledCode } from '../bundle/compile-cache.ts';
import { ignoreWarningSignals } from '../bundle/warning-signals.ts';
import { carryStdout } from './carried-stdout.ts';
import type { Parse } from './line-message.ts';
import { MARKER } from './marked-stream.ts';
import { ReportChannel } from './report-channel.ts';

/** File descriptor of the reports. */
const REPORTS = 3;

/** The argument for a process whose reports are carried line by line. */
export const BY_LINE = '--by-line';

export interface RankLine<Order, Report, Part> {
  /** The title that `ps` shows. */
  readonly title: string;
  readonly obey: (order: Order) => void;
  /** Checks an order. */
  readonly parse: Parse<Order>;
  /** The message with gathered parts of reports, if there are such. */
  readonly reportOf?: (parts: readonly Part[]) => Report;
  /** An error that nothing else caught. */
  readonly fail: (error: unknown) => void;
}

export function openRankLine<Order, Report, Part = never>({
  title,
  obey,
  fail,
  parse,
  reportOf,
}: RankLine<Order, Report, Part>): ReportChannel<Report, Part> {
  // Where Slurm starts it, the login node's may not reach it.
  process.umask(0o077);
  ignoreWarningSignals();
  keepCompiledCode();
  const byLine = process.argv.includes(BY_LINE);
  // A process's kernel name is the beginning of its title. Slurm 22.05 with
  // proctrack/linuxproc does not find, and so does not kill, a process with a space in
  // its name.
  process.title = byLine ? title.replace(' ', '-') : title;
  const stream = new Socket({ fd: REPORTS, readable: false, writable: true });
  stream.on('error', () => {
    process.exit(1);
  });
  const decoder = new FrameDecoder();
  process.stdin.on('data', (chunk: Buffer) => {
    for (const order of decoder.push(chunk)) obey(parse(order));
  });
  process.stdin.on('end', () => {
    process.exit(1);
  });
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  if (byLine) stream.write(MARKER);
  const reports = new ReportChannel<Report, Part>(stream, byLine, reportOf);
  if (byLine) carryStdout(reports);
  return reports;
}
