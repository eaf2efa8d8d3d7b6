/** Forecasts the memory that the ranks of a spec need, for some numbers of ranks. */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import { pipelineOf } from '../../shared/spec/parallelism/pipeline.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import type { MemoryPart } from '../launch/memory-estimate.ts';
import { MOST_ELEMENTS } from '../../shared/forecast/forecast-question.ts';
import { validateLaunch } from '../launch/validate-launch.ts';
import { mayHaveGpu } from '../training/create-trainer.ts';
import { ownStepBytes } from '../training/inspect/inspect-model.ts';
import { inspectSpec as readFacts } from '../training/inspect/inspect-spec.ts';
import { specFactsSchema, stepBytesSchema } from '../training/inspect/inspections.ts';
import { stepBytes } from '../training/inspect/step-bytes.ts';
import type { StepBytes } from '../training/memory-facts.ts';
import { ownSource } from '../training/models/model-file.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';
import type { SpecFacts } from '../training/data-facts.ts';
import { scaledTensors } from './scaled-tensors.ts';
import { findWorkload } from '../training/find-workload.ts';

const knownSchema = z.object({ known: specFactsSchema });
const optionsSchema = z.object({
  ranks: z.array(z.int().min(1)).min(1).readonly(),
  known: specFactsSchema.optional(),
  step: stepBytesSchema.optional(),
  elements: z.int().min(1).max(MOST_ELEMENTS).optional(),
});

/**
 * Reads what a spec needs from the user's files.
 * @throws GradwireError if the spec is invalid; errors of the files
 */
export async function inspectSpec(raw: ExperimentSpec): Promise<SpecFacts> {
  return await readFacts(parseExperimentSpec(raw));
}

export interface RankMemory {
  readonly ranks: number;
  readonly parts: readonly MemoryPart[];
}

/**
 * Forecasts what a step of a spec's model needs, in each rank on the CPU, with all of its trainer
 * threads. Undefined where no step can be traced: of synthetic
 * gradients, programs, stages of pipelines, samples of any length, and on a GPU.
 * @throws GradwireError `OPTION_INVALID`; if the spec is invalid; `MODEL_FILE_INVALID`
 */
export async function stepMemory(
  raw: ExperimentSpec,
  known: SpecFacts = {},
  allotted = false,
): Promise<StepBytes | undefined> {
  checkedOptions(knownSchema, { known }, 'stepMemory');
  const spec = parseExperimentSpec(raw);
  const { backend, optimizer, workload } = spec;
  if (isSynthetic(workload) || isProgram(workload)) return undefined;
  if (pipelineOf(spec) !== undefined) return undefined;
  if (backend === 'webgpu' || backend === 'torch') return undefined;
  if (backend !== 'wasm' && (allotted || mayHaveGpu())) return undefined;
  const features = workload.features ?? known.data?.features;
  const names = { ...workload, features, optimizer: optimizer.kind };
  const { inputs } = findWorkload(names, known.model).model;
  const lengths = Object.values(inputs).flatMap(({ shape }) => shape);
  if (lengths.includes('any')) return undefined;
  const source = ownSource(workload);
  const rows = workload.batchPerRank;
  const { compiling, computing } =
    source === undefined
      ? await stepBytes(findWorkload(names).model, rows)
      : await ownStepBytes(source, rows);
  const threads = asynchronousOf(spec)?.trainerThreads ?? 1;
  return { compiling: threads * compiling, computing: threads * computing };
}

/**
 * Forecasts the memory of each rank; without a pipeline, which cannot be forecast, all need as
 * much, except for servers of asynchronous training, of which rank 0 is one.
 * @param step from `stepMemory`; default: not counted
 * @param elements of the gradient, to which the model's tensors are scaled; default: its own
 * @throws GradwireError `OPTION_INVALID`; if the spec is invalid; `MEMORY_TOO_SMALL`
 */
export function specMemory(
  raw: ExperimentSpec,
  ranks: readonly number[],
  known?: SpecFacts,
  step?: StepBytes,
  elements?: number,
  allotted = false,
): readonly RankMemory[] {
  checkedOptions(optionsSchema, { ranks, known, step, elements }, 'specMemory');
  const own = validateLaunch(parseExperimentSpec(raw), [], known, { allotted }).memory;
  const memory = own.withTensors((tensors) => scaledTensors(tensors, elements));
  return ranks.map((count) => ({ ranks: count, parts: memory.ofRank(0, count, step) }));
}
