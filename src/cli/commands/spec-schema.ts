/**
 * The JSON Schema of a spec for editors. The schema that checks specs leaves names to the agent,
 * which has them; here its catalogue fills them in, with every method's own parameters.
 */
import { z } from 'zod';
import type { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { experimentSpecSchema } from '../../shared/spec/experiment-spec.ts';
import { exclusionText, needsText } from '../../shared/spec/key-rules.ts';

type Schema = z.core.JSONSchema.BaseSchema;
type Edit = (schema: Schema) => void;

export interface SpecNames {
  readonly catalogue: Catalogue;
  /** Names of networks for synthetic gradients. */
  readonly profiles: readonly string[];
  /** The schema of each method's parameters, by the method's id. */
  readonly parameters: ReadonlyMap<string, z.ZodObject>;
}

export function specSchema({ catalogue, parameters, profiles }: SpecNames): Schema {
  const methods = idsOf(catalogue.methods);
  const edits: Readonly<Record<string, Edit>> = {
    'workload.properties.command': commandOrWords,
    workload: withImpliedKeys,
    'workload.properties.model': (schema) => {
      schema.anyOf = [
        { enum: idsOf(catalogue.models) },
        {
          type: 'string',
          pattern: String.raw`[/\\]|\.[cm]?[jt]s$`,
          description: 'The path of a model’s file',
        },
      ];
    },
    'workload.properties.dataset': oneOf(idsOf(catalogue.datasets)),
    'workload.properties.synthetic.properties.profile': oneOf(profiles),
    'optimizer.properties.kind': oneOf(catalogue.optimizers),
    'exchange.properties.method': oneOf(methods),
    'exchange.properties.layers.items.properties.method': oneOf(methods),
    'exchange.properties.collective': oneOf([
      'auto',
      'adaptive',
      ...idsOf(catalogue.collectives),
    ]),
    exchange: (schema) => {
      schema.allOf = [...parameters].map(ofMethod);
    },
  };
  const schema = z.toJSONSchema(experimentSpecSchema, {
    io: 'input',
    override: ({ jsonSchema, path }) => {
      edits[path.slice(1).join('.')]?.(jsonSchema);
    },
  });
  tellRules(schema);
  return schema;
}

/**
 * Adds to the descriptions what the definitions say besides: what a key does not go with, what it
 * needs, and whether it may change in a run.
 */
function tellRules(schema: Schema, path = ''): void {
  const texts = [
    schema.description,
    exclusionText(experimentSpecSchema, path),
    needsText(experimentSpecSchema, path),
    schema['changes'] === 'in-run' ? 'A switch may change it in a run' : undefined,
  ].filter((text) => text !== undefined);
  if (texts.length > 0) schema.description = texts.join('; ');
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    tellRules(inner as Schema, path === '' ? key : `${path}.${key}`);
  }
}

const idsOf = (entries: readonly { readonly id: string }[]): string[] =>
  entries.map(({ id }) => id);

const oneOf =
  (ids: readonly string[]): Edit =>
  (schema) => {
    schema.enum = [...ids];
  };

/** The parameters beside a method's name. One that is not named is `none`, without any. */
function ofMethod([id, schema]: readonly [string, z.ZodObject]): Schema {
  const { properties } = z.toJSONSchema(schema, { io: 'input' });
  return {
    if: { properties: { method: { const: id } }, required: ['method'] },
    then: { properties: properties ?? {} },
  };
}

/** A command may be one line, or its words. */
function commandOrWords(schema: Schema): void {
  for (const key of ['type', 'items', 'minItems', 'maxItems'] as const) {
    Reflect.deleteProperty(schema, key);
  }
  schema.anyOf = [
    { type: 'string', minLength: 1 },
    { type: 'array', items: { type: 'string' }, minItems: 1 },
  ];
}

/** A command implies its model and that it reads its own data. */
function withImpliedKeys(schema: Schema): void {
  delete schema.required;
  schema.anyOf = [{ required: ['model', 'dataset'] }, { required: ['command'] }];
}
