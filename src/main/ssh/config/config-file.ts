/**
 * Files in the form of ssh_config(5): lines of keyword and arguments, with included files
 * in place. `own-parser.ts` decides what applies to a host.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { inputError } from '../../../shared/errors/errors.ts';

export interface ConfigLine {
  /** The keyword in lower case. */
  readonly keyword: string;
  readonly values: readonly string[];
  /** `FILE:LINE`. */
  readonly place: string;
  /** The lines of the files that an `Include` names, in order. */
  readonly included?: readonly ConfigLine[] | undefined;
}

/** OpenSSH's own limit. */
const DEEPEST_INCLUDE = 16;
const MAX_BYTES = 2 ** 20;
const MOST_FILES = 1000;

export interface ConfigFile {
  readonly file: string;
  /** The base of relative names in `Include`: ~/.ssh, or /etc/ssh for the system's file. */
  readonly directory: string;
  /** The value of ~. */
  readonly home: string;
}

/**
 * All lines of a file; none if it does not exist.
 * @throws GradwireError `SSH_CONFIG_INVALID`
 */
export function readConfigFile(config: ConfigFile): readonly ConfigLine[] {
  const budget = { files: MOST_FILES };
  return readLines(config.file, config, 0, budget);
}

function readLines(
  file: string,
  config: ConfigFile,
  depth: number,
  budget: { files: number },
): readonly ConfigLine[] {
  if (depth > DEEPEST_INCLUDE || --budget.files < 0) {
    throw configInvalid('includes too many files, or itself', file);
  }
  const lines: ConfigLine[] = [];
  for (const [index, raw] of textOf(file).split('\n').entries()) {
    const place = `${file}:${index + 1}`;
    const words = splitWords(raw, place);
    if (words === undefined) continue;
    const { keyword, values } = words;
    const included =
      keyword === 'include'
        ? values.flatMap((pattern) =>
            filesOf(pattern, config).flatMap((found) =>
              readLines(found, config, depth + 1, budget),
            ),
          )
        : undefined;
    lines.push({ keyword, values, place, included });
  }
  return lines;
}

function textOf(file: string): string {
  try {
    const about = statSync(file);
    if (about.size > MAX_BYTES) throw new Error('it is too large');
    // Devices and pipes have no size, and need not end; an empty one is a usual place-holder.
    if (file === '/dev/null') return '';
    if (!about.isFile() && !about.isDirectory())
      throw new Error('it is not a regular file');
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw configInvalid(`cannot be read: ${message}`, file);
  }
}

function filesOf(pattern: string, { directory, home }: ConfigFile): readonly string[] {
  const expanded = pattern.replace(/^~(?=\/|$)/, home);
  return globSync(path.resolve(directory, expanded)).sort();
}

/** Keyword and arguments of a line; undefined for an empty one. */
function splitWords(
  raw: string,
  place: string,
): { readonly keyword: string; readonly values: readonly string[] } | undefined {
  const match = /^[\s"]*([A-Za-z0-9]+)"?(?:\s*=\s*|\s+|$)(.*)$/.exec(raw.trim());
  if (match === null) {
    const text = raw.trim();
    if (text === '' || text.startsWith('#')) return undefined;
    throw configInvalid(
      `${JSON.stringify(text)} is not a valid configuration line`,
      place,
    );
  }
  return { keyword: match[1]!.toLowerCase(), values: splitValues(match[2]!, place) };
}

/** Words, quoted by " or ' if they contain spaces; # begins a comment. */
function splitValues(text: string, place: string): readonly string[] {
  const values: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === '\\' && /["'\\]/.test(text[at + 1] ?? '')) {
      word = (word ?? '') + text[++at]!;
    } else if (quote !== undefined) {
      if (letter === quote) quote = undefined;
      else word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (/\s/.test(letter)) {
      if (word !== undefined) values.push(word);
      word = undefined;
    } else if (letter === '#' && word === undefined) {
      return values;
    } else {
      word = (word ?? '') + letter;
    }
  }
  if (quote !== undefined) throw configInvalid(`a ${quote} quote is not closed`, place);
  if (word !== undefined) values.push(word);
  return values;
}

export function configInvalid(what: string, place: string): Error {
  return inputError('SSH_CONFIG_INVALID', what, {
    place,
    next: 'Correct the file, or give host, port and user yourself.',
  });
}
