/** The shape of a run's iterations as its spec has it: phases, stages, threads, exchanges. */
import { phasesOf, type Phase } from '../../../shared/records/phases.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { asynchronousOf } from '../../../shared/spec/parallelism/asynchronous.ts';
import { localStepsOf } from '../../../shared/spec/parallelism/local-steps.ts';
import {
  pipelineOf,
  pipelinePosition,
} from '../../../shared/spec/parallelism/pipeline.ts';
import { isProgram } from '../../../shared/spec/program-spec.ts';

export class RunShape {
  readonly #spec: ExperimentSpec | undefined;
  /** Iterations per exchange. */
  readonly exchangeEvery: number;
  /** Trainer threads per rank: this many of its iterations overlap. */
  readonly trainerThreads: number;
  /** Whether its model is split into stages. */
  readonly isPipeline: boolean;
  /** Whether it is a program that communicates by itself. */
  readonly isObserved: boolean;
  /** Phases that an iteration of this run has. */
  readonly phases: readonly Phase[];

  /** @param spec undefined while it is not known */
  constructor(spec: ExperimentSpec | undefined) {
    this.#spec = spec;
    this.exchangeEvery = localStepsOf(spec ?? {})?.every ?? 1;
    this.trainerThreads = asynchronousOf(spec ?? {})?.trainerThreads ?? 1;
    this.isPipeline = pipelineOf(spec ?? {}) !== undefined;
    this.isObserved = spec?.workload.observe === true;
    const isOwn = spec !== undefined && isProgram(spec.workload);
    this.phases = phasesOf(this.isPipeline ? 'stage' : isOwn ? 'passes' : 'whole');
  }

  /** `stage 1 of 2`; undefined if every rank has the whole model. */
  stageTitle(rank: number): string | undefined {
    const position = pipelinePosition(this.#spec ?? {}, rank);
    return position && `stage ${position.stage + 1} of ${position.stages}`;
  }
}
