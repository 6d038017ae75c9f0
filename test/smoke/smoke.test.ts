import { expect, test } from 'vitest';

test('the built core package loads through its public entry', async () => {
  const core: object = await import('@daybook/core');
  expect(Object.prototype.toString.call(core)).toBe('[object Module]');
  expect(import.meta.resolve('@daybook/core')).toMatch(/packages\/core\/dist\/index\.js$/);
});

test('what a package does not export cannot be imported', async () => {
  const hidden = '@daybook/core/dist/index.js';
  await expect(import(/* @vite-ignore */ hidden)).rejects.toThrow();
});
