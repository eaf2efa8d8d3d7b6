/** What `ssh` says and asks, as codes and questions. The words are those of OpenSSH 9.2. */
import { describe, expect, it } from 'vitest';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import {
  explainFailure,
  type SystemWords,
} from '../../../src/main/ssh/system-failure.ts';
import { parsePrompt } from '../../../src/main/ssh/system-prompt.ts';
import { sshTarget } from '../../../src/main/ssh/target.ts';

const target = sshTarget({ host: 'box.example', user: 'me', identities: [] });
const FINGERPRINT = 'SHA256:PZ5ZIHEg16Xxyg8LDohC2RUPw93D8AyHH8ZTXyEoQpU';

const explain = (
  log: string,
  given: Partial<SystemWords> = {},
  to = target,
): ErrorData =>
  explainFailure(to, {
    log,
    stderr: '',
    interactive: true,
    locked: [],
    missing: [],
    ...given,
  }).toData();

describe('a failure', () => {
  it.each([
    [
      'ssh: connect to host box.example port 22: Connection refused',
      'SSH_UNREACHABLE',
      /Connection refused/,
    ],
    [
      'ssh: Could not resolve hostname box.example: Name or service not known',
      'SSH_UNREACHABLE',
      /Name or service not known/,
    ],
    [
      'ssh: connect to host box.example port 22: No route to host',
      'SSH_UNREACHABLE',
      /No route to host/,
    ],
    [
      'Connection timed out during banner exchange',
      'SSH_UNREACHABLE',
      /timed out during banner/,
    ],
    [
      'Unable to negotiate with 10.0.0.1 port 22: no matching host key type found. Their offer: ssh-rsa,ssh-dss',
      'SSH_NO_COMMON_ALGORITHM',
      /Their offer: ssh-rsa/,
    ],
    [
      'Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\nDisconnected from 10.0.0.1 port 22',
      'SSH_AUTH_FAILED',
      /Too many authentication failures/,
    ],
    [
      'me@box.example: Permission denied (publickey,gssapi-with-mic).',
      'SSH_AUTH_FAILED',
      /accepts publickey, gssapi-with-mic/,
    ],
    [
      '/home/me/.ssh/config: line 3: Bad configuration option: nonsense\n/home/me/.ssh/config: terminating, 1 bad configuration options',
      'SSH_CONFIG_INVALID',
      /line 3: Bad configuration option: nonsense/,
    ],
    [
      'Bad owner or permissions on /home/me/.ssh/config',
      'SSH_CONFIG_INVALID',
      /Bad owner/,
    ],
    [
      'No ED25519 host key is known.\nHost key verification failed.',
      'HOST_KEY_UNKNOWN',
      /verification failed/,
    ],
    ['', 'SSH_UNREACHABLE', /without a message/],
  ])('%s', (log, code, message) => {
    expect(explain(log)).toMatchObject({
      code,
      message: expect.stringMatching(message),
      place: expect.any(String),
    });
  });

  it('keeps what a key file is refused for', () => {
    const { message } = explain(
      'Load key "/home/me/.ssh/id_rsa": bad permissions\nme@box.example: Permission denied (publickey).\n',
    );
    expect(message).toContain('id_rsa": bad permissions');
  });

  it('names the changed key, and the line that knows another', () => {
    const at = '@'.repeat(59);
    const log = [
      at,
      '@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @',
      at,
      'IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!',
      'Someone could be eavesdropping on you right now (man-in-the-middle attack)!',
      'It is also possible that a host key has just been changed.',
      'The fingerprint for the ED25519 key sent by the remote host is',
      `${FINGERPRINT}.`,
      'Please contact your system administrator.',
      'Add correct host key in /home/me/.ssh/known_hosts to get rid of this message.',
      'Offending ED25519 key in /home/me/.ssh/known_hosts:7',
      'Host key for box.example has changed and you have requested strict checking.',
      'Host key verification failed.',
    ].join('\r\n');
    const { code, message } = explain(log);
    expect(code).toBe('HOST_KEY_CHANGED');
    expect(message).toContain(FINGERPRINT);
    expect(message).toContain('/home/me/.ssh/known_hosts:7');
    const door = { ...target, host: '10.0.0.7', port: 2222, alias: 'door' };
    const through = { ...target, jumps: [door] };
    const atDoor = log.replace('for box.example has', 'for [10.0.0.7]:2222 has');
    expect(explain(atDoor, {}, through)).toMatchObject({
      code: 'HOST_KEY_CHANGED',
      message: expect.stringMatching(/^the jump host door \(10\.0\.0\.7\) /) as string,
      place: 'me@10.0.0.7:2222',
    });
    expect(explain(log, {}, through).message).toMatch(/^box\.example presents/);
  });

  it('names key files that do not exist or cannot be read', () => {
    const denied = 'me@box.example: Permission denied (publickey,password).';
    for (const interactive of [true, false]) {
      const { message, next } = explain(denied, { missing: ['/no/key'], interactive });
      expect(message).toContain('/no/key: no such file');
      if (interactive) expect(next).toContain('/no/key does not exist');
    }
    const { next } = explain(`Load key "/a/key": invalid format\r\n${denied}`);
    expect(next).toContain('/a/key');
  });

  it('is a missing user if a password would have sufficed', () => {
    const log = 'me@box.example: Permission denied (publickey,password).';
    expect(explain(log, { interactive: false }).code).toBe('SSH_AUTH_NEEDED');
    expect(explain(log).code).toBe('SSH_AUTH_FAILED');
    const keys = 'me@box.example: Permission denied (publickey).';
    expect(explain(keys, { interactive: false }).code).toBe('SSH_AUTH_FAILED');
  });

  it('brings no text that could drive a terminal', () => {
    const { message } = explain('', { stderr: '\u001b]0;title\u0007\u001b[2Jboo' });
    // eslint-disable-next-line no-control-regex -- that is what must not be there
    expect(message).not.toMatch(/[\u0000-\u001f]/);
    expect(message).toContain('boo');
  });
});

