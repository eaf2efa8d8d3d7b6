/**
 * A user's own sbatch options, read as sbatch reads them: what they say about the job's name and
 * clusters, and which of them would make the job something else than one allocation.
 */
import { inputError } from '../errors/errors.ts';

/** Long names of the short options that matter here. */
const SHORT: Readonly<Record<string, string>> = {
  a: 'array',
  h: 'help',
  J: 'job-name',
  M: 'clusters',
  V: 'version',
  W: 'wait',
};
/** Short options without a value: another may follow in the same word. */
const FLAGS = 'bhHIOQsuvVW';
/** `-k` takes a value that it does not need. */
const MAY_STAND_ALONE = `${FLAGS}k`;
/** Options of the user's own that also say how the job is found again. */
const OWN = ['clusters', 'comment', 'job-name'] as const;

const REFUSED: Readonly<Record<string, string>> = {
  array: 'a run is one job, and an array is several',
  help: 'it prints a text and submits nothing',
  requeue: 'a job that begins again has other nodes; use onFailure: restart',
  'test-only': 'it submits nothing',
  usage: 'it prints a text and submits nothing',
  version: 'it prints a text and submits nothing',
  wait: 'sbatch would answer only when the job has ended',
  wrap: 'the job runs a script of Gradwire’s, which holds the nodes',
};

interface Option {
  readonly name: string;
  readonly value: string;
}

/** `-HJx` → H, and J with the value x; `--array=1-3` → array with the value 1-3. */
function readWord(word: string): readonly Option[] {
  if (word.startsWith('--')) {
    const [name, ...value] = word.slice(2).split('=');
    return [{ name: name!, value: value.join('=') }];
  }
  const options: Option[] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word[at]!;
    const isFlag = FLAGS.includes(letter);
    const value = isFlag ? '' : word.slice(at + 1).trim();
    options.push({ name: SHORT[letter] ?? `-${letter}`, value });
    if (!isFlag) break;
  }
  return options;
}

/** sbatch takes the beginning of a long name for the name. */
const isShortFor = (given: string, name: string): boolean => name.startsWith(given);

/** Returns why sbatch must not get an option; undefined if it may. */
export function optionProblem(word: string): string | undefined {
  if (/^--?$/.test(word)) return 'it ends the options of sbatch';
  for (const { name, value } of readWord(word)) {
    const refused = Object.keys(REFUSED).find((one) => isShortFor(name, one));
    if (refused !== undefined) return REFUSED[refused];
    const isShort = name.startsWith('-') && !MAY_STAND_ALONE.includes(name[1]!);
    if (value === '' && (isShort || OWN.some((one) => one === name))) {
      return 'its value has to be in the same word';
    }
  }
  return undefined;
}

/** @throws GradwireError `SLURM_OPTION_REFUSED` */
export function checkJobOptions(words: readonly string[]): void {
  for (const word of words) {
    const problem = optionProblem(word);
    if (problem === undefined) continue;
    throw inputError(
      'SLURM_OPTION_REFUSED',
      `sbatch must not get ${word}: ${problem}`,
      {
        place: `--sbatch=${word}`,
        next: 'Give the other options again without it: gradwire nodes edit NAME --sbatch=…, or --unset options.',
      },
    );
  }
}

/** The value of an option among a user's own; the last one counts, as for sbatch. */
export function ownOption(
  words: readonly string[],
  name: (typeof OWN)[number],
): string | undefined {
  // `--comm` can only be one of them; sbatch itself refuses what is ambiguous.
  const least = { clusters: 2, comment: 4, 'job-name': 5 }[name];
  return words
    .flatMap(readWord)
    .findLast(
      (option) =>
        option.name === name ||
        (option.name.length >= least && isShortFor(option.name, name)),
    )?.value;
}
