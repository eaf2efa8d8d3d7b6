import type { Rule } from 'eslint';

export const rooms: Record<string, string[]>;
export const roomRule: Rule.RuleModule;
export function requireNoCycle(): void;
