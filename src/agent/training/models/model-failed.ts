/** Errors for faults that show only when a model's functions are called. */
import { inputError, type GradwireError } from '../../../shared/errors/errors.ts';
import type { JaxArray } from '../runtime/jax-runtime.ts';

export function modelFailed(reason: string): GradwireError {
  return inputError('MODEL_INVALID', reason, {
    place: 'workload.model',
    next: 'Correct the model; see docs/models.md for what it needs.',
  });
}

/** @throws GradwireError `MODEL_INVALID` */
export function requireShape(
  name: string,
  array: JaxArray,
  expected: readonly number[],
): void {
  const shape = (array as Partial<JaxArray> | undefined)?.shape;
  if (shape === undefined) throw modelFailed(`its ${name} are not a jax-js array`);
  const same =
    shape.length === expected.length && shape.every((n, i) => n === expected[i]);
  if (same) return;
  throw modelFailed(
    `its ${name} have the shape [${shape.join(', ')}], expected [${expected.join(', ')}]`,
  );
}

/** @throws GradwireError `MODEL_INVALID` */
export function requireFloats(name: string, { dtype }: JaxArray): void {
  if (dtype === 'float32') return;
  throw modelFailed(`its ${name} are of type ${dtype}, expected float32`);
}
