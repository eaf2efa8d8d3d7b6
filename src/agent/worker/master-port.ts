/**
 * The port at which rank 0 of a program listens for its process group. The program binds it seconds
 * after it is chosen: one of those that the system gives to connections by itself may be taken then.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { PortRange } from '../../shared/machines/port-range.ts';

const FIRST_PORT = 20_000;
/** The first port that Linux gives to connections, unless its administrator says otherwise. */
const USUAL_GIVEN = 32_768;
const TRIES = 20;

/**
 * A port that is free now.
 * @param ports those that may be used; default: any
 * @returns 0 if there is none
 */
export async function masterPort(host: string, ports?: PortRange): Promise<number> {
  for (const port of ports === undefined ? candidates() : downwards(ports)) {
    const found = await freePort(host, port);
    if (found !== undefined) return found;
  }
  return 0;
}

function* candidates(): Generator<number> {
  const end = firstGiven();
  for (let i = 0; i < TRIES && end > FIRST_PORT; i++) yield randomInt(FIRST_PORT, end);
  // Whichever the system has.
  yield 0;
}

/** Ranks take theirs from the first one upwards. */
function* downwards({ first, last }: PortRange): Generator<number> {
  for (let port = last; port >= first; port--) yield port;
}

function firstGiven(): number {
  try {
    const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
    const first = Number.parseInt(range, 10);
    return Number.isSafeInteger(first) ? first : USUAL_GIVEN;
  } catch {
    return USUAL_GIVEN;
  }
}

function freePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' ? address?.port : undefined);
      });
    });
  });
}
