import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The repository root, so that both `npm test -- smoke` and
  // `npm test -- test/smoke/smoke.test.ts` select files as one expects.
  root: fileURLToPath(new URL('..', import.meta.url)),
  cacheDir: 'test/node_modules/.vite',
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
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
