/**
 * `gradwire worker RUN RANK`: one rank of a run. Orders come on stdin, reports leave on
 * file descriptor 3. The end of stdin means that the supervisor is gone, so the worker
 * exits.
 */
import {
  toWorkerSchema,
  type FromWorker,
  type ToWorker,
} from '../../shared/protocol/worker.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { bundledFile } from '../bundle/bundled-file.ts';
import { tellReading } from '../training/create-trainer.ts';
import { parseOrder } from '../world/line-message.ts';
import { openRankLine } from '../world/rank-line.ts';
import { WorkerSession } from './session.ts';
import { rankError } from './trainers/rank-error.ts';

const [run = '?', rank = '?'] = process.argv.slice(2);

const reports = openRankLine<ToWorker, FromWorker, RunRecord>({
  title: `gradwire worker ${run} ${rank}`,
  parse: parseOrder(toWorkerSchema),
  reportOf: (records) => ({ type: 'records', records }),
  obey: (order) => {
    session.handle(order);
  },
  fail: (error) => {
    session.fail(rankError(error));
  },
});
// What ranks print is in the run's log; all of them read the same files.
if (rank === '0') tellReading((words) => process.stdout.write(`${words}\n`));

const session = new WorkerSession({
  engineThread: bundledFile(
    { bundle: 'engine-thread.js', source: 'engine/engine-thread.ts' },
    import.meta.dirname,
  ),
  gradientThread: bundledFile(
    { bundle: 'gradient-thread.js', source: 'trainers/gradient-thread.ts' },
    import.meta.dirname,
  ),
  reports,
  exit: (code) => {
    reports.end(() => {
      process.exit(code);
    });
  },
});
