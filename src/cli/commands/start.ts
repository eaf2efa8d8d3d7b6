/** `gradwire start`: the desktop window, or the browser where there can be none. */
import type { Command } from 'commander';
import { loadHosts } from '../session/host-bundle.ts';

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('open the app: its window, or a browser where there can be none')
    .action(async () => {
      const { start } = await loadHosts();
      await start();
    });
}
