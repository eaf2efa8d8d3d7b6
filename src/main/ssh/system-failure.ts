/**
 * Turns the output of an `ssh` that did not connect into one of our coded errors. Its
 * words stay in the message. With several hops, the first that fails is the cause: its
 * complaint comes first, and later ones only report that there is no answer.
 */
import { failure, inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { isOutdated } from './algorithm-offer.ts';
import {
  connectionLost,
  hostKeyRefused,
  HUNG_UP,
  noCommonAlgorithms,
  printable,
  TOO_MANY_KEYS,
  unreachable,
  type RefusedHostKey,
} from './ssh-errors.ts';
import { fingerprintOf } from './host-keys/host-key.ts';
import { readKnownHosts } from './host-keys/known-hosts-files.ts';
import { serverNames } from './host-keys/known-hosts.ts';
import { missingKeysAdvice } from './key-file.ts';
import { hopNamed, keyTypeOf } from './system-prompt.ts';
import { hopsTo, placeOf, type SshTarget } from './target.ts';
import { notValid, validityOf } from './user-certificate.ts';

export interface SystemWords {
  /** The log of `ssh`. */
  readonly log: string;
  /** The output of `ssh` (with the servers' banners) and of a ProxyCommand. */
  readonly stderr: string;
  /** Whether a user could be asked. */
  readonly interactive: boolean;
  /** Keys that were skipped because no user could be asked. */
  readonly locked: readonly string[];
  /** Key files that it was to use and that do not exist. */
  readonly missing: readonly string[];
}

/** Log-in methods that need a user's answer. */
const ASKING: Readonly<Record<string, string>> = {
  password: 'a password',
  'keyboard-interactive': 'answers to its prompts',
};

export function explainFailure(target: SshTarget, words: SystemWords): GradwireError {
  const { log } = words;
  const said = wordsOf(words);
  const place = placeOf(target);
  if (/HOST IDENTIFICATION HAS CHANGED/.test(log)) {
    return hostKeyRefused('HOST_KEY_CHANGED', ...shownKey(target, log));
  }
  if (/REVOKED HOST KEY|host key .* revoked|revoked by file/i.test(log)) {
    return hostKeyRefused('HOST_KEY_REVOKED', ...shownKey(target, log));
  }
  if (/Host key verification failed/.test(log)) {
    return failure('HOST_KEY_UNKNOWN', `ssh does not accept the host key: ${said}`, {
      place,
      next: 'Compare the key with what the machine’s administrator tells you.',
    });
  }
  const denied = /^(.*): Permission denied \(([^)]*)\)/m.exec(log);
  if (denied !== null) return explainDenial(target, words, denied[1]!, denied[2]!);
  if (/Too many authentication failures/.test(log)) {
    return failure('SSH_AUTH_FAILED', `the server ended the login attempt: ${said}`, {
      place,
      next: TOO_MANY_KEYS,
    });
  }
  if (/no matching .* found/i.test(log)) {
    const offer = /Their offer: (\S+)/.exec(log)?.[1]?.split(',') ?? [];
    const outdated = offer.length > 0 && isOutdated(offer);
    return noCommonAlgorithms(target, said, { outdated, builtin: false });
  }
  if (
    /Bad configuration option|Bad owner or permissions on|configuration options?,/i.test(
      log,
    )
  ) {
    return inputError('SSH_CONFIG_INVALID', `ssh rejects its configuration: ${said}`, {
      place: target.system?.name ?? place,
      next: 'Correct the file that it names.',
    });
  }
  return unreachable(target, `ssh cannot connect: ${said}`, nextStep(target, log));
}

/** Words of `ssh` when the other side is gone; chance decides which of them it prints. */
const CLOSED =
  /Broken pipe|Connection reset|closed by remote host|Connection to \S+ closed|Connection closed by/;

/** The connection was established and has ended. */
export function explainLoss(target: SshTarget, words: SystemWords): GradwireError {
  const said = [...lines(words.log), ...lines(words.stderr)];
  const closed = said.every((line) => CLOSED.test(line));
  return connectionLost(target, closed ? undefined : wordsOf(words));
}

function nextStep(target: SshTarget, log: string): string | undefined {
  if (/Could not resolve hostname/.test(log)) {
    return 'Check the spelling, and that the name is in ~/.ssh/config if it is from there.';
  }
  if (/stdio forwarding failed|open failed/.test(log)) {
    return 'Check the name and port as the jump host knows them, and that it allows forwarding.';
  }
  if (target.system?.proxyCommand === true) {
    return 'Check its ProxyCommand, whose output is in this message.';
  }
  if (/kex_exchange_identification|Connection reset by/.test(log)) return HUNG_UP;
  return /Connection refused/.test(log)
    ? 'Check the port, and that the SSH server is running.'
    : undefined;
}

