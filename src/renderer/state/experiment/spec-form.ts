/**
 * The experiment form, made from the spec's schema and the agent's catalogue: sections of
 * fields, each with its path in the spec. Field values are the spec's, or the typed text
 * if it is not (yet) a valid value: only the validator behind `checkSpec` judges, never
 * the form.
 */
import { z } from 'zod';
import type {
  Catalogue,
  MethodEntry,
  ParameterEntry,
} from '../../../shared/catalogue/catalogue.ts';
import {
  DEFAULT_METHOD,
  isAutomatic,
  PLAN_KEYS,
} from '../../../shared/plan/exchange-plan.ts';
import { experimentSpecSchema } from '../../../shared/spec/experiment-spec.ts';
import type { JsonValue } from '../../../shared/checks/json.ts';
import { isModelFile, modelName } from '../../../shared/spec/model-name.ts';
import { PROGRAM } from '../../../shared/spec/program-spec.ts';
import { LOCAL_NODE } from '../../../shared/machines/node-entry.ts';
import { PARALLELISM } from '../../../shared/spec/parallelism/parallelism.ts';
import { asksForServers } from './server-choice.ts';
import { isDraft, valueAt, withValue, type Draft } from './spec-draft.ts';

export type FieldKind =
  'number' | 'integer' | 'boolean' | 'choice' | 'several' | 'text' | 'json';

export interface FormChoice {
  readonly value: string;
  readonly label: string;
  /** Shown under the field while chosen; if several can be chosen, with each. */
  readonly hint?: string | undefined;
}

export interface FormField {
  /** Dotted, as in errors and `--set`: `workload.model`. */
  readonly path: string;
  readonly kind: FieldKind;
  readonly title: string;
  readonly description?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly choices?: readonly FormChoice[] | undefined;
  /** The default choice. */
  readonly usual?: string | undefined;
}

export interface FormSection {
  readonly title: string;
  readonly fields: readonly FormField[];
  /** Rarely used: folded while all of them have their usual values. */
  readonly more?: readonly FormField[];
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly default?: JsonValue;
  readonly type?: string;
  readonly title?: string;
  readonly folded?: boolean;
  readonly section?: string;
}

const schema = z.toJSONSchema(experimentSpecSchema, { io: 'input' }) as SchemaNode;

function schemaAt(path: string): SchemaNode {
  let node: SchemaNode | undefined = schema;
  for (const key of path.split('.')) node = node?.properties?.[key];
  if (node === undefined) throw new Error(`internal: no "${path}" in the spec`);
  return node;
}

const KINDS: Readonly<Record<string, FieldKind>> = {
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  array: 'json',
  object: 'json',
};

const kindOf = (node: SchemaNode): FieldKind =>
  node.enum === undefined ? (KINDS[node.type ?? ''] ?? 'text') : 'choice';

/** A field for a key that has a title. */
function field(path: string, choices?: readonly FormChoice[]): FormField {
  const node = schemaAt(path);
  const { default: usual, description, maximum, minimum, title } = node;
  if (title === undefined) throw new Error(`internal: "${path}" has no title`);
  const kind =
    choices === undefined ? kindOf(node) : node.type === 'array' ? 'several' : 'choice';
  return {
    path,
    kind,
    title,
    description,
    minimum,
    maximum,
    choices: kind === 'choice' ? (choices ?? plainChoices(node.enum)) : choices,
    ...(kind === 'choice' && typeof usual === 'string' ? { usual } : {}),
  };
}

/**
 * A section with all titled keys of a part of the spec, in its order.
 * @param choices of keys that take names from the catalogue
 */
function sectionOf(
  title: string,
  part: string,
  choices: Readonly<Record<string, readonly FormChoice[]>> = {},
): FormSection {
  const node = part === '' ? schema : schemaAt(part);
  const keys = Object.entries(node.properties ?? {}).filter(
    ([, key]) => key.title !== undefined && (part !== '' || key.section === title),
  );
  const fields = (folded: boolean): readonly FormField[] =>
    keys
      .filter(([, key]) => (key.folded ?? false) === folded)
      .map(([key]) => field(part === '' ? key : `${part}.${key}`, choices[key]));
  return { title, fields: fields(false), more: fields(true) };
}

/**
 * The typed text as a value: a number or JSON if the field takes it and the text is one,
 * otherwise the text itself, which the validator then names. Empty: absent.
 */
export function readField(kind: FieldKind, text: string): JsonValue | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (kind === 'number' || kind === 'integer') {
    const value = Number(trimmed);
    // As text, the error shows what was typed: JSON has no other numbers.
    return Number.isFinite(value) ? value : trimmed;
  }
  if (kind === 'json') return parsed(trimmed) ?? trimmed;
  return text;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not yet JSON: the validator reports what it should be.
    return undefined;
  }
}

