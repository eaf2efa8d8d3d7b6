/** Runs as `gradwire runs list` lists them. */
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import type { CommandHost } from '../../harness/command-host.ts';

/** Values, one line of JSON each. */
export const jsonLines = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** The run that was launched last. */
export async function newestRun(commands: CommandHost): Promise<RunSummary> {
  const { stdout } = await commands.run(['runs', 'list', '--limit', '1', '--json']);
  return jsonLines<RunSummary>(stdout)[0]!;
}
