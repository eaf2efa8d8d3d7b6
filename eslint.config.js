import js from '@eslint/js';
import { importX } from 'eslint-plugin-import-x';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/**
 * The layers of the house (docs/architecture.md). Each zone says: files in `target` may
 * not import from `from`, except for the entries listed.
 */
const layers = [
  ['src/shared', ['src/agent', 'src/main', 'src/renderer', 'src/cli', 'src/preload']],
  ['src/agent', ['src/main', 'src/renderer', 'src/cli', 'src/preload']],
  ['src/main', ['src/agent', 'src/renderer', 'src/cli', 'src/preload']],
  ['src/renderer', ['src/agent', 'src/main', 'src/cli', 'src/preload']],
  ['src/preload', ['src/agent', 'src/main', 'src/renderer', 'src/cli']],
  ['src/cli', ['src/renderer', 'src/preload', 'src/main/electron', 'src/main/serve']],
  // Inside the agent: kernels <- compression, collectives <- exchange <- training <- worker.
  [
    'src/agent/kernels',
    ['compression', 'collectives', 'exchange', 'training', 'worker', 'supervisor'].map(
      (layer) => `src/agent/${layer}`,
    ),
  ],
  [
    'src/agent/compression',
    ['collectives', 'transport', 'exchange', 'training', 'worker', 'supervisor'].map(
      (layer) => `src/agent/${layer}`,
    ),
  ],
  [
    'src/agent/collectives',
    ['exchange', 'training', 'worker', 'supervisor'].map(
      (layer) => `src/agent/${layer}`,
    ),
  ],
  [
    'src/agent/transport',
    ['compression', 'exchange', 'training', 'worker', 'supervisor'].map(
      (layer) => `src/agent/${layer}`,
    ),
  ],
  [
    'src/agent/exchange',
    ['training', 'worker', 'supervisor'].map((layer) => `src/agent/${layer}`),
  ],
  ['src/agent/training', ['worker', 'supervisor'].map((layer) => `src/agent/${layer}`)],
];

const zones = [
  ...layers.flatMap(([target, sources]) =>
    sources.map((from) => ({ target: `./${target}`, from: `./${from}` })),
  ),
  // The CLI knows only the engine's public entry, nothing deeper.
  { target: './src/cli', from: './src/agent', except: ['./engine.ts'] },
  // Collectives know the transport by its interface alone.
  {
    target: './src/agent/collectives',
    from: './src/agent/transport',
    except: ['./transport.ts'],
  },
];

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'coverage/',
      'test-results/',
      'src/agent/kernels/wasm/assembly/',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.strict,
  ...svelte.configs.recommended,
  {
    plugins: { 'import-x': importX },
    languageOptions: { globals: globals.node },
    settings: {
      'import-x/resolver': { node: { extensions: ['.ts', '.js', '.svelte'] } },
    },
    rules: {
      'import-x/no-restricted-paths': ['error', { zones }],
      'no-console': 'error',
      eqeqeq: 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
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