/** Keys of a spec whose values another method does not take over. */
const BY_METHOD: ReadonlySet<string> = new Set([
  'method',
  'layers',
  'quantizeSums',
  'residualUnits',
]);

/**
 * Another method: its own parameters with their defaults, and a collective that takes
 * its payload. Parameters that both methods have keep their value; what depends on the method
 * (layers, quantised sums, units of the residual) or by a collective that does not take it is
 * left behind.
 */
export function withMethod(draft: Draft, method: MethodEntry): Draft {
  const old = isDraft(draft['exchange']) ? draft['exchange'] : {};
  const exchange: Record<string, JsonValue> = { method: method.id };
  for (const key of PLAN_KEYS) {
    const value = old[key];
    if (BY_METHOD.has(key) || value === undefined) continue;
    exchange[key] = value;
  }
  if (!accepts(method, exchange['collective'])) {
    exchange['collective'] = 'auto';
    delete exchange['servers'];
  }
  let result: Draft = { ...draft, exchange };
  for (const { key, default: usual } of method.parameters) {
    const value = valueAt(old, key) ?? usual;
    if (value !== undefined) result = withValue(result, `exchange.${key}`, value);
  }
  return result;
}

function accepts(method: MethodEntry, collective: unknown): boolean {
  return (
    isAutomatic(String(collective)) || method.collectives.includes(String(collective))
  );
}

export function collectiveChoices(
  catalogue: Catalogue,
  method: MethodEntry | undefined,
): readonly FormChoice[] {
  const taken = catalogue.collectives.filter(
    (entry) => method === undefined || method.collectives.includes(entry.id),
  );
  return [
    { value: 'auto', label: 'auto', hint: 'The cheapest predicted by the cost model' },
    {
      value: 'adaptive',
      label: 'adaptive',
      hint: 'The cheapest by measured times, so two runs may choose differently',
    },
    ...taken.map((entry) => ({
      value: entry.id,
      label: entry.id,
      hint: entry.summary,
    })),
  ];
}

export function parameterField(parameter: ParameterEntry, prefix: string): FormField {
  return {
    path: prefix + parameter.key,
    kind: parameter.type,
    title: parameter.title,
    description: parameter.description,
    minimum: parameter.minimum,
    maximum: parameter.maximum,
    choices: parameter.choices?.map((choice) => ({ value: choice, label: choice })),
  };
}

/** Tensors with their own method, as JSON. */
export function layersField(path: string): FormField {
  const { description = '' } = schemaAt('exchange.layers');
  const example = `[{"match": "*.bias", "method": "${DEFAULT_METHOD}"}]`;
  return {
    path,
    kind: 'json',
    title: 'Layers',
    description: `${description}, such as ${example}`,
  };
}

export const serversField = field('exchange.servers');

/** The agent's models, and the user's own file if the draft names one. */
function modelChoices(catalogue: Catalogue, draft: Draft): readonly FormChoice[] {
  const given = valueAt(draft, 'workload.model');
  const ours = entryChoices(catalogue.models);
  if (typeof given !== 'string' || !isModelFile(given)) return ours;
  const own = { value: given, label: modelName(given), hint: `Your file ${given}` };
  return [...ours, own];
}

/** Links of an emulated network that differ, as JSON. */
function pairsField(): FormField {
  const { description = '', ...pairs } = field('network.pairs');
  const example = '[{"between": ["a", "b"], "bandwidth": "100 Mbit/s"}]';
  return { ...pairs, description: `${description}, such as ${example}` };
}

/**
 * The form for a draft; the fields depend on its current choices.
 * @param machines that are available
 */
