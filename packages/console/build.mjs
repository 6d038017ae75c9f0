// Bundles the console into dist/site: index.html and assets/*.[hash].{js,css}, each also compressed.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { settingsDefault } from '@daybook/core';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const site = join(here, 'dist', 'site');

const bundled = await build({
  absWorkingDir: here,
  entryPoints: { console: 'src/main.tsx' },
  outdir: join(site, 'assets'),
  entryNames: '[name].[hash]',
  chunkNames: '[name].[hash]',
  bundle: true,
  format: 'esm',
  // Pages that few open are loaded when they are opened: `import()`.
  splitting: true,
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  // Of the core, browsers get this value alone.
  define: { SETTINGS_BY_DEFAULT: JSON.stringify(settingsDefault) },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  write: false,
});

const compressed = (path, bytes) => {
  writeFileSync(path, bytes);
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
};

rmSync(site, { recursive: true, force: true });
mkdirSync(join(site, 'assets'), { recursive: true });
for (const { path, contents } of bundled.outputFiles) compressed(path, contents);

const named = (extension) => basename(Object.keys(bundled.metafile.outputs).find((path) => new RegExp(`/console\\.[A-Z0-9]+\\.${extension}$`).test(path)));
const page = readFileSync(join(here, 'src', 'index.html'), 'utf8')
  .replace('%SCRIPT%', `/assets/${named('js')}`)
  .replace('%STYLES%', `/assets/${named('css')}`);
compressed(join(site, 'index.html'), Buffer.from(page));
