/** Settings of a run as lines. */
import { expect, it } from 'vitest';
import { settingsOf } from '../../../src/renderer/state/runs/run-settings.ts';
import { sampleSpec } from '../main/sample-records.ts';

it('has every key of a spec once, as --set takes it', () => {
  const settings = settingsOf(
    sampleSpec({ exchange: { method: 'topk', ratio: 0.01 }, world: { ranks: 2 } }),
  );
  const byKey = new Map(settings.map(({ key, value }) => [key, value]));
  expect(byKey.size).toBe(settings.length);
  expect(byKey.get('exchange.ratio')).toBe('0.01');
  expect(byKey.get('workload.model')).toBe('fnn3');
  expect(byKey.get('iterations')).toBe('10');
  expect(settings.every(({ value }) => value !== 'undefined')).toBe(true);
});

it('writes lists as they are written in a command', () => {
  const layers = [{ match: '*.bias', method: 'none' }];
  const settings = settingsOf(sampleSpec({ exchange: { method: 'topk', layers } }));
  const text = settings.find(({ key }) => key === 'exchange.layers')!.value;
  expect(JSON.parse(text)).toMatchObject(layers);
});

it('says how many names a long list has, in place of them', () => {
  const nodes = Array.from({ length: 64 }, (_, index) => `node-${index}`);
  const settings = settingsOf(sampleSpec({ world: { ranks: 128, nodes } }));
  const { brief, value } = settings.find(({ key }) => key === 'world.nodes')!;
  expect(brief).toBe('64 names');
  expect(JSON.parse(value)).toEqual(nodes);
  const few = settingsOf(sampleSpec({ world: { ranks: 4, nodes: nodes.slice(0, 2) } }));
  expect(few.filter((setting) => setting.brief !== undefined)).toEqual([]);
});
