/**
 * The verdict: what the last iterations show, in sentences, each with its proof. It is made here
 * alone, for the page, reports, exports and commands: what bounds the step, what that rests on,
 * and what each remedy would gain.
 */
import { COMMUNICATION_PHASES, type Phase } from '../records/phases.ts';
import {
  formatBytes,
  formatDuration,
  formatFactor,
  formatPercent,
  formatWholePercent,
} from '../words/units.ts';
import { boundStatement } from './bound-statement.ts';
import { timeInFlight } from './bytes-in-flight.ts';
import { joinStatements, offersOf, type Offer } from './join-gain.ts';
import { basisText, estimateText, term, type Statement } from './proof.ts';
import { rankTitle } from './rank-nodes.ts';
import { payloadStatements, remediesOf } from './remedies.ts';
import { accountOf, type AccountPart, type StepAccount } from './step-account.ts';
import type { VerdictContext } from './verdict-context.ts';
import {
  longestAwaited,
  VERDICT_MINIMUM,
  type WindowSummary,
} from './window-summary.ts';

/** Communication below this part of the step is not worth a sentence about its causes. */
const NOTEWORTHY = 0.05;
/** The least part of a step that ranks wait for cores, if that is said. */
const LEAST_CORE_WAIT = 0.01;

export interface Verdict {
  /** The part that bounds the step. */
  readonly bound: AccountPart;
  readonly account: StepAccount;
  /** Sentences in order: the bound first, remedies last. */
  readonly statements: readonly Statement[];
  /** Steps predicted for a program that is only observed, if it joined; the shortest first. */
  readonly offers: readonly Offer[];
  /** The records that all of it rests on, in words. */
  readonly basis: string;
}

/** The verdict on a run; undefined while there are too few iterations of all ranks. */
export function verdict(
  summary: WindowSummary,
  context: VerdictContext,
): Verdict | undefined {
  const { ranks, crowd, forecast, latency, linkTime } = context;
  const { series } = summary;
  if (series.step.length < VERDICT_MINIMUM) return undefined;
  const isOwn = summary.wireSent === undefined;
  const flight = isOwn ? undefined : timeInFlight(summary.traffic, linkTime);
  const account = accountOf(series, {
    ranks,
    flight,
    isLinkKnown: linkTime !== undefined,
    latency: isOwn ? undefined : latency,
    crowd,
  });
  const offers =
    isOwn && forecast !== undefined ? offersOf(summary, account, forecast) : [];
  return {
    bound: account.bound,
    account,
    offers,
    statements:
      ranks < 2
        ? [aloneStatement(summary, account), boundStatement(summary, account, context)]
        : [
            boundStatement(summary, account, context),
            ...observations(summary, account, context),
            ...remediesOf(account, context),
            ...(flight === undefined
              ? joinStatements(summary, account, context, offers)
              : payloadStatements(summary, account, context, flight)),
          ],
    basis: basisText(summary.from, summary.to, ranks, summary.records),
  };
}

const aloneStatement = (
  { phases, wall }: WindowSummary,
  account: StepAccount,
): Statement => ({
  text:
    account.parts.has('exchange') && phases.wait > 0
      ? `One rank has nobody to communicate with, and waits for its averages all the same (${formatDuration(phases.wait)}); the step takes ${formatDuration(wall)}`
      : `One rank has nothing to communicate; the step takes ${formatDuration(wall)}`,
  evidence: 'phases',
  proof: {
    formula: 'mean wall time',
    terms: [term('step', estimateText(account.step))],
  },
});

/** Statements about the window besides the bound. */
function observations(
  summary: WindowSummary,
  account: StepAccount,
  { crowd, nodes = new Map<number, string>() }: VerdictContext,
): readonly Statement[] {
  const { awaited, dense, overlapped, phases, wall, wireSent } = summary;
  const longest = longestAwaited(awaited, wall);
  const share = summary.communicationShare;
  const largest = largestCommunication(phases);
  const statements: Statement[] = [
    {
      text:
        `${formatWholePercent(share)} of the step is communication` +
        (share >= NOTEWORTHY ? `, most of it ${PHASE_GERUNDS[largest]}` : ''),
      evidence: 'phases',
      proof: {
        formula: `(${COMMUNICATION_PHASES.join(' + ')}) ÷ step, means over ranks`,
        terms: [
          ...COMMUNICATION_PHASES.filter((phase) => phases[phase] > 0).map((phase) =>
            term(phase, formatDuration(phases[phase])),
          ),
          term('step', formatDuration(wall)),
        ],
      },
    },
  ];
  // The bound or a remedy has named it already.
  if (longest !== undefined && longest !== account.straggler?.rank) {
    statements.push({
      text: `the longest wait is for ${rankTitle(longest, nodes)} (${formatDuration(awaited[longest])} a step)`,
      evidence: 'ranks',
      proof: {
        formula: 'time that each other rank waits for it in a step',
        terms: mostAwaited(awaited).map(([rank, time]) =>
          term(rankTitle(rank, nodes), formatDuration(time)),
        ),
      },
    });
  }
  if (overlapped > 0.02 * wall) {
    statements.push({
      text: `another ${formatDuration(overlapped)} of communication is hidden behind compute`,
      evidence: 'phases',
      proof: {
        formula: 'overlapped, mean over ranks',
        terms: [term('overlapped', formatDuration(overlapped))],
      },
    });
  }
  if (dense > 0 && wireSent !== undefined) {
    const ratio = wireSent / dense;
    statements.push({
      text: `each rank sends ${ratio < 0.995 ? formatPercent(ratio) : formatFactor(ratio)} of its dense bytes`,
      evidence: 'bytes',
      proof: {
        formula: 'bytes sent at the sockets ÷ 4 × parameters',
        terms: [
          term('sent by a rank', formatBytes(wireSent)),
          term('dense', formatBytes(dense)),
        ],
      },
    });
  }
  // With fewer cores than ranks, some ranks wait while others compute: no method helps.
  if (
    crowd !== undefined &&
    account.coreWait >= LEAST_CORE_WAIT &&
    share >= NOTEWORTHY &&
    account.bound !== 'cores'
  ) {
    statements.push({
      text: `${crowd.ranks} ranks share ${crowd.cores} ${crowd.cores === 1 ? 'core' : 'cores'}, so they also wait for cores`,
      evidence: 'ranks',
      proof: {
        formula: 'w = 1 − C/n, n = 1 + (R − 1)·busy/step',
        terms: [
          term('R, ranks', String(crowd.ranks)),
          term('C, cores', String(crowd.cores)),
          term('w', formatPercent(account.coreWait)),
        ],
      },
    });
  }
  return statements;
}

/** Ranks in a proof of waits, at most. */
const MOST_AWAITED = 4;

const mostAwaited = (
  awaited: readonly number[],
): readonly (readonly [number, number])[] =>
  awaited
    .map((time, rank): readonly [number, number] => [rank, time])
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MOST_AWAITED);

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
