/**
 * What a spec names that cannot be looked at in passing: programs and files of the user's.
 * It is looked at in a process of its own, so that whoever asks answers others meanwhile, and
 * kept as long as it stays as it is: a form asks again at every change.
 */
import { failure } from '../../../shared/errors.ts';
import type { ExperimentSpec } from '../../../shared/experiment-spec.ts';
import { placeStamp } from '../datasets/file-stamp.ts';
import { readsWholeFiles, type DataFacts, type SpecFacts } from '../workload.ts';
import { askInspector, type Inspections } from './ask-inspector.ts';
import { inspectOwnModel } from './inspect-model.ts';

const MOST_KEPT = 20;

const inspected = new Map<string, Promise<DataFacts>>();

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
  // How large a batch is says nothing of the data.
  const { columns, data, dataset, features } = workload;
  const question = {
    workload: { columns, data, dataset, features, model: workload.model },
    optimizer: optimizer.kind,
    own: model,
  };
  return { model, data: await inspectData(question) };
}

async function inspectData(
  question: Inspections['data']['question'],
): Promise<DataFacts> {
  const { data = '' } = question.workload;
  const key = JSON.stringify([question, placeStamp(data)]);
  const known = inspected.get(key);
  if (known !== undefined) return await known;
  const inspecting = askInspector('data', question, {
    died: (why) =>
      failure('DATA_NOT_READ', `what reads ${data} did not get to its end: ${why}`, {
        place: 'workload.data',
        next: 'Is there enough memory for it? Try a part of the data.',
      }),
  });
  inspected.set(key, inspecting);
  if (inspected.size > MOST_KEPT) inspected.delete(inspected.keys().next().value!);
  // What failed may have failed for want of memory.
  inspecting.catch(() => inspected.delete(key));
  return await inspecting;
}
