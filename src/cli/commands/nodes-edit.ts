/** `gradwire nodes edit`: what is given of a machine is changed, all else stays. */
import type { Command } from 'commander';
import { splitDestination } from '../../shared/machines/destination.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';
import type { NodeEntry } from '../../shared/machines/node-entry.ts';
import {
  entryFrom,
  NODE_FIELDS,
  valuesOf,
  type NodeKey,
  type NodeValue,
} from '../../shared/machines/node-fields.ts';
import { changeNode } from '../../main/runs/node-change.ts';
import { RepeatableOption } from '../text/option-repetition.ts';
import { withWorkspace } from '../session/workspace.ts';
import {
  addNodeOptions,
  flagOf,
  givenFields,
  placeOf,
  refuseStraySlurm,
  type NodeOptions,
} from './node-options.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

type Fields = Readonly<Partial<Record<NodeKey, NodeValue>>>;

const SLURM = '--slurm';
/** Fields that have a default to go back to. */
const OPTIONAL = NODE_FIELDS.filter(({ key }) => key !== 'host' && key !== 'name');

export function addNodesEditCommand(nodes: Command): void {
  const command = nodes
    .command('edit')
    .description('change a machine’s settings; omitted options keep their values')
    .argument('<name>', 'its name')
    .addOption(
      new RepeatableOption(
        '--unset <option>',
        'reset an option to its default, such as --unset jump; repeatable',
      ).default([], ''),
    )
    .option(
      '--same-machine',
      'confirm that the new address leads to the same machine and account; required while runs have ranks there',
    )
    .option(SLURM, 'the machine is the login node of a Slurm cluster')
    .option(...JSON_ANSWER);
  addNodeOptions(
    command,
    NODE_FIELDS.map(({ key }) => key),
  ).action(async (name: string, options: NodeOptions) => {
    const given = givenFields(options);
    const unset = (options['unset'] as readonly string[]).map(withDashes);
    refuseNothing(given, unset, options);
    await withWorkspace(async ({ store, inventory }) => {
      const before = store.nodes.named(name);
      const raw = changed(before, given, unset, options['slurm'] === true);
      const after = inventory.parse(raw, (path) => placeOf(path, given));
      const sameMachine = options['sameMachine'] === true;
      changeNode(store, before, after, {
        sameMachine,
        placeOf: (path) => placeOf(path, given),
      });
      const renamed = after.name === name ? '' : `, now ${after.name}`;
      answer(
        options['json'] === true,
        { changed: name, name: after.name },
        `changed ${name}${renamed}; check it with: gradwire nodes check ${after.name}\n`,
      );
    });
  });
}

/** The raw entry; lists that are given take the place of what was. */
function changed(
  before: NodeEntry,
  given: Fields,
  unset: readonly string[],
  turnsSlurm: boolean,
): Record<string, unknown> {
  const was = valuesOf(before);
  const isUnset = (flag: string): boolean => unset.includes(flag);
  const slurm = (was.slurm || turnsSlurm) && !isUnset(SLURM);
  if (!slurm) refuseStraySlurm(given);
  const fields = Object.entries({
    ...was.fields,
    // With a user or a port of its own, where it has one.
    ...(given.host === undefined ? {} : splitDestination(String(given.host))),
    ...given,
    host: splitDestination(String(given.host ?? was.fields.host)).host,
  }).filter(
    ([key]) => !OPTIONAL.some((field) => field.key === key && isUnset(flagOf(field))),
  );
  return entryFrom({ fields: Object.fromEntries(fields), slurm }, before);
}

const withDashes = (option: string): string =>
  option.startsWith('--') ? option : `--${option}`;

/** @throws GradwireError `NODE_INVALID`: nothing is asked for, or what cannot be */
function refuseNothing(
  given: Fields,
  unset: readonly string[],
  options: NodeOptions,
): void {
  const flags = [...OPTIONAL.map(flagOf), SLURM];
  for (const flag of unset) {
    if (flags.includes(flag)) continue;
    const suggestion = nearest(flag, flags);
    throw inputError('NODE_INVALID', `${flag} cannot be unset`, {
      place: '--unset',
      next:
        suggestion === undefined
          ? `It is one of ${flags.join(', ')}.`
          : `Did you mean ${suggestion.slice(2)}?`,
    });
  }
  const both = OPTIONAL.find(
    (field) => given[field.key] !== undefined && unset.includes(flagOf(field)),
  );
  const slurmToo = unset.includes(SLURM) && options['slurm'] === true;
  if (both !== undefined || slurmToo) {
    const flag = both === undefined ? SLURM : flagOf(both);
    throw inputError('NODE_INVALID', `${flag} is both set and unset`, {
      place: '--unset',
      next: 'Use only one of them.',
    });
  }
  if (Object.keys(given).length + unset.length > 0 || options['slurm'] === true) return;
  throw inputError('NODE_INVALID', 'no change was requested', {
    next: 'Give at least one option: gradwire nodes edit --help lists them.',
  });
}
