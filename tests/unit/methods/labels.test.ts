/** What plans are called, by what their methods say of themselves. */
import { expect, it } from 'vitest';
import { labelOf } from '../../../src/agent/methods/method.ts';
import {
  findMethod,
  methods,
  validateParameters,
} from '../../../src/agent/methods/registry.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';

it.each<[string, JsonObject, string]>([
  ['none', {}, 'none'],
  ['topk', { ratio: 0.01 }, 'topk 1 %'],
  ['topk', { ratio: 0.0005 }, 'topk 0.05 %'],
  ['topk', { ratio: 0.01, quantize: { bits: 4 } }, 'topk 1 % in 4 bits'],
  ['topk', { k: 3 }, 'topk k=3'],
  ['randomk', { ratio: 0.1 }, 'randomk 10 %'],
  ['gaussiank', { ratio: 0.001 }, 'gaussiank 0.1 %'],
  ['dct', { ratio: 0.02 }, 'dct 2 %'],
  ['dgc', { ratio: 1 }, 'dgc 100 %'],
  ['scalecom', { ratio: 0.0025 }, 'scalecom 0.25 %'],
  ['blockcd', { k: 8 }, 'blockcd k=8'],
  ['threshold', { threshold: 0.5 }, 'threshold ≥ 0.5'],
  ['powersgd', { rank: 4 }, 'powersgd r=4'],
  ['qsgd', { bits: 8 }, 'qsgd 8 bit'],
  ['qsgd', { levels: 5 }, 'qsgd s=5'],
  ['fp8', {}, 'fp8 e4m3'],
  ['fp8', { format: 'e5m2', rounding: 'stochastic' }, 'fp8 e5m2 stochastic'],
  ['onebit', {}, 'onebit'],
  ['onebit', { granularity: 'column' }, 'onebit by column'],
  ['terngrad', {}, 'terngrad'],
  ['a2sgd', {}, 'a2sgd'],
])('%s %j is %s', (id, given, label) => {
  const method = findMethod(id);
  expect(labelOf(method, validateParameters(method, given))).toBe(label);
});

it('begins with the id, whatever the method', () => {
  for (const method of methods.values()) {
    const label = labelOf(method, validateParameters(method, {}));
    expect(`${label} `.startsWith(`${method.id} `), label).toBe(true);
    expect(label.length).toBeLessThan(30);
  }
});

it('is in plans, in their layers, and follows switches', () => {
  const layers = [
    { match: 'b*', method: 'none' },
    { match: 'w*', ratio: 0.1 },
  ];
  const plan = resolvePlan({ method: 'topk', layers });
  expect([plan, ...plan.layers!].map(({ label }) => label)).toEqual([
    ...['topk 1 %', 'none', 'topk 10 %'],
  ]);
  expect(resolvePlan({ ratio: 0.5 }, plan).label).toBe('topk 50 %');
  expect(resolvePlan({ method: 'qsgd' }, plan).label).toBe('qsgd 4 bit');
});
