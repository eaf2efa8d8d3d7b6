/** What a machine that is the login node of a Slurm cluster asks Slurm for. */
import { z } from 'zod';

/** One word of a command line, which must not look like an option. */
const word = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^-\s][^\s]*$/, 'one word that does not begin with -');
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
  /** Limit of an allocation, in Slurm's own words: minutes, or `[days-]hours:minutes:seconds`. */
  time: z
    .string()
    .regex(
      /^(\d+-)?\d+(:\d+){0,2}$/,
      'minutes, hours:minutes:seconds, or days-hours:minutes:seconds',
    )
    .optional(),
  /** Compute nodes of a run; default: as many as `ranksPerNode` makes necessary. */
  nodes: count.optional(),
  /** Ranks that a compute node takes at most; default: all of them. */
  ranksPerNode: count.optional(),
  /** Cores on each compute node; default: one for each of its ranks. */
  cpusPerNode: count.optional(),
  gpusPerNode: count.optional(),
  /** Lines of shell before a rank starts there, `module load` for instance. */
  setup: z.array(line).max(100).readonly().default([]),
  /** Further options of sbatch, a whole one each: `--qos=high`. */
  options: z
    .array(line.regex(/^-/, 'an option of sbatch, which begins with -'))
    .max(100)
    .readonly()
    .default([]),
});
export type SlurmSettings = z.infer<typeof slurmSettingsSchema>;
