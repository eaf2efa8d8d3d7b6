/** Checks whether a spec's kind of parallelism fits the rest of it. */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import {
  PARALLELISM,
  parallelismKind,
} from '../../shared/spec/parallelism/parallelism.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';

/** @throws GradwireError `PARALLELISM_MISFIT` */
export function checkParallelism(spec: ExperimentSpec): void {
  checkVarianceReduction(spec);
  checkKeys(spec);
  const [first] = parallelismKind(spec).misfits(spec);
  if (first !== undefined) throw misfit(first.place, first.message, first.next);
}

/** Checks that the given keys apply to the requested kind. */
function checkKeys(spec: ExperimentSpec): void {
  const kind = parallelismKind(spec);
  const given = Object.entries(spec.parallelism ?? {}).filter(
    ([, value]) => value !== undefined,
  );
  for (const [key] of given) {
    const only = [...PARALLELISM.values()].find(({ keys }) => Object.hasOwn(keys, key));
    if (only === undefined || only.id === kind.id) continue;
    const next = `Set parallelism.kind: ${only.id}, or remove ${key}.`;
    throw misfit(`parallelism.${key}`, kind.instead, next);
  }
}

/** Checks whether gradients can be corrected by full ones. */
function checkVarianceReduction(spec: ExperimentSpec): void {
  const { optimizer, workload } = spec;
  if (optimizer.fullGradientEvery === undefined) return;
  const { uncorrected } = parallelismKind(spec);
  if (uncorrected === undefined && !isSynthetic(workload)) return;
  const cause = uncorrected ?? 'a synthetic gradient has no samples';
  throw misfit('optimizer.fullGradientEvery', cause, 'Remove it.');
}

function misfit(place: string, message: string, next: string): GradwireError {
  return inputError('PARALLELISM_MISFIT', message, { place, next });
}