describe('a question', () => {
  const authenticity = (rest: string): string =>
    `The authenticity of host '[box.example]:2222 ([10.0.0.1]:2222)' can't be established${rest}`;

  it('about a host key', () => {
    const prompt = authenticity(
      `.\nED25519 key fingerprint is ${FINGERPRINT}.\nThis key is not known by any other names.\n` +
        'Are you sure you want to continue connecting (yes/no/[fingerprint])? ',
    );
    expect(parsePrompt(prompt)).toEqual({
      kind: 'host-key',
      name: '[box.example]:2222',
      keyType: 'ssh-ed25519',
      fingerprint: FINGERPRINT,
      otherTypes: false,
      accept: FINGERPRINT,
    });
  });

  it('about one of another type than is known, by an older client', () => {
    const prompt = authenticity(
      `\nbut keys of different type are already known for this host.\nRSA key fingerprint is ${FINGERPRINT}.\n` +
        'Are you sure you want to continue connecting (yes/no)? ',
    );
    expect(parsePrompt(prompt)).toMatchObject({
      keyType: 'ssh-rsa',
      otherTypes: true,
      accept: 'yes',
    });
  });

  it.each([
    [
      "Enter passphrase for key '/home/me/.ssh/id_rsa': ",
      { kind: 'passphrase', file: '/home/me/.ssh/id_rsa' },
    ],
    [
      "me@lab@box.example's password: ",
      { kind: 'password', user: 'me@lab', host: 'box.example' },
    ],
    [
      '(me@box.example) Verification code: ',
      { kind: 'server', user: 'me', host: 'box.example', text: 'Verification code: ' },
    ],
    [
      'Enter PIN for ED25519-SK key /home/me/.ssh/id_sk: ',
      { kind: 'other', text: 'Enter PIN for ED25519-SK key /home/me/.ssh/id_sk: ' },
    ],
    ["Please type 'yes', 'no' or the fingerprint: ", { kind: 'host-key-again' }],
  ])('%s', (prompt, parsed) => {
    expect(parsePrompt(prompt)).toEqual(parsed);
  });

  it.each([
    "me@box.example's password: ",
    "Enter passphrase for key '/home/me/.ssh/id': ",
  ])('of a server that words it as `ssh` would stays a server’s: %s', (text) => {
    expect(parsePrompt(`(me@box.example) ${text}`)).toEqual({
      kind: 'server',
      user: 'me',
      host: 'box.example',
      text,
    });
  });

  it('of a server that words it as a question about a host key stays a server’s', () => {
    const prompt = `(me@box.example) ${authenticity(`.\nRSA key fingerprint is ${FINGERPRINT}.`)}`;
    expect(parsePrompt(prompt).kind).toBe('server');
  });
});
