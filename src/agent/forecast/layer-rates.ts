/**
 * ScaleCom's guidance on how much to compress each layer, by its multiply-adds per element
 * of its gradient: 25 times above 196, 50 times up to 196, 400 times up to 128. Counted for
 * one sample's forward pass: the output pixels for a convolution, 1 for a dense layer, the
 * steps for a recurrent one. The rates are for 32 samples per rank, or 4,500 predictions for
 * models of tokens; with more, a rank compresses less, in proportion.
 *
 * Source: ScaleCom (Chen et al., NeurIPS 2020), section 4; for the interpretation see
 * decision 057.
 */
import { inputError } from '../../shared/errors.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import type { JsonObject } from '../../shared/json.ts';
import { validateLaunch } from '../launch/validate-launch.ts';
import { countWork, type CountedWork } from '../training/inspect/count-work.ts';
import { countOwnWork } from '../training/inspect/inspect-model.ts';
import { inspectSpec } from '../training/inspect/inspect-spec.ts';
import { tensorLength } from '../training/models/model.ts';
import { ownSource } from '../training/models/model-file.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';
import { findWorkload } from '../training/workload.ts';
import { layerPatterns } from './layer-patterns.ts';

/** The upper bound of multiply-adds per element, and the compression rate. */
const GUIDANCE = [
  { upTo: 128, rate: 400 },
  { upTo: 196, rate: 50 },
  { upTo: Infinity, rate: 25 },
] as const;

/** A rank's work per step for which the guidance applies unchanged. */
const SAMPLES = 32;
const PREDICTIONS = 4_500;

export interface LayerRate {
  readonly name: string;
  readonly elements: number;
  /** Multiply-adds with it, of one sample's forward pass. */
  readonly multiplyAdds: number;
  /** Those per element of its gradient. */
  readonly perElement: number;
  /** How many times fewer entries are sent; undefined: all are sent. */
  readonly rate: number | undefined;
}

export interface LayerRates {
  readonly layers: readonly LayerRate[];
  /** Multiply-adds that belong to no tensor: products of activations. */
  readonly otherMultiplyAdds: number;
  /** How many times fewer entries are sent over all tensors. */
  readonly overall: number;
  /** `exchange` with these rates; keeps the spec's other keys. */
  readonly exchange: JsonObject;
}

/** @throws GradwireError if the spec is invalid; `RATES_UNCOUNTED` */
export async function layerRates(raw: ExperimentSpec): Promise<LayerRates> {
  const known = await inspectSpec(raw);
  const { spec } = validateLaunch(raw, [], known);
  const { workload, optimizer } = spec;
  if (isSynthetic(workload)) throw uncounted(`${workload.model} has no layers`);
  const names = { ...workload, optimizer: optimizer.kind };
  const { inputs, tensors } = findWorkload(names, known.model).model;
  const varying = Object.entries(inputs).find(([, { shape }]) => shape.includes('any'));
  if (varying !== undefined) {
    throw uncounted(`${workload.model} takes samples of any length ("${varying[0]}")`);
  }
  const source = ownSource(workload);
  const work =
    source === undefined
      ? await countWork(findWorkload(names).model)
      : await countOwnWork(source);
  const layers = tensors.map((tensor, index): LayerRate => {
    const elements = tensorLength(tensor);
    const multiplyAdds = work.byTensor[index]!;
    const perElement = multiplyAdds / elements;
    const rate =
      multiplyAdds === 0 ? undefined : rateOf(perElement, loadOf(spec, work));
    return { name: tensor.name, elements, multiplyAdds, perElement, rate };
  });
  const rates = layers.flatMap(({ rate }) => rate ?? []);
  if (rates.length === 0)
    throw uncounted(
      `none of ${workload.model}’s tensors is used in a matrix product or convolution`,
    );
  const exchange = exchangeOf(raw, layers);
  // Reports now what such a run would be refused for.
  validateLaunch({ ...raw, exchange }, [], known);
  const count = layers.reduce((sum, { elements }) => sum + elements, 0);
  const sent = layers.reduce((sum, { elements, rate = 1 }) => sum + elements / rate, 0);
  return {
    layers,
    otherMultiplyAdds: work.others,
    overall: count / sent,
    exchange,
  };
}

/** @param load a rank's work per step, relative to the guidance's */
export function rateOf(perElement: number, load: number): number {
  const { rate } = GUIDANCE.find(({ upTo }) => perElement <= upTo)!;
  return Math.max(1, rate / Math.max(1, load));
}

function loadOf(
  { workload: { batchPerRank } }: ExperimentSpec,
  { predictions }: CountedWork,
): number {
  return predictions === 1
    ? batchPerRank / SAMPLES
    : (batchPerRank * predictions) / PREDICTIONS;
}

/** The rate with the most elements becomes the plan's own; others become layers. */
function exchangeOf(
  { exchange }: ExperimentSpec,
  layers: readonly LayerRate[],
): JsonObject {
  const elementsBy = new Map<number, number>();
  for (const { elements, rate } of layers) {
    if (rate !== undefined)
      elementsBy.set(rate, (elementsBy.get(rate) ?? 0) + elements);
  }
  const [[standard]] = [...elementsBy].toSorted((a, b) => b[1] - a[1]) as [
    [number, number],
  ];
  const patterns = layerPatterns(
    layers.map(({ name, rate }) => ({ name, choice: rate })),
    standard as number | undefined,
  );
  // Parameters of another method are dropped.
  const own = exchange.method === 'scalecom' ? exchange : {};
  return {
    ...(own as JsonObject),
    method: 'scalecom',
    ratio: ratioOf(standard),
    layers: patterns.map(({ match, choice }) =>
      choice === undefined
        ? { match, method: 'none' }
        : { match, ratio: ratioOf(choice) },
    ),
  };
}

/** Rounded to six digits. */
const ratioOf = (rate: number): number => Number((1 / rate).toPrecision(6));

function uncounted(why: string): Error {
  return inputError(
    'RATES_UNCOUNTED',
    `rates are derived from multiply-adds, but ${why}`,
    {
      place: 'workload.model',
      next: 'Choose the rates yourself, with exchange.ratio and exchange.layers.',
    },
  );
}
