/** Names in the JSON Schema of a spec: an editor offers what this agent has, and no more. */
import { expect, it } from 'vitest';
import { compressors, makeCatalogue } from '../../../src/agent/engine.ts';
import { specSchema } from '../../../src/cli/commands/spec-schema.ts';
import { loadPresets } from '../../../src/main/spec/spec-source.ts';

type Node = {
  readonly properties: Readonly<Record<string, Node>>;
  readonly items: Node;
  readonly enum?: readonly string[];
  readonly anyOf: readonly (Node & { readonly pattern?: string })[];
  readonly allOf: readonly {
    readonly if: {
      readonly properties: { readonly method: { readonly const: string } };
    };
    readonly then: Node;
  }[];
};

const schema = specSchema({
  catalogue: makeCatalogue(),
  profiles: ['vgg-16'],
  parameters: new Map(
    [...compressors.values()].map((method) => [method.id, method.parameters]),
  ),
}) as unknown as Node;
const { exchange, optimizer, workload } = schema.properties as Record<string, Node>;

it('has the names that every preset uses', async () => {
  for (const { spec } of await loadPresets()) {
    expect(exchange!.properties['method']!.enum).toContain(spec.exchange.method);
    expect(exchange!.properties['collective']!.enum).toContain(
      spec.exchange.collective,
    );
    expect(optimizer!.properties['kind']!.enum).toContain(spec.optimizer.kind);
    expect(workload!.properties['dataset']!.enum).toContain(spec.workload.dataset);
    expect(workload!.properties['model']!.anyOf[0]!.enum).toContain(
      spec.workload.model,
    );
  }
});

it('has auto and adaptive among the collectives, and methods in layers', () => {
  expect(exchange!.properties['collective']!.enum).toEqual(
    expect.arrayContaining(['auto', 'adaptive', 'ring', 'ok-topk']),
  );
  const layers = exchange!.properties['layers']!.items.properties['method']!.enum;
  expect(layers).toEqual(exchange!.properties['method']!.enum);
  expect(workload!.properties['synthetic']!.properties['profile']!.enum).toEqual([
    'vgg-16',
  ]);
});

it('tells a model’s file from a name', () => {
  const { pattern } = workload!.properties['model']!.anyOf[1]!;
  const isFile = new RegExp(pattern!);
  expect(
    ['mine.ts', './mine.mjs', 'a/b', String.raw`C:\\m`].every((name) =>
      isFile.test(name),
    ),
  ).toBe(true);
  expect(['fnn3', 'resnet-20', 'vgg.16'].some((name) => isFile.test(name))).toBe(false);
});

it('has each method’s own parameters, with their ranges', () => {
  const topk = exchange!.allOf.find(
    ({ if: when }) => when.properties.method.const === 'topk',
  );
  expect(topk!.then.properties['ratio']).toMatchObject({ type: 'number', maximum: 1 });
  expect(exchange!.allOf).toHaveLength(compressors.size);
});
