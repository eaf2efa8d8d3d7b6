/**
 * What a spec names that cannot be looked at in passing: programs and files of the user's.
 * It is looked at in a process of its own, so that whoever asks answers others meanwhile.
 */
import { failure } from '../../../shared/errors.ts';
import type { ExperimentSpec } from '../../../shared/experiment-spec.ts';
import { readsWholeFiles, type SpecFacts } from '../workload.ts';
import { askInspector } from './ask-inspector.ts';
import { inspectOwnModel } from './inspect-model.ts';

/**
 * @throws GradwireError `MODEL_FILE_INVALID`, `MODEL_INVALID`, `DATA_*`, `DATA_NOT_READ`; as
 * `findWorkload`
 */
export async function inspectSpec({
  optimizer,
  workload,
}: Pick<ExperimentSpec, 'optimizer' | 'workload'>): Promise<SpecFacts> {
  const model = await inspectOwnModel({ workload });
  if (!readsWholeFiles(workload)) return { model };
  const question = { workload, optimizer: optimizer.kind, own: model };
  const data = await askInspector('data', question, {
    died: (why) =>
      failure(
        'DATA_NOT_READ',
        `who reads ${workload.data} did not get to its end: ${why}`,
        {
          place: 'workload.data',
          next: 'Is there enough memory for it? Try a part of the data.',
        },
      ),
  });
  return { model, data };
}
