/** Results of a replay in one sentence. */
import { formatDuration } from '../../shared/words/units.ts';
import type { Candidate } from '../../shared/forecast/candidate.ts';
import type { Replay, ReplayedMean } from '../../shared/forecast/replay.ts';

export function whatIfText(
  { change, recorded, replayed }: Pick<Replay, 'change' | 'recorded' | 'replayed'>,
  { collective, label }: Pick<Candidate, 'collective' | 'label'>,
): string {
  const times =
    `${formatDuration(recorded.mean)} → ${formatDuration(replayed.mean)} a step ` +
    `with ${label} over ${collective}`;
  if (change.low === 0 && change.high === 0)
    return `no change: ${formatDuration(recorded.mean)} a step with its own settings`;
  if (change.low > 0) return `slower: ${times} (${intervalText(change)} more)`;
  if (change.high < 0) {
    const { high, low, mean } = change;
    const less = { mean: -mean, low: -high, high: -low };
    return `faster: ${times} (${intervalText(less)} less)`;
  }
  return (
    `no difference that the replay could tell: ${times} ` +
    `(between ${timeText(-change.low)} less and ${timeText(change.high)} more)`
  );
}

/** `1.20 ms, between 0.90 ms and 1.50 ms`: for positive means. */
const intervalText = ({ mean, low, high }: ReplayedMean): string =>
  `${timeText(mean)}, between ${timeText(low)} and ${timeText(high)}`;

/** Milliseconds as text; what is less than a nanosecond is rounding. */
const timeText = (time: number): string => formatDuration(time < 1e-6 ? 0 : time);
