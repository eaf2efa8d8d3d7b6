import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import tseslint from 'typescript-eslint';
import { docSubjectRule } from './eslint-doc-comments.js';
import { roomRule } from './eslint-rooms.js';

/** Functions of Math whose results the standard leaves to the engine. */
const ownBits = 'a?(cos|sin|tan)h?|atan2|cbrt|exp|expm1|hypot|log|log10|log1p|log2|pow';

export default tseslint.config(
  {
    ignores: [
      '.venv/',
      'build/',
      'dist/',
      'dist.new/',
      'dist.last/',
      'node_modules/',
      'coverage/',
      'test-results/',
      'gpu-kit/',
      'src/agent/kernels/wasm/assembly/',
      'src/agent/training/datasets/assembly/',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: globals.node },
    rules: {
      'no-console': 'error',
      eqeqeq: 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['src/**', 'bench/**', 'scripts/**'],
    plugins: {
      gradwire: { rules: { rooms: roomRule, 'doc-subject': docSubjectRule } },
    },
    rules: { 'gradwire/doc-subject': 'error' },
  },
  {
    files: ['src/**'],
    rules: { 'gradwire/rooms': 'error' },
  },
  {
    // What ranks compute has to have the same bits on every machine.
    files: ['src/agent/**', 'src/shared/cost-model/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: `MemberExpression[object.name='Math'][property.name=/^(${ownBits})$/]`,
          message:
            'Its last bits differ between machines: shared/numbers/portable-math.ts.',
        },
        {
          selector: "BinaryExpression[operator='**']:not([left.value=2])",
          message:
            'Its last bits differ between machines: shared/numbers/portable-math.ts.',
        },
        {
          selector: "AssignmentExpression[operator='**=']",
          message:
            'Its last bits differ between machines: shared/numbers/portable-math.ts.',
        },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    ignores: ['src/renderer/**'],
    languageOptions: {
      parserOptions: {
        project: './tsconfig.json',
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/renderer/**'],
    rules: { '@typescript-eslint/unbound-method': 'error' },
  },
  {
    files: ['src/renderer/**'],
    languageOptions: {
      globals: globals.browser,
      parserOptions: { parser: tseslint.parser, extraFileExtensions: ['.svelte'] },
    },
  },
  {
    files: ['scripts/**', 'bench/**', 'bin/**', 'src/cli/**', '*.config.*'],
    rules: { 'no-console': 'off' },
  },
);
