/**
 * A place in which a document's commands can be typed as they stand: a directory with the
 * files that they name, a user's home with a machine in its `~/.ssh/config`, a Gradwire home,
 * and `gradwire` and `python3` in its PATH. Linux, as root, for a home in a mount namespace.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { shellQuoted } from '../../src/shared/words/shell-word.ts';
import { documented } from '../harness/documented.ts';
import { builtCommand, GradwireHome } from '../harness/gradwire.ts';
import { pytorch } from '../harness/python.ts';
import { SshServer } from '../harness/sshd.ts';
import { inUserHome } from '../harness/user-home.ts';

const root = path.join(import.meta.dirname, '../..');
/** Hosts of the documents, all of which lead to the machine of the test. */
const HOSTS = ['box.lab.example', 'box2.lab.example'];

export interface Typed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class DocumentedSite implements AsyncDisposable {
  readonly #gradwire = new GradwireHome();
  readonly #server: SshServer;
  readonly #directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-typed-'));
  readonly #work = path.join(this.#directory, 'work');
  readonly #bin = path.join(this.#directory, 'bin');
  readonly #inHome: string;

  private constructor(server: SshServer) {
    this.#server = server;
    mkdirSync(this.#work);
    symlinkSync(path.join(root, 'examples'), path.join(this.#work, 'examples'));
    mkdirSync(this.#bin);
    this.#writePrograms();
    this.#writeFiles();
    const ssh = path.join(this.#directory, '.ssh');
    mkdirSync(ssh, { mode: 0o700 });
    writeFileSync(
      path.join(ssh, 'config'),
      `Host ${HOSTS.join(' ')}\n  HostName ${server.host}\n  Port ${server.port}\n` +
        `  IdentityFile ${server.key}\n`,
    );
    copyFileSync(server.knownHosts, path.join(ssh, 'known_hosts'));
    this.#inHome = inUserHome(this.#directory);
  }

  static async start(): Promise<DocumentedSite> {
    return new DocumentedSite(await SshServer.start());
  }

  /** Types a line, and waits for its end. */
  async type(line: string): Promise<Typed> {
    this.#put(
      'train.py',
      trainingProgram(line.includes(' --observe ') ? 'plain' : 'joined'),
    );
    const script = `cd ${shellQuoted(this.#work)} && exec bash -euo pipefail -c "$0"`;
    const child = spawn(
      'bash',
      ['-c', this.#inHome, 'bash', 'bash', '-c', script, line],
      {
        env: {
          PATH: `${this.#bin}:${process.env['PATH']}`,
          HOME: this.#directory,
          USER: os.userInfo().username,
          LANG: 'C.UTF-8',
          TERM: 'dumb',
          GRADWIRE_HOME: this.#gradwire.directory,
          GRADWIRE_PACKAGE: path.join(root, 'python/gradwire/src'),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const code = await new Promise<number | null>((resolve) => {
      child.on('close', resolve);
    });
    return { code, stdout, stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gradwire[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true });
  }

  #writePrograms(): void {
    const programs: Record<string, string> = {
      gradwire: `exec ${shellQuoted(process.execPath)} ${shellQuoted(builtCommand)} "$@"`,
      // What `npm run -s gradwire --` is in a checkout, whose directory would be the current one.
      npm: `[ "$1 $2 $3 $4" = 'run -s gradwire --' ] || exit 64\nshift 4\nexec gradwire "$@"`,
      // The id of the N-th run from the last.
      run_id: `gradwire runs list --json | sed -n "$1p" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'`,
      ...(pytorch && {
        python3: `exec ${shellQuoted(pytorch)} "$@"`,
        torchrun: `exec ${shellQuoted(pytorch)} -m torch.distributed.run "$@"`,
      }),
    };
    for (const [name, script] of Object.entries(programs)) {
      const file = path.join(this.#bin, name);
      writeFileSync(file, `#!/bin/sh\n${script}\n`);
      chmodSync(file, 0o755);
    }
    if (pytorch === undefined) return;
    const python = path.join(this.#directory, 'venv/bin/python');
    mkdirSync(path.dirname(python), { recursive: true });
    copyFileSync(path.join(this.#bin, 'python3'), python);
  }

  #put(name: string, content: string | Uint8Array): void {
    const file = path.join(this.#work, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  #writeFiles(): void {
    const spec = /^```yaml\n(# mine\.yaml\n.*?)^```$/ms.exec(
      readFileSync(path.join(root, 'README.md'), 'utf8'),
    );
    this.#put('mine.yaml', spec![1]!);
    for (const directory of ['my-data', 'mnist']) this.#writeImages(directory);
    for (const model of ['two-layer', 'three-layer', 'next-token']) {
      const code = documented('models.md', 'ts', `// ${model}.ts\n`);
      this.#put(`${model}.ts`, code);
    }
    this.#put(
      'tinyshakespeare.txt',
      'To be, or not to be: that is the question.\n'.repeat(400),
    );
    const message = (i: number): string =>
      i % 3 === 0 ? `spam\twin a prize ${i}\n` : `ham\tsee you at ${i}\n`;
    this.#put('sms.tsv', Array.from({ length: 600 }, (_, i) => message(i)).join(''));
    const person = (i: number): string =>
      `${20 + (i % 50)},${i % 2 ? 'Sales' : 'Tech'},${i % 3 ? 'Male' : 'Female'},${i % 4 ? '<=50K' : '>50K'}\n`;
    const people = Array.from({ length: 600 }, (_, i) => person(i)).join('');
    this.#put('adult.data.gz', gzipSync(`age,occupation,sex,income\n${people}`));
    for (let rank = 0; rank < 4; rank++) {
      const values = Float32Array.from({ length: 1000 }, (_, i) => i * rank);
      this.#put(`in${rank}.f32`, new Uint8Array(values.buffer));
    }
  }

  /** Images of ten classes, each a bright row, in MNIST's format. */
  #writeImages(directory: string): void {
    for (const [part, count] of Object.entries({ train: 1280, t10k: 200 })) {
      const images = Buffer.alloc(16 + count * 784);
      [0x803, count, 28, 28].forEach((word, i) => images.writeUInt32BE(word, 4 * i));
      const labels = Buffer.alloc(8 + count);
      [0x801, count].forEach((word, i) => labels.writeUInt32BE(word, 4 * i));
      for (let i = 0; i < count; i++) {
        labels[8 + i] = i % 10;
        images.fill(
          200 + (i % 50),
          16 + i * 784 + (i % 10) * 56,
          16 + i * 784 + (i % 10) * 56 + 28,
        );
      }
      this.#put(`${directory}/${part}-images-idx3-ubyte`, images);
      this.#put(`${directory}/${part}-labels-idx1-ubyte`, labels);
    }
  }
}

/** The documents' `train.py`: DDP on two ranks or four, as it was or with their three lines. */
function trainingProgram(form: 'plain' | 'joined'): string {
  const [imported, joined, attached] =
    form === 'plain'
      ? ['', '', '']
      : ['import gradwire', 'gw = gradwire.join()', 'gw.attach(model, optimizer)'];
  return `
import argparse
import torch
from torch.nn.parallel import DistributedDataParallel
${imported}
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
epochs = parser.parse_args().epochs
torch.distributed.init_process_group("gloo")
${joined}
torch.manual_seed(torch.distributed.get_rank())
model = DistributedDataParallel(torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
${attached}
for _ in range(epochs * 100):
    optimizer.zero_grad()
    x = torch.randn(16, 64)
    torch.nn.functional.cross_entropy(model(x), x[:, :10].argmax(1)).backward()
    optimizer.step()
torch.distributed.destroy_process_group()
`;
}
