/** `gradwire start`: the desktop window, or a browser where no window can open. */
import type { Command } from 'commander';
import { loadHosts } from '../session/host-bundle.ts';

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('open the app: in a window, or in a browser where no window can open')
    .option(
      '--json',
      'print one line of JSON when it is up: the URL and its token, or that a window is open',
      false,
    )
    .action(async (options: { readonly json: boolean }) => {
      const { start } = await loadHosts();
      await start(options);
    });
}
