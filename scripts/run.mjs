// Everything `npm start`, `npm test` and the other scripts do, on a machine
// that has only Node and npm: fetch the package manager, install, build, run.
// Each step is skipped when nothing it depends on has changed. No dependencies.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

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

/** npm is not always on the PATH of a script, but always next to the npm that started it. */
const npm = (args, options) => {
  const cli = process.env.npm_execpath;
  return cli !== undefined && /npm-cli\.c?js$/.test(cli)
    ? node(cli, args, options)
    : run('npm', args, { shell: windows, ...options });
};
const npmConfig = (key) => {
  const asked = spawnSync('npm', ['config', 'get', key], {
    cwd: root, encoding: 'utf8', shell: windows, stdio: ['ignore', 'pipe', 'ignore'],
  });
  const value = (asked.stdout ?? '').trim();
  return value === 'undefined' || value === 'null' ? '' : value;
};

// --------------------------------------------------------------------- lock

/** Only one process at a time may install or build in this checkout. */
const lockDirectory = at('.tools', 'lock');
const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};
const holderGone = () => {
  const pid = Number(readText(join(lockDirectory, 'pid')));
  if (pid > 0) return !alive(pid);
  try {
    return Date.now() - statSync(lockDirectory).mtimeMs > 5_000;
  } catch {
    return true;
  }
};
const locked = (body) => {
  mkdirSync(at('.tools'), { recursive: true });
  for (let told = false; ; ) {
    try {
      mkdirSync(lockDirectory);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (holderGone()) {
      rmSync(lockDirectory, { recursive: true, force: true });
      continue;
    }
    if (!told) say('waiting for another install or build in this checkout …');
    told = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
  const release = () => rmSync(lockDirectory, { recursive: true, force: true });
  process.on('exit', release);
  try {
    writeFileSync(join(lockDirectory, 'pid'), String(process.pid));
    return body();
  } finally {
    process.off('exit', release);
    release();
  }
};

// ------------------------------------------------------------------ install

const pnpmVersion = /^pnpm@([^+]+)/.exec(manifest.packageManager ?? '')?.[1] ?? fail('package.json: packageManager must name pnpm');
const pnpmHome = at('.tools', `pnpm-${pnpmVersion}`);
const pnpmScript = join(pnpmHome, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');

const ensurePnpm = () => {
  if (existsSync(pnpmScript)) return;
  say(`fetching pnpm ${pnpmVersion} …`);
  rmSync(pnpmHome, { recursive: true, force: true });
  mkdirSync(pnpmHome, { recursive: true });
  writeFileSync(join(pnpmHome, 'package.json'), '{ "private": true }\n');
  const code = npm(
    ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', `pnpm@${pnpmVersion}`],
    { cwd: pnpmHome, env: { npm_config_prefix: undefined, npm_config_local_prefix: undefined } },
  );
  if (code !== 0 || !existsSync(pnpmScript)) {
    rmSync(pnpmHome, { recursive: true, force: true });
    fail(`could not fetch pnpm ${pnpmVersion} through npm (exit code ${code}); is the package registry reachable from here? Try "npm view pnpm version".`);
  }
};

/** The folder of Node's headers, so that a native module compiles without downloading them. */
const nodedir = () => {
  const set = process.env.npm_config_nodedir || npmConfig('nodedir');
  if (set) return set;
  const prefix = resolve(dirname(process.execPath), '..');
  return existsSync(join(prefix, 'include', 'node', 'node.h')) ? prefix : undefined;
};
const pnpm = (args, options = {}) => {
  ensurePnpm();
  const headers = nodedir();
  return node(pnpmScript, args, {
    ...options,
    env: {
      // Without this, "npm run --silent" would hide why an install failed.
      npm_config_loglevel: undefined,
      ...(headers === undefined ? {} : { npm_config_nodedir: headers }),
    },
  });
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
const install = () => {
  if (installed()) return;
  locked(() => {
    if (installed()) return;
    const last = lastInstall();
    say(last === undefined
      ? 'installing dependencies (first time: a minute or two) …'
      : 'dependencies have changed, installing …');
    const otherNode = last !== undefined && last.runtime !== runtime;
    const code = pnpm(['install', '--frozen-lockfile'])
      || (otherNode ? pnpm(['rebuild', '--recursive']) : 0);
    if (code !== 0) {
      fail([
        `installing the dependencies failed (exit code ${code}); the reason is above.`,
        '  - better-sqlite3: where no prebuilt binary can be downloaded it is compiled, which takes',
        '    python3, make and a C++ compiler (Debian, Ubuntu: apt-get install build-essential python3;',
        '    macOS: xcode-select --install). Then try again.',
        '  - ERR_PNPM_OUTDATED_LOCKFILE: a package.json was edited; run "npm run pnpm -- install --no-frozen-lockfile"',
        '    and commit pnpm-lock.yaml.',
        '  - network: the package registry must be reachable the way npm is configured.',
      ].join('\n'));
    }
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
const packages = ['packages/core', 'packages/projections', 'packages/client', site, 'packages/adapters'];
const testServer = 'test/support/eventstoredb';
const mutants = 'test/mutants';
const targets = {
  server: { projects: [site, 'packages/adapters'], folders: packages },
  bench: { projects: [site, 'bench'], folders: [...packages, 'bench'] },
  eventstoredb: { projects: [testServer], folders: [testServer] },
  mutants: { projects: [mutants], folders: [mutants] },
  all: { projects: ['.'], folders: [...packages, 'bench', 'test'] },
};
/** Not part of the build of everything: built only when they are run. */
const standalone = ['eventstoredb', 'mutants'];
const buildStamp = (name) => at('.tools', `build-${name}`);
/** What a build has left in a folder's `dist`. The compiler itself looks at its own note of the last build only. */
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
/** Removes what the compiler left of sources that are gone: it would be packed, and could be imported. */
const removeStale = (folder) => {
  const dist = at(folder, 'dist');
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath ?? entry.path, entry.name);
    const [, stem] = /^(?:modules[\\/])?(.+?)\.(?:d\.ts|js)(?:\.map)?$/.exec(relative(dist, file)) ?? [];
    if (stem !== undefined && !file.startsWith(at(site, 'dist', 'site')) && !['ts', 'tsx'].some((kind) => existsSync(at(folder, 'src', `${stem}.${kind}`)))) rmSync(file);
  }
};
/** The console's scripts and styles as static files, if their sources have changed. */
const bundle = () => {
  const state = sha256([...files(at(site)).sort(), readText(installStamp)]);
  if (readText(buildStamp('console')) === state && existsSync(at(site, 'dist', 'site', 'index.html')) && outputsKept(site)) return 0;
  const code = node(at(site, 'build.mjs'), []);
  if (code === 0) writeFileSync(buildStamp('console'), state);
  return code;
};
const build = (name) => {
  if (built(name)) return;
  locked(() => {
    if (built(name)) return;
    say(name === 'all' ? 'building …' : `building (${name}) …`);
    // Taken before the build: a source saved while it runs must count as changed.
    const covered = (name === 'all' ? Object.keys(targets).filter((target) => !standalone.includes(target)) : [name]).map((each) => [each, buildState(each)]);
    for (const folder of targets[name].folders) {
      if (!outputsKept(folder)) rmSync(at(folder, 'dist', '.tsbuildinfo'), { force: true });
    }
    const code = node(at('node_modules', 'typescript', 'bin', 'tsc'), ['-b', ...targets[name].projects]);
    const bundled = code === 0 && targets[name].folders.includes(site) ? bundle() : 0;
    for (const folder of targets[name].folders) {
      if (packages.includes(folder) && existsSync(at(folder, 'dist'))) removeStale(folder);
      if (existsSync(at(folder, 'dist'))) writeFileSync(outputStamp(folder), outputs(folder));
    }
    if (code !== 0 || bundled !== 0) fail('the build failed; the errors are above.', code || bundled);
    for (const [each, state] of covered) writeFileSync(buildStamp(each), state);
  });
};

/** Packs every package into a folder, as it would be published: `workspace:*` is replaced, and the licence is added. */
const pack = (folder) => {
  for (const name of packages) {
    const code = pnpm(['pack', '--pack-destination', resolve(folder)], { cwd: at(name) });
    if (code !== 0) fail(`packing ${name} failed (exit code ${code}); the reason is above.`, code);
  }
};

const clean = (args) => {
  for (const folder of [...workspaces(), testServer, mutants, 'test/console']) rmSync(at(folder, 'dist'), { recursive: true, force: true });
  for (const name of [...Object.keys(targets), 'console']) rmSync(buildStamp(name), { force: true });
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
  build: () => {
    install();
    build('all');
  },
  typecheck: () => commands.build(),
  start: async (args) => {
    install();
    build('server');
    await become(at('packages', 'adapters', 'bin', 'daybook.js'), ['serve', ...args]);
  },
  test: async (args) => {
    install();
    build('all');
    await vitest(args);
  },
  'test-only': (args) => vitest(args),
  lint: async (args) => {
    install();
    await become(at('node_modules', 'eslint', 'bin', 'eslint.js'), ['.', ...args]);
  },
  bench: async (args) => {
    install();
    build('bench');
    await become(at('bench', 'dist', 'main.js'), args);
  },
  eventstoredb: async (args) => {
    install();
    build('eventstoredb');
    await become(at(testServer, 'dist', 'eventstoredb', 'cli.js'), args);
  },
  mutants: async (args) => {
    install();
    build('all');
    build('mutants');
    await become(at(mutants, 'dist', 'main.js'), [root, ...args]);
  },
  clean: (args) => clean(args),
  pack: ([folder]) => {
    if (folder === undefined) fail('usage: npm run pack -- FOLDER', 2);
    install();
    build('all');
    pack(folder);
  },
  pnpm: (args) => {
    process.exitCode = pnpm(args, { stdout: 'inherit' });
  },
};

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) fail(`Node 20.19 or newer is needed, this is Node ${process.versions.node}. See https://nodejs.org/`);
const [command = '', ...rest] = process.argv.slice(2);
const chosen = Object.hasOwn(commands, command) ? commands[command] : undefined;
if (chosen === undefined) fail(`usage: node scripts/run.mjs ${Object.keys(commands).join('|')} [arguments]`, 2);
await chosen(rest);
