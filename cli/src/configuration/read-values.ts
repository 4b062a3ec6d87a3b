/** Reads the values of secrets, which a file only refers to: from the environment, or from files beside it. They are never shown. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { VALUE_REFERENCE, type Configuration } from '../../../src/api/configuration-file.ts';
import { PutSecretSchema } from '../../../src/credentials/secret-schema.ts';
import type { Environment } from '../folders.ts';
import { toProblem, type FileProblem, type LineOf } from './read-file.ts';

export interface Values {
  /** Values of secrets by name. */
  valueOf: Map<string, string>;
  problems: FileProblem[];
}

/** @param file its path; paths in references are relative to its folder */
export function readValues(
  { secrets = {} }: Configuration,
  file: string,
  env: Environment,
  lineOf: LineOf,
): Values {
  const valueOf = new Map<string, string>();
  const problems: FileProblem[] = [];
  for (const [name, { value: reference }] of Object.entries(secrets)) {
    const found = readValue(reference, file, env);
    const parsed = PutSecretSchema.shape.value.safeParse(found.value);
    if (parsed.success) valueOf.set(name, parsed.data);
    else {
      const message = found.problem ?? parsed.error.issues[0]?.message ?? 'is not a valid value';
      problems.push(toProblem(lineOf, ['secrets', name, 'value'], message));
    }
  }
  return { valueOf, problems };
}

function readValue(
  reference: string,
  file: string,
  env: Environment,
): { value?: string; problem?: string } {
  const [, source, name = ''] = VALUE_REFERENCE.exec(reference) ?? [];
  if (source === 'env') {
    const value = env[name];
    return value ? { value } : { problem: `the variable ${name} is not set` };
  }
  try {
    // Editors end the last line too.
    return { value: readFileSync(resolve(dirname(file), name), 'utf8').replace(/\r?\n$/, '') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `the file ${name} cannot be read (${code ?? 'unknown reason'})` };
  }
}
