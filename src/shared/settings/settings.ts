/** The settings of a home. Adding one: a definition in its section's file. */
import { inputError } from '../errors/errors.ts';
import { plainIssue } from '../checks/plain-issue.ts';
import { nearest } from '../words/nearest.ts';
import { shownValue } from '../words/printable.ts';
import { alertSettings } from './alert-settings.ts';
import { experimentSettings } from './experiment-settings.ts';
import { notificationSettings } from './notification-settings.ts';
import { unitSettings } from './unit-settings.ts';
import {
  schemaOf,
  valuesText,
  type Setting,
  type Settings,
  type SettingValue,
} from './setting.ts';

export const SETTINGS: readonly Setting[] = [
  ...experimentSettings,
  ...unitSettings,
  ...notificationSettings,
  ...alertSettings,
];

const BY_KEY: ReadonlyMap<string, Setting> = new Map(
  SETTINGS.map((setting) => [setting.key, setting]),
);

const SCHEMAS = new Map(
  SETTINGS.map((setting) => [setting.key, schemaOf(setting)] as const),
);

export const DEFAULT_SETTINGS: Settings = Object.fromEntries(
  SETTINGS.map((setting) => [setting.key, setting.default]),
);

/**
 * A setting by its key.
 * @throws GradwireError `SETTING_UNKNOWN`
 */
export function findSetting(key: string): Setting {
  const setting = BY_KEY.get(key);
  if (setting !== undefined) return setting;
  const near = nearest(key, BY_KEY.keys());
  throw inputError('SETTING_UNKNOWN', `there is no setting ${shownValue(key)}`, {
    next:
      near === undefined
        ? 'List them: gradwire settings list.'
        : `Did you mean ${near}? All: gradwire settings list.`,
  });
}

/**
 * A value as it is stored; undefined stays undefined, which stands for the default.
 * @throws GradwireError `SETTING_UNKNOWN`, `SETTING_INVALID`
 */
export function checkSetting(key: string, value: unknown): SettingValue | undefined {
  const setting = findSetting(key);
  if (value === undefined || value === null) return undefined;
  const read = SCHEMAS.get(key)!.safeParse(value);
  if (read.success) return read.data;
  const reason = plainIssue(read.error.issues[0]!);
  throw inputError('SETTING_INVALID', `${shownValue(value)} is no value: ${reason}`, {
    place: key,
    next: `Give ${valuesText(setting)}.`,
  });
}

const WORDS: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  yes: true,
  off: false,
  false: false,
  no: false,
};

const DECIMAL = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;

/**
 * A value as the command line gives it.
 * @throws GradwireError `SETTING_UNKNOWN`, `SETTING_INVALID`
 */
export function parseSetting(key: string, text: string): SettingValue {
  const { kind } = findSetting(key);
  const isNumber = kind === 'number' && DECIMAL.test(text);
  const value =
    kind === 'switch'
      ? (WORDS[text.toLowerCase()] ?? text)
      : isNumber && Number.isFinite(Number(text))
        ? Number(text)
        : text;
  return checkSetting(key, value)!;
}

/** All settings from the stored ones, as JSON by key. A value that does not fit is as if absent. */
export function readSettings(stored: ReadonlyMap<string, string>): Settings {
  const settings: Record<string, SettingValue> = { ...DEFAULT_SETTINGS };
  for (const [key, text] of stored) {
    const read = SCHEMAS.get(key)?.safeParse(valueOf(text));
    if (read?.success === true) settings[key] = read.data;
  }
  return settings;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

export type { Settings } from './setting.ts';
