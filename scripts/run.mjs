// Everything `npm start`, `npm test` and the other scripts do, on a machine
// that has only Node and npm: fetch the package manager, install, build, run.
// Each step is skipped when nothing it depends on has changed. No dependencies.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withLock } from './lock.mjs';
import { runStep } from './step.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const at = (...parts) => join(root, ...parts);
const windows = process.platform === 'win32';

const say = (line) => process.stderr.write(`daybook: ${line}\n`);
const fail = (message, code = 1) => {
  say(message);
  process.exit(code);
};

const readText = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const manifest = JSON.parse(readText(at('package.json')));
const sha256 = (texts) => {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
};

// ---------------------------------------------------------------- processes

/** Runs a program to its end. Its output goes to stderr unless `stdout` says otherwise. */
const run = (program, args, { stdout = 2, env = {}, cwd = root, shell = false } = {}) => {
  const done = spawnSync(program, args, {
    cwd, shell, env: { ...process.env, ...env }, stdio: ['inherit', stdout, 2],
  });
  if (done.error) {
    say(`cannot run ${program}: ${done.error.message}`);
    return 127;
  }
  return done.status ?? 1;
};
const node = (script, args, options) => run(process.execPath, [script, ...args], options);

/**
 * A quiet step of the preparation: its output is in `.tools/logs/NAME.log`. If the step fails, this process ends with the end of that file, its name,
 * and what to do about it; `always` runs before that.
 */
const step = async (name, { doing, done, advice, always = () => undefined, env = {}, args, program = process.execPath, ...options }) => {
  const log = at('.tools', 'logs', `${name}.log`);
  const began = Date.now();
  say(`${doing} …`);
  const { code, last } = await runStep({ program, args, cwd: root, ...options, env: { ...process.env, ...env }, log, say: (line) => say(`  ${line}`) });
  always();
  if (code === 0) return say(`${done} (${Math.round((Date.now() - began) / 1_000)} s)`);
  for (const line of last) process.stderr.write(`  | ${line}\n`);
  return fail([`${doing}: this failed with exit code ${code}. All of its output: ${relative(process.cwd(), log) || log}`, ...advice].join('\n  '), code);
};

/** npm is not always on the PATH of a script, but always next to the npm that started it. */
const npmProgram = (args) => {
  const cli = process.env.npm_execpath;
  return cli !== undefined && /npm-cli\.c?js$/.test(cli)
    ? { program: process.execPath, args: [cli, ...args] }
    : { program: 'npm', args, shell: windows };
};
const npmConfig = (key) => {
  const asked = spawnSync('npm', ['config', 'get', key], {
    cwd: root, encoding: 'utf8', shell: windows, stdio: ['ignore', 'pipe', 'ignore'],
  });
  const value = (asked.stdout ?? '').trim();
  return value === 'undefined' || value === 'null' ? '' : value;
};

/** Only one process at a time may install or build in this checkout. */
const locked = (body) => withLock(at('.tools', 'lock'), say, body);

// ------------------------------------------------------------------ install

