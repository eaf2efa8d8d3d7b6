/** The options of a run on this node. */
import type { NetworkCost } from '../../../shared/cost-model/network-cost.ts';
import type { ErrorData } from '../../../shared/errors/errors.ts';
import type { ExchangePlan, PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import type { PortRange } from '../../../shared/machines/port-range.ts';
import type { TensorsRecord } from '../../../shared/records/tensors.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { SlurmSettings } from '../../../shared/machines/slurm-settings.ts';
import type { PlanSetting } from '../../plan/plan-setting.ts';
import type { ModelFacts } from '../../training/model-facts.ts';
import type { Journal } from '../journal/journal.ts';
import type { RecordAdmission } from '../journal/record-admission.ts';

/** Options for starting a run's ranks, also when they resume. */
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
  /** Facts of a model from a file. */
  readonly model?: ModelFacts | undefined;
  /** The context for resolving switches. */
  readonly setting: PlanSetting;
  readonly switches: readonly PlanSwitch[];
  readonly ranks: readonly number[];
  /** The copied directory in which the ranks' programs run; default: the spec's. */
  readonly workdir?: string | undefined;
  /** Iterations that go over all training samples once; undefined if there are none. */
  readonly iterationsPerPass?: number | undefined;
  /** Notice to record at the start of the run. */
  readonly notice?: string | undefined;
  /** Warning that this machine's memory is probably too small, if it is. */
  readonly memoryWarning?: string | undefined;
  readonly journal: Journal;
  /** Directory for checkpoints of the ranks here. */
  readonly checkpoints: string;
  /** The run's journal on this node. */
  readonly folder: string;
  /** Slurm allocates the nodes of the ranks; default: they run here. */
  readonly slurm?: SlurmSettings | undefined;
  /** Cores per rank here; less than 1 if they share one. */
  readonly coresPerRank: number;
  /** Name of this node in records. */
  readonly node: string;
  /** Name of this node in errors, which users read; default: as in records. */
  readonly title?: string | undefined;
  /** Progress of a run whose supervisor died. Default: the run begins. */
  readonly restored?: RestoredProgress | undefined;
  /** Tells that a switch was planned or adopted, so that a later supervisor knows it. */
  readonly switched?: ((later: readonly PlanSwitch[]) => void) | undefined;
}

/** The state of an unfinished run, from its journal. */
export interface RestoredProgress {
  /** Knows the recorded iterations. */
  readonly admission: RecordAdmission;
  /** Iterations recorded for some rank. */
  readonly iterations: number;
  /** Switches that have taken effect, with their fences. */
  readonly fences: readonly (readonly [epoch: number, fence: number])[];
  /** The model of a program, if rank 0 has told it here. */
  readonly tensors?: TensorsRecord | undefined;
  /** Whether its last record already reports the interruption. */
  readonly interrupted: boolean;
  /** Switches requested after the launch. */
  readonly later: readonly PlanSwitch[];
  readonly createdAt: number;
  /** Reason that it stopped. */
  readonly error: ErrorData;
}

export interface RunListener {
  entries(entries: readonly JournalEntry[]): void;
  changed(): void;
}
