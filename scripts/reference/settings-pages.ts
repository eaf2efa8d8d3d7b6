/** Pages of alert rules and of settings. */
import { ALERT_RULES } from '../../src/shared/alerts/alert-rules.ts';
import {
  sectionOf,
  SETTING_SECTIONS,
  valuesText,
  valueText,
} from '../../src/shared/settings/setting.ts';
import { SETTINGS } from '../../src/shared/settings/settings.ts';
import { cell, code, table } from './markdown.ts';
import type { Page } from './page.ts';

const alerts: Page = {
  file: 'alerts.md',
  title: 'Alert rules',
  about:
    'All are on unless a setting turns them off ([how alerts work](../alerts.md)). Parameters are settings, such as `alerts.long-wait.percent`.',
  body: ALERT_RULES.map(({ about, id, next, parameters, title }) => {
    const rows = Object.entries(parameters).map(([name, parameter]) => [
      code(name),
      cell(parameter.help),
      code(String(parameter.default)),
    ]);
    const facts = `\`${id}\`: ${about}\n\nNext: ${next}`;
    return `## ${title}\n\n${facts}${rows.length === 0 ? '' : `\n\n${table(['parameter', 'meaning', 'default'], rows)}`}`;
  }),
};

const settings: Page = {
  file: 'settings.md',
  title: 'Settings',
  about:
    'Settings of a home: the page **Settings** and `gradwire settings` show and change the same ones.',
  body: SETTING_SECTIONS.map(
    ({ id, title }) =>
      `## ${title}\n\n${table(
        ['key', 'meaning', 'values', 'default'],
        SETTINGS.filter((setting) => sectionOf(setting) === id).map((setting) => [
          code(setting.key),
          cell(setting.help),
          cell(valuesText(setting)),
          setting.default === '' ? 'nothing' : code(valueText(setting.default)),
        ]),
      )}`,
  ),
};

export const settingsPages: readonly Page[] = [alerts, settings];
