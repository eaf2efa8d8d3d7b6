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

/** Ends without PyTorch's own teardown, whose threads abort the process now and then. */
const LEAVING =
  'import os, runpy, sys; sys.argv = sys.argv[1:]; ' +
  "runpy.run_path(sys.argv[0], run_name='__main__'); sys.stdout.flush(); os._exit(0)";

/** Runs a script on ranks as torchrun would. Resolves once all have ended well. */
export async function trainAlone(
  ranks: number,
  ...command: readonly string[]
): Promise<void> {
  const port = String(await freePort());
  const exits = Array.from({ length: ranks }, (_, rank) => {
    const launched = { RANK: String(rank), WORLD_SIZE: String(ranks) };
    const at = { MASTER_ADDR: '127.0.0.1', MASTER_PORT: port };
    const found = { PYTHONPATH: packageSources };
    const env = Object.assign({}, process.env, launched, at, found);
    return once(
      spawn(pytorch!, ['-c', LEAVING, ...command], { env, stdio: 'inherit' }),
      'exit',
    );
  });
  for (const exit of await Promise.all(exits)) expect(exit).toEqual([0, null]);
}