/** @param whom `user@host`, as `ssh` has it @param methods that the server accepts */
function explainDenial(
  target: SshTarget,
  { log, interactive, locked, missing }: SystemWords,
  whom: string,
  methods: string,
): GradwireError {
  const place = placeOf(target);
  const offered = methods.split(',');
  const needed = [
    ...(locked.length > 0 ? [`the passphrase of ${locked.join(', ')}`] : []),
    ...offered.flatMap((method) => ASKING[method] ?? []),
  ];
  // Complaints about a key or a certificate come earlier: "bad permissions", "expired".
  const before = lines(log).filter((line) => !/Permission denied \(/.test(line));
  const expired = invalidCertificate(target);
  const complaints = [
    ...missing.map((file) => `${file}: no such file`),
    ...(expired === undefined ? [] : [`${expired.file} ${expired.why}`]),
    ...before,
  ];
  const why = complaints.length === 0 ? '' : ` (${printable(complaints.join('; '))})`;
  if (!interactive && needed.length > 0) {
    return failure(
      'SSH_AUTH_NEEDED',
      `${whom} needs ${needed.join(' or ')}, but Gradwire cannot prompt for input now${why}`,
      {
        place,
        next:
          expired === undefined
            ? 'Connect from the window or a terminal, or load the key into an agent.'
            : `Get a new certificate: ${expired.file} ${expired.why}. Otherwise connect from the window or a terminal.`,
      },
    );
  }
  const unread = /^Load key "(.+)": /m.exec(log)?.[1];
  const kerberos = offered.some((method) => method.startsWith('gssapi'));
  return failure(
    'SSH_AUTH_FAILED',
    `${whom}: Permission denied: the server accepts ${offered.join(', ')}${why}`,
    {
      place,
      next:
        missingKeysAdvice(missing) ??
        (expired === undefined
          ? undefined
          : `Get a new certificate: ${expired.file} ${expired.why}.`) ??
        (unread === undefined ? undefined : `Correct the key file ${unread}.`) ??
        (kerberos
          ? 'Check the user name, the keys, and that there is a Kerberos ticket: klist, kinit.'
          : 'Check the user name and the keys; ssh -v HOST shows what it tries.'),
    },
  );
}

/** The first certificate of any hop that is not valid now. */
function invalidCertificate(
  target: SshTarget,
): { readonly file: string; readonly why: string } | undefined {
  const files = hopsTo(target).flatMap(({ system }) => system?.certificates ?? []);
  for (const file of files) {
    const validity = validityOf(file);
    const why = validity && notValid(validity, Date.now());
    if (why !== undefined) return { file, why };
  }
  return undefined;
}

function shownKey(
  target: SshTarget,
  log: string,
): readonly [hop: SshTarget, key: RefusedHostKey] {
  const named = /host key for (\S+) (?:has changed|is marked as revoked)/i.exec(log);
  const hop = named === null ? target : hopNamed(target, named[1]!);
  const shown =
    /fingerprint for the (\S+) key sent by the remote host is\s+(SHA256:[\w+/]+)/.exec(
      log,
    ) ?? /(?:host key|key) (\S+) (SHA256:[\w+/]+)/i.exec(log);
  const known = /Offending (?:\S+ )?key in (\S.*:\d+)/.exec(log)?.[1];
  const marked = /The (\S+) host key for \S+ is marked as revoked/i.exec(log)?.[1];
  const revoked = marked === undefined ? undefined : revokedKeys(hop, marked);
  const key = {
    keyType: shown?.[1] ?? marked ?? 'host',
    fingerprint:
      shown?.[2] ?? revoked?.fingerprints ?? 'whose fingerprint ssh does not tell',
    known:
      known ??
      revoked?.places ??
      /revoked by file (\S+)/i.exec(log)?.[1] ??
      'a known_hosts file',
    isJump: hop !== target,
  };
  return [hop, key];
}

/** `ssh` names the type of a key that is revoked in known_hosts, and neither key nor line. */
function revokedKeys(
  { host, port, hostKeyAlias, userKnownHosts, globalKnownHosts }: SshTarget,
  shownType: string,
): { readonly fingerprints: string; readonly places: string } | undefined {
  const type = keyTypeOf(shownType);
  const { name, withoutPort = name } = serverNames(host, port, hostKeyAlias);
  const { entries } = readKnownHosts([...userKnownHosts, ...globalKnownHosts]);
  const found = entries.filter(
    ({ marker, key, matches }) =>
      marker === 'revoked' &&
      key.type.startsWith(type) &&
      (matches(name) || matches(withoutPort)),
  );
  if (found.length === 0) return undefined;
  const each = (texts: readonly string[]): string => [...new Set(texts)].join(' or ');
  return {
    fingerprints: each(found.map(({ key }) => fingerprintOf(key))),
    places: each(found.map(({ place }) => place)),
  };
}

/** All output in one line: the log and other output. */
function wordsOf({ log, stderr }: SystemWords): string {
  const logged = lines(log);
  const printed = lines(stderr).slice(-3);
  const all = [...(logged.length > 3 ? logged.slice(-3) : logged), ...printed];
  return all.length === 0 ? 'ssh ended without a message' : printable(all.join('; '));
}

const NOISE = /^(Warning: Permanently added|Killed by signal|Pseudo-terminal)/;

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !NOISE.test(line));
