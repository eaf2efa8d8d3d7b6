/**
 * Uploads one package, verifies it there and unpacks it. An upload that was cancelled, or cut
 * by a lost connection, is continued by the next one: its remains, named by the package's
 * SHA-256, are a prefix of the same bytes. They are copied, not taken over, because the server
 * may not have noticed the loss, and another app may be uploading the same package.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { DeployProgress } from '../../shared/machines/node-status.ts';
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import { placeOf } from '../ssh/target.ts';
import { BASE, directoryOf } from './installed.ts';
import type { PackageArchive } from './package-archive.ts';

const INCOMING = `${BASE}/incoming`;
const STEP_MS = 300_000;
const UPLOAD_MS = 3_600_000;

interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ((progress: DeployProgress) => void) | undefined;
}

interface UploadOptions extends SendOptions {
  /** Whether a package of that name is there but damaged. */
  readonly damaged: boolean;
}

/** Prints how many bytes of the package are there already, and which remains had them. */
const PREPARE = `
umask 077
mkdir -p "$HOME/$incoming" && cd "$HOME/$incoming" || exit 1
longest=0 remains=
for old in "$package".*.tar.gz; do
  [ -f "$old" ] || continue
  size=$(wc -c < "$old")
  [ "$size" -le "$longest" ] || { longest=$size remains=$old; }
done
if [ "$longest" -gt 0 ] && ! cp "$remains" "$file" 2>/dev/null; then rm -f "$file"; fi
: >> "$file" || exit 1
printf '%s %s' $(wc -c < "$file") "$remains"
`;

/** Another upload has brought the package, and deleted this one's file because it stood still. */
const OVERTAKEN = `
cd "$HOME" || exit 1
[ -f "$incoming/$file" ] || [ ! -e "$directory/$entry" ] || exit 0
`;

/**
 * Deletes every copy if the package does not match: none of it is a prefix to continue,
 * whichever upload it came from.
 */
const VERIFY = `
${OVERTAKEN}
cd "$incoming" || exit 1
set -- $(sha256sum "$file")
[ "$1" = "$sha256" ] || { rm -f "$package".*.tar.gz; printf '%s' "$1"; exit 9; }
`;

/** Remains that have grown belong to an upload that is still under way. */
const DELETE_COPIED = `
remains=$incoming/\${remains:-none}
[ "$there" -lt "$bytes" ] && [ -f "$remains" ] && [ "$(wc -c < "$remains")" -eq "$there" ] &&
  rm -f "$remains"
exit 0
`;

const UNPACK = `
${OVERTAKEN}
umask 077
trap 'rm -rf "$beside" "$beside.old" "$incoming/$file"' EXIT
mkdir -p "$beside" || exit 1
gzip -dc "$incoming/$file" | tar -xf - -C "$beside" || exit 1
mkdir -p "$(dirname "$directory")" || exit 1
# What is damaged gives way; what somebody else has just brought stays.
if [ "$damaged" = 1 ] || [ ! -e "$directory/$entry" ]; then
  [ ! -d "$directory" ] || mv "$directory" "$beside.old" || exit 1
fi
mv -T "$beside" "$directory" 2>/dev/null || [ -d "$directory" ] || mv "$beside" "$directory" || exit 1
${DELETE_COPIED}`;

/**
 * Keeps what was sent when an upload is cancelled: once, even if it came while remains were
 * being copied.
 */
const KEEP_SENT = `
cd "$HOME" || exit 1
rm -rf "$beside" "$beside.old"
[ -s "$incoming/$file" ] || { rm -f "$incoming/$file"; exit 0; }
for other in "$incoming/$package".*.tar.gz; do
  [ "$other" != "$incoming/$file" ] || continue
  [ "$(wc -c < "$other")" -lt "$(wc -c < "$incoming/$file")" ] || { rm -f "$incoming/$file"; exit 0; }
done
${DELETE_COPIED}`;

const DELETE_ALL = `
cd "$HOME" && rm -rf "$beside" "$incoming/$file"
`;

