import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// What this run draws its examples by (see support/seed.ts). Below 2^31, with room for those that count on from it.
const runSeed = process.env.SEED ?? process.env.RUN_SEED ?? String(randomInt(2 ** 31 - 2 ** 20));
console.log(`The seed of this run is ${runSeed}.`);

export default defineConfig({
  // The repository root, so that both `npm test -- smoke` and
  // `npm test -- test/smoke/smoke.test.ts` select files as one expects.
  root: fileURLToPath(new URL('..', import.meta.url)),
  cacheDir: 'test/node_modules/.vite',
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    globalSetup: ['test/support/remove-fleet.ts'],
    env: { RUN_SEED: runSeed, FLEET_FOLDER: join(tmpdir(), `daybook-fleet-${process.pid}`) },
    pool: 'forks',
    maxWorkers: 2,
    // The files run one after the other in these two processes. To load the modules anew for each takes 0.9 s of CPU, more than most of their tests.
    isolate: false,
    // Reached by what hangs, and by nothing else, however slow the machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 10_000,
    reporters: ['default'],
    server: {
      deps: {
        // The built packages are what users get: let Node load them itself
        // instead of having them transformed like test sources.
        external: [/\/packages\/[^/]+\/dist\//],
      },
    },
  },
});
