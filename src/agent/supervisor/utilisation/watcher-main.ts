/**
 * `gradwire watcher RUN NODE`: reads a node that Slurm allocates once a second, for a supervisor that is
 * not there. It ends when its stdin does, which means that the supervisor has no more use for it, or is
 * gone.
 */
import { toErrorData } from '../../../shared/errors/errors.ts';
import { parseOrder } from '../../world/line-message.ts';
import { openRankLine } from '../../world/rank-line.ts';
import { UseSamples } from './use-samples.ts';
import {
  toWatcherSchema,
  type FromWatcher,
  type ToWatcher,
} from './watcher-protocol.ts';

const [run = '?', node = '?'] = process.argv.slice(2);

let samples: UseSamples | undefined;

const reports = openRankLine<ToWatcher, FromWatcher>({
  title: `gradwire watcher ${run} ${node}`,
  parse: parseOrder(toWatcherSchema),
  obey: ({ processes }) => {
    samples?.close();
    samples = new UseSamples(new Map(processes.map(({ pid, rank }) => [rank, pid])), {
      read: (processors, { ranks, ...reading }) => {
        const listed = [...ranks].map(([rank, use]) => ({ rank, ...use }));
        reports.send({ type: 'read', processors, ...reading, ranks: listed });
      },
      gpu: (reading) => {
        reports.send({ type: 'gpu', ...reading });
      },
    });
  },
  fail: (error) => {
    process.stderr.write(`${toErrorData(error).message}\n`);
    process.exit(1);
  },
});
// nvidia-smi would notice by itself only when it prints.
process.on('exit', () => {
  samples?.close();
});
