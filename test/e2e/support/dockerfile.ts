/**
 * Follows a Dockerfile without Docker: the same files in a scratch folder, the same commands, and the start command as an unprivileged
 * user. Packages are those of this checkout instead of `npm ci`. Throws on an unknown instruction.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';

export interface Image {
  /** Stands for `/app`. */
  app: string;
  /** Stands for the volume. */
  data: string;
  user: string;
  command: string[];
  healthCheck: string[];
}

export interface Instruction {
  name: string;
  value: string;
}

/** `nobody`, if the test may change its user. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export const readInstructions = (dockerfile: string): Instruction[] =>
  dockerfile
    .split('\n')
    .filter(line => line.trim() !== '' && !line.startsWith('#'))
    .map(line => {
      const [name = '', ...rest] = line.split(' ');
      return { name, value: rest.join(' ') };
    });

/** Returns what an ignore file of the form "nothing but" admits. */
export function readKept(ignore: string): string[] {
  const lines = ignore.split('\n').filter(line => line !== '' && !line.startsWith('#'));
  if (lines[0] !== '*' || lines.slice(1).some(line => !/^![\w./-]+$/.test(line))) {
    throw new Error('The ignore file names more than what is kept');
  }
  return lines.slice(1).map(line => line.slice(1));
}

/** Returns the output of a command. @throws Error if it fails */
async function run(command: string[], cwd: string): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Error(`${command.join(' ')} ends with ${code}\n${out}${err}`);
  return out;
}

/** Builds the image in a scratch folder. */
export async function buildImage(root: string): Promise<Image & { remove(): Promise<void> }> {
  const scratch = await mkdtemp(join(tmpdir(), 'portico-image-'));
  const image = { app: join(scratch, 'app'), data: join(scratch, 'data'), user: 'root' };
  const found = { command: [] as string[], healthCheck: [] as string[] };
  await mkdir(image.app);
  const kept = readKept(await readFile(join(root, 'server/Dockerfile.dockerignore'), 'utf8'));
  const copy = async () => {
    for (const path of kept) {
      await cp(join(root, path), join(image.app, path), {
        recursive: true,
        preserveTimestamps: true,
      });
    }
  };
  const step = async (command: string) => {
    const [program = '', ...args] = command.trim().split(' ');
    if (program === 'npm' && args[0] === 'ci') {
      await symlink(join(root, 'node_modules'), join(image.app, 'node_modules'));
    } else if (program === 'mkdir' && args.at(-1) === '/data') {
      await mkdir(image.data, { mode: 0o700 });
    } else if (program === 'chown' && args.at(-1) === '/data') {
      const { uid, gid } = UNPRIVILEGED;
      if (uid !== undefined) await chown(image.data, uid, gid);
    } else if (program === 'node') {
      await run([process.execPath, ...args], image.app);
    } else if (command.trim() !== 'npm cache clean --force') {
      throw new Error(`The test does not know the step ${command}`);
    }
  };
  for (const { name, value } of readInstructions(
    await readFile(join(root, 'server/Dockerfile'), 'utf8'),
  )) {
    if (name === 'COPY') await copy();
    else if (name === 'RUN') for (const command of value.split('&&')) await step(command);
    else if (name === 'USER') image.user = value;
    else if (name === 'CMD') found.command = JSON.parse(value) as string[];
    else if (name === 'HEALTHCHECK') {
      found.healthCheck = JSON.parse(value.slice(value.indexOf('['))) as string[];
    } else if (!['FROM', 'WORKDIR', 'ENV', 'VOLUME', 'EXPOSE', 'STOPSIGNAL'].includes(name)) {
      throw new Error(`The test does not know ${name}`);
    }
  }
  // Others may only read what the image contains.
  await run(['chmod', '755', scratch], scratch);
  return { ...image, ...found, remove: () => rm(scratch, { recursive: true, force: true }) };
}

/** Runs a command of the image as its user, in its own process group; paths of the image are mapped to the scratch folder. */
export function runInImage(
  image: Image,
  command: readonly string[],
  env: Record<string, string>,
): { child: ChildProcess; output(): string } {
  const [, ...args] = command.map(part => (part === '/data' ? image.data : part));
  const child = spawn(process.execPath, args, {
    cwd: image.app,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    ...UNPRIVILEGED,
  });
  let said = '';
  child.stdout?.on('data', chunk => (said += String(chunk)));
  child.stderr?.on('data', chunk => (said += String(chunk)));
  return { child, output: () => `${said}\n(in ${relative('/', image.app)})` };
}
