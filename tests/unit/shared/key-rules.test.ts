import { expect, it } from 'vitest';
import { z } from 'zod';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import '../../../src/shared/checks/spec-key.ts';
import type { exchangeSpecSchema } from '../../../src/shared/plan/exchange-plan.ts';
import {
  experimentSpecSchema,
  parseExperimentSpec,
} from '../../../src/shared/spec/experiment-spec.ts';
import { changesInRun } from '../../../src/shared/spec/key-changes.ts';
import {
  checkExclusions,
  checkNeeds,
  exclusionText,
  needsText,
} from '../../../src/shared/spec/key-rules.ts';

const MODEL = { model: 'fnn3', dataset: 'digits' };
const PROGRAM = { command: ['python3', 'train.py'] };
const INLINE = { engine: 'inline' };
const FULL = { optimizer: { fullGradientEvery: 10 } };

/** Checks a spec as a launch does. */
const check = (spec: object): void => {
  checkExclusions(
    experimentSpecSchema,
    parseExperimentSpec({ workload: MODEL, ...spec }),
  );
};

it.each([
  [{ overlap: true, doubleBuffer: true }, 'OVERLAP_MISFIT', 'doubleBuffer'],
  [{ overlap: true, ...INLINE }, 'OVERLAP_MISFIT', 'engine'],
  [{ doubleBuffer: true, ...INLINE }, 'OVERLAP_MISFIT', 'engine'],
  [{ overlap: true, ...FULL }, 'PARALLELISM_MISFIT', 'overlap'],
  [{ doubleBuffer: true, ...FULL }, 'PARALLELISM_MISFIT', 'doubleBuffer'],
  [{ workload: PROGRAM, doubleBuffer: true }, 'PROGRAM_MISFIT', 'doubleBuffer'],
  [{ workload: PROGRAM, onFailure: 'restart' }, 'PROGRAM_MISFIT', 'onFailure'],
  [{ workload: PROGRAM, checkpointEvery: 5 }, 'PROGRAM_MISFIT', 'checkpointEvery'],
  [{ workload: PROGRAM, ...FULL }, 'PROGRAM_MISFIT', 'optimizer'],
])('%j is refused', (spec, code, place) => {
  expect(() => {
    check(spec);
  }).toThrow(expect.objectContaining({ code, place, kind: 'input' }) as Error);
});

it.each([
  [{ overlap: true, engine: 'thread' }],
  [{ overlap: false, doubleBuffer: true }],
  [{ overlap: false, ...FULL, ...INLINE }],
  [{ workload: PROGRAM, onFailure: 'stop', checkpointEvery: 0, overlap: true }],
  [{ onFailure: 'restart', checkpointEvery: 5 }],
])('%j is not', (spec) => {
  check(spec);
});

const needs = (spec: object) => () => {
  checkNeeds(experimentSpecSchema, parseExperimentSpec({ workload: MODEL, ...spec }));
};

it.each([
  [{ python: 'python3' }, 'TORCH_MISFIT', 'python'],
  [{ workload: { ...MODEL, copy: false } }, 'PROGRAM_INVALID', 'workload.copy'],
  [{ exchange: { activations: {} } }, 'ACTIVATIONS_MISFIT', 'exchange.activations'],
  [{ optimizer: { clipAt: 'rank' } }, 'OPTIMIZER_OPTION_IDLE', 'optimizer.clipAt'],
  [{ optimizer: { decayAt: [] } }, 'OPTIMIZER_OPTION_IDLE', 'optimizer.decayAt'],
  [
    { optimizer: { schedule: 'step', decayAt: [] } },
    'SCHEDULE_INCOMPLETE',
    'optimizer.decayAt',
  ],
  [
    { optimizer: { nesterov: true, momentum: 0 } },
    'OPTIMIZER_OPTION_IDLE',
    'optimizer.nesterov',
  ],
])('%j lacks what it needs', (spec, code, place) => {
  expect(needs(spec)).toThrow(
    expect.objectContaining({ code, place, kind: 'input' }) as Error,
  );
});

it.each([
  [{ python: 'python3', backend: 'torch' }],
  [{ workload: { ...PROGRAM, copy: false } }],
  [{ optimizer: { nesterov: false, momentum: 0 } }],
  [{ optimizer: { schedule: 'step', decayAt: [5], decayFactor: 0.5 } }],
  [{ exchange: { activations: {} }, parallelism: { pipeline: { splitAfter: ['a'] } } }],
])('%j has it', (spec) => {
  expect(needs(spec)).not.toThrow();
});

