/** The supervisor's entry: enables the compile cache, then loads everything else. */
import { keepCompiledCode } from '../bundle/compile-cache.ts';

keepCompiledCode();
await import('./supervisor.ts');
