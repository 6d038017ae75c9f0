#!/usr/bin/env node
// Committed, unlike dist/, so that the package manager can link `daybook` before the first build. The program itself is src/cli/main.ts: bundled with
// all that it needs, or, where there is no bundle, as the compiler left it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = ['program/main.js', 'cli/main.js'].map((file) => new URL(`../dist/${file}`, import.meta.url)).find((file) => existsSync(file));
if (main !== undefined) {
  process.argv[1] = fileURLToPath(main);
  await import(main.href);
} else {
  process.stderr.write('daybook: not built yet; run "npm run build" in the checkout first\n');
  process.exitCode = 1;
}
