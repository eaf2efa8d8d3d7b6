/**
 * Scripts that complete commands and options in a shell, made from the commands' definitions.
 * They start no process: all words are in the script. Where an argument is a file, the shell's own
 * completion takes over.
 */

/** A command with its words, such as `['runs', 'list']`; the program itself has none. */
export interface CompletedCommand {
  readonly words: readonly string[];
  readonly summary: string;
  /** Names of the commands below it. */
  readonly commands: readonly string[];
  readonly options: readonly CompletedOption[];
}

interface CompletedOption {
  /** The option with its dashes: `--json`. */
  readonly flag: string;
  readonly summary: string;
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(
  shell: Shell,
  commands: readonly CompletedCommand[],
): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

function bash(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(
    ({ commands: below, options, words }) =>
      `    '${words.join(' ')}') below='${below.join(' ')}'; options='${options
        .map(({ flag }) => flag)
        .join(' ')}' ;;`,
  );
  return `# gradwire: completion for bash. In ~/.bashrc: eval "$(gradwire completion bash)"
_gradwire_words() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
}
_gradwire() {
  local below options path='' word
  local current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if _gradwire_words "\${path:+$path }$word"; then path="\${path:+$path }$word"; fi
  done
  _gradwire_words "$path"
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $below ]]; then
    COMPREPLY=($(compgen -W "$below" -- "$current"))
  fi
}
complete -o default -o bashdefault -F _gradwire gradwire
`;
}

function zsh(commands: readonly CompletedCommand[]): string {
  const cases = commands.map((command) => {
    const { commands: below, options, words } = command;
    const names = below.map((name) =>
      described(name, summaryBelow(commands, words, name)),
    );
    const flags = options.map(({ flag, summary }) => described(flag, summary));
    return `    '${words.join(' ')}') below=(${names.join(' ')}); options=(${flags.join(' ')}) ;;`;
  });
  // `path` is PATH in zsh, so the words are called otherwise.
  return `#compdef gradwire
# gradwire: completion for zsh. In ~/.zshrc, after compinit: eval "$(gradwire completion zsh)"
_gradwire_words() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
}
_gradwire() {
  local named='' word
  local -a below options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if _gradwire_words "\${named:+$named }$word"; then named="\${named:+$named }$word"; fi
  done
  _gradwire_words "$named"
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
  elif (( $#below )); then
    _describe command below
  else
    _files
  fi
}
compdef _gradwire gradwire
`;
}

/** A word with its description, as zsh's `_describe` reads them: a colon is between the two. */
const described = (word: string, summary: string): string =>
  `'${`${word}:${summary.replaceAll(':', '\\:')}`.replaceAll("'", String.raw`'\''`)}'`;

/** The summary of the command with this name below another one. */
const summaryBelow = (
  commands: readonly CompletedCommand[],
  words: readonly string[],
  name: string,
): string =>
  commands.find((one) => one.words.join(' ') === [...words, name].join(' '))?.summary ??
  '';

function fish(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const { commands: below, options, words } = command;
    const at = condition(words, below);
    return [
      ...below.map(
        (name) =>
          `complete -c gradwire -f -n '${at}' -a ${name} -d ${quoted(summaryBelow(commands, words, name))}`,
      ),
      ...options.map(
        ({ flag, summary }) =>
          `complete -c gradwire -n '${at}' -l ${flag.slice(2)} -d ${quoted(summary)}`,
      ),
    ];
  });
  return `# gradwire: completion for fish. In config.fish: gradwire completion fish | source\n${lines.join('\n')}\n`;
}

/** Fish's test that these words are there, and none of the commands below. */
function condition(words: readonly string[], below: readonly string[]): string {
  const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
  const none =
    below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`];
  return [...seen, ...none].join('; and ') || 'true';
}

/** Text in single quotes, in which fish reads a backslash before a quote or another backslash. */
const quoted = (text: string): string =>
  `'${text.replace(/[\\']/g, (sign) => `\\${sign}`)}'`;
