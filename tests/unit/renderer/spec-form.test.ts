import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import {
  valueAt,
  withValue,
  type Draft,
} from '../../../src/renderer/state/experiment/spec-draft.ts';
import { withMethod } from '../../../src/renderer/state/experiment/changed-method.ts';
import { collectiveChoices } from '../../../src/renderer/state/experiment/exchange-fields.ts';
import { readField } from '../../../src/renderer/state/experiment/form-field.ts';
import { isUnusual } from '../../../src/renderer/state/experiment/spec-fields.ts';
import { formSections } from '../../../src/renderer/state/experiment/spec-form.ts';
import { makeCatalogue } from '../../../src/agent/engine.ts';
import { catalogueSchema } from '../../../src/shared/protocol/catalogue-schema.ts';
import type { Catalogue } from '../../../src/shared/catalogue/catalogue.ts';
import { optimizerFacts } from '../../../src/shared/catalogue/facts.ts';
import { experimentSpecSchema } from '../../../src/shared/spec/experiment-spec.ts';

const catalogue: Catalogue = {
  methods: [
    {
      id: 'none',
      title: 'Dense',
      summary: '',
      source: '',
      payload: 'dense',
      reducible: true,
      residual: false,
      replicas: 'identical',
      collectives: ['ring'],
      parameters: [],
    },
    {
      id: 'topk',
      title: 'Top-k',
      summary: '',
      source: '',
      payload: 'sparse',
      reducible: true,
      residual: true,
      replicas: 'identical',
      collectives: ['sparse-allgather'],
      parameters: [
        {
          key: 'ratio',
          type: 'number',
          title: 'Ratio',
          description: 'Part that is sent',
          default: 0.001,
          minimum: 0,
          maximum: 1,
        },
        {
          key: 'quantize.bits',
          type: 'integer',
          title: 'Quantize bits',
          description: 'Of a value',
          default: 0,
        },
      ],
    },
  ],
  collectives: [
    { id: 'ring', title: '', summary: 'r', source: '', takes: ['dense'] },
    { id: 'sparse-allgather', title: '', summary: 's', source: '', takes: ['sparse'] },
    {
      id: 'served',
      title: '',
      summary: '',
      source: '',
      hasServers: true,
      takes: ['dense'],
    },
  ],
  models: [{ id: 'fnn3', title: '', summary: '', parameterCount: 199_210 }],
  datasets: [
    { id: 'digits', title: '', summary: '', needsData: false },
    { id: 'mnist', title: '', summary: '', needsData: true },
  ],
  optimizers: ['sgd'],
  backends: ['wasm'],
};

const machines = ['this-computer', 'box'].map((name) => ({ value: name, label: name }));

const draft = experimentSpecSchema.parse({
  workload: { model: 'fnn3', dataset: 'digits' },
  exchange: { method: 'none', collective: 'ring' },
}) as unknown as Draft;

function paths(of: Draft): string[] {
  return formSections(catalogue, of).flatMap((section) =>
    section.fields.map((field) => field.path),
  );
}

describe('the model', () => {
  const choices = (model: string) =>
    formSections(catalogue, { workload: { model } })
      .flatMap(({ fields }) => fields)
      .find(({ path }) => path === 'workload.model')!.choices!;

  it('is one of the agent’s, or the file that the draft names', () => {
    const ours = choices('fnn3').map(({ value }) => value);
    expect(ours).not.toContain('./mine.ts');
    expect(choices('./mine.ts').at(-1)).toEqual({
      value: './mine.ts',
      label: 'mine.ts',
      hint: 'Your file ./mine.ts',
    });
    // A slip of the pen is no file.
    expect(choices('fnn33').map(({ value }) => value)).toEqual(ours);
  });
});

