/** `workload` of a program of one's own, which Gradwire starts on every rank. */
import { z } from 'zod';
import type { Exclusion, Need } from '../checks/spec-key.ts';
import { NO_DATA } from './model-name.ts';

/** `workload.model` of a program; a spec with a command need not say it. */
export const PROGRAM = 'program';

/** `iterations` of a program that ends by itself. */
export const OPEN_ENDED = 1_000_000_000;

/** Most characters of an argument, of a line of setup or of a variable. */
const MOST_TEXT = 32_768;

const text = z
  .string()
  .max(MOST_TEXT)
  .refine((value) => !value.includes('\0'), 'has a NUL character');
const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'names have letters, digits and underscores');

/** The need of a key that only a program has a use for. */
const ofProgram: readonly Need[] = [
  {
    key: 'workload.model',
    is: PROGRAM,
    code: 'PROGRAM_INVALID',
    because: "{found} is a model of Gradwire's, not a program",
    next: 'Remove it, or remove workload.model.',
  },
];

export const programKeys = {
  command: z
    .array(text)
    .min(1)
    .max(4096)
    .refine(([program]) => program !== '', 'names no program')
    .optional()
    .describe(
      'Your own program: a line for the shell, such as python3 train.py, or a list of the program and its arguments',
    )
    .meta({ title: 'Command', needs: ofProgram }),
  workdir: text
    .min(1)
    .optional()
    .describe(
      'Directory in which the command runs; machines reached by SSH get a copy of it',
    )
    .meta({ title: 'Working directory', needs: ofProgram }),
  copy: z
    .boolean()
    .optional()
    .describe(
      'Copy the working directory to machines reached by SSH; false: it is there under the same path; default: true',
    )
    .meta({ title: 'Copy the working directory', needs: ofProgram }),
  setup: z
    .array(text)
    .max(100)
    .optional()
    .describe('Shell lines before the command, such as ["module load cuda"]')
    .meta({ title: 'Setup', needs: ofProgram }),
  env: z
    .record(variable, text)
    .optional()
    .describe('Environment variables of the command, such as {"OMP_NUM_THREADS": "4"}')
    .meta({ title: 'Environment', needs: ofProgram }),
  observe: z
    .boolean()
    .optional()
    .describe(
      'Only watch the program, which communicates by itself; default: it joins and Gradwire averages its gradients',
    )
    .meta({ title: 'Only observe', needs: ofProgram }),
  external: z
    .boolean()
    .optional()
    .describe(
      'Something else starts the ranks: the command, if it is a launcher such as torchrun, or without a command you; default: Gradwire starts the command on every rank',
    )
    .meta({ title: 'Started by a launcher', needs: ofProgram }),
};

/** A command that starts a program's ranks without Gradwire, as an example. */
export const launchExample = (ranks: number): string =>
  `torchrun --nproc-per-node ${ranks} train.py`;

/** The exclusion of a key that a program has no use for. */
export const besideProgram = ({
  next = 'Remove it.',
  ...rule
}: Pick<Exclusion, 'because' | 'place' | 'value'> & {
  readonly next?: string;
}): Exclusion => ({
  ...rule,
  key: 'workload.model',
  is: PROGRAM,
  code: 'PROGRAM_MISFIT',
  next,
});

export const isProgram = ({ model }: { readonly model: string }): boolean =>
  model === PROGRAM;

/** Whether it is a program whose gradients Gradwire averages. */
export const isJoining = (workload: {
  readonly model: string;
  readonly observe?: boolean | undefined;
}): boolean => isProgram(workload) && workload.observe !== true;

/** Whether nobody knows how many iterations there will be. */
export const isOpenEnded = (iterations: number): boolean => iterations >= OPEN_ENDED;

/** The number of iterations that a run is to have: `400 iterations`, `until it ends`. */
export const plannedText = (iterations: number, format = String): string =>
  isOpenEnded(iterations)
    ? 'until it ends'
    : `${format(iterations)} ${iterations === 1 ? 'iteration' : 'iterations'}`;

/** The progress of a run: `20/400`, or `20` where the end is not known. */
export const progressText = (done: number, planned: number): string =>
  isOpenEnded(planned) ? String(done) : `${done}/${planned}`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A command as it is typed, by the shell; its last process takes the shell's place. */
const shellCommand = (line: string): readonly string[] => ['/bin/sh', '-c', line];

/** A raw spec with what a command implies: its model, no data, and no known end. */
export function withProgramKnown(raw: unknown): unknown {
  if (!isObject(raw) || !isObject(raw['workload'])) return raw;
  const { workload } = raw;
  const { command, external, model } = workload;
  const isProgramOwn = command !== undefined || external === true || model === PROGRAM;
  if (!isProgramOwn) return raw;
  return {
    iterations: OPEN_ENDED,
    ...raw,
    workload: {
      model: PROGRAM,
      dataset: NO_DATA,
      ...workload,
      ...(typeof command === 'string' ? { command: shellCommand(command) } : {}),
    },
  };
}
