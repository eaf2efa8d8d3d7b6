/**
 * The presets that come with Gradwire: each is a YAML file under resources/presets, an
 * ordinary spec. Its name without the extension is the preset's id.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { inputError } from '../../shared/errors/errors.ts';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { PRESET_GOALS } from '../../shared/spec/preset-goals.ts';
import { nearest } from '../../shared/words/nearest.ts';
import type { Preset } from '../../shared/rpc/rpc.ts';
import { installationRoot } from '../home/installation.ts';
import { parseSpecText } from './spec-text.ts';

const ENDING = '.yaml';
/** The preset that a new user should see first. */
const FIRST = 'quickstart';

export interface PresetText {
  readonly id: string;
  readonly yaml: string;
}

function presetDirectory(): string {
  return path.join(installationRoot(), 'resources', 'presets');
}

/** Ids of all presets, the quickstart first, then by name. */
export async function presetIds(): Promise<readonly string[]> {
  const files = await readdir(presetDirectory());
  return files
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort((a, b) => Number(b === FIRST) - Number(a === FIRST) || a.localeCompare(b));
}

/** @throws GradwireError `PRESET_UNKNOWN` */
export async function readPreset(id: string): Promise<PresetText> {
  const ids = await presetIds();
  if (!ids.includes(id)) {
    const suggestion = nearest(id, ids);
    throw inputError('PRESET_UNKNOWN', `there is no preset or file "${id}"`, {
      next:
        suggestion === undefined
          ? `Presets: ${ids.join(', ')}.`
          : `Did you mean "${suggestion}"?`,
    });
  }
  const yaml = await readFile(path.join(presetDirectory(), `${id}${ENDING}`), 'utf8');
  return { id, yaml };
}

/** All presets, parsed. An invalid one is a defect of the installation. */
export async function loadPresets(): Promise<readonly Preset[]> {
  return Promise.all(
    (await presetIds()).map(async (id) => {
      const { yaml } = await readPreset(id);
      const place = `preset ${id}`;
      const spec = parseExperimentSpec(parseSpecText(yaml, place), place);
      const { description = '', name: title } = spec;
      return { id, title, goal: PRESET_GOALS[id], description, spec, yaml };
    }),
  );
}
