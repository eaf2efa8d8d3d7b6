/** The options of `nodes add` and `nodes edit`: one for each field of a machine. */
import path from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';
import {
  NODE_FIELDS,
  SLURM_FIELDS,
  type NodeField,
  type NodeKey,
  type NodeValue,
} from '../../shared/machines/node-fields.ts';
import { RepeatableOption } from '../text/option-repetition.ts';

/** Options as commander gives them, by the names that it makes of the flags. */
export type NodeOptions = Readonly<Record<string, unknown>>;

/** An option for each of these fields; `slurm` and what a command has of its own it adds. */
export function addNodeOptions(command: Command, keys: readonly NodeKey[]): Command {
  for (const field of NODE_FIELDS.filter(({ key }) => keys.includes(key))) {
    command.addOption(optionOf(field));
  }
  return command;
}

/** Returns the given values by field; what was not given is left out. */
export function givenFields(
  options: NodeOptions,
): Readonly<Partial<Record<NodeKey, NodeValue>>> {
  const given = NODE_FIELDS.flatMap((field) => {
    const value = options[optionOf(field).attributeName()] as NodeValue | undefined;
    return value === undefined ? [] : [[field.key, value] as const];
  });
  const { identity, ...fields } = Object.fromEntries(given) as Partial<
    Record<NodeKey, NodeValue>
  >;
  if (identity === undefined) return fields;
  // The shell has expanded ~; later commands run from elsewhere.
  const files = (identity as readonly string[]).map((file) => path.resolve(file));
  return { ...fields, identity: files };
}

/** @throws GradwireError `NODE_INVALID`: options of Slurm for a machine that is not of it */
export function refuseStraySlurm(fields: Partial<Record<NodeKey, NodeValue>>): void {
  const stray = SLURM_FIELDS.find(({ key }) => fields[key] !== undefined);
  if (stray === undefined) return;
  throw inputError('NODE_INVALID', `${flagOf(stray)} is a Slurm option`, {
    next: 'Add --slurm, or remove the option.',
  });
}

/**
 * The options, or the argument, by which a value of the entry was given.
 * @param given those that were
 */
export function placeOf(
  path: string,
  given: Partial<Record<NodeKey, NodeValue>>,
): string {
  const fields = NODE_FIELDS.filter((field) => field.path === path);
  if (path === 'name' && given.name === undefined) return '<name>';
  const said = fields.filter(({ key }) => given[key] !== undefined);
  return (said.length > 0 ? said : fields).map(flagOf).join(', ') || path;
}

/** `--ranks-per-node` */
export const flagOf = ({ flags }: Pick<NodeField, 'flags'>): string =>
  flags.split(' ', 1)[0]!;

function optionOf({ kind, flags, description, choices }: NodeField): Option {
  if (kind === 'list') return new RepeatableOption(flags, description);
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices(choices);
  if (kind === 'count') option.argParser(parseCount);
  return option;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('It must be a whole number from 1.');
}
