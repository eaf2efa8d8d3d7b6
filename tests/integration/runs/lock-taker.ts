/** Tries to take a home's lock once it may, says whether it has, and holds it until it is killed. */
import { once } from 'node:events';
import { HomeLock } from '../../../src/agent/supervisor/home/home-lock.ts';

process.stdout.write('ready\n');
await once(process.stdin, 'data');
const lock = await HomeLock.acquire(process.argv[2]!);
process.stdout.write(lock instanceof HomeLock ? 'held\n' : `${lock.fate}\n`);
