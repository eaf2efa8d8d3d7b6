/** Runs of scripted programs, by commands that share one supervisor. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { GradwireHome } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { SupervisorNode } from '../runs/supervisor-node.ts';

const script = path.join(import.meta.dirname, 'scripted-program.ts');
export const program = (...args: readonly string[]) => [
  '--',
  process.execPath,
  script,
  ...args,
];
const BRIDGE = /^gradwire-[0-9a-f]{16}$/;

/** Messages about a loss and a metric that are not finite. */
export const NOT_FINITE = expect.stringMatching(
  /^the program logged the (loss NaN|accuracy -Infinity) in iteration [23]; /,
) as string;

/** Commands of a file's tests; their supervisor ends with those. */
export function programsOfFile() {
  /** The directory in which bridges are made. */
  const temporary = mkdtempSync(path.join(tmpdir(), 'gradwire-programs-'));
  let node: SupervisorNode;
  beforeAll(async () => {
    node = await SupervisorNode.start(undefined, { TMPDIR: temporary });
  });
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
    rmSync(temporary, { recursive: true, force: true });
  });

  const home = (): GradwireHome => node.home;
  const exec = (...args: readonly string[]) =>
    home().start(['exec', '--json', ...args], { environment: { TMPDIR: temporary } });
  /** Programs of this home that run. */
  const scripted = (): readonly number[] =>
    home()
      .processes('scripted-program')
      .filter(({ title }) => !/sh -c|cli\.js/.test(title))
      .map(({ pid }) => pid);
  return {
    home,
    exec,
    joined: (ranks: number, ...args: readonly string[]) =>
      exec('--ranks', String(ranks), ...args),
    scripted,
    /** Neither a program nor its guard, and no socket. */
    nothingIsLeft: async (): Promise<void> => {
      await until(
        scripted,
        (left) => left.length === 0,
        'programs and their guards to end',
      );
      await until(
        () => readdirSync(temporary).filter((name) => BRIDGE.test(name)),
        (left) => left.length === 0,
        'the bridges to be removed',
      );
    },
  };
}
