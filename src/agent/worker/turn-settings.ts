/** Settings that a program cannot have whose models step in turns, known once it has attached them. */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { rankLimit } from '../../shared/spec/optimizer-spec.ts';

/** @throws GradwireError `PROGRAM_MISFIT` */
export function requireTurnSettings({
  compareEvery = 0,
  optimizer,
}: Pick<ExperimentSpec, 'compareEvery' | 'optimizer'>): void {
  if (compareEvery > 0) throw misfit('compareEvery', 'compares');
  if (rankLimit(optimizer) !== undefined) throw misfit('optimizer.clipNorm', 'clips');
}

const misfit = (place: string, does: string): GradwireError =>
  inputError(
    'PROGRAM_MISFIT',
    `${place} ${does} whole gradients, but the program's models step in turns`,
    { place, next: 'Remove it, or attach the models without turns=True.' },
  );
