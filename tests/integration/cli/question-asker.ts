/** Asks at its terminal what an SSH connection may ask; its argument: the file for the answers. */
import { writeFileSync } from 'node:fs';
import { terminalQuestions } from '../../../src/cli/session/terminal-questions.ts';

// As commands do, which a connection keeps running meanwhile.
process.once('SIGINT', () => process.exit(130));
const connection = setInterval(() => undefined, 1000);

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
clearInterval(connection);
