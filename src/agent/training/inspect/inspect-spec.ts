/**
 * Inspects the user's programs and files in a spec, which may take long. A separate
 * process does it, so that the caller can answer others meanwhile; results are cached
 * until a file changes, because a form asks again at every change.
 */
import { failure } from '../../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { placeStamp } from '../datasets/file-stamp.ts';
import { readsWholeFiles, type DataFacts, type SpecFacts } from '../data-facts.ts';
import { askInspector } from './ask-inspector.ts';
import type { Inspections } from './inspections.ts';
import { inspectOwnModel } from './inspect-model.ts';

/** The longest that a launch may wait for a reading. */
const LIMIT_SECONDS = 900;
const MOST_KEPT = 20;

const inspected = new Map<string, Promise<DataFacts>>();

/**
 * @throws GradwireError `MODEL_FILE_INVALID`, `MODEL_INVALID`, `DATA_*`, `DATA_NOT_READ`; as
 * `factsOfData`
 */
export async function inspectSpec({
  workload,
}: Pick<ExperimentSpec, 'workload'>): Promise<SpecFacts> {
  const model = await inspectOwnModel({ workload });
  if (!readsWholeFiles(workload)) return { model };
  const { columns, data, dataset, features, samples } = workload;
  const found = await inspectData({
    workload: { columns, data, dataset, features, samples, model: workload.model },
    own: model,
  });
  // Those that are given do not change what is read.
  const own = features === undefined ? {} : { features };
  return { model, data: { ...found, ...own } };
}

async function inspectData(
  question: Inspections['data']['question'],
): Promise<DataFacts> {
  const { own, workload } = question;
  const { columns, data = '', dataset, model, samples } = workload;
  const place = placeStamp(data);
  const key = JSON.stringify([dataset, columns, samples, model, own?.inputs, place]);
  const known = inspected.get(key);
  if (known !== undefined) return await known;
  const inspecting = askInspector('data', question, {
    limitSeconds: LIMIT_SECONDS,
    died: (why) =>
      failure('DATA_NOT_READ', `the process that reads ${data} ended: ${why}`, {
        place: 'workload.data',
        next: 'It may have run out of memory. Try a part of the data.',
      }),
  });
  inspected.set(key, inspecting);
  if (inspected.size > MOST_KEPT) inspected.delete(inspected.keys().next().value!);
  // A failure may be due to a lack of memory, so it is not cached.
  inspecting.catch(() => {
    if (inspected.get(key) === inspecting) inspected.delete(key);
  });
  return await inspecting;
}