const pnpmVersion = /^pnpm@([^+]+)/.exec(manifest.packageManager ?? '')?.[1] ?? fail('package.json: packageManager must name pnpm');
const pnpmHome = at('.tools', `pnpm-${pnpmVersion}`);
const pnpmScript = join(pnpmHome, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');

const ensurePnpm = async () => {
  if (existsSync(pnpmScript)) return;
  rmSync(pnpmHome, { recursive: true, force: true });
  mkdirSync(pnpmHome, { recursive: true });
  writeFileSync(join(pnpmHome, 'package.json'), '{ "private": true }\n');
  await step('pnpm', {
    ...npmProgram(['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', `pnpm@${pnpmVersion}`]),
    cwd: pnpmHome,
    env: { npm_config_prefix: undefined, npm_config_local_prefix: undefined },
    doing: `fetching pnpm ${pnpmVersion}, which installs the rest`,
    done: 'fetched',
    advice: ['Is the package registry reachable from here? Try "npm view pnpm version".'],
  });
  if (!existsSync(pnpmScript)) fail(`npm fetched pnpm ${pnpmVersion}, but ${pnpmScript} is not there`);
};

/** The folder of Node's headers, so that a native module compiles without downloading them. */
const nodedir = () => {
  const set = process.env.npm_config_nodedir || npmConfig('nodedir');
  if (set) return set;
  const prefix = resolve(dirname(process.execPath), '..');
  return existsSync(join(prefix, 'include', 'node', 'node.h')) ? prefix : undefined;
};
const pnpmEnv = () => {
  const headers = nodedir();
  return {
    // Without this, "npm run --silent" would hide why an install failed.
    npm_config_loglevel: undefined,
    ...(headers === undefined ? {} : { npm_config_nodedir: headers }),
  };
};
const pnpm = async (args, options = {}) => {
  await ensurePnpm();
  return node(pnpmScript, args, { ...options, env: pnpmEnv() });
};

const workspaces = () => [
  ...readdirSync(at('packages')).map((name) => join('packages', name)), 'test', 'bench',
].filter((folder) => existsSync(at(folder, 'package.json')));

const installStamp = at('node_modules', '.daybook-install.json');
const runtime = `${process.platform}-${process.arch}-${process.versions.modules}`;
const installState = () => ({
  runtime,
  inputs: sha256([
    'pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', 'package.json',
    ...workspaces().map((folder) => join(folder, 'package.json')),
  ].map((file) => `${file}\n${readText(at(file))}`)),
});
const lastInstall = () => {
  try {
    return JSON.parse(readText(installStamp));
  } catch {
    return undefined;
  }
};
const installed = () => {
  const last = lastInstall();
  const now = installState();
  return last?.inputs === now.inputs && last.runtime === now.runtime
    && workspaces().every((folder) => existsSync(at(folder, 'node_modules')));
};
/** The lines that are reported while dependencies are installed. */
const installMilestone = (line) => {
  const [, packages] = /^Packages: \+(\d+)/.exec(line) ?? [];
  if (packages !== undefined) return `${packages} packages`;
  const [, module, state] = /([\w.-]+) (?:pre|post)?install(\$|: Done)/.exec(line) ?? [];
  if (module === undefined) return undefined;
  return state === '$' ? `${module}: fetching its binary, or compiling it, which takes a minute` : `${module} is there`;
};
const pnpmInstall = (name, args) => step(name, {
  args: [pnpmScript, ...args, '--reporter=append-only', '--config.confirm-modules-purge=false'],
  env: pnpmEnv(),
  milestone: installMilestone,
  isNoise: (line) => line.startsWith('Progress: '),
  doing: lastInstall() === undefined ? 'installing dependencies' : 'dependencies have changed: installing',
  done: 'installed',
  advice: [
    '- better-sqlite3: where no prebuilt binary can be downloaded it is compiled, which takes',
    '  python3, make and a C++ compiler (Debian, Ubuntu: apt-get install build-essential python3;',
    '  macOS: xcode-select --install). Then try again.',
    '- ERR_PNPM_OUTDATED_LOCKFILE: a package.json was edited; run "npm run pnpm -- install --no-frozen-lockfile"',
    '  and commit pnpm-lock.yaml.',
    '- network: the package registry must be reachable the way npm is configured.',
  ],
});
const install = async () => {
  if (installed()) return;
  await locked(async () => {
    if (installed()) return;
    const last = lastInstall();
    if (last === undefined) say('the first time, this installs and builds: a minute or two. What the tools say is in .tools/logs');
    await ensurePnpm();
    await pnpmInstall('install', ['install', '--frozen-lockfile']);
    if (last !== undefined && last.runtime !== runtime) await pnpmInstall('rebuild', ['rebuild', '--recursive']);
    writeFileSync(installStamp, `${JSON.stringify(installState())}\n`);
  });
};

// -------------------------------------------------------------------- build

const files = (path) => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [`${relative(root, path)} ${found.mtimeMs} ${found.size}`];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules' && entry.name !== 'dist')
    .filter((entry) => entry.isDirectory() || /\.(tsx?|mts|cts|json|mjs|css|html)$/.test(entry.name))
    .flatMap((entry) => files(join(path, entry.name)));
};
const site = 'packages/console';
const packages = ['packages/core', 'packages/projections', 'packages/client', site, 'packages/adapters', 'packages/testing'];
const testServer = 'test/support/eventstoredb';
const mutants = 'test/mutants';
const targets = {
  server: { projects: [site, 'packages/adapters'], folders: packages },
  bench: { projects: [site, 'bench'], folders: [...packages, 'bench'] },
  eventstoredb: { projects: [testServer], folders: [testServer] },
  mutants: { projects: [mutants], folders: [mutants] },
  all: { projects: ['.'], folders: [...packages, 'bench', 'test'] },
};
/** Not part of the complete build: built only when they are run. */
const standalone = ['eventstoredb', 'mutants'];
const buildStamp = (name) => at('.tools', `build-${name}`);
/** The output of a build in a folder's `dist`. The compiler itself only checks its own note of the last build. */
const outputStamp = (folder) => at('.tools', `dist-${folder.replaceAll('/', '-')}`);
const outputs = (folder) => {
  const dist = at(folder, 'dist');
  const list = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return sha256(list.sort().map((file) => {
    const { mtimeMs, size } = statSync(file);
    return `${relative(dist, file)} ${mtimeMs} ${size}`;
  }));
};
const outputsKept = (folder) => existsSync(at(folder, 'dist', '.tsbuildinfo'))
  && (!existsSync(outputStamp(folder)) || readText(outputStamp(folder)) === outputs(folder));
