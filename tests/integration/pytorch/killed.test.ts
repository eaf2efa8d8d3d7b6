/** Programs in real PyTorch of which a process is killed: the run names it, and nothing is left. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { GradwireHome, type RunningCommand } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { pytorch } from '../../harness/python.ts';

const script = path.join(import.meta.dirname, 'ddp_variants.py');
const torchrun = path.join(path.dirname(pytorch ?? ''), 'torchrun');

describe.skipIf(pytorch === undefined)('SIGKILL', () => {
  const temporary = mkdtempSync(path.join(tmpdir(), 'gradwire-killed-'));
  const home = new GradwireHome();
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(temporary, { recursive: true, force: true });
  });

  const program = [script, path.join(temporary, 'out'), 'endless', '--join'];

  const exec = (...args: readonly string[]): RunningCommand =>
    home.start(['exec', '--json', '--ranks', '2', ...args], {
      environment: { TMPDIR: temporary },
    });
  const trains = (command: RunningCommand): Promise<unknown> =>
    command.record('iteration', ({ iteration }) => iteration >= 5);
  const notShell = ({ title }: { readonly title: string }): boolean =>
    !/sh -c|cli\.js/.test(title);
  const programs = (text = 'ddp_variants.py') => home.processes(text).filter(notShell);

  /** Neither a program nor what it shared with its agent. */
  async function nothingIsLeft(): Promise<void> {
    await until(programs, (left) => left.length === 0, 'the programs to end');
    const shared = (): readonly string[] =>
      readdirSync(temporary).filter((name) => /^gradwire-[0-9a-f]{16}/.test(name));
    await until(shared, (left) => left.length === 0, 'what they shared to be removed');
  }

  test.each(['program', 'agent'] as const)('of the %s of a rank', async (who) => {
    const command = exec('--', pytorch!, ...program);
    const { processes } = await command.record('started');
    await trains(command);
    const agent = processes.find(({ rank }) => rank === 1)!;
    const python = programs().find(
      ({ parent, title }) => title.includes('python') && parent === agent.pid,
    );
    process.kill(who === 'agent' ? agent.pid : python!.pid, 'SIGKILL');
    expect((await command.finished).code).toBe(1);
    const { error } = await command.record('failed');
    const code = who === 'agent' ? 'WORKER_DIED' : 'PROGRAM_FAILED';
    expect(error).toMatchObject({ code, rank: 1 });
    expect(error.message).toContain('SIGKILL');
    await nothingIsLeft();
  });

  test('of torchrun, which started the ranks', async () => {
    const launch = [torchrun, '--nproc-per-node', '2', ...program];
    const command = exec('--external', '--', ...launch);
    await trains(command);
    const [launcher] = programs('torchrun');
    process.kill(launcher!.pid, 'SIGKILL');
    expect((await command.finished).code).toBe(1);
    const { error } = await command.record('failed');
    expect(error.code).toBe('LAUNCHER_FAILED');
    expect(error.message).toContain('SIGKILL');
    await nothingIsLeft();
  });
});
