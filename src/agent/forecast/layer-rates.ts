/**
 * A method's guidance on how much to compress each layer (`ratesByLayer`), by its
 * multiply-adds per element of its gradient. Counted for one sample's forward pass: the
 * output pixels for a convolution, 1 for a dense layer, the steps for a recurrent one. Of a
 * rank with more work per step than the guidance assumes, a layer is compressed less, in
 * proportion.
 */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { inputError } from '../../shared/errors/errors.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import type { LayerGuidance, MethodDefinition } from '../methods/method.ts';
import { findMethod, methods, uncompressed } from '../methods/registry.ts';
import { validateLaunch } from '../launch/validate-launch.ts';
import {
  countMultiplyAdds,
  type MultiplyAdds,
} from '../training/inspect/count-multiply-adds.ts';
import { countOwnWork } from '../training/inspect/inspect-model.ts';
import { inspectSpec } from '../training/inspect/inspect-spec.ts';
import { tensorLength } from '../training/models/model.ts';
import { ownSource } from '../training/models/model-file.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';
import { findWorkload } from '../training/find-workload.ts';
import { layerPatterns } from './layer-patterns.ts';

export interface LayerRate {
  readonly name: string;
  readonly elements: number;
  /** Multiply-adds with it, of one sample's forward pass. */
  readonly multiplyAdds: number;
  /** Multiply-adds per element of its gradient. */
  readonly perElement: number;
  /** Factor by which fewer entries are sent; undefined: all are sent. */
  readonly rate: number | undefined;
}

export interface LayerRates {
  /** The title of the method whose guidance it is. */
  readonly method: string;
  readonly layers: readonly LayerRate[];
  /** Multiply-adds that belong to no tensor: products of activations. */
  readonly otherMultiplyAdds: number;
  /** Factor by which fewer entries are sent over all tensors. */
  readonly overall: number;
  /** `exchange` with these rates; keeps the spec's other keys. */
  readonly exchange: JsonObject;
}

const idSchema = z.object({ id: z.string() });

/**
 * @param id the method's
 * @throws GradwireError if the spec is invalid; `OPTION_INVALID`, `METHOD_UNKNOWN`, `RATES_UNKNOWN`,
 * `RATES_UNCOUNTED`
 */
export async function layerRates(raw: ExperimentSpec, id: string): Promise<LayerRates> {
  checkedOptions(idSchema, { id }, 'layerRates');
  const guided = findGuided(id);
  const parsed = parseExperimentSpec(raw);
  const { guidance } = guided;
  const known = await inspectSpec(parsed);
  const { spec } = validateLaunch(parsed, [], known);
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
      ? await countMultiplyAdds(findWorkload(names).model)
      : await countOwnWork(source);
  const layers = tensors.map((tensor, index): LayerRate => {
    const elements = tensorLength(tensor);
    const multiplyAdds = work.byTensor[index]!;
    const perElement = multiplyAdds / elements;
    const rate =
      multiplyAdds === 0
        ? undefined
        : rateOf(guidance, perElement, loadOf(guidance, spec, work));
    return { name: tensor.name, elements, multiplyAdds, perElement, rate };
  });
  const rates = layers.flatMap(({ rate }) => rate ?? []);
  if (rates.length === 0)
    throw uncounted(
      `none of ${workload.model}’s tensors is used in a matrix product or convolution`,
    );
  const exchange = exchangeOf(raw, layers, guided);
  // Reports now what such a run would be refused for.
  validateLaunch(parseExperimentSpec({ ...raw, exchange }), [], known);
  const count = layers.reduce((sum, { elements }) => sum + elements, 0);
  const sent = layers.reduce((sum, { elements, rate = 1 }) => sum + elements / rate, 0);
  return {
    method: guided.method.title,
    layers,
    otherMultiplyAdds: work.others,
    overall: count / sent,
    exchange,
  };
}

interface Guided {
  readonly method: MethodDefinition;
  readonly guidance: LayerGuidance;
}

/** @throws GradwireError `METHOD_UNKNOWN`, `RATES_UNKNOWN` */
function findGuided(id: string): Guided {
  const method = findMethod(id);
  const guidance = method.ratesByLayer;
  if (guidance !== undefined) return { method, guidance };
  const others = [...methods.values()].filter(({ ratesByLayer }) => ratesByLayer);
  throw inputError('RATES_UNKNOWN', `no rates by layer are known for ${id}`, {
    place: '--rates',
    next: `Allowed choices are ${others.map((other) => other.id).join(', ')}.`,
  });
}

/** @param load a rank's work per step, relative to the guidance's */
export function rateOf(
  { rates }: Pick<LayerGuidance, 'rates'>,
  perElement: number,
  load: number,
): number {
  const { rate } = rates.find(({ upTo }) => perElement <= upTo)!;
  return Math.max(1, rate / Math.max(1, load));
}

function loadOf(
  guidance: LayerGuidance,
  { workload: { batchPerRank } }: ExperimentSpec,
  { predictions }: MultiplyAdds,
): number {
  return predictions === 1
    ? batchPerRank / guidance.samples
    : (batchPerRank * predictions) / guidance.predictions;
}

/** The rate with the most elements becomes the plan's own; others become layers. */
function exchangeOf(
  { exchange }: ExperimentSpec,
  layers: readonly LayerRate[],
  { method, guidance: { share } }: Guided,
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
  const own = exchange.method === method.id ? exchange : {};
  return {
    ...(own as JsonObject),
    method: method.id,
    [share]: ratioOf(standard),
    layers: patterns.map(({ match, choice }) =>
      choice === undefined
        ? { match, method: uncompressed.id }
        : { match, [share]: ratioOf(choice) },
    ),
  };
}

/** Ratio of entries that are sent, rounded to six digits. */
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
