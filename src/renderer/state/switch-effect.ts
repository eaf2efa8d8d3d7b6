/**
 * What a switch changed: medians over up to 50 iterations on each side of its fence.
 * The fence's own iteration is left out, it pays for the change (a flush, a new arena).
 */
import { median } from '../../shared/statistics/quantile.ts';
import { formatBytes, formatDuration } from '../../shared/units.ts';
import type { RecentIterations } from './recent-iterations.ts';

/** Iterations looked at on each side. */
export const EFFECT_REACH = 50;
/** Fewer on either side are no evidence. */
export const EFFECT_MINIMUM = 5;

export interface EffectSide {
  readonly iterations: number;
  /** Milliseconds. */
  readonly wall: number;
  /** Bytes at the sockets of one rank, framing included. */
  readonly wireSent: number;
}

export interface SwitchEffect {
  readonly before: EffectSide;
  readonly after: EffectSide;
  /** Whether more iterations could still change it. */
  readonly settled: boolean;
}

export interface FenceBounds {
  readonly fence: number;
  /** The previous switch's fence; default: the run's begin. */
  readonly previous?: number | undefined;
  /** The next switch's fence; default: the run goes on. */
  readonly next?: number | undefined;
}

/** Undefined until both sides have EFFECT_MINIMUM iterations of all ranks. */
export function switchEffect(
  recent: RecentIterations,
  bounds: FenceBounds,
): SwitchEffect | undefined {
  const { fence } = bounds;
  // A previous fence's own iteration pays for that switch: it is left out as well.
  const start = bounds.previous === undefined ? 0 : bounds.previous + 1;
  const before = side(recent, Math.max(start, fence - EFFECT_REACH), fence);
  const end = Math.min(bounds.next ?? Infinity, fence + 1 + EFFECT_REACH);
  const after = side(recent, fence + 1, end);
  if (before === undefined || after === undefined) return undefined;
  return {
    before,
    after,
    settled: after.iterations === EFFECT_REACH || bounds.next !== undefined,
  };
}

function side(
  recent: RecentIterations,
  from: number,
  to: number,
): EffectSide | undefined {
  const walls: number[] = [];
  const wires: number[] = [];
  for (let i = from; i < to; i++) {
    let complete = true;
    for (let rank = 0; rank < recent.ranks; rank++) {
      complete &&= recent.has(i, rank);
    }
    if (!complete) continue;
    walls.push(recent.mean(i, 'wall'));
    wires.push(recent.mean(i, 'wireSent'));
  }
  if (walls.length < EFFECT_MINIMUM) return undefined;
  return {
    iterations: walls.length,
    wall: median(walls)!,
    wireSent: median(wires)!,
  };
}

export function describeEffect(effect: SwitchEffect): string {
  const { before, after } = effect;
  return (
    `wall ${formatDuration(before.wall)} → ${formatDuration(after.wall)}, ` +
    `wire bytes ${formatBytes(before.wireSent)} → ${formatBytes(after.wireSent)}`
  );
}
