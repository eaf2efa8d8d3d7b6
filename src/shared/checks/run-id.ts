/**
 * A run's id as every process accepts it. It names a folder in the home, processes and Slurm
 * jobs, so it is one plain word: no separator of paths, no option, no blank.
 */
import { z } from 'zod';

export const runIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'a run’s id has 1 to 64 letters, digits, dots, dashes and underscores, and starts with a letter or a digit',
  );
