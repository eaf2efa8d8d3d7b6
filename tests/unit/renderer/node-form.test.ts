/** The form of a machine: the entry that it makes, and what is wrong with it by field. */
import { describe, expect, test } from 'vitest';
import {
  emptyNodeForm,
  entryOf,
  fieldOf,
  formOf,
  formProblems,
  type NodeForm,
} from '../../../src/renderer/state/cluster/node-form.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';
import {
  MAIN_FIELDS,
  MORE_FIELDS,
  NODE_FIELDS,
  SLURM_FIELDS,
} from '../../../src/shared/machines/node-fields.ts';

const filled = (given: Partial<NodeForm>): NodeForm => ({
  ...emptyNodeForm(),
  host: 'box.example',
  ...given,
});
const problemsOf = (given: Partial<NodeForm>) =>
  Object.fromEntries(formProblems(filled(given)));

describe('the entry', () => {
  test('of a host alone has its name', () => {
    expect(entryOf(filled({}))).toEqual({
      name: 'box',
      destination: 'box.example',
      identities: [],
      labels: [],
    });
  });

  test('has everything that was typed, as the entry has it', () => {
    const form = filled({
      host: ' fd00::2 ',
      name: 'hpc',
      user: 'me',
      port: '2222',
      identity: '~/k',
      jump: 'a,b',
      labels: ' lab , spare,',
      address: '10.0.0.2',
      ports: '20000-20100',
      isSlurm: true,
      partition: 'gpu',
      nodes: '2',
      gpusPerNode: '4',
      time: '2:00:00',
      setup: 'a\n\n b ',
      options: '--qos=x',
    });
    expect(formProblems(form).size).toBe(0);
    expect(parseNodeEntry(entryOf(form))).toEqual({
      name: 'hpc',
      destination: 'me@[fd00::2]:2222',
      identities: ['~/k'],
      jump: 'a,b',
      labels: ['lab', 'spare'],
      address: '10.0.0.2',
      ports: '20000-20100',
      slurm: {
        partition: 'gpu',
        nodes: 2,
        gpusPerNode: 4,
        time: '2:00:00',
        setup: ['a', 'b'],
        options: ['--qos=x'],
      },
    });
  });

  test('has nothing of Slurm where the box is not ticked', () => {
    expect(entryOf(filled({ partition: 'gpu' }))).not.toHaveProperty('slurm');
    expect(problemsOf({ time: 'soon' })).toEqual({});
  });
});

describe('the form of a machine that is there', () => {
  const hpc = parseNodeEntry({
    ...{
      name: 'hpc',
      destination: 'me@[fd00::2]:2222',
      jump: 'a,b',
      address: 'fd00::9',
    },
    ...{
      identities: ['/k/1', '/k, 2'],
      labels: ['one, two', 'b'],
      transport: 'system',
    },
    configFile: '/etc/other',
    ports: '2000-2010',
    identitiesOnly: 'yes',
    slurm: { nodes: 2, setup: ['  indented', 'b'], options: ['--qos=x'] },
  });

  test('shows all of it', () => {
    const form = formOf(hpc);
    expect(form).toMatchObject({
      host: 'fd00::2',
      user: 'me',
      port: '2222',
      name: 'hpc',
      jump: 'a, b',
      identity: '/k/1\n/k, 2',
      nodes: '2',
      isSlurm: true,
      transport: 'system',
    });
    const shown = NODE_FIELDS.filter(({ key }) => form[key] === '').map(
      ({ key }) => key,
    );
    expect(shown).toEqual([
      ...['partition', 'account', 'time', 'ranksPerNode', 'cpusPerNode', 'gpusPerNode'],
    ]);
  });

  test('leaves what is not touched as it is, also what a field cannot tell', () => {
    expect(parseNodeEntry(entryOf(formOf(hpc), hpc))).toEqual(hpc);
    const form = { ...formOf(hpc), host: 'new.lab', jump: '', setup: 'a' };
    expect(formProblems(form, hpc).size).toBe(0);
    expect(parseNodeEntry(entryOf(form, hpc))).toEqual({
      ...hpc,
      destination: 'me@new.lab:2222',
      jump: undefined,
      slurm: { ...hpc.slurm, setup: ['a'] },
    });
  });

  test('has another list where its text is another', () => {
    const form = { ...formOf(hpc), labels: 'one, two', isSlurm: false };
    const changed = entryOf(form, hpc);
    expect(changed).toMatchObject({ labels: ['one', 'two'] });
    expect(changed).not.toHaveProperty('slurm');
  });
});

describe('what is wrong', () => {
  test('is said once, where it was typed', () => {
    expect(problemsOf({ host: '' })).toEqual({ host: 'it is missing' });
    expect(Object.keys(problemsOf({ name: 'a b', port: '0', ports: '1' }))).toEqual([
      ...['port', 'name', 'ports'],
    ]);
    const slurm = problemsOf({
      isSlurm: true,
      nodes: '1.5',
      cpusPerNode: '0',
      account: '-x',
    });
    expect(Object.keys(slurm).sort()).toEqual(['account', 'cpusPerNode', 'nodes']);
    expect(slurm['nodes']).toBe('1.5 is not valid: a whole number from 1 to 100000');
  });

  test('finds its field by the path of the entry, and no other', () => {
    expect(fieldOf('destination')).toBe('host');
    expect(fieldOf('identities')).toBe('identity');
    expect(fieldOf('slurm.ranksPerNode')).toBe('ranksPerNode');
    expect(fieldOf('world.nodes')).toBeUndefined();
    expect(fieldOf(undefined)).toBeUndefined();
  });

  test('of each field has a place in the form', () => {
    const fields = [...MAIN_FIELDS, ...MORE_FIELDS, ...SLURM_FIELDS];
    const keys = ['host', 'transport', ...fields.map(({ key }) => key), 'isSlurm'];
    expect(keys.toSorted()).toEqual(Object.keys(emptyNodeForm()).toSorted());
  });
});
