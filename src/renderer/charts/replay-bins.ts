/** Pairs of recorded and replayed iterations, as many as a chart has room for: means of neighbours. */
import type { RecordedStep, StepSplit } from '../../shared/forecast/replay.ts';

export interface ReplayBin {
  /** The first iteration. */
  readonly from: number;
  /** The one after the last. */
  readonly to: number;
  readonly recorded: StepSplit;
  readonly replayed: StepSplit;
}

/** @param replayed of the same iterations as those recorded */
export function replayBins(
  recorded: readonly RecordedStep[],
  replayed: readonly RecordedStep[],
  most: number,
): readonly ReplayBin[] {
  const width = Math.max(1, Math.ceil(recorded.length / most));
  const bins: ReplayBin[] = [];
  for (let at = 0; at < recorded.length; at += width) {
    const [own, ghosts] = [recorded, replayed].map((all) => all.slice(at, at + width));
    bins.push({
      from: own![0]!.iteration,
      to: own!.at(-1)!.iteration + 1,
      recorded: meanOf(own!),
      replayed: meanOf(ghosts!),
    });
  }
  return bins;
}

function meanOf(steps: readonly StepSplit[]): StepSplit {
  const mean = (part: keyof StepSplit): number =>
    steps.reduce((sum, step) => sum + step[part], 0) / steps.length;
  return {
    own: mean('own'),
    compress: mean('compress'),
    exchange: mean('exchange'),
    decompress: mean('decompress'),
  };
}
