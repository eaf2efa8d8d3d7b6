/** Options of commands that connect to machines. */
import type { Command } from 'commander';
import { repeated } from '../text/repeated.ts';
import { passwordFromStdin, terminalQuestions } from './terminal-questions.ts';
import type { WorkspaceOptions } from './workspace.ts';

export interface ConnectFlags {
  readonly acceptHostKey: readonly string[];
  readonly passwordStdin: boolean;
}

export function addConnectOptions(command: Command): Command {
  return command
    .option(
      '--accept-host-key <fingerprint>',
      'a host key that you have verified: SHA256:…; repeatable',
      repeated,
      [],
    )
    .option(
      '--password-stdin',
      'answer password prompts with the first line of stdin',
      false,
    );
}

export function connectOptions(flags: ConnectFlags): WorkspaceOptions {
  return {
    questions: flags.passwordStdin ? passwordFromStdin() : terminalQuestions(),
    confirmedHostKeys: flags.acceptHostKey,
  };
}
