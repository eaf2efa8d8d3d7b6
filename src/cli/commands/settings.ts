/** `gradwire settings …`: the settings of this home. */
import type { Command } from 'commander';
import { valuesText, valueText } from '../../shared/settings/setting.ts';
import { findSetting, parseSetting, SETTINGS } from '../../shared/settings/settings.ts';
import { escapeControls } from '../../shared/words/printable.ts';
import { withHistory, withWorkspace, type Workspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { textTable } from '../text/text-table.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';

interface JsonOption {
  readonly json: boolean;
}

export function addSettingsCommand(program: Command): void {
  const settings = program
    .command('settings')
    .description('show and change the settings of this home');
  settings
    .command('list')
    .description('list all settings with their values')
    .option('--changed', 'only those that were changed', false)
    .option('--json', 'one line of JSON per setting', false)
    .option(...WIDE, false)
    .action(list);
  settings
    .command('get')
    .description('print the value of a setting')
    .argument('<key>', 'such as alerts.long-wait.percent')
    .option(...JSON_ANSWER)
    .action(async (key: string, { json }: JsonOption) => {
      findSetting(key);
      await withHistory(async (workspace) => {
        tell(workspace, key, json, '');
      });
    });
  settings
    .command('set')
    .description('change a setting')
    .argument('<key>', 'such as alerts.long-wait.percent')
    .argument('<value>', 'on or off, a number, a word or a text')
    .option(...JSON_ANSWER)
    .action(async (key: string, text: string, { json }: JsonOption) => {
      const value = parseSetting(key, text);
      await withWorkspace(async (workspace) => {
        workspace.store.settings.set(key, value);
        tell(workspace, key, json, `${key} is now `);
      });
    });
  settings
    .command('reset')
    .description('give a setting its default again')
    .argument('<key>', 'such as alerts.long-wait.percent')
    .option(...JSON_ANSWER)
    .action(async (key: string, { json }: JsonOption) => {
      findSetting(key);
      await withWorkspace(async (workspace) => {
        workspace.store.settings.set(key, undefined);
        tell(workspace, key, json, `${key} is again `);
      });
    });
}

function tell(
  { store }: Pick<Workspace, 'store'>,
  key: string,
  json: boolean,
  before: string,
): void {
  const value = store.settings.all()[key]!;
  answer(json, { key, value }, `${before}${shownText(valueText(value))}\n`);
}

const shownText = (text: string): string =>
  text === '' ? '(empty)' : escapeControls(text);

async function list(options: {
  readonly changed: boolean;
  readonly json: boolean;
  readonly wide: boolean;
}): Promise<void> {
  await withHistory(async ({ store }) => {
    const values = store.settings.all();
    const changed = new Set(store.settings.changed());
    const shown = SETTINGS.filter(({ key }) => !options.changed || changed.has(key));
    if (options.json) {
      for (const { default: usual, help, key, title } of shown) {
        const line = { key, value: values[key], default: usual, title, help };
        process.stdout.write(`${JSON.stringify(line)}\n`);
      }
      return;
    }
    if (shown.length === 0) {
      process.stdout.write('no setting was changed\n');
      return;
    }
    const rows = shown.map((setting) => {
      const { help, key } = setting;
      const value = valueText(values[key]!);
      const usual = valueText(setting.default);
      return [key, shownText(value), shownText(usual), valuesText(setting), help];
    });
    const heading = ['key', 'value', 'default', 'values', 'meaning'];
    process.stdout.write(
      `${textTable([heading, ...rows], ['left', 'left', 'left', 'left', 'left'], tableWidth(options.wide), [0])}\n`,
    );
  });
}
