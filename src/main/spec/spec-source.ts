/**
 * The argument of `gradwire run`: a file (`-` for stdin) or a preset's name. A path, or
 * a name with a spec's extension, is a file; a preset takes precedence over a file of
 * the same name.
 */
import { existsSync } from 'node:fs';
import { presetIds, readPreset } from './presets.ts';
import { parseSpecText, readSpecFile, readSpecStdin } from './spec-text.ts';

export interface SpecSource {
  readonly raw: unknown;
  /** The source's name in errors. */
  readonly place: string;
}

/** @throws GradwireError `SPEC_UNREADABLE`, `PRESET_UNKNOWN` */
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
