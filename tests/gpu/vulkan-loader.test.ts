/** A machine with a GPU's driver and no Vulkan loader: the agent brings one along. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GradwireHome } from '../harness/gradwire.ts';
import { SshServer } from '../harness/sshd.ts';
import { canRunWebGpu, hasGpu, webGpuEnvironment } from '../harness/webgpu.ts';

const LOADERS = ['/usr/lib/x86_64-linux-gnu', '/usr/lib64']
  .map((folder) => path.join(folder, 'libvulkan.so.1'))
  .filter((file) => existsSync(file));
/** Where the file cannot be covered, or its driver is another one than here. */
const isSkipped =
  !canRunWebGpu || hasGpu || process.getuid?.() !== 0 || LOADERS.length === 0;

describe.skipIf(isSkipped)('a machine without a Vulkan loader', () => {
  let machine: SshServer;
  let home: GradwireHome;

  beforeAll(async () => {
    const cover = LOADERS.map((file) => `mount --bind /dev/null ${file}`).join(' && ');
    const exports = Object.entries(webGpuEnvironment).map(
      ([name, value]) => `export ${name}=${value}\n`,
    );
    machine = await SshServer.start({
      shellStart: `export PATH=${path.dirname(process.execPath)}:$PATH\n${exports.join('')}`,
      place: {
        host: '127.0.0.1',
        prefix: ['unshare', '-m', 'sh', '-c', `${cover} && exec "$@"`, 'sh'],
      },
    });
    home = new GradwireHome();
    const at = ['--host', '127.0.0.1', '--port', String(machine.port)];
    await home.run(['nodes', 'add', 'box', ...at, '--identity', machine.key]);
    const accept = ['--accept-host-key', machine.fingerprint()];
    expect(await home.run(['nodes', 'deploy', 'box', ...accept])).toMatchObject({
      code: 0,
    });
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await machine?.[Symbol.asyncDispose]();
  });

  const train = async () =>
    await home.startQuickstart([
      ...['world.nodes=[box]', 'world.ranks=1', 'iterations=2', 'evaluateEvery=0'],
      ...['backend=webgpu', 'workload.batchPerRank=8'],
    ]).finished;

  test(
    'computes on its GPU by the one that the agent brings',
    { tags: 'soak' },
    async () => {
      const library = path.basename(LOADERS[0]!);
      expect(await train()).toMatchObject({ code: 0 });

      // Without it there is none: the machine's own is covered.
      const agents = path.join(machine.home, '.gradwire', 'agents');
      const [agent] = readdirSync(agents);
      rmSync(path.join(agents, agent!, 'lib', library));
      expect(await train()).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('BACKEND_UNAVAILABLE') as string,
      });
    },
  );
});
