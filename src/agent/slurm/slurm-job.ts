/**
 * A job as Slurm's commands name it. Its mark is made before it is submitted, so that it can
 * be found and cancelled also if sbatch never says its number. A number alone names no job:
 * another cluster has the same, and Slurm gives numbers out again.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ownOption } from '../../shared/machines/slurm-options.ts';

const markSchema = z.strictObject({
  name: z.string(),
  /** A text that no other job has in its name or comment. */
  token: z.string().min(1),
  /** Comment that has the token, if the user's own name for jobs leaves no place for it. */
  comment: z.string().optional(),
  /** Clusters where the job is, or may be: one or several. Default: this cluster. */
  clusters: z.string().optional(),
  /** Number of the job, as soon as it is known. */
  id: z.string().optional(),
});
export type JobMark = z.infer<typeof markSchema>;

export interface SlurmJob extends JobMark {
  readonly id: string;
}

/**
 * The mark of a run's next job. A user's own name stays as it is, because jobs of one name may
 * have to wait for each other (`--dependency=singleton`); then the comment carries the token.
 */
export function makeMark(
  run: string,
  options: readonly string[],
  environment = process.env,
): JobMark {
  const token = randomBytes(4).toString('hex');
  const name = ownOption(options, 'job-name');
  const comment = ownOption(options, 'comment');
  const clusters =
    ownOption(options, 'clusters') ??
    environment.SBATCH_CLUSTERS ??
    environment.SLURM_CLUSTERS;
  const where = clusters === undefined ? {} : { clusters };
  if (name === undefined) return { name: `gradwire ${run} ${token}`, token, ...where };
  return {
    // squeue and scancel read a comma as the end of a name.
    name: name.replaceAll(',', '_'),
    token,
    comment: [comment, `gradwire ${token}`].filter(Boolean).join(' '),
    ...where,
  };
}

/** The option that leads a command of Slurm to the job's cluster. */
export const onCluster = ({
  clusters,
}: Pick<JobMark, 'clusters'>): readonly string[] =>
  clusters === undefined ? [] : [`--clusters=${clusters}`];

/** `17`, or `17 on cluster b` */
export const jobText = ({ id, clusters }: SlurmJob): string =>
  clusters === undefined ? id : `${id} on cluster ${clusters}`;

const FILE = 'slurm-job';

/** The file in a run's folder that says which job to cancel when its supervisor is gone. */
export const jobFile = (folder: string, { token }: JobMark): string =>
  path.join(folder, `${FILE}-${token}`);

export function writeJob(folder: string, mark: JobMark): void {
  const file = jobFile(folder, mark);
  // Replaced whole: half a file would name no job.
  writeFileSync(`${file}.new`, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export interface LeftJob {
  readonly file: string;
  readonly mark: JobMark;
}

/** The jobs that an earlier supervisor of a run has left. */
export function leftJobs(folder: string): readonly LeftJob[] {
  return readdirSync(folder)
    .filter((name) => name === FILE || name.startsWith(`${FILE}-`))
    .map((name) => path.join(folder, name))
    .flatMap((file): LeftJob[] => {
      const mark = readMark(readFileSync(file, 'utf8'), path.basename(folder));
      return mark === undefined ? [] : [{ file, mark }];
    });
}

/** Version 0.1 wrote the number alone; its jobs were named by their run. */
function readMark(text: string, run: string): JobMark | undefined {
  if (/^\d+\s*$/.test(text)) {
    return { id: text.trim(), name: `gradwire ${run}`, token: run };
  }
  try {
    return markSchema.parse(JSON.parse(text));
  } catch {
    return undefined; // Cut off while it was written, before sbatch was called.
  }
}
