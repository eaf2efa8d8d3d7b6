/** Loaded into a supervisor that runs from the sources: it speaks the protocol's next version. */
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.endsWith('/shared/protocol/hello.ts')) return loaded;
    const source = String(loaded.source);
    const changed = source.replace('PROTOCOL_VERSION = 1', 'PROTOCOL_VERSION = 2');
    if (changed === source) throw new Error('there is no PROTOCOL_VERSION to change');
    return { ...loaded, source: changed };
  },
});
