/** A Python with PyTorch as a peer: that of the tests, else the system's, unless another is given. */
import { spawn } from 'node:child_process';
import { hasPython, pythonFile } from '../../scripts/python-environment.ts';

export const peerPython = hasPython('tests') ? pythonFile : '/usr/bin/python3';

/** The reason why there is no PyTorch, or undefined. */
export async function torchMissing(python = peerPython): Promise<string | undefined> {
  const { code, stderr } = await runPython(python, ['-c', 'import torch']);
  if (code === 0) return undefined;
  const reason = stderr.trim().split('\n').at(-1) ?? '';
  const next =
    python === peerPython ? 'npm test installs it into .venv' : 'install it there';
  return `${python} has no torch (${reason}): ${next}`;
}

/** Runs a script, and returns the JSON object that it prints. */
export async function askPython<T>(
  python: string,
  script: string,
  ...args: string[]
): Promise<T> {
  const { code, stdout, stderr } = await runPython(python, [script, ...args]);
  if (code !== 0) throw new Error(`${script} failed: ${stderr.trim()}`);
  return JSON.parse(stdout) as T;
}

async function runPython(
  python: string,
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(python, args, {
    env: { ...process.env, OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return await new Promise((resolve) => {
    child
      .on('error', (error) => {
        resolve({ code: null, stdout, stderr: error.message });
      })
      .on('close', (code) => {
        resolve({ code, stdout, stderr });
      });
  });
}