describe('what is chosen', () => {
  const choiceOf = (agent: Catalogue, key: string, id: string) =>
    formSections(agent, draft)
      .flatMap(({ fields, more = [] }) => [...fields, ...more])
      .find(({ path }) => path === key)!
      .choices!.find(({ value }) => value === id);

  it('is explained in the words of its definition, as the reference is', () => {
    const agent = makeCatalogue();
    const [sgd] = agent.describedOptimizers;
    expect(choiceOf(agent, 'optimizer.kind', 'sgd')).toEqual({
      value: 'sgd',
      label: 'sgd',
      hint: sgd!.summary,
      facts: optimizerFacts(sgd!),
    });
    const ring = choiceOf(agent, 'exchange.collective', 'ring')!;
    expect(ring.facts!.map(([heading]) => heading)).toContain('Where it is fastest');
    const topk = choiceOf(agent, 'exchange.method', 'topk')!;
    expect(topk.facts!.map(([heading]) => heading)).toContain('Where it pays');
  });

  it('has its name alone where an older agent says no more of it', () => {
    expect(choiceOf(catalogue, 'optimizer.kind', 'sgd')).toEqual({
      value: 'sgd',
      label: 'sgd',
    });
  });
});

describe('the number of samples', () => {
  const agent = makeCatalogue() as unknown as Catalogue;
  const isAsked = (workload: Draft) =>
    formSections(agent, { workload })
      .flatMap(({ fields }) => fields)
      .some(({ path }) => path === 'workload.samples');

  it('is asked where the size of a data set is free, or where a draft has it', () => {
    const parsed = catalogueSchema.parse(agent);
    expect(
      parsed.datasets.filter((one) => one.takesSamples).map(({ id }) => id),
    ).toEqual(['clicks', 'clicks-large']);
    expect(isAsked({ model: 'dlrm', dataset: 'clicks' })).toBe(true);
    expect(isAsked({ model: 'dlrm', dataset: 'criteo' })).toBe(false);
    expect(isAsked({ model: 'dlrm', dataset: 'criteo', samples: 1000 })).toBe(true);
  });
});

describe('folded fields', () => {
  const folded = (draft: Draft) =>
    formSections(catalogue, draft).flatMap(({ more = [] }) => more);

  it('are those that are rarely used, and none of those in sight', () => {
    const paths = folded({}).map(({ path }) => path);
    const others = paths.filter((path) => !path.startsWith('optimizer.'));
    expect(others).toEqual([
      'world.ports',
      'parallelism.pipeline.splitAfter',
      ...['onFailure', 'checkpointEvery'],
    ]);
    expect(paths).toContain('optimizer.clipNorm');
    const inSight = formSections(catalogue, {}).flatMap(({ fields }) => fields);
    expect(inSight.filter(({ path }) => paths.includes(path))).toEqual([]);
  });

  it('are links of pairs where there are several machines, or are given', () => {
    const pairs = [{ between: ['a', 'b'], bandwidth: '1 Gbit/s' }];
    const emulated: Draft = { network: { bandwidth: '1 Gbit/s', pairs } };
    for (const sections of [
      formSections(catalogue, {}, machines),
      formSections(catalogue, emulated),
    ]) {
      const more = sections.flatMap((section) => section.more ?? []);
      expect(more).toContainEqual(
        expect.objectContaining({ path: 'network.pairs', kind: 'json' }),
      );
    }
    expect(folded(emulated).filter((one) => isUnusual(emulated, one))).toHaveLength(1);
  });

  it.each([
    [{}, []],
    [{ onFailure: 'stop' }, []],
    [{ onFailure: 'restart' }, ['onFailure']],
    [{ world: { ports: '20000-20100' } }, ['world.ports']],
  ])('have to be seen where they are not as usual: %o', (draft, expected) => {
    const unusual = folded(draft).filter((field) => isUnusual(draft, field));
    expect(unusual.map(({ path }) => path)).toEqual(expected);
  });
});