const buildState = (name) => sha256([
  ...['tsconfig.json', 'tsconfig.base.json', ...targets[name].folders].flatMap((path) => files(at(path))).sort(),
  readText(installStamp),
]);
const built = (name) => readText(buildStamp(name)) === buildState(name)
  && targets[name].folders.every(outputsKept);
/** Removes output whose sources no longer exist: it would be packed, and could be imported. */
const removeStale = (folder) => {
  const dist = at(folder, 'dist');
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath ?? entry.path, entry.name);
    const [, stem] = /^(?:modules[\\/])?(.+?)\.(?:d\.ts|js)(?:\.map)?$/.exec(relative(dist, file)) ?? [];
    const isBundled = Object.values(bundles).some(({ made }) => file.startsWith(join(made, sep)));
    if (stem !== undefined && !isBundled && !['ts', 'tsx'].some((kind) => existsSync(at(folder, 'src', `${stem}.${kind}`)))) rmSync(file);
  }
};
/** Notes the present output of a target's folders, even after a failure: for the projects that were built. */
const noteOutputs = (name) => {
  for (const folder of targets[name].folders) {
    if (packages.includes(folder) && existsSync(at(folder, 'dist'))) removeStale(folder);
    if (existsSync(at(folder, 'dist'))) writeFileSync(outputStamp(folder), outputs(folder));
  }
};
/** What is bundled after the compiler has run: by which script, from the sources of which folders. */
const program = 'packages/adapters';
const bundles = {
  console: { folder: site, sources: [site], made: at(site, 'dist', 'site'), first: 'index.html', doing: 'building the pages of the console' },
  program: { folder: program, sources: packages.filter((each) => each !== site), made: at(program, 'dist', 'program'), first: 'main.js', doing: 'building the program' },
};
/** Makes the bundles of a target whose sources have changed. */
const bundle = async (target) => {
  for (const [name, { folder, sources, made, first, doing }] of Object.entries(bundles)) {
    if (!targets[target].folders.includes(folder)) continue;
    const state = sha256([...sources.flatMap((each) => files(at(each))).sort(), readText(installStamp)]);
    if (readText(buildStamp(name)) === state && existsSync(join(made, first))) continue;
    await step(`build-${name}`, { args: [at(folder, 'build.mjs')], doing, done: 'built', advice: [], always: () => noteOutputs(target) });
    writeFileSync(buildStamp(name), state);
  }
};
/** With `--verbose` the compiler reports its current project, in lines that begin with the time. */
const compilerStatus = /^\[?\d+:\d\d:\d\d [AP]M\]? /;
const buildMilestone = (line) => {
  const [, config] = compilerStatus.test(line) ? (/Building project '(.+)'/.exec(line) ?? []) : [];
  if (config === undefined) return undefined;
  const folder = relative(root, dirname(resolve(root, config))).replaceAll('\\', '/');
  return folder.replace(/^packages\//, '') || 'all';
};
const compile = (name) => step(`build-${name}`, {
  args: [at('node_modules', 'typescript', 'bin', 'tsc'), '-b', ...targets[name].projects, '--verbose', '--pretty', 'false'],
  milestone: buildMilestone,
  isNoise: (line) => compilerStatus.test(line) || /^ {4}\* /.test(line),
  doing: name === 'all' ? 'building' : `building (${name})`,
  done: 'built',
  advice: [],
  always: () => noteOutputs(name),
});
const build = async (name) => {
  if (built(name)) return;
  await locked(async () => {
    if (built(name)) return;
    // Taken before the build, so that a source saved while it runs counts as changed.
    const covered = (name === 'all' ? Object.keys(targets).filter((target) => !standalone.includes(target)) : [name]).map((each) => [each, buildState(each)]);
    for (const folder of targets[name].folders) {
      if (!outputsKept(folder)) rmSync(at(folder, 'dist', '.tsbuildinfo'), { force: true });
    }
    await compile(name);
    await bundle(name);
    for (const [each, state] of covered) writeFileSync(buildStamp(each), state);
  });
};

/** Packs every package into a folder, as it would be published: `workspace:*` is replaced, and the licence is added. */
const pack = async (folder) => {
  for (const name of packages) {
    const code = await pnpm(['pack', '--pack-destination', resolve(folder)], { cwd: at(name) });
    if (code !== 0) fail(`packing ${name} failed (exit code ${code}); the reason is above.`, code);
  }
};

const clean = (args) => {
  for (const folder of [...workspaces(), testServer, mutants, 'test/console']) rmSync(at(folder, 'dist'), { recursive: true, force: true });
  for (const name of [...Object.keys(targets), ...Object.keys(bundles)]) rmSync(buildStamp(name), { force: true });
  for (const folder of new Set(Object.values(targets).flatMap(({ folders }) => folders))) rmSync(outputStamp(folder), { force: true });
  if (!args.includes('--all')) return;
  for (const folder of ['.', ...workspaces()]) rmSync(at(folder, 'node_modules'), { recursive: true, force: true });
  rmSync(at('.tools'), { recursive: true, force: true });
};

// ----------------------------------------------------------------- commands

/**
 * Runs another program in this process, so that signals, standard streams and
 * the exit code are that program's own.
 */
const become = async (script, args) => {
  process.argv.splice(1, process.argv.length - 1, script, ...args);
  await import(pathToFileURL(script).href);
};
const vitest = (args) => become(
  at('test', 'node_modules', 'vitest', 'vitest.mjs'),
  ['run', '--config', at('test', 'vitest.config.ts'), ...args],
);

const commands = {
  install: () => install(),
  build: async () => {
    await install();
    await build('all');
  },
  typecheck: () => commands.build(),
  start: async (args) => {
    await install();
    await build('server');
    await become(at('packages', 'adapters', 'bin', 'daybook.js'), ['serve', ...args]);
  },
  test: async (args) => {
    await install();
    await build('all');
    await vitest(args);
  },
  'test-only': (args) => vitest(args),
  lint: async (args) => {
    await install();
    await become(at('node_modules', 'eslint', 'bin', 'eslint.js'), ['.', ...args]);
  },
  bench: async (args) => {
    await install();
    await build('bench');
    await become(at('bench', 'dist', 'main.js'), args);
  },
  eventstoredb: async (args) => {
    await install();
    await build('eventstoredb');
    await become(at(testServer, 'dist', 'eventstoredb', 'cli.js'), args);
  },
  mutants: async (args) => {
    await install();
    await build('all');
    await build('mutants');
    await become(at(mutants, 'dist', 'main.js'), [root, ...args]);
  },
  clean: (args) => clean(args),
  pack: async ([folder]) => {
    if (folder === undefined) fail('usage: npm run pack -- FOLDER', 2);
    await install();
    await build('all');
    await pack(folder);
  },
  pnpm: async (args) => {
    process.exitCode = await pnpm(args, { stdout: 'inherit' });
  },
};

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) fail(`Node 20.19 or newer is needed, this is Node ${process.versions.node}. See https://nodejs.org/`);
const [command = '', ...rest] = process.argv.slice(2);
const chosen = Object.hasOwn(commands, command) ? commands[command] : undefined;
if (chosen === undefined) fail(`usage: node scripts/run.mjs ${Object.keys(commands).join('|')} [arguments]`, 2);
await chosen(rest);
