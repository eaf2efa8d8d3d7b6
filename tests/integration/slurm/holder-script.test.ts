/** The script of the job, run by a shell. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { holderScript } from '../../../src/agent/slurm/holder-script.ts';

/** Beats that come, one for each look, before there are no more. */
const BEATS = 20;

test('goes on while the number changes, and ends when it has stayed the same', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-holder-'));
  const heartbeat = path.join(directory, "it's alive");
  // Time passes as fast as the script looks.
  const clock = `looks=0
    sleep() {
      looks=$((looks + 1))
      if [ "$looks" -lt ${BEATS} ]; then echo "$looks" > "$HEARTBEAT"; fi
    }
    trap 'echo "$looks"' EXIT
`;
  const input = clock + holderScript({ heartbeat, patienceSeconds: 60 });
  const env = { ...process.env, HEARTBEAT: heartbeat };
  const looks = execFileSync('sh', ['-s'], { input, env, encoding: 'utf8' });
  // A look every 5 s: 12 of them saw what the one before saw.
  expect(Number(looks)).toBe(BEATS + 12);
  rmSync(directory, { recursive: true });
});

test('goes on when Slurm warns it before the end of the job', () => {
  // As `--signal=B:USR1@300` has it done.
  const warned = `sleep() {
      [ -z "$over" ] || { echo held; exit; }
      for signal in HUP INT QUIT USR1 USR2; do kill -"$signal" $$; done
      over=yes
    }
`;
  const input = warned + holderScript({ heartbeat: '/nowhere', patienceSeconds: 60 });
  const output = execFileSync('sh', ['-s'], { input, encoding: 'utf8' });
  expect(output).toBe('held\n');
});
