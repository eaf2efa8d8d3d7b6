/**
 * The gains that an observed program could have if it joined: its step as observed, with its own
 * exchange replaced by those that Gradwire offers, each as predicted and corrected by what the
 * program's own exchange took (`foreseen-step.ts`).
 */
import { totalSeconds } from '../cost-model/cost-terms.ts';
import { exactly, type Estimate } from '../numbers/mean-interval.ts';
import {
  scaledForecast,
  type ExchangeForecast,
} from '../cost-model/exchange-forecast.ts';
import type {
  ForecastRecord,
  OfferedExchange,
  PredictedExchange,
} from '../records/forecast.ts';
import {
  formatBytes,
  formatDuration,
  formatFactor,
  formatWholePercent,
} from '../words/units.ts';
import { DEFAULT_METHOD } from '../plan/exchange-plan.ts';
import type { Crowd } from './core-crowding.ts';
import { foreseenStep, MARGIN, REHEARSAL_MARGIN } from './foreseen-step.ts';
import { estimateText, term, type Statement } from './proof.ts';
import type { StepAccount } from './step-account.ts';
import type { VerdictContext } from './verdict-context.ts';
import type { WindowSummary } from './window-summary.ts';

/** A smaller gain is noise. */
const NOTICEABLE = 1.02;
/** Offers in a proof, at most. */
const MOST_TERMS = 12;

export interface Offer {
  readonly label: string;
  readonly collective: string;
  /** Milliseconds of a step, if the program joined with it. */
  readonly step: Estimate;
  /** Bytes of the payload of a rank. */
  readonly payload: number;
  /** Whether the step would be shorter beyond doubt. */
  readonly isClear: boolean;
}

type Observed = Pick<WindowSummary, 'overlapped' | 'phases' | 'series' | 'wall'>;

/** Methods, each by its best collective, the shortest step first. */
export function offersOf(
  summary: Observed,
  account: StepAccount,
  { copies, offered, own }: ForecastRecord,
): readonly Offer[] {
  const all = offered
    .map((one) => offerOf(summary, account, { ...one, own, copies }))
    .toSorted((a, b) => a.step.mean - b.step.mean);
  const seen = new Set<string>();
  return all.filter(({ label }) => !seen.has(label) && seen.add(label));
}

function offerOf(
  summary: Observed,
  account: StepAccount,
  { copies, own, ...then }: OfferedExchange & Pick<ForecastRecord, 'copies' | 'own'>,
): Offer {
  // Copying is work of a rank, as compression is.
  const joined = unrecorded({ ...then, compress: then.compress + copies });
  const { step } = account;
  const foreseen = foreseenStep(summary, account, {
    now: unrecorded(own),
    then: joined,
  });
  return {
    label: then.label,
    collective: then.collective,
    step: foreseen.then,
    payload: then.payloadBytes,
    isClear: foreseen.then.high < step.mean,
  };
}

/** Statements for a program that communicates by itself. */
export function joinStatements(
  summary: Observed,
  account: StepAccount,
  { forecast, joinedCrowd }: Pick<VerdictContext, 'forecast' | 'joinedCrowd'>,
  offers: readonly Offer[],
): readonly Statement[] {
  const [best, ...others] = offers;
  if (forecast === undefined || best === undefined) return [ceiling(summary, true)];
  return [
    ceiling(summary, false),
    bestStatement(summary, account, forecast, [best, ...others], joinedCrowd),
  ];
}

function bestStatement(
  summary: Observed,
  account: StepAccount,
  forecast: ForecastRecord,
  offers: readonly [Offer, ...Offer[]],
  crowd: Crowd | undefined,
): Statement {
  const [best] = offers;
  const { step } = account;
  const factor = step.mean / Math.max(1e-9 * step.mean, best.step.mean);
  const pays = best.isClear && factor >= NOTICEABLE;
  const took = `a step would take about ${estimateText(best.step)} instead of ${formatDuration(step.mean)}`;
  return {
    text: pays
      ? `joined with ${titleOf(best.label)} (${best.collective}), ${took}: ${formatFactor(factor)} as fast${condition(crowd)}`
      : `do not compress here: with the best of ${offers.length} methods, ${titleOf(best.label)} (${best.collective}), ${took}, which is no clear gain`,
    evidence: 'phases',
    proof: proofOf(summary, account, forecast, offers),
    remedy: { id: 'join', gain: { step: best.step, factor, isBound: false } },
  };
}

/** A method as sentences have it: "none" would be no method at all. */
export const titleOf = (label: string): string =>
  label === DEFAULT_METHOD ? 'uncompressed' : label;

/** The cores that the agents beside the ranks need, where there are not enough. */
const condition = (crowd: Crowd | undefined): string =>
  crowd === undefined
    ? ''
    : ` with cores for the agents; here ${crowd.ranks} ranks and the agents beside them share ${crowd.cores}`;

function proofOf(
  { overlapped, phases }: Observed,
  { step }: StepAccount,
  { copies, isMeasured, own }: ForecastRecord,
  offers: readonly Offer[],
): Statement['proof'] {
  return {
    formula:
      'step − exchange as observed + exchange, compression and copies as predicted, corrected by the ratio of observed to predicted for the program’s own exchange; ' +
      `what a method does to the training is not in it, a run shows that; ranges are no confidence intervals: they span the prediction with and without the correction, and ${formatWholePercent(MARGIN)} more on both sides, ${formatWholePercent(REHEARSAL_MARGIN)} for compression`,
    terms: [
      term('step now', estimateText(step)),
      term('wait for its own communication', formatDuration(phases.wait)),
      term('hidden behind computing', formatDuration(overlapped)),
      term(
        'its own exchange, predicted',
        formatDuration(1000 * totalSeconds(unrecorded(own))),
      ),
      term('copying to Gradwire and back', formatDuration(copies)),
      term(
        'network',
        isMeasured ? 'measured' : 'not measured: usual constants are assumed',
      ),
      ...offers
        .slice(0, MOST_TERMS)
        .map(({ collective, label, payload, step: then }) =>
          term(
            label,
            `${estimateText(then)}, ${formatBytes(payload)} by ${collective}`,
          ),
        ),
    ],
  };
}

/** No exchange shortens a step by more than the wait: that has other causes, too, so this is a bound. */
function ceiling({ phases, wall }: Observed, invites: boolean): Statement {
  const { wait } = phases;
  const then = Math.max(1e-9 * wall, wall - wait);
  const factor = wall / then;
  const invitation = invites ? '; let it join to try' : '';
  return {
    text:
      factor < NOTICEABLE
        ? `compression would not speed up the step: the program waits ${formatDuration(wait)} for its own communication`
        : `compression can speed up the step by at most ${formatFactor(factor)}: the program waits ${formatDuration(wait)} for its own communication and for slower ranks${invitation}`,
    evidence: 'phases',
    proof: {
      formula: 'step ÷ (step − wait)',
      terms: [term('step', formatDuration(wall)), term('wait', formatDuration(wait))],
    },
    remedy: {
      id: 'payload',
      gain: { step: exactly(then), factor, isBound: true },
    },
  };
}

/** A record's prediction as the cost model has it, in seconds. */
const unrecorded = (predicted: PredictedExchange): ExchangeForecast =>
  scaledForecast(predicted, { time: 1 / 1000 });
