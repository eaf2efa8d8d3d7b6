/**
 * The kit that measures a GPU elsewhere: what it says without one, which GPU it takes of
 * several, and, in the soak, that it is complete: packed, and run with nothing around it, no
 * network and no home.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BUILT_FOLDERS } from '../../../scripts/gpu-kit/built-folders.ts';
import { lentLibraries, Libraries } from '../../../scripts/gpu-kit/driver.ts';
import { canHaveEqualGpus, EqualGpus } from '../../harness/equal-gpus.ts';
import { processesOf, until } from '../../harness/processes.ts';
import { swiftShader } from '../../harness/webgpu.ts';

const repository = path.join(import.meta.dirname, '../../..');
const bare = { PATH: '/usr/bin:/bin' };
const linux = process.platform === 'linux' && process.arch === 'x64';
const hasPython = spawnSync('/usr/bin/python3', ['--version']).status === 0;

/** A CPU driver takes a quarter of an hour for everything. */
const HOURS = { tags: 'soak', timeout: 7_200_000 };

const STEPS = 'bits-,kernels-,peers,run-fnn3,run-resnet,run-synthetic';

let folder: string;
let out: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gradwire-kit-'));
  out = path.join(folder, 'out');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface StepFile {
  readonly failure?: string;
  readonly skipped?: string;
  readonly result?: Readonly<Record<string, unknown>>;
}
const read = (step: string): StepFile =>
  JSON.parse(readFileSync(path.join(out, `${step}.json`), 'utf8')) as StepFile;

function report(of: string) {
  const script = path.join(repository, 'scripts/gpu-report.ts');
  return spawnSync(process.execPath, [script, of], { encoding: 'utf8' });
}

/** The kit's measurement, from the sources. */
function measure(args: readonly string[], env: Readonly<Record<string, string>>) {
  const script = path.join(repository, 'scripts/gpu-kit/measure.ts');
  return spawnSync(process.execPath, [script, ...args, out], {
    encoding: 'utf8',
    env: { ...bare, TMPDIR: folder, ...env },
  });
}

function executable(name: string, text: string): void {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

describe.skipIf(!linux)('the kit for a GPU', () => {
  test('without a driver it says so, with code 3, and what was tried', () => {
    const { status, stderr } = measure(['--quick'], {
      VK_ICD_FILENAMES: '/nonexistent.json',
    });
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringMatching(
        /^gpu-kit: WebGPU finds no GPU here; .*device\.json/,
      ),
    });
    expect(read('device').failure).toMatch(
      /^\/nonexistent\.json: no WebGPU adapter was found\n/,
    );
    expect(readdirSync(folder)).toEqual(['out']);
    expect(readdirSync(out)).toEqual(['device.json']);
    expect(report(out)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('WebGPU found no GPU.'),
    });
    const none = path.join(folder, 'none');
    expect(report(none)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`no device.json in ${none}`),
    });
  });

  test.skipIf(!existsSync(swiftShader))(
    'a driver of NVIDIA without its manifest is found',
    () => {
      const libraries = path.join(folder, 'libraries');
      mkdirSync(libraries);
      // Any Vulkan driver of that name: which one it is, its manifest says.
      symlinkSync(
        path.join(path.dirname(swiftShader), 'libvk_swiftshader.so'),
        path.join(libraries, 'libGLX_nvidia.so.0'),
      );
      const { status, stderr } = measure(['--software', '--only', 'nothing'], {
        LD_LIBRARY_PATH: libraries,
        // As on a machine without any manifest.
        VK_LOADER_DRIVERS_SELECT: 'libGLX_nvidia*',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(read('device').result).toMatchObject({
        driver: 'a manifest for libGLX_nvidia.so.0',
        tried: [
          expect.stringMatching(
            /^the machine’s manifests: no WebGPU adapter was found/,
          ),
        ],
      });
    },
  );

  test('libraries are lent where the machine has none of their name', async () => {
    const lent = path.join(folder, 'lib');
    mkdirSync(lent);
    for (const name of ['libc.so.6', 'libnowhere.so.1', 'licences']) {
      writeFileSync(path.join(lent, name), '');
    }
    const told = path.join(folder, 'told');
    mkdirSync(told);
    writeFileSync(path.join(told, 'libtold.so.1'), '');
    const paths = { ...bare, LD_LIBRARY_PATH: `${told}:${lent}` };
    const libraries = await Libraries.of(paths, lent);
    expect(libraries.has('libtold.so.1')).toBe(true);
    expect(lentLibraries(lent, libraries)).toEqual(['libnowhere.so.1']);
    expect(readdirSync(lent).toSorted()).toEqual(['libnowhere.so.1', 'licences']);
  });

  test.skipIf(!canHaveEqualGpus || !hasPython)(
    'PyTorch computes on the GPU that WebGPU took, wherever others list it',
    () => {
      using gpus = new EqualGpus(['3b', '41']);
      const [first, second] = ['3b', '41'].map((bus) => gpus.busId(bus));
      const row = (bus: string, uuid: string): string =>
        `${uuid}, ${bus.toLowerCase()}, A GPU, 580.1, 81559 MiB, Default, Disabled`;
      executable(
        'bin/nvidia-smi',
        `#!/bin/sh\nprintf '%s\\n' '${row(first!, 'GPU-1')}' '${row(second!, 'GPU-2')}'\n`,
      );
      executable('python/torch.py', TORCH);
      const { status, stderr } = measure(['--quick', '--only', 'peers'], {
        ...gpus.environment,
        PATH: `${path.join(folder, 'bin')}:${bare.PATH}`,
        PYTHONPATH: path.join(folder, 'python'),
        TEST_GPUS: `GPU-2=${second!} GPU-1=${first!}`,
      });
      expect({ status, stderr }).toMatchObject({ status: 0 });
      // Vulkan's loader names it first, CUDA would count the other one first.
      expect(read('device').result!['bus']).toBe(first);
      expect(read('peers').result).toMatchObject({
        bus: first,
        rows: [{ n: 100_000 }],
      });
    },
  );
});

