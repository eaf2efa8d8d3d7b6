/** `gradwire data …`: public data sets, fetched by name. */
import type { Command } from 'commander';
import { addDataFetchCommand } from './data-fetch.ts';
import { addDataListCommand } from './data-list.ts';

export function addDataCommand(program: Command): void {
  const data = program
    .command('data')
    .description('list and fetch public data sets to train on');
  addDataListCommand(data);
  addDataFetchCommand(data);
}
