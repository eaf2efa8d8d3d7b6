/**
 * Imported before every schema: otherwise zod would try to compile code, which the page's
 * content security policy forbids and logs.
 */
import { z } from 'zod';

z.config({ jitless: true });
