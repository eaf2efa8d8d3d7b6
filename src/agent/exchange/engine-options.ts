/** The parts of a rank that its exchange engine works with. */
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { ExchangePlan, PlanSwitch } from '../../shared/plan/exchange-plan.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena } from '../memory/arena.ts';
import type { FlatTensor } from '../plan/buckets.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { GradientSite } from '../sites/gradient-site.ts';
import type { Transport } from '../transport/transport.ts';
import type { EngineState } from './engine-state.ts';

export interface EngineOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly transport: Transport;
  readonly clock: PhaseClock;
  readonly tensors: readonly FlatTensor[];
  /** Names of the models that step in turns; default: all tensors are of every step. */
  readonly turns?: readonly string[] | undefined;
  /** Memory of the flat gradient: input and, averaged, output of an exchange. */
  readonly site: GradientSite;
  readonly seed: number;
  /** The largest norm of this rank's gradient, before its residual is added; default: any. */
  readonly clipNorm?: number | undefined;
  /**
   * Ranks with the same tensors, this one among them: they exchange gradients, and all ranks
   * agree on plans. Default: all ranks.
   */
  readonly group?: readonly number[] | undefined;
  readonly plan: ExchangePlan;
  readonly switches: readonly PlanSwitch[];
  /** Measured constants, the same on all ranks; default: those of loopback. */
  readonly network?: NetworkCost | undefined;
  /** The node of each rank, the same on all ranks; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** Whether Slurm picks other nodes for every run: their links cannot be measured before. */
  readonly allocated?: boolean | undefined;
  /** Whether `network` has the constants of an emulated network. */
  readonly emulated?: boolean | undefined;
  /** Saved state of an engine of this rank; default: the run begins. */
  readonly resume?: EngineState | undefined;
}
