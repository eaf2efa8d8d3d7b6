/** `gradwire sweeps …`: commands on existing sweeps. */
import type { Command } from 'commander';
import { addSweepsDeleteCommand } from './sweeps-delete.ts';
import { addSweepsEditCommand } from './sweeps-edit.ts';
import { addSweepsListCommand } from './sweeps-list.ts';
import { addSweepsResumeCommand } from './sweeps-resume.ts';
import { addSweepsShowCommand } from './sweeps-show.ts';
import { addSweepsStopCommand } from './sweeps-stop.ts';

export function addSweepsCommand(program: Command): void {
  const sweeps = program
    .command('sweeps')
    .description('list, inspect, stop, resume and change sweeps');
  addSweepsListCommand(sweeps);
  addSweepsShowCommand(sweeps);
  addSweepsStopCommand(sweeps);
  addSweepsResumeCommand(sweeps);
  addSweepsEditCommand(sweeps);
  addSweepsDeleteCommand(sweeps);
}
