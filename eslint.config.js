import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/**
 * The layers of the house (docs/architecture.md): files below the folder may not import
 * these. Patterns are matched against the import as written; a later one that begins
 * with ! makes an exception.
 */
const layers = {
  'src/shared': ['agent', 'main', 'renderer', 'cli', 'preload'],
  'src/agent': ['main', 'renderer', 'cli', 'preload'],
  'src/main': ['agent', 'renderer', 'cli', 'preload'],
  'src/renderer': ['agent', 'main', 'cli', 'preload'],
  'src/preload': ['agent', 'main', 'renderer', 'cli'],
  // The CLI knows main's core but not its hosts, and the engine's public entry alone.
  'src/cli': ['renderer', 'preload', 'main/electron', 'main/serve', 'agent'],
  // Inside the agent: kernels <- compression, collectives <- exchange <- training <- worker;
  // codec, files of what one rank compresses, stands beside the exchange.
  'src/agent/kernels': above('kernels'),
  'src/agent/compression': above('compression'),
  'src/agent/codec': above('codec'),
  'src/agent/collectives': above('collectives'),
  'src/agent/transport': above('transport'),
  'src/agent/exchange': above('exchange'),
  'src/agent/training': above('training'),
};

const exceptions = {
  'src/cli': ['!**/agent/engine.ts'],
  // Collectives know the transport by its interface alone.
  'src/agent/collectives': ['!**/transport/transport.ts'],
};

/** What a layer of the agent may not import: the hosts, and the layers above it. */
function above(layer) {
  const outside = ['main', 'renderer', 'cli', 'preload'];
  const upper = [
    'exchange',
    'training',
    'worker',
    'supervisor',
    'allreduce',
    'probe',
    'forecast',
  ];
  const inside = {
    kernels: ['compression', 'codec', 'collectives', 'transport', ...upper],
    compression: ['codec', 'collectives', 'transport', ...upper],
    codec: ['collectives', 'transport', ...upper],
    collectives: ['transport', ...upper],
    transport: ['compression', 'collectives', ...upper],
    exchange: upper.slice(1),
    training: upper.slice(2),
  };
  return [...outside, ...inside[layer]];
}

const layerRules = Object.entries(layers).map(([folder, forbidden]) => ({
  files: [`${folder}/**`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: [
              ...forbidden.map((layer) => `**/${layer}/**`),
              ...(exceptions[folder] ?? []),
            ],
            message: 'This import crosses the layers (docs/architecture.md).',
          },
        ],
      },
    ],
  },
}));

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
    languageOptions: { globals: globals.node },
    rules: {
      'no-console': 'error',
      eqeqeq: 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  ...layerRules,
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
