/** A program that a step runs: with a time limit, and its output kept if it is cut. */
import { spawn } from 'node:child_process';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly cut: boolean;
  readonly seconds: number;
}

/** Seconds between asking a program to end and killing it. */
export const GRACE_S = 3;

/** Programs that run now; they end with this process. */
const running = new Set<number>();

export function endAll(): void {
  for (const pid of running) end(pid, 'SIGKILL');
}

/** Ends a program and what it started: it leads a process group. */
function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Waits for a program; after `seconds` it is told to end, and soon after that killed. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { seconds, env }: { seconds: number; env: NodeJS.ProcessEnv },
): Promise<Finished> {
  const began = performance.now();
  const child = spawn(program, args, {
    env, detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (more: string) => {
      text[name] += more;
    });
  }
  let cut = false;
  const timers = [
    setTimeout(() => {
      cut = true;
      if (pid !== undefined) end(pid, 'SIGTERM');
    }, 1000 * seconds),
    setTimeout(
      () => {
        if (pid !== undefined) end(pid, 'SIGKILL');
      },
      1000 * (seconds + GRACE_S),
    ),
  ];
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      text.stderr += error.message;
      resolve(null);
    });
    child.on('close', resolve);
  });
  for (const timer of timers) clearTimeout(timer);
  if (pid !== undefined) {
    // What it left behind must not use the GPU in the next step.
    end(pid, 'SIGKILL');
    running.delete(pid);
  }
  return { code, ...text, cut, seconds: (performance.now() - began) / 1000 };
}

/** The reason why a program has no result, in one paragraph; undefined if it succeeded. */
export function failureOf({ code, cut, seconds, stderr }: Finished): string | undefined {
  if (cut) return `cut after ${seconds.toFixed(0)} s`;
  return code === 0 ? undefined : `exit code ${code}: ${stderr.trim().slice(-2000)}`;
}
