/**
 * Lint, with what only some rooms may import: packages and stores. Which room may import which is
 * test/unit/gates/architecture.test.ts. An override replaces the options of a rule, so each file of src/ is matched by exactly one
 * `refuse`.
 */
import { defineConfig, type OxlintOverride } from 'oxlint';

const ENDPOINTS = 'src/{api,mcp,pages}/**';

const PATTERNS = {
  sdk: {
    regex: '^@modelcontextprotocol/',
    message: 'shared/protocol.ts is the one door to the schemas and types of the SDK.',
  },
  hono: { regex: '^(hono|@hono)(/|$)', message: 'Hono stays in app.ts, api/, mcp/ and pages/.' },
  node: { regex: '^node:', message: 'The Worker runs without Node.' },
  stores: { regex: '-(store|kv)\\.ts$', message: 'An endpoint asks a service, not a store.' },
};

/** Refuses these imports in the files that match `files` and none of `excludeFiles`. */
function refuse(
  files: string[],
  patterns: (keyof typeof PATTERNS)[],
  excludeFiles: string[] = [],
): OxlintOverride {
  const refused = { patterns: patterns.map(name => PATTERNS[name]) };
  return { files, excludeFiles, rules: { 'no-restricted-imports': ['error', refused] } };
}

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { builtin: true, es2024: true },
  ignorePatterns: [
    'worker-configuration.d.ts',
    'node_modules',
    'dist',
    'coverage',
    '.portico',
    '.wrangler',
    'bench/results',
    'console/src/generated',
  ],
  rules: {
    eqeqeq: 'error',
    'max-lines': ['error', { max: 300, skipComments: false, skipBlankLines: false }],
    'no-param-reassign': 'error',
    'no-throw-literal': 'error',
    'no-var': 'error',
    'no-warning-comments': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'oxc/no-barrel-file': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/no-abusive-eslint-disable': 'error',
    // `_meta` is a word of the specification.
    'no-underscore-dangle': ['error', { allow: ['_meta'] }],
    // A Worker's entry and a test's set-up are imported for what they do.
    'import/no-unassigned-import': 'off',
    // A small function reads best beside its only use.
    'unicorn/consistent-function-scoping': 'off',
  },
  overrides: [
    refuse(['src/**/*.ts'], ['sdk', 'hono', 'node'], ['src/{app,shared/protocol}.ts', ENDPOINTS]),
    refuse([ENDPOINTS, 'src/app.ts'], ['sdk', 'node', 'stores']),
    refuse(['src/shared/protocol.ts'], ['hono', 'node']),
    {
      files: ['src/**/*.ts'],
      rules: { 'no-console': 'error' },
    },
    {
      // Standard output is data, of `portico stdio` even a protocol: one file writes to it.
      files: ['cli/**/*.ts'],
      excludeFiles: ['cli/src/terminal.ts'],
      rules: {
        'no-console': 'error',
        'no-restricted-properties': [
          'error',
          { object: 'process', property: 'stdout', message: 'terminal.ts writes data.' },
        ],
        'no-restricted-imports': [
          'error',
          { patterns: [{ regex: '^(node:)?(console|process)$', message: 'See terminal.ts.' }] },
        ],
      },
    },
    {
      files: ['test/**/*.test.ts', 'test/e2e/gateway/matrix/*.ts'],
      rules: {
        'vitest/expect-expect': [
          'error',
          { assertFunctionNames: ['expect', 'probe'], additionalTestBlockFunctions: ['eachCell'] },
        ],
        'vitest/no-standalone-expect': ['error', { additionalTestBlockFunctions: ['eachCell'] }],
        'vitest/no-disabled-tests': 'error',
        'vitest/no-focused-tests': 'error',
      },
    },
  ],
});
