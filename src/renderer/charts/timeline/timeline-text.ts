/** Timelines in words and tables: a span, the whole, and sums of a stretch. */
import { PHASES } from '../../../shared/records/phases.ts';
import {
  bucketName,
  lateText,
  sumsIn,
  type Lane,
  type LaneSums,
  type Timeline,
} from '../../../shared/trace/timeline.ts';
import { formatCount, formatDuration } from '../../../shared/words/units.ts';
import type { CutTrace } from '../../state/runs/run-trace.svelte.ts';
import type { TableTwin } from '../table-twin.ts';
import type { TimeWindow } from './time-window.ts';

const inMilliseconds = (nanoseconds: number): string =>
  formatDuration(nanoseconds / 1e6);

const laneName = ({ rank, thread }: Lane): string =>
  thread === 'rank' ? `rank ${rank}` : `rank ${rank}, ${thread}`;

/** A span in words. */
export function describeSpan(timeline: Timeline, lane: Lane, span: number): string {
  const phase = PHASES[lane.phases[span]!]!;
  const bucket = lane.buckets[span]!;
  const peer = lane.peers[span]!;
  const iteration = lane.iterations[span]!;
  const name = bucketName(timeline, { rank: lane.rank, iteration }, bucket);
  return [
    `${laneName(lane)}, iteration ${iteration}: ${phase}`,
    ...(bucket < 0
      ? []
      : [`bucket ${bucket}${name === undefined ? '' : ` (${name})`}`]),
    ...(peer < 0 ? [] : [`for rank ${peer}`]),
    inMilliseconds(lane.ends[span]! - lane.starts[span]!),
    ...(lane.hidden[span] === 1 ? ['hidden under compute'] : []),
    `at ${inMilliseconds(lane.starts[span]!)}`,
  ].join(', ');
}

/** The whole timeline in a sentence. */
export function describeTimeline({
  arrows,
  clocks,
  dropped,
  iterations,
  lanes,
  late,
  length,
}: Timeline): string {
  const numbers = iterations.map(({ iteration }) => iteration);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const spans = lanes.reduce((sum, { starts }) => sum + starts.length, 0);
  const uncertain = Math.max(...[...clocks.values()].map((one) => one.uncertainty));
  const what = first === last ? `Iteration ${first}` : `Iterations ${first} to ${last}`;
  const clockText =
    uncertain === 0
      ? 'all by one clock'
      : Number.isFinite(uncertain)
        ? `clocks are equal within ± ${inMilliseconds(uncertain)}`
        : 'the clocks of some ranks cannot be compared';
  const lost =
    dropped === 0 ? '' : ` ${formatCount(dropped)} spans and messages were left out.`;
  const missing = late === 0 ? '' : ` ${lateText(late, iterations.length)}`;
  // A program's own averages have no messages that anybody has seen.
  const arrow = lanes.some(({ isNetwork }) => isNetwork) ? 'arrows' : 'messages';
  return `${what}, ${inMilliseconds(length)}: ${formatCount(spans)} spans, ${formatCount(arrows.length)} ${arrow}; ${clockText}.${lost}${missing}`;
}

/** A trace that lacks records, in sentences. */
export function cutText({ come, expected, why }: CutTrace): string {
  const records = `${formatCount(come)} of ${formatCount(expected)} records came.`;
  return why === 'ended'
    ? `The run ended while it was traced: ${records}`
    : `The run was interrupted while it was traced: ${records} Trace again once it goes on.`;
}

/** Sums of a stretch as a table, a row for each lane. */
export function sumsTable(timeline: Timeline, stretch: TimeWindow): TableTwin {
  const sums = sumsIn(timeline, stretch.from, stretch.to);
  const phases = PHASES.filter((phase) => sums.some((lane) => lane.phases.has(phase)));
  return {
    columns: ['lane', ...phases.map((phase) => `${phase} ms`), 'sum ms'],
    rows: sums.map((lane, key) => ({
      key,
      cells: [
        laneName(lane.lane),
        ...phases.map((phase) => milliseconds(lane.phases.get(phase))),
        milliseconds(lane.total),
      ],
    })),
  };
}

/** Lanes that a sentence names. */
const NAMED_LANES = 8;

/** The stretch in words: its length, and the largest phases of its first lanes. */
export function describeStretch(timeline: Timeline, stretch: TimeWindow): string {
  const more = timeline.lanes.length - NAMED_LANES;
  const lanes = timeline.lanes.slice(0, NAMED_LANES);
  const parts = sumsIn({ ...timeline, lanes }, stretch.from, stretch.to).map(largestOf);
  if (more > 0) parts.push(`${formatCount(more)} more lanes are in the table`);
  return `Selected ${inMilliseconds(stretch.to - stretch.from)}: ${parts.join('; ')}.`;
}

function largestOf({ lane, phases }: LaneSums): string {
  const largest = [...phases].toSorted((a, b) => b[1] - a[1]).slice(0, 2);
  const text = largest.map(([phase, time]) => `${phase} ${inMilliseconds(time)}`);
  return `${laneName(lane)} ${text.length === 0 ? 'nothing' : text.join(', ')}`;
}

const milliseconds = (time: number | undefined): string =>
  time === undefined ? '' : (time / 1e6).toFixed(3);
