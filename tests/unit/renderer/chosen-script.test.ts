import { expect, test } from 'vitest';
import {
  scriptPlace,
  withScript,
} from '../../../src/renderer/state/experiment/chosen-script.ts';

test.each([
  [undefined, 'train.py', 'python3 train.py'],
  [undefined, 'my train.py', "python3 'my train.py'"],
  [undefined, '-m.py', 'python3 ./-m.py'],
  ['torchrun --standalone', 'train.py', 'python3 train.py'],
  ['python3 a.py --epochs 3', 'b.py', 'python3 b.py --epochs 3'],
  ['python3 a.py --epochs 3', 'b $& c.py', "python3 'b $& c.py' --epochs 3"],
  ["python3 'b $& c.py' --epochs 3", 'a.py', 'python3 a.py --epochs 3'],
  [['/bin/sh', '-c', 'python3 a.py 1'], 'b.py', 'python3 b.py 1'],
  [['python3', '-u', 'a.py', '1'], 'b c.py', ['python3', '-u', 'b c.py', '1']],
  [['torchrun', '-m', 'pkg.train'], 'b.py', 'python3 b.py'],
])('%j with %s is %j', (command, script, expected) => {
  expect(withScript(command, script)).toEqual(expected);
});

test.each([
  ['/home/me/code', undefined, '/home/me/code', 'train.py'],
  ['/home/me/code', '/home/me/code', undefined, 'train.py'],
  ['/home/me/code/a/b', '/home/me/code', undefined, 'a/b/train.py'],
  ['/home/me/codex', '/home/me/code', '/home/me/codex', 'train.py'],
  ['/home/me', '/home/me/code', '/home/me', 'train.py'],
  ['/srv', '/', undefined, 'srv/train.py'],
])('a script in %s beside %s has %s for %s', (folder, given, workdir, script) => {
  expect(scriptPlace(folder, 'train.py', given)).toEqual({ workdir, script });
});
