/**
 * `gradwire supervisor --home DIR --socket PATH`: one per user and node. It owns the
 * runs; mains come and go. It ends by itself when it has neither a client nor a live
 * run: records not stored yet are in journals, which the next one finds.
 */
import { rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ClientSession } from './client-session.ts';
import { RunTable } from './run-table.ts';
import { VERSION } from './version.ts';

const { values } = parseArgs({
  options: { home: { type: 'string' }, socket: { type: 'string' } },
});
const { home, socket: socketPath } = values;
if (home === undefined || socketPath === undefined) {
  process.stderr.write('usage: supervisor --home DIR --socket PATH\n');
  process.exit(2);
}
process.title = `gradwire supervisor ${home}`;

/** A main that starts us connects right away. */
const FIRST_CLIENT_MS = 10_000;
const IDLE_MS = 100;
const OWNERSHIP_MS = 1_000;

let clients = 0;
let idle: NodeJS.Timeout | undefined;
const runs = new RunTable(
  path.join(home, 'runs'),
  () => {
    leaveIfIdle(IDLE_MS);
  },
  (message) => {
    process.stderr.write(`${message}\n`);
  },
);

function leaveIfIdle(after: number): void {
  clearTimeout(idle);
  idle = setTimeout(() => {
    if (clients === 0 && runs.live === 0) leave(0);
  }, after);
}

function leave(code: number): void {
  if (server.listening && ownsSocket()) rmSync(socketPath!, { force: true });
  process.exit(code);
}

const server: Server = createServer((socket) => {
  clients++;
  clearTimeout(idle);
  const session = new ClientSession(socket, runs, VERSION);
  // An error of a client's socket ends with the socket.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clients--;
    session.close();
    leaveIfIdle(IDLE_MS);
  });
});

let socketInode: number | undefined;

/** Whether the path still leads to this supervisor. */
function ownsSocket(): boolean {
  return statSync(socketPath!, { throwIfNoEntry: false })?.ino === socketInode;
}

server.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE') {
    process.stderr.write(`cannot listen on ${socketPath}: ${error.message}\n`);
    process.exit(1);
  }
  // Either another supervisor is running there, or one died there.
  const probe = connect(socketPath);
  probe.on('connect', () => process.exit(0));
  probe.on('error', () => {
    rmSync(socketPath, { force: true });
    server.listen(socketPath);
  });
});

server.on('listening', () => {
  socketInode = statSync(socketPath).ino;
  runs.restore();
  leaveIfIdle(FIRST_CLIENT_MS);
  // If two supervisors start at once over a dead one's socket, one loses the path.
  setInterval(() => {
    if (!ownsSocket() && clients === 0 && runs.live === 0) process.exit(0);
  }, OWNERSHIP_MS).unref();
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    void runs.abortAll().then(() => {
      leave(0);
    });
  });
}
// The terminal that started the first main may close: runs continue.
process.on('SIGHUP', () => undefined);

process.umask(0o077);
server.listen(socketPath);
