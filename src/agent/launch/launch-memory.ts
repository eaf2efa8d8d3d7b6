/** Memory that the ranks of a spec need: of a pipeline, by its stages; of servers, more. */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import {
  checkpointInterval,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import { pipelineOf } from '../../shared/spec/parallelism/pipeline.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { ARENA_BYTES } from '../memory/arena.ts';
import {
  factsOf,
  type MemoryFacts,
  type MemoryTensor,
  type StepBytes,
} from '../training/memory-facts.ts';
import type { LayerFacts } from '../training/model-facts.ts';
import { asynchronousMemory } from './asynchronous-memory.ts';
import {
  hasWindows,
  memoryParts,
  requireArena,
  type MemoryPart,
} from './memory-estimate.ts';
import { requireWindowRoom, requireWindowSettings } from '../plan/window-settings.ts';

export interface LaunchMemoryOptions {
  readonly spec: ExperimentSpec;
  /** Facts of the whole model. */
  readonly facts: MemoryFacts;
  readonly layers: readonly LayerFacts[] | undefined;
  /** Whether the machines of the ranks may have a GPU that the backend `auto` takes. */
  readonly mayHaveGpu: boolean;
  /** All that will be in force. */
  readonly plans: readonly ExchangePlan[];
}

export class LaunchMemory {
  readonly #options: LaunchMemoryOptions;
  /** Facts by stage; one where every rank has the whole model. */
  readonly #facts: readonly MemoryFacts[];

  constructor(options: LaunchMemoryOptions) {
    this.#options = options;
    const { spec } = options;
    const onServers = asynchronousOf(spec) !== undefined;
    const { stepsInArena } = options.facts;
    const facts = { ...options.facts, stepsInArena: stepsInArena && !onServers };
    this.#facts = stageNames(options).map((names) =>
      names === undefined ? facts : factsOf(facts, ({ name }) => names.has(name)),
    );
  }

  /** The memory of the same spec with a model of other tensors. */
  withTensors(
    change: (tensors: readonly MemoryTensor[]) => readonly MemoryTensor[],
  ): LaunchMemory {
    const { facts, ...others } = this.#options;
    const changed = { ...facts, tensors: change(facts.tensors) };
    return new LaunchMemory({ ...others, facts: changed });
  }

  /**
   * @param ranks of the run; default: as many as the spec has
   * @param step what a step of the model needs; default: not counted
   */
  ofRank(
    rank: number,
    ranks = this.#options.spec.world.ranks,
    step?: StepBytes,
  ): readonly MemoryPart[] {
    const { plans, spec } = this.#options;
    const stages = this.#facts.length;
    return memoryParts(this.#facts[rank % stages]!, plans, {
      ranks: Math.max(1, Math.floor(ranks / stages)),
      vectors: stepVectors(spec),
      step,
      usesTorch: spec.backend === 'torch',
      keepsCheckpoints: checkpointInterval(spec) > 0 && !isProgram(spec.workload),
      asynchronous: asynchronousMemory(spec, rank, ranks),
    });
  }

  /** @throws GradwireError `MEMORY_TOO_SMALL`: what no arena can hold */
  requireArenas(): void {
    const { mayHaveGpu, plans, spec } = this.#options;
    const { backend } = spec;
    for (const [stage, facts] of this.#facts.entries()) {
      // On a GPU the gradient may be there, unless tables keep it here.
      const hasTables = facts.tensors.some(({ isTable }) => isTable);
      const onHost = backend === 'wasm' || backend === 'torch';
      // The machine that checks it may be a login node; ranks without a GPU refuse `webgpu`.
      const mayBeThere = backend === 'webgpu' || mayHaveGpu;
      const isHere = onHost || !mayBeThere || hasTables;
      if (!isHere) continue;
      const parts = this.ofRank(stage);
      if (facts.isWeightless === true) {
        const ranks = spec.world.ranks;
        requireWindowRoom(facts.tensors, plans, { arenaBytes: ARENA_BYTES, ranks });
      }
      requireArena(parts, facts);
      if (hasWindows(parts)) requireWindowSettings(spec, plans, facts.tensors);
    }
  }
}

/** The names of the tensors of each stage; undefined: all. A shared one belongs to the first. */
function stageNames({
  layers = [],
  spec,
}: LaunchMemoryOptions): readonly (ReadonlySet<string> | undefined)[] {
  const pipeline = pipelineOf(spec);
  if (pipeline === undefined) return [undefined];
  const names = layers.map(({ name }) => name);
  const ends = [
    ...pipeline.splitAfter.map((name) => names.indexOf(name) + 1),
    layers.length,
  ];
  const taken = new Set<string>();
  return ends.map((end, stage) => {
    const chain = layers.slice(ends[stage - 1] ?? 0, end);
    const own = new Set(
      chain.flatMap(({ tensors }) => tensors).filter((name) => !taken.has(name)),
    );
    for (const name of own) taken.add(name);
    return own;
  });
}

/** Vectors as long as the gradient that its form of parallelism needs. */
function stepVectors(spec: ExperimentSpec): number {
  const { compareEvery, doubleBuffer, optimizer } = spec;
  const local = localStepsOf(spec);
  return (
    // The weights of the last exchange, and the outer optimiser's velocity.
    (local === undefined ? 0 : local.outer.momentum === 0 ? 1 : 2) +
    // The gradient of all samples, its weights, those in use, and the batch's gradient there.
    (optimizer.fullGradientEvery === undefined ? 0 : 5) +
    (doubleBuffer === true ? 1 : 0) +
    ((compareEvery ?? 0) > 0 ? 1 : 0)
  );
}
