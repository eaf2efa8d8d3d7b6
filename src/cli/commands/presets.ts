/** `gradwire presets`: the experiments that come with Gradwire. */
import type { Command } from 'commander';
import { loadPresets, readPreset } from '../../main/spec/spec-source.ts';
import { textTable } from '../text/text-table.ts';

export function addPresetsCommand(program: Command): void {
  program
    .command('presets')
    .description('list the presets, or print one as a spec to start from')
    .argument('[preset]', 'the preset to print')
    .option('--json', 'one line of JSON per preset', false)
    .action(async (id: string | undefined, { json }: { readonly json: boolean }) => {
      if (id !== undefined && !json) {
        process.stdout.write((await readPreset(id)).yaml);
        return;
      }
      if (id !== undefined) await readPreset(id);
      const presets = (await loadPresets()).filter(
        (preset) => id === undefined || preset.id === id,
      );
      process.stdout.write(
        json
          ? presets.map((preset) => `${JSON.stringify(preset)}\n`).join('')
          : `${textTable(
              [
                ['preset', 'title', 'for'],
                ...presets.map(({ goal = '', id: name, title }) => [name, title, goal]),
              ],
              ['left', 'left', 'left'],
            )}\n`,
      );
    });
}
