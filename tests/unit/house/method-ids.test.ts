/**
 * What a method means to others is a member of its definition: no other room names a method,
 * or a parameter of its warm-up or ramp. Definitions, and the figures of papers, whose cases
 * are specs, may.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findMethod, methods } from '../../../src/agent/methods/registry.ts';
import { DEFAULT_METHOD } from '../../../src/shared/plan/exchange-plan.ts';

const root = path.join(import.meta.dirname, '../../../src');
/** In pipelines, activations have methods of their own. */
const FREE = ['agent/methods', 'agent/pipeline', 'reproduce'];
/** Also words for other things, such as types of numbers: they are ids beside `method`, or compared with an `id`. */
const WORDS = new Set(['none', 'threshold', 'bf16', 'fp16']);
/** A parameter of optimisers, too. */
const SHARED = new Set(['warmupIterations']);
/** Other things that have methods or are `none`. */
const OTHERS = /activation|residual|DEFAULT_METHOD = /i;

function namesOf(line: string): readonly string[] {
  const quoted = [...line.matchAll(/(?<=['"`])[a-z0-9]+(?=['"`])/g)].map(([id]) => id);
  const meansMethod = /\bmethod\b(?!\])|\bid\b [!=]==/.test(line) && !OTHERS.test(line);
  const ids = quoted.filter((id) => methods.has(id) && (meansMethod || !WORDS.has(id)));
  const words = line.match(/\w+/g) ?? [];
  return [...ids, ...words.filter((word) => parameters.has(word))];
}

const parameters = new Set(
  [...methods.values()]
    .flatMap(({ schedules = [] }) => schedules)
    .flatMap(({ iterations, epochs, start, others = [] }) => [
      ...[iterations, epochs, ...others],
      ...(start === undefined ? [] : [start]),
    ])
    .filter((name) => !SHARED.has(name)),
);

it('no other room names a method, or a parameter of its schedules', () => {
  const found = globSync('**/*.{ts,svelte}', { cwd: root })
    .filter((file) => !FREE.some((room) => file.startsWith(room)))
    .flatMap((file) =>
      readFileSync(path.join(root, file), 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(\/?\*|\/\/)/.test(line))
        .flatMap((line) => namesOf(line).map((name) => `${file}: ${name}`)),
    );
  expect(found).toEqual([]);
});

describe('a name is found', () => {
  it.each([
    ["const DENSE = { method: 'none', parameters: {} };", ['none']],
    ["if (policy.method.id === 'none') return;", ['none']],
    ["entries.find((entry) => entry.id === 'topk')", ['topk']],
    ["valueAt(draft, 'exchange.method') ?? 'none'", ['none']],
    ['const { rampIterations = 0 } = plan.parameters;', ['rampIterations']],
    ["if (policy.method.residual === 'none') return;", []],
    ["keys: 'length' | 'threshold'", []],
  ])('%s', (line, names) => {
    expect(namesOf(line)).toEqual(names);
  });
});

it('the method of a spec that names none sends gradients uncompressed', () => {
  expect(findMethod(DEFAULT_METHOD).uncompressed).toBe(true);
});