describe('the form of a spec', () => {
  it('has a field for every choice, with bounds from the schema', () => {
    const fields = formSections(catalogue, draft).flatMap((section) => section.fields);
    expect(fields.find((field) => field.path === 'world.ranks')).toMatchObject({
      kind: 'integer',
      minimum: 1,
      maximum: 1024,
      description: 'Training processes',
    });
    expect(
      fields
        .find((field) => field.path === 'backend')
        ?.choices?.map((choice) => choice.value),
    ).toEqual(['auto', 'wasm', 'webgpu', 'torch']);
  });

  it('asks for a Python only where PyTorch computes, or where one is given', () => {
    expect(paths(draft)).not.toContain('python');
    expect(paths(withValue(draft, 'backend', 'torch'))).toContain('python');
    expect(paths(withValue(draft, 'python', '/p'))).toContain('python');
  });

  it('asks for a data directory only where the data set needs one or one is given', () => {
    expect(paths(draft)).not.toContain('workload.data');
    expect(paths(withValue(draft, 'workload.dataset', 'mnist'))).toContain(
      'workload.data',
    );
    expect(paths(withValue(draft, 'workload.data', '/d'))).toContain('workload.data');
  });

  it('shows a method’s own parameters and the collectives that take its payload', () => {
    const topk = withMethod(draft, catalogue.methods[1]!);
    expect(paths(topk)).toContain('exchange.ratio');
    expect(
      collectiveChoices(catalogue, catalogue.methods[1]).map((choice) => choice.value),
    ).toEqual(['auto', 'adaptive', 'sparse-allgather']);
  });

  it('gives another method its defaults and a collective that fits', () => {
    const topk = withMethod(draft, catalogue.methods[1]!);
    expect(topk['exchange']).toEqual({
      method: 'topk',
      collective: 'auto',
      bucketBytes: 4 * 2 ** 20,
      ratio: 0.001,
      quantize: { bits: 0 },
    });
    const layered = withValue(draft, 'exchange.layers', [{ match: 'b', ratio: 1 }]);
    expect(withMethod(layered, catalogue.methods[1]!)).toEqual(topk);
    const chosen = withValue(topk, 'exchange.ratio', 0.25);
    const back = withMethod(chosen, catalogue.methods[0]!);
    expect(back['exchange']).not.toHaveProperty('ratio');
    expect(valueAt(withMethod(chosen, catalogue.methods[1]!), 'exchange.ratio')).toBe(
      0.25,
    );
  });

  it('asks for servers of a collective that has some, and of none that has not', () => {
    const served = withValue(draft, 'exchange.collective', 'served');
    expect(paths(draft)).not.toContain('exchange.servers');
    expect(paths(served)).toContain('exchange.servers');
    const [field] = formSections(catalogue, served)
      .flatMap(({ fields }) => fields)
      .filter(({ path }) => path === 'exchange.servers');
    expect(field).toMatchObject({ kind: 'integer', minimum: 1 });
    // A number that no longer fits can be taken away.
    const two = withValue(served, 'exchange.servers', 2);
    expect(paths(withValue(two, 'exchange.collective', 'ring'))).toContain(
      'exchange.servers',
    );
    const topk = withMethod(two, catalogue.methods[1]!);
    expect(topk['exchange']).toMatchObject({ collective: 'auto' });
    expect(topk['exchange']).not.toHaveProperty('servers');
  });

  it('asks for what a kind of parallelism has where it is chosen, or given', () => {
    const shown = (given: Draft): readonly string[] =>
      paths(given).filter((path) => path.startsWith('parallelism.'));
    expect(shown(draft)).toEqual(['parallelism.kind']);
    const served = withValue(draft, 'parallelism.kind', 'asynchronous');
    expect(shown(served)).toEqual([
      ...['parallelism.kind', 'parallelism.staleness', 'parallelism.servers'],
      ...['parallelism.trainerThreads', 'parallelism.drainEvery'],
    ]);
    // What no longer fits can be taken away.
    const left = withValue(
      withValue(served, 'parallelism.staleness', 2),
      'parallelism.kind',
      'synchronous',
    );
    expect(shown(left)).toEqual(['parallelism.kind', 'parallelism.staleness']);
  });

  it('asks of a program for nothing that it has itself', () => {
    const ofProgram = paths({ workload: { model: 'program' } });
    expect(ofProgram).toContain('iterations');
    expect(ofProgram.filter((path) => /^optimizer|evaluate|batch/.test(path))).toEqual(
      [],
    );
    expect(paths(draft)).toContain('evaluateEvery');
  });

  it('changes a value without touching the draft it was made from', () => {
    const changed = withValue(draft, 'optimizer.lr', 0.1);
    expect(valueAt(changed, 'optimizer.lr')).toBe(0.1);
    expect(valueAt(draft, 'optimizer.lr')).toBe(0.05);
    expect(valueAt(changed, 'optimizer.momentum')).toBe(0.9);
    expect(valueAt(withValue(draft, 'seed', undefined), 'seed')).toBeUndefined();
    expect(valueAt(withValue({}, 'world.ranks', 2), 'world.ranks')).toBe(2);
  });

  it.each([
    ['integer', '12', 12],
    ['number', ' 1e-3 ', 0.001],
    ['integer', 'many', 'many'],
    ['number', '', undefined],
    ['number', 'Infinity', 'Infinity'],
    ['number', '1e400', '1e400'],
    ['text', '12', '12'],
    ['json', '[{"match": "b*"}]', [{ match: 'b*' }]],
    ['json', '[{"match', '[{"match'],
    ['json', ' ', undefined],
  ] as const)('reads %s "%s" as %j', (kind, text, value) => {
    expect(readField(kind, text)).toEqual(value);
  });
});

