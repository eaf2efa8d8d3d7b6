/**
 * `gradwire/engine` as another program has it: the example of docs/engine.md, in a project
 * of its own, runs, and is checked against the types that come with the package. Likewise
 * the reader of docs/payload-files.md.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LoneRank, packPayload } from '../../../src/agent/engine.ts';
import { effort } from '../../harness/effort.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../..');
const project = mkdtempSync(path.join(tmpdir(), 'gradwire-engine-'));
afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

function example(document: string, language: string): string {
  const text = readFileSync(path.join(root, 'docs', document), 'utf8');
  const found = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(text);
  if (found === null) throw new Error(`docs/${document} has no example`);
  return found[1]!;
}

const write = (name: string, text: string | Uint8Array): void => {
  writeFileSync(path.join(project, name), text);
};

beforeAll(() => {
  mkdirSync(path.join(project, 'node_modules'));
  symlinkSync(root, path.join(project, 'node_modules/gradwire'));
  write('package.json', '{ "type": "module" }');
  write('example.ts', example('engine.md', 'ts'));
  // What is wrong must be found, or the types say nothing.
  write(
    'wrong.ts',
    `import { Arena, LoneRank, referenceKernels } from 'gradwire/engine';
     const rank = new LoneRank({ method: 'topk', shape: 3 });
     const payload: string = (await rank.compress(new Float32Array(3), 0)).payload;
     referenceKernels(new Arena()).fill({ offset: '0', length: payload.length }, 0);\n`,
  );
});

test('the example of the documentation runs', async () => {
  const { stdout, stderr } = await run(process.execPath, ['example.ts'], {
    cwd: project,
  });
  expect(stderr).toBe('');
  expect(stdout).toContain('topk: sparse. SparCML');
  expect(stdout.match(/^1568 entries, 12544 bytes, [\d.]+ ms$/gm)).toHaveLength(3);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('1568 of 156800');
});

test('an older Node is told before anything else runs', async () => {
  const older = `Object.defineProperty(process.versions, 'node', { value: '20.1.0' })`;
  const program = `import('gradwire/engine').catch(({ code }) => console.log(code))`;
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(older)}`];
  const { stdout } = await run(process.execPath, [...preload, '-e', program], {
    cwd: project,
  });
  expect(stdout).toBe('NODE_TOO_OLD\n');
});

const CHECKS = [
  ['nodenext', 'the types of Node.js'],
  ['bundler', 'the DOM’s types'],
];

test.each(effort({ quick: CHECKS.slice(0, 1), soak: CHECKS }))(
  'it is checked against its types under %s, with %s',
  (resolution, platform) => {
    const library = ['es2024', 'esnext.disposable'];
    const { errors, options } = ts.convertCompilerOptionsFromJson(
      {
        target: 'es2024',
        module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
        moduleResolution: resolution,
        strict: true,
        noEmit: true,
        ...(platform === 'the DOM’s types'
          ? { lib: [...library, 'dom'], types: [] }
          : {
              lib: library,
              types: ['node'],
              typeRoots: [path.join(root, 'node_modules/@types')],
            }),
      },
      project,
    );
    expect(errors).toEqual([]);
    const examples = ['example.ts', 'wrong.ts'].map((name) => path.join(project, name));
    const program = ts.createProgram(examples, options);
    // What is ours: of the platform's own declarations it would take three times as long.
    const types = path.join(root, 'dist/engine/types');
    const checked = program
      .getSourceFiles()
      .filter(
        ({ fileName }) => fileName.startsWith(types) || examples.includes(fileName),
      );
    expect(checked.length).toBeGreaterThan(examples.length + 10);
    const found = [
      ...program.getOptionsDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...checked.flatMap((file) => [
        ...program.getSyntacticDiagnostics(file),
        ...program.getSemanticDiagnostics(file),
      ]),
    ];
    const places = found.map(({ file, start }) => {
      if (file === undefined) return 'nowhere';
      const { line } = file.getLineAndCharacterOfPosition(start!);
      return `${path.basename(file.fileName)}:${line + 1}`;
    });
    expect(places).toEqual(['wrong.ts:2', 'wrong.ts:3', 'wrong.ts:4']);
  },
);

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) process.stderr.write('Skipping the example in Python: no python3.\n');

test.skipIf(!hasPython)(
  'a payload’s file is read as its documentation says',
  async () => {
    using rank = new LoneRank({ method: 'topk', shape: [1000] });
    const { payload } = await rank.compress(new Float32Array(1000).fill(1), 0);
    write('x.gw', packPayload({ provenance: rank.provenance(0), payload }));
    write('read.py', example('payload-files.md', 'python'));
    const { stdout } = await run('python3', ['read.py', 'x.gw'], { cwd: project });
    expect(stdout).toBe('topk 1000 80\n');
  },
);
