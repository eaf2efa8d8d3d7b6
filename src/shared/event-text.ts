/** A run's events in words. */
import { backendText } from './backend-text.ts';
import { capitalized } from './capitalized.ts';
import { describeEmulated } from './emulated-network.ts';
import { describePlan, describeSwitch } from './exchange-plan.ts';
import { describeMetric, formatMetric } from './metric.ts';
import {
  formatBytes,
  formatCount,
  formatDateTime,
  formatDuration,
  formatPercent,
  formatQuantity,
} from './units.ts';
import type {
  BucketsRecord,
  EvaluationRecord,
  SimilarityRecord,
} from './measure-records.ts';
import type { DoneRecord, RunEvent, StartedRecord } from './records.ts';
import { describeAllocated, reasonText } from './queue-text.ts';
import { HERE } from './rank-places.ts';
import { describeState } from './switched-state.ts';
import { describeThinned } from './thinned-text.ts';

export interface EventText {
  readonly tone: 'plain' | 'switch' | 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
  /** The iteration it belongs to, if any. */
  readonly iteration?: number;
}

const RESIDUALS = {
  none: '',
  kept: ' Residual kept.',
  flushed: ' Residual flushed with one dense exchange.',
  dropped: ' Residual dropped.',
} as const;

/**
 * @param rankName names a rank; default: its number
 * @param machine names a machine; default: as records have it, and not where one has all ranks
 */
export function eventText(
  event: RunEvent,
  rankName: (rank: number) => string = (rank) => `rank ${rank}`,
  machine?: (node: string) => string,
): EventText {
  switch (event.type) {
    case 'started':
      return {
        tone: 'plain',
        title: 'Started',
        text: `${placesText(event, machine)} on ${backendText(event)}, ${formatCount(event.parameters)} parameters, ${describePlan(event.plan)}${network(event)}`,
      };
    case 'switch':
      return {
        tone: 'switch',
        title: 'Switch',
        iteration: event.fence,
        text:
          `${describeSwitch(event.from, event.to)}.` +
          RESIDUALS[event.residual] +
          sentence(describeState(event)) +
          (event.resynchronized ? ' Weights averaged.' : ''),
      };
    case 'evaluation':
      return {
        tone: 'plain',
        title: 'Evaluation',
        iteration: event.iteration,
        text:
          evaluationText(event) +
          ` on ${formatCount(event.samples)} samples in ${formatDuration(event.wall)}`,
      };
    case 'divergence':
      return {
        tone: 'warn',
        title: 'Replicas drift',
        iteration: event.iteration,
        text: `farthest rank ${formatPercent(event.value)} from the mean weights`,
      };
    case 'comparison':
      return {
        tone: 'plain',
        title: 'Compression error',
        iteration: event.iteration,
        text: `${formatPercent(event.error)} of the uncompressed gradient, cosine ${formatQuantity(event.cosine)}`,
      };
    case 'buckets':
      return {
        tone: 'plain',
        title: 'Buckets',
        iteration: event.iteration,
        text: event.buckets.map(bucketText).join('; '),
      };
    case 'similarity':
      return {
        tone: 'plain',
        title: 'Similarity of ranks',
        iteration: event.iteration,
        text: event.buckets.map(similarityText).join('; '),
      };
    case 'notice':
      return {
        tone: event.level === 'warning' ? 'warn' : 'plain',
        title:
          event.rank === undefined ? 'Notice' : `Notice from ${rankName(event.rank)}`,
        text: event.message,
      };
    case 'checkpoint':
      return {
        tone: 'plain',
        title: 'Checkpoint',
        iteration: event.iteration,
        text: `${formatBytes(event.bytes)} at ${event.node} in ${formatDuration(event.wall)}`,
      };
    case 'queued':
      return {
        tone: 'plain',
        title: 'Queued',
        text:
          `job ${event.job} is queued at ${event.node}` +
          (event.reason === undefined ? '' : `: ${reasonText(event.reason)}`) +
          (event.expected === undefined
            ? ''
            : `, expected to start ${formatDateTime(event.expected)}`),
      };
    case 'allocated':
      return {
        tone: 'good',
        title: 'Nodes allocated',
        text: describeAllocated(event),
      };
    case 'interrupted':
      return {
        tone: 'bad',
        title: 'Interrupted',
        text: `at ${event.node}: ${event.error.message}. The run will resume from its last checkpoint.`,
      };
    case 'restarted':
      return {
        tone: 'good',
        title: 'Restarted',
        iteration: event.iteration,
        text:
          `the ranks on ${machine?.(event.node) ?? event.node} ` +
          (event.iteration === 0
            ? 'start again from the beginning'
            : `resume from iteration ${event.iteration}`),
      };
    case 'thinned':
      return {
        tone: 'warn',
        title: 'Records thinned',
        ...(event.iterations === undefined ? {} : { iteration: event.iterations.from }),
        text: describeThinned(event),
      };
    case 'finished':
      return {
        tone: 'plain',
        title: 'Machine finished',
        text: `all ranks on ${event.node} have finished`,
      };
    case 'done':
      return {
        tone: 'good',
        title: event.reason === 'completed' ? 'Completed' : 'Stopped',
        iteration: event.iterations,
        text: [
          ...(event.loss === undefined ? [] : [`loss ${formatQuantity(event.loss)}`]),
          ...(event.metric === undefined
            ? []
            : [describeMetric(event.metric, event.metricKind) + replicaText(event)]),
          event.consistent
            ? 'all ranks ended with identical weights'
            : 'ranks ended with different weights',
        ].join(', '),
      };
    case 'failed':
      return { tone: 'bad', title: 'Failed', text: event.error.message };
    default:
      return event satisfies never;
  }
}

