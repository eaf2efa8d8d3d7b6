/** A spec with what it names of the user's own files, wherever the agent runs. */
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { resolveDataDirectory } from './data-directory.ts';
import { embedModelFile } from './model-file.ts';

/**
 * @param base what relative paths are taken from
 * @throws GradwireError `MODEL_FILE_UNREADABLE`
 */
export async function withOwnFiles(
  spec: ExperimentSpec,
  base: string,
): Promise<ExperimentSpec> {
  return await embedModelFile(resolveDataDirectory(spec, base), base);
}
