/**
 * Imported before every schema: zod would try whether it may compile code, and the page's
 * content security policy forbids that, loudly.
 */
import { z } from 'zod';

z.config({ jitless: true });
