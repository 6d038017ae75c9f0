import js from '@eslint/js';
import tseslint from 'typescript-eslint';

// The direction of imports: core <- projections <- adapters <- test, bench, and core <- client <- adapters.
const fpTs = String.raw`fp-ts/lib/.+\.js$`;
const ioTs = String.raw`io-ts(?:/lib/.+\.js)?$`;
const noble = String.raw`@noble/hashes/.+\.js$`;
const own = String.raw`\.{1,2}/`;
const only = (...allowed) => `^(?!${allowed.join('|')})`;

const everywhere = [
  { regex: String.raw`^fp-ts(?!/lib/.+\.js$)`, message: 'Import fp-ts modules as fp-ts/lib/NAME.js.' },
  { regex: String.raw`^\.{1,2}/(?:.*/)?(?:src|dist)/`, message: 'Import another package by its name, not by its files.' },
];
const imports = (...patterns) => ({
  'no-restricted-imports': ['error', { patterns: [...everywhere, ...patterns] }],
});

const defaultExports = [
  { selector: 'ExportDefaultDeclaration', message: 'Use named exports.' },
  { selector: 'ExportSpecifier[exported.name="default"]', message: 'Use named exports.' },
];
const impureSyntax = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'No clock here: take the time as an argument.' },
  { selector: 'CallExpression[callee.name="Date"]', message: 'No clock here: take the time as an argument.' },
  { selector: 'ImportExpression', message: 'Import statically, so that the dependency rule can see it.' },
];
const impureGlobals = [
  'process', 'performance', 'crypto', 'globalThis', 'setTimeout', 'setInterval', 'setImmediate',
  'clearTimeout', 'clearInterval', 'clearImmediate', 'queueMicrotask', 'fetch', 'Buffer', 'require',
].map((name) => ({ name, message: 'Pure code only: core and projections have no clock, no randomness and no I/O.' }));
const pure = {
  'no-restricted-globals': ['error', ...impureGlobals],
  'no-restricted-properties': ['error',
    { object: 'Date', property: 'now', message: 'No clock here: take the time as an argument.' },
    { object: 'Math', property: 'random', message: 'No randomness here: take the value as an argument.' },
  ],
  'no-restricted-syntax': ['error', ...defaultExports, ...impureSyntax],
};

const node = Object.fromEntries([
  'process', 'console', 'URL', 'Buffer', 'performance', 'fetch', 'AbortController', 'AbortSignal',
  'TextEncoder', 'TextDecoder', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout',
  'clearInterval', 'queueMicrotask', 'structuredClone',
].map((name) => [name, 'readonly']));

export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '**/coverage/', '.tools/', '.ci/out/', 'data/'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    languageOptions: { globals: node },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      ...imports(),
      'no-restricted-syntax': ['error', ...defaultExports],
      'max-lines': ['warn', { max: 400 }],
      eqeqeq: 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['**/*.{ts,tsx,mts}'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': ['error', {
        argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_', ignoreRestSiblings: true,
      }],
      // With io-ts and branded types, a value and a type (or namespace) share one name.
      '@typescript-eslint/no-redeclare': 'off',
      'no-redeclare': 'off',
    },
  },
  {
    files: ['packages/core/**/*.ts'],
    rules: {
      ...imports({ regex: only(fpTs, ioTs, noble, 'croner$', own), message: 'core may import only fp-ts/lib/*.js, io-ts, @noble/hashes, croner and its own files.' }),
      ...pure,
    },
  },
  {
    files: ['packages/projections/**/*.ts'],
    rules: {
      ...imports({
        regex: only('@daybook/core$', fpTs, ioTs, 'rxjs(?:/.+)?$', 'd3-(?:scale|shape)$', own),
        message: 'projections may import only @daybook/core, fp-ts/lib/*.js, io-ts, rxjs, d3-scale, d3-shape and its own files.',
      }),
      ...pure,
    },
  },
  {
    files: ['packages/client/**/*.ts'],
    rules: {
      ...imports({ regex: only('@daybook/core(?:/common)?$', 'undici$', 'ws$', '@opentelemetry/api$', '@standard-schema/spec$', 'node:', own), message: 'client may import only @daybook/core, undici, ws, Node and its own files: who installs it installs all that. Of @opentelemetry/api and @standard-schema/spec it may import the types.' }),
      'no-restricted-syntax': [
        'error',
        ...defaultExports,
        { selector: 'ImportDeclaration[source.value="@daybook/core"][importKind!="type"]', message: 'Only types. What runs in a service comes from @daybook/core/common, so that it does not load decisions and the fold.' },
      ],
    },
  },
  {
    files: ['packages/console/src/**/*.{ts,tsx}'],
    rules: {
      ...imports({ regex: only('preact$', 'preact/hooks$', String.raw`@preact/signals$`, 'uplot$', String.raw`@daybook/(?:core|client)$`, own), message: 'console may import only preact, @preact/signals, uplot and its own files, and types of @daybook/core and @daybook/client: a browser loads all that.' }),
      'no-restricted-syntax': [
        'error',
        ...defaultExports,
        { selector: 'ImportDeclaration[source.value=/^@daybook/][importKind!="type"]', message: 'Only types: `import type`.' },
        { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'What producers send is shown as text only.' },
        { selector: 'MemberExpression[property.name=/^(?:innerHTML|outerHTML|insertAdjacentHTML)$/]', message: 'What producers send is shown as text only.' },
      ],
    },
  },
  {
    files: ['packages/testing/**/*.ts'],
    rules: imports({ regex: only(String.raw`@daybook/(?:core|client|adapters)(?:/.+)?$`, 'node:', own), message: 'testing may import only our own packages and Node: it works with any test runner.' }),
  },
  {
    files: ['packages/adapters/**/*.ts'],
    rules: imports({ regex: '^@daybook/(?:test|bench|adapters)(?:/|$)', message: 'adapters may not import this package.' }),
  },
  {
    files: ['packages/**/*.{ts,tsx}'],
    ignores: ['packages/adapters/src/cli/**'],
    rules: { 'no-console': 'error' },
  },
  {
    files: ['test/**/*.ts'],
    ignores: ['**/*.test.ts', 'test/support/setup.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...defaultExports,
        ...['ExpressionStatement', 'VariableDeclaration > VariableDeclarator', 'ExportNamedDeclaration > VariableDeclaration > VariableDeclarator'].map((place) => ({
          selector: `Program > ${place} > CallExpression[callee.name=/^(?:(?:before|after)(?:Each|All)|use[A-Z].*|bundled|testFolder)$/]`,
          message: 'Register hooks in a function that each test file calls: a module is loaded once for all the files that run in a process.',
        })),
      ],
    },
  },
  {
    files: ['**/*.config.{js,mjs,ts}'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  // What a user's module looks like.
  { files: ['examples/own-projection/**'], rules: { 'no-restricted-syntax': 'off' } },
);
