import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSpecText } from '../../../src/main/spec/spec-source.ts';
import { specToYaml } from '../../../src/main/spec/spec-yaml.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const unreadable = (message: RegExp, place?: string) =>
  expect.objectContaining({
    code: 'SPEC_UNREADABLE',
    kind: 'input',
    message: expect.stringMatching(message) as string,
    ...(place === undefined ? {} : { place }),
  });

describe('reading', () => {
  test.each([
    ['an unclosed flow', 'a: {b: 1\nc: 2', /not YAML or JSON/, /^f\.yaml:\d+:\d+$/],
    ['a key twice', 'a: 1\nb: 2\na: 3', /unique/i, /^f\.yaml:3:1$/],
    ['a tab as indentation', 'a:\n\tb: 1', /tab/i, /^f\.yaml:2:/],
    ['an unknown tag', 'a: !thing 1', /tag/i, /^f\.yaml:1:/],
    ['a set', 'a: !!set {b}', /the tag "!!set"/, /^f\.yaml:1:10$/],
    ['an ordered map', 'a: 1\nb: !!omap [c: 1]', /"!!omap"/, /^f\.yaml:2:11$/],
    ['bytes', 'a: !!binary aGk=', /"!!binary"/, /^f\.yaml:1:13$/],
    ['a number beyond f64', 'a: 1\nb: [1, 1e400]', /^"1e400" is/, /^f\.yaml:2:8$/],
    ['no number', 'a: .nan', /^"\.nan" is no finite number$/, /^f\.yaml:1:4$/],
    [
      'two documents',
      'a: 1\n---\nb: 1',
      /^it must contain a single document, /,
      /^f\.yaml:2:/,
    ],
    ['a deep nest', `a: ${'['.repeat(1e5)}`, /nested too deeply$/, /^f\.yaml:1:/],
  ])('%s is refused with its line and column', (_, text, message, place) => {
    let thrown: unknown;
    try {
      parseSpecText(text, 'f.yaml');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toEqual(unreadable(message));
    expect((thrown as { place: string }).place).toMatch(place);
  });

  test.each([
    ['nothing', '', /empty/],
    ['a list', '- 1', /a list/],
    ['a word', 'quickstart', /the string "quickstart"/],
  ])('%s is no spec', (_, text, message) => {
    expect(() => parseSpecText(text, 'x')).toThrow(unreadable(message, 'x'));
  });

  test('a value that contains itself is refused where it names itself', () => {
    const text = 'name: a\nexchange: &e\n  layers: [{ match: x, b: *e }]\n';
    expect(() => parseSpecText(text, 'own.yaml')).toThrow(
      expect.objectContaining({
        code: 'SPEC_UNREADABLE',
        kind: 'input',
        place: 'own.yaml:3:27',
        message: '"*e" is part of the value that it names',
      }),
    );
  });

  test('aliases that multiply are refused, not expanded', () => {
    const levels = Array.from(
      { length: 9 },
      (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(',')}]`,
    );
    const bomb = ['l0: &l0 [x,x,x,x,x,x,x,x,x]', ...levels].join('\n');
    expect(() => parseSpecText(bomb, 'x')).toThrow(unreadable(/alias/i));
  });

  const aliases = (count: number): string => {
    const anchors = Array.from({ length: count }, (_, n) => `a${n}: &a${n} 1`);
    const names = anchors.map((_, n) => `*a${n}`).join(',');
    return [...anchors, `x: { y: [${names}] }`].join('\n');
  };

  test('a hundred aliases are the most, whatever they name', () => {
    expect(parseSpecText(aliases(100), 'x')).toMatchObject({
      x: { y: Array(100).fill(1) },
    });
    expect(() => parseSpecText(aliases(101), 'x')).toThrow(
      unreadable(/Excessive alias count/),
    );
    const same = Array(8000).fill('*a').join(',');
    expect(() => parseSpecText(`a: &a 1\nworkload:\n  x: [${same}]`, 'x')).toThrow(
      unreadable(/Excessive alias count/),
    );
  });

  test('an anchor that is set again names what it was last set to', () => {
    const text = 'a: &e\n  b: &e 1\n  c: *e\nd: &e 2\nf: *e';
    expect(parseSpecText(text, 'x')).toEqual({ a: { b: 1, c: 1 }, d: 2, f: 2 });
  });

  test('JSON is read as it is', () => {
    const value = { a: { b: [1, 2.5, 'x', null, true] } };
    expect(parseSpecText(JSON.stringify(value), 'x')).toEqual(value);
  });
});

describe('writing', () => {
  test('a section to a line', () => {
    const yaml = specToYaml({
      name: 'x',
      workload: { model: 'fnn3', dataset: 'digits' },
    });
    expect(yaml).toBe('name: x\nworkload: { model: fnn3, dataset: digits }\n');
  });

  test('what is written reads back the same', () => {
    fc.assert(
      fc.property(
        fc.record({
          name: fc.string({ minLength: 1, maxLength: 120 }),
          description: fc.string(),
          workload: fc.record({
            model: fc.string(),
            dataset: fc.string(),
            data: fc.string(),
          }),
          optimizer: fc.record({ lr: fc.double({ min: 1e-9, max: 10, noNaN: true }) }),
          exchange: fc.record({
            method: fc.string(),
            ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
          }),
          seed: fc.nat(),
        }),
        (input) => {
          const spec = parseExperimentSpec(input);
          // Negative zero is the one number that its text does not keep.
          const ratio = (spec.exchange['ratio'] as number) + 0;
          const plain = { ...spec, exchange: { ...spec.exchange, ratio } };
          expect(parseSpecText(specToYaml(plain), 'x')).toEqual(plain);
        },
      ),
    );
  });
});
