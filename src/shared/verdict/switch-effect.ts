/**
 * The effect of a switch: medians over up to 50 iterations on each side of its fence; with
 * local steps, medians of the mean iteration from one exchange to the next. The exchange
 * right after the fence is left out, since it pays for the change (a flush, a new arena).
 */
import { median } from '../numbers/quantile.ts';
import { medianInterval, type Estimate } from '../numbers/mean-interval.ts';
import type { Foreseen } from '../plan/exchange-plan.ts';
import { formatBytes, formatDuration, formatPercent } from '../words/units.ts';
import { estimateText } from './proof.ts';
import type { IterationMeans } from './iteration-means.ts';

/** Iterations considered on each side, unless they have too few exchanges. */
const EFFECT_REACH = 50;
/** Exchanges needed on each side. */
export const EFFECT_MINIMUM = 5;

/** Exchanges considered on each side. */
export const effectReach = (every: number): number =>
  Math.max(EFFECT_MINIMUM, Math.floor(EFFECT_REACH / every));

interface EffectSide {
  readonly exchanges: number;
  /** Milliseconds per iteration. */
  readonly wall: number;
  /** Bytes per iteration at one rank's sockets, framing included. */
  readonly wireSent: number;
}

export interface SwitchEffect {
  readonly before: EffectSide;
  readonly after: EffectSide;
  /** Milliseconds by which a step became longer, with its 95 % interval. */
  readonly change: Estimate;
  /** Whether more iterations could still change it. */
  readonly settled: boolean;
}

export interface FenceBounds {
  readonly fence: number;
  /** The previous switch's fence; default: the start of the run. */
  readonly previous?: number | undefined;
  /** The next switch's fence; default: none yet. */
  readonly next?: number | undefined;
  /** Iterations from one exchange to the next; default: 1. */
  readonly every?: number | undefined;
}

/**
 * Whether iterations that the effect rests on are not held, though all ranks have passed them:
 * they are too old, or were read thinned. The effect would then rest on other iterations than
 * it did while the run was live.
 */
export function lacksIterations(recent: IterationMeans, bounds: FenceBounds): boolean {
  const { before, after } = sidesOf(bounds);
  const end = recent.newestComplete + 1;
  return [before, after].some(({ from, to }) => {
    for (let i = from; i < Math.min(to, end); i++) {
      if (!recent.isComplete(i)) return true;
    }
    return false;
  });
}

/**
 * The change of the step by a switch. Undefined until both sides have EFFECT_MINIMUM exchanges of
 * all ranks, and if any iteration between them is not held.
 */
export function switchEffect(
  recent: IterationMeans,
  bounds: FenceBounds,
): SwitchEffect | undefined {
  if (lacksIterations(recent, bounds)) return undefined;
  const { every = 1 } = bounds;
  const sides = sidesOf(bounds);
  const before = side(recent, sides.before, every);
  const after = side(recent, sides.after, every);
  if (before === undefined || after === undefined) return undefined;
  return {
    before: before.side,
    after: after.side,
    change: differenceOf(before.walls, after.walls),
    settled: after.side.exchanges === effectReach(every) || bounds.next !== undefined,
  };
}

/** Iterations, `to` exclusive. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** The iterations that are compared, as far as the run has them. */
function sidesOf({ fence, previous, next, every = 1 }: FenceBounds): {
  readonly before: Range;
  readonly after: Range;
} {
  const reach = every * effectReach(every);
  // The exchange after the previous fence pays for that switch: leave it out too.
  const start = previous === undefined ? 0 : previous + every;
  const first = fence + every;
  return {
    before: { from: Math.max(start, fence - reach), to: fence },
    after: { from: first, to: Math.min(next ?? Infinity, first + reach) },
  };
}

function side(
  recent: IterationMeans,
  { from, to }: Range,
  every: number,
): { readonly side: EffectSide; readonly walls: readonly number[] } | undefined {
  const walls: number[] = [];
  const wires: number[] = [];
  // Fences are between exchanges, a whole number of exchanges apart.
  for (let i = from; i + every <= to; i += every) {
    const iterations = Array.from({ length: every }, (_, step) => i + step);
    if (!iterations.every((iteration) => recent.isComplete(iteration))) continue;
    const mean = (field: 'wall' | 'wireSent'): number =>
      iterations.reduce((sum, iteration) => sum + recent.mean(iteration, field), 0) /
      every;
    walls.push(mean('wall'));
    wires.push(mean('wireSent'));
  }
  if (walls.length < EFFECT_MINIMUM) return undefined;
  return {
    side: {
      exchanges: walls.length,
      wall: median(walls)!,
      wireSent: median(wires)!,
    },
    walls,
  };
}

/** Medians vary by themselves, so their half-widths add as squares. */
function differenceOf(before: readonly number[], after: readonly number[]): Estimate {
  const [first, second] = [medianInterval(before), medianInterval(after)];
  const mean = second.mean - first.mean;
  const half = Math.hypot(first.high - first.mean, second.high - second.mean);
  return { mean, low: mean - half, high: mean + half };
}

export function describeEffect(effect: SwitchEffect): string {
  const { after, before, change } = effect;
  const [low, high] = [change.low, change.high].map(signed);
  return (
    `wall ${formatDuration(before.wall)} → ${formatDuration(after.wall)} ` +
    `(${low} to ${high}), ` +
    `wire bytes ${formatBytes(before.wireSent)} → ${formatBytes(after.wireSent)}`
  );
}

const signed = (time: number): string =>
  `${time < 0 ? '−' : '+'}${formatDuration(Math.abs(time))}`;

/**
 * Says how far the prediction was off that was shown before the switch: `predicted 8.20 ms
 * (7.10 ms–9.90 ms), measured 8.90 ms: 8.5 % more, within its interval`.
 */
export function describeForeseen(
  { high, low, step }: Foreseen,
  { after }: SwitchEffect,
): string {
  const error = after.wall / step - 1;
  const isWithin = after.wall >= low && after.wall <= high;
  return (
    `predicted ${estimateText({ mean: step, low, high })}, measured ${formatDuration(after.wall)}: ` +
    `${formatPercent(Math.abs(error))} ${error < 0 ? 'less' : 'more'}, ` +
    `${isWithin ? 'within' : 'outside'} its interval`
  );
}
