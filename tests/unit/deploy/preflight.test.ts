/** What is made of a machine's answers, and of those it leaves out. */
import { describe, expect, test } from 'vitest';
import { preflightText } from '../../../src/cli/text/preflight-text.ts';
import { offsetOf, parsePreflight } from '../../../src/main/deploy/preflight.ts';
import type { Preflight } from '../../../src/shared/machines/preflight.ts';

const SOUND = {
  hostname: 'box',
  system: 'Linux',
  kernel: '6.1.0',
  machine: 'x86_64',
  libc: 'glibc',
  home: '/home/ada',
  free: '9000000',
  inodes: '100000',
};

/** Of a sound machine whose answers differ in these; undefined: it gives none. */
function seen(
  answers: Record<string, string | undefined> = {},
  clockOffset = 0,
): Preflight {
  const lines = Object.entries({ ...SOUND, ...answers })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${value}`);
  return parsePreflight(lines.join('\n'), clockOffset);
}

const codes = ({ findings }: Preflight): readonly string[] =>
  findings.map(({ level, code }) => `${level} ${code}`);

describe('findings', () => {
  test('a sound machine has none', () => {
    expect(seen().findings).toEqual([]);
    expect(seen()).toMatchObject({ freeMiB: 8789, clockOffsetSeconds: 0, gpus: [] });
  });

  test.each([
    [{ system: 'Darwin' }, 'error PLATFORM_UNSUPPORTED'],
    [{ machine: 'riscv64' }, 'error PLATFORM_UNSUPPORTED'],
    [{ libc: 'musl' }, 'error LIBC_UNSUPPORTED'],
    [{ glibc: '2.27' }, 'error GLIBC_TOO_OLD'],
    [{ glibc: '2.17', node: 'v22.1.0' }, 'error GLIBC_TOO_OLD'],
    [{ missing: 'libstdc++.so.6' }, 'error LIBRARY_MISSING'],
    [{ addressspace: String(4_000_000 * 1024) }, 'error ADDRESS_SPACE_LIMITED'],
    [{ openfiles: '63' }, 'error OPEN_FILES_LIMITED'],
    [{ openfiles: '255' }, 'warning OPEN_FILES_LIMITED'],
    [{ mostprocesses: '255' }, 'warning PROCESSES_LIMITED'],
    [{ noexec: '1' }, 'error HOME_NOEXEC'],
    [{ readonly: '1' }, 'error HOME_READ_ONLY'],
    [{ free: String(399 * 1024) }, 'error DISK_FULL'],
    [{ inodes: '499' }, 'error INODES_EXHAUSTED'],
    [{ missing: 'tar' }, 'error PROGRAM_MISSING'],
    [{ late: 'nvidia-smi' }, 'warning TOOL_SILENT'],
    [{ failed: 'nvidia-smi It cannot talk to its driver.' }, 'warning TOOL_FAILED'],
    [{ slurmmissing: '1' }, 'error SLURM_MISSING'],
    [{ slurmsilent: 'sinfo failed: Unable to contact' }, 'error SLURM_SILENT'],
    [{ slurmpartition: 'gone' }, 'error SLURM_PARTITION_UNKNOWN'],
  ])('%o: %s, with a next step', (answers, code) => {
    const { findings } = seen(answers);
    expect(codes(seen(answers))).toEqual([code]);
    expect(findings[0]!.next).toMatch(/\.$/);
  });

  test.each([
    // Just enough; file systems that do not count inodes.
    { free: String(400 * 1024), inodes: '500' },
    { inodes: '0' },
    { inodes: '-', free: '' },
    { machine: 'aarch64' },
    { libc: undefined },
    { glibc: '2.28' },
    { glibc: '3.0' },
    { glibc: '2.28.9000' },
    // A Node that runs there all the same.
    { glibc: '2.17', node: 'v24.3.0', missing: 'libstdc++.so.6' },
    { addressspace: String(12_000_000 * 1024), openfiles: '256', mostprocesses: '256' },
    // A login node with the driver of its compute nodes.
    { failed: 'nvidia-smi No devices were found' },
  ])('none of %o', (answers) => {
    expect(codes(seen(answers))).toEqual([]);
  });

  test('a clock’s offset of 5 s and more is reported, with its direction', () => {
    expect(codes(seen({}, 4))).toEqual([]);
    for (const offset of [5, -5])
      expect(codes(seen({}, offset))).toEqual(['warning CLOCK_OFFSET']);
    expect(seen({}, 90).findings[0]?.message).toContain('90 s ahead');
    expect(seen({}, -90).findings[0]?.message).toContain('90 s behind');
  });

  test.each([
    // Read at some moment of a slow answer: no offset is known.
    [1000, { asked: 1000, answered: 1014 }, 0],
    [1013, { asked: 1000, answered: 1014 }, 0],
    [NaN, { asked: 1000, answered: 1001 }, 0],
    // At least that much, whenever it was read.
    [1020, { asked: 1000, answered: 1014 }, 6],
    [990, { asked: 1000, answered: 1014 }, -9],
    [1090, { asked: 1000, answered: 1000.2 }, 90],
    [910, { asked: 1000, answered: 1000.2 }, -89],
    // The same clock, whose fraction of a second is not printed; and a fraction of one off.
    [1000, { asked: 1000.9, answered: 1001 }, 0],
    [1000, { asked: 1000.7, answered: 1000.9 }, 0],
    [1000, { asked: 1001.2, answered: 1001.4 }, 0],
    [1001, { asked: 1000.7, answered: 1000.9 }, 0],
  ])('a clock that read %s: %o: an offset of %s s', (there, times, offset) => {
    expect(offsetOf(there, times)).toBe(offset);
  });

  test('a GPU without a Vulkan loader is no GPU for us, unless the agent brings one', () => {
    const gpu = '00000000:01:00.0, NVIDIA A100, 40960';
    // This computer has a loader for machines like itself, at the most.
    const [own, other] =
      process.arch === 'x64' ? ['x86_64', 'aarch64'] : ['aarch64', 'x86_64'];
    const machine = other;
    const icd = 'libGLX_nvidia.so.0';
    expect(codes(seen({ machine, gpu, icd }))).toEqual(['warning VULKAN_MISSING']);
    expect(codes(seen({ machine, gpu, icd, vulkan: '1' }))).toEqual([]);
    const alike = seen({ machine: own, gpu, icd });
    expect(codes(alike)).toEqual(alike.bringsVulkan ? [] : ['warning VULKAN_MISSING']);
  });

  test.each([
    [{ gpu: '00000000:01:00.0, NVIDIA A100, 40960' }, '/usr/lib/libGLX_nvidia.so.0'],
    [{ card: '0000:c3:00.0 0x1002 0x744c' }, '/usr/lib/libvulkan_radeon.so'],
    [{ card: '0000:c3:00.0 0x1002 0x744c' }, 'amdvlk64.so'],
    [{ card: '0000:03:00.0 0x8086 0x0bd5' }, 'libvulkan_intel.so'],
  ])('%o is a GPU for us only with %s, a Vulkan driver of its own', (gpu, icd) => {
    const vulkan = '1';
    // A driver that draws on the CPU is on most machines with Mesa.
    for (const other of [undefined, 'libvulkan_lvp.so', 'libvulkan_virtio.so']) {
      const { findings } = seen({ ...gpu, vulkan, icd: other });
      expect(findings).toMatchObject([{ code: 'VULKAN_DRIVER_MISSING' }]);
      expect(findings[0]!.next).toContain('installed there');
    }
    expect(codes(seen({ ...gpu, vulkan, icd }))).toEqual([]);
  });

  test('other users’ processes are counted where the machine can tell', () => {
    const vulkan = { vulkan: '1', icd: 'libvulkan_radeon.so' };
    const card = '0000:c3:00.0 0x1002 0x744c';
    const amd = {
      bus: '00000000:C3:00.0',
      name: 'PCI 0x1002:0x744c',
      vendor: 'amd',
    };
    expect(seen({ ...vulkan, card }).gpus).toEqual([amd]);
    const processes = 'amd';
    expect(seen({ ...vulkan, card, processes }).gpus).toEqual([
      { ...amd, othersProcesses: 0 },
    ]);
    const used = seen({ ...vulkan, card, processes, busy: '0000:c3:00.0' });
    expect(used.gpus).toEqual([{ ...amd, othersProcesses: 1 }]);
    expect(codes(used)).toEqual(['warning GPU_IN_USE']);
    // An unknown maker's, such as that of a server's own screen: it needs nothing of ours.
    const plain = seen({ vulkan: '1', card: '0000:02:00.0 0x1a03 0x2000', processes });
    expect(plain.gpus).toEqual([
      { bus: '00000000:02:00.0', name: 'PCI 0x1a03:0x2000' },
    ]);
    expect(codes(plain)).toEqual([]);
  });
});

test('says whether a machine is ready for runs', () => {
  const last = (answers: Record<string, string>): string | undefined =>
    preflightText('box', seen(answers)).split('\n').at(-1);
  expect(last({})).toBe('ready for runs');
  expect(last({ late: 'nvidia-smi' })).toBe('ready for runs, with warnings');
  expect(last({ late: 'nvidia-smi', missing: 'tar' })).not.toContain('ready');
});

describe('answers', () => {
  test('what a machine does not say is missing, not zero', () => {
    const empty = parsePreflight('nothing here\n=\n', 0);
    expect(empty).toMatchObject({ hostname: 'unknown', libc: 'unknown', home: '' });
    expect([empty.cores, empty.memoryMiB, empty.freeMiB, empty.node]).toEqual([
      ...[undefined, undefined, undefined, undefined],
    ]);
  });

  test.each([
    [undefined, true],
    ['v20.20.2', true],
    ['v24.0.0', false],
    ['v26.1.0', false],
    ['command not found', true],
  ])('Node %s there: one is brought along: %s', (node, bringsNode) => {
    expect(seen({ node }).bringsNode).toBe(bringsNode);
  });

  test('values may hold = and spaces; keys may come again', () => {
    const { home, addresses, connection } = seen({
      home: '/home/a=b c',
      address: '10.0.0.7\naddress=fd00::7',
      ssh: '10.0.0.1 50000 10.0.0.7 22',
    });
    expect(home).toBe('/home/a=b c');
    expect(addresses).toEqual(['10.0.0.7', 'fd00::7']);
    expect(connection).toEqual({ client: '10.0.0.1', server: '10.0.0.7' });
  });
});
