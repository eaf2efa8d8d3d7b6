/** The command's entry: sets up the compile cache, then loads everything through it. */
import { keepCompiledCode } from '../agent/bundle/compile-cache.ts';
import { ignoreWarningSignals } from '../agent/bundle/warning-signals.ts';

ignoreWarningSignals();
keepCompiledCode();
const { runCommandLine } = await import('./program.ts');
await runCommandLine();
