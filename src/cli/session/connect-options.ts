/** Options of commands that connect to machines. */
import { InvalidArgumentError, type Command } from 'commander';
import { RepeatableOption } from '../text/option-repetition.ts';
import { passwordFromStdin, terminalQuestions } from './terminal-questions.ts';
import type { WorkspaceOptions } from './workspace.ts';

export interface ConnectFlags {
  readonly acceptHostKey: readonly string[];
  readonly passwordStdin: boolean;
}

export function addConnectOptions(command: Command): Command {
  return command
    .addOption(
      new RepeatableOption(
        '--accept-host-key <fingerprint>',
        'a host key that you have verified: SHA256:…; repeatable',
        checkedFingerprint,
      ).default([], ''),
    )
    .option(
      '--password-stdin',
      'the machine’s password is the first line of stdin',
      false,
    );
}

/** A key that is asked about would fit no other text, and the cause be hard to find. */
function checkedFingerprint(text: string): string {
  if (!/^SHA256:[A-Za-z0-9+/]{43}$/.test(text)) {
    throw new InvalidArgumentError(
      'It must be a fingerprint as ssh-keygen -l prints it: SHA256: and 43 characters.',
    );
  }
  return text;
}

export function connectOptions(flags: ConnectFlags): WorkspaceOptions {
  const confirmedHostKeys = flags.acceptHostKey;
  if (flags.passwordStdin) return { questions: passwordFromStdin(), confirmedHostKeys };
  const questions = terminalQuestions();
  return { questions, confirmedHostKeys, mayAsk: questions !== undefined };
}
