/** `gradwire nodes …`: the machines that runs can have ranks on. */
import type { Command } from 'commander';
import { addNodesAddCommand } from './nodes-add.ts';
import { addNodesCheckCommand } from './nodes-check.ts';
import { addNodesDeployCommand } from './nodes-deploy.ts';
import { addNodesEditCommand } from './nodes-edit.ts';
import { addNodesImportCommand } from './nodes-import.ts';
import { addNodesListCommand } from './nodes-list.ts';
import { addNodesLogCommand } from './nodes-log.ts';
import { addNodesNetworkCommand } from './nodes-network.ts';
import { addNodesRemoveCommand } from './nodes-remove.ts';
import { addNodesUninstallCommand } from './nodes-uninstall.ts';

export function addNodesCommand(program: Command): void {
  const nodes = program
    .command('nodes')
    .description('add, check, edit and remove machines reached by SSH');
  addNodesAddCommand(nodes);
  addNodesImportCommand(nodes);
  addNodesEditCommand(nodes);
  addNodesListCommand(nodes);
  addNodesCheckCommand(nodes);
  addNodesDeployCommand(nodes);
  addNodesLogCommand(nodes);
  addNodesNetworkCommand(nodes);
  addNodesRemoveCommand(nodes);
  addNodesUninstallCommand(nodes);
}
