/**
 * A setting is one definition: its key, title, help, kind of value and default. The page's form, the
 * command, the checks and the reference are made from it.
 */
import { z } from 'zod';

export type SettingValue = boolean | number | string;

/** Values by key: every setting has one. */
export type Settings = Readonly<Record<string, SettingValue>>;

/** The settings as a page has them. */
export interface SettingsState {
  readonly values: Settings;
  /** Keys of those that were changed. */
  readonly changed: readonly string[];
}

/** The sections of the page of settings. */
export const SETTING_SECTIONS = [
  { id: 'new', title: 'New experiments' },
  { id: 'units', title: 'Units' },
  { id: 'notify', title: 'Notifications' },
  { id: 'alerts', title: 'Alerts' },
] as const;

interface Common<V extends SettingValue> {
  /** `section.name`, or `section.group.name`. */
  readonly key: string;
  readonly title: string;
  /** One or two sentences. */
  readonly help: string;
  readonly default: V;
  /** The title of the settings that it is shown with. */
  readonly group?: string;
}

export type Setting =
  | (Common<boolean> & { readonly kind: 'switch' })
  | (Common<number> & {
      readonly kind: 'number';
      readonly least: number;
      readonly most: number;
      readonly isWhole: boolean;
    })
  | (Common<string> & {
      readonly kind: 'choice';
      readonly choices: readonly { readonly value: string; readonly title: string }[];
    })
  | (Common<string> & {
      readonly kind: 'text';
      readonly longest: number;
      /** Values that it takes, in words. */
      readonly takes: string;
      /** Returns what is wrong with a text that is not empty. */
      readonly fault?: (text: string) => string | undefined;
    });

export const sectionOf = ({ key }: Pick<Setting, 'key'>): string => key.split('.')[0]!;

/** The schema of a setting's values. */
export function schemaOf(setting: Setting): z.ZodType<SettingValue> {
  switch (setting.kind) {
    case 'switch':
      return z.boolean();
    case 'number': {
      const number = z.number().min(setting.least).max(setting.most);
      return setting.isWhole ? number.int() : number;
    }
    case 'choice':
      return z.enum(setting.choices.map(({ value }) => value));
    case 'text':
      return z
        .string()
        .max(setting.longest)
        .superRefine((text, context) => {
          const fault = text === '' ? undefined : setting.fault?.(text);
          if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
        });
    default:
      return setting satisfies never;
  }
}

/** The values that a setting takes, in words. */
export function valuesText(setting: Setting): string {
  switch (setting.kind) {
    case 'switch':
      return 'on or off';
    case 'number':
      return `a ${setting.isWhole ? 'whole number' : 'number'} from ${setting.least} to ${setting.most}`;
    case 'choice':
      return setting.choices.map(({ value }) => value).join(', ');
    case 'text':
      return setting.takes;
    default:
      return setting satisfies never;
  }
}

/** A value as the command writes and reads it. */
export const valueText = (value: SettingValue): string =>
  typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
