/** A process that holds a home's app lock until it is killed: node lock-holder.ts HOME */
import { openHome, resolveHome } from '../../../src/main/home/home.ts';
import { AppLock } from '../../../src/main/home/app-lock.ts';

const home = await openHome(resolveHome({ GRADWIRE_HOME: process.argv[2] }));
const lock = AppLock.acquire(home, 'browser');
lock.announce('http://127.0.0.1:1234');
process.stdout.write('held\n');
process.stdin.resume();
