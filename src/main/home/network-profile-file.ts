/**
 * Network profiles on disk, as JSON; the home's own is written atomically. Launches and
 * `gradwire plan` read them.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import {
  networkProfileSchema,
  parseNetworkProfile,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import { inputError } from '../../shared/errors.ts';
import { fileNotWritable } from '../../shared/file-error.ts';

/**
 * @returns undefined if there is no such file
 * @throws GradwireError `NETWORK_PROFILE_UNREADABLE`, `NETWORK_PROFILE_INVALID`,
 * `NETWORK_PROFILE_UNKNOWN_KEY`
 */
export async function loadNetworkProfile(
  file: string,
): Promise<NetworkProfile | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(file, cause);
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (cause) {
    throw unreadable(file, cause);
  }
  return parseNetworkProfile(raw, file);
}

/** @throws GradwireError `OUTPUT_NOT_WRITABLE` */
export async function saveNetworkProfile(
  file: string,
  profile: NetworkProfile,
): Promise<void> {
  const text = `${JSON.stringify(networkProfileSchema.parse(profile), null, 2)}\n`;
  // A reader sees either the old or the new file.
  const unfinished = `${file}.${process.pid}`;
  try {
    await writeFile(unfinished, text, { mode: 0o600 });
    await rename(unfinished, file);
  } catch (cause) {
    throw fileNotWritable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): Error {
  return inputError(
    'NETWORK_PROFILE_UNREADABLE',
    `cannot read ${file}: ${String(cause)}`,
    {
      place: file,
      next: 'Measure it again: gradwire bench network.',
    },
  );
}
