/**
 * `workload.model` as a file of the user's own: its text goes into the spec, so that what
 * is launched, stored and run again is whole. A relative path is taken from where the
 * command was given.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { inputError } from '../../shared/errors.ts';
import {
  MOST_MODEL_SOURCE,
  type ExperimentSpec,
} from '../../shared/experiment-spec.ts';
import { isModelFile } from '../../shared/model-name.ts';
import { expandHome } from './expand-home.ts';

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: permission denied (EACCES)',
  EISDIR: 'is a directory',
};

/**
 * A text that is there already is that of the run that is repeated; beside a model's name it
 * is left over, and goes.
 * @throws GradwireError `MODEL_FILE_UNREADABLE`
 */
export async function embedModelFile(
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
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const why = WHY[(error as NodeJS.ErrnoException).code ?? ''];
    throw unreadable(why ?? `cannot be read: ${(error as Error).message}`);
  }
  if (text.length > MOST_MODEL_SOURCE) {
    throw unreadable(
      `has ${text.length} characters; a model may have at most ${MOST_MODEL_SOURCE}`,
    );
  }
  return { ...spec, workload: { ...spec.workload, modelSource: text } };
}
