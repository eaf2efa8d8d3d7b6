/**
 * The verdict: what the last iterations show, in sentences. Each statement follows from
 * one window summary and points at the chart that shows it.
 */
import { COMMUNICATION_PHASES, type Phase } from '../records/phases.ts';
import {
  formatDuration,
  formatFactor,
  formatPercent,
  formatWholePercent,
} from '../words/units.ts';
import { timeInFlight } from './bytes-in-flight.ts';
import { rankTitle } from './rank-nodes.ts';
import type { WindowSummary } from './window-summary.ts';

/** Ids of the charts that a statement can point at. */
export type Evidence = 'phases' | 'ranks' | 'bytes';

export interface Statement {
  readonly text: string;
  readonly evidence: Evidence;
}

/** Fewest iterations for a verdict. */
const VERDICT_MINIMUM = 5;
/** Communication below this part of the step is not worth a sentence about its causes. */
const NOTEWORTHY = 0.05;
/** A smaller gain is noise. */
const NOTICEABLE = 1.02;

/** Facts of a run besides its iterations. */
export interface VerdictContext {
  readonly ranks: number;
  /** Cores of the machine that all ranks share, when known. */
  readonly cores?: number | undefined;
  /** The machine of each rank, if they are on several. */
  readonly nodes?: ReadonlyMap<number, string> | undefined;
  /** Milliseconds that the slowest link between ranks takes for a byte, when known. */
  readonly linkTime?: number | undefined;
  /** Whether the engine has noticed that the current plan's compression does not pay. */
  readonly doesNotPay?: boolean | undefined;
}

export function verdict(
  summary: WindowSummary,
  context: VerdictContext,
): readonly Statement[] {
  const { ranks, cores, nodes = new Map() } = context;
  if (summary.iterations < VERDICT_MINIMUM) return [];
  if (ranks < 2) {
    return [
      {
        text: `One rank has nothing to communicate; the step takes ${formatDuration(summary.wall)}`,
        evidence: 'phases',
      },
    ];
  }
  const statements: Statement[] = [];
  const share = summary.communicationShare;
  const largest = largestCommunication(summary.phases);
  statements.push({
    text:
      `${formatWholePercent(share)} of the step is communication` +
      (share >= NOTEWORTHY ? `, most of it ${PHASE_GERUNDS[largest]}` : ''),
    evidence: 'phases',
  });
  if (summary.straggler !== undefined) {
    const time = summary.awaited[summary.straggler]!;
    statements.push({
      text: `the longest wait is for ${rankTitle(summary.straggler, nodes)} (${formatDuration(time)} a step)`,
      evidence: 'ranks',
    });
  }
  if (summary.overlapped > 0.02 * summary.wall) {
    statements.push({
      text: `another ${formatDuration(summary.overlapped)} of communication is hidden behind compute`,
      evidence: 'phases',
    });
  }
  if (summary.dense > 0 && summary.wireSent !== undefined) {
    const ratio = summary.wireSent / summary.dense;
    statements.push({
      text: `each rank sends ${ratio < 0.995 ? formatPercent(ratio) : formatFactor(ratio)} of its dense bytes`,
      evidence: 'bytes',
    });
  }
  // With fewer cores than ranks, some ranks wait while others compute: no method helps.
  const crowded = cores !== undefined && ranks > cores && share >= NOTEWORTHY;
  if (crowded) {
    statements.push({
      text: `${ranks} ranks share ${cores} cores, so they also wait for cores`,
      evidence: 'ranks',
    });
  }
  statements.push(gainOf(summary, context, crowded));
  return statements;
}

/** The gain that compression, or more of it, could still bring. */
function gainOf(
  summary: WindowSummary,
  { linkTime, doesNotPay = false }: VerdictContext,
  crowded: boolean,
): Statement {
  if (doesNotPay) {
    return {
      text: 'the engine has measured that this compression takes longer than it saves',
      evidence: 'phases',
    };
  }
  // A peer without a core neither reads nor writes: that looks like bytes in flight.
  if (crowded && linkTime === undefined) {
    return {
      text: 'how much a smaller payload would save cannot be told apart from that',
      evidence: 'phases',
    };
  }
  if (summary.wireSent === undefined) return ownGainOf(summary);
  const moving = timeInFlight(summary.traffic, linkTime);
  const most = summary.wall / Math.max(1e-9 * summary.wall, summary.wall - moving);
  return {
    text:
      most < NOTICEABLE
        ? `a smaller payload would not speed up the step: its bytes are in flight for ${formatDuration(moving)}`
        : `a smaller payload can speed up the step by at most ${formatFactor(most)}: its bytes are in flight for ${formatDuration(moving)}`,
    evidence: 'phases',
  };
}

/**
 * The gain that a program could have which communicates by itself: its waiting has other causes,
 * too, so this is a bound.
 */
function ownGainOf({ phases, wall }: WindowSummary): Statement {
  const { wait } = phases;
  const most = wall / Math.max(1e-9 * wall, wall - wait);
  return {
    text:
      most < NOTICEABLE
        ? `compression would not speed up the step: the program waits ${formatDuration(wait)} for its own communication`
        : `compression can speed up the step by at most ${formatFactor(most)}: the program waits ${formatDuration(wait)} for its own communication and for slower ranks; let it join to try`,
    evidence: 'phases',
  };
}

const PHASE_GERUNDS: Record<Phase, string> = {
  data: 'reading data',
  compute: 'computing',
  forward: 'computing forward',
  backward: 'computing backward',
  activations: 'sending activations',
  bubble: 'waiting for other stages',
  compress: 'compressing',
  send: 'sending',
  receive: 'receiving',
  wait: 'waiting for other ranks',
  reduce: 'reducing',
  decompress: 'decompressing',
  apply: 'applying',
  other: 'unattributed',
};

function largestCommunication(phases: Readonly<Record<Phase, number>>): Phase {
  return COMMUNICATION_PHASES.reduce((best, phase) =>
    phases[phase] > phases[best] ? phase : best,
  );
}
