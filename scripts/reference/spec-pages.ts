/** Pages of the spec and of sweeps: every key, and the kinds of parallelism. */
import { z } from 'zod';
import { specSchema } from '../../src/cli/commands/spec-schema.ts';
import {
  compressors,
  makeCatalogue,
  syntheticProfiles,
} from '../../src/agent/engine.ts';
import {
  parallelismSchema,
  type ParallelismId,
} from '../../src/shared/spec/parallelism/parallelism.ts';
import { sweepSchema } from '../../src/shared/sweep/sweep-definition.ts';
import { cell, code, table } from './markdown.ts';
import type { Page } from './page.ts';
import {
  defaultText,
  keysOf,
  meaning,
  valueText,
  type Schema,
  type SchemaKey,
} from './schema-rows.ts';

const schema = specSchema({
  catalogue: makeCatalogue(),
  profiles: syntheticProfiles(),
  parameters: new Map(
    [...compressors.values()].map((method) => [method.id, method.parameters]),
  ),
});

const keyTable = (keys: readonly SchemaKey[]): string =>
  table(
    ['key', 'value', 'default', 'meaning'],
    keys.map((key) => [
      code(key.path),
      valueText(key.schema),
      defaultText(key),
      meaning(key),
    ]),
  );

const entries = Object.entries(schema.properties ?? {}) as [string, Schema][];
const hasKeys = (inner: Schema): boolean => inner.properties !== undefined;

const plain: Schema = {
  ...schema,
  properties: Object.fromEntries(entries.filter(([, inner]) => !hasKeys(inner))),
};

const ABOUT: Readonly<Record<string, string>> = {
  exchange:
    'The parameters of the [method](methods.md) are further keys here. In `layers` each pattern may name another method, with its parameters.',
  optimizer: 'Which [optimiser](optimizers.md) has which option.',
  parallelism: 'The [kinds](parallelism.md).',
  workload: 'With `command`, model and data set are left out: the program has its own.',
};

const section = ([name, inner]: readonly [string, Schema]): string => {
  const about = [cell(inner.description ?? ''), ABOUT[name] ?? '']
    .filter((text) => text !== '')
    .map((text) => (/[.!]$/.test(text) ? text : `${text}.`))
    .join(' ');
  const keys = keyTable(keysOf(inner, name));
  return `## ${name}\n\n${about === '' ? '' : `${about}\n\n`}${keys}`;
};

const sweepTable = table(
  ['key', 'value', 'default', 'meaning'],
  keysOf(z.toJSONSchema(sweepSchema, { io: 'input', unrepresentable: 'any' })).map(
    (key) => [code(key.path), valueText(key.schema), defaultText(key), meaning(key)],
  ),
);

const sweep: Page = {
  file: 'sweep.md',
  title: 'Keys of a sweep',
  about:
    'What a file for `gradwire sweep` may say, in YAML or JSON; [sweeps](../sweeps.md) explains how the keys work together.',
  body: [sweepTable],
};

const spec: Page = {
  file: 'spec.md',
  title: 'Keys of a spec',
  about:
    'Everything that an experiment may say, in YAML or JSON. Keys that no switch may change keep the value with which a run has started. An unknown key is refused, with the nearest valid one. `gradwire spec schema` prints the same as a JSON Schema for editors; [command line and spec](../command-line.md#spec) explains how keys work together.',
  body: [
    `## At the top\n\n${keyTable(keysOf(plain))}`,
    ...entries.filter(([, inner]) => hasKeys(inner)).map(section),
  ],
};

const KINDS: Readonly<Record<ParallelismId, readonly string[]>> = {
  synchronous: [
    'All ranks exchange in every iteration and keep the same weights.',
    '[Architecture](../architecture.md#the-life-of-one-iteration)',
  ],
  'local-steps': [
    'Each rank takes `every` steps on its own; then all exchange how far they have moved.',
    '[Local steps](../command-line.md#local-steps)',
  ],
  asynchronous: [
    'Each rank pushes gradients to servers and pulls weights, at most `staleness` iterations ahead of the slowest.',
    '[Decision](../decisions/052-asynchronous-servers.md)',
  ],
};

const parallelismKeys = entries.find(([name]) => name === 'parallelism')!;

const parallelism: Page = {
  file: 'parallelism.md',
  title: 'Kinds of parallelism',
  about: '`parallelism` in a spec: how ranks share the work.',
  body: [
    table(
      ['kind', 'what ranks do', 'more'],
      parallelismSchema.shape.kind
        .unwrap()
        .options.map((kind) => [code(kind), ...KINDS[kind]]),
    ),
    'With `pipeline` the model is split into stages as well, one rank each; ranks with the same stage exchange gradients ([decision](../decisions/055-pipelines.md)).',
    `## Keys\n\n${keyTable(keysOf(parallelismKeys[1], 'parallelism'))}`,
  ],
};

export const specPages: readonly Page[] = [spec, sweep, parallelism];