/**
 * PyTorch as its script uses it, on GPUs of TEST_GPUS in CUDA's order: what it computes is
 * left out.
 */
const TORCH = `import os
from types import SimpleNamespace

class Vector:
    def numel(self): return 5
    def __getattr__(self, name): return lambda *given, **named: self

operators = 'add sub rsub mul rtruediv ge lt gt or and lshift invert neg getitem'
for name in operators.split():
    setattr(Vector, f'__{name}__', lambda *given: given[0])

all = dict(one.split('=') for one in os.environ['TEST_GPUS'].split())
visible = os.environ.get('CUDA_VISIBLE_DEVICES')
buses = [all[one] for one in visible.split(',')] if visible else list(all.values())

class Event:
    def __init__(self, enable_timing): pass
    def record(self): pass
    def synchronize(self): pass
    def elapsed_time(self, end): return 1.5

def properties(index):
    domain, bus, device = buses[index].split(':')
    return SimpleNamespace(
        pci_domain_id=int(domain, 16), pci_bus_id=int(bus, 16), pci_device_id=int(device[:2], 16)
    )

def topk(x, k): return Vector(), Vector()

cuda = SimpleNamespace(
    is_available=lambda: True, device_count=lambda: len(buses), set_device=lambda index: None,
    get_device_properties=properties, get_device_name=lambda index: 'A GPU', Event=Event,
)
version = SimpleNamespace(cuda='13.0')
pad = lambda x, widths: x
nn = SimpleNamespace(functional=SimpleNamespace(pad=pad))
uint8, __version__ = None, '2.11.0'
rand = lambda n, device: Vector()
manual_seed = lambda seed: None
empty_like = rand_like = zeros_like = lambda x: Vector()
where = lambda condition, x, y: Vector()
`;

test('what the kit takes with it is built', () => {
  const missing = BUILT_FOLDERS.map((name) =>
    path.join(repository, 'dist', name),
  ).filter((folder) => !existsSync(folder));
  expect(missing).toEqual([]);
});

