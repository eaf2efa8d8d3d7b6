/**
 * The verdict: what the last iterations show, in sentences. Each statement follows from
 * one window summary and points at the chart that shows it.
 */
import { COMMUNICATION_PHASES, type Phase } from '../../shared/phases.ts';
import {
  formatDuration,
  formatFactor,
  formatPercent,
  formatWholePercent,
} from '../../shared/units.ts';
import { rankTitle } from './rank-nodes.ts';
import type { WindowSummary } from './window-summary.ts';

/** Ids of the charts that a statement can point at. */
export type Evidence = 'phases' | 'ranks' | 'bytes';

export interface Statement {
  readonly text: string;
  readonly evidence: Evidence;
}

/** With fewer iterations there is no verdict. */
const VERDICT_MINIMUM = 5;

/**
 * @param cores of the machine that all ranks share, when known
 * @param nodes the machine of each rank, if they are on several
 */
export function verdict(
  summary: WindowSummary,
  ranks: number,
  cores?: number,
  nodes: ReadonlyMap<number, string> = new Map(),
): readonly Statement[] {
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
      (share >= 0.05 ? `, most of it ${PHASE_GERUNDS[largest]}` : ''),
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
  if (summary.dense > 0) {
    const ratio = summary.wireSent / summary.dense;
    statements.push({
      text: `each rank sends ${ratio < 0.995 ? formatPercent(ratio) : formatFactor(ratio)} of its dense bytes`,
      evidence: 'bytes',
    });
  }
  // With fewer cores than ranks, some ranks wait while others compute: no method helps.
  if (cores !== undefined && ranks > cores && largest === 'wait' && share >= 0.05) {
    statements.push({
      text: `${ranks} ranks share ${cores} cores, so they also wait for cores`,
      evidence: 'ranks',
    });
  }
  // Without any communication a step would take (1 − share) of its time: the bound holds
  // for every method, whatever it compresses.
  statements.push({
    text: `compression can speed up the step by at most ${formatFactor(1 / Math.max(1e-9, 1 - share))}`,
    evidence: 'phases',
  });
  return statements;
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
  wait: 'waiting',
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
