/** The supervisor's entry: the cache first, then whatever is to come out of it. */
import { keepCompiledCode } from '../bundle/compile-cache.ts';

keepCompiledCode();
await import('./supervisor.ts');
