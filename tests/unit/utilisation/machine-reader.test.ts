/** Machines as files: containers and batch systems of both versions of control groups. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { MachineReader } from '../../../src/agent/supervisor/utilisation/machine-reader.ts';

const GB = 2 ** 30;
let root = '';
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function machine(files: Readonly<Record<string, string>>): MachineReader {
  root = mkdtempSync(path.join(tmpdir(), 'gradwire-machine-'));
  const common = {
    '/proc/self/status': 'Name: node\nCpus_allowed_list:\t0-3\n',
    '/proc/stat': 'cpu 9 9\ncpu0 10 0 0 0\ncpu3 20 0 0 0 0 0 0 3\ncpu4 500 0 0 0\n',
    '/proc/meminfo': `MemTotal: ${(16 * GB) / 1024} kB\nMemAvailable: ${(12 * GB) / 1024} kB\n`,
    '/proc/net/dev': [
      'lo: 9 0 0 0 0 0 0 0 9 0',
      'eth0: 70 0 0 0 0 0 0 0 30 0',
      'bond0: 70 0 0 0 0 0 0 0 30 0',
      'docker0: 5 0 0 0 0 0 0 0 5 0',
    ].join('\n'),
    '/sys/class/net/lo/flags': '',
    '/sys/class/net/eth0/device': '',
    '/sys/class/net/bond0/flags': '',
    '/sys/class/net/docker0/flags': '',
  };
  for (const [name, text] of Object.entries({ ...common, ...files })) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return new MachineReader(root);
}

test('without limits: the processors that may be used, all memory, bytes that leave it once', () => {
  const reader = machine({ '/proc/self/cgroup': '0::/user.slice\n' });
  expect(reader.processors).toBe(4);
  expect(reader.read()).toEqual({
    processors: { busy: 300, stolen: 30 },
    memory: { total: 16 * GB, used: 4 * GB },
    network: { received: 70, sent: 30, loopback: 9 },
  });
});

test('version 2: the tightest of the groups around counts', () => {
  const slurm = '/sys/fs/cgroup/slurm';
  const reader = machine({
    '/proc/self/cgroup': '0::/slurm/job_1/step_0\n',
    [`${slurm}/cpu.max`]: '800000 100000\n',
    [`${slurm}/job_1/cpu.max`]: '150000 100000\n',
    [`${slurm}/job_1/cpu.stat`]: 'usage_usec 5000000\nuser_usec 1\n',
    [`${slurm}/job_1/step_0/cpu.max`]: 'max 100000\n',
    [`${slurm}/job_1/step_0/memory.max`]: 'max\n',
    [`${slurm}/job_1/memory.max`]: `${2 * GB}\n`,
    [`${slurm}/job_1/memory.current`]: `${GB}\n`,
    [`${slurm}/job_1/memory.stat`]: `anon 5\ninactive_file ${GB / 4}\n`,
  });
  expect(reader.processors).toBe(1.5);
  expect(reader.read()).toMatchObject({
    processors: { busy: 5000 },
    memory: { total: 2 * GB, used: 0.75 * GB },
  });
});

test('of equal limits the outermost counts: a step has its job’s limit, not its use', () => {
  const job = '/sys/fs/cgroup/slurm/job_1';
  const limits = (group: string, used: number): Readonly<Record<string, string>> => ({
    [`${group}/cpu.max`]: '200000 100000\n',
    [`${group}/cpu.stat`]: `usage_usec ${1e6 * used}\n`,
    [`${group}/memory.max`]: `${2 * GB}\n`,
    [`${group}/memory.current`]: `${used * (GB / 8)}\n`,
  });
  const reader = machine({
    '/proc/self/cgroup': '0::/slurm/job_1/step_3/user\n',
    ...limits(job, 8),
    ...limits(`${job}/step_3`, 1),
  });
  expect(reader.read()).toMatchObject({
    processors: { busy: 8000 },
    memory: { total: 2 * GB, used: GB },
  });
});

test('version 1, in a container that sees only its own group', () => {
  const groups = '/sys/fs/cgroup';
  const reader = machine({
    '/proc/self/cgroup':
      '5:memory:/docker/7f\n4:cpu,cpuacct:/docker/7f\n1:name=systemd:/x\n',
    [`${groups}/cpu/cpu.cfs_quota_us`]: '50000\n',
    [`${groups}/cpu/cpu.cfs_period_us`]: '100000\n',
    [`${groups}/cpuacct/cpuacct.usage`]: '7000000\n',
    [`${groups}/memory/memory.limit_in_bytes`]: `${GB}\n`,
    [`${groups}/memory/memory.usage_in_bytes`]: `${GB / 2}\n`,
  });
  expect(reader.processors).toBe(0.5);
  expect(reader.read()).toMatchObject({
    processors: { busy: 7 },
    memory: { total: GB, used: GB / 2 },
  });
});

test('a quota above the processors, or an unlimited group, is none', () => {
  const reader = machine({
    '/proc/self/cgroup': '4:memory,cpu:/\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '900000\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
  });
  expect(reader.processors).toBe(4);
  expect(reader.read()).toMatchObject({
    processors: { busy: 300 },
    memory: { total: 16 * GB },
  });
});

test('where the system says none of it, only the processors are known', () => {
  const reader = new MachineReader('/no/such/machine');
  expect(reader.processors).toBe(availableParallelism());
  const { memory, network, processors } = reader.read();
  expect([memory, network]).toEqual([undefined, undefined]);
  expect(processors).toEqual({ busy: expect.any(Number) as number });
});
