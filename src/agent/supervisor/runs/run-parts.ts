/** Parts of a run on this node, which know each other. */
import type { RecordAdmission } from '../journal/record-admission.ts';
import type { RankTeam } from '../ranks/rank-team.ts';
import type { PlannedSwitches } from './planned-switches.ts';
import type { RunLife } from './run-life.ts';
import type { RunModel } from './run-model.ts';
import type { RunOptions } from './run-options.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { UntoldSteps } from './untold-steps.ts';

export interface RunParts {
  readonly options: RunOptions;
  readonly life: RunLife;
  readonly outcome: RunOutcome;
  readonly admission: RecordAdmission;
  readonly switches: PlannedSwitches;
  readonly model: RunModel;
  readonly untold: UntoldSteps;
  /** The ranks here, while there are any. */
  readonly team: () => RankTeam | undefined;
}
