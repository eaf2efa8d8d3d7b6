/** Settings of what a new experiment begins with where neither a preset nor a run is named. */
import type { Setting, Settings } from './setting.ts';

const MOST_RANKS = 1024;
const LARGEST_SEED = 0xffffffff;

const wholeFault =
  (least: number, most: number) =>
  (text: string): string | undefined =>
    /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most
      ? undefined
      : `it must be a whole number from ${least} to ${most}`;

export const experimentSettings = [
  {
    key: 'new.preset',
    kind: 'text',
    title: 'Preset',
    help: 'Preset that a new experiment starts from.',
    default: 'quickstart',
    longest: 100,
    takes: 'the name of a preset (gradwire presets)',
    fault: (text) =>
      /^[a-z0-9-]+$/.test(text) ? undefined : 'names have letters, digits and hyphens',
  },
  {
    key: 'new.ranks',
    kind: 'text',
    title: 'Ranks',
    help: 'Ranks of a new experiment. Empty: those of the preset.',
    default: '',
    longest: 10,
    takes: `a whole number from 1 to ${MOST_RANKS}, or nothing`,
    fault: wholeFault(1, MOST_RANKS),
  },
  {
    key: 'new.seed',
    kind: 'text',
    title: 'Seed',
    help: 'Seed of a new experiment. Empty: that of the preset.',
    default: '',
    longest: 10,
    takes: `a whole number from 0 to ${LARGEST_SEED}, or nothing`,
    fault: wholeFault(0, LARGEST_SEED),
  },
] as const satisfies readonly Setting[];

/** The beginning of a new experiment. */
export interface ExperimentDefaults {
  readonly preset: string;
  readonly ranks: number | undefined;
  readonly seed: number | undefined;
}

export function experimentDefaults(settings: Settings | undefined): ExperimentDefaults {
  const text = (key: string): string => String(settings?.[key] ?? '');
  const whole = (key: string): number | undefined =>
    text(key) === '' ? undefined : Number(text(key));
  return {
    preset: text('new.preset') || 'quickstart',
    ranks: whole('new.ranks'),
    seed: whole('new.seed'),
  };
}
