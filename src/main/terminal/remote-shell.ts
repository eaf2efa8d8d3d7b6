/** A login shell on a machine, over the machine's one shared connection. */
import { toErrorData } from '../../shared/errors/errors.ts';
import type { RemoteShell } from '../ssh/remote-stream.ts';
import type { Shell } from './shell.ts';

export function remoteShell(stream: RemoteShell): Shell {
  // `exit` reports its loss; a stream's error needs a listener.
  stream.on('error', () => undefined);
  return {
    output: stream,
    ended: stream.exit.then(
      ({ code, signal }) => ({ reason: 'exited', code, signal }),
      (error: unknown) => ({ reason: 'lost', error: toErrorData(error) }),
    ),
    write: (bytes) =>
      new Promise((resolve) => {
        // A channel that fails has ended or will end soon, which is reported.
        stream.write(bytes, () => {
          resolve();
        });
      }),
    resize: ({ columns, rows }) => {
      stream.resize(columns, rows);
    },
    close: () => {
      stream.destroy();
    },
  };
}
