/**
 * What there is to know of a model from a file, found out in a process of its own and kept:
 * the same text is looked at once.
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { GradwireError, type ErrorData } from '../../../shared/errors.ts';
import type { ExperimentSpec } from '../../../shared/experiment-spec.ts';
import { bundledFile } from '../../bundle/bundled-file.ts';
import { invalidModelFile, ownSource, type ModelSource } from '../models/model-file.ts';
import type { ModelFacts } from '../workload.ts';

export type Inspection = { readonly model: ModelFacts } | { readonly error: ErrorData };

const INSPECTOR = { bundle: 'inspector.js', source: 'inspector.ts' };
const LIMIT_SECONDS = 20;
const MOST_KEPT = 20;
const STDERR_TAIL = 400;

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

async function inspectModel(source: ModelSource): Promise<ModelFacts> {
  const { name, code } = source;
  const digest = createHash('sha256').update(`${name}\0${code}`).digest('hex');
  const known = inspected.get(digest);
  if (known !== undefined) return await known;
  const inspecting = inspectAnew(source);
  inspected.set(digest, inspecting);
  if (inspected.size > MOST_KEPT) inspected.delete(inspected.keys().next().value!);
  // What failed may have failed for want of memory or time.
  inspecting.catch(() => inspected.delete(digest));
  return await inspecting;
}

async function inspectAnew(source: ModelSource): Promise<ModelFacts> {
  const child = fork(bundledFile(INSPECTOR, import.meta.dirname), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: LIMIT_SECONDS * 1000,
    killSignal: 'SIGKILL',
  });
  let stderr = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL);
  });
  const inspection = await new Promise<Inspection>((resolve, reject) => {
    child.once('message', (answer) => {
      resolve(answer as Inspection);
    });
    child.once('error', reject);
    // Behind the last message.
    child.once('close', (_, signal) => {
      const last = stderr.trim().split('\n').at(-1)!;
      const why =
        signal === 'SIGKILL'
          ? `it takes more than ${LIMIT_SECONDS} s to load and to trace`
          : `it ends its process${last === '' ? '' : `: ${last}`}`;
      reject(invalidModelFile(source.name, why));
    });
    child.send(source, (error) => {
      // The close tells more.
      if (error !== null) child.kill();
    });
  });
  if ('error' in inspection) throw new GradwireError(inspection.error);
  return inspection.model;
}
