/** The command of a step, run by a shell that plays srun. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { explainStep, rankStep } from '../../../src/agent/slurm/rank-step.ts';

const JOB = { id: '7', name: 'gradwire r1 0a', token: '0a' };
let directory: string;
let entry: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), "gradwire-it's a step-"));
  entry = path.join(directory, 'entry.js');
  writeFileSync(
    entry,
    `const fs = require('node:fs');
     process.stdout.write('printed\\n');
     fs.writeSync(3, process.argv.slice(2).join() + fs.readFileSync(0, 'utf8'));`,
  );
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** What srun would start, without srun. */
function start(
  setup: readonly string[],
  given: { readonly entry?: string; readonly node?: string } = {},
): {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
} {
  const file = given.entry ?? entry;
  const step = rankStep({ job: JOB, node: 'n1', setup, entry: file });
  const command = step.slice(step.indexOf('sh'));
  const node = [given.node ?? process.execPath, file, 'a b', "c'd"];
  // A home of its own: a login shell runs its owner's profile.
  const env = { ...process.env, HOME: directory };
  const options = { input: 'orders', encoding: 'utf8', env } as const;
  return spawnSync(command[0]!, [...command.slice(1), ...node], options);
}

test('orders reach the rank, and its reports alone come back', () => {
  const { stdout, stderr, status } = start([]);
  expect({ stdout, status }).toEqual({ stdout: "a b,c'dorders", status: 0 });
  expect(stderr).toBe('printed\n');
});

test('setup lines neither read orders nor print reports, and what they set holds', () => {
  const before = ['cat', 'echo loaded', 'export QUOTED="it\'s"'];
  const { stdout, stderr } = start([...before, 'echo "$QUOTED"']);
  expect(stdout).toBe("a b,c'dorders");
  expect(stderr).toMatch(/loaded\nit's\nprinted\n$/);
});

test('a Node that is not there is looked for in the PATH', () => {
  const node = path.dirname(process.execPath);
  const { stdout } = start([`PATH=${node}:$PATH`], { node: '/nowhere/node' });
  expect(stdout).toBe("a b,c'dorders");
});

test('a file that a compute node lacks is named', () => {
  const missing = path.join(directory, 'no such file.js');
  const { stderr, status } = start([], { entry: missing });
  expect(status).toBe(1);
  expect(explainStep({ stderr }, { rank: 3, node: 'n1' })).toMatchObject({
    code: 'AGENT_NOT_SHARED',
    message: `compute node n1 has no ${missing}`,
    rank: 3,
  });
});

test('the step is of its job and node', () => {
  const step = rankStep({ job: JOB, node: 'n1', setup: [], entry });
  expect(step.slice(0, 2)).toEqual(['env', 'srun']);
  expect(step).toEqual(
    expect.arrayContaining(['--jobid=7', '--nodelist=n1', '--overlap']),
  );
});
