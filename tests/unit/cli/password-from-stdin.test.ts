/** Which questions `--password-stdin` answers: a password goes to one host, once. */
import { expect, test } from 'vitest';
import { passwordFromStdin } from '../../../src/cli/session/terminal-questions.ts';
import type { SecretsQuestion } from '../../../src/shared/machines/ssh-question.ts';

const asks = (
  text: string,
  given: Partial<SecretsQuestion> = {},
  echo = false,
): SecretsQuestion => ({
  host: 'box',
  port: 22,
  user: 'ada',
  kind: 'keyboard-interactive',
  prompts: [{ text, echo }],
  ...given,
});
const given = (line = 'secret') => passwordFromStdin(() => Promise.resolve(line));

test('nobody is there to look at a fingerprint', () => {
  expect(given().hostKey).toBeUndefined();
});

test.each<[string, SecretsQuestion]>([
  ['the method for passwords', asks('Password for ada@box:', { kind: 'password' })],
  ['PAM', asks('Password:')],
  ['a directory', asks('LDAP Password for ada: ')],
  ['a key here', asks('Passphrase for key /k:', { kind: 'passphrase' })],
  [
    'a key for a jump host',
    asks('Passphrase for key /k:', { kind: 'passphrase', jump: true }),
  ],
])('%s gets it', async (_, question) => {
  expect(await given().secrets(question)).toEqual(['secret']);
});

test.each<[string, SecretsQuestion]>([
  ['a code', asks('Verification code:')],
  ['a code by that name', asks('One-time password (OATH) for ada:')],
  [
    'a code beside it',
    asks('', {
      prompts: ['Password:', 'Code:'].map((text) => ({ text, echo: false })),
    }),
  ],
  ['a new password', asks('New password:')],
  ['a text that is shown', asks('Password:', {}, true)],
  ['another question', asks('yes or no:', {}, true)],
  ['a jump host', asks('Password for ada@door:', { kind: 'password', jump: true })],
  ['a jump host’s PAM', asks('Password:', { jump: true })],
])('%s does not, and stdin is not even read', async (_, question) => {
  const questions = passwordFromStdin(() => Promise.reject(new Error('read')));
  await expect(questions.secrets(question)).rejects.toMatchObject({
    code: 'SSH_AUTH_NEEDED',
    next: expect.stringContaining('--password-stdin') as string,
  });
});

test('it is sent once, by whatever method; another machine gets it, too', async () => {
  const questions = given();
  await questions.secrets(asks('Password:'));
  await expect(
    questions.secrets(asks('Password for ada@box:', { kind: 'password' })),
  ).rejects.toMatchObject({ code: 'SSH_PASSWORD_REFUSED' });
  expect(await questions.secrets(asks('Password:', { port: 23 }))).toEqual(['secret']);
});

test('a passphrase that is wrong does not keep the password from being tried', async () => {
  const questions = given();
  const passphrase = asks('Passphrase for key /k:', { kind: 'passphrase' });
  expect(await questions.secrets(passphrase)).toEqual(['secret']);
  expect(await questions.secrets(passphrase)).toEqual(['']);
  expect(await questions.secrets(asks('Password:'))).toEqual(['secret']);
});

test('a touch needs no answer, and an empty line is none', async () => {
  expect(await given('').secrets(asks('', { prompts: [] }))).toEqual([]);
  await expect(given('').secrets(asks('Password:'))).rejects.toMatchObject({
    code: 'PASSWORD_MISSING',
  });
});