function evaluationText({ averaged, metricKind, ...own }: EvaluationRecord): string {
  const text = ({ loss, metric }: NonNullable<EvaluationRecord['averaged']>): string =>
    `${describeMetric(metric, metricKind)}, loss ${formatQuantity(loss)}`;
  if (averaged === undefined) return text(own);
  return `replicas: ${text(own)}; averaged model: ${text(averaged)};`;
}

/** The replicas' metric, if the final model is their average. */
export function replicaText({ metricKind, replicaMetric }: DoneRecord): string {
  if (replicaMetric === undefined) return '';
  return ` (averaged model; replicas ${formatMetric(replicaMetric, metricKind)})`;
}

/**
 * `4 ranks`, `4 ranks at box`, or `ranks 2, 3 of 4 at box` if this record has only some of
 * them.
 */
function placesText(
  { ranks, processes }: StartedRecord,
  machine?: (node: string) => string,
): string {
  const names = processes.map(({ node }) => machine?.(node) ?? node);
  const places = [...new Set(names)].join(', ') || 'a machine';
  if (processes.length === ranks) {
    const isKnown = machine !== undefined && places !== HERE;
    return `${ranks} ranks${isKnown ? ` at ${places}` : ''}`;
  }
  const here = processes.map(({ rank }) => rank).join(', ');
  return `ranks ${here} of ${ranks} at ${places}`;
}

const sentence = (words: string | undefined): string =>
  words === undefined ? '' : ` ${capitalized(words)}.`;

const network = ({ emulated }: StartedRecord): string =>
  emulated === undefined ? '' : `, network ${describeEmulated(emulated)}`;

/** `layer1.weight … layer3.bias` */
function bucketName(tensors: readonly string[]): string {
  const [first = ''] = tensors;
  return tensors.length > 1 ? `${first} … ${tensors.at(-1)}` : first;
}

/** `layer1.weight … layer3.bias: top-k, 1 % sent, fill-in 1.8, residual norm 3.2` */
function bucketText(bucket: BucketsRecord['buckets'][number]): string {
  const { density, fillIn, method, residualNorm, tensors, thresholds = [] } = bucket;
  const stray = thresholds
    .map(({ selected, wanted }) => selected / wanted)
    .toSorted((a, b) => Math.abs(Math.log(b)) - Math.abs(Math.log(a)))[0];
  const facts = [
    method,
    ...(density === undefined ? [] : [`${formatPercent(density)} sent`]),
    ...(fillIn === undefined ? [] : [`fill-in ${formatQuantity(fillIn)}`]),
    ...(residualNorm === undefined
      ? []
      : [`residual norm ${formatQuantity(residualNorm)}`]),
    ...(stray === undefined
      ? []
      : [
          `the most drifted threshold selects ${formatQuantity(stray)} × the target count`,
        ]),
  ];
  return `${bucketName(tensors)}: ${facts.join(', ')}`;
}

/** `layer1.weight … layer3.bias: cosine distance of residuals 0.2, …` */
function similarityText(bucket: SimilarityRecord['buckets'][number]): string {
  const { tensors, ...observed } = bucket;
  const name = bucketName(tensors);
  const { residualDistance, hammingDistance, rankCorrelation, contraction } = observed;
  const facts = [
    ['cosine distance of residuals', residualDistance],
    ['Hamming distance', hammingDistance],
    ['rank correlation', rankCorrelation],
    ['contraction', contraction],
  ] as const;
  const known = facts.flatMap(([what, value]) =>
    value === undefined ? [] : [`${what} ${value.toFixed(3)}`],
  );
  return `${name}: ${known.length === 0 ? 'nothing to compare' : known.join(', ')}`;
}
