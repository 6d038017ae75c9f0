// Bundles the command line and its threads into dist/program. A process then loads few large files instead of hundreds of small ones, so it starts in
// half the time and takes less memory. Programs that import the package load its modules as they are, and start the bundled threads.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, 'dist');
const program = join(dist, 'program');

// First of all: if this fails, the modules run, and no older bundle.
rmSync(program, { recursive: true, force: true });

/** Modules start a thread by the name of its file. In the bundle all files lie in one folder, so no two threads may have the same name. */
const threads = readdirSync(dist, { recursive: true })
  .filter((file) => file.endsWith('-thread.js') && !file.startsWith(`program${sep}`))
  .map((file) => [basename(file, '.js'), join(dist, file)]);
const twice = threads.find(([name], i) => threads.findIndex(([other]) => other === name) !== i);
if (twice !== undefined) throw new Error(`two threads are called ${twice[0]}`);

const bundled = await build({
  absWorkingDir: here,
  entryPoints: { main: join(dist, 'cli', 'main.js'), ...Object.fromEntries(threads) },
  outdir: program,
  chunkNames: '[name]-[hash]',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Each command is a file of its own. So is the code that only some commands need.
  splitting: true,
  // Why each of these is not bundled: docs/adr/0073-the-program-is-bundled.md.
  external: ['better-sqlite3', '@eventstore/db-client', '@grpc/grpc-js', 'google-protobuf', '@opentelemetry/*', 'pino'],
  // Packages in CommonJS call `require` for the modules of Node.
  banner: { js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);" },
  logLevel: 'warning',
  metafile: true,
  write: false,
});

/** The folder of the package that a bundled file belongs to; undefined for our own. */
const packageOf = (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];

/** The licences of other packages ask to be handed on with the code. (The file is not called licence: pnpm would take it for ours when it packs.) */
const licences = () => {
  const folders = [...new Set(Object.keys(bundled.metafile.inputs).map(packageOf))].filter((folder) => folder !== undefined).map((folder) => join(here, folder));
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each));
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return `The program contains these packages.\n\n${texts.sort().join(`\n${'-'.repeat(80)}\n\n`)}`;
};

const text = licences();
mkdirSync(program, { recursive: true });
for (const { path, contents } of bundled.outputFiles) writeFileSync(path, contents);
writeFileSync(join(program, 'third-party-notices.txt'), text);
