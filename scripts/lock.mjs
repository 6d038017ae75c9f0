// A lock in the form of a folder: only one process can create it. The folder contains the id of its holder, so that nobody waits for a holder that
// was killed. No dependencies.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

const holderGone = (folder) => {
  const file = join(folder, 'pid');
  const pid = Number(existsSync(file) ? readFileSync(file, 'utf8') : '');
  if (pid > 0) return !alive(pid);
  try {
    return Date.now() - statSync(folder).mtimeMs > 5_000;
  } catch {
    return true;
  }
};

/** Runs `body` while no other process holds the lock. `say(line)` reports that it waits. */
export const withLock = async (folder, say, body) => {
  mkdirSync(dirname(folder), { recursive: true });
  for (let told = false; ; ) {
    try {
      mkdirSync(folder);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (holderGone(folder)) {
      rmSync(folder, { recursive: true, force: true });
      continue;
    }
    if (!told) say('waiting for another install or build in this checkout …');
    told = true;
    await delay(200);
  }
  const release = () => rmSync(folder, { recursive: true, force: true });
  process.on('exit', release);
  try {
    writeFileSync(join(folder, 'pid'), String(process.pid));
    return await body();
  } finally {
    process.off('exit', release);
    release();
  }
};
