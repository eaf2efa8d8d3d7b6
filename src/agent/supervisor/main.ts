/** The supervisor's entry: enables the compile cache, then loads everything else. */
import { keepCompiledCode } from '../bundle/compile-cache.ts';
import { ignoreWarningSignals } from '../bundle/warning-signals.ts';

ignoreWarningSignals();
keepCompiledCode();
await import('./supervisor.ts');
