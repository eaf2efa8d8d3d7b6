/**
 * A real Slurm on this machine, which plays a cluster of two nodes, n0 and n1: munged,
 * slurmctld and two slurmd, with keys, ports and a configuration of their own in a temporary
 * directory. Linux with Debian's slurm-wlm and munge, as root.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from './processes.ts';
import { freePort } from './sshd.ts';

const DAEMONS = ['/usr/sbin/munged', '/usr/sbin/slurmctld', '/usr/sbin/slurmd'];

/** Why this machine cannot have a Slurm; undefined where it can. */
export function slurmMissing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return 'needs root on Linux';
  }
  const absent = DAEMONS.find((file) => !existsSync(file));
  return absent === undefined ? undefined : `no ${absent}`;
}

export class SlurmCluster implements AsyncDisposable {
  readonly directory: string;
  /** For commands of Slurm, and for supervisors that give some. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #children: ChildProcess[] = [];
  #log = '';
  #isUp = false;

  private constructor() {
    this.directory = mkdtempSync(path.join(tmpdir(), 'gradwire-slurm-'));
    this.environment = { SLURM_CONF: path.join(this.directory, 'slurm.conf') };
  }

  static async start(): Promise<SlurmCluster> {
    for (let left = 2; ; left--) {
      const cluster = new SlurmCluster();
      try {
        await cluster.#start();
        return cluster;
      } catch (error) {
        await cluster[Symbol.asyncDispose]();
        // A port that was free may be somebody's by the time a daemon listens at it.
        if (left === 0) throw error;
      }
    }
  }

  /** What a command of Slurm prints. */
  ask(command: string, ...args: string[]): string {
    const env = { ...process.env, ...this.environment };
    return execFileSync(command, args, { encoding: 'utf8', env, stdio: 'pipe' }).trim();
  }

  /** `STATE` of each job that is not over, by its number. */
  jobs(): ReadonlyMap<string, string> {
    const lines = this.ask('squeue', '--noheader', '--format=%i %T').split('\n');
    return new Map(
      lines.filter(Boolean).map((line) => line.split(' ') as [string, string]),
    );
  }

  /** A job that holds whole nodes until it is cancelled. @returns its number */
  hold(nodes: number): string {
    const wrap = '--wrap=exec sleep 3600';
    const where = [
      `--nodes=${nodes}`,
      '--exclusive',
      '--output=/dev/null',
      '--chdir=/',
    ];
    return this.ask('sbatch', '--parsable', ...where, wrap);
  }

  cancel(job: string): void {
    this.ask('scancel', job);
  }

  /** Brings a node back that was down, once Slurm has taken its jobs from it. */
  async resume(node: string): Promise<void> {
    await until(
      () => {
        const state = this.ask('sinfo', '--noheader', `--nodes=${node}`, '--format=%T');
        if (!state.startsWith('down')) return state;
        try {
          this.ask('scontrol', 'update', `nodename=${node}`, 'state=resume');
        } catch {
          // It came back by itself in between.
        }
        return state;
      },
      (state) => !state.startsWith('down'),
      `${node} to be back`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isUp) {
      for (const job of this.jobs().keys()) this.cancel(job);
      await until(
        () => [...this.jobs()],
        (left) => left.length === 0,
        'the jobs to end',
      );
    }
    for (const child of this.#children.toReversed()) await stop(child);
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const file = (name: string): string => path.join(this.directory, name);
    for (const name of ['state', 'spool-n0', 'spool-n1']) mkdirSync(file(name));
    writeFileSync(file('key'), randomBytes(128), { mode: 0o600 });
    writeFileSync(file('slurm.conf'), await this.#configuration());
    // No GPUs: Slurm deals out files of devices, and programs are told their numbers.
    const devices = 'File=/dev/null,/dev/zero';
    writeFileSync(file('gres.conf'), `NodeName=n[0-1] Name=gpu ${devices}\n`);
    this.#spawn('munged', [
      ...['--foreground', '--force', `--socket=${file('munge.sock')}`],
      ...[`--key-file=${file('key')}`, `--pid-file=${file('munge.pid')}`],
      ...[`--log-file=${file('munge.log')}`, `--seed-file=${file('munge.seed')}`],
    ]);
    await until(
      () => existsSync(file('munge.sock')) || this.#someEnded,
      (over) => over,
      'munged to listen',
    );
    this.#spawn('slurmctld', ['-D']);
    for (const node of ['n0', 'n1']) this.#spawn('slurmd', ['-D', '-N', node]);
    const idle = await until(
      () => (this.#someEnded ? undefined : this.#idleNodes()),
      (nodes) => nodes === undefined || nodes === 2,
      'both nodes to be idle',
    );
    if (idle === undefined) throw new Error(`Slurm does not start: ${this.#log}`);
    this.#isUp = true;
  }

  get #someEnded(): boolean {
    return this.#children.some(
      ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null,
    );
  }

  #idleNodes(): number {
    try {
      const nodes = this.ask('sinfo', '--noheader', '--Node', '--format=%N %T');
      const idle = nodes.split('\n').filter((line) => line.endsWith(' idle'));
      return new Set(idle).size; // Each partition tells of them.
    } catch {
      return 0; // The controller does not answer yet.
    }
  }

  async #configuration(): Promise<string> {
    const host = os.hostname().split('.')[0]!;
    const [controller, ...daemons] = [
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    const { directory } = this;
    return [
      'ClusterName=lab',
      `SlurmctldHost=${host}(127.0.0.1)`,
      `SlurmctldPort=${controller}`,
      'SlurmUser=root',
      'AuthType=auth/munge',
      `AuthInfo=socket=${directory}/munge.sock`,
      `StateSaveLocation=${directory}/state`,
      `SlurmdSpoolDir=${directory}/spool-%n`,
      `SlurmctldPidFile=${directory}/slurmctld.pid`,
      `SlurmdPidFile=${directory}/slurmd-%n.pid`,
      `SlurmctldLogFile=${directory}/slurmctld.log`,
      `SlurmdLogFile=${directory}/slurmd-%n.log`,
      'ProctrackType=proctrack/linuxproc',
      'TaskPlugin=task/none',
      'SelectType=select/cons_tres',
      'GresTypes=gpu',
      'SelectTypeParameters=CR_Core',
      'SchedulerType=sched/backfill',
      'MpiDefault=none',
      'ReturnToService=2',
      'KillWait=2',
      // A machine of one core plays them too.
      'SlurmdParameters=config_overrides',
      ...daemons.map(
        (port, index) =>
          `NodeName=n${index} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${port} ` +
          'CPUs=2 RealMemory=1000 Gres=gpu:2',
      ),
      'PartitionName=main Nodes=n0,n1 Default=YES MaxTime=1:00:00 State=UP',
      'PartitionName=hidden Nodes=n0,n1 Hidden=YES MaxTime=1:00:00 State=UP',
      '',
    ].join('\n');
  }

  /** It ends with the process that started it, even one killed. */
  #spawn(program: string, args: readonly string[]): void {
    const leash = ['/usr/bin/setpriv', '--pdeathsig', 'TERM', `/usr/sbin/${program}`];
    const [command, ...rest] = [...leash, ...args];
    const child = spawn(command!, rest, {
      env: { ...process.env, ...this.environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#log = (this.#log + text).slice(-4000);
    });
    this.#children.push(child);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  await ended;
}
