/** `gradwire data fetch`: download a public data set and check its SHA-256. */
import type { Command } from 'commander';
import path from 'node:path';
import { fetchSet, publicSet } from '../../main/data-sets/fetch-set.ts';
import { openHome } from '../../main/home/home.ts';
import { failure, inputError } from '../../shared/errors/errors.ts';
import { shellWord } from '../../shared/words/shell-word.ts';
import { formatBytes } from '../../shared/words/units.ts';
import { fetchPrinter } from '../text/fetch-progress.ts';
import { reportError } from '../text/report-error.ts';

/** The exit code that shells give a command that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130;

interface Flags {
  readonly to?: string;
  readonly from?: string;
  readonly json: boolean;
}

export function addDataFetchCommand(data: Command): void {
  data
    .command('fetch')
    .description('download a public data set, or resume an interrupted download')
    .argument('<name>', 'its name in `gradwire data list`')
    .option('--to <directory>', 'target directory; default: in Gradwire’s home')
    .option(
      '--from <url>',
      'take its files from URL/FILE instead of from its own mirrors',
      parseUrl,
    )
    .option(
      '--json',
      'print one line of JSON: where the files are and the bytes fetched',
      false,
    )
    .action(async (name: string, { from, json, to }: Flags) => {
      const set = publicSet(name);
      const directory = to ?? path.join((await openHome()).data, set.id);
      const controller = new AbortController();
      process.once('SIGINT', () => {
        controller.abort(
          failure('FETCH_STOPPED', `the download of ${set.id} was stopped`, {
            next: 'Run the command again to resume it.',
          }),
        );
      });
      const printer = fetchPrinter();
      const fetched = await fetchSet(set, {
        directory,
        from,
        signal: controller.signal,
        progress: (progress) => {
          printer.show(progress);
        },
      })
        .catch((error: unknown) => {
          if (!controller.signal.aborted) throw error;
          return undefined;
        })
        .finally(() => {
          printer.end();
        });
      if (fetched === undefined) {
        reportError(controller.signal.reason);
        process.exitCode = EXIT_INTERRUPTED;
        return;
      }
      if (json) {
        process.stdout.write(`${JSON.stringify({ id: set.id, ...fetched })}\n`);
        return;
      }
      const settings = { ...set.workload, data: fetched.data };
      const flags = Object.entries(settings).map(
        ([key, value]) => `--set ${shellWord(`workload.${key}=${value}`)}`,
      );
      process.stdout.write(
        (fetched.fetched === 0
          ? `${set.id} is already here: all checksums match\n`
          : `${set.id}: ${formatBytes(fetched.fetched)} fetched, all checksums match\n`) +
          `train on it: gradwire run quickstart ${flags.join(' ')}\n`,
      );
    });
}

function parseUrl(text: string): string {
  const protocol = URL.parse(text)?.protocol;
  if (protocol === 'http:' || protocol === 'https:') return text;
  // Commander's own error would print it, and it may have a password.
  throw inputError('USAGE', '--from is not an http or https URL', {
    next: 'Give a URL such as https://mirror.example/mnist/.',
  });
}
