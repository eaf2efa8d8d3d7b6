/** Makes a spec that names the user's own files usable by an agent on any machine. */
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { resolveDataDirectory } from './data-directory.ts';
import { embedModelFile } from './model-file.ts';

/**
 * @param base the directory that relative paths start from
 * @throws GradwireError `MODEL_FILE_UNREADABLE`
 */
export async function withOwnFiles(
  spec: ExperimentSpec,
  base: string,
): Promise<ExperimentSpec> {
  return await embedModelFile(resolveDataDirectory(spec, base), base);
}
