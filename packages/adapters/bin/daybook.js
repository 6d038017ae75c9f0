#!/usr/bin/env node
// Committed, unlike dist/, so that the package manager can link `daybook`
// before the first build. The program itself is src/cli/main.ts.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(main)) {
  process.argv[1] = fileURLToPath(main);
  await import(main.href);
} else {
  process.stderr.write('daybook: not built yet; run "npm run build" in the checkout first\n');
  process.exitCode = 1;
}
