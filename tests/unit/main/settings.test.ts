import { describe, expect, test } from 'vitest';
import {
  applySettings,
  parseChange,
  parseParameters,
  parseSwitch,
} from '../../../src/main/spec/settings.ts';

const coded = (code: string, message: RegExp) =>
  expect.objectContaining({
    code,
    kind: 'input',
    message: expect.stringMatching(message) as string,
  });

describe('--set', () => {
  const spec = {
    name: 'x',
    world: { ranks: 4 },
    exchange: { method: 'topk', ratio: 0.01, collective: 'auto' },
  };

  test.each([
    ['world.ranks=2', { ...spec, world: { ranks: 2 } }],
    ['name=', { ...spec, name: null }],
    ['name=null', { world: spec.world, exchange: spec.exchange }],
    ['exchange.activations=null', spec],
    ['name="a=b, c"', { ...spec, name: 'a=b, c' }],
    [
      'world.nodes=[box, other]',
      { ...spec, world: { ranks: 4, nodes: ['box', 'other'] } },
    ],
    ['optimizer.lr=1e-3', { ...spec, optimizer: { lr: 0.001 } }],
    ['exchange.ratio=0.5', { ...spec, exchange: { ...spec.exchange, ratio: 0.5 } }],
  ])('%s', (setting, expected) => {
    const before = structuredClone(spec);
    expect(applySettings(spec, [setting])).toEqual(expected);
    expect(spec).toEqual(before);
  });

  test('of two with the same key, the later counts', () => {
    expect(applySettings(spec, ['name=a', 'name=b'])).toMatchObject({ name: 'b' });
  });

  test('another method drops the parameters of the one before, not those set', () => {
    expect(
      applySettings(spec, ['exchange.levels=4', 'exchange.method=qsgd']),
    ).toMatchObject({ exchange: { method: 'qsgd', levels: 4, collective: 'auto' } });
    expect(applySettings(spec, ['exchange.method=qsgd'])).not.toHaveProperty(
      'exchange.ratio',
    );
    expect(applySettings(spec, ['exchange.method=topk'])).toEqual(spec);
  });

  test.each([
    ['world.ranks', /"world.ranks" is not key=value/],
    ['=4', /is not key=value|is no key that can be set/],
    ['world..ranks=4', /is not key=value|is no key that can be set/],
    ['__proto__.x=4', /is not key=value|is no key that can be set/],
    ['name=[a', /value of "name" cannot be used: not YAML or JSON/],
    ['name=!thing a', /value of "name" cannot be used: .*tag/],
    ['exchange=!!set {method}', /value of "exchange" .* tag "!!set"/],
    ['exchange=!!omap [method: topk]', /value of "exchange" .* tag "!!omap"/],
    ['exchange=&e {layers: *e}', /"\*e" is part of the value that it names/],
    ['optimizer.lr=1e400', /"1e400" is no finite number/],
    ['name.first=a', /"name" has no keys inside it/],
  ])('%s is refused', (setting, message) => {
    expect(() => applySettings(spec, [setting])).toThrow(
      coded('SETTING_INVALID', message),
    );
  });
});

describe('--switch', () => {
  test.each([
    ['50:method=topk', { at: 50, change: { method: 'topk' } }],
    [
      '50:method=topk,ratio=0.01,residual=drop',
      { at: 50, change: { method: 'topk', ratio: 0.01 }, residual: 'drop' },
    ],
    [
      '7:layers=[1,2],method=none',
      { at: 7, change: { layers: [1, 2], method: 'none' } },
    ],
  ])('%s', (text, expected) => {
    expect(parseSwitch(text)).toEqual(expected);
  });

  test.each([
    ['method=topk', /it is missing/],
    ['x:method=topk', /not "x"/],
    ['1.5:method=topk', /not "1.5"/],
    ['-1:method=topk', /not "-1"/],
    ['0:method=topk', /not "0"/],
    [':method=topk', /not ""/],
    ['50:', /is not key=value|is no key that can be set/],
    ['50:topk', /is not key=value|is no key that can be set/],
    ['50:residual=keep', /residual is "keep"/],
    ['50:ratio=1e400', /"1e400" is no finite number/],
    ['50:ratio=0.1,k=3,ratio=0.2', /"ratio" is given twice/],
    ['50:residual=drop,residual=flush', /"residual" is given twice/],
  ])('%s is refused', (text, message) => {
    expect(() => parseSwitch(text)).toThrow(coded('SWITCH_INVALID', message));
  });

  test('a change without an iteration is for now', () => {
    expect(parseChange('ratio=0.1', 'here')).toEqual({ change: { ratio: 0.1 } });
  });
});

test('a parameter of a method is given once', () => {
  expect(parseParameters(['ratio=0.1', 'k=3'], '--param')).toEqual({
    ratio: 0.1,
    k: 3,
  });
  expect(() => parseParameters(['ratio=0.1', 'ratio=0.2'], '--param')).toThrow(
    coded('SETTING_INVALID', /"ratio" is given twice/),
  );
});

test('a change that is none is answered with one that a switch takes', () => {
  expect(() => parseChange('topk', '--switch 50:topk')).toThrow(
    expect.objectContaining({
      next: 'Write it as key=value, for example method=topk.',
    }),
  );
});
