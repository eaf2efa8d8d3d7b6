/** Asks at its terminal what an SSH connection may ask; its argument: the file for the answers. */
import { writeFileSync } from 'node:fs';
import { terminalQuestions } from '../../../src/cli/session/terminal-questions.ts';

const questions = terminalQuestions()!;
const machine = { host: 'box', port: 22, user: 'ada' };
const key = {
  keyType: 'ssh-ed25519',
  fingerprint: 'SHA256:x',
  reason: 'unknown',
} as const;
const decision = await questions.hostKey!({ ...machine, title: 'box', ...key });
const answers = await questions.secrets({
  ...machine,
  kind: 'keyboard-interactive',
  prompts: [
    { text: 'Code:', echo: true },
    { text: 'Password:', echo: false },
    { text: 'Passphrase:', echo: false },
  ],
});
writeFileSync(process.argv[2]!, JSON.stringify({ decision, answers }));
