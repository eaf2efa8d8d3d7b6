/** Debian's Python with PyTorch, on one thread. */
import { spawn } from 'node:child_process';

const python = '/usr/bin/python3';

/** Why there is no PyTorch, or undefined. */
export async function torchMissing(): Promise<string | undefined> {
  const { code, stderr } = await runPython(['-c', 'import torch']);
  if (code === 0) return undefined;
  const reason = stderr.trim().split('\n').at(-1) ?? '';
  return `${python} has no torch (${reason}): install Debian's python3-torch`;
}

/** What a script prints: one JSON object. */
export async function askPython<T>(script: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runPython([script, ...args]);
  if (code !== 0) throw new Error(`${script} failed: ${stderr.trim()}`);
  return JSON.parse(stdout) as T;
}

async function runPython(
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
