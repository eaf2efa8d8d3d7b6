import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  isOver,
  parseStatus,
  submitJob,
} from '../../../src/agent/slurm/slurm-client.ts';
import { strayVariables } from '../../../src/agent/slurm/slurm-command.ts';

const submission = {
  script: '#!/bin/sh\n',
  options: [],
  node: 'hpc',
  mark: { name: 'gradwire r1 0a', token: '0a' },
};

describe('what squeue prints', () => {
  test('of a job that waits', () => {
    const line = 'PENDING|ReqNodeNotAvail, UnavailableNodes:n0|N/A|N/A|8|';
    expect(parseStatus(line)).toEqual({
      state: 'PENDING',
      reason: 'ReqNodeNotAvail, UnavailableNodes:n0',
      start: undefined,
      end: undefined,
      cores: 8,
      nodeList: '',
    });
  });

  test('of a job that runs, with times of the zone of the machine', () => {
    const line = 'RUNNING|None|2026-03-01T12:00:00|2026-03-01T14:00:00|8|n[0-1,7]';
    expect(parseStatus(line)).toEqual({
      state: 'RUNNING',
      reason: undefined,
      start: new Date(2026, 2, 1, 12).getTime(),
      end: new Date(2026, 2, 1, 14).getTime(),
      cores: 8,
      nodeList: 'n[0-1,7]',
    });
  });

  test.each([
    ['PENDING', false],
    ['CONFIGURING', false],
    ['RUNNING', false],
    ['COMPLETING', false],
    ['TIMEOUT', true],
    ['PREEMPTED', true],
    ['NODE_FAIL', true],
    ['UNKNOWN', true],
  ])('%s: over is %s', (state, over) => {
    expect(isOver({ state })).toBe(over);
  });
});

test('variables of a job that the supervisor is in are not handed on', () => {
  const environment = {
    SLURM_CONF: '/etc/slurm.conf',
    SLURM_JOB_ID: '5',
    SLURM_LABELIO: '1',
    SQUEUE_PARTITION: 'short',
    SBATCH_ARRAY_INX: '1-3',
    SBATCH_ACCOUNT: 'lab',
    PATH: '/bin',
  };
  expect(strayVariables(environment)).toEqual([
    ...['SLURM_JOB_ID', 'SLURM_LABELIO', 'SQUEUE_PARTITION', 'SBATCH_ARRAY_INX'],
  ]);
});

test('a machine without Slurm says that it has none', async () => {
  const { PATH } = process.env;
  process.env.PATH = import.meta.dirname;
  try {
    await expect(submitJob(submission)).rejects.toMatchObject({
      code: 'SLURM_MISSING',
      message: 'this machine has no sbatch',
      next: expect.stringContaining('nodes edit hpc --unset slurm') as string,
    });
  } finally {
    process.env.PATH = PATH;
  }
});

test('a refused job names the machine whose settings are to be corrected', async () => {
  const { PATH } = process.env;
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-sbatch-'));
  const refusing = '#!/bin/sh\necho "sbatch: error: invalid partition" >&2\nexit 1\n';
  writeFileSync(path.join(folder, 'sbatch'), refusing, { mode: 0o755 });
  process.env.PATH = folder;
  try {
    await expect(submitJob(submission)).rejects.toMatchObject({
      code: 'SLURM_REFUSED',
      place: 'hpc',
      next: expect.stringContaining('(gradwire nodes edit hpc)') as string,
    });
  } finally {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  }
});

test('a submission whose answer was lost is no refusal: the job may be there', async () => {
  const { PATH } = process.env;
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-sbatch-'));
  const lost = 'Batch job submission failed: Zero Bytes were transmitted or received';
  const scripts = {
    sbatch: `echo "sbatch: error: ${lost}" >&2; exit 1`,
    squeue: 'exit 0',
    sacct: 'exit 0',
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  process.env.PATH = `${folder}:${PATH}`;
  try {
    await expect(submitJob({ ...submission, lookForMs: 1 })).rejects.toMatchObject({
      code: 'SLURM_SILENT',
    });
  } finally {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  }
});
