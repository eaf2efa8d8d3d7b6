/** Resources that Gradwire requests from Slurm on a cluster's login node. */
import { z } from 'zod';

/** One word of a command line, which must not look like an option. */
const word = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^-\s][^\s]*$/, 'one word that does not start with -');
const line = z
  .string()
  .min(1)
  .max(2000)
  .regex(/^[^\0\n]*$/, 'one line');
const whole = 'a whole number from 1 to 100000';
const count = z.int(whole).min(1, whole).max(100_000, whole);

export const slurmSettingsSchema = z.strictObject({
  partition: word.optional(),
  account: word.optional(),
  /** Time limit of a job in Slurm's format: minutes, or `[days-]hours:minutes:seconds`. */
  time: z
    .string()
    .regex(
      /^(\d+-)?\d+(:\d+){0,2}$/,
      'minutes, hours:minutes:seconds, or days-hours:minutes:seconds',
    )
    .optional(),
  /** Compute nodes per run; default: as many as `ranksPerNode` requires. */
  nodes: count.optional(),
  /** Most ranks per compute node; default: all ranks. */
  ranksPerNode: count.optional(),
  /** Cores on each compute node; default: one for each of its ranks. */
  cpusPerNode: count.optional(),
  gpusPerNode: count.optional(),
  /** Shell lines run before each rank, for instance `module load`. */
  setup: z.array(line).max(100).readonly().default([]),
  /** Further sbatch options, each complete: `--qos=high`. */
  options: z
    .array(line.regex(/^-/, 'an sbatch option, which starts with -'))
    .max(100)
    .readonly()
    .default([]),
});
export type SlurmSettings = z.infer<typeof slurmSettingsSchema>;
