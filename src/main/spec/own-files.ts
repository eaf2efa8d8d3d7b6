/**
 * Files of the user's own that a spec names. An agent on any machine must be able to use it, and
 * the launched, stored and repeated spec must be complete: paths become absolute, because the
 * supervisor runs in its own directory, and the text of a model's file goes into the spec. A
 * relative path starts from the command's directory.
 */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { isModelFile } from '../../shared/spec/model-name.ts';
import { MOST_MODEL_SOURCE } from '../../shared/spec/workload-spec.ts';
import { expandHome } from './expand-home.ts';

/** A character has at most four in UTF-8. */
const MOST_BYTES = 4 * MOST_MODEL_SOURCE;

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: permission denied (EACCES)',
  EISDIR: 'is a directory',
};

/**
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

/** The path of a Python as an absolute one; a name is looked up where the rank runs. */
export const pythonPath = (given: string, base: string): string =>
  given.includes('/') ? path.resolve(base, expandHome(given)) : given;

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
  const unreadable = (why: string) =>
    inputError('MODEL_FILE_UNREADABLE', `${file} ${why}`, {
      place: 'workload.model',
      next: 'Give the path of a TypeScript or JavaScript file, or the name of a model.',
    });
  const tooLong = (length: string) =>
    unreadable(
      `has ${length}; a model may have at most ${MOST_MODEL_SOURCE} characters`,
    );
  let text: string;
  try {
    const about = await stat(file);
    // A device or a pipe need not end, and the app would wait for it.
    if (!about.isFile() && !about.isDirectory())
      throw unreadable('is not a regular file');
    if (about.size > MOST_BYTES) throw tooLong(`${about.size} bytes`);
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof GradwireError) throw error;
    const why = WHY[(error as NodeJS.ErrnoException).code ?? ''];
    throw unreadable(why ?? `cannot be read: ${(error as Error).message}`);
  }
  if (text.length > MOST_MODEL_SOURCE) throw tooLong(`${text.length} characters`);
  return { ...spec, workload: { ...spec.workload, modelSource: text } };
}
