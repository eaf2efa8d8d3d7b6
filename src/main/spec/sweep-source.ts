/**
 * The argument of `gradwire sweep` and its options as one raw sweep: a file that names its base,
 * or a spec with what the command line varies.
 */
import path from 'node:path';
import { inputError } from '../../shared/errors/errors.ts';
import {
  isSweep,
  parseSweep,
  type SweepDefinition,
} from '../../shared/sweep/sweep-definition.ts';
import { applySettings, parseVariation } from './settings.ts';
import { loadSpecSource, type SpecSource } from './spec-source.ts';

export interface SweepChanges {
  /** Settings of the base: `key=value`. */
  readonly set: readonly string[];
  /** Keys with their values: `key=value,value`. They replace the file's. */
  readonly vary: readonly string[];
  readonly name?: string | undefined;
  readonly seeds?: number | readonly number[] | undefined;
  readonly atOnce?: number | undefined;
}

/**
 * @param source a sweep or a spec: a file, `-` for stdin, or the name of a preset
 * @throws GradwireError what is wrong with the file, a setting or the sweep
 */
export async function loadSweep(
  source: string,
  changes: SweepChanges,
): Promise<SweepDefinition> {
  const { place, raw } = await loadSpecSource(source);
  const written = isSweep(raw) ? (raw as Record<string, unknown>) : { base: raw };
  const base = await baseOf(written['base'], source, place);
  if (isSweep(base.raw)) {
    throw inputError('SWEEP_INVALID', '"base" is a sweep itself', {
      place: base.place,
      next: 'Name a spec, which has no grid, list or seeds.',
    });
  }
  return sweepOf({ ...written, base: base.raw }, place, changes);
}

/**
 * A raw sweep with changes.
 * @throws GradwireError what is wrong with a setting or the sweep
 */
export function sweepOf(
  written: Readonly<Record<string, unknown>>,
  place: string,
  { atOnce, name, seeds, set, vary }: SweepChanges,
): SweepDefinition {
  const grid = { ...(written['grid'] as object | undefined) } as Record<
    string,
    unknown
  >;
  const given = new Set<string>();
  for (const text of vary) {
    const [key, values] = parseVariation(text);
    if (given.has(key)) {
      throw inputError('SETTING_INVALID', `"${key}" is varied twice`, {
        place: `--vary ${text}`,
        next: `Give all of its values at once: --vary ${key}=value,value.`,
      });
    }
    given.add(key);
    grid[key] = values;
  }
  const changed = Object.entries({ name, seeds, atOnce }).filter(
    ([, value]) => value !== undefined,
  );
  return parseSweep(
    {
      ...written,
      base: applySettings(written['base'], set),
      ...(vary.length === 0 ? {} : { grid }),
      ...Object.fromEntries(changed),
    },
    place,
  );
}

/** The spec that a sweep names: a preset, or a file beside the sweep's own. */
async function baseOf(
  base: unknown,
  source: string,
  place: string,
): Promise<SpecSource> {
  if (typeof base === 'string') {
    const isFile = /[/\\]|\.(ya?ml|json)$/i.test(base);
    if (!isFile || source === '-') return await loadSpecSource(base);
    return await loadSpecSource(path.resolve(path.dirname(source), base));
  }
  if (typeof base === 'object' && base !== null && !Array.isArray(base)) {
    return { raw: base, place };
  }
  const fault = base === undefined ? '"base" is missing' : '"base" is no spec';
  throw inputError('SWEEP_INVALID', fault, {
    place,
    next: 'Give the name of a preset, the path of a spec, or the spec itself.',
  });
}
