/**
 * The sources of specs: a file, stdin (`-`), or a preset that comes with Gradwire, and the files of
 * the user's own that a spec names. A preset is a YAML file under resources/presets, an ordinary
 * spec; its name without the extension is the preset's id. YAML or JSON (which is YAML) becomes a
 * raw value, or one error that names line and column.
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream, existsSync, fstatSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { isModelFile } from '../../shared/spec/model-name.ts';
import { PRESET_GOALS } from './preset-goals.ts';
import { MOST_MODEL_SOURCE } from '../../shared/spec/workload-spec.ts';
import { nearest } from '../../shared/words/nearest.ts';
import { shownValue } from '../../shared/words/printable.ts';
import type { Preset } from '../../shared/rpc/rpc.ts';
import { installationRoot } from '../home/installation.ts';
import { expandHome, pythonPath } from './user-path.ts';
import { YamlFault, yamlValue } from './yaml-value.ts';

const ENDING = '.yaml';
/** The preset that a new user should see first. */
const FIRST = 'quickstart';
const MAX_SPEC_BYTES = 1_000_000;
/** Most bytes of a model's file: a character has at most four in UTF-8. */
const MOST_MODEL_BYTES = 4 * MOST_MODEL_SOURCE;

/** Reasons of the system why a model cannot be read. */
const MODEL_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: permission denied (EACCES)',
  EISDIR: 'is a directory',
};

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

/** @throws GradwireError `SPEC_UNREADABLE` */
async function readSpecFile(file: string): Promise<unknown> {
  try {
    return await readSpecStream(createReadStream(file), file);
  } catch (cause) {
    throw notRead(cause, file);
  }
}

/** @throws GradwireError `SPEC_UNREADABLE` */
async function readSpecStdin(): Promise<unknown> {
  const place = 'stdin';
  try {
    // As a stream, a directory ends at once.
    if (fstatSync(0).isDirectory()) throw unreadable('stdin is a directory', place);
    return await readSpecStream(process.stdin, place);
  } catch (cause) {
    throw notRead(cause, place);
  }
}

/** A refusal of the system as an error of the spec; any other error as it is. */
const notRead = (cause: unknown, place: string): unknown =>
  cause instanceof Error && 'syscall' in cause
    ? unreadable(`cannot read the spec: ${systemReason(cause)}`, place)
    : cause;

/**
 * Reads no further than a spec can be: a device or a pipe need not end.
 * @throws GradwireError `SPEC_UNREADABLE`
 */
async function readSpecStream(
  stream: AsyncIterable<Buffer>,
  place: string,
): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_SPEC_BYTES) {
      throw unreadable(`the spec has more than ${MAX_SPEC_BYTES} bytes`, place);
    }
  }
  return parseSpecText(textOf(Buffer.concat(chunks), place), place);
}

/** @throws GradwireError `SPEC_UNREADABLE` where the bytes are not UTF-8 */
function textOf(bytes: Buffer, place: string): string {
  const isUtf16 = [0xfffe, 0xfeff].includes(
    bytes.length < 2 ? 0 : bytes.readUInt16BE(),
  );
  if (!isUtf16 && isUtf8(bytes)) return bytes.toString('utf8');
  const what = isUtf16 ? 'UTF-16' : 'not UTF-8';
  throw unreadable(`the spec is ${what}: save it as UTF-8`, place);
}

/**
 * @param place the text's name in errors: a file's path, "spec"
 * @throws GradwireError `SPEC_UNREADABLE`
 */
