/** What a check finds on machines: GPUs and who uses them, drivers, tools that hang, the clock. */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { RemoteNode } from '../../../src/main/cluster/remote-node.ts';
import { SshPool } from '../../../src/main/ssh/pool.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';
import { effort } from '../../harness/effort.ts';
import { until } from '../../harness/processes.ts';
import { SshServer } from '../../harness/sshd.ts';
import { homeOfFile, Machine } from './machine.ts';

const home = homeOfFile();

/** Mounts need root. */
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

describe('a check', () => {
  test('its GPUs are identified by bus, with other users’ processes', async () => {
    await using machine = await Machine.start(home(), {
      shellStart: 'PATH=$HOME/bin:$PATH',
    });
    const program = path.join(machine.server.home, 'bin', 'nvidia-smi');
    mkdirSync(path.dirname(program));
    // One process is ours, the other cannot be seen: it is a stranger's.
    const answers = `#!/bin/sh
case "$*" in
  *driver_version*) echo 570.86.10;;
  *memory.total*) echo "00000000:3B:00.0, NVIDIA H100 PCIe, 81559"
    echo "00000000:5E:00.0, NVIDIA H100 PCIe, [N/A]";;
  *compute-apps*) echo "00000000:3B:00.0, ${process.pid}"; echo "00000000:5E:00.0, 99999999";;
esac
`;
    await writeFile(program, answers, { mode: 0o755 });
    const { driver, gpus, findings } = await machine.node.check();
    expect(driver).toBe('570.86.10');
    const card = { name: 'NVIDIA H100 PCIe', vendor: 'nvidia' };
    expect(gpus).toEqual([
      { ...card, bus: '00000000:3B:00.0', memoryMiB: 81_559, othersProcesses: 0 },
      { ...card, bus: '00000000:5E:00.0', othersProcesses: 1 },
    ]);
    // Neither has a Vulkan driver on this machine, as where only CUDA is installed.
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'VULKAN_DRIVER_MISSING', level: 'warning' }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'GPU_IN_USE', level: 'warning' }),
    );
  });

  test('a login shell that hangs is named, long before all tools could have', async () => {
    await using machine = await Machine.start(home(), { shellStart: 'sleep 30' });
    await expect(machine.check(10, 300)).rejects.toMatchObject({
      code: 'SSH_TIMEOUT',
      message: 'its login shell has run no command within 0.3 s',
    });
  });

  test.each([
    ['its output', ''],
    ['its stderr', ' >&2'],
  ])('a tool that fails is named, with %s; its GPUs are seen', async (_, to) => {
    // As Linux shows NVIDIA's GPUs and their audio functions, whatever their driver does.
    const tree = path.join(home().directory, 'devices');
    for (const [bus, kind] of [
      ['0000:3b:00.0', '0x030200'],
      ['0000:3b:00.1', '0x040300'],
    ]) {
      mkdirSync(path.join(tree, bus!), { recursive: true });
      for (const [name, text] of [
        ['vendor', '0x10de'],
        ['class', kind],
        ['device', '0x2330'],
      ])
        await writeFile(path.join(tree, bus!, name!), `${text}\n`);
    }
    await using machine = await Machine.start(home(), {
      shellStart: 'PATH=$HOME/bin:$PATH',
      ...(isRoot ? { mounts: { '/sys/bus/pci/devices': tree } } : {}),
    });
    const program = path.join(machine.server.home, 'bin', 'nvidia-smi');
    mkdirSync(path.dirname(program));
    const words = "NVIDIA-SMI couldn't communicate with the NVIDIA driver";
    await writeFile(program, `#!/bin/sh\necho "${words}."${to}\nexit 9\n`, {
      mode: 0o755,
    });
    const { gpus, findings } = await machine.node.check();
    expect(findings).toContainEqual({
      level: 'warning',
      code: 'TOOL_FAILED',
      message: expect.stringContaining(`nvidia-smi fails there`) as string,
      next: expect.stringContaining('Run nvidia-smi there') as string,
    });
    const [failed] = findings.filter(({ code }) => code === 'TOOL_FAILED');
    expect(failed!.message.endsWith(`: ${words}`)).toBe(true);
    if (isRoot) {
      expect(gpus).toEqual([
        { bus: '00000000:3B:00.0', name: 'PCI 0x10de:0x2330', vendor: 'nvidia' },
      ]);
    }
  });

  const withTimeout = ['with', ''];
  const without = ['without', 'PATH=$HOME/tools\n'];
  test.each(effort({ quick: [withTimeout], soak: [withTimeout, without] }))(
    'a tool that hangs is ended, %s timeout there',
    async (_, path_) => {
      await using machine = await Machine.start(home(), {
        shellStart: `${path_}PATH=$HOME/bin:$PATH`,
      });
      const { home: there } = machine.server;
      // All programs of this machine but one.
      const tools = path.join(there, 'tools');
      mkdirSync(tools);
      for (const name of readdirSync('/usr/bin')) {
        if (name !== 'timeout') symlinkSync(`/usr/bin/${name}`, path.join(tools, name));
      }
      const program = path.join(there, 'bin', 'nvidia-smi');
      mkdirSync(path.dirname(program));
      const pid = path.join(there, 'pid');
      await writeFile(
        program,
        `#!/bin/sh\necho $$ >>${pid}\ncase "$*" in\n*driver*) echo 570;;\n` +
          '*) exec sleep 1000;;\nesac\n',
        { mode: 0o755 },
      );
      const { driver, findings, home: told } = await machine.check(2);
      expect({ driver, told }).toEqual({ driver: '570', told: there });
      const [late] = findings.filter(({ code }) => code === 'TOOL_SILENT');
      expect(late?.message).toContain('nvidia-smi does not finish');
      expect(late?.next).toContain('Run nvidia-smi there');
      expect(findings.filter(({ code }) => code === 'CLOCK_OFFSET')).toEqual([]);
      const started = (await readFile(pid, 'utf8')).trim().split('\n');
      // It is not asked again.
      expect(started).toHaveLength(2);
      for (const each of started) {
        await until(
          () => existsSync(`/proc/${each}`),
          (alive) => !alive,
          'the tool to end',
        );
      }
    },
  );

  test('a failure tells what was ignored of SSH’s files', async () => {
    await using server = await SshServer.start();
    const known = path.join(server.directory, 'broken');
    await writeFile(known, 'nonsense\n');
    const configFile = path.join(server.directory, 'config');
    const host = `Port ${server.port}\nUserKnownHostsFile ${known}\n`;
    await writeFile(configFile, `Host 127.*\n${host}Match user nobody\nPort 1\n`);
    await using pool = new SshPool();
    const destination = '127.0.0.1';
    const entry = parseNodeEntry({ name: 'box', destination, configFile });
    // Without an ssh that would read them.
    vi.stubEnv('PATH', server.directory);
    try {
      const next = expect.stringMatching(
        `Notice: ${known}:1: .* Notice: ${configFile}:4: Match is not supported`,
      ) as string;
      await expect(
        new RemoteNode(entry, { home: home(), pool }).check(),
      ).rejects.toMatchObject({ code: 'HOST_KEY_UNKNOWN', next });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('the time there is compared as it is read', async () => {
    await using machine = await Machine.start(home(), {
      shellStart: 'PATH=$HOME/bin:$PATH',
    });
    const date = path.join(machine.server.home, 'bin', 'date');
    mkdirSync(path.dirname(date));
    const ahead = '#!/bin/sh\nexec /usr/bin/date -d "+90 seconds" "$@"\n';
    await writeFile(date, ahead, { mode: 0o755 });
    const { clockOffsetSeconds, findings } = await machine.node.check();
    expect(clockOffsetSeconds).toBeGreaterThan(85);
    expect(findings).toContainEqual(
      expect.objectContaining({
        level: 'warning',
        code: 'CLOCK_OFFSET',
        message: expect.stringMatching(/^its clock is \d+ s ahead of/) as string,
      }),
    );
  });

  test.skipIf(!isRoot)('AMD’s GPUs, with other users’ programs', async () => {
    const tree = path.join(home().directory, 'class');
    const write = async (name: string, text: string): Promise<void> => {
      mkdirSync(path.dirname(path.join(tree, name)), { recursive: true });
      await writeFile(path.join(tree, name), text);
    };
    // As Linux shows two of them: processes are listed by number, with what they hold.
    for (const [index, bus] of ['0000:c3:00.0', '0001:03:00.1'].entries()) {
      await write(`devices/${bus}/vendor`, '0x1002\n');
      await write(`devices/${bus}/device`, '0x740c\n');
      mkdirSync(path.join(tree, 'drm', `card${index}`), { recursive: true });
      symlinkSync(
        `../../devices/${bus}`,
        path.join(tree, 'drm', `card${index}`, 'device'),
      );
    }
    const kfd = 'kfd/kfd';
    await write(`${kfd}/topology/nodes/0/gpu_id`, '0\n');
    await write(`${kfd}/topology/nodes/1/gpu_id`, '4711\n');
    await write(`${kfd}/topology/nodes/2/gpu_id`, '4712\n');
    const at = (domain: number, location: number): string =>
      `simd_count 416\nlocation_id ${location}\ndomain ${domain}\n`;
    await write(`${kfd}/topology/nodes/1/properties`, at(0, 0xc3 * 256));
    await write(`${kfd}/topology/nodes/2/properties`, at(1, 0x03 * 256 + 1));
    // Ours holds memory on both, a stranger's on one.
    for (const gpu of [4711, 4712])
      await write(`${kfd}/proc/${process.pid}/vram_${gpu}`, '65536\n');
    await write(`${kfd}/proc/99999999/vram_4711`, '0\n');
    await write(`${kfd}/proc/99999999/vram_4712`, '65536\n');
    await using machine = await Machine.start(home(), {
      mounts: { '/sys/class': tree },
    });
    const { gpus, findings } = await machine.node.check();
    const card = { name: 'PCI 0x1002:0x740c', vendor: 'amd' };
    expect(gpus).toEqual([
      { ...card, bus: '00000000:C3:00.0', othersProcesses: 0 },
      { ...card, bus: '00000001:03:00.1', othersProcesses: 1 },
    ]);
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'GPU_IN_USE',
        message: expect.stringContaining('00000001:03:00.1') as string,
      }),
    );
    rmSync(path.join(tree, 'kfd'), { recursive: true });
    expect((await machine.node.check()).gpus).toEqual([
      { ...card, bus: '00000000:C3:00.0' },
      { ...card, bus: '00000001:03:00.1' },
    ]);
  });

  test('Vulkan’s drivers, where the library that a manifest names is there', async () => {
    await using machine = await Machine.start(home(), {
      shellStart: 'export VK_DRIVER_FILES=$HOME/a.json:$HOME/more',
    });
    const { home: there } = machine.server;
    const manifest = (library: string): string =>
      JSON.stringify({ ICD: { library_path: library, api_version: '1.3.0' } }, null, 1);
    mkdirSync(path.join(there, 'more'));
    await writeFile(path.join(there, 'libown_nvidia.so'), '');
    await writeFile(path.join(there, 'a.json'), manifest('./libown_nvidia.so'));
    await writeFile(
      path.join(there, 'more', 'b.json'),
      manifest('libabsent_radeon.so.0'),
    );
    expect((await machine.node.check()).vulkanDrivers).toEqual(['./libown_nvidia.so']);
  });
});
