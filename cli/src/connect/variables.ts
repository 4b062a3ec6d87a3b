/**
 * Variables in an `mcp.json`: `${NAME}`, `${env:NAME}` and `{env:NAME}` become what the environment has. Nothing else is
 * replaced, so that a `$HOME` in a shell script stays what it is. Pure.
 */

const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^{}]*))?\}|\{env:(\w+)\}/g;

export interface Filled {
  text: string;
  /** Variables that were put in. */
  used: string[];
  /** Variables that the environment does not have. */
  missing: string[];
}

/** Put in the variables of a text; `${NAME:-default}` takes the default where there is none. */
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
