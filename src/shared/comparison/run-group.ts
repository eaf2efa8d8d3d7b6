/**
 * Groups of runs with equal settings but for the seed, in the order of their first runs, each with
 * a label that says in what it differs from the others.
 */
import { PLAN_KEYS } from '../plan/exchange-plan.ts';
import type { ComparedRun } from './compared-run.ts';
import {
  differingKeys,
  groupKey,
  SEED,
  settingsOf,
  shortText,
  type Settings,
} from './spec-difference.ts';

export interface RunGroup {
  readonly label: string;
  readonly settings: Settings;
  readonly runs: readonly ComparedRun[];
}

/**
 * A key in which groups differ, and its text in each of them; undefined: not set. The key `plan`
 * has methods with what they are set to; parameters that the others' methods do not have are only
 * there.
 */
export interface Difference {
  readonly key: string;
  readonly values: readonly (string | undefined)[];
}

/** Most settings in a label besides the plan. */
const MOST_NAMED = 3;

const EXCHANGE = 'exchange.';
const METHOD = 'exchange.method';

export function groupsOf(runs: readonly ComparedRun[]): readonly RunGroup[] {
  const byKey = Map.groupBy(runs, (run) => groupKey(settingsOf(run)));
  const groups = [...byKey.values()].map((members) => ({
    runs: members,
    settings: settingsOf(members[0]!),
  }));
  const labels = labelsOf(groups);
  return groups.map((group, index) => ({ ...group, label: labels[index]! }));
}

export function differencesOf(groups: readonly RunGroup[]): readonly Difference[] {
  const keys = differingKeys(groups.map(({ settings }) => settings)).filter(
    (key) => key !== SEED,
  );
  const ofPlan = keys.some((key) => key.startsWith(EXCHANGE));
  return [
    ...(ofPlan
      ? [{ key: 'plan', values: groups.map(({ runs }) => runs[0]!.plan) }]
      : []),
    ...keys
      .filter((key) => key !== METHOD && !followsFromMethod(key, groups))
      .map((key) => ({
        key,
        values: groups.map(({ settings }) => {
          const value = settings.get(key);
          return value === undefined ? undefined : shortText(value);
        }),
      })),
  ];
}

/** Whether groups that have a parameter agree, and the others have another method. */
function followsFromMethod(key: string, groups: readonly RunGroup[]): boolean {
  const isPlanKey = PLAN_KEYS.some((one) => key === EXCHANGE + one);
  if (!key.startsWith(EXCHANGE) || isPlanKey) return false;
  const having = groups.filter(({ settings }) => settings.has(key));
  const methods = new Set(having.map(({ settings }) => settings.get(METHOD)));
  return (
    new Set(having.map(({ settings }) => settings.get(key))).size === 1 &&
    groups.every(
      (group) => having.includes(group) || !methods.has(group.settings.get(METHOD)),
    )
  );
}

function labelsOf(groups: readonly Omit<RunGroup, 'label'>[]): readonly string[] {
  if (groups.length === 1) return [groups[0]!.runs[0]!.name];
  const keys = differingKeys(groups.map(({ settings }) => settings)).filter(
    (key) => key !== SEED,
  );
  const ofPlan = keys.filter((key) => key.startsWith(EXCHANGE));
  const named = keys.filter((key) => !ofPlan.includes(key)).slice(0, MOST_NAMED);
  const labels = groups.map(({ runs, settings }) =>
    [
      ...(ofPlan.length > 0 ? [runs[0]!.plan] : []),
      ...named.map((key) => settingText(key, settings)),
    ].join(', '),
  );
  return labels.map((label, index) => {
    const twins = groups.filter((_, other) => labels[other] === label);
    if (twins.length === 1) return label;
    return [label, ...distinction(groups[index]!, twins)].join(', ');
  });
}

/** Settings by which a group differs from others with its label; one always does. */
const distinction = (
  { settings }: Pick<RunGroup, 'settings'>,
  twins: readonly Pick<RunGroup, 'settings'>[],
): readonly string[] =>
  differingKeys(twins.map((twin) => twin.settings))
    .filter((key) => key !== SEED)
    .map((key) => settingText(key, settings));

/** `bandwidth 1 Gbit/s`; `no momentum` where it is not set. */
function settingText(key: string, settings: Settings): string {
  const name = key.slice(key.lastIndexOf('.') + 1);
  const value = settings.get(key);
  return value === undefined ? `no ${name}` : `${name} ${shortLabel(value)}`;
}

const MOST_LABEL = 40;

const shortLabel = (text: string): string =>
  text.length <= MOST_LABEL ? text : `${text.slice(0, MOST_LABEL)}…`;
