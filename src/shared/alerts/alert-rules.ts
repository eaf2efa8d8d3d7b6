/** The alert rules. Adding one: its file and a line here. */
import type { AlertRule } from './alert-rule.ts';
import { atChance } from './at-chance.ts';
import { diskFilling } from './disk-filling.ts';
import { growingResidual } from './growing-residual.ts';
import { longWait } from './long-wait.ts';
import { lossNotFinite } from './loss-not-finite.ts';
import { lossRising } from './loss-rising.ts';
import { runFailed } from './run-failed.ts';
import { silentRank } from './silent-rank.ts';

export const ALERT_RULES: readonly AlertRule[] = [
  lossNotFinite,
  lossRising,
  atChance,
  longWait,
  silentRank,
  growingResidual,
  diskFilling,
  runFailed,
];
