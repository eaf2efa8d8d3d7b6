/**
 * Tools that the tests need beyond npm, found or fetched: a Chromium, the Vulkan loader (for
 * WebGPU on Chromium's SwiftShader), a C compiler, OpenSSH's server and client, dropbear, Slurm, MIT
 * Kerberos, and iproute2. On Debian and Ubuntu as root apt brings them; elsewhere Playwright
 * brings its own browser; what cannot be fetched is named with the one command that brings
 * it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from 'playwright-core';

interface Prerequisite {
  readonly name: string;
  /** Debian's package. */
  readonly debian: string;
  /** Whether tests cannot run without it on this platform. */
  readonly required: boolean;
  present(): boolean;
}

const linux = process.platform === 'linux';

/**
 * Path of a Chromium that tests can drive, if there is one. The shell is the same browser without
 * the window around its pages: it starts in a fifth of the processor time.
 */
export function findChromium(): string | undefined {
  const candidates = [
    process.env.GRADWIRE_CHROMIUM,
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/google-chrome',
    chromium.executablePath(),
  ];
  return candidates.find((file) => file !== undefined && existsSync(file));
}

const prerequisites: readonly Prerequisite[] = [
  {
    name: 'Chromium',
    // The first has SwiftShader, too.
    debian: 'chromium chromium-headless-shell',
    required: true,
    present: () => findChromium() !== undefined,
  },
  {
    name: 'the Vulkan loader',
    debian: 'libvulkan1',
    required: linux,
    present: () =>
      !linux ||
      ['x86_64-linux-gnu', 'aarch64-linux-gnu', '']
        .map((triple) => path.join('/usr/lib', triple, 'libvulkan.so.1'))
        .some((file) => existsSync(file)),
  },
  {
    name: 'a C compiler (for a Vulkan layer of the tests)',
    debian: 'gcc libc6-dev',
    // Elsewhere the tests with it are skipped.
    required: linux && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0,
    present: () => existsSync('/usr/bin/gcc') && existsSync('/usr/include/stdio.h'),
  },
  {
    name: 'OpenSSH’s server',
    debian: 'openssh-server',
    required: linux,
    present: () =>
      ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].some((file) => existsSync(file)),
  },
  {
    name: 'OpenSSH’s client, its agent and ssh-keygen',
    debian: 'openssh-client',
    required: linux,
    present: () =>
      ['ssh', 'ssh-agent', 'ssh-keygen'].every((name) =>
        ['/usr/bin', '/usr/local/bin'].some((directory) =>
          existsSync(path.join(directory, name)),
        ),
      ),
  },
  {
    name: 'csh, fish and zsh, as login shells and for completion',
    debian: 'csh fish zsh',
    // Elsewhere the tests with them are skipped.
    required: linux && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0,
    present: () =>
      ['csh', 'fish', 'zsh'].every((name) =>
        ['/bin', '/usr/bin', '/usr/local/bin'].some((directory) =>
          existsSync(path.join(directory, name)),
        ),
      ),
  },
  {
    name: 'dropbear, a second SSH server',
    debian: 'dropbear-bin',
    // Elsewhere the tests with it are skipped.
    required: linux && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0,
    present: () => existsSync('/usr/sbin/dropbear'),
  },
  {
    name: 'Slurm and munge, a cluster’s scheduler',
    debian: 'slurm-wlm munge',
    // Elsewhere the tests with it are skipped.
    required: linux && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0,
    present: () =>
      ['munged', 'slurmctld', 'slurmd'].every((name) =>
        existsSync(path.join('/usr/sbin', name)),
      ),
  },
  {
    name: 'MIT Kerberos, a KDC',
    debian: 'krb5-kdc krb5-admin-server krb5-user',
    // Elsewhere the tests with it are skipped.
    required: linux && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0,
    present: () =>
      ['/usr/sbin/krb5kdc', '/usr/sbin/kadmin.local', '/usr/bin/kinit'].every((file) =>
        existsSync(file),
      ),
  },
  {
    name: 'iproute2 (for network namespaces, as root)',
    debian: 'iproute2',
    required: linux && process.getuid?.() === 0,
    present: () =>
      ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip'].some((file) => existsSync(file)),
  },
];

function missing(): readonly Prerequisite[] {
  return prerequisites.filter((one) => one.required && !one.present());
}

/** Fetch what is missing where that may be done; throws with the command otherwise. */
export function ensurePrerequisites(): void {
  let absent = missing();
  if (absent.length === 0) return;
  const apt = linux && existsSync('/usr/bin/apt-get');
  const install = `apt-get install -y ${absent.map(({ debian }) => debian).join(' ')}`;
  if (apt && process.getuid?.() === 0) {
    console.log(`fetching ${absent.map(({ name }) => name).join(', ')} with apt`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    for (const command of ['apt-get update -qq', `${install} -qq`]) {
      // What apt has to say matters only when the packages are still absent after it.
      spawnSync('sh', ['-c', `${command} >/dev/null`], { env, stdio: 'inherit' });
    }
    absent = missing();
  }
  if (absent.some(({ name }) => name === 'Chromium')) {
    console.log('fetching Playwright’s own Chromium');
    const cli = createRequire(import.meta.url).resolve('playwright-core/package.json');
    spawnSync(
      process.execPath,
      [path.join(path.dirname(cli), 'cli.js'), 'install', 'chromium'],
      { stdio: 'inherit', timeout: 300_000 },
    );
    absent = missing();
  }
  if (absent.length === 0) return;
  const names = absent.map(({ name }) => name).join(', ');
  const command = apt
    ? `sudo ${install}`
    : `npx playwright-core install chromium (for Chromium); for the rest your system’s packages`;
  throw new Error(`the tests need ${names}. Run: ${command}`);
}

/** A Chromium that starts: `--version` as the cheapest proof. */
export function assertChromiumStarts(): void {
  const file = findChromium();
  if (file === undefined) throw new Error('no Chromium');
  execFileSync(file, ['--version'], { stdio: 'ignore' });
}
