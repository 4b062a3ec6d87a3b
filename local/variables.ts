/**
 * Variables in an `mcp.json`: `${NAME}`, `${env:NAME}` and `{env:NAME}` are replaced from the environment. Nothing else is, so that a
 * `$HOME` in a shell script stays. Pure.
 */

const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^{}]*))?\}|\{env:(\w+)\}/g;

export interface Filled {
  text: string;
  /** Variables that were replaced. */
  used: string[];
  /** Variables that are not set. */
  missing: string[];
}

/** Replaces the variables in a text; `${NAME:-default}` uses the default if the variable is not set. */
export function fillVariables(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Filled {
  const used: string[] = [];
  const missing: string[] = [];
  const filled = text.replaceAll(
    VARIABLE,
    (_whole, dollar: string | undefined, fallback: string | undefined, braces: string) => {
      const name = dollar ?? braces;
      const value = env[name] ?? fallback;
      (value === undefined ? missing : used).push(name);
      return value ?? '';
    },
  );
  return { text: filled, used, missing };
}
