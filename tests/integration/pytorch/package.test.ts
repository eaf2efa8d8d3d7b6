/** The package `gradwire` for Python: its own tests, and that pip installs it without a network. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageSources, pytorch } from '../../harness/python.ts';

const packageFolder = path.join(packageSources, '..');

/** A python3 that can make virtual environments, as its tests need. */
const hasPython =
  spawnSync('python3', ['-c', 'import venv, ensurepip'], { stdio: 'ignore' }).status ===
  0;

interface Said {
  readonly stdout: string;
  readonly stderr: string;
}

/** Output of a command. @throws if it fails */
function run(
  command: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Said {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...variables };
  const options = { cwd: tmpdir(), encoding: 'utf8', env } as const;
  const { status, stderr, stdout } = spawnSync(command, args, options);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return { stdout, stderr };
}

/** Output of unittest of the package's own tests. */
function ownTests(python: string): string {
  const places = ['-s', path.join(packageFolder, 'tests'), '-t', packageFolder];
  const args = ['-m', 'unittest', 'discover', ...places];
  return run(python, args, { PYTHONPATH: packageSources }).stderr;
}

test.skipIf(pytorch === undefined)('gradwire passes its own tests with PyTorch', () => {
  const said = ownTests(pytorch!);
  expect(said).toMatch(/^Ran [1-9]\d+ tests/m);
  expect(said).toMatch(/^OK$/m);
});

describe.skipIf(!hasPython)('the package gradwire', () => {
  test('passes its own tests without PyTorch', () => {
    const said = ownTests('python3');
    expect(said).toMatch(/^Ran [1-9]\d+ tests/m);
    expect(said).toMatch(/^OK( \(skipped=\d+\))?$/m);
  });

  describe('installed by pip without an index', () => {
    let folder: string;
    let python: string;

    /** Has pip be found where it is installed already: to install it takes five seconds. */
    const withPip: Record<string, string> = {};

    const pip = (...args: readonly string[]): Said =>
      run(python, ['-m', 'pip', '--disable-pip-version-check', ...args], withPip);

    /** Output of Python, away from the checkout. */
    const says = (
      code: string,
      variables: Readonly<Record<string, string>> = {},
    ): Said => run(python, ['-c', code], variables);

    beforeAll(() => {
      folder = mkdtempSync(path.join(tmpdir(), 'gradwire-package-'));
      const environment = path.join(folder, 'environment');
      if (pytorch === undefined) run('python3', ['-m', 'venv', environment]);
      else {
        run('python3', ['-m', 'venv', '--without-pip', environment]);
        const code = 'import os, pip; print(os.path.dirname(pip.__path__[0]))';
        withPip['PYTHONPATH'] = run(pytorch, ['-c', code]).stdout.trim();
      }
      python = path.join(environment, 'bin/python');
      pip('install', '--no-index', packageFolder);
    });

    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    test('is typed, has the licence of the project, and needs no other package', () => {
      const code = `
import importlib.metadata, pathlib, gradwire
about = importlib.metadata.distribution("gradwire")
print(about.version, gradwire.__version__, about.metadata["License-Expression"], about.requires)
print((pathlib.Path(gradwire.__file__).parent / "py.typed").exists(), about.read_text("licenses/LICENSE"))`;
      const { version } = JSON.parse(
        readFileSync(path.join(packageFolder, '../../package.json'), 'utf8'),
      ) as { readonly version: string };
      const licence = readFileSync(path.join(packageFolder, '../../LICENSE'), 'utf8');
      expect(says(code).stdout).toBe(
        `${version} ${version} Apache-2.0 None\nTrue ${licence}\n`,
      );
    });

    test('does nothing outside of a run, and says so once', () => {
      const code = `
import sys, gradwire
gw = gradwire.join()
assert gradwire.join() is gw and not gw.is_joined
gw.attach(None, None)
gw.log({"loss": 1}, accuracy=2)
gradwire.log(loss=1)
gw.end()
print("torch" in sys.modules)`;
      const { stderr, stdout } = says(code, { GRADWIRE_BRIDGE: '' });
      expect(stdout).toBe('False\n');
      expect(stderr).toMatch(/^gradwire: not started by Gradwire .*\n$/);
    });

    test('names PyTorch if that is missing', () => {
      const code = `
import gradwire
try: gradwire.join()
except gradwire.GradwireError as error: print(error.code, error)`;
      const { stdout } = says(code, { GRADWIRE_BRIDGE: '/nonexistent/bridge' });
      expect(stdout).toBe(
        'PYTORCH_MISSING PYTORCH_MISSING: PyTorch is not installed. Run: pip install torch\n',
      );
    });

    test(
      'builds the same wheel and source distribution again, and from each other',
      { tags: 'soak' },
      () => {
        const wheel = (into: string, source: string): Buffer => {
          const target = path.join(folder, into);
          pip('wheel', '--quiet', '--no-index', '--no-deps', '-w', target, source);
          const [name, ...others] = readdirSync(target);
          expect(others).toEqual([]);
          expect(name).toMatch(/^gradwire-[\d.]+-py3-none-any\.whl$/);
          return readFileSync(path.join(target, name!));
        };
        const first = wheel('first', packageFolder);
        expect(wheel('second', packageFolder)).toEqual(first);
        const backend = `import sys; sys.path.insert(0, sys.argv[1]); import gradwire_build; print(gradwire_build.build_sdist(sys.argv[2]))`;
        const args = ['-c', backend, path.join(packageFolder, 'backend'), folder];
        const name = run(python, args).stdout.trim();
        expect(wheel('third', path.join(folder, name))).toEqual(first);
      },
    );

    test('can be installed as a pointer to its sources', { tags: 'soak' }, () => {
      pip('install', '--no-index', '--force-reinstall', '--editable', packageFolder);
      const code = 'import gradwire, os; print(os.path.dirname(gradwire.__file__))';
      expect(says(code).stdout).toBe(`${path.join(packageSources, 'gradwire')}\n`);
    });
  });
});
