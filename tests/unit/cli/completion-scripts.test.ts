/** Completion in the shells themselves, where they are installed; bash always is. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  completionScript,
  type CompletedCommand,
} from '../../../src/cli/text/completion-scripts.ts';

const option = (flag: string) => ({ flag, summary: `the machine's ${flag}` });
const commands: readonly CompletedCommand[] = [
  { words: [], summary: '', commands: ['run', 'runs'], options: [option('--version')] },
  { words: ['run'], summary: 'launch', commands: [], options: [option('--set')] },
  { words: ['runs'], summary: 'list', commands: ['list', 'log'], options: [] },
  { words: ['runs', 'list'], summary: '', commands: [], options: [option('--json')] },
  { words: ['runs', 'log'], summary: '', commands: [], options: [option('--follow')] },
];

const LINES: readonly (readonly [string, readonly string[]])[] = [
  ['gradwire r', ['run', 'runs']],
  ['gradwire runs l', ['list', 'log']],
  ['gradwire runs list --', ['--json']],
  ['gradwire runs log --f', ['--follow']],
  ['gradwire run --', ['--set']],
];

describe.skipIf(process.platform === 'win32')('in bash', () => {
  it.each(LINES)('%s', (line, expected) => {
    const script = `${completionScript('bash', commands)}
      COMP_WORDS=(${line
        .split(' ')
        .map((word) => `'${word}'`)
        .join(' ')})
      COMP_CWORD=${line.split(' ').length - 1}
      _gradwire
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toEqual(expected);
  });
});

const fish = ['/usr/bin/fish', '/usr/local/bin/fish'].find(existsSync);
describe.skipIf(fish === undefined)('in fish', () => {
  it.each(LINES)('%s', (line, expected) => {
    const script = `${completionScript('fish', commands)}\ncomplete -C '${line}'`;
    const { stdout, stderr } = spawnSync(fish!, ['--no-config', '-c', script], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const words = stdout
      .trim()
      .split('\n')
      .map((found) => found.split('\t')[0]!);
    expect(words.toSorted()).toEqual(expect.arrayContaining([...expected]));
  });
});

const zsh = ['/usr/bin/zsh', '/bin/zsh', '/usr/local/bin/zsh'].find(existsSync);
describe.skipIf(zsh === undefined)('in zsh', () => {
  it.each(LINES)('%s', (line, expected) => {
    const typed = line.split(' ');
    // Outside of its line editor zsh has no `_describe`: this one prints what it would offer.
    const script = `compdef() { : }
      _describe() { print -rl -- \${(M)\${(P)@[-1]}:#$PREFIX*}; }
      ${completionScript('zsh', commands)}
      words=(${typed.map((word) => `'${word}'`).join(' ')})
      CURRENT=${typed.length}
      PREFIX='${typed.at(-1)!}'
      _gradwire`;
    const { stdout, stderr } = spawnSync(zsh!, ['-f', '-c', script], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const offered = stdout.trim().split('\n');
    expect(offered.map((one) => one.split(':')[0])).toEqual(expected);
    if (line.endsWith(' --f'))
      expect(offered).toEqual(["--follow:the machine's --follow"]);
  });
});
