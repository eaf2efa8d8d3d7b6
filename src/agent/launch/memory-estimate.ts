/**
 * How much memory a rank needs at least, part by part, before anything is started. Left out is what
 * depends on more than sizes: intermediate results of the model, payloads, what a method keeps
 * beside its residual, and the collectives' buffers. So a run that does not fit by these figures
 * cannot run, and one that does may still need more.
 */
import { inputError } from '../../shared/errors.ts';
import type { ExchangePlan } from '../../shared/exchange-plan.ts';
import { formatBytes, formatCount } from '../../shared/units.ts';
import { findMethod } from '../compression/registry.ts';
import { ARENA_BYTES } from '../memory/arena.ts';
import type { MemoryFacts } from '../training/memory-facts.ts';

export interface MemoryPart {
  readonly name: string;
  readonly bytes: number;
  readonly isInArena: boolean;
}

const F32 = 4;

export function memoryParts(
  facts: MemoryFacts,
  plans: readonly Pick<ExchangePlan, 'layers' | 'method'>[],
): readonly MemoryPart[] {
  const { inTables, parameters, samples = 0, stateVectors, stepsInArena } = facts;
  const whole = parameters - inTables;
  const keeps = plans
    .flatMap(({ layers = [], method }) => [
      method,
      ...layers.map((layer) => layer.method),
    ])
    .some((method) => findMethod(method).residual !== 'none');
  const parts = [
    { name: 'gradient', bytes: F32 * parameters, isInArena: true },
    { name: 'residual', bytes: keeps ? F32 * parameters : 0, isInArena: true },
    { name: 'weights', bytes: F32 * whole, isInArena: stepsInArena },
    {
      ...{ name: 'optimiser', bytes: F32 * whole * stateVectors },
      isInArena: stepsInArena,
    },
    {
      ...{ name: 'tables', bytes: F32 * inTables * (1 + stateVectors) },
      isInArena: false,
    },
    { name: 'samples', bytes: samples, isInArena: false },
  ];
  return parts.filter(({ bytes }) => bytes > 0);
}

export const bytesIn = (parts: readonly MemoryPart[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0);

const listed = (parts: readonly MemoryPart[]): string =>
  parts.map(({ bytes, name }) => `${name} ${formatBytes(bytes)}`).join(', ');

/** @throws GradwireError `MEMORY_TOO_SMALL` where a rank's arena cannot hold its parts */
export function requireArena(
  parts: readonly MemoryPart[],
  { because }: Pick<MemoryFacts, 'because'> = {},
): void {
  const within = parts.filter(({ isInArena }) => isInArena);
  const needed = bytesIn(within);
  if (needed <= ARENA_BYTES) return;
  const cause = because === undefined ? '' : `; the size comes from ${because.what}`;
  throw inputError(
    'MEMORY_TOO_SMALL',
    `a rank needs at least ${formatCount(needed)} bytes in its arena, which has ` +
      `${formatCount(ARENA_BYTES)}: ${listed(within)}${cause}`,
    {
      place: because?.place ?? 'workload.model',
      next:
        because === undefined
          ? 'Use a smaller model, or a method without a residual.'
          : 'Correct that value, or number the features without gaps.',
    },
  );
}

/** The warning that the ranks of a machine may not fit its memory; undefined where they do. */
export function memoryWarning(
  parts: readonly MemoryPart[],
  { available, ranks }: { readonly available: number; readonly ranks: number },
): string | undefined {
  const needed = ranks * bytesIn(parts);
  if (needed <= available) return undefined;
  const each = ranks === 1 ? '' : `, ${ranks} times`;
  return (
    `this machine has ${formatBytes(available)} of memory left, but its ranks need at ` +
    `least ${formatBytes(needed)}: ${listed(parts)}${each}`
  );
}
