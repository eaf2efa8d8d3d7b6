/** Makes a spec that names the user's own files usable by an agent on any machine. */
import {
  parseExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { isModelFile } from '../../shared/spec/model-name.ts';
import { resolveDataDirectory } from './data-directory.ts';
import { embedModelFile } from './model-file.ts';

/**
 * @param base the directory that relative paths start from
 * @throws GradwireError `MODEL_FILE_UNREADABLE`
 */
export async function withOwnFiles(
  spec: ParsedSpec,
  base: string,
): Promise<ParsedSpec> {
  if (!namesFiles(spec)) return spec;
  return parseExperimentSpec(
    await embedModelFile(resolveDataDirectory(spec, base), base),
  );
}

const namesFiles = ({ python, workload }: ParsedSpec): boolean => {
  const { command, data, model, modelSource, workdir } = workload;
  const given = [command, data, modelSource, python, workdir];
  return isModelFile(model) || given.some((value) => value !== undefined);
};
