/**
 * Facts about entries of the catalogue in words: what `gradwire methods` and its like print, what
 * docs/reference has, and what a form shows beside a choice. Pure: an entry in, pairs of a heading and its text out.
 */
import type {
  CollectiveEntry,
  DatasetEntry,
  MethodEntry,
  ModelEntry,
  OptimizerEntry,
  ParameterEntry,
} from './catalogue.ts';
import { formatCount } from '../words/units.ts';

export type Fact = readonly [heading: string, text: string];

const known = (heading: string, text: string | undefined): readonly Fact[] =>
  text === undefined || text === '' ? [] : [[heading, text]];

export function methodFacts(method: MethodEntry): readonly Fact[] {
  const { collectives, payload, reducible, replicas, residual, residualOf } = method;
  const { residualIf } = method;
  const combined = reducible
    ? `, summed by ${collectives.join(', ')}`
    : ', gathered by every rank from all others';
  const kept = residualOf === 'velocity' ? 'sums of velocities' : 'sums of gradients';
  const asked = residualIf === undefined ? '' : `, if ${residualIf} is true`;
  return [
    ['Payload', `${payload}${combined}`],
    ['Residual', residual ? `kept by error feedback: ${kept}${asked}` : 'none'],
    [
      'Replicas',
      replicas === 'identical'
        ? 'identical, bit for bit'
        : 'drift apart between averages',
    ],
    ...known('Small tensors', smallTensors(method)),
    ...known('Where it pays', method.suits),
    ['Source', method.source],
  ];
}

const smallTensors = ({ apartBelow }: MethodEntry): string | undefined =>
  apartBelow === undefined ? undefined : `sent dense below ${apartBelow}`;

export const collectiveFacts = (collective: CollectiveEntry): readonly Fact[] => [
  ['Payloads', collective.takes.join(', ')],
  ...known('Cost', collective.formula),
  ...known('Where it is fastest', collective.suits),
  ['Source', collective.source],
];

/** Symbols of the costs, for readers who have not read the papers. */
export const COST_SYMBOLS: readonly Fact[] = [
  ['P, M, L', 'ranks, machines, ranks on a machine; S: lanes of a machine, or servers'],
  ['N, k, K', 'elements of the vector, entries that a rank sends, entries of the sum'],
  ['α, β, γ', 'seconds for a message, for a byte, and to add an element'],
  ['α′, β′', 'the same between machines'],
];

export const modelFacts = ({ parameterCount }: ModelEntry): readonly Fact[] => [
  [
    'Parameters',
    parameterCount === undefined
      ? 'as the data or the spec say'
      : formatCount(parameterCount),
  ],
];

export const datasetFacts = (dataset: DatasetEntry): readonly Fact[] => [
  ['Files', dataset.needsData ? 'in workload.data' : 'none: it is generated'],
  ...known('Features', dataset.hasFeatures === true ? 'workload.features' : undefined),
  ...known('Samples', dataset.takesSamples === true ? 'workload.samples' : undefined),
  ...known('Columns', dataset.takesColumns === true ? 'workload.columns' : undefined),
];

export const optimizerFacts = (optimizer: OptimizerEntry): readonly Fact[] => [
  ['Options', optimizer.options.join(', ')],
  [
    'Momentum of a method',
    optimizer.leavesMomentum ? 'can take its place' : 'is refused beside it',
  ],
  [
    'Tables',
    optimizer.trainsTables
      ? 'it updates the rows in use'
      : 'it cannot train models with them',
  ],
  ['Source', optimizer.source],
];

/** A parameter's type and bounds: `0 … 1`, `fast | exact`, `≥ 1`. */
function rangeText(parameter: ParameterEntry): string {
  const { choices, maximum, minimum, type } = parameter;
  if (choices !== undefined) return choices.join(', ');
  if (type === 'boolean') return 'true, false';
  if (minimum !== undefined && maximum !== undefined) return `${minimum} … ${maximum}`;
  if (minimum !== undefined) return `${minimum} or more`;
  if (maximum !== undefined) return `up to ${maximum}`;
  return type;
}

/** A parameter as a row: key, default, range, meaning. */
export const parameterRow = (parameter: ParameterEntry): readonly string[] => [
  parameter.key,
  parameter.default === undefined ? '–' : JSON.stringify(parameter.default),
  rangeText(parameter),
  parameter.description,
];
