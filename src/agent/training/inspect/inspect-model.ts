/**
 * Facts about a model from a file, found in a separate process and cached: the same
 * text is inspected once.
 */
import { createHash } from 'node:crypto';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { invalidModelFile, ownSource, type ModelSource } from '../models/model-file.ts';
import type { ModelFacts } from '../model-facts.ts';
import { askInspector } from './ask-inspector.ts';
import type { StepBytes } from '../memory-facts.ts';
import type { MultiplyAdds } from './count-multiply-adds.ts';

const LIMIT_SECONDS = 20;
const MOST_KEPT = 20;

const inspected = new Map<string, Promise<ModelFacts>>();

/**
 * The model of a spec that comes from a file; undefined where it does not.
 * @throws GradwireError `MODEL_FILE_INVALID`, `MODEL_INVALID`
 */
export async function inspectOwnModel({
  workload,
}: Pick<ExperimentSpec, 'workload'>): Promise<ModelFacts | undefined> {
  const source = ownSource(workload);
  return source && (await inspectModel(source));
}

/**
 * The work of the forward pass of a model from a file.
 * @throws GradwireError as `inspectOwnModel`
 */
export function countOwnWork(source: ModelSource): Promise<MultiplyAdds> {
  return askInspector('work', source, {
    limitSeconds: LIMIT_SECONDS,
    died: (why) => invalidModelFile(source.name, why),
  });
}

/**
 * Memory of a step of such a model, for a batch of these rows.
 * @throws GradwireError as `inspectOwnModel`
 */
export function ownStepBytes(source: ModelSource, rows: number): Promise<StepBytes> {
  const question = { source, rows };
  return askInspector('step', question, {
    limitSeconds: LIMIT_SECONDS,
    died: (why) => invalidModelFile(source.name, why),
  });
}

async function inspectModel(source: ModelSource): Promise<ModelFacts> {
  const { name, code } = source;
  const digest = createHash('sha256').update(`${name}\0${code}`).digest('hex');
  const known = inspected.get(digest);
  if (known !== undefined) return await known;
  const inspecting = askInspector('model', source, {
    limitSeconds: LIMIT_SECONDS,
    died: (why) => invalidModelFile(name, why),
  });
  inspected.set(digest, inspecting);
  if (inspected.size > MOST_KEPT) inspected.delete(inspected.keys().next().value!);
  // A failure may be due to a lack of memory or time, so it is not cached.
  inspecting.catch(() => {
    if (inspected.get(digest) === inspecting) inspected.delete(digest);
  });
  return await inspecting;
}
