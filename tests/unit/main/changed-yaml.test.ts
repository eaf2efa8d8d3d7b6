import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { changedYaml } from '../../../src/main/spec/changed-yaml.ts';

const text = `# Why this run exists.
name: mine # its name
exchange: { method: topk, ratio: 0.01 } # a hundredth
optimizer:
  lr: 0.2 # tuned by hand
  momentum: 0.5
iterations: 400
`;
/** The text's spec with defaults, as a check gives it. */
const spec = {
  name: 'mine',
  seed: 1,
  exchange: { method: 'topk', ratio: 0.01, collective: 'auto' },
  optimizer: { lr: 0.2, momentum: 0.5 },
  iterations: 400,
};

describe('a change of a spec in its text', () => {
  it('touches only what differs: comments, order and defaults stay as they were', () => {
    const next = {
      ...spec,
      exchange: { ...spec.exchange, ratio: 0.05 },
      optimizer: { ...spec.optimizer, lr: 0.1 },
    };
    expect(changedYaml(next, { text, spec })).toBe(
      text.replace('0.01', '0.05').replace('0.2 #', '0.1 #'),
    );
    expect(changedYaml(spec, { text, spec })).toBe(text);
  });

  it('adds and removes keys, sections and lists', () => {
    const { optimizer, ...others } = spec;
    expect(optimizer.lr).toBe(0.2);
    const next = {
      ...others,
      exchange: { method: 'none', layers: [{ match: 'bias', method: 'none' }] },
      network: { bandwidth: '1 Gbit/s' },
    };
    const changed = changedYaml(next, { text, spec });
    expect(changed).toContain('# Why this run exists.');
    expect(changed).toContain('name: mine # its name');
    expect(parse(changed)).toEqual({
      name: 'mine',
      iterations: 400,
      exchange: { method: 'none', layers: [{ match: 'bias', method: 'none' }] },
      network: { bandwidth: '1 Gbit/s' },
    });
  });

  it('removes a section with its last key', () => {
    const before = { name: 'mine', network: { latency: '1 ms' } };
    const written = { text: `${text}network: { latency: 1 ms }\n`, spec: before };
    const after = { name: 'mine' };
    expect(changedYaml(after, written)).toBe(text);
  });

  it.each([
    ['not YAML', 'name: [', spec],
    ['a value in two places', 'a: &x { b: 1 }\nc: *x\n', { a: { b: 1 }, c: { b: 1 } }],
    ['no place for a key', 'exchange: topk\n', { exchange: 'topk' }],
  ])('writes the text anew where it is %s', (_, before, said) => {
    const next = { ...said, exchange: { method: 'qsgd' } };
    expect(parse(changedYaml(next, { text: before, spec: said }))).toEqual(next);
  });
});
