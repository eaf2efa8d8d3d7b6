/** The settings of a run as lines: keys as `--set` takes them, and what they are. */
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { settingsInUse } from '../../../shared/spec/program-settings.ts';
import { formatCount } from '../../../shared/words/units.ts';

export interface RunSetting {
  /** `exchange.ratio` */
  readonly key: string;
  readonly value: string;
  /** Words that stand for a long list until it is opened. */
  readonly brief?: string;
}

/** Characters of a list of names that are shown at once. */
const MOST_SHOWN = 120;

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
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isLong = isNames(value) && text.length > MOST_SHOWN;
  yield {
    key,
    value: text,
    ...(isLong ? { brief: `${formatCount(value.length)} names` } : {}),
  };
}

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string');
