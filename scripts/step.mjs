// A step of the preparation: a program whose output goes to a file. People see a line at each milestone, and the end of the file when it fails. No
// dependencies.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** How many lines are shown of a program that failed. */
const shownMax = 30;

/** Calls back with each whole line, and with the rest at the end. */
const lineReader = (heard) => {
  let rest = '';
  return {
    write: (text) => {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) heard(line);
    },
    end: () => {
      if (rest !== '') heard(rest);
    },
  };
};

/**
 * Runs a program to its end, with its output in the file `log`.
 *
 * - `milestone(line)`: what to report about a line, if anything. It is called for lines of both outputs.
 * - `isNoise(line)`: whether a line says nothing about a failure.
 * - `say(line)`: reports a line.
 *
 * Resolves to the exit code and to the last lines, for the message of a failure; never rejects.
 */
export const runStep = ({ program, args, cwd, env, shell = false, log, say, milestone = () => undefined, isNoise = () => false }) =>
  new Promise((resolve) => {
    mkdirSync(dirname(log), { recursive: true });
    const file = openSync(log, 'w');
    const last = [];
    const heard = (line) => {
      writeSync(file, `${line}\n`);
      const told = milestone(line);
      if (told !== undefined) say(told);
      if (line.trim() === '' || isNoise(line)) return;
      last.push(line);
      if (last.length > shownMax) last.shift();
    };
    const child = spawn(program, args, { cwd, env, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    // Without this, a stopped preparation would leave its program running, which goes on writing to the checkout.
    const stop = (signal) => {
      child.kill(signal);
      process.exit(signal === 'SIGINT' ? 130 : 143);
    };
    process.on('SIGINT', stop).on('SIGTERM', stop);
    let isOver = false;
    const over = (code) => {
      if (isOver) return;
      isOver = true;
      process.off('SIGINT', stop).off('SIGTERM', stop);
      closeSync(file);
      resolve({ code, last });
    };
    for (const stream of [child.stdout, child.stderr]) {
      const reader = lineReader(heard);
      stream.setEncoding('utf8').on('data', reader.write).on('end', reader.end);
    }
    child.on('error', (error) => {
      heard(`cannot run ${program}: ${error.message}`);
      over(127);
    });
    child.on('close', (code) => over(code ?? 1));
  });
