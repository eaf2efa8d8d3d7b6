/**
 * Remedies, and what each would gain: what its part of the account says, not more. A gain is a
 * bound where the remedy may leave a rest.
 */
import { exactly, type Estimate } from '../numbers/mean-interval.ts';
import type { ComparedExchanges } from '../records/notice.ts';
import { formatDuration, formatFactor, formatQuantity } from '../words/units.ts';
import { estimateText, term, type Gain, type Statement } from './proof.ts';
import { rankTitle } from './rank-nodes.ts';
import { RIVAL_FORMULA, rivalTerms, rivalText } from './rivals.ts';
import type { AccountPart, StepAccount } from './step-account.ts';
import type { VerdictContext } from './verdict-context.ts';
import type { WindowSummary } from './window-summary.ts';

/** A smaller gain is noise. */
const NOTICEABLE = 1.02;
/** Bytes are as good as hidden once they take this part of the step. */
const HIDDEN = 0.05;

/** The least rest of a step, as a part of it, that is more than the difference of two times nearly alike. */
const UNRESOLVED = 0.05;

/** Remedies other than for the payload, the largest gain first. */
export function remediesOf(
  account: StepAccount,
  { crowd, latency, nodes = new Map<number, string>() }: VerdictContext,
): readonly Statement[] {
  const { step, straggler } = account;
  // A message that waits for a core looks as if it were underway.
  const isLatencyTold = latency !== undefined || crowd === undefined;
  const candidates = [
    straggler && {
      id: 'straggler' as const,
      part: 'straggler' as const,
      evidence: 'ranks' as const,
      // While others wait for it, their messages arrive: more of the exchange may show without the wait.
      isBound: true,
      text: `if ${rankTitle(straggler.rank, nodes)} kept pace, a step could shrink to`,
    },
    crowd && {
      id: 'cores' as const,
      part: 'cores' as const,
      evidence: 'ranks' as const,
      isBound: true,
      text: 'with a core for each rank, a step could shrink to',
    },
    {
      id: 'data' as const,
      part: 'data' as const,
      evidence: 'phases' as const,
      isBound: true,
      text: 'if data were read ahead, a step could shrink to',
    },
    isLatencyTold && {
      id: 'latency' as const,
      part: 'latency' as const,
      evidence: 'phases' as const,
      isBound: true,
      text: 'with fewer messages (larger buckets, another collective), a step could shrink to',
    },
  ];
  return candidates
    .flatMap((candidate) => {
      if (candidate === undefined || candidate === false) return [];
      const { evidence, id, isBound, part, text } = candidate;
      const gain = without(account, part, isBound);
      // Latency is named only where it matters: every message has some.
      const least = id === 'latency' ? 1 / (1 - HIDDEN) : NOTICEABLE;
      if (gain === undefined || gain.factor < least) return [];
      const statement: Statement = {
        text: `${text} ${formatDuration(gain.step.mean)} (${formatFactor(gain.factor)} as fast${isBound ? ' at most' : ''})`,
        evidence,
        proof: {
          formula: `step − ${PARTS[part] ?? part}`,
          terms: [
            term('step', estimateText(step)),
            term(PARTS[part] ?? part, savedText(account, part)),
            term('with the remedy', estimateText(gain.step)),
          ],
        },
        remedy: { id, gain },
      };
      return [statement];
    })
    .toSorted((a, b) => b.remedy!.gain.factor - a.remedy!.gain.factor);
}

const PARTS: Partial<Record<AccountPart, string>> = {
  straggler: 'wait for the straggler',
  cores: 'wait for cores',
  data: 'wait for data',
  latency: 'latency',
};

/** The step without one of its parts; undefined if it has none of it. */
function without(
  account: StepAccount,
  part: AccountPart,
  isBound: boolean,
): Gain | undefined {
  const time = account.parts.get(part);
  if (time === undefined) return undefined;
  const { step } = account;
  return gainTo(step, account.without.get(part) ?? difference(step, time), isBound);
}

/** The time of a part, or what goes with it besides. */
function savedText({ parts, step, without }: StepAccount, part: AccountPart): string {
  const rest = without.get(part);
  return rest === undefined
    ? estimateText(parts.get(part)!)
    : formatDuration(step.mean - rest.mean);
}

/** Intervals of both, added: they may vary together. */
function difference(step: Estimate, part: Estimate): Estimate {
  const mean = Math.max(0, step.mean - part.mean);
  const half = step.high - step.mean + (part.high - part.mean);
  return { mean, low: Math.max(0, mean - half), high: mean + half };
}

const gainTo = (now: Estimate, then: Estimate, isBound: boolean): Gain => ({
  step: then,
  factor: now.mean / Math.max(1e-9 * now.mean, then.mean),
  isBound,
});

/**
 * The gain that compression, or more of it, could still bring.
 * @param moving milliseconds in which bytes are in flight
 */
