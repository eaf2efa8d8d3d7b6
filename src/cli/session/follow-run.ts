/**
 * Follows one run to its end on stdout and turns it into an exit code. The first Ctrl-C
 * asks the run to stop and waits for its end; a second one does not wait. A stop that could
 * not be asked for ends the command too. If the reader closes the pipe (`| head`), the run
 * stops silently.
 */
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { unfollowed } from '../../main/runs/given-up-nodes.ts';
import { missingRecords } from '../text/missing-records.ts';
import { reportError } from '../text/report-error.ts';
import {
  HumanPrinter,
  JsonPrinter,
  type Output,
  type RunPrinter,
} from '../text/run-printer.ts';
import { Interruption } from './interruption.ts';
import { patiently } from './reading-notice.ts';
import type { Workspace } from './workspace.ts';
import { liveWidth } from '../text/terminal.ts';

export interface FollowOptions {
  readonly json: boolean;
  /** `run`: stop the run on Ctrl-C. `attach`: leave it. */
  readonly mode: 'run' | 'attach';
  /** Leaves the run once it has begun; before that it is stopped as by `run`. */
  readonly detach?: boolean | undefined;
  /** Makes the printer of the output; default: everything is printed as the run goes. */
  readonly printer?: ((output: Output) => RunPrinter) | undefined;
  /** Says why the run failed; default: a line on stderr. @returns the exit code */
  readonly report?: ((thrown: unknown) => number) | undefined;
  /** Says what Ctrl-C does; default: a line on stderr. */
  readonly say?: ((text: string) => void) | undefined;
}

/**
 * @param id of a run that has a row
 * @param begin starts the run, or begins to follow it; resolves when it is followed
 * @returns the exit code
 */
export async function followRun(
  workspace: Workspace,
  id: string,
  options: FollowOptions,
  begin: () => Promise<void>,
): Promise<number> {
  const { coordinator, store, events } = workspace;
  const interruption: Interruption = new Interruption(options, () => {
    printer.makeWay();
    coordinator.orders
      .give(id, { type: 'stop' }, interruption.received)
      .catch(interruption.unstopped);
    // The start that waits for it has been told to end.
    if (workspace.deployments.cancel())
      return 'cancelling the deployment, and stopping the run';
    const when = stopsWith(store.spec(id));
    return `stopping the run${when}; Ctrl-C again does not wait for it`;
  });
  const printer: RunPrinter = makePrinter(options, interruption);
  // Records may come until the program has ended, behind what it says last.
  const fallSilent = (): void => {
    events.records = () => undefined;
    printer.makeWay();
  };
  try {
    let summary = store.summary(id);
    printer.begin(summary);
    events.changed = (changed) => {
      if (changed.id === id) summary = changed;
    };
    const print = (entries: readonly JournalEntry[]): void => {
      printer.records(entries, summary);
    };
    let printed = 0;
    // Another process may store the run too: from the store nothing is missed.
    const printStored = (): void => {
      for (;;) {
        const page = store.reads.entriesAfter(id, printed);
        if (page.length === 0) return;
        printed = page.at(-1)!.sequence;
        print(page);
      }
    };
    events.records = (run, entries) => {
      if (run !== id) return;
      if (options.mode === 'attach') printStored();
      else print(entries);
    };
    const ended = (async (): Promise<RunSummary | 'begun'> => {
      try {
        if (options.mode === 'attach') {
          printStored();
          await begin();
        } else await patiently(store.spec(id), 'the ranks read', begin);
      } catch (error) {
        // A launch that failed is a run that failed: its row says how.
        const now = store.summary(id);
        if (!hasEnded(now.state)) throw error;
        return now;
      }
      interruption.begun();
      const { notice } = events;
      events.notice = (error) => {
        notice(error.code.startsWith('DATABASE_') ? unfollowed(id, error) : error);
      };
      if (options.detach === true && interruption.exitCode === undefined)
        return 'begun';
      return coordinator.following.ended(id);
    })();
    const result = await Promise.race([ended, workspace.trouble, interruption.left]);
    if (result === undefined) {
      ended.catch(() => undefined); // no longer awaited
      fallSilent();
      if (!interruption.quiet) {
        process.stderr.write(`gradwire: ${whatBecomes(id, interruption)}\n`);
      }
      if (interruption.outputFault !== undefined) throw interruption.outputFault;
      return interruption.exitCode ?? 0;
    }
    if (result === 'begun') return 0;
    if (options.mode === 'attach') printStored();
    if (!interruption.quiet) {
      printer.end(result);
      const missing = missingRecords(store.journals.missing(), id);
      if (missing !== undefined) process.stderr.write(`gradwire: ${missing}\n`);
    }
    if (interruption.outputFault !== undefined) throw interruption.outputFault;
    return exitCode(result, interruption, options.report ?? reportError);
  } catch (error) {
    // Whoever has asked for the end gets its code, whatever else happens meanwhile.
    if (interruption.exitCode === undefined || interruption.quiet) throw error;
    printer.makeWay();
    reportError(error);
    return interruption.exitCode;
  } finally {
    // Whoever catches an error prints it.
    fallSilent();
    interruption.close();
  }
}

/** Says what becomes of a run that is left before its end. */
function whatBecomes(id: string, { asked }: Interruption): string {
  switch (asked) {
    case 'not':
      return `run ${id} continues; follow it with: gradwire runs attach ${id}`;
    case 'stop':
      return (
        `run ${id} has been asked to stop and ends in the background; see how with: ` +
        `gradwire runs show ${id}`
      );
    case 'unconfirmed':
      return `run ${id} may continue; stop it with: gradwire runs stop ${id}`;
    default:
      return asked satisfies never;
  }
}

function exitCode(
  summary: RunSummary,
  interruption: Interruption,
  report: (thrown: unknown) => number,
): number {
  if (interruption.quiet) return 0;
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  // One that was stopped from elsewhere has not failed, even before it began.
  if (summary.error === undefined || summary.state === 'stopped') return 0;
  return report(Object.assign(new Error(), { name: 'GradwireError' }, summary.error));
}

function makePrinter(
  { json, printer }: FollowOptions,
  interruption: Interruption,
): RunPrinter {
  const output: Output = {
    write: (text) => {
      if (!interruption.quiet) process.stdout.write(text);
    },
    get columns() {
      return liveWidth();
    },
  };
  if (printer !== undefined) return printer(output);
  return json ? new JsonPrinter(output) : new HumanPrinter(output);
}

/** Says what a stop waits for, where that may take long. */
function stopsWith(spec: ExperimentSpec): string {
  const local = localStepsOf(spec);
  return local === undefined
    ? ''
    : ` after its next exchange, at most ${local.every} iterations from now`;
}
