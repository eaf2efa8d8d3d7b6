/** What is made of a machine's answers, and of those it leaves out. */
import { describe, expect, test } from 'vitest';
import { parsePreflight } from '../../../src/main/deploy/preflight.ts';
import type { Preflight } from '../../../src/shared/preflight.ts';

const NOW = 1_800_000_000;
const SOUND = {
  hostname: 'box',
  system: 'Linux',
  kernel: '6.1.0',
  machine: 'x86_64',
  libc: 'glibc',
  home: '/home/ada',
  free: '9000000',
  inodes: '100000',
  clock: String(NOW),
};

/** Of a sound machine whose answers differ in these; undefined: it gives none. */
function seen(answers: Record<string, string | undefined> = {}): Preflight {
  const lines = Object.entries({ ...SOUND, ...answers })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${value}`);
  return parsePreflight(lines.join('\n'), NOW);
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
    [{ noexec: '1' }, 'error HOME_NOEXEC'],
    [{ readonly: '1' }, 'error HOME_READ_ONLY'],
    [{ free: String(399 * 1024) }, 'error DISK_FULL'],
    [{ inodes: '499' }, 'error INODES_EXHAUSTED'],
    [{ missing: 'tar' }, 'error PROGRAM_MISSING'],
    [{ clock: String(NOW + 5) }, 'warning CLOCK_OFFSET'],
    [{ clock: String(NOW - 5) }, 'warning CLOCK_OFFSET'],
  ])('%o: %s', (answers, code) => {
    expect(codes(seen(answers))).toEqual([code]);
  });

  test.each([
    // Just enough; file systems that do not count inodes; a clock within the latency.
    { free: String(400 * 1024), inodes: '500', clock: String(NOW + 4) },
    { inodes: '0' },
    { inodes: '-', free: '', clock: undefined },
    { machine: 'aarch64' },
    { libc: undefined },
  ])('none of %o', (answers) => {
    expect(codes(seen(answers))).toEqual([]);
  });

  test('the direction of a clock’s offset is reported', () => {
    expect(seen({ clock: String(NOW + 90) }).findings[0]?.message).toContain(
      '90 s ahead',
    );
    expect(seen({ clock: String(NOW - 90) }).findings[0]?.message).toContain(
      '90 s behind',
    );
  });

  test('a GPU without a Vulkan loader is no GPU for us, unless the agent brings one', () => {
    const gpu = '00000000:01:00.0, NVIDIA A100, 40960';
    // This computer has a loader for machines like itself, at the most.
    const [own, other] =
      process.arch === 'x64' ? ['x86_64', 'aarch64'] : ['aarch64', 'x86_64'];
    const machine = other;
    expect(codes(seen({ machine, gpu }))).toEqual(['warning VULKAN_MISSING']);
    expect(codes(seen({ machine, gpu, vulkan: '1' }))).toEqual([]);
    const amd = { machine, card: '0000:c3:00.0 0x1002 0x744c' };
    expect(seen(amd).gpus).toEqual([
      { bus: '00000000:C3:00.0', name: 'PCI 0x1002:0x744c' },
    ]);
    expect(codes(seen(amd))).toEqual(['warning VULKAN_MISSING']);
    const alike = seen({ machine: own, gpu });
    expect(codes(alike)).toEqual(alike.bringsVulkan ? [] : ['warning VULKAN_MISSING']);
  });
});

describe('answers', () => {
  test('what a machine does not say is missing, not zero', () => {
    const empty = parsePreflight('nothing here\n=\n', NOW);
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
