/**
 * What the commands share before anything is installed: the check of the user's own Node, `npm ci` where it is needed, and the start of a
 * script under the Node that the project pins (node_modules/node).
 *
 * It runs on whatever Node the user has and without node_modules. So it is plain JavaScript with conservative syntax: an old Node must get
 * as far as the line that refuses it. After a failed check or install it stops with one clear line and exit code 1. It ends only the
 * process that it started.
 */
import { spawn } from 'child_process';
import { existsSync, readFileSync } from 'fs';
import { constants } from 'os';
import { basename, dirname, join } from 'path';
import { fileURLToPath } from 'url';

const OLDEST_NODE = 20;
/** Lines of npm's own output that are shown when an install fails. */
const ERROR_LINES = 8;
/** A child that does not end on a signal is killed after this time, in milliseconds. */
const END_TIMEOUT_MS = 9000;
/** npm sends on a Ctrl-C that the terminal has sent already, within this time, in milliseconds. */
const SENT_ON_MS = 250;
/** Interval of the check whether npm still runs, in milliseconds. */
const NPM_INTERVAL_MS = 500;

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const projectNode = join(
  root,
  'node_modules',
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
);

/** Environment of a script under the project's Node, unless the user sets these variables. */
const SPARING = {
  // Return freed memory to the system at once; by default the C library keeps some 100 MB.
  MALLOC_TRIM_THRESHOLD_: '131072',
  // Cache compiled code for the next start.
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
  // Bundle without a child process, which would take 180 MB.
  ESBUILD_WORKER_THREADS: '0',
};

/** Prints one line to standard error and exits with code 1. */
function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

/** Exits with one clear line if the user's own Node is too old. */
export function checkNode() {
  if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) return;
  fail(
    `Portico needs Node.js ${OLDEST_NODE} or newer, and this is ${process.version}. Get a newer one from https://nodejs.org`,
  );
}

/**
 * Whether node_modules matches package-lock.json, by npm's own record of the last install.
 * Optional packages (those of other platforms) may be absent.
 */
export function isInstalled(folder = root) {
  try {
    const wanted = readPackages(join(folder, 'package-lock.json'));
    const present = readPackages(join(folder, 'node_modules', '.package-lock.json'));
    return Object.keys(wanted)
      .filter(path => path.includes('node_modules/') && !wanted[path].optional)
      .every(path => path in present && present[path].version === wanted[path].version);
  } catch {
    return false;
  }
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

/**
 * Installs the packages unless they are installed. On failure, exits with one clear line and the last lines of npm's error. In a folder
 * other than the project's root, install scripts are not run.
 */
export async function ensureInstalled(folder = root) {
  if (isInstalled(folder) && existsSync(projectNode)) return;
  const startedAt = Date.now();
  const showsProgress = Boolean(process.stderr.isTTY);
  const seconds = () => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
  const status = () =>
    process.stderr.write(`\r\u001B[K… installing packages (npm ci)  ${seconds()}`);
  const timer = showsProgress ? setInterval(status, 200) : undefined;
  if (showsProgress) status();
  else process.stderr.write('… installing packages (npm ci)\n');
  const result = await runNpmCi(folder);
  clearInterval(timer);
  if (showsProgress) process.stderr.write('\r\u001B[K');
  if (result.code === 0 && existsSync(projectNode)) {
    process.stderr.write(`✓ packages installed  ${seconds()}\n`);
    return;
  }
  process.stderr.write(toErrorLines(result.output));
  fail(
    result.code === 0
      ? '✗ Installing the packages failed: npm ran, but the `node` package has no program (are install scripts switched off?)'
      : `✗ Installing the packages failed: ${result.reason}`,
  );
}

/** Returns npm's error output without usage text and notes; shortened in the middle if it is long. */
function toErrorLines(output) {
  const lines = output
    .split(/^npm error (?:Clean install a project|A complete log)/m)[0]
    .split('\n')
    .map(line => line.replace(/^npm error ?/, '  '))
    .filter(line => line.trim() !== '' && !/^npm (warn|notice)/i.test(line));
  const shown =
    lines.length <= ERROR_LINES
      ? lines
      : lines.slice(0, ERROR_LINES / 2).concat('  …', lines.slice(-ERROR_LINES / 2));
  return shown.map(line => `${line}\n`).join('');
}

/** Runs `npm ci` with the npm that runs this process, or else the one on the PATH. Never rejects. */
function runNpmCi(folder) {
  const flags = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'].concat(
    folder === root ? [] : ['--ignore-scripts'],
  );
  const npm = process.env.npm_execpath;
  const isNpm = npm !== undefined && basename(npm) === 'npm-cli.js' && existsSync(npm);
  const node = process.env.npm_node_execpath || process.execPath;
  const options = { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] };
  return new Promise(resolve => {
    const child = isNpm
      ? spawn(node, [npm].concat(flags), options)
      : spawn('npm', flags, Object.assign({ shell: process.platform === 'win32' }, options));
    let output = '';
    const collect = chunk => {
      output = (output + chunk).slice(-20000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', error =>
      resolve({ code: 1, output, reason: `npm could not be run (${error.message})` }),
    );
    child.on('close', code =>
      resolve({ code, output, reason: `npm ci ended with exit code ${code}` }),
    );
  });
}