export function payloadStatements(
  summary: WindowSummary,
  account: StepAccount,
  context: VerdictContext,
  moving: number,
): readonly Statement[] {
  const { cosine, crowd, doesNotPay, linkTime, ranks, rivals = [] } = context;
  if (doesNotPay !== undefined) return [denseStatement(summary, account, doesNotPay)];
  // A peer without a core neither reads nor writes: that looks like bytes in flight.
  if (crowd !== undefined && account.coreWait > 0 && linkTime === undefined) {
    return [
      {
        text: 'how much a smaller payload would save cannot be told apart from waiting for cores',
        evidence: 'phases',
        proof: {
          formula:
            'a peer without a core neither reads nor writes, as if bytes were in flight',
          terms: [term('ranks per core', formatQuantity(crowd.ranks / crowd.cores))],
        },
      },
    ];
  }
  const { dense, traffic, wall, wireSent = 0 } = summary;
  const sent = dense > 0 ? wireSent / dense : 0;
  const then = Math.max(1e-9 * wall, wall - moving);
  const least = account.without.get('bandwidth')?.low ?? then;
  const after = { mean: then, low: Math.max(0, Math.min(then, least)), high: then };
  const gain = gainTo(exactly(wall), after, true);
  const bytes = Math.max(...traffic.map(({ bytesSent }) => bytesSent));
  const terms = [
    term('step', estimateText(account.step)),
    term('bytes in flight', formatDuration(moving)),
    ...(linkTime === undefined
      ? []
      : [term('time for a byte on the link', formatDuration(linkTime))]),
    ...(Number.isFinite(bytes)
      ? [term('bytes sent by a rank', `${Math.round(bytes)}`)]
      : []),
  ];
  if (gain.factor < NOTICEABLE) {
    return [
      {
        text: `a smaller payload would not speed up the step: its bytes are in flight for ${formatDuration(moving)}`,
        evidence: 'phases',
        proof: { formula: 'step ÷ (step − bytes in flight)', terms },
        remedy: { id: 'payload', gain },
      },
    ];
  }
  const rest = wall - moving;
  const needed = moving / ((HIDDEN / (1 - HIDDEN)) * rest);
  const kept =
    cosine === undefined
      ? ''
      : `; now its cosine with the uncompressed gradient is ${cosine.toFixed(2)}`;
  return [
    {
      text:
        rest < UNRESOLVED * wall
          ? `a smaller payload can speed up the step many times: its bytes are in flight for ${formatDuration(moving)} of ${formatDuration(wall)}`
          : `a smaller payload can speed up the step by at most ${formatFactor(gain.factor)}: its bytes are in flight for ${formatDuration(moving)}`,
      evidence: 'phases',
      proof: { formula: 'step ÷ (step − bytes in flight)', terms },
      remedy: { id: 'payload', gain },
    },
    ...(needed > NOTICEABLE && Number.isFinite(needed)
      ? [
          {
            text: `hiding them needs ${formatFactor(needed)} fewer bytes${rivalText(rivals, ranks, sent / needed)}${kept}`,
            evidence: 'bytes' as const,
            proof: {
              formula:
                `bytes in flight ÷ (5/95 × (step − bytes in flight)): they then take ${100 * HIDDEN} % of the step` +
                (rivals.length === 0 ? '' : `; ${RIVAL_FORMULA}`),
              terms: [...terms, ...rivalTerms(rivals, ranks)],
            },
          },
        ]
      : []),
  ];
}

/** The engine's own comparison, and what a step without compression gains by it. */
function denseStatement(
  summary: WindowSummary,
  { step }: StepAccount,
  { exchange, message }: NonNullable<VerdictContext['doesNotPay']>,
): Statement {
  const gain = denseGain(summary, step, exchange);
  const compared =
    exchange?.measured === false
      ? 'by the engine’s prediction this compression takes'
      : 'the engine has measured that this compression takes';
  const gained =
    gain.factor < NOTICEABLE
      ? ''
      : `; without it, a step could shrink to ${formatDuration(gain.step.mean)} (${formatFactor(gain.factor)} as fast)`;
  return {
    text: `do not compress here: ${compared} longer than it saves${gained}`,
    evidence: 'phases',
    proof: {
      formula:
        'notice COMPRESSION_DOES_NOT_PAY under this plan' +
        (exchange === undefined
          ? ''
          : '; step − (exchange − exchange without compression), as far as the step shows the exchange'),
      terms: [
        term('the engine', message),
        ...(exchange === undefined
          ? []
          : [
              term('step', estimateText(step)),
              term('exchange', formatDuration(exchange.compressed)),
              term(
                `exchange without compression, ${exchange.measured ? 'measured' : 'predicted'}`,
                formatDuration(exchange.uncompressed),
              ),
              term('with the remedy', estimateText(gain.step)),
            ]),
      ],
    },
    remedy: { id: 'dense', gain },
  };
}

/**
 * The step without compression. It gains no more than the engine compared, and no more than the step shows of
 * an exchange: one that is hidden behind computing, or made in some steps only, lengthens a step by less. It is no
 * longer than now; where an uncompressed exchange was not measured, it is no shorter than without any exchange.
 */
function denseGain(
  { communicationShare, wall }: WindowSummary,
  step: Estimate,
  exchange: ComparedExchanges | undefined,
): Gain {
  const shown = communicationShare * wall;
  const { compressed, measured, uncompressed } = exchange ?? {
    compressed: shown,
    measured: false,
    uncompressed: shown,
  };
  const visible = compressed > 0 ? Math.min(1, shown / compressed) : 0;
  const saved = visible * Math.max(0, compressed - uncompressed);
  const most = measured ? saved : visible * compressed;
  const then: Estimate = {
    mean: Math.max(0, step.mean - saved),
    low: Math.max(0, step.low - most),
    high: step.high,
  };
  return gainTo(step, then, false);
}
