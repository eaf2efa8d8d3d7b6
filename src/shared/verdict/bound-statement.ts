/** The first sentence of a verdict: what bounds the step, proved by the account of the step. */
import { formatFactor, formatPercent, formatWholePercent } from '../words/units.ts';
import { estimateText, term, type Evidence, type Statement } from './proof.ts';
import { rankTitle } from './rank-nodes.ts';
import { slowRankLink } from './slow-rank-link.ts';
import type { AccountPart, StepAccount } from './step-account.ts';
import type { VerdictContext } from './verdict-context.ts';
import type { WindowSummary } from './window-summary.ts';

/** Names of the parts, as tables and sentences have them. */
const PART_TITLES: Readonly<Record<AccountPart, string>> = {
  compute: 'computing',
  data: 'reading data',
  cores: 'waiting for cores',
  straggler: 'waiting for the straggler',
  lateness: 'waiting for ranks that arrive late',
  bandwidth: 'bytes in flight',
  latency: 'latency of messages',
  exchange: 'the program’s own communication',
  compression: 'compressing',
  reduction: 'summing',
  bubble: 'waiting for other stages',
  other: 'unattributed time',
};

/** Formulas of the parts, from the records of an iteration. */
const PART_FORMULAS: Readonly<Record<AccountPart, string>> = {
  compute: 'compute + apply, mean over ranks',
  data: 'data, mean over ranks',
  cores:
    'w × all that ranks do themselves, and lateness without a culprit; w = 1 − C/n, n = 1 + (R − 1)·busy/step for R ranks on C cores',
  straggler:
    'step − what the other ranks do themselves − least communication of a rank, in iterations in which this rank has the least: it arrives last and waits for nobody',
  lateness:
    'mean communication − least communication of a rank: waiting for whoever arrives last, as far as its step is not shorter than the mean',
  bandwidth:
    'least communication of a rank, as far as bytes are in flight (send + receive; at a known link at least bytes × time per byte)',
  latency:
    'least communication of a rank − bytes in flight; also waiting for a rank whose step is shorter than the mean: it began later, because its last exchange had ended later',
  exchange: 'least communication of a rank',
  compression: 'compress + decompress, mean over ranks',
  reduction: 'reduce, mean over ranks',
  bubble: 'bubble, mean over ranks',
  other: 'other, mean over ranks',
};

const CHARTS: Partial<Record<AccountPart, Evidence>> = {
  straggler: 'ranks',
  lateness: 'ranks',
  cores: 'ranks',
};

export function boundStatement(
  summary: WindowSummary,
  account: StepAccount,
  context: VerdictContext,
): Statement {
  const { bound, parts, rival, step } = account;
  const time = parts.get(bound);
  const share = time === undefined ? 0 : time.mean / step.mean;
  const nearly = rival === undefined ? '' : `, nearly as much as ${PART_TITLES[rival]}`;
  return {
    text:
      `${boundText(bound, summary, account, context)}: ` +
      `${formatWholePercent(share)} of it${nearly}`,
    evidence: CHARTS[bound] ?? 'phases',
    proof: {
      formula: `largest part of the step; ${PART_TITLES[bound]} = ${PART_FORMULAS[bound]}`,
      terms: [
        ...[...parts]
          .toSorted(([, a], [, b]) => b.mean - a.mean)
          .map(([part, estimate]) =>
            term(
              PART_TITLES[part],
              `${estimateText(estimate)}, ${formatPercent(estimate.mean / step.mean)}`,
            ),
          ),
        term('the step', estimateText(step)),
        ...(account.coreWait > 0
          ? [term('w, waiting for a core', formatPercent(account.coreWait))]
          : []),
        ...(account.straggler === undefined
          ? []
          : [
              term(
                `lateness against rank ${account.straggler.rank}`,
                formatPercent(account.straggler.share),
              ),
            ]),
      ],
    },
  };
}

function boundText(
  bound: AccountPart,
  summary: WindowSummary,
  { straggler }: StepAccount,
  { crowd, nodes = new Map<number, string>(), worstLink }: VerdictContext,
): string {
  const where = (of: 'bandwidth' | 'latency'): string => {
    if (worstLink !== undefined) return ` (${worstLink[of]})`;
    const slow = slowRankLink(summary.traffic);
    return slow === undefined
      ? ''
      : ` of ${rankTitle(slow.rank, nodes)} (${formatFactor(slow.factor)} the time of the others for a byte)`;
  };
  switch (bound) {
    case 'compute':
      return 'computing bounds the step';
    case 'data':
      return 'waiting for data bounds the step';
    case 'cores':
      return `too few cores bound the step, ${crowd!.cores} for ${crowd!.ranks} ranks on ${crowd!.machine}`;
    case 'straggler':
      return `${rankTitle(straggler!.rank, nodes)} bounds the step, because the others wait for it`;
    case 'lateness':
      return 'ranks that arrive late in turn bound the step';
    case 'bandwidth':
      return `the bandwidth of the link${where(bound)} bounds the step`;
    case 'latency':
      return `the latency of the link${where(bound)} bounds the step`;
    case 'exchange':
      return 'the program’s own communication bounds the step';
    case 'compression':
      return 'compression itself bounds the step';
    case 'reduction':
      return 'summing bounds the step';
    case 'bubble':
      return 'waiting for other stages bounds the step';
    case 'other':
      return 'time outside all phases bounds the step';
    default:
      return bound satisfies never;
  }
}
