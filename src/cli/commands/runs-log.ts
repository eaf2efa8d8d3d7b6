/** `gradwire runs log`: events of a run and what its ranks printed, in the order of time. */
import type { Command } from 'commander';
import type { RunStore } from '../../main/store/run-store.ts';
import { inputError } from '../../shared/errors/errors.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import type { LogFilter } from '../../shared/records/log-text.ts';
import { catchUp } from '../session/catch-up.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { followRun } from '../session/follow-run.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { LogPrinter } from '../text/log-printer.ts';
import { parseWord } from '../text/parse-word.ts';

interface LogFlags extends ConnectFlags {
  readonly follow: boolean;
  readonly json: boolean;
  readonly rank?: number;
  readonly grep?: string;
}

export function addRunsLogCommand(runs: Command): void {
  const command = runs
    .command('log')
    .description(
      'print the events of a run and what its ranks printed, sorted by time; --follow then ' +
        'adds new lines as they arrive',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .option(
      '--follow',
      'keep printing until the run ends; Ctrl-C leaves it running',
      false,
    )
    .option('--rank <n>', 'only lines of this rank', parseWord)
    .option('--grep <text>', 'only lines with this text, ignoring case')
    .option('--json', 'print every record as one line of JSON', false)
    .action(async (name: string, flags: LogFlags) => {
      process.exitCode = await withWorkspace(
        async (workspace) => {
          const { store, coordinator } = workspace;
          const filter: LogFilter = { rank: flags.rank, text: flags.grep };
          if (!flags.follow) {
            await catchUp(coordinator);
            const id = resolveRun(store, name);
            requireRank(store, id, flags.rank);
            const printer = new LogPrinter(process.stdout, filter, flags.json);
            printer.records(byTime(store, id), store.summary(id));
            return 0;
          }
          const id = resolveRun(store, name);
          requireRank(store, id, flags.rank);
          return followRun(
            workspace,
            id,
            {
              json: flags.json,
              mode: 'attach',
              printer: (output) => new LogPrinter(output, filter, flags.json),
            },
            async () => {
              await coordinator.following.follow(id);
            },
          );
        },
        { ...connectOptions(flags), use: flags.follow ? 'lasting' : 'brief' },
      );
    });
  addConnectOptions(command);
}

/** @throws GradwireError `RANK_UNKNOWN` */
function requireRank(store: RunStore, id: string, rank: number | undefined): void {
  const { ranks } = store.summary(id);
  if (rank === undefined || rank < ranks) return;
  throw inputError('RANK_UNKNOWN', `run ${id} has no rank ${rank}`, {
    place: '--rank',
    next: ranks === 1 ? 'Its only rank is 0.' : `Its ranks are 0 to ${ranks - 1}.`,
  });
}

/** Sorts by time, since machines' records arrive in any order; ties keep arrival order. */
function byTime(store: RunStore, id: string): readonly JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (;;) {
    const page = store.reads.logAfter(id, entries.at(-1)?.sequence ?? 0);
    if (page.length === 0) break;
    entries.push(...page);
  }
  return entries.sort((a, b) => a.record.at - b.record.at || a.sequence - b.sequence);
}
