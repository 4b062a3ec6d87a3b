/**
 * Lint, and with it the coarse half of the import directions of docs/architecture.md: which folder may know which package,
 * and who is above whom. The exact half (every file, layer by layer) is test/unit/gates/architecture.test.ts.
 * An override replaces the options of a rule, so each file of src/ is matched by exactly one directions override.
 */
import { defineConfig, type OxlintOverride } from 'oxlint';

/** One restriction of `no-restricted-imports`; `allowTypeImports` lets a type through that costs nothing at run time. */
interface Restriction {
  regex: string;
  message: string;
  allowTypeImports?: boolean;
}

const hono: Restriction = {
  regex: '^(hono|@hono)(/|$)',
  message: 'Hono stays in the faces: app.ts, api/, mcp/, http/ and connectors/*-route.ts.',
};
const sdkClient: Restriction = {
  regex: '^@modelcontextprotocol/(client|sdk)(/|$)',
  message: 'The SDK client is for upstream/ and connectors/; SDK 1 is for tests.',
};
const sdkServer: Restriction = {
  regex: '^@modelcontextprotocol/(server|sdk)(/|$)',
  message: 'The SDK server is for mcp/ and session/; SDK 1 is for tests.',
};
const sdkCore: Restriction = {
  regex: '^@modelcontextprotocol/core(/|$)',
  message: 'protocol.ts is the one door to the schemas and types of the SDK.',
};
const nodeModules: Restriction = { regex: '^node:', message: 'The Worker runs without Node.' };
const roots: Restriction = {
  regex: '(^|/)(index|wire)\\.ts$',
  message: 'Nothing imports the entry or the composition root.',
};
const faces: Restriction = {
  regex: '(^|/)(api|mcp|http)/|-route\\.ts$|(^|/)app\\.ts$',
  message: 'Faces are on top: only app.ts and wire.ts know them.',
};
const stores: Restriction = {
  regex: '-(store|kv|object|transport)\\.ts$',
  message: 'A face asks the domain; only the type of an edge may pass.',
  allowTypeImports: true,
};
const above: Restriction = {
  regex:
    '/(access|api|ask|audit|cache|catalog|chat|connectors|gateway|health|http|limits|llm|mcp|registry|search|secrets|session|skills|telemetry|upstream)/|/(app|env)\\.ts$',
  message: 'lib, errors, protocol.ts and formats import nothing of ours above them.',
};

const sdk = [sdkClient, sdkServer, sdkCore];

const edgeFiles = ['src/**/*-{store,kv,object,transport}.ts'];
const routeFiles = ['src/connectors/*-route.ts'];
/** The folders and files that have directions of their own; all the rest of src/ is domain. */
const layered = [
  'src/{index,wire,env,app,protocol}.ts',
  'src/{lib,errors,formats,api,http,mcp,session,upstream,connectors,llm}/**',
];

/** The restrictions of the files that match `files` and none of `excludeFiles`. */
function directions(
  files: string[],
  restrictions: Restriction[],
  excludeFiles: string[] = [],
): OxlintOverride {
  const patterns = [...restrictions, nodeModules];
  return { files, excludeFiles, rules: { 'no-restricted-imports': ['error', { patterns }] } };
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
  ],
  rules: {
    eqeqeq: 'error',
    'max-lines': ['error', { max: 300, skipComments: false, skipBlankLines: false }],
    'no-param-reassign': 'error',
    'no-throw-literal': 'error',
    'no-var': 'error',
    'no-warning-comments': 'error',
    'import/no-cycle': ['error', { ignoreTypes: true }],
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
    directions(['src/**/*.ts'], [roots, faces, hono, ...sdk], [...layered, ...edgeFiles]),
    directions(['src/{lib,errors,formats}/**'], [roots, above, hono, ...sdk]),
    directions(['src/protocol.ts'], [roots, above, hono, sdkClient, sdkServer]),
    directions(['src/app.ts', 'src/{api,http}/**', ...routeFiles], [roots, stores, ...sdk]),
    directions(['src/mcp/**'], [roots, stores, sdkClient, sdkCore]),
    directions(['src/session/**'], [roots, faces, hono, sdkClient, sdkCore], edgeFiles),
    directions(
      ['src/{upstream,connectors}/**'],
      [roots, faces, hono, sdkServer, sdkCore],
      routeFiles,
    ),
    directions(['src/llm/**'], [roots, faces, hono, ...sdk]),
    directions(edgeFiles, [roots, faces, hono, sdkCore], ['src/{upstream,connectors,llm}/**']),
    directions(['src/{index,wire,env}.ts'], [hono, ...sdk]),
    {
      files: ['src/**/*.ts'],
      excludeFiles: ['src/telemetry/logger.ts'],
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
      files: ['test/**/*.test.ts', 'test/e2e/matrix/*.ts'],
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
