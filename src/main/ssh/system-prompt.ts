/** Recognises the question of `ssh` from its words, and the host that it is about. */
import { serverNames } from './host-keys/known-hosts.ts';
import { hopsTo, type SshTarget } from './target.ts';

export type SystemPrompt =
  | {
      readonly kind: 'host-key';
      /** The host as known_hosts files name it: `host`, `[host]:port`, or an alias. */
      readonly name: string;
      /** `ssh-ed25519`, … */
      readonly keyType: string;
      readonly fingerprint: string;
      /** Keys of other types are known. */
      readonly otherTypes: boolean;
      /** The answer that accepts exactly this key. */
      readonly accept: string;
    }
  /** Our previous answer was not valid. */
  | { readonly kind: 'host-key-again' }
  | { readonly kind: 'passphrase'; readonly file: string }
  | { readonly kind: 'password'; readonly user: string; readonly host: string }
  /** Keyboard-interactive: the server's own question. */
  | {
      readonly kind: 'server';
      readonly user: string;
      readonly host: string;
      readonly text: string;
    }
  /** A PIN, or any other question. */
  | { readonly kind: 'other'; readonly text: string };

const KEY_TYPES: Readonly<Record<string, string>> = {
  ED25519: 'ssh-ed25519',
  RSA: 'ssh-rsa',
  DSA: 'ssh-dss',
  'ED25519-SK': 'sk-ssh-ed25519@openssh.com',
  'ECDSA-SK': 'sk-ecdsa-sha2-nistp256@openssh.com',
};

/** The type of a key, or its beginning for ECDSA, as `ssh` shows it. */
export function keyTypeOf(shown: string): string {
  if (shown === 'ECDSA') return 'ecdsa-sha2-';
  return KEY_TYPES[shown] ?? shown.toLowerCase();
}

export function parsePrompt(prompt: string): SystemPrompt {
  const authenticity = /^The authenticity of host '([^\s']+)/.exec(prompt);
  const key = /(\S+) key fingerprint is:? (SHA256:[A-Za-z0-9+/]+)/.exec(prompt);
  if (authenticity !== null && key !== null) {
    const [, type = '', fingerprint = ''] = key;
    return {
      kind: 'host-key',
      name: authenticity[1]!,
      keyType: KEY_TYPES[type] ?? type.toLowerCase(),
      fingerprint,
      otherTypes: /keys of different type are already known/.test(prompt),
      // Since OpenSSH 8.0 the fingerprint is a valid answer, which `ssh` compares
      // itself.
      accept: /\[fingerprint\]/.test(prompt) ? fingerprint : 'yes',
    };
  }
  if (/^Please type 'yes'/.test(prompt)) return { kind: 'host-key-again' };
  // Before the others: a server may ask in the words in which `ssh` asks for a password.
  const server = /^\(([^)]*)@([^)@\s]+)\) (.*)$/s.exec(prompt);
  if (server !== null) {
    const [, user = '', host = '', text = ''] = server;
    return { kind: 'server', user, host, text };
  }
  const passphrase = /^Enter passphrase for (?:\S+ )?key '?(.+?)'?: $/.exec(prompt);
  if (passphrase !== null) return { kind: 'passphrase', file: passphrase[1]! };
  const password = /^(.+)@(\S+)'s password: $/.exec(prompt);
  if (password !== null) {
    return { kind: 'password', user: password[1]!, host: password[2]! };
  }
  return { kind: 'other', text: prompt };
}

/** @param name as in known_hosts files; of no hop: the machine itself is meant */
export function hopNamed(target: SshTarget, name: string): SshTarget {
  return (
    hopsTo(target).find(
      ({ host, port, hostKeyAlias }) =>
        serverNames(host, port, hostKeyAlias).name === name.toLowerCase(),
    ) ?? target
  );
}
