/** How much memory this process holds on to: what full collections leave, in bytes. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

export async function liveMemory(): Promise<number> {
  // What the first finds unreachable may hold more, which its finalisers let go of.
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
