/** What is wrong with a machine as somebody wrote it. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  entryProblems,
  parseNodeEntry,
} from '../../../src/shared/machines/node-entry.ts';

const box = { name: 'box', destination: 'box.example' };

test('nothing, where it is right', () => {
  expect(entryProblems({ ...box, slurm: { partition: 'gpu', nodes: 2 } })).toEqual([]);
  expect(parseNodeEntry(box)).toMatchObject({ ...box, labels: [], identities: [] });
});

test('every problem is reported, with the path and the value as written', () => {
  const raw = {
    name: 'not a name',
    destination: '',
    ports: '80-90',
    slurm: { partition: '-x', nodes: 'two', setup: ['echo', 'a\nb'] },
  };
  const problems = entryProblems(raw);
  expect(problems.map(({ path }) => path)).toEqual([
    ...['name', 'destination', 'ports'],
    ...['slurm.partition', 'slurm.nodes', 'slurm.setup'],
  ]);
  expect(problems[0]!.message).toMatch(/^"not a name" is not valid: letters, digits/);
  expect(problems[4]!.message).toBe(
    '"two" is not valid: a whole number from 1 to 100000',
  );
  expect(problems[5]!.message).toMatch(/^"a\\nb" is not valid: one line/);
});

test('a value that is missing, this computer’s name, and a long value', () => {
  expect(entryProblems({ name: 'box' })).toEqual([
    { path: 'destination', message: 'it is missing' },
  ]);
  expect(entryProblems({ ...box, name: 'this-computer' })).toEqual([
    { path: 'name', message: '"this-computer" is this computer' },
  ]);
  const [problem] = entryProblems({ ...box, name: 'x'.repeat(1000) });
  expect(problem!.message.length).toBeLessThan(120);
});

test.each(['0', '0:00:00', '00:00', '0-00:00'])('a job without time: %s', (time) => {
  expect(entryProblems({ ...box, slurm: { time } })).toEqual([
    {
      path: 'slurm.time',
      message: `"${time}" is not valid: a job needs some time: 30, 2:00:00`,
    },
  ]);
});

test('a range of one port is told what is missing', () => {
  const [problem] = entryProblems({ ...box, ports: '20000-20000' });
  expect(problem!.message).toContain('at least two ports');
});

test('the error has the first one, and the place that the user knows', () => {
  expect(() => parseNodeEntry({ ...box, ports: '1' }, (path) => `--${path}`)).toThrow(
    expect.objectContaining({ code: 'NODE_INVALID', place: '--ports' }),
  );
});

test.each([
  ...['1', '007', '1.', '1.5', '1e3', '1E3', '1.5e-3', '0x10', '0xFF', '0o17'],
  ...[
    'true',
    'No',
    'null',
    '1e',
    '0x',
    '0xg',
    '1.2.3',
    '1e3-a',
    'a1',
    '12ab',
    '10.0.0.7',
  ],
])('%s is a name only if a list in YAML reads it as a text', (name) => {
  const isName = entryProblems({ ...box, name }).length === 0;
  const [read] = parse(`[${name}]`) as unknown[];
  // “no” and “on” are texts to YAML 1.2, but not to everybody.
  if (isName) expect(read).toBe(name);
  else expect(typeof read !== 'string' || /^(yes|no|on|off)$/i.test(name)).toBe(true);
});
