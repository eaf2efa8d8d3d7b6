/**
 * The sources of specs: a file, stdin (`-`), or a preset that comes with Gradwire. A preset is a
 * YAML file under resources/presets, an ordinary spec; its name without the extension is the
 * preset's id.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { inputError } from '../../shared/errors/errors.ts';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { PRESET_GOALS } from '../../shared/spec/preset-goals.ts';
import { nearest } from '../../shared/words/nearest.ts';
import type { Preset } from '../../shared/rpc/rpc.ts';
import { installationRoot } from '../home/installation.ts';
import { parseSpecText, readSpecFile, readSpecStdin } from './spec-text.ts';

const ENDING = '.yaml';
/** The preset that a new user should see first. */
const FIRST = 'quickstart';

export interface SpecSource {
  readonly raw: unknown;
  /** The source's name in errors. */
  readonly place: string;
}

/**
 * The spec that the argument of `gradwire run` names. A path, or a name with a spec's extension,
 * is a file; a preset takes precedence over a file of the same name.
 * @throws GradwireError `SPEC_UNREADABLE`, `PRESET_UNKNOWN`
 */
export async function loadSpecSource(name: string): Promise<SpecSource> {
  if (name === '-') {
    return { raw: await readSpecStdin(), place: 'stdin' };
  }
  const isPreset = (await presetIds()).includes(name);
  if (/[/\\]|\.(ya?ml|json)$/i.test(name) || (!isPreset && existsSync(name))) {
    return { raw: await readSpecFile(name), place: name };
  }
  const place = `preset ${name}`;
  const { yaml } = await readPreset(name);
  return { raw: parseSpecText(yaml, place), place };
}

interface PresetText {
  readonly id: string;
  readonly yaml: string;
}

function presetDirectory(): string {
  return path.join(installationRoot(), 'resources', 'presets');
}

/** Ids of all presets, the quickstart first, then by name. */
async function presetIds(): Promise<readonly string[]> {
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
