import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const eslint = new ESLint({ cwd: root });

/** The rules that report `code` if it is in `file`. */
const objections = async (file: string, code: string): Promise<ReadonlyArray<string>> => {
  const [result] = await eslint.lintText(`${code}\n`, { filePath: `${root}${file}` });
  if (result === undefined) throw new Error(`${file} is not linted`);
  const fatal = result.messages.find((message) => message.fatal);
  if (fatal !== undefined) throw new Error(fatal.message);
  return result.messages.map((message) => message.ruleId ?? 'none');
};

const core = 'packages/core/src/sample.ts';
const projections = 'packages/projections/src/sample.ts';
const client = 'packages/client/src/worker/sample.ts';
const adapters = 'packages/adapters/src/http/sample.ts';
const cli = 'packages/adapters/src/cli/sample.ts';
const use = (from: string) => `export { x } from '${from}';`;

const imports = 'no-restricted-imports';
const syntax = 'no-restricted-syntax';
const properties = 'no-restricted-properties';
const globals = 'no-restricted-globals';

describe('each rule rejects what is forbidden', () => {
  const rejected: ReadonlyArray<readonly [file: string, code: string, rule: string]> = [
    // Dependency direction.
    [core, use('node:fs'), imports],
    [core, use('fs'), imports],
    [core, use('rxjs'), imports],
    [core, use('@daybook/projections'), imports],
    [core, use('@daybook/adapters/engine'), imports],
    [core, use('../../adapters/src/http/index.js'), imports],
    [core, `import type { Stats } from 'node:fs'; export type S = Stats;`, imports],
    [core, `export const late = () => import('rxjs');`, syntax],
    [projections, use('node:crypto'), imports],
    [projections, use('fastify'), imports],
    [projections, use('@daybook/adapters/store'), imports],
    [client, use('@daybook/projections'), imports],
    [client, use('@daybook/adapters/engine'), imports],
    [client, use('better-sqlite3'), imports],
    [client, use('fastify'), imports],
    [client, use('../../adapters/src/engine/index.js'), imports],
    [adapters, use('@daybook/test'), imports],
    ['packages/console/src/sample.ts', use('lodash'), imports],
    ['packages/console/src/sample.ts', use('node:fs'), imports],
    ['packages/console/src/sample.ts', use('preact/compat'), imports],
    ['packages/console/src/sample.ts', `import { statuses } from '@daybook/core'; export const s = statuses;`, syntax],
    ['packages/console/src/sample.tsx', `export const X = ({ text }: { text: string }) => <p dangerouslySetInnerHTML={{ __html: text }} />;`, syntax],
    ['packages/console/src/sample.ts', `export const show = (at: { innerHTML: string }, text: string) => { at.innerHTML = text; };`, syntax],
    // fp-ts only by its long path.
    ...[core, projections, adapters, 'test/sample.ts', 'bench/src/sample.ts'].flatMap((file) => [
      [file, use('fp-ts/Either'), imports] as const,
      [file, use('fp-ts/lib/Either'), imports] as const,
      [file, use('fp-ts'), imports] as const,
    ]),
    // No clock, randomness or timers in pure code.
    ...[core, projections].flatMap((file) => [
      [file, 'export const t = Date.now();', properties] as const,
      [file, 'export const r = Math.random();', properties] as const,
      [file, 'export const d = new Date();', syntax] as const,
      [file, 'export const s = Date();', syntax] as const,
      [file, 'export const p = performance.now();', globals] as const,
      [file, 'export const e = process.env;', globals] as const,
      [file, 'setTimeout(() => undefined, 1);', globals] as const,
      [file, 'export const g = globalThis.Date;', globals] as const,
    ]),
    // House style.
    [adapters, 'export default 1;', syntax],
    [core, 'export default 1;', syntax],
    [core, 'const x = 1; export { x as default };', syntax],
    [core, `console.log('x');`, 'no-console'],
    [adapters, `console.log('x');`, 'no-console'],
    [adapters, 'export const f = (x: any): void => x;', '@typescript-eslint/no-explicit-any'],
    ['test/sample.ts', 'export const f = (x: any): void => x;', '@typescript-eslint/no-explicit-any'],
    [adapters, 'export {};\n'.repeat(401), 'max-lines'],
    // What a module of the tests does when it is loaded happens for the first file of a process only.
    ['test/sample.ts', 'afterEach(() => undefined);', syntax],
    ['test/sample.ts', 'useVirtualTime();', syntax],
    ['test/sample.ts', `const script = bundled('x'); export const run = () => script();`, syntax],
    ['test/sample.ts', 'export const server = useConsoleServer();', syntax],
    ['test/sample.ts', 'export default 1;', syntax],
  ];
  test.each(rejected)('%s: %s', async (file, code, rule) => {
    expect(await objections(file, code)).toContain(rule);
  });
});

describe('and accepts what is allowed', () => {
  const accepted: ReadonlyArray<readonly [file: string, code: string]> = [
    [core, use('fp-ts/lib/Either.js')],
    [core, use('io-ts')],
    [core, use('./other.js')],
    [core, use('../other.js')],
    [core, 'export const d = new Date(0);'],
    [projections, use('@daybook/core')],
    [projections, use('rxjs')],
    [client, use('@daybook/core')],
    [client, use('undici')],
    [client, use('node:crypto')],
    [client, use('../errors.js')],
    [adapters, use('@daybook/client/worker')],
    [adapters, use('node:fs')],
    [adapters, use('@daybook/core')],
    [adapters, use('@daybook/projections')],
    [adapters, 'export const t = Date.now();'],
    [cli, `console.log('x');`],
    ['test/sample.config.ts', 'export default 1;'],
    ['test/sample.ts', 'export const useIt = () => { afterEach(() => undefined); useVirtualTime(); };'],
    ['test/sample.test.ts', 'useVirtualTime(); const server = useConsoleServer(); test(server);'],
  ];
  test.each(accepted)('%s: %s', async (file, code) => {
    expect(await objections(file, code)).toEqual([]);
  });
});
