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
      // zsh reads bash's functions of this kind.
      return `#compdef gradwire\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
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

function fish(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const { commands: below, options, words } = command;
    const at = condition(words, below);
    const summaryOf = (name: string): string =>
      commands.find(
        (other) =>
          other.words.length === words.length + 1 &&
          other.words.at(-1) === name &&
          words.every((word, index) => other.words[index] === word),
      )?.summary ?? '';
    return [
      ...below.map(
        (name) =>
          `complete -c gradwire -f -n '${at}' -a ${name} -d ${quoted(summaryOf(name))}`,
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
