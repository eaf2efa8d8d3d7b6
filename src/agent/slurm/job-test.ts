/**
 * Whether Slurm would take a run's job: asked before anything is copied to the cluster for it. Slurm is
 * asked to test the job first, which leaves no trace. But it also refuses there what it would
 * queue, such as a job for nodes that are drained at the moment; so a refusal counts only if the
 * same request is refused when it is submitted in earnest, with a script that does nothing. If Slurm
 * takes that job, it is cancelled.
 */
import { toErrorData } from '../../shared/errors/errors.ts';
import type { SlurmSettings } from '../../shared/machines/slurm-settings.ts';
import { nodeShare } from '../../shared/spec/slurm-share.ts';
import { cancelJob } from './job-cancellation.ts';
import { jobOptions } from './job-options.ts';
import { callSlurm } from './slurm-command.ts';
import { submitJob } from './slurm-client.ts';
import { makeMark } from './slurm-job.ts';

/** Time for an answer, after which the job itself has to tell: a test plans the whole queue. */
const TEST_MS = 30_000;
const SUBMIT_MS = 60_000;
const LOOK_FOR_MS = 10_000;
/** Ends at once, should the supervisor be killed before it can cancel the job. */
const NOTHING = '#!/bin/sh\nexit 0\n';

export interface TestedJob {
  readonly run: string;
  readonly ranks: number;
  readonly settings: SlurmSettings;
  /** The login node's name, for errors. */
  readonly node: string;
  /** Time for which a job whose sbatch has said nothing is looked for; default: ten seconds. */
  readonly lookForMs?: number;
}

/**
 * Resolves unless Slurm certainly refuses the job; also if it does not answer.
 * @throws GradwireError `SLURM_REFUSED`, `SLURM_MISSING`
 */
export async function testJob({
  run,
  ranks,
  settings,
  node,
  lookForMs = LOOK_FOR_MS,
}: TestedJob): Promise<void> {
  const mark = makeMark(run, settings.options);
  const options = jobOptions(mark, nodeShare(ranks, settings), settings);
  const tested = await callSlurm('sbatch', ['--test-only', ...options], {
    input: NOTHING,
    node,
    answerMs: TEST_MS,
  });
  if (tested.code === 0 || tested.late) return;
  try {
    const times = { submitMs: SUBMIT_MS, lookForMs };
    cancelJob(await submitJob({ script: NOTHING, options, mark, node, ...times }));
  } catch (error) {
    // Then it may have been taken all the same.
    if (toErrorData(error).code !== 'SLURM_SILENT') throw error;
    cancelJob(mark);
  }
}
