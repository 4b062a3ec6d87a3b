/** Reads a command's input from a named file, or from standard input for `-`. Bounded. */
import { open } from 'node:fs/promises';
import { EXIT, Failure } from './failure.ts';

/** Longest input, in bytes; above what a gateway accepts. */
const MAX_BYTES = 16_777_216;

/** @throws Failure where it cannot be read or is too long */
export async function readInput(path: string): Promise<string> {
  try {
    if (path === '-') return await readAll(process.stdin);
    const file = await open(path);
    try {
      return await readAll(file.createReadStream({ autoClose: false }));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`${path} cannot be read (${code ?? String(error)})`, EXIT.usage);
  }
}

/**
 * Reads the value of a secret from an environment variable, or from standard input.
 * @throws Failure where there is no value; no message contains the value
 */
export async function readValue(variable: string | undefined): Promise<string> {
  if (variable !== undefined) {
    const value = process.env[variable];
    if (value) return value;
    throw new Failure(`the variable ${variable} is not set`, EXIT.usage);
  }
  if (process.stdin.isTTY) {
    throw new Failure('give the value on standard input, or with --from-env NAME', EXIT.usage);
  }
  // Editors and echo end the last line too.
  const value = (await readInput('-')).replace(/\r?\n$/, '');
  if (value !== '') return value;
  throw new Failure('there is no value on standard input', EXIT.usage);
}

async function readAll(source: AsyncIterable<Uint8Array | string>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    const part = Buffer.from(chunk);
    size += part.length;
    if (size > MAX_BYTES) throw new Failure('the input is longer than 16 MiB', EXIT.usage);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
