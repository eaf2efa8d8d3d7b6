/** `gradwire sweeps list`: all sweeps, newest first. */
import type { Command } from 'commander';
import { catchUp } from '../session/catch-up.ts';
import { withHistory } from '../session/workspace.ts';
import { endedRuns, plannedRuns } from '../../shared/sweep/sweep-status.ts';
import { date } from '../text/quantities.ts';
import { countsText } from '../text/sweep-progress.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';
import { textTable } from '../text/text-table.ts';

export function addSweepsListCommand(sweeps: Command): void {
  sweeps
    .command('list')
    .description('list sweeps, newest first')
    .option('--json', 'one line of JSON per sweep', false)
    .option(...WIDE, false)
    .action(
      async ({ json, wide }: { readonly json: boolean; readonly wide: boolean }) => {
        await withHistory(async ({ coordinator, store }) => {
          await catchUp(coordinator);
          const all = store.sweeps.list();
          if (json) {
            for (const one of all) process.stdout.write(`${JSON.stringify(one)}\n`);
            return;
          }
          if (all.length === 0) {
            process.stdout.write(
              'no sweeps yet; start one with: gradwire sweep quickstart --vary exchange.method=none,topk\n',
            );
            return;
          }
          const rows = all.map((one) => [
            one.id,
            date(one.createdAt),
            one.state,
            `${endedRuns(one.counts)}/${plannedRuns(one.counts)}`,
            String(one.points),
            countsText(one),
            one.name,
          ]);
          const head = [
            'id',
            'created',
            'state',
            'runs',
            'points',
            'runs by state',
            'name',
          ];
          const [left, right] = ['left', 'right'] as const;
          const align = [left, left, left, right, right, left, left];
          process.stdout.write(
            `${textTable([head, ...rows], align, tableWidth(wide), [0, 1, 2])}\n`,
          );
        });
      },
    );
}
