/**
 * The interface of an optimiser: how one tensor's weights and state change with a
 * gradient, as jax-js operations; the trainer compiles one function of it over all
 * tensors. A new optimiser is one file with this interface and one line in registry.ts.
 */
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import type { Kernels } from '../../kernels/kernels.ts';
import type { Vector } from '../../memory/arena.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';

type Given = ExperimentSpec['optimizer'];

export type OptimizerSettings = Partial<Given> & Pick<Given, 'momentum'>;

/** Settings that not every optimiser has. */
export const OPTIMIZER_OPTIONS = [
  'beta1',
  'beta2',
  'epsilon',
  'nesterov',
  'trust',
  'weightDecay',
] as const;
type OptimizerOption = (typeof OPTIMIZER_OPTIONS)[number];

interface TensorUpdate {
  readonly weight: JaxArray;
  readonly state: readonly JaxArray[];
}

/** A tensor's part of a step; the receiver owns the arrays. */
interface TensorStep {
  readonly weight: JaxArray;
  readonly gradient: JaxArray;
  readonly state: readonly JaxArray[];
  readonly learningRate: JaxArray;
  /** Factors that `factors` gives for the iteration, in its order. */
  readonly factors: readonly JaxArray[];
  /** Whether the tensor has one dimension: a bias, or a scale. */
  readonly isVector: boolean;
  /** Whether the velocity is that of the decay alone (`decayHasVelocity`); default: no. */
  readonly ofDecay?: boolean | undefined;
}

type StepKernels = Pick<Kernels, 'blend' | 'optimization'>;

/** A tensor's part of a step in the arena. */
interface ArenaStep {
  /** Weights, which are moved in place, as is the state. */
  readonly weights: Vector;
  readonly state: readonly Vector[];
  readonly gradient: Vector;
  /** Scale of the gradient before everything else, for clipping; 1 for none. */
  readonly factor: number;
  readonly rate: number;
  /** Factors that `factors` gives for the iteration, in its order. */
  readonly factors: readonly number[];
  /** Whether the velocity is that of the decay alone, as in `TensorStep`. */
  readonly ofDecay: boolean;
}

/**
 * One step of a table on the host: changes weights and state in place.
 * @param ofDecay as in `TensorStep`
 */
export type TableRule = (
  weights: Float32Array,
  gradient: Float32Array,
  state: readonly Float32Array[],
  ofDecay: boolean,
) => void;

export interface Optimizer {
  readonly id: string;
  readonly title: string;
  /** One sentence: its step, with g the averaged gradient, w the weights and η the rate. */
  readonly summary: string;
  readonly source: string;
  /** The options that mean something to it. */
  readonly options: readonly OptimizerOption[];
  /** Whether it can leave momentum to the compression: its steps are plain then. */
  readonly leavesMomentum: boolean;
  /**
   * Whether η times a gradient is an update: weights move by η times what gradients add up to.
   * Default: no.
   */
  readonly movesByRate?: boolean | undefined;
  /** Weight decay λ where the spec gives none; default: 0. */
  readonly defaultWeightDecay?: number | undefined;
  /**
   * Whether steps that leave momentum to the compression keep a velocity all the same: that of
   * the weight decay, which is not compressed. Default: no.
   */
  decayHasVelocity?(settings: OptimizerSettings): boolean;
  /** State vectors as long as the weights, kept from iteration to iteration. */
  stateVectors(settings: OptimizerSettings): number;
  /**
   * Numbers that change from step to step; always as many.
   * @param step from 1 on
   */
  factors?(settings: OptimizerSettings, step: number): readonly number[];
  /** One step of one tensor; takes ownership of the step's arrays. */
  update(jax: Jax, settings: OptimizerSettings, step: TensorStep): TensorUpdate;
  /**
   * One step of one tensor by the CPU's kernels, with the same bits as `update` on WebAssembly.
   * Left out: jax-js takes all steps.
   */
  stepInArena?(
    kernels: StepKernels,
    settings: OptimizerSettings,
    step: ArenaStep,
  ): void;
  /** The rule of a step for a table (`rowsOf`). Left out: it cannot train one. */
  tableRule?(settings: OptimizerSettings, learningRate: number): TableRule;
}