/** Keys that the form has no field for: YAML sets them. */
const WITHOUT_FIELD = [
  'description',
  'workload.modelSource',
  'workload.synthetic.layers',
  'workload.synthetic.distribution',
  'world.shareGpu',
  'optimizer.fullGradientEvery',
  'exchange.bucketBytes',
  'exchange.quantizeSums',
  'exchange.residualUnits',
  'exchange.delta',
  'parallelism.outer.nesterov',
  'engine',
  'overlap',
  'doubleBuffer',
  'transport',
  'encrypt',
  'journalMB',
  'timeoutSeconds',
  'patienceSeconds',
];

it('has a section for every key that has a title', () => {
  interface Key {
    readonly title?: string;
    readonly section?: string;
    readonly properties?: Readonly<Record<string, Key>>;
  }
  const homeless = (key: Key, path: string): readonly string[] =>
    key.section !== undefined
      ? []
      : key.title !== undefined
        ? [path]
        : Object.entries(key.properties ?? {}).flatMap(([name, each]) =>
            homeless(each, `${path}.${name}`),
          );
  expect(
    homeless(z.toJSONSchema(experimentSpecSchema, { io: 'input' }) as Key, ''),
  ).toEqual([]);
});

it('has a field for every key of the spec, but for those that only YAML sets', () => {
  interface Key {
    readonly title?: string;
    readonly properties?: Readonly<Record<string, Key>>;
  }
  const untitled = (key: Key, path: string): readonly string[] => {
    if (key.title !== undefined) return [];
    const inner = Object.entries(key.properties ?? {});
    if (inner.length === 0) return [path];
    return inner.flatMap(([name, each]) =>
      untitled(each, path === '' ? name : `${path}.${name}`),
    );
  };
  const spec = z.toJSONSchema(experimentSpecSchema, { io: 'input' }) as Key;
  const found = untitled(spec, '').filter((path) => !path.startsWith('exchange.quant'));
  expect([...found, 'exchange.quantizeSums'].toSorted()).toEqual(
    WITHOUT_FIELD.toSorted(),
  );
});
