/**
 * Runs `gradwire` commands of the built bundle one after the other in this process, as
 * `command-host.ts` orders them. The entry is evaluated anew for each, behind a query of its
 * own; what it imports is loaded once.
 */
import type { EventEmitter } from 'node:events';
import { pathToFileURL } from 'node:url';

export interface CommandOrder {
  readonly command: string;
  readonly home: string;
  readonly args: readonly string[];
}

export interface CommandAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const events: EventEmitter = process;

/** Faults that a command handles for its whole process. */
const FAULTS = ['uncaughtException', 'unhandledRejection'];

let count = 0;

process.on('message', (order: CommandOrder) => {
  void obey(order).then((answer) => process.send!(answer));
});

async function obey({ command, home, args }: CommandOrder): Promise<CommandAnswer> {
  process.argv = [process.execPath, command, ...args];
  process.exitCode = undefined;
  // Not in the environment that it began with: it is no process of that home.
  process.env['GRADWIRE_HOME'] = home;
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  // The command's own: the next one would add its own beside them.
  const before = FAULTS.map((event) => events.listeners(event));
  try {
    await import(`${pathToFileURL(command).href}?command=${++count}`);
  } finally {
    process.stdout.removeAllListeners('error');
    FAULTS.forEach((event, index) => {
      for (const listener of events.listeners(event)) {
        if (!before[index]!.includes(listener))
          events.off(event, listener as () => void);
      }
    });
  }
  return {
    code: Number(process.exitCode ?? 0),
    stdout: stdout(),
    stderr: stderr(),
  };
}

/** What is written from now on; no longer, once it is asked for. */
function capture(stream: NodeJS.WriteStream): () => string {
  const write = stream.write.bind(stream);
  let text = '';
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done as () => void);
    return true;
  };
  return () => {
    stream.write = write;
    return text;
  };
}
