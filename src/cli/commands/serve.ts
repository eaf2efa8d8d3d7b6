/** `gradwire serve`: the app in an ordinary browser, on this computer only. */
import { InvalidArgumentError, type Command } from 'commander';
import { loadHosts } from '../session/host-bundle.ts';

interface ServeOptions {
  readonly port?: number;
  readonly open: boolean;
  readonly json: boolean;
}

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the app to a browser on 127.0.0.1; prints its URL')
    .option('--port <number>', 'port to listen on; default: any free port', parsePort)
    .option('--no-open', 'do not open a browser')
    .option('--json', 'print one line of JSON with the URL and its token', false)
    .action(async (options: ServeOptions) => {
      const { serve } = await loadHosts();
      await serve(options);
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InvalidArgumentError('It must be a number from 0 to 65535.');
  }
  return port;
}
