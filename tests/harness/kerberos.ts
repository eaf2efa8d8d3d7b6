/**
 * A Kerberos realm of its own on loopback, with a ticket for whoever runs the tests: MIT's
 * KDC on files in a temporary directory. Nothing of the system's configuration is read.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from './processes.ts';
import { freePort } from './sshd.ts';

const REALM = 'GRADWIRE.TEST';
const PROGRAMS = {
  krb5kdc: '/usr/sbin/krb5kdc',
  kdb5_util: '/usr/sbin/kdb5_util',
  'kadmin.local': '/usr/sbin/kadmin.local',
  kinit: '/usr/bin/kinit',
};

/** Why this machine cannot have one; undefined where it can. */
export function kerberosMissing(): string | undefined {
  const absent = Object.values(PROGRAMS).find((file) => !existsSync(file));
  return absent === undefined ? undefined : `no ${absent}`;
}

export class KerberosRealm implements AsyncDisposable {
  /** What tells programs of this realm. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #directory: string;
  #kdc: ChildProcess | undefined;

  private constructor(directory: string) {
    this.#directory = directory;
    this.environment = {
      KRB5_CONFIG: path.join(directory, 'krb5.conf'),
      KRB5_KDC_PROFILE: path.join(directory, 'kdc.conf'),
      KRB5_KTNAME: path.join(directory, 'keytab'),
      KRB5CCNAME: `FILE:${path.join(directory, 'tickets')}`,
    };
  }

  /** @param host whose SSH server takes tickets of this realm */
  static async start(host: string): Promise<KerberosRealm> {
    const realm = new KerberosRealm(mkdtempSync(path.join(tmpdir(), 'gradwire-krb-')));
    try {
      await realm.#start(host);
    } catch (error) {
      await realm[Symbol.asyncDispose]();
      throw error;
    }
    return realm;
  }

  /** A ticket for whoever runs the tests. */
  login(): void {
    const keytab = path.join(this.#directory, 'user.keytab');
    this.#run('kinit', ['-k', '-t', keytab, os.userInfo().username]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const kdc = this.#kdc;
    if (kdc?.exitCode === null) {
      const ended = new Promise((resolve) => kdc.once('close', resolve));
      kdc.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #start(host: string): Promise<void> {
    const port = await freePort();
    const file = (name: string): string => path.join(this.#directory, name);
    writeFileSync(
      file('krb5.conf'),
      `[libdefaults]
  default_realm = ${REALM}
  dns_canonicalize_hostname = false
  rdns = false
[realms]
  ${REALM} = {
    kdc = 127.0.0.1:${port}
  }
[domain_realm]
  ${host} = ${REALM}
`,
    );
    writeFileSync(
      file('kdc.conf'),
      `[kdcdefaults]
  kdc_listen = 127.0.0.1:${port}
  kdc_tcp_listen = 127.0.0.1:${port}
[realms]
  ${REALM} = {
    database_name = ${file('principals')}
    key_stash_file = ${file('stash')}
  }
[logging]
  kdc = FILE:${file('kdc.log')}
`,
    );
    this.#run('kdb5_util', ['create', '-s', '-r', REALM, '-P', 'guards nothing']);
    const user = os.userInfo().username;
    for (const [principal, keytab] of [
      [user, 'user.keytab'],
      [`host/${host}`, 'keytab'],
    ] as const) {
      this.#run('kadmin.local', ['-q', `addprinc -randkey ${principal}`]);
      this.#run('kadmin.local', ['-q', `ktadd -k ${file(keytab)} ${principal}`]);
    }
    const leash = existsSync('/usr/bin/setpriv')
      ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM']
      : [];
    const [program, ...args] = [...leash, PROGRAMS.krb5kdc, '-n'];
    this.#kdc = spawn(program!, args, { env: this.#all(), stdio: 'ignore' });
    await until(
      () => existsSync(file('kdc.log')) && this.#answers(),
      (answers) => answers,
      'the KDC to answer',
    );
  }

  #answers(): boolean {
    try {
      this.login();
      return true;
    } catch {
      return false;
    }
  }

  #run(program: keyof typeof PROGRAMS, args: readonly string[]): void {
    execFileSync(PROGRAMS[program], args, { env: this.#all(), stdio: 'pipe' });
  }

  #all(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.environment };
  }
}
