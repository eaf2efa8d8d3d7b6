/** What a run on this node is made of, and who follows it. */
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { ErrorData } from '../../shared/errors.ts';
import type { ExchangePlan, PlanSwitch } from '../../shared/exchange-plan.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import type { PortRange } from '../../shared/port-range.ts';
import type { JournalEntry } from '../../shared/records.ts';
import type { SlurmSettings } from '../../shared/slurm-settings.ts';
import type { PlanSetting } from '../plan/resolve-plan.ts';
import type { Journal } from './journal.ts';
import type { RecordAdmission } from './record-admission.ts';

/** What the ranks of a run are started with, also when they resume. */
export interface RankSetting {
  /** 32 random bytes: peers prove that they know it before a payload is read. */
  readonly secret: Uint8Array;
  readonly network?: NetworkCost | undefined;
  /** The node of each rank of the run; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** Address where the ranks listen. */
  readonly listen: string;
  /** Ports to choose from; default: the system chooses. */
  readonly ports?: PortRange | undefined;
}

export interface RunOptions extends RankSetting {
  readonly run: string;
  readonly spec: ExperimentSpec;
  readonly plan: ExchangePlan;
  /** What switches are resolved for. */
  readonly setting: PlanSetting;
  readonly switches: readonly PlanSwitch[];
  readonly ranks: readonly number[];
  /** Called at the start of the run. */
  readonly notice?: string | undefined;
  readonly journal: Journal;
  /** Where checkpoints of the ranks here are kept. */
  readonly checkpoints: string;
  /** The run's own on this node. */
  readonly folder: string;
  /** Slurm allocates the nodes of the ranks; default: they run here. */
  readonly slurm?: SlurmSettings | undefined;
  /** Cores that each rank has here; less than 1 where they share one. */
  readonly coresPerRank: number;
  /** This node's name in records. */
  readonly node: string;
  /** Of a run whose supervisor died: where it is. Default: it begins. */
  readonly restored?: RestoredProgress | undefined;
  /** Called when a switch was planned or adopted: a supervisor after this one needs it. */
  readonly switched?: ((later: readonly PlanSwitch[]) => void) | undefined;
}

/** What a journal says of a run that has not ended. */
export interface RestoredProgress {
  /** Knows what is recorded. */
  readonly admission: RecordAdmission;
  /** Iterations that are recorded of some rank. */
  readonly iterations: number;
  /** Switches that have taken effect, with their fences. */
  readonly fences: readonly (readonly [epoch: number, fence: number])[];
  /** Whether its last record says already that it is interrupted. */
  readonly interrupted: boolean;
  /** Switches that it was not launched with. */
  readonly later: readonly PlanSwitch[];
  readonly createdAt: number;
  /** Why it does not continue. */
  readonly error: ErrorData;
}

export interface RunListener {
  entries(entries: readonly JournalEntry[]): void;
  changed(): void;
}
