import { expect, test } from 'vitest';
import { MemoryKills, MORE_MEMORY } from '../../../src/agent/memory/memory-kills.ts';
import { deathOf } from '../../../src/agent/world/rank-death.ts';

/** Files of a machine, which change while it runs. */
const machine = (files: Record<string, string>) => ({
  files,
  read: (file: string): string | undefined => files[file],
});

const VERSIONS = {
  'version 2': {
    kills: '/sys/fs/cgroup/job/memory.events',
    text: (count: number) => `low 0\nhigh 0\nmax 41\noom 3\noom_kill ${count}\n`,
    files: {
      '/proc/self/cgroup': '0::/job\n',
      '/sys/fs/cgroup/memory.events': 'oom_kill 7\n',
      '/sys/fs/cgroup/job/memory.max': '536870912\n',
    },
  },
  'version 1': {
    kills: '/sys/fs/cgroup/memory/job/memory.oom_control',
    text: (count: number) => `oom_kill_disable 0\nunder_oom 0\noom_kill ${count}\n`,
    files: {
      '/proc/self/cgroup': '5:cpu:/\n4:memory:/job\n',
      '/sys/fs/cgroup/memory/memory.oom_control': 'oom_kill 7\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      '/sys/fs/cgroup/memory/job/memory.limit_in_bytes': '536870912\n',
    },
  },
  // Its group is named as the host sees it, and is the root of what it sees.
  'a container': {
    kills: '/sys/fs/cgroup/memory.events',
    text: (count: number) => `oom_kill ${count}\n`,
    files: {
      '/proc/self/cgroup': '0::/kubepods/pod1/box\n',
      '/sys/fs/cgroup/memory.max': '536870912\n',
    },
  },
};

test.each(Object.entries(VERSIONS))(
  'a kill for lack of memory is seen, with the limit: %s',
  (_name, { files, kills, text }) => {
    const box = machine({ ...files, [kills]: text(2) });
    const memory = new MemoryKills(box.read);
    expect(memory.reason).toBeUndefined();
    box.files[kills] = text(3);
    expect(memory.reason).toBe(
      'the system killed for lack of memory in its control group, which may have 512 MiB',
    );
    expect(new MemoryKills(box.read).reason).toBeUndefined();
  },
);

test('without a limit only the kill is told, and without a count nothing', () => {
  const events = '/sys/fs/cgroup/memory.events';
  const box = machine({ '/proc/self/cgroup': '0::/\n', [events]: 'oom_kill 0\n' });
  const memory = new MemoryKills(box.read);
  box.files[events] = 'oom_kill 1\n';
  expect(memory.reason).toBe(
    'the system killed for lack of memory in its control group',
  );
  expect(new MemoryKills(() => undefined).reason).toBeUndefined();
});

test('the death of a rank names it', () => {
  const reason = 'the system killed for lack of memory in its control group';
  const exit = { code: null, signal: 'SIGKILL', stderr: 'warning: x\n' } as const;
  expect(deathOf(3, { ...exit, reason })).toMatchObject({
    code: 'WORKER_DIED',
    message: `the process of rank 3 was killed by SIGKILL: ${reason}`,
    next: MORE_MEMORY,
  });
  expect(deathOf(3, exit).next).toContain('killed by a user');
});
