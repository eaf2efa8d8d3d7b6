/** A page's connection to a core, with the lines between them. */
import { Sessions } from '../../../src/main/rpc/session.ts';
import { HostConnection } from '../../../src/renderer/state/host/host-connection.ts';
import { channelPair } from './channel-pair.ts';
import type { SmallCore } from './small-core.ts';

export async function open(core: SmallCore, sessions = new Sessions(core)) {
  const lines: ReturnType<typeof channelPair>[] = [];
  const connection = new HostConnection(async () => {
    const pair = channelPair();
    lines.push(pair);
    sessions.serve(pair.host);
    return { kind: 'open', channel: pair.page };
  }, undefined);
  await connection.settled();
  return { connection, sessions, lines, line: () => lines.at(-1)! };
}