/** @returns bytes that were sent */
export async function upload(
  connection: RemoteConnection,
  archive: PackageArchive,
  { damaged, signal, progress }: UploadOptions,
): Promise<number> {
  const { kind, sha256, bytes } = archive;
  const prefix = `${kind}-${sha256}`;
  const name = `${prefix}.${randomBytes(6).toString('hex')}`;
  const variables: Record<string, string> = {
    incoming: INCOMING,
    package: prefix,
    file: `${name}.tar.gz`,
    sha256,
    bytes: String(bytes),
    beside: `${INCOMING}/${name}`,
    directory: directoryOf(archive),
    damaged: damaged ? '1' : '0',
    there: '0',
    entry: kind === 'agent' ? 'attach.js' : 'bin/node',
  };
  const about = { package: kind };
  progress?.({ step: 'upload', ...about, doneBytes: 0, totalBytes: bytes });
  const step = (title: string, script: string): Promise<string> =>
    runStep(connection, title, script, { variables, signal });
  try {
    const found = (await step('preparing the upload', PREPARE)).split(' ');
    const there = Math.min(Number(found[0]), bytes);
    Object.assign(variables, { there: String(there), remains: found[1] });
    const file = `${INCOMING}/${name}.tar.gz`;
    await send(connection, archive, { file, start: there, signal, progress });
    progress?.({ step: 'verify', ...about });
    await step('verifying', VERIFY);
    progress?.({ step: 'unpack', ...about });
    await step('unpacking', UNPACK);
    return bytes - there;
  } catch (error) {
    const code = error instanceof GradwireError ? error.code : undefined;
    // A connection that was cut answers no more.
    if (code !== 'SSH_TIMEOUT') {
      await cleanUp(connection, code === 'ABORTED' ? KEEP_SENT : DELETE_ALL, variables);
    }
    throw error;
  }
}

/**
 * Uses `cat` at the other end instead of SFTP, which some login nodes lack, in a plain shell,
 * because a restricted one writes no files. The path has no characters that any shell would
 * interpret.
 */
async function send(
  connection: RemoteConnection,
  archive: PackageArchive,
  {
    file,
    start,
    signal,
    progress,
  }: SendOptions & {
    readonly file: string;
    /** Bytes that are there already. */
    readonly start: number;
  },
): Promise<void> {
  const { kind, bytes } = archive;
  let doneBytes = start;
  const count = new Transform({
    transform: (chunk: Buffer, _, done) => {
      doneBytes += chunk.length;
      progress?.({ step: 'upload', package: kind, doneBytes, totalBytes: bytes });
      done(null, chunk);
    },
  });
  const source = createReadStream(archive.file, { start, highWaterMark: 2 ** 18 });
  const sent = pipeline(source, count).catch((error: unknown) => {
    count.destroy(error instanceof Error ? error : undefined);
  });
  const { code, stderr } = await connection.run(`sh -c 'cd && cat >> ${file}'`, {
    input: count,
    title: 'the upload',
    signal,
    deadlineMs: UPLOAD_MS,
  });
  await sent;
  if (code !== 0) throw deployFailed(connection, 'uploading', stderr);
}

/** @throws GradwireError `DEPLOY_FAILED`, `UPLOAD_DAMAGED` */
async function runStep(
  connection: RemoteConnection,
  name: string,
  script: string,
  options: {
    readonly variables: Record<string, string>;
    readonly signal: AbortSignal | undefined;
  },
): Promise<string> {
  const { code, stdout, stderr } = await runScript(connection, script, {
    ...options,
    name,
    deadlineMs: STEP_MS,
  });
  if (code === 0) return stdout;
  if (code === 9) {
    throw failure(
      'UPLOAD_DAMAGED',
      `the upload was corrupted: its SHA-256 is ${stdout.trim()}`,
      { place: placeOf(connection.target), next: 'Try again.' },
    );
  }
  throw deployFailed(connection, name, stderr);
}

function deployFailed(
  connection: RemoteConnection,
  name: string,
  stderr: string,
): Error {
  const said = stderr.trim().split('\n').slice(-3).join(' | ').slice(-300);
  return failure('DEPLOY_FAILED', `${name} failed: ${said || 'no error message'}`, {
    place: placeOf(connection.target),
    next: /no space|quota/i.test(said)
      ? 'Free some space there, then try again.'
      : 'Check that machine, then try again.',
  });
}

async function cleanUp(
  connection: RemoteConnection,
  script: string,
  variables: Record<string, string>,
): Promise<void> {
  try {
    await runScript(connection, script, { variables, name: 'cleaning up' });
  } catch (error) {
    // The connection itself may be lost; then the next deployment cleans up.
    if (!(error instanceof GradwireError)) throw error;
  }
}