it('an error says what is there instead', () => {
  expect(needs({ optimizer: { power: 3 } })).toThrow(
    'power belongs to the schedule "polynomial", not to "constant"',
  );
});

it('a key tells what it needs', () => {
  const text = (path: string): string | undefined =>
    needsText(experimentSpecSchema, path);
  expect(text('python')).toBe('only with backend: torch');
  expect(text('optimizer.schedule')).toBe('step: only with optimizer.decayAt');
  expect(text('seed')).toBeUndefined();
});

it('a key changes in a run exactly if a switch takes it', () => {
  const values: Readonly<Record<keyof typeof exchangeSpecSchema.shape, unknown>> = {
    method: 'qsgd',
    collective: 'ring',
    bucketBytes: 8,
    layers: [{ match: '*', method: 'none' }],
    quantizeSums: { bits: 4 },
    servers: 1,
    delta: 0.25,
    activations: { method: 'dct-mp' },
    residualUnits: 'update',
  };
  const base = resolvePlan({ method: 'topk' });
  const takes = (key: string, value: unknown): boolean => {
    try {
      resolvePlan({ [key]: value }, base, { isPipeline: true });
      return true;
    } catch (error) {
      // Taken, but beside another method or collective.
      return /_MISFIT$/.test((error as { readonly code: string }).code);
    }
  };
  for (const key of Object.keys(experimentSpecSchema.shape)) {
    expect(changesInRun(experimentSpecSchema, key), key).toBe(key === 'exchange');
    expect(takes(key, 1), key).toBe(false);
  }
  for (const [key, value] of Object.entries(values)) {
    expect(changesInRun(experimentSpecSchema, `exchange.${key}`), key).toBe(true);
    expect(takes(key, value), key).toBe(true);
  }
});

it('a key tells what it does not go with, whichever of the two definitions says so', () => {
  const text = (path: string): string | undefined =>
    exclusionText(experimentSpecSchema, path);
  expect(text('overlap')).toBe(
    'not with optimizer.clipAt: rank, optimizer.fullGradientEvery, engine: inline or doubleBuffer',
  );
  expect(text('onFailure')).toBe('restart: not with workload.model: program');
  expect(text('checkpointEvery')).toBe('not with workload.model: program');
  expect(text('seed')).toBeUndefined();
  expect(exclusionText(experimentSpecSchema, 'engine', 'own')).toBeUndefined();
});

it('every key that a definition names is a key, with that value among its values', () => {
  type Node = z.core.JSONSchema.BaseSchema;
  const whole = z.toJSONSchema(experimentSpecSchema, { io: 'input' }) as Node;
  const at = (path: string): Node | undefined => {
    let node: Node | undefined = whole;
    for (const key of path.split('.'))
      node = node?.properties?.[key] as Node | undefined;
    return node;
  };
  const rules: {
    of: Node;
    key: string;
    is?: string;
    value?: string | boolean;
    place?: string;
  }[] = [];
  const walk = (node: Node): void => {
    for (const rule of [node['excludes'] ?? [], node['needs'] ?? []].flat()) {
      rules.push({ ...(rule as (typeof rules)[number]), of: node });
    }
    for (const inner of Object.values(node.properties ?? {})) walk(inner as Node);
  };
  walk(whole);
  expect(rules).toHaveLength(27);
  for (const { is, key, of, place, value } of rules) {
    expect(at(key), key).toBeDefined();
    if (place !== undefined) expect(at(place), place).toBeDefined();
    const values = at(key)!.enum;
    if (is !== undefined && values !== undefined) expect(values).toContain(is);
    if (typeof value === 'string') expect(of.enum).toContain(value);
  }
});

it('a schema of another may have exclusions, too', () => {
  const schema = z.object({
    part: z.object({
      first: z.number().meta({
        excludes: [
          {
            key: 'second',
            code: 'SPEC_INVALID',
            because: 'one of both',
            next: 'Choose.',
          },
        ],
      }),
    }),
    second: z.boolean(),
  });
  const refused = (first: number, second: boolean) => () => {
    checkExclusions(schema, { part: { first }, second });
  };
  expect(refused(1, true)).toThrow(
    expect.objectContaining({ message: 'one of both', place: 'part.first' }) as Error,
  );
  for (const fits of [refused(0, true), refused(1, false)]) expect(fits).not.toThrow();
});
