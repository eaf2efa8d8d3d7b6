/**
 * Limits on repeated options. An option without a value may be repeated, as it says the same
 * again; one with a value is given once, unless it is a `RepeatableOption`. Commander would
 * take the last value without a word.
 */
import { Option, type Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';

/** An option that may be given more than once: its values are collected, in order. */
export class RepeatableOption extends Option {
  /** @param check answers with the value to collect; throws commander's InvalidArgumentError */
  constructor(
    flags: string,
    description: string,
    check: (text: string) => string = (text) => text,
  ) {
    super(flags, description);
    this.argParser<readonly string[]>((text, before = []) => [...before, check(text)]);
  }
}

/** Makes a command, and those below it, refuse a second value of an option (`USAGE`). */
export function refuseSecondValues(command: Command): void {
  for (const option of command.options) {
    const takesValue = option.required || option.optional;
    if (!takesValue || option instanceof RepeatableOption) continue;
    // Commander names an optional value that was left out null.
    let first: string | null | undefined;
    command.on(`option:${option.name()}`, (value: string | null) => {
      if (first === undefined) {
        first = value;
        return;
      }
      const differ = first !== null && value !== null && first !== value;
      const said = differ ? `: "${first}" and "${value}"` : '';
      throw inputError(
        'USAGE',
        `${option.long ?? option.flags} is given twice${said}`,
        {
          place: commandLineOf(command),
          next: 'Give it once.',
        },
      );
    });
  }
  for (const inner of command.commands) refuseSecondValues(inner);
}

/** `gradwire nodes add` */
function commandLineOf(command: Command): string {
  const { parent } = command;
  return parent === null
    ? command.name()
    : `${commandLineOf(parent)} ${command.name()}`;
}