export function parseSpecText(text: string, place: string): unknown {
  let raw: unknown;
  try {
    raw = yamlValue(text);
  } catch (cause) {
    if (!(cause instanceof YamlFault)) throw cause;
    const at = cause.at === undefined ? '' : `:${cause.at.line}:${cause.at.column}`;
    throw unreadable(cause.message, `${place}${at}`);
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw unreadable(
      `a spec must be a mapping of keys to values, not ${describe(raw)}`,
      place,
    );
  }
  return raw;
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

/**
 * A spec that an agent on any machine can use, and that is complete when it is launched, stored and
 * repeated: paths become absolute, because the supervisor runs in its own directory, and the text of
 * a model's file goes into the spec.
 * @param base the directory that relative paths start from
 * @throws GradwireError `MODEL_FILE_UNREADABLE`
 */
export async function withOwnFiles(
  spec: ParsedSpec,
  base: string,
): Promise<ParsedSpec> {
  if (!namesFiles(spec)) return spec;
  return parseExperimentSpec(await embedModelFile(withAbsolutePaths(spec, base), base));
}

const namesFiles = ({ python, workload }: ParsedSpec): boolean => {
  const { command, data, model, modelSource, workdir } = workload;
  const given = [command, data, modelSource, python, workdir];
  return isModelFile(model) || given.some((value) => value !== undefined);
};

/** `workload.data`, `workload.workdir` and `python` as absolute paths. */
function withAbsolutePaths(spec: ExperimentSpec, base: string): ExperimentSpec {
  const { command, data, workdir = command && '.' } = spec.workload;
  const { python } = spec;
  const absolute = (given: string): string => path.resolve(base, expandHome(given));
  return {
    ...spec,
    ...(python === undefined ? {} : { python: pythonPath(python, base) }),
    workload: {
      ...spec.workload,
      ...(data === undefined ? {} : { data: absolute(data) }),
      ...(workdir === undefined ? {} : { workdir: absolute(workdir) }),
    },
  };
}

/**
 * An existing text comes from the run being repeated; beside a model's name it is a leftover
 * and is removed.
 * @throws GradwireError `MODEL_FILE_UNREADABLE`
 */
async function embedModelFile(
  spec: ExperimentSpec,
  base: string,
): Promise<ExperimentSpec> {
  const { modelSource, ...workload } = spec.workload;
  const { model } = workload;
  if (!isModelFile(model)) return { ...spec, workload };
  if (modelSource !== undefined) return spec;
  const file = path.resolve(base, expandHome(model));
  const unusable = (why: string) =>
    inputError('MODEL_FILE_UNREADABLE', `${file} ${why}`, {
      place: 'workload.model',
      next: 'Give the path of a TypeScript or JavaScript file, or the name of a model.',
    });
  const tooLong = (length: string) =>
    unusable(`has ${length}; a model may have at most ${MOST_MODEL_SOURCE} characters`);
  let text: string;
  try {
    const about = await stat(file);
    // A device or a pipe need not end, and the app would wait for it.
    if (!about.isFile() && !about.isDirectory())
      throw unusable('is not a regular file');
    if (about.size > MOST_MODEL_BYTES) throw tooLong(`${about.size} bytes`);
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof GradwireError) throw error;
    const why = MODEL_REASONS[(error as NodeJS.ErrnoException).code ?? ''];
    throw unusable(why ?? `cannot be read: ${(error as Error).message}`);
  }
  if (text.length > MOST_MODEL_SOURCE) throw tooLong(`${text.length} characters`);
  return { ...spec, workload: { ...spec.workload, modelSource: text } };
}

function unreadable(message: string, place: string): Error {
  return inputError('SPEC_UNREADABLE', message, {
    place,
    next: 'Give a YAML or JSON file; "gradwire presets" shows examples.',
  });
}

function describe(raw: unknown): string {
  if (raw === null || raw === undefined) return 'empty';
  return Array.isArray(raw) ? 'a list' : `the ${typeof raw} ${shownValue(raw)}`;
}

function systemReason(error: Error & { code?: unknown }): string {
  switch (error.code) {
    case 'ENOENT':
      return 'no such file';
    case 'EISDIR':
      return 'it is a directory';
    case 'EACCES':
      return 'permission denied';
    default:
      return error.message;
  }
}