export function formSections(
  catalogue: Catalogue,
  draft: Draft,
  machines: readonly FormChoice[] = [{ value: LOCAL_NODE, label: LOCAL_NODE }],
): FormSection[] {
  const dataset = catalogue.datasets.find(
    (entry) => entry.id === valueAt(draft, 'workload.dataset'),
  );
  const method = catalogue.methods.find(
    (entry) => entry.id === (valueAt(draft, 'exchange.method') ?? DEFAULT_METHOD),
  );
  const exchange = isDraft(draft['exchange']) ? draft['exchange'] : {};
  const isOwn =
    valueAt(draft, 'workload.model') === PROGRAM ||
    valueAt(draft, 'workload.command') !== undefined;
  return [
    {
      title: 'Workload',
      fields: [
        field('name'),
        field('workload.model', modelChoices(catalogue, draft)),
        ...(isOwn ? [] : [field('workload.dataset', entryChoices(catalogue.datasets))]),
        ...(dataset?.needsData === true || valueAt(draft, 'workload.data') !== undefined
          ? [field('workload.data')]
          : []),
        ...(dataset?.hasFeatures === true ||
        valueAt(draft, 'workload.features') !== undefined
          ? [field('workload.features')]
          : []),
        ...(dataset?.takesColumns === true ||
        valueAt(draft, 'workload.columns') !== undefined
          ? [
              field('workload.columns.label'),
              field('workload.columns.numeric'),
              field('workload.columns.categorical'),
            ]
          : []),
        ...(valueAt(draft, 'workload.model') === 'synthetic-gradient' ||
        valueAt(draft, 'workload.synthetic') !== undefined
          ? [
              field('workload.synthetic.profile'),
              field('workload.synthetic.computeMs'),
              field('workload.synthetic.overlap'),
            ]
          : []),
        ...(isOwn
          ? [
              field('workload.command'),
              field('workload.workdir'),
              field('workload.setup'),
              field('workload.env'),
              field('workload.observe'),
            ]
          : [field('workload.batchPerRank')]),
      ],
    },
    {
      title: 'World',
      fields: [
        ...(machines.length > 1 ? [field('world.nodes', machines)] : []),
        field('world.ranks'),
        ...(isOwn ? [] : [field('backend')]),
      ],
      more: [field('world.ports')],
    },
    ...(isOwn ? [] : [parallelismSection(draft)]),
    {
      title: 'Emulated network',
      fields: [field('network.bandwidth'), field('network.latency')],
      ...(machines.length > 1 || valueAt(draft, 'network.pairs') !== undefined
        ? { more: [pairsField()] }
        : {}),
    },
    {
      title: 'Exchange',
      fields: [
        field('exchange.method', entryChoices(catalogue.methods)),
        ...(method?.parameters ?? []).map((entry) =>
          parameterField(entry, 'exchange.'),
        ),
        field('exchange.collective', collectiveChoices(catalogue, method)),
        ...(asksForServers(catalogue, exchange) ? [serversField] : []),
        layersField('exchange.layers'),
        ...(valueAt(draft, 'parallelism.pipeline') === undefined
          ? []
          : activationFields('exchange.', exchange)),
      ],
    },
    ...(isOwn
      ? []
      : [
          sectionOf('Optimiser', 'optimizer', {
            kind: plainChoices(catalogue.optimizers),
          }),
        ]),
    sectionOf('Length', ''),
  ];
}

/**
 * The compression between stages of a pipeline.
 * @param plan the value of `exchange`
 */
export function activationFields(
  path: '' | 'exchange.',
  plan: Draft,
): readonly FormField[] {
  const at = 'exchange.activations';
  const choices = plainChoices(schemaAt(`${at}.method`).enum);
  const method: FormField = {
    ...field(`${at}.method`, [...choices]),
    path: `${path}activations.method`,
    usual: 'none',
  };
  const chosen = valueAt(plan, 'activations.method') ?? 'none';
  if (chosen === 'none') return [method];
  const sparsity = field(`${at}.sparsity`);
  return [method, { ...sparsity, path: `${path}activations.sparsity` }];
}

/** Fields of one kind are shown if it is chosen, or if they have values. */
function parallelismSection(draft: Draft): FormSection {
  const definitions = [...PARALLELISM.values()];
  const kinds = definitions.map(({ hint, id }) => ({ value: id, label: id, hint }));
  const kind = valueAt(draft, 'parallelism.kind');
  const ofKinds = definitions.flatMap(({ id, keys }) =>
    Object.keys(keys)
      .flatMap((key) => titled(`parallelism.${key}`))
      .filter(({ path }) => kind === id || valueAt(draft, path) !== undefined),
  );
  return {
    title: 'Parallelism',
    fields: [field('parallelism.kind', kinds), ...ofKinds],
    more: [
      field('parallelism.pipeline.splitAfter'),
      ...(valueAt(draft, 'parallelism.pipeline') === undefined
        ? []
        : [field('parallelism.pipeline.microBatches')]),
    ],
  };
}

/** Fields of a key, or of the keys in it: those with a title. */
function titled(path: string): readonly FormField[] {
  const { properties, title } = schemaAt(path);
  if (title !== undefined) return [field(path)];
  return Object.keys(properties ?? {}).flatMap((key) => titled(`${path}.${key}`));
}

/** Whether a folded field needs attention: its value is not the usual one. */
export function isUnusual(draft: Draft, { path }: FormField): boolean {
  const value = valueAt(draft, path);
  return value !== undefined && value !== schemaAt(path).default;
}

function entryChoices(
  entries: readonly { id: string; summary: string }[],
): readonly FormChoice[] {
  return entries.map((entry) => ({
    value: entry.id,
    label: entry.id,
    hint: entry.summary,
  }));
}

function plainChoices(values: readonly string[] | undefined): readonly FormChoice[] {
  return (values ?? []).map((value) => ({ value, label: value }));
}
