import type { Rule } from 'eslint';

export const withoutSubject: readonly string[];
export const docSubjectRule: Rule.RuleModule;
