/**
 * What `gradwire run` is given: a file (`-` for stdin) or a preset's name. A path, or a
 * name that ends like a spec, is a file; a preset goes before a file of the same name.
 */
import { existsSync } from 'node:fs';
import { presetIds, readPreset } from './presets.ts';
import { parseSpecText, readSpecFile, readSpecStream } from './spec-text.ts';

export interface SpecSource {
  readonly raw: unknown;
  /** What it is called in errors. */
  readonly place: string;
}

/** @throws GradwireError `SPEC_UNREADABLE`, `PRESET_UNKNOWN` */
export async function loadSpecSource(name: string): Promise<SpecSource> {
  if (name === '-') {
    return { raw: await readSpecStream(process.stdin, 'stdin'), place: 'stdin' };
  }
  const isPreset = (await presetIds()).includes(name);
  if (/[/\\]|\.(ya?ml|json)$/i.test(name) || (!isPreset && existsSync(name))) {
    return { raw: await readSpecFile(name), place: name };
  }
  const place = `preset ${name}`;
  const { yaml } = await readPreset(name);
  return { raw: parseSpecText(yaml, place), place };
}
