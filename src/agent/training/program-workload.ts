/** A spec whose workload is a program of one's own: checked as far as it can be before it runs. */
import type { ModelEntry } from '../../shared/catalogue/catalogue.ts';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { DEFAULT_METHOD } from '../../shared/plan/exchange-plan.ts';
import {
  experimentSpecSchema,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import { NO_DATA } from '../../shared/spec/model-name.ts';
import { ownOfProgram } from '../../shared/spec/program-settings.ts';
import { isProgram, PROGRAM } from '../../shared/spec/program-spec.ts';
import { shownValue } from '../../shared/words/printable.ts';

type Workload = ExperimentSpec['workload'];

export const programEntry: ModelEntry = {
  id: PROGRAM,
  title: 'Your own program',
  summary: 'A PyTorch program that Gradwire starts on every rank',
};

/** Settings that only apply to models of ours. */
const IDLE = [
  'modelSource',
  'features',
  'columns',
  'samples',
  'synthetic',
  'data',
] as const;

/** @throws GradwireError `PROGRAM_INVALID` */
export function checkProgram(workload: Workload): void {
  const { command, external = false, observe = false } = workload;
  if (command === undefined && !external) {
    throw invalid('command', 'the command of your program is missing', {
      next: 'Give it, such as command: [python3, train.py]; or set external: true, and start the ranks yourself.',
    });
  }
  if (command === undefined && observe) {
    throw invalid('observe', 'only a program that Gradwire starts can be observed', {
      next: 'Give the launcher as the command, such as command: [torchrun, train.py]; or let the program join, without observe.',
    });
  }
  if (workload.dataset !== NO_DATA) {
    throw invalid('dataset', 'a program reads its own data', {
      next: `Remove it, or set it to ${NO_DATA}.`,
    });
  }
  const idle = IDLE.find((key) => workload[key] !== undefined);
  if (idle !== undefined) {
    throw invalid(idle, `a program does not use ${idle}`, { next: 'Remove it.' });
  }
}

/**
 * Checks what else a spec asks of a program.
 * @throws GradwireError `PROGRAM_MISFIT`
 */
export function checkProgramSpec(spec: ExperimentSpec): void {
  if (!isProgram(spec.workload)) return;
  requireUsed(spec);
  const { exchange, parallelism, workload } = spec;
  if (
    workload.observe === true &&
    (exchange.method ?? DEFAULT_METHOD) !== DEFAULT_METHOD
  ) {
    throw observed('exchange.method');
  }
  if (parallelism !== undefined && parallelism.kind !== 'synchronous') {
    throw misfit(
      'parallelism.kind',
      'a program decides itself when its ranks exchange',
      'Remove parallelism.',
    );
  }
  if (parallelism?.pipeline !== undefined) {
    throw misfit('parallelism.pipeline', 'a program is not split', 'Remove it.');
  }
}

/** Refuses settings other than the usual that a program does not use. */
function requireUsed(spec: ExperimentSpec): void {
  const usual = experimentSpecSchema.parse({
    workload: { model: PROGRAM, dataset: NO_DATA },
  });
  const sections = [
    ['optimizer.', spec.optimizer, usual.optimizer],
    ['workload.', { batchPerRank: spec.workload.batchPerRank }, usual.workload],
    ['', { evaluateEvery: spec.evaluateEvery }, usual],
  ] as const;
  for (const [path, given, defaults] of sections) {
    for (const [name, value] of Object.entries(given)) {
      if (value === defaults[name as keyof typeof defaults]) continue;
      const key = `${path}${name}`;
      const own = ownOfProgram(spec, key);
      if (own === undefined) continue;
      throw misfit(
        key,
        `a program has ${own}: ${shownValue(value)} would change nothing`,
        name === 'clipNorm'
          ? 'Clip in the program; or add clipAt: rank to a program that joins.'
          : 'Remove it, and set it in the program.',
      );
    }
  }
}

/**
 * Checks that the run has engines to obey an order.
 * @throws GradwireError `PROGRAM_OBSERVED`
 */
export function requireEngines(
  { workload }: Pick<ExperimentSpec, 'workload'>,
  order: string,
): void {
  if (workload.observe === true) throw observed(order);
}

/** The error for a method, or an order, of a program that communicates by itself. */
const observed = (place: string): GradwireError =>
  inputError(
    'PROGRAM_OBSERVED',
    'the program is only observed: it communicates by itself',
    {
      place,
      next: 'Let it join: gradwire.join() (docs/pytorch.md), without observe.',
    },
  );

const invalid = (
  key: string,
  message: string,
  { next }: { readonly next: string },
): GradwireError =>
  inputError('PROGRAM_INVALID', message, { place: `workload.${key}`, next });

const misfit = (place: string, message: string, next: string): GradwireError =>
  inputError('PROGRAM_MISFIT', message, { place, next });