test('what the kit takes with it needs no other file of the build', () => {
  const dist = path.join(repository, 'dist');
  const outside = BUILT_FOLDERS.flatMap((name) =>
    globSync('**/*.js', { cwd: path.join(dist, name) }).flatMap((file) => {
      const place = path.join(dist, name, file);
      const code = readFileSync(place, 'utf8');
      const needed = [...code.matchAll(/(?:from|import)\s*\(?"(\.[^"\n]+\.js)"/g)];
      return needed
        .map(([, to]) => path.relative(dist, path.resolve(path.dirname(place), to!)))
        .filter((to) => !BUILT_FOLDERS.includes(to.split(path.sep)[0]!));
    }),
  );
  expect(outside).toEqual([]);
});

describe.skipIf(!linux || !existsSync(swiftShader))('the packed kit', () => {
  const run = path.join(repository, 'gpu-kit/run.sh');
  beforeAll(() => {
    const packed = spawnSync(process.execPath, ['scripts/gpu-kit.ts'], {
      cwd: repository,
      encoding: 'utf8',
    });
    expect(packed).toMatchObject({ status: 0 });
  });

  /** Only these programs, an environment without anything, and no link but loopback. */
  function bareMachine(programs: readonly string[], args: readonly string[]) {
    const bin = path.join(folder, 'bin');
    mkdirSync(bin);
    for (const name of programs) {
      const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], {
        env: bare,
        encoding: 'utf8',
      });
      symlinkSync(stdout.trim(), path.join(bin, name));
    }
    const isRoot = process.getuid?.() === 0;
    const alone = ['/usr/bin/unshare', '-n', '/bin/sh', '-c'];
    const up = '/sbin/ip link set lo up; exec /bin/sh "$@"';
    const [program, ...rest] = [
      ...(isRoot ? [...alone, up, 'sh'] : ['/bin/sh']),
      ...[run, '--work', folder, ...args, out],
    ];
    return spawn(program!, rest, {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: bin, VK_ICD_FILENAMES: swiftShader },
    });
  }
  const tools = ['sh', 'date', 'dirname', 'mkdir', 'mktemp', 'rm', 'tail', 'sleep'];

  test('is complete: it runs with nothing around it', HOURS, async () => {
    // Python unpacks it: there is no xz.
    const kit = bareMachine(
      [...tools, 'python3'],
      // VGG-16 takes a CPU driver half an hour: the test below cuts it.
      ['--software', '--quick', '--only', STEPS],
    );
    let said = '';
    kit.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
    const code = await new Promise((resolve) => kit.once('close', resolve));
    const steps = readdirSync(out).map((name) => path.basename(name, '.json'));
    const failures = steps.map((step) => read(step).failure).filter(Boolean);
    expect({ code, said, failures }).toEqual({ code: 0, said: '', failures: [] });
    expect(steps.filter((step) => step.startsWith('bits-'))).toHaveLength(11);
    for (const model of ['fnn3', 'resnet-20', 'synthetic-vgg-16']) {
      for (const ranks of [1, 2]) {
        expect(read(`run-${model}-${ranks}`).result).toMatchObject({
          backend: 'webgpu',
          ranks,
          switches: 1,
          consistent: true,
          notices: [],
        });
      }
    }
    expect(readdirSync(folder).toSorted()).toEqual(['bin', 'out']);
    expect(report(out).stdout).toContain('| fnn3, 2 | topk |');
  });

  test(
    'a signal ends it, its run and its ranks, and removes what it unpacked',
    HOURS,
    async () => {
      const only = ['--only', 'run-vgg-16-2'];
      const kit = bareMachine(
        [...tools, 'tar', 'xz'],
        ['--software', '--quick', ...only],
      );
      const ended = new Promise((resolve) => kit.once('close', resolve));
      const home = (): string =>
        path.join(
          folder,
          readdirSync(folder).find((name) => name.startsWith('gw.'))!,
          'g',
        );
      const device = path.join(out, 'device.json');
      await until(() => existsSync(device), Boolean, 'the device');
      // The command, its supervisor and two ranks, at least.
      await until(
        () => processesOf(home()).length,
        (count) => count >= 4,
        'ranks',
      );
      const at = home();
      kit.kill('SIGTERM');
      expect(await ended).toBe(143);
      await until(
        () => processesOf(at),
        ({ length }) => length === 0,
        'their end',
      );
      expect(readdirSync(folder).toSorted()).toEqual(['bin', 'out']);
    },
  );

  test('what is cut leaves its figures, and nothing that runs', HOURS, async () => {
    // Of batches of 32 images a CPU driver takes a minute for the first iteration, and ten for all.
    const only = ['--only', 'run-resnet', '--seconds', '240'];
    const kit = bareMachine([...tools, 'tar', 'xz'], ['--software', ...only]);
    const code = await new Promise((resolve) => kit.once('close', resolve));
    expect(code).toBe(1);
    expect(read('run-resnet-20-1')).toMatchObject({
      failure: expect.stringMatching(/^cut after /),
      result: { backend: 'webgpu', model: 'resnet-20', ranks: 1 },
    });
    expect(read('run-resnet-20-1').result!['methods']).not.toEqual([]);
    expect(read('run-resnet-20-2').failure).toBe('no time was left for it');
    expect(readdirSync(folder).toSorted()).toEqual(['bin', 'out']);
    expect(report(out).stdout).toContain('Not measured, or not completely:');
  });
});
