/**
 * What the terminal shows when everything runs: the address, the admin token (only at the start that made it), and the
 * snippets for the clients. Pure text.
 */
import { TOKEN_VARIABLE } from '../src/registry/client-config.ts';
import type { Secrets } from './secrets.ts';
import { createSnippets } from './snippets.ts';
import type { Steps } from './steps.ts';

interface Ready {
  origin: string;
  secrets: Pick<Secrets, 'adminToken' | 'isTokenUnseen' | 'file'>;
  /** The data folder, as the user would type it. */
  dataDir: string;
  steps: Pick<Steps, 'style'>;
}

/** The closing text of a start. */
export function toReadyText({ origin, secrets, dataDir, steps: { style } }: Ready): string {
  const token = secrets.isTokenUnseen ? secrets.adminToken : undefined;
  const file = `${dataDir}/secrets.json`;
  const tokenLines =
    token === undefined
      ? [
          `The admin token is in ${file}; PORTICO_ADMIN_TOKEN=… npm start sets another one. For the commands below:`,
          `  export ${TOKEN_VARIABLE}=$(node -p 'JSON.parse(fs.readFileSync(${JSON.stringify(secrets.file)})).adminToken')`,
        ]
      : [`Admin token, shown this once and kept in ${file}:`, `  ${style('cyan', token)}`];
  const snippets = createSnippets(origin, token).flatMap(({ title, text }) => [
    '',
    style('bold', title),
    indent(text),
  ]);
  return [
    '',
    `${style('bold', 'Portico is ready')}  ${style('cyan', `${origin}/mcp`)}`,
    '',
    ...tokenLines,
    ...snippets,
    '',
    style('dim', `Log: ${dataDir}/log. Ctrl-C ends everything; the data stays.`),
  ].join('\n');
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
