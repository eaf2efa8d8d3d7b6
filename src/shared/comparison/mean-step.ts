/** The mean step of several runs, each with the same weight. */
import { PHASES, type Phase } from '../records/phases.ts';
import { meanOf } from './bootstrap.ts';
import type { MeanStep } from './compared-run.ts';

/** @returns undefined if none has a step; a value that some lack is left out */
export function meanStepOf(
  steps: readonly (MeanStep | undefined)[],
): MeanStep | undefined {
  const known = steps.filter((step) => step !== undefined);
  if (known.length === 0) return undefined;
  const mean = (value: (step: MeanStep) => number | undefined): number | undefined => {
    const values = known.map(value);
    return values.every((one) => one !== undefined) ? meanOf(values) : undefined;
  };
  const phases: Partial<Record<Phase, number>> = {};
  for (const phase of PHASES) {
    if (!known.some((step) => step.phases[phase] !== undefined)) continue;
    phases[phase] = meanOf(known.map((step) => step.phases[phase] ?? 0));
  }
  return {
    wall: meanOf(known.map(({ wall }) => wall)),
    phases,
    overlapped: meanOf(known.map(({ overlapped }) => overlapped)),
    dense: mean(({ dense }) => dense),
    payload: mean(({ payload }) => payload),
    sent: mean(({ sent }) => sent),
  };
}
