import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  schemaOf,
  sectionOf,
  SETTING_SECTIONS,
} from '../../../src/shared/settings/setting.ts';
import { ruleChoices } from '../../../src/shared/settings/alert-settings.ts';
import {
  checkSetting,
  DEFAULT_SETTINGS,
  parseSetting,
  readSettings,
  SETTINGS,
} from '../../../src/shared/settings/settings.ts';
import { DEFAULT_CHOICES } from '../../../src/shared/alerts/run-watch.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';

let temporary: TemporaryStore;
beforeEach(() => {
  temporary = new TemporaryStore();
});
afterEach(() => {
  temporary.close();
});

const codeOf = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('every setting has its own key in a section of the page, and a default that fits it', () => {
  expect(new Set(SETTINGS.map(({ key }) => key)).size).toBe(SETTINGS.length);
  const sections = SETTING_SECTIONS.map(({ id }) => id as string);
  for (const setting of SETTINGS) {
    expect(sections).toContain(sectionOf(setting));
    expect(schemaOf(setting).safeParse(setting.default).success).toBe(true);
  }
});

test.each([
  ['alerts.long-wait.on', 'off', false],
  ['alerts.long-wait.on', 'Yes', true],
  ['alerts.long-wait.percent', '30', 30],
  ['notify.webhook', 'https://example.org/a?b=1', 'https://example.org/a?b=1'],
  ['notify.webhook', '', ''],
])('%s takes %s', (key, text, value) => {
  expect(parseSetting(key, text)).toBe(value);
});

test.each([
  ['alerts.long-wait.on', 'maybe', 'SETTING_INVALID'],
  ['alerts.long-wait.percent', '101', 'SETTING_INVALID'],
  ['alerts.long-wait.percent', '', 'SETTING_INVALID'],
  ['alerts.long-wait.percent', 'NaN', 'SETTING_INVALID'],
  ['alerts.long-wait.iterations', '2.5', 'SETTING_INVALID'],
  ['notify.webhook', 'file:///etc/passwd', 'SETTING_INVALID'],
  ['notify.webhook', 'https://me:secret@example.org', 'SETTING_INVALID'],
  ['notify.webhook', 'example', 'SETTING_INVALID'],
  ['notify.webhook', 'http://a/\nb', 'SETTING_INVALID'],
  ['notify.command', 'cat\0', 'SETTING_INVALID'],
  ['alerts.long-wait.percent', '0x20', 'SETTING_INVALID'],
  ['notify.command', 'x'.repeat(1001), 'SETTING_INVALID'],
  ['alerts.long-wat.on', 'on', 'SETTING_UNKNOWN'],
  ['__proto__', 'on', 'SETTING_UNKNOWN'],
])('%s refuses %s', (key, text, code) => {
  expect(codeOf(() => parseSetting(key, text))).toBe(code);
});

test('a misspelt key is answered with the nearest one', () => {
  expect(() => checkSetting('alerts.long-wat.on', true)).toThrow(
    expect.objectContaining({
      next: expect.stringContaining('alerts.long-wait.on') as string,
    }),
  );
});

test('a stored value that does not fit, or of a key of another version, is as if absent', () => {
  const stored = new Map([
    ['alerts.long-wait.percent', '"many"'],
    ['alerts.at-chance.on', 'false'],
    ['notify.command', '{broken'],
    ['later.key', '1'],
  ]);
  expect(readSettings(stored)).toEqual({
    ...DEFAULT_SETTINGS,
    'alerts.at-chance.on': false,
  });
});

test('rules begin with their own defaults, and change with the settings', () => {
  expect(ruleChoices(DEFAULT_SETTINGS)).toEqual(DEFAULT_CHOICES);
  const choices = ruleChoices({
    ...DEFAULT_SETTINGS,
    'alerts.at-chance.on': false,
    'alerts.long-wait.percent': 30,
  });
  expect(choices.has('at-chance')).toBe(false);
  expect(choices.get('long-wait')).toEqual({ percent: 30, iterations: 20 });
});

test('a home keeps what was changed, until it is reset', () => {
  const { settings } = temporary.store;
  settings.set('alerts.long-wait.percent', 30);
  expect([settings.changed(), settings.all()['alerts.long-wait.percent']]).toEqual([
    ['alerts.long-wait.percent'],
    30,
  ]);
  settings.set('alerts.long-wait.percent', undefined);
  expect([settings.changed(), settings.all()]).toEqual([[], DEFAULT_SETTINGS]);
});
