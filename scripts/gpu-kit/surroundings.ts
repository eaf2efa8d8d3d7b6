/**
 * Environments of the kit's programs. Gradwire's own have their home and their caches in the
 * kit's folder; those of the machine (Python, nvidia-smi) keep the user's, where their
 * packages may be, and get nothing of the kit.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Surroundings {
  /** Versions of Node and Gradwire; the driver that was found is added to it. */
  readonly own: NodeJS.ProcessEnv;
  readonly machine: NodeJS.ProcessEnv;
  /** Gradwire's home. */
  readonly home: string;
  /** The folder in which the kit may write. */
  readonly folder: string;
}

export function surroundingsIn(folder: string): Surroundings {
  const [userHome, temporary, home] = ['h', 't', 'g'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  for (const made of [userHome, temporary]) mkdirSync(made, { recursive: true });
  const caches = { TMPDIR: temporary, XDG_CACHE_HOME: temporary };
  return {
    folder,
    home,
    machine: {
      ...process.env, ...caches, CUDA_CACHE_PATH: temporary,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    own: {
      ...process.env, ...caches, HOME: userHome, GRADWIRE_HOME: home,
      __GL_SHADER_DISK_CACHE_PATH: temporary,
    },
  };
}

/**
 * Kills what belongs to a home of Gradwire: a run outlives its command, and one that was
 * cut would use the GPU in the next step. Supervisors and ranks have the home in their
 * environment, whatever they call themselves.
 */
export function endProcessesOf(home: string): void {
  // A supervisor may be starting a rank just now.
  for (let pass = 0; pass < 2; pass++) {
    for (const pid of processesOf(home)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }
}

function processesOf(home: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => environmentOf(name).includes(`GRADWIRE_HOME=${home}`))
    .map(Number);
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // It has ended by itself, or belongs to somebody else.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return [];
    throw error;
  }
}
