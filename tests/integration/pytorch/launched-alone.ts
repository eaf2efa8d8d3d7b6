/** Trainings with DDP's own communication, without Gradwire. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { packageSources, pytorch } from '../../harness/python.ts';

/** A port that nobody uses. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Forks the ranks once PyTorch is imported, with what its optimisers import, as that takes seconds. They
 * end without its own teardown, which aborts a process now and then, or waits for ever for a rank that has
 * ended; so each waits until all have come to their ends.
 */
const RANKS = `
import os, runpy, sys, traceback
import torch._dynamo, torch.distributed, torch.nn.parallel

torch.distributed.destroy_process_group = lambda *given, **named: None
all_ended, running = os.pipe()
ranks = int(sys.argv[1])
sys.argv = sys.argv[2:]
children = []
for rank in range(ranks):
    child = os.fork()
    if child != 0:
        children.append(child)
        continue
    os.environ["RANK"] = str(rank)
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    sys.stdout.flush()
    os.close(running)
    os.read(all_ended, 1)
    os._exit(0)
os.close(running)
statuses = [os.waitpid(child, 0)[1] for child in children]
sys.exit(str(statuses) if any(statuses) else 0)
`;

/** Runs a script on ranks as torchrun would. Resolves once all have ended well. */
export async function trainAlone(
  ranks: number,
  ...command: readonly string[]
): Promise<void> {
  const world = { WORLD_SIZE: String(ranks), PYTHONPATH: packageSources };
  const at = { MASTER_ADDR: '127.0.0.1', MASTER_PORT: String(await freePort()) };
  const env = Object.assign({}, process.env, world, at);
  const args = ['-c', RANKS, String(ranks), ...command];
  const launcher = spawn(pytorch!, args, { env, stdio: 'inherit' });
  expect(await once(launcher, 'exit')).toEqual([0, null]);
}
