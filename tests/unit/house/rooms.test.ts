/** The lint rule of the rooms: what it refuses, and that it knows every folder. */
import { Linter } from 'eslint';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { requireNoCycle, roomRule, rooms } from '../../../eslint-rooms.js';

const root = path.join(import.meta.dirname, '../../..');
const table = rooms;

function complaints(file: string, code: string): readonly string[] {
  const config: Linter.Config[] = [
    {
      files: ['**/*.ts'],
      plugins: { gradwire: { rules: { rooms: roomRule } } },
      rules: { 'gradwire/rooms': 'error' },
    },
  ];
  return new Linter({ cwd: root })
    .verify(code, config, { filename: path.join(root, 'src', file) })
    .map(({ message }) => message);
}

describe('an import is refused', () => {
  it.each([
    ['upwards', 'agent/memory/a.ts', "import '../kernels/kernels.ts';"],
    ['of a parent', 'agent/methods/policy/a.ts', "import { a } from '../method.ts';"],
    ['across processes', 'main/runs/a.ts', "import '../../agent/engine.ts';"],
    ['deeper than the entry', 'cli/commands/a.ts', "import '../../agent/plan/a.ts';"],
    [
      'beside an interface',
      'agent/collectives/a.ts',
      "export * from '../transport/mesh.ts';",
    ],
    [
      'at run time',
      'agent/plan/a.ts',
      "void import('../exchange/exchange-engine.ts');",
    ],
    ['of Node, in a browser', 'renderer/state/a.ts', "import 'node:fs';"],
    ['in an unknown room', 'agent/attic/a.ts', "import '../memory/arena.ts';"],
  ])('%s', (_, file, code) => {
    expect(complaints(file, code)).toHaveLength(1);
  });
});

it.each([
  ['agent/collectives/a.ts', "import '../transport/transport.ts';"],
  ['agent/codec/a.ts', "import '../kernels/wasm/load.ts';"],
  ['cli/commands/a.ts', "import '../../agent/engine.ts';"],
  ['agent/memory/a.ts', "import { a } from './arena.ts'; import 'node:fs';"],
])('%s may: %s', (file, code) => {
  expect(complaints(file, code)).toEqual([]);
});

describe('the table', () => {
  const memory = [...table['agent/memory']!];
  afterEach(() => {
    table['agent/memory'] = memory;
  });

  it('has every folder that has code', () => {
    const files = execFileSync('git', ['ls-files', 'src'], {
      cwd: root,
      encoding: 'utf8',
    })
      .split('\n')
      .filter((file) => /\.(ts|svelte)$/.test(file) && !file.includes('/assembly/'));
    const folders = new Set(
      files.map((file) => path.dirname(file).slice('src/'.length)),
    );
    expect([...folders].filter((folder) => table[folder] === undefined)).toEqual([]);
    expect(Object.keys(table).filter((room) => !folders.has(room))).toEqual([
      'renderer/styles',
    ]);
  });

  it('is refused where rooms import one another in a ring', () => {
    table['agent/memory'] = [...memory, 'agent/kernels'];
    expect(requireNoCycle).toThrow('agent/memory -> agent/kernels -> agent/memory');
  });
});