/**
 * Runs a script under the project's Node, passes signals on to it, and exits with its exit code.
 * With `ownGroup` the script gets its own process group, which is killed when the script has ended, for whatever reason, and an IPC channel
 * whose end tells the script that this process is gone.
 */
export function runScript(args, options) {
  const ownGroup = Boolean(options && options.ownGroup) && process.platform !== 'win32';
  const child = spawn(projectNode, ['--disable-warning=ExperimentalWarning'].concat(args), {
    stdio: ownGroup ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
    detached: ownGroup,
    env: Object.assign({}, SPARING, process.env),
  });
  let isEnding = false;
  let interruptedAt = -Infinity;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      isEnding = true;
      if (signal === 'SIGINT' && process.env.npm_lifecycle_event !== undefined) {
        const isSentOn = performance.now() - interruptedAt < SENT_ON_MS;
        interruptedAt = performance.now();
        // For the script, a second signal means not to wait for running requests.
        if (isSentOn) return;
      }
      // A terminal sends Ctrl-C to the whole group itself.
      const alreadySent = signal === 'SIGINT' && !ownGroup && process.stdin.isTTY;
      if (!alreadySent) child.kill(signal);
      if (ownGroup) setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS).unref();
    });
  }
  // If the child is ending already, a second signal would end it at once.
  if (ownGroup) endWithNpm(() => isEnding || child.kill('SIGTERM'));
  child.on('error', error => fail(`✗ The project's Node could not be run: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (ownGroup) killGroup(child.pid);
    if (signal === 'SIGKILL') process.stderr.write('✗ The process was killed (SIGKILL).\n');
    process.exit(code === null ? 128 + constants.signals[signal] : code);
  });
}

/** Calls `end` when npm is gone: an npm that is terminated other than by Ctrl-C does not notify the process it runs. */
function endWithNpm(end) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    end();
  }, NPM_INTERVAL_MS);
  timer.unref();
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Usually the group is empty already.
  }
}

/** Returns the JavaScript file behind a command of an installed package: `vitest`, `tsc`, `wrangler`, … */
export function findTool(name) {
  const owner = name === 'tsc' ? 'typescript' : name;
  const folder = join(root, 'node_modules', owner);
  const file = join(folder, 'package.json');
  if (!existsSync(file)) fail(`There is no tool named ${name}.`);
  const bin = JSON.parse(readFileSync(file, 'utf8')).bin;
  return join(folder, typeof bin === 'string' ? bin : bin[name]);
}
