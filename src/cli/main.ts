/** The command's entry: the cache first, then whatever is to come out of it. */
import { keepCompiledCode } from '../agent/bundle/compile-cache.ts';

keepCompiledCode();
const { runCommandLine } = await import('./program.ts');
await runCommandLine();
