/** The settings of a run as lines: keys as `--set` takes them, and what they are. */
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { settingsInUse } from '../../../shared/spec/program-settings.ts';

export interface RunSetting {
  /** `exchange.ratio` */
  readonly key: string;
  readonly value: string;
}

/** All settings of a run, defaults included, in the spec's order. */
export const settingsOf = (spec: ExperimentSpec): readonly RunSetting[] => [
  ...linesOf('', settingsInUse(spec)),
];

function* linesOf(key: string, value: unknown): Generator<RunSetting> {
  if (value === undefined) return;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, part] of Object.entries(value))
      yield* linesOf(key === '' ? name : `${key}.${name}`, part);
    return;
  }
  yield { key, value: typeof value === 'string' ? value : JSON.stringify(value) };
}
