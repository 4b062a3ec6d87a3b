/**
 * Header lines of the command line: `Name: value`, in which `${NAME}` stands for an environment variable, and `$${NAME}` for a secret of the gateway.
 * Pure.
 */
import { escapeReferences } from '../../../src/credentials/references.ts';
import { EXIT, Failure } from '../failure.ts';

const LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\s\S]*)$/;
const VARIABLE = /(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * @returns headers by name; undefined where there are none
 * @throws Failure where a line is not a header, or names a variable that is not set; no value is shown
 */
export function readHeaders(
  lines: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> | undefined {
  if (lines.length === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new Failure("a header is written 'Name: value'", EXIT.usage);
    }
    headers[name] = value.trim().replaceAll(VARIABLE, (all: string, secret, variable: string) => {
      if (secret !== '') return all.slice(1);
      const found = env[variable];
      if (found !== undefined && found !== '') return escapeReferences(found);
      throw new Failure(
        `the header ${name} needs ${variable}, which is not set; for a secret of the gateway write $\${${variable}}`,
        EXIT.usage,
      );
    });
  }
  return headers;
}
