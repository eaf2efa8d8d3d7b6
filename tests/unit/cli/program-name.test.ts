/** Names of programs in lists of runs. */
import { expect, test } from 'vitest';
import { programName } from '../../../src/cli/text/program-name.ts';

test.each([
  ['train.py', ['python3', 'a b/train.py', '-m', '5']],
  [
    'train.py',
    ['python3', '-m', 'torch.distributed.run', '--nproc-per-node=2', 'train.py'],
  ],
  ['pkg.train', ['/opt/venv/bin/python3.11', '-m', 'pkg.train', '--epochs', '3']],
  ['pkg.train', ['torchrun', '--nproc-per-node=2', '-m', 'pkg.train']],
  ['pkg.train', ['python', '-m', 'torch.distributed.run', '-m', 'pkg.train']],
  ['train', ['./bin/train', '-m', '5']],
  ['python', ['python', '-m']],
  ['external', []],
  ['program', ['\u0007']],
])('%s is the name of %j', (name, command) => {
  expect(programName(command)).toBe(name);
});
